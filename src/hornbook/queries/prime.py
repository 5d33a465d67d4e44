"""Learn Horn rules with prime bodies from counterexamples and a pool of labelled items.

A literal is a number below 2n: v says that variable v is true, n + v that it is false. The term of a rule
`A → c` is `A ∧ ¬c`, an array of literals: the rule rejects the items that meet it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import (
    BOTTOM,
    Batch,
    Bools,
    Bottom,
    Head,
    HornTheory,
    Interpretation,
    Rule,
    Vocabulary,
    Words,
    bits,
    chaining,
)
from hornbook.queries.protocol import Counterexample, Equivalence, Membership, Step, Unknown, interpretation
from hornbook.randomness import Purpose, generator

Term: TypeAlias = NDArray[np.intp]
Counts: TypeAlias = NDArray[np.int64]

POOL_ITEMS = 1 << 17
"""Items of each label that a pool remembers."""

HARM_WEIGHT = 4
"""Number of rejected items that outweigh an accepted one while a rule is searched for.

A rule that is right about some rows and half right about others would close the others to rules that
are right about more of them.
"""

RULES_AT_ONCE = 4
"""Number of missed items that rules are searched from for each counterexample."""

LITERAL_COST = 0.02
"""Cost of a literal, in units of the logarithm of coverage."""

MAX_SWEEPS = 2
"""Maximum number of passes in which every rule is refined at the end."""

LEAST_WORTH = 1e-4
"""The share of the rejected items for which a rule must be needed, more than it does harm, in the end."""

LITERALS_PER_EXTRA = 5
"""A term of k literals grows by 1 + k // LITERALS_PER_EXTRA literals at once."""


@dataclass
class Side:
    """The items of one label, and which of them are open.

    Open among the rejected items are those that the hypothesis accepts and that were not given up; open
    among the accepted ones are those that it accepts too, so that a new rule could wrong them.
    """

    batch: Batch
    open: Words

    @cached_property
    def rows(self) -> Words:
        """The bits of each literal, shape (2n, words)."""
        return np.concatenate([self.batch.true, self.batch.false])

    def meeting(self, term: Term, start: Words | None = None) -> Words:
        """The items that meet a term, of those in `start`; shape (words,)."""
        if start is None:
            start = bits.pack_rows(np.ones((1, len(self.batch)), np.bool_))[0]
        common: Words = np.bitwise_and.reduce(self.rows[term], axis=0, initial=~np.uint64(0)) & start
        return common


class Pool:
    """The latest items that a teacher rejected and accepted.

    Parameters
    ----------
    vocabulary
        The variables.
    limit
        The number of items of each label that are remembered.

    """

    def __init__(self, vocabulary: Vocabulary, limit: int = POOL_ITEMS) -> None:
        self.vocabulary, self.limit = vocabulary, limit
        nothing = Batch.from_interpretations([], vocabulary)
        self.rejected, self.accepted = (Side(nothing, np.zeros(0, np.uint64)) for _ in range(2))
        self.given_up: list[Term] = []

    @property
    def sides(self) -> tuple[Side, Side]:
        """The rejected and the accepted items."""
        return self.rejected, self.accepted

    def add(self, batch: Batch, accepted: Bools) -> None:
        """Remember labelled items; over the limit of a label, in place of its oldest."""
        self.rejected = self._extend(self.rejected, batch[~accepted])
        self.accepted = self._extend(self.accepted, batch[accepted])

    def _extend(self, side: Side, items: Batch) -> Side:
        batch = Batch.concatenate([side.batch, items])
        kept = batch[max(0, len(batch) - self.limit) :]
        return Side(kept, np.zeros(bits.words_for(len(kept)), np.uint64))

    def judge(self, hypothesis: HornTheory) -> None:
        """Recompute which items are open under a hypothesis."""
        for side in self.sides:
            side.open = bits.pack_rows(hypothesis.satisfied_by(side.batch)[None, :])[0]
        for term in self.given_up:
            self.rejected.open = self.rejected.open & ~self.rejected.meeting(term)

    def list_missed(self) -> NDArray[np.intp]:
        """The places of the open rejected items."""
        return np.flatnonzero(bits.flat(self.rejected.open, len(self.rejected.batch)))

    def find_counterexample(self, hypothesis: HornTheory) -> Counterexample | None:
        """An item that the teacher rejects and the hypothesis accepts, if there is one."""
        self.judge(hypothesis)
        missed = self.list_missed()
        return Counterexample(self.rejected.batch[int(missed[0])], found_by="stored") if len(missed) else None


def prime(
    member: Membership,
    equivalent: Equivalence,
    pool: Pool,
    *,
    background: HornTheory,
    heads: Sequence[Head] | None = None,
    min_precision: float = 0.9,
    max_rules: int = 100,
    seed: int = 0,
) -> Iterator[Step]:
    """Learn rules about any teacher, yielding each hypothesis with the answer to it.

    A counterexample that no rule covers, or that a precise rule wrongs, is given up: the hypothesis stays.
    Where the oracle ends the run without a guarantee, the rules of the last hypothesis are refined.

    Parameters
    ----------
    member, equivalent
        The teacher.
    pool
        Labelled items that rules are weighed by; counterexamples are added.
    background
        Rules that are never removed.
    heads
        The heads that rules may have, the preferred first; None for ⊥ and every variable without a dual,
        which can say all that rules can say.
    min_precision
        The share of the items that a rule newly rejects that the teacher must reject too.
    max_rules
        The most rules besides the background; the least useful ones are dropped.
    seed
        Chooses the items that rules are searched from, besides the counterexample.

    """
    search = TermSearch(member, pool, min_precision, heads)
    h, rules, step = background, list[Rule](), 0
    while isinstance(answer := equivalent(h), Counterexample):
        yield Step(h, answer)
        item, step = answer.interpretation, step + 1
        if answer.found_by != "stored":
            pool.add(Batch.from_interpretations([item], h.vocabulary), np.array([answer.positive]))
        pool.judge(h)
        if answer.positive:
            kept = search.drop_refuted(rules, h, item)
        else:
            missed = generator(seed, Purpose.RULE_SEARCH, step).permutation(pool.list_missed())
            others = (pool.rejected.batch[int(place)] for place in missed[: RULES_AT_ONCE - 1])
            kept = search.add_rules(rules, [item, *others], max_rules)
            if kept == rules:
                pool.given_up.append(term_of(item, len(h.vocabulary)))
        if kept != rules:
            rules, h = kept, HornTheory(h.vocabulary, (*background, *kept))
    if isinstance(answer, Unknown):  # there is no guarantee to lose
        h = HornTheory(h.vocabulary, (*background, *search.refine_rules(rules, background)))
    yield Step(h, answer)


@dataclass(frozen=True)
class TermSearch:
    """Searches for valid terms: those that the teacher rejects, and that are precise on the pool."""

    member: Membership
    pool: Pool
    min_precision: float
    given_heads: Sequence[Head] | None
    refuted: set[Rule] = field(default_factory=set)

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """The heads of rules, the preferred one first."""
        if self.given_heads is not None:
            return tuple(self.given_heads)
        # a variable with a dual need not be a head: its dual in the body says the same
        return (BOTTOM, *sorted(self.pool.vocabulary.unpaired))

    def add_rules(self, rules: list[Rule], items: Sequence[Interpretation], most: int) -> list[Rule]:
        """The rules and a valid one for each item for which there is one, as far as they are useful."""
        for rule in [self.find_rule(item) for item in items]:
            if rule is not None and rule not in {*rules, *self.refuted}:
                rules = self.choose_useful([*rules, rule], most)
        return rules

    def drop_refuted(self, rules: list[Rule], h: HornTheory, witness: Interpretation) -> list[Rule]:
        """The rules without the one that a positive counterexample refutes, unless it is still precise."""
        rule = blame(self.member, h, witness)
        without = HornTheory(h.vocabulary, (other for other in h if other != rule))
        gain, harm = (
            int((without.satisfied_by(side.batch) & ~h.satisfied_by(side.batch)).sum())
            for side in self.pool.sides
        )
        if rule not in rules or self.is_precise(gain, harm):
            return rules
        self.refuted.add(rule)
        return [other for other in rules if other != rule]

    def find_rule(self, item: Interpretation) -> Rule | None:
        """A valid rule that rejects an item, with the most preferred head for which there is one."""
        for head in self.heads:
            if isinstance(head, Bottom) or head in item.false:
                fixed = self.negate_head(head)
                seed = np.array(sorted({*item.true, *fixed}), np.intp)
                term = self.grow(seed, np.array(fixed, np.intp))
                if term is not None:
                    return self.make_rule(self.shrink(term, np.array(fixed, np.intp)))
        return None

    def grow(self, seed: Term, fixed: Term) -> Term | None:
        """Add literals of the seed to the fixed ones until the term is valid; None if the seed is not."""
        rejected, accepted = (side.meeting(fixed, side.open) for side in self.pool.sides)
        if not self.is_valid(seed):
            return None
        term, free = fixed, np.setdiff1d(seed, fixed)
        while len(free):
            gain, harm = (int(count_bits(words)) for words in (rejected, accepted))
            gains = count_bits(self.pool.rejected.rows[free] & rejected)
            harms = count_bits(self.pool.accepted.rows[free] & accepted)
            worths = gains - HARM_WEIGHT * harms
            if not self.is_precise(gain, harm):
                progress = 1e-3 + np.log((harm + 1) / (harms + 1)) / np.log(harm + 2)
            elif worths.max() > gain - HARM_WEIGHT * harm:
                progress = np.maximum(worths - (gain - HARM_WEIGHT * harm), 0) / gain
            else:
                columns = self.repeat(term, 1 + len(free))
                columns[free, np.arange(1, 1 + len(free))] = True
                now, *further = self.reject(columns)
                if now:
                    break
                progress = 1e-3 + np.array(further)
            lost = np.log(max(gain, 1) / np.maximum(gains, 0.5)) + LITERAL_COST
            # the longer a term, the less hangs on one literal: several are taken at once
            best = np.argsort(-progress / lost, kind="stable")[: 1 + len(term) // LITERALS_PER_EXTRA]
            best = best[progress[best] > 0]
            term, free = np.append(term, free[best]), np.delete(free, best)
            rejected = self.pool.rejected.meeting(term, rejected)
            accepted = self.pool.accepted.meeting(term, accepted)
        return term

    def shrink(self, term: Term, fixed: Term) -> Term:
        """Drop literals, best first, while the rule stays valid and does not get worse."""
        kept, may_go = np.ones(len(term), np.bool_), ~np.isin(term, fixed)
        tables = []  # of each side the literals and the open items, in the words that have any
        for side in self.pool.sides:
            near = side.meeting(fixed, side.open)
            words = np.flatnonzero(near)
            tables.append((side.rows[np.ix_(term, words)], near[words]))
        while len(places := np.flatnonzero(kept & may_go)):
            gains, harms = (count_bits(all_but_one(rows[places], near)) for rows, near in tables)
            *_, now = worths = gains - HARM_WEIGHT * harms
            possible = np.flatnonzero((self.is_precise(gains, harms) & (worths >= now))[:-1])
            columns = self.repeat(term[kept], len(possible))
            columns[term[places[possible]], np.arange(len(possible))] = False
            possible = possible[self.reject(columns)]
            if not len(possible):
                break
            kept[places[possible[np.argmax(worths[possible])]]] = False
        return term[kept]

    def choose_useful(self, rules: list[Rule], most: int, least_worth: float = 0) -> list[Rule]:
        """Leave out rules, the least useful first, until all are worth something and are few enough.

        What a rule is good for are the items that no other rule rejects; each rule is considered by itself.
        """
        kept = list(rules)
        met = [{rule: side.meeting(self.make_term(rule)) for rule in rules} for side in self.pool.sides]
        while kept:
            gains, harms = (count_only(np.array([words[rule] for rule in kept])) for words in met)
            worths = gains - harms
            least = len(kept) - 1 - int(np.argmin(worths[::-1]))  # of equal ones the latest
            if worths[least] > least_worth and len(kept) <= most:
                break
            del kept[least]
        return kept

    def refine_rules(self, rules: list[Rule], background: HornTheory) -> list[Rule]:
        """Refine each rule on the items that the others leave, and leave out those that are for very few."""
        self.pool.given_up.clear()
        for _ in range(MAX_SWEEPS):
            before = list(rules)
            for place, rule in enumerate(before):
                others = [*rules[:place], *rules[place + 1 :]]
                self.pool.judge(HornTheory(background.vocabulary, (*background, *others)))
                refined = self.refine(rule)
                if refined not in rules:
                    rules[place] = refined
            if rules == before:
                break
        return self.choose_useful(rules, len(rules), LEAST_WORTH * len(self.pool.rejected.batch))

    def refine(self, rule: Rule) -> Rule:
        """Drop, add or exchange a literal while that makes a rule better, or shorter and as good.

        The pool alone decides, without questions. Here a rule must be precise on all that it rejects, as
        others may reject the same.
        """
        fixed = np.array(self.negate_head(rule.head), np.intp)
        better: Term | None = self.make_term(rule)
        while better is not None:
            term = better
            better = next(filter(self._is_precise_throughout, self._list_better(term, fixed)), None)
        return self.make_rule(term)

    def _is_precise_throughout(self, term: Term) -> bool:
        return bool(self.is_precise(*(int(count_bits(side.meeting(term))) for side in self.pool.sides)))

    def _list_better(self, term: Term, fixed: Term) -> Iterator[Term]:
        """The better terms with one literal dropped, added or exchanged, best first."""
        free = np.setdiff1d(term, fixed)
        gains, harms = (
            count_neighbours(side, side.meeting(fixed, side.open), free) for side in self.pool.sides
        )
        table = gains - harms  # row: the literal that lacks; column: the one that is added; last: none
        now, worths = table[-1, -1], table + table[-1]
        worths[-1] = table[-1]
        options = worths.astype(np.float64)
        options[:-1, -1] += 0.5  # of two that are worth the same, the shorter
        least = max(now, 0)  # what covers nothing is worth more than what does harm, but is no rule
        best = np.argsort(-options, axis=None)
        for gone, added in zip(*np.unravel_index(best, options.shape), strict=True):
            if options[gone, added] <= least:
                return
            rest = term if gone == len(free) else term[term != free[gone]]
            yield rest if added == options.shape[1] - 1 else np.append(rest, added)

    def is_valid(self, term: Term) -> bool:
        """Whether a term is precise on the open items, and the teacher rejects it."""
        gain, harm = (int(count_bits(side.meeting(term, side.open))) for side in self.pool.sides)
        return bool(self.is_precise(gain, harm)) and bool(self.reject(self.repeat(term, 1))[0])

    def is_precise(self, gain: Counts | int, harm: Counts | int) -> Bools:
        """Whether the share of rejected items among those newly rejected is at least `min_precision`."""
        return np.asarray(harm <= (1 - self.min_precision) * (np.asarray(gain) + harm))

    def repeat(self, term: Term, count: int) -> Bools:
        """The literals of a term in each of so many columns, shape (2n, count)."""
        columns = np.zeros((2 * len(self.pool.vocabulary), count), np.bool_)
        columns[term] = True
        return columns

    def reject(self, columns: Bools) -> Bools:
        """Whether the teacher rejects each column of literals (2n, count) as a term, all else unknown."""
        vocabulary, width = self.pool.vocabulary, len(self.pool.vocabulary)
        this, other = vocabulary.paired_rows  # a variable is true where its dual is false
        mirrored = columns.copy()
        mirrored[this] |= columns[width + other]
        mirrored[width + this] |= columns[other]
        words = bits.pack_rows(mirrored)
        return ~self.member(Batch(vocabulary, words[:width], words[width:], columns.shape[1]))

    def negate_head(self, head: Head) -> tuple[int, ...]:
        """The literal of a false head (its dual if it has one), as a tuple; empty for ⊥."""
        if isinstance(head, Bottom):
            return ()
        dual = self.pool.vocabulary.dual(head)
        return (len(self.pool.vocabulary) + head if dual is None else dual,)

    def make_term(self, rule: Rule) -> Term:
        """The term of a rule."""
        return np.array(sorted({*rule.body, *self.negate_head(rule.head)}), np.intp)

    def make_rule(self, term: Term) -> Rule:
        """The rule that rejects the items that meet a term, with the most preferred head possible."""
        body = frozenset(term.tolist())
        for head in self.heads:
            if head is not BOTTOM and body.issuperset(self.negate_head(head)):
                return Rule(body.difference(self.negate_head(head)), head)
        return Rule(body, BOTTOM)


def term_of(item: Interpretation, width: int) -> Term:
    """The term of all known values of an item."""
    return np.array([*sorted(item.true), *(width + v for v in sorted(item.false))], np.intp)


def count_bits(words: Words) -> Counts:
    """The number of set bits along the last axis."""
    counts: Counts = np.bitwise_count(words).sum(axis=-1, dtype=np.int64)
    return counts


def count_only(rows: Words) -> Counts:
    """For each row the number of bits that are set in no other row, shape (rows,)."""
    once, twice = np.zeros((2, rows.shape[1]), np.uint64)
    for row in rows:
        twice |= once & row
        once |= row
    return count_bits(rows & ~twice)


def all_but_one(rows: Words, start: Words) -> Words:
    """The AND of `start` and all rows but one, for each of them, and then of all, shape (rows + 1, words)."""
    without: Words = np.bitwise_and.accumulate(np.concatenate([start[None], rows]), axis=0)
    without[:-2] &= np.bitwise_and.accumulate(rows[:0:-1], axis=0)[::-1]
    return without


def count_neighbours(side: Side, start: Words, chosen: Term) -> Counts:
    """Counts of the items of `start` that lack at most one of the chosen literals, shape (chosen + 1, n + 1).

    Row j counts the items that lack only the j-th literal, the last row those that have all: column v those
    in which variable v is true, the last column all of them.
    """
    in_all, near = start, np.zeros_like(start)
    for literal in chosen:
        row = side.rows[literal]
        near, in_all = near & row | in_all & ~row, in_all & row
    items = np.flatnonzero(bits.flat(near | in_all, len(side.batch)))
    true = bits.unpack(bits.take(side.batch.true, items), len(items))
    has = bits.unpack(bits.take(side.rows[chosen], items), len(items))
    lacks = np.column_stack([~has, has.all(axis=1)]).astype(np.float32)
    values = np.column_stack([true, np.ones(len(items), np.bool_)]).astype(np.float32)
    counts: Counts = np.rint(lacks.T @ values).astype(np.int64)
    return counts


def blame(member: Membership, hypothesis: HornTheory, witness: Interpretation) -> Rule:
    """Find the rule that a positive counterexample refutes.

    The derivation of the conflict is walked, adding derived facts one at a time and asking
    the teacher: the first rule whose head flips the answer is refuted, and if none does, the
    rule that closed the conflict.

    Examples
    --------
    >>> from hornbook.logic import Vocabulary
    >>> vocabulary = Vocabulary(["a", "b", "c"])
    >>> truth = HornTheory(vocabulary, [Rule({0}, 1)])
    >>> wrong = truth | HornTheory(vocabulary, [Rule({1}, 2)])
    >>> blame(truth.satisfied_by, wrong, Interpretation(frozenset({0}), frozenset({2})))
    1 → 2

    """
    vocabulary = hypothesis.vocabulary
    steps: list[Rule] = []
    for rule in chaining.derive(hypothesis.rules, witness.true):
        steps.append(rule)
        if rule.head is BOTTOM or rule.head in witness.false:
            break
    true, questions = witness.true, []
    for rule in steps[:-1]:
        assert not isinstance(rule.head, Bottom)
        true = true | {rule.head}
        questions.append(interpretation(vocabulary, true, witness.false))
    possible = [item for item in questions if not item.true & item.false]
    accepted = member(Batch.from_interpretations(possible, vocabulary))
    for rule, yes in zip(steps, accepted.tolist(), strict=False):
        if not yes:
            return rule
    return steps[len(possible)]
