"""Learns rules in order, of every size, from labelled rows.

The ways of a decision tree are rules: read in order, a way need not repeat what the ways before it have
settled. Then every condition in turn is exchanged for the best one in its place, or left out, and what
matters least goes until the rules are short enough.

Rules that name a region say where rare classes are, and nothing about the common one, which is class 0 and
needs no rule. They are added one by one, each a body of a few literals and the class that it finds; then
every literal in turn is exchanged for the best one in its place, or left out. What counts is the gain of all
rules together: what they find rightly, less a price for all that they cover. With the price 0.3 a rule pays
where more than 30 % of what it covers is of its class.

References
----------
R. Rivest. Learning Decision Lists. Machine Learning, 1987.
W. Cohen. Fast Effective Rule Induction. ICML 1995 (improving each rule beside the others).
N. Lavrač, P. Flach, B. Zupan. Rule Evaluation Measures: A Unifying View. ILP 1999 (weighted relative
accuracy, by which a body grows).

"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hornbook.explanations import Split
from hornbook.explanations.tree import Node, count_splits
from hornbook.logic import Bools
from hornbook.surrogates.grid import CodedRows, Floats, Ints

IMPROVEMENT_ROUNDS = 4
"""How often every condition of the rules may be exchanged."""

Body: TypeAlias = tuple[int, ...]

BEAM_WIDTH = 4
"""Bodies that grow side by side."""

MAX_REGION_BODY = 5
"""Literals of a rule at the most."""

MAX_EXCHANGE_ROUNDS = 4
"""How often every literal may be exchanged."""

LITERAL_PRICE = 0.003
"""The price of a literal, as a share of the most that can be gained."""


@dataclass(frozen=True)
class LiteralRules:
    """Rules over literals of a grid: (body, outcome) in order, and the default."""

    rules: tuple[tuple[Body, int], ...]
    default: int

    @property
    def size(self) -> int:
        """Literals in all bodies."""
        return sum(len(body) for body, _ in self.rules)

    def decide(self, rows: CodedRows) -> Ints:
        """The number of each row's class."""
        decided = np.full(len(rows), self.default, np.intp)
        for body, outcome in reversed(self.rules):
            decided[match_body(rows, body)] = outcome
        return decided


def match_body(rows: CodedRows, body: Body) -> Bools:
    """The rows in which all literals of a body are true."""
    matches = np.ones(len(rows), np.bool_)
    for literal in body:
        matches &= rows.where_true(literal)
    return matches


def list_paths(root: Node[int], rows: CodedRows) -> LiteralRules:
    """The ways of a tree as rules in order, the shorter side of each question first."""

    def list_below(node: Node[int], above: Body) -> list[tuple[Body, int]]:
        if not isinstance(node, Split):
            return [(above, node)]
        literal, first, second = node.question, node.yes, node.no
        # a negation is true of the other side only where nothing is unknown
        if count_splits(second) < count_splits(first) and not rows.where_unknown(literal).any():
            literal, first, second = literal ^ 1, second, first
        return list_below(first, (*above, literal)) + list_below(second, above)

    *rules, (_, default) = list_below(root, ())
    while rules and rules[-1][1] == default:
        rules.pop()
    return LiteralRules(tuple(rules), default)


class RuleSearch:
    """Rules on the way, and the samples by which they are changed.

    Parameters
    ----------
    rows
        The samples.
    weights
        The weight of each sample in the column of its class, shape (samples, classes).
    start
        The rules to begin with.

    """

    def __init__(self, rows: CodedRows, weights: Floats, start: LiteralRules) -> None:
        self.rows, self.weights = rows, weights
        self.by_class = np.ascontiguousarray(weights.T)  # (classes, samples)
        self.rules = list(start.rules)
        self.default = start.default
        self.matches = [match_body(rows, body) for body, _ in start.rules]

    def result(self) -> LiteralRules:
        """The rules as they are now."""
        return LiteralRules(tuple(self.rules), self.default)

    def right(self) -> float:
        """The weight that is decided rightly."""
        return float(self._right_weights()[0].sum())

    def improve(self) -> None:
        """Exchange literals and outcomes, one at a time, as long as more weight is decided rightly."""
        for _ in range(IMPROVEMENT_ROUNDS):
            before = self.right()
            later = self._right_weights()
            reached = np.ones(len(self.rows), np.bool_)
            for position in range(len(self.rules)):
                self._improve_rule(position, reached, later[position + 1])
                reached &= ~self.matches[position]
            if reached.any():
                self.default = int(self.weights[reached].sum(axis=0).argmax())
            self._drop_idle()
            if self.right() <= before + 1e-9:
                break

    def _improve_rule(self, position: int, reached: Bools, later: Floats) -> None:
        body, outcome = self.rules[position]
        fires = np.flatnonzero(reached & self.matches[position])
        if len(fires):
            outcome = int(self.weights[fires].sum(axis=0).argmax())
        gain = self.by_class[outcome] - later
        for at in range(len(body)):
            others = (*body[:at], *body[at + 1 :])
            where = np.flatnonzero(reached & match_body(self.rows, others) & (gain != 0))
            sums = self.rows.take(where).sum_true(gain[where])
            best = int(sums.argmax())
            if sums[best] > sums[body[at]] + 1e-9:
                body = (*body[:at], best, *body[at + 1 :])
        self.rules[position] = body, outcome
        self.matches[position] = match_body(self.rows, body)

    def shrink(self, size: int) -> None:
        """Leave out literals and rules, those that matter least for each literal first."""
        while self.result().size > size:
            later = self._right_weights()
            reached = np.ones(len(self.rows), np.bool_)
            best: tuple[float, int, int | None] = (-np.inf, 0, None)
            for position, (body, outcome) in enumerate(self.rules):
                gain = np.where(reached, self.by_class[outcome] - later[position + 1], 0.0)
                lost = -float(gain[self.matches[position]].sum()) / len(body)
                best = max(best, (lost, position, None), key=lambda one: one[0])
                for at in range(len(body) if len(body) > 1 else 0):
                    matches = match_body(self.rows, (*body[:at], *body[at + 1 :]))
                    change = float(gain[matches & ~self.matches[position]].sum())
                    best = max(best, (change, position, at), key=lambda one: one[0])
                reached = reached & ~self.matches[position]
            _, position, dropped = best
            body, outcome = self.rules.pop(position)
            self.matches.pop(position)
            if dropped is not None:
                body = (*body[:dropped], *body[dropped + 1 :])
                self.rules.insert(position, (body, outcome))
                self.matches.insert(position, match_body(self.rows, body))
            self._drop_idle()

    def _right_weights(self) -> list[Floats]:
        """For each position the weight of every sample, or 0 if the rules from there on decide it wrongly."""
        rights = [self.by_class[self.default]]
        for (_, outcome), matches in zip(reversed(self.rules), reversed(self.matches), strict=True):
            rights.append(np.where(matches, self.by_class[outcome], rights[-1]))
        return rights[::-1]

    def _drop_idle(self) -> None:
        """Leave out repeated literals, rules that no sample reaches, and last ones that say the default."""
        reached = np.ones(len(self.rows), np.bool_)
        kept: list[tuple[tuple[Body, int], Bools]] = []
        for position, (body, outcome) in enumerate(self.rules):
            if (reached & self.matches[position]).any():
                kept.append(((self._without_idle(body), outcome), self.matches[position]))
                reached &= ~self.matches[position]
        while kept and kept[-1][0][1] == self.default:
            kept.pop()
        self.rules, self.matches = [rule for rule, _ in kept], [matches for _, matches in kept]

    def _without_idle(self, body: Body) -> Body:
        for literal in body:
            others = tuple(other for other in body if other != literal)
            if others and not (match_body(self.rows, others) & ~self.rows.where_true(literal)).any():
                return self._without_idle(others)
        return body


def fit_rules(
    rows: CodedRows, weights: Floats, sizes: tuple[int, ...], trees: list[Node[int]]
) -> Iterator[LiteralRules]:
    """Rules with up to as many literals as the sizes say, from the paths of trees."""
    for tree in trees:
        search = RuleSearch(rows, weights, list_paths(tree, rows))
        if search.result().size > 2 * max(sizes):
            continue
        search.improve()
        own = max((size for size in sizes if size <= count_splits(tree)), default=sizes[0])
        shorter = [size for size in sizes if own < size <= search.result().size]
        for target in [*shorter[:-3:-1], own]:
            search.shrink(target)
            search.improve()
            yield search.result()


class RegionSearch:
    """Rules on the way, and the samples by which they are changed.

    Parameters
    ----------
    rows
        The samples.
    classes
        The number of each sample's class; 0 is the common one.
    weights
        What each sample counts.
    price
        The price of what is covered: the least precision of a rule that pays.

    """

    def __init__(self, rows: CodedRows, classes: Ints, weights: Floats, price: float) -> None:
        self.rows, self.classes, self.weights, self.price = rows, classes, weights, price
        self.literal_price = LITERAL_PRICE * (1 - price) * float(weights[classes > 0].sum())
        self.rules: list[tuple[Body, int]] = []

    def result(self) -> LiteralRules:
        """The rules as they are now."""
        return LiteralRules(tuple(self.rules), 0)

    def gain(self) -> float:
        """What all rules find rightly, less the prices of what they cover and of their literals."""
        decided = self.result().decide(self.rows)
        worth = (decided == self.classes) - self.price
        return float((self.weights * worth)[decided > 0].sum()) - self.literal_price * self.result().size

    def add_rule(self, max_literals: int) -> bool:
        """Add the rule that gains most; whether there is one."""
        left = np.flatnonzero(self.result().decide(self.rows) == 0)
        best: tuple[float, Body, int] = (1e-9, (), 0)
        for outcome in np.unique(self.classes[left]).tolist():
            if outcome:
                best = max(best, self._grow_body(left, outcome, max_literals), key=lambda one: one[0])
        _, body, outcome = best
        if body:
            self.rules.append((body, outcome))
        return bool(body)

    def _worth(self, outcome: int) -> Floats:
        """What it gains to cover each sample by a rule for a class, shape (samples,)."""
        worth: Floats = self.weights * ((self.classes == outcome) - self.price)
        return worth

    def _grow_body(self, left: Ints, outcome: int, max_literals: int) -> tuple[float, Body, int]:
        """The body that gains most, of those that grow by what tells the class best."""
        worth, hits = self._worth(outcome), self.weights * (self.classes == outcome)
        best: tuple[float, Body, int] = (0.0, (), outcome)
        beam: list[tuple[Body, Ints]] = [((), left)]
        for length in range(1, min(MAX_REGION_BODY, max_literals) + 1):
            grown: dict[Body, tuple[float, Ints]] = {}
            for body, where in beam:
                part = self.rows.take(where)
                gains = part.sum_true(worth[where]) - length * self.literal_price
                literal = int(gains.argmax())
                if gains[literal] > best[0]:
                    best = float(gains[literal]), (*body, literal), outcome
                common = hits[where].sum() / max(self.weights[where].sum(), 1e-12)
                relative = part.sum_true(hits[where] - common * self.weights[where])
                for each in np.argsort(-relative, kind="stable")[:BEAM_WIDTH].tolist():
                    key = tuple(sorted({*body, each}))
                    if relative[each] > 1e-12 and len(key) == length and key not in grown:
                        grown[key] = float(relative[each]), where[part.where_true(each)]
            ranked = sorted(grown.items(), key=lambda item: -item[1][0])[:BEAM_WIDTH]
            beam = [(body, where) for body, (_, where) in ranked]
        return best

    def improve(self) -> None:
        """Exchange or leave out literals, one at a time, as long as there is more to gain."""
        for _ in range(MAX_EXCHANGE_ROUNDS):
            before = self.gain()
            for position in range(len(self.rules)):
                self._improve_rule(position)
            self.rules = [rule for rule in self.rules if rule[0]]
            if self.gain() <= before + 1e-9:
                break

    def _improve_rule(self, position: int) -> None:
        reached = LiteralRules(tuple(self.rules[:position]), 0).decide(self.rows) == 0
        later = LiteralRules(tuple(self.rules[position + 1 :]), 0).decide(self.rows)
        body, outcome = self.rules[position]
        otherwise = np.where(later > 0, self.weights * ((self.classes == later) - self.price), 0.0)
        worth = self._worth(outcome) - otherwise  # later rules cover what this one does not
        for literal in body:
            rest = tuple(other for other in body if other != literal)
            where = np.flatnonzero(reached & match_body(self.rows, rest))
            gains = self.rows.take(where).sum_true(worth[where]) - self.literal_price
            best = int(gains.argmax())
            without = float(worth[where].sum()) if rest else 0.0  # a rule without literals is left out
            if without >= gains[best] - 1e-9:
                body = rest
            elif gains[best] > gains[literal] + 1e-9 and best not in rest:
                body = tuple(best if other == literal else other for other in body)
        self.rules[position] = body, outcome


def fit_regions(
    rows: CodedRows, classes: Ints, weights: Floats, max_literals: int, price: float
) -> Iterator[LiteralRules]:
    """Rules for rare classes, ever more of them, with up to `max_literals` literals.

    Parameters
    ----------
    rows
        The samples.
    classes
        The number of each sample's class, shape (samples,); 0 is the common one, which gets no rules.
    weights
        What each sample counts, shape (samples,).
    max_literals
        The most literals of all rules together.
    price
        The least precision of a rule that pays.

    """
    search, before = RegionSearch(rows, classes, weights, price), 0.0
    while (size := search.result().size) < max_literals and search.add_rule(max_literals - size):
        yield search.result()
        search.improve()
        yield search.result()
        if search.gain() <= before + 1e-9:
            break
        before = search.gain()
