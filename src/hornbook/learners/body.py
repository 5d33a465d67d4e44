"""Prime bodies: a short term, from which nothing can be left out, that covers as much as possible.

A term is grown from the literals of one rejected item. Each step takes the literal that goes
furthest towards a valid rule for the least coverage lost; then every literal that turns out
superfluous is dropped again, the one that costs most coverage first.

What a term is worth is the rejected items that it newly covers, less four times the accepted
ones: what is missed other rules may still cover, what is wronged stays wrong.

A term is valid if the teacher rejects it as a question, all else unknown, and if of the pool's
items that it newly covers at least a share `min_precision` are rejected ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornbook.learners.pool import Pool, Side, count
from hornbook.logic.bits import Bools, Words

Term: TypeAlias = NDArray[np.intp]
Count = TypeVar("Count", int, NDArray[np.int64])
Margins: TypeAlias = Callable[[Bools], NDArray[np.floating]]
"""Asks about terms, the rows of a (k, 2n) matrix: negative where the teacher rejects."""

COST_OF_HARM = 4
"""How many rejected items must be covered to make up for one accepted item."""

COST_OF_A_LITERAL = 0.02
"""What a literal costs a reader, in units of the logarithm of coverage."""


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

    def narrowed(self, position: int) -> View:
        """The items that have one more literal."""
        return View(self.rows, self.meeting & self.rows[position])._compressed()

    def _compressed(self) -> View:
        """The same without the words in which no item is left, once they are half."""
        alive = np.flatnonzero(self.meeting)
        if 2 * len(alive) > len(self.meeting):
            return self
        return View(self.rows[:, alive], self.meeting[alive])


@dataclass(frozen=True)
class Growth:
    """A term on its way: what it covers, which literals of the seed are free, how the teacher answers."""

    term: Term
    free: NDArray[np.intp]
    gained: View
    wronged: View
    margin: float

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

    def plus(self, best: int, literal: int, margin: float) -> Growth:
        """One more literal, the free one at position `best`."""
        at = int(self.free[best])
        return Growth(
            np.append(self.term, literal),
            np.delete(self.free, best),
            self.gained.narrowed(at),
            self.wronged.narrowed(at),
            margin,
        )


@dataclass(frozen=True)
class Search:
    """Looks for valid terms."""

    pool: Pool
    margins: Margins
    min_precision: float

    def prime(self, seed: Term, fixed: Term) -> Term | None:
        """A valid term of literals of the seed, the fixed ones among them, or None."""
        grown = self.grow(seed, fixed)
        return None if grown is None else self.shrink(grown, fixed)

    def grow(self, seed: Term, fixed: Term) -> Term | None:
        """Add literals until the term is valid, and then while that makes it worth more."""
        now = Growth(
            fixed,
            np.flatnonzero(~np.isin(seed, fixed)),
            View.of(self.pool.rejected, seed, fixed),
            View.of(self.pool.accepted, seed, fixed),
            self._ask(fixed),
        )
        scale = 0.1 * abs(now.margin) + 1e-9
        while not self._valid(now):
            if not len(now.free):
                return None
            margins = self._ask_with(now.term, seed[now.free])
            best = int(np.argmax(self._progress(now, margins, scale)))
            now = now.plus(best, seed[now.free[best]], float(margins[best]))
        while now.harm and len(now.free):
            worths = worth(now.gains(), now.harms())
            best = int(np.argmax(worths))
            further = np.append(now.term, seed[now.free[best]])
            if worths[best] <= worth(now.gain, now.harm) or (margin := self._ask(further)) >= 0:
                break
            now = now.plus(best, further[-1], margin)
        return now.term

    def shrink(self, term: Term, fixed: Term) -> Term:
        """Drop literals, the one first that leaves the best rule, while the rule gets no worse."""
        rejected, accepted = self.pool.rejected, self.pool.accepted
        while len(droppable := np.flatnonzero(~np.isin(term, fixed))):
            gains = count(all_but_one(rejected.rows[term], rejected.open)[droppable])
            harms = count(all_but_one(accepted.rows[term], accepted.open)[droppable])
            kept = worth(*(count(side.meeting(term) & side.open) for side in (rejected, accepted)))
            valid = self.is_precise(gains, harms) & (worth(gains, harms) >= kept)
            valid[valid] = self._ask_without(term, term[droppable[valid]]) < 0
            if not valid.any():
                return term
            term = np.delete(term, droppable[np.argmax(np.where(valid, worth(gains, harms), -np.inf))])
        return term

    def _valid(self, now: Growth) -> bool:
        return now.margin < 0 and bool(self.is_precise(now.gain, now.harm))

    def _progress(self, now: Growth, margins: NDArray[np.floating], scale: float) -> NDArray[np.floating]:
        """How far each free literal goes towards a valid term, for the coverage that it loses."""
        gain, harm = now.gain, now.harm
        progress = np.full(len(now.free), 1e-3)
        if not self.is_precise(gain, harm):
            progress += np.log((harm + 1) / (now.harms() + 1)) / np.log(harm + 2)
        if now.margin >= 0:
            progress += np.clip((now.margin - margins) / (now.margin + scale), 0, 1)
        lost = np.log(max(gain, 1) / np.maximum(now.gains(), 0.5))
        return progress / (lost + COST_OF_A_LITERAL)

    def is_precise(self, gain: NDArray[np.int64] | int, harm: NDArray[np.int64] | int) -> Bools:
        """Whether enough of what is newly covered is rejected."""
        return np.asarray(harm <= (1 - self.min_precision) * (np.asarray(gain) + harm))

    def _ask(self, term: Term) -> float:
        return float(self.margins(self._row(term)[None, :])[0])

    def _ask_with(self, term: Term, literals: Term) -> NDArray[np.floating]:
        """The margins of the term with one more literal, for each of several."""
        rows = np.repeat(self._row(term)[None, :], len(literals), axis=0)
        rows[np.arange(len(literals)), literals] = True
        return self.margins(rows)

    def _ask_without(self, term: Term, literals: Term) -> NDArray[np.floating]:
        """The margins of the term without one literal, for each of several."""
        rows = np.repeat(self._row(term)[None, :], len(literals), axis=0)
        rows[np.arange(len(literals)), literals] = False
        return self.margins(rows)

    def _row(self, term: Term) -> Bools:
        row = np.zeros(2 * len(self.pool.vocabulary), np.bool_)
        row[term] = True
        return row


def worth(gain: Count, harm: Count) -> Count:
    """What covering so many rejected and accepted items is worth."""
    return gain - COST_OF_HARM * harm


def all_but_one(rows: Words, start: Words) -> Words:
    """For each row, the AND of `start` and all the other rows."""
    without = np.empty_like(rows)
    above = start
    for at in range(len(rows)):
        without[at] = above
        above = above & rows[at]
    below = np.full_like(start, 2**64 - 1)
    for at in reversed(range(len(rows))):
        without[at] &= below
        below = below & rows[at]
    return without
