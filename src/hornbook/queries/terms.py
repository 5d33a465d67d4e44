"""The search for rule bodies, as terms that grow, shrink and are refined, and the choice among rules."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import BOTTOM, Bools, Bottom, Head, Rule, Vocabulary, Words, bits
from hornbook.queries.pool import LabelledItems, OpenItems, Pool, count_bits

ResultT = TypeVar("ResultT")
Margins: TypeAlias = NDArray[np.floating]
Ask: TypeAlias = Callable[[Bools], Margins]
"""Margins of terms, the columns of a (2n, terms) matrix: negative where the teacher rejects."""

QuerySearch: TypeAlias = Generator[Bools, Margins, ResultT]
"""A generator that yields terms, receives their margins, and returns its result."""


def run_batched(searches: Sequence[QuerySearch[ResultT]], ask: Ask) -> list[ResultT]:
    """Run searches side by side, with one batch of questions a round, and return their results.

    Examples
    --------
    >>> def least_rejected(size):
    ...     margins = yield np.tri(size, dtype=np.bool_).T
    ...     return int(np.argmax(margins < 0))
    >>> run_batched([least_rejected(5), least_rejected(5)], lambda terms: 2.5 - terms.sum(axis=0))
    [2, 2]

    """
    results: dict[int, ResultT] = {}
    answers: dict[int, Margins | None] = dict.fromkeys(range(len(searches)))
    while answers:
        questions: dict[int, Bools] = {}
        for number, margins in answers.items():
            try:
                search = searches[number]
                questions[number] = next(search) if margins is None else search.send(margins)
            except StopIteration as end:
                results[number] = end.value
        answers = {}
        if questions:
            ends = np.cumsum([terms.shape[1] for terms in questions.values()])
            answered = np.split(ask(np.concatenate(list(questions.values()), axis=1)), ends[:-1])
            answers = dict(zip(questions, answered, strict=True))
    return [results[number] for number in range(len(searches))]


Term: TypeAlias = NDArray[np.intp]
Count = TypeVar("Count", int, NDArray[np.int64])
LITERAL_COST = 0.02
"""Cost of a literal, in units of the logarithm of coverage."""

LITERALS_PER_EXTRA = 5
"""A term of k literals grows by 1 + k // LITERALS_PER_EXTRA literals at once."""


@dataclass(frozen=True)
class GrowingTerm:
    """A growing term: the items it covers, and the variables of the seed not in it."""

    term: Term
    free: Term
    gained: OpenItems
    wronged: OpenItems

    @property
    def gain(self) -> int:
        """The number of rejected items newly covered."""
        return self.gained.size

    @property
    def harm(self) -> int:
        """The number of accepted items newly covered."""
        return self.wronged.size

    def gains(self) -> NDArray[np.int64]:
        """The gain with each free variable added, shape (free,)."""
        return self.gained.counts(self.free)

    def harms(self) -> NDArray[np.int64]:
        """The harm with each free variable added, shape (free,)."""
        return self.wronged.counts(self.free)

    def add_literals(self, best: NDArray[np.intp]) -> GrowingTerm:
        """Add the free variables at the positions `best`."""
        taken = self.free[best]
        return GrowingTerm(
            np.append(self.term, taken),
            np.delete(self.free, best),
            self.gained.having(taken),
            self.wronged.having(taken),
        )


@dataclass(frozen=True)
class TermSearch:
    """Searches for valid terms; each search is a generator of questions, see `run_batched`.

    In the worth of a term an accepted item counts as much as `harm_weight` rejected ones.
    """

    pool: Pool
    min_precision: float
    harm_weight: int = 1

    def prime(self, seed: Term, fixed: Term) -> QuerySearch[Term | None]:
        """A valid term of literals of the seed that contains the fixed ones, or None."""
        grown = yield from self.grow(seed, fixed)
        return None if grown is None else (yield from self.shrink(grown, fixed))

    def grow(self, seed: Term, fixed: Term) -> QuerySearch[Term | None]:
        """Add literals until the term is valid, and then while that makes it worth more.

        None if the seed itself is not valid: then hardly any part of it is.
        """
        (whole,) = yield self._questions([seed])
        if whole >= 0:
            return None
        now = GrowingTerm(fixed, seed[find_free(seed, fixed)], *self._open_items(fixed))
        if not self._valid(now.add_literals(np.arange(len(now.free))), whole):
            return None
        margin, *margins = yield self._extensions(now)
        scale = 0.1 * abs(margin) + 1e-9
        while len(now.free) and not self._valid(now, margin):
            progress = self._progress(now, margin, np.array(margins), scale)
            # the longer a term, the less hangs on one literal: several are taken at once
            chosen = np.argsort(-progress, kind="stable")[: 1 + len(now.term) // LITERALS_PER_EXTRA]
            now = now.add_literals(chosen)
            # the next questions go along with this one, so that there are fewer rounds
            margin, *margins = yield self._extensions(now)
        while now.harm and len(now.free):
            worths = self.worth(now.gains(), now.harms())
            best = int(np.argmax(worths))
            if worths[best] <= self.worth(now.gain, now.harm):
                break
            further = np.append(now.term, now.free[best])
            (margin,) = yield self._questions([further])
            if margin >= 0:
                break
            now = now.add_literals(np.array([best]))
        return now.term

    def shrink(self, term: Term, fixed: Term) -> QuerySearch[Term]:
        """Drop literals, best first, while the rule does not get worse."""
        near = self._open_items(fixed)
        while len(droppable := find_free(term, fixed)):
            free = term[droppable]
            gains, harms = (side.counts_without(free) for side in near)
            *_, now = worths = self.worth(gains, harms)
            valid = (self.is_precise(gains, harms) & (worths >= now))[:-1]
            if not valid.any():
                return term
            valid[valid] = (yield self._variants(term, free[valid], False)) < 0
            if not valid.any():
                return term
            term = exchange_literal(term, int(droppable[np.argmax(np.where(valid, worths[:-1], -np.inf))]))
        return term

    def refine(self, term: Term, fixed: Term) -> Term:
        """Drop, add or exchange a literal while that makes the rule better, or shorter and as good.

        The pool alone decides, without questions. Here a term must be precise on all that it covers, as
        others may cover the same.
        """
        sides = self._open_items(fixed)
        better: Term | None = term
        while better is not None:
            term = better
            better = next(filter(self._is_precise_throughout, self._options(term, fixed, sides)), None)
        return term

    def _open_items(self, fixed: Term) -> tuple[OpenItems, OpenItems]:
        """The rejected and the accepted open items that have the fixed literals."""
        return self.pool.rejected.open_items(fixed), self.pool.accepted.open_items(fixed)

    def _is_precise_throughout(self, term: Term) -> bool:
        gain, harm = (
            int(count_bits(side.meeting(term))) for side in (self.pool.rejected, self.pool.accepted)
        )
        return bool(self.is_precise(gain, harm))

    def _extensions(self, now: GrowingTerm) -> Bools:
        """Questions, shape (2n, 1 + free): the term, and the term with each free variable added."""
        return np.concatenate([self._questions([now.term]), self._variants(now.term, now.free, True)], axis=1)

    def _valid(self, now: GrowingTerm, margin: float) -> bool:
        return margin < 0 and bool(self.is_precise(now.gain, now.harm))

    def _progress(
        self, now: GrowingTerm, margin: float, margins: Margins, scale: float
    ) -> NDArray[np.floating]:
        """Progress of each free literal towards a valid term per lost coverage, shape (free,)."""
        gain, harm = now.gain, now.harm
        progress = np.full(len(now.free), 1e-3)
        if not self.is_precise(gain, harm):
            progress += np.log((harm + 1) / (now.harms() + 1)) / np.log(harm + 2)
        if margin >= 0:
            progress += np.clip((margin - margins) / (margin + scale), 0, 1)
        lost = np.log(max(gain, 1) / np.maximum(now.gains(), 0.5))
        return progress / (lost + LITERAL_COST)

    def worth(self, gain: Count, harm: Count) -> Count:
        """The worth of a term that covers `gain` rejected and `harm` accepted items."""
        return gain - self.harm_weight * harm

    def is_precise(self, gain: NDArray[np.int64] | int, harm: NDArray[np.int64] | int) -> Bools:
        """Whether the share of rejected items among those newly covered is at least `min_precision`."""
        return np.asarray(harm <= (1 - self.min_precision) * (np.asarray(gain) + harm))

    def _options(self, term: Term, fixed: Term, sides: tuple[OpenItems, OpenItems]) -> Iterator[Term]:
        """The better terms with one literal dropped, added or exchanged, best first."""
        droppable = find_free(term, fixed)
        table = self.worth(*(side.neighbours(term[droppable]) for side in sides))
        more, now = table[-1, :-1], int(table[-1, -1])
        exchanged = table[:-1, :-1] + more
        # of each option what it is worth, the position of the literal that goes, and the one that comes
        options: list[tuple[float, int | None, int | None]] = [(int(more.max()), None, int(more.argmax()))]
        columns = (droppable, table[:-1, -1], exchanged.max(axis=1), exchanged.argmax(axis=1))
        for at, alone, most, v in zip(*(column.tolist() for column in columns), strict=True):
            options.append((now + alone + 0.5, at, None))  # of two that are worth the same, the shorter
            options.append((most, at, v))
        least = max(now, 0)  # what covers nothing is worth more than what does harm, but is no rule
        better = sorted((option for option in options if option[0] > least), key=lambda option: -option[0])
        return (exchange_literal(term, at, added) for _, at, added in better)

    def _questions(self, terms: Sequence[Term]) -> Bools:
        """Questions, shape (2n, terms): these terms."""
        columns = np.zeros((2 * len(self.pool.vocabulary), len(terms)), np.bool_)
        for at, term in enumerate(terms):
            columns[term, at] = True
        return columns

    def _variants(self, term: Term, literals: Term, value: bool) -> Bools:
        """Questions, shape (2n, literals): the term with each of `literals` set to `value`."""
        columns = np.zeros((2 * len(self.pool.vocabulary), len(literals)), np.bool_)
        columns[term] = True
        columns[literals, np.arange(len(literals))] = value
        return columns


def find_free(term: Term, fixed: Term) -> NDArray[np.intp]:
    """The positions of the literals of a term that are not fixed."""
    return np.flatnonzero((term[:, None] != fixed).all(axis=1))


def exchange_literal(term: Term, at: int | None, added: int | None = None) -> Term:
    """A term without the literal at a position, and with another one at its end; either may be None."""
    parts = [term] if at is None else [term[:at], term[at + 1 :]]
    if added is not None:
        parts.append(np.array([added], np.intp))
    return np.concatenate(parts)


@dataclass(frozen=True)
class TermCodec:
    """Converts rules to terms and back, with a list of heads, the preferred one first.

    Examples
    --------
    >>> vocabulary = Vocabulary(["rain", "wet"])
    >>> codec = TermCodec.of(vocabulary, None)
    >>> term = codec.term(Rule({0}, 1))
    >>> term.tolist(), codec.rule(term) == Rule({0}, 1)
    ([0, 3], True)

    """

    vocabulary: Vocabulary
    heads: tuple[Head, ...]

    @classmethod
    def of(cls, vocabulary: Vocabulary, heads: Sequence[Head] | None) -> TermCodec:
        """Use the given heads, or ⊥ and every variable without a dual."""
        # a variable with a dual need not be a head: its dual in the body says the same
        return cls(vocabulary, (BOTTOM, *sorted(vocabulary.unpaired)) if heads is None else tuple(heads))

    def head_literal(self, head: Head) -> tuple[int, ...]:
        """The literal of a false head (its dual if it has one), as a tuple; empty for ⊥."""
        if isinstance(head, Bottom):
            return ()
        dual = self.vocabulary.dual(head)
        return (len(self.vocabulary) + head if dual is None else dual,)

    def rule(self, term: Term) -> Rule:
        """The rule that rejects the items that meet the term, with the most preferred head possible."""
        body = set(term.tolist())
        for head in self.heads:
            if head is not BOTTOM and body.issuperset(self.head_literal(head)):
                return Rule(body.difference(self.head_literal(head)), head)
        return Rule(body, BOTTOM)

    def term(self, rule: Rule) -> Term:
        """The term of a rule: an item that meets it violates the rule."""
        return np.array(sorted({*rule.body, *self.head_literal(rule.head)}), np.intp)


@dataclass(frozen=True)
class TermCoverage:
    """The items of each label that meet each of several terms, shape (terms, words).

    Each rule is considered by itself: an item that only a chain of rules rejects counts for
    none of them.
    """

    rejected: Words
    accepted: Words

    @classmethod
    def of(cls, pool: Pool, terms: Iterable[NDArray[np.intp]]) -> TermCoverage:
        """The items of a pool that meet the terms."""
        terms = list(terms)
        return cls(_find_meeting(pool.rejected, terms), _find_meeting(pool.accepted, terms))

    def uncovered_by_others(self) -> Iterator[tuple[Words, Words]]:
        """For each term in turn, the rejected and the accepted items that meet no other term.

        A term may be replaced when its turn is over.
        """
        return zip(_in_no_other_row(self.rejected), _in_no_other_row(self.accepted), strict=True)

    def replace(self, at: int, term: NDArray[np.intp], pool: Pool) -> None:
        """Replace the term at a position."""
        self.rejected[at], self.accepted[at] = (side.meeting(term) for side in (pool.rejected, pool.accepted))

    def contributions(self, chosen: Sequence[int]) -> NDArray[np.int64]:
        """The worth of each chosen term on the items that meet no other chosen one, shape (chosen,)."""
        counts = []
        for words in (self.rejected, self.accepted):
            rows = words[np.array(chosen, np.intp)]
            once, twice = np.zeros((2, words.shape[1]), np.uint64)
            for row in rows:
                twice |= once & row
                once |= row
            counts.append(count_bits(rows & once & ~twice))
        return counts[0] - counts[1]

    def choose_terms(self, chosen: Sequence[int], most: int) -> list[int]:
        """Choose at most `most` terms by local search from `chosen`; returns their positions.

        Terms that do more harm than good are dropped. The term that adds most is added, and if
        there are too many terms, the one whose removal costs least is dropped.
        """
        chosen = list(chosen)
        relevant = TermCoverage(_drop_unmet(self.rejected), _drop_unmet(self.accepted))
        added = -1
        while True:
            losses = relevant.contributions(chosen)
            if len(chosen) > most or losses.min(initial=0) < 0:
                least = len(chosen) - 1 if losses[-1] <= losses.min() else int(np.argmin(losses))
                if chosen.pop(least) == added:
                    return chosen
                continue
            gains, harms = (
                count_bits(words & ~_in_any_row(words[chosen]))
                for words in (relevant.rejected, relevant.accepted)
            )
            offers = gains - harms
            if offers.max(initial=0) <= 0:
                return chosen
            added = int(np.argmax(offers))
            chosen.append(added)


def _find_meeting(side: LabelledItems, terms: list[NDArray[np.intp]]) -> Words:
    met = np.zeros((len(terms), side.rows.shape[1]), np.uint64)
    for row, term in zip(met, terms, strict=True):
        row[:] = side.meeting(term)
    return met


def _drop_unmet(words: Words) -> Words:
    """Drop the items that are in no row, shape (rows, fewer words)."""
    return bits.take(words, np.flatnonzero(bits.flat(_in_any_row(words), bits.WORD * words.shape[1])))


def _in_any_row(words: Words) -> Words:
    """The items that are in at least one row, shape (words,)."""
    some: Words = np.bitwise_or.reduce(words, axis=0)
    return some


def _in_no_other_row(words: Words) -> Iterator[Words]:
    """For each row in turn, the items that are in no other row, shape (words,); rows behind may change."""
    after = np.bitwise_or.accumulate(words[::-1], axis=0)[::-1]  # those in a row or in one after it
    before = np.zeros(words.shape[1], np.uint64)
    for at, row in enumerate(words):
        yield ~(before | after[at + 1]) if at + 1 < len(words) else ~before
        before |= row
