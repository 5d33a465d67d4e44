"""Searches side by side: each is a generator that asks, and what they ask at one time is one batch."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornbook.learners.pool import Pool, Side, all_but_one, count
from hornbook.logic import Bools, Words

Found = TypeVar("Found")
Margins: TypeAlias = NDArray[np.floating]
Ask: TypeAlias = Callable[[Bools], Margins]
"""Asks about terms, the rows of a (k, 2n) matrix: negative where the teacher rejects."""

Asking: TypeAlias = Generator[Bools, Margins, Found]
"""A search that yields terms, is sent their margins, and returns what it found."""


def together(searches: Sequence[Asking[Found]], ask: Ask) -> list[Found]:
    """What each search finds.

    Examples
    --------
    >>> def least_rejected(size):
    ...     margins = yield np.tri(size, dtype=np.bool_)
    ...     return int(np.argmax(margins < 0))
    >>> together([least_rejected(5), least_rejected(5)], lambda terms: 2.5 - terms.sum(axis=1))
    [2, 2]

    """
    found: dict[int, Found] = {}
    answers: dict[int, Margins | None] = dict.fromkeys(range(len(searches)))
    while answers:
        asked: dict[int, Bools] = {}
        for at, answer in answers.items():
            try:
                asked[at] = next(searches[at]) if answer is None else searches[at].send(answer)
            except StopIteration as end:
                found[at] = end.value
        if not asked:
            break
        margins = ask(np.concatenate(list(asked.values())))
        ends = np.cumsum([len(terms) for terms in asked.values()])
        answers = dict(zip(asked, np.split(margins, ends[:-1]), strict=True))
    return [found[at] for at in range(len(searches))]


Term: TypeAlias = NDArray[np.intp]
Count = TypeVar("Count", int, NDArray[np.int64])
COST_OF_A_LITERAL = 0.02
"""What a literal costs a reader, in units of the logarithm of coverage."""

AT_ONCE = 5
"""A growing term gets one more literal at once for each so many that it has."""


@dataclass
class View:
    """The open items of one label that meet a growing term, and which literals of the seed they have."""

    rows: Words
    meeting: Words

    @classmethod
    def of(cls, side: Side, seed: Term, term: Term) -> View:
        """The open items that meet `term`."""
        return cls(side.rows[seed], side.meeting(term) & side.open)._compressed()

    def counts(self) -> NDArray[np.int64]:
        """For each literal of the seed, how many items would be left."""
        return count(self.rows & self.meeting)

    def narrowed(self, positions: NDArray[np.intp]) -> View:
        """The items that have some more literals."""
        meeting = np.bitwise_and.reduce(self.rows[positions], axis=0) & self.meeting
        return View(self.rows, meeting)._compressed()

    def _compressed(self) -> View:
        """The same without the words in which no item is left, once they are half."""
        alive = np.flatnonzero(self.meeting)
        if 2 * len(alive) > len(self.meeting):
            return self
        return View(self.rows[:, alive], self.meeting[alive])


@dataclass(frozen=True)
class Growth:
    """A term on its way: what it covers, and which literals of the seed are free."""

    term: Term
    free: NDArray[np.intp]
    gained: View
    wronged: View

    @property
    def gain(self) -> int:
        """The rejected items newly covered."""
        return int(count(self.gained.meeting))

    @property
    def harm(self) -> int:
        """The accepted items newly covered."""
        return int(count(self.wronged.meeting))

    def gains(self) -> NDArray[np.int64]:
        """What the gain would be with each free literal."""
        return self.gained.counts()[self.free]

    def harms(self) -> NDArray[np.int64]:
        """What the harm would be with each free literal."""
        return self.wronged.counts()[self.free]

    def plus(self, best: NDArray[np.intp], seed: Term) -> Growth:
        """With more literals of the seed, the free ones at the positions `best`."""
        taken = self.free[best]
        return Growth(
            np.append(self.term, seed[taken]),
            np.delete(self.free, best),
            self.gained.narrowed(taken),
            self.wronged.narrowed(taken),
        )


@dataclass(frozen=True)
class Search:
    """Looks for valid terms; each way to look is a generator that asks, see `learners.together`."""

    pool: Pool
    min_precision: float

    def prime(self, seed: Term, fixed: Term) -> Asking[Term | None]:
        """A valid term of literals of the seed, the fixed ones among them, or None."""
        grown = yield from self.grow(seed, fixed)
        return None if grown is None else (yield from self.shrink(grown, fixed))

    def grow(self, seed: Term, fixed: Term) -> Asking[Term | None]:
        """Add literals until the term is valid, and then while that makes it worth more."""
        now = Growth(
            fixed,
            np.flatnonzero(~np.isin(seed, fixed)),
            View.of(self.pool.rejected, seed, fixed),
            View.of(self.pool.accepted, seed, fixed),
        )
        margin, whole = yield np.concatenate([self._rows(fixed), self._rows(seed)])
        if whole >= 0:
            return None
        scale = 0.1 * abs(margin) + 1e-9
        while not self._valid(now, margin):
            if not len(now.free):
                return None
            margins = yield self._rows(now.term, seed[now.free], True)
            progress = self._progress(now, margin, margins, scale)
            # the longer a term, the less hangs on one literal: several are taken at once
            chosen = np.argsort(-progress, kind="stable")[: 1 + len(now.term) // AT_ONCE]
            now = now.plus(chosen, seed)
            (margin,) = margins[chosen] if len(chosen) == 1 else (yield self._rows(now.term))
        while now.harm and len(now.free):
            worths = worth(now.gains(), now.harms())
            best = int(np.argmax(worths))
            if worths[best] <= worth(now.gain, now.harm):
                break
            further = np.append(now.term, seed[now.free[best]])
            (margin,) = yield self._rows(further)
            if margin >= 0:
                break
            now = now.plus(np.array([best]), seed)
        return now.term

    def shrink(self, term: Term, fixed: Term) -> Asking[Term]:
        """Drop literals, the one first that leaves the best rule, while the rule gets no worse."""
        rejected, accepted = self.pool.rejected, self.pool.accepted
        while len(droppable := np.flatnonzero(~np.isin(term, fixed))):
            gains = count(all_but_one(rejected.rows[term], rejected.open)[droppable])
            harms = count(all_but_one(accepted.rows[term], accepted.open)[droppable])
            kept = worth(*(count(side.meeting(term) & side.open) for side in (rejected, accepted)))
            valid = self.is_precise(gains, harms) & (worth(gains, harms) >= kept)
            if not valid.any():
                return term
            valid[valid] = (yield self._rows(term, term[droppable[valid]], False)) < 0
            if not valid.any():
                return term
            term = np.delete(term, droppable[np.argmax(np.where(valid, worth(gains, harms), -np.inf))])
        return term

    def refine(self, term: Term, fixed: Term) -> Asking[Term]:
        """Drop, add or exchange a literal while that makes the rule worth more, or shorter for nothing.

        Here a term must be precise on all that it covers, as others may cover the same.
        """
        while options := self._options(term, fixed):
            rejected = (yield np.concatenate([self._rows(option) for option in options])) < 0
            possible = (option for option, no in zip(options, rejected, strict=True) if no)
            better = next(filter(self._is_precise_throughout, possible), None)
            if better is None:
                return term
            term = better
        return term

    def weighed(self, term: Term, fixed: Term) -> Term:
        """What `refine` would make of a term by the pool alone, without asking."""
        better: Term | None = term
        while better is not None:
            term = better
            better = next(filter(self._is_precise_throughout, self._options(term, fixed)), None)
        return term

    def _options(self, term: Term, fixed: Term) -> list[Term]:
        """The terms worth more that one literal less, more or other makes, the best first."""
        table = worth(self.pool.rejected.neighbours(term), self.pool.accepted.neighbours(term))
        *without, (*_, now) = table.tolist()
        more = table[-1, :-1]
        options = [(float(more.max()), np.append(term, np.argmax(more)))]
        for at in np.flatnonzero(~np.isin(term, fixed)).tolist():
            rest = np.delete(term, at)
            options.append((now + without[at][-1] + 0.5, rest))  # of two that are worth the same, the shorter
            other = more + table[at, :-1]
            options.append((float(other.max()), np.append(rest, np.argmax(other))))
        least = max(now, 0)  # what covers nothing is worth more than what does harm, but is no rule
        better = sorted((option for option in options if option[0] > least), key=lambda option: -option[0])
        return [option for _, option in better]

    def _is_precise_throughout(self, term: Term) -> bool:
        gain, harm = (int(count(side.meeting(term))) for side in (self.pool.rejected, self.pool.accepted))
        return bool(self.is_precise(gain, harm))

    def _valid(self, now: Growth, margin: float) -> bool:
        return margin < 0 and bool(self.is_precise(now.gain, now.harm))

    def _progress(self, now: Growth, margin: float, margins: Margins, scale: float) -> NDArray[np.floating]:
        """How far each free literal goes towards a valid term, for the coverage that it loses."""
        gain, harm = now.gain, now.harm
        progress = np.full(len(now.free), 1e-3)
        if not self.is_precise(gain, harm):
            progress += np.log((harm + 1) / (now.harms() + 1)) / np.log(harm + 2)
        if margin >= 0:
            progress += np.clip((margin - margins) / (margin + scale), 0, 1)
        lost = np.log(max(gain, 1) / np.maximum(now.gains(), 0.5))
        return progress / (lost + COST_OF_A_LITERAL)

    def is_precise(self, gain: NDArray[np.int64] | int, harm: NDArray[np.int64] | int) -> Bools:
        """Whether enough of what is newly covered is rejected."""
        return np.asarray(harm <= (1 - self.min_precision) * (np.asarray(gain) + harm))

    def _rows(self, term: Term, literals: Term | None = None, value: bool = True) -> Bools:
        """Questions: the term, or the term with one literal more (or less) for each of several."""
        row = np.zeros((1, 2 * len(self.pool.vocabulary)), np.bool_)
        row[0, term] = True
        if literals is None:
            return row
        rows = np.repeat(row, len(literals), axis=0)
        rows[np.arange(len(literals)), literals] = value
        return rows


def worth(gain: Count, harm: Count) -> Count:
    """What covering so many rejected and accepted items is worth."""
    return gain - harm
