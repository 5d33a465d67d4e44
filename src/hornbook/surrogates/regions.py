"""Learns rules that name a region: where rare classes are, and nothing about the common one.

Class 0 is the common one and needs no rule. Rules are added one by one, each a body of a few literals
and the class that it finds; then every literal in turn is exchanged for the best one in its place, or
left out. What counts is the gain of all rules together: what they find rightly, less a price for all
that they cover. With the price 0.3 a rule pays where more than 30 % of what it covers is of its class.

References
----------
N. Lavrač, P. Flach, B. Zupan. Rule Evaluation Measures: A Unifying View. ILP 1999 (weighted relative
accuracy, by which a body grows).

"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hornbook.surrogates.grid import CodedRows, Floats, Ints
from hornbook.surrogates.rules import Body, LiteralRules, match_body

BEAM_WIDTH = 4
"""Bodies that grow side by side."""

MAX_REGION_BODY = 5
"""Literals of a rule at the most."""

MAX_EXCHANGE_ROUNDS = 4
"""How often every literal may be exchanged."""

LITERAL_PRICE = 0.003
"""The price of a literal, as a share of the most that can be gained."""


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

    @property
    def size(self) -> int:
        """Literals in all bodies."""
        return sum(len(body) for body, _ in self.rules)

    def gain(self) -> float:
        """What all rules find rightly, less the prices of what they cover and of their literals."""
        decided = self.result().decide(self.rows)
        worth = (decided == self.classes) - self.price
        return float((self.weights * worth)[decided > 0].sum()) - self.literal_price * self.size

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
    """Rules for rare classes, ever more of them, with up to so many literals.

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
    while search.size < max_literals and search.add_rule(max_literals - search.size):
        yield search.result()
        search.improve()
        yield search.result()
        if search.gain() <= before + 1e-9:
            break
        before = search.gain()
