"""Search for rule bodies: terms grow, shrink and are refined, and parallel searches share batches."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import Bools
from hornbook.queries.items import OpenItems, count_bits
from hornbook.queries.pool import Pool
from hornbook.queries.protocol import run_together

ResultT = TypeVar("ResultT")
Margins: TypeAlias = NDArray[np.floating]
Ask: TypeAlias = Callable[[Bools], Margins]
"""Margins of terms, the columns of a (2n, terms) matrix: negative where the teacher rejects."""

QuerySearch: TypeAlias = Generator[Bools, Margins, ResultT]
"""A generator that yields terms, receives their margins, and returns its result."""


def run_batched(searches: Sequence[QuerySearch[ResultT]], ask: Ask) -> list[ResultT]:
    """Run searches in parallel, with one batch of questions a round, and return their results.

    Examples
    --------
    >>> def least_rejected(size):
    ...     margins = yield np.tri(size, dtype=np.bool_).T
    ...     return int(np.argmax(margins < 0))
    >>> run_batched([least_rejected(5), least_rejected(5)], lambda terms: 2.5 - terms.sum(axis=0))
    [2, 2]

    """

    def ask_all(questions: dict[int, Bools]) -> dict[int, Margins]:
        margins = ask(np.concatenate(list(questions.values()), axis=1))
        ends = np.cumsum([terms.shape[1] for terms in questions.values()])
        return dict(zip(questions, np.split(margins, ends[:-1]), strict=True))

    return run_together(searches, ask_all)


Term: TypeAlias = NDArray[np.intp]
Count = TypeVar("Count", int, NDArray[np.int64])
LITERAL_COST = 0.02
"""Cost of a literal, in units of the logarithm of coverage."""

LITERALS_PER_EXTRA = 5
"""A term of k literals grows by 1 + k // LITERALS_PER_EXTRA literals at once."""

DROPS_AT_ONCE = 6
"""Number of literals that a term loses before the items near it are looked up again."""


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
        drops = 0
        while len(droppable := find_free(term, fixed)):
            free = term[droppable]
            if drops % DROPS_AT_ONCE == 0:
                # what lacks one literal of the term in the end lacks few now
                near = [side.lacking_at_most(DROPS_AT_ONCE, free) for side in self._open_items(fixed)]
            gains, harms = (side.counts_without(free) for side in near)
            *_, now = worths = self.worth(gains, harms)
            valid = (self.is_precise(gains, harms) & (worths >= now))[:-1]
            if not valid.any():
                return term
            valid[valid] = (yield self._variants(term, free[valid], False)) < 0
            if not valid.any():
                return term
            term = exchange_literal(term, int(droppable[np.argmax(np.where(valid, worths[:-1], -np.inf))]))
            drops += 1
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
        return worth(gain, harm, harm_weight=self.harm_weight)

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


def worth(gain: Count, harm: Count, *, harm_weight: int = 1) -> Count:
    """The worth of a rule that covers `gain` rejected and `harm` accepted items."""
    return gain - harm_weight * harm
