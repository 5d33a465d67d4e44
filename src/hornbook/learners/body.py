"""Prime bodies: a short term, from which nothing can be left out, that covers as much as possible.

A term is grown from the literals of one rejected item. Each step takes the literal that goes
furthest towards a valid rule for the least coverage lost; then every literal that turns out
superfluous is dropped again, the one that costs most coverage first.

A term is valid if the teacher rejects it as a question, all else unknown, and if of the pool's
items that it newly covers at least a share `min_precision` are rejected ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.learners.pool import Pool, Side, count
from hornbook.logic.bits import Bools, Words

Term: TypeAlias = NDArray[np.intp]
Margins: TypeAlias = Callable[[Bools], NDArray[np.floating]]
"""Asks about terms, the rows of a (k, 2n) matrix: negative where the teacher rejects."""

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
        """Add literals until the term is valid."""
        term = fixed
        gained = View.of(self.pool.rejected, seed, term)
        wronged = View.of(self.pool.accepted, seed, term)
        free = np.flatnonzero(~np.isin(seed, term))
        margin = self._ask(term)
        scale = abs(margin) + 1e-9
        while True:
            gain, harm = int(count(gained.meeting)), int(count(wronged.meeting))
            precise = self.is_precise(gain, harm)
            if precise and margin < 0:
                return term
            if not len(free):
                return None
            margins = self._ask_with(term, seed[free])
            progress = np.full(len(free), 1e-3)
            if not precise:
                progress += np.log((harm + 1) / (wronged.counts()[free] + 1)) / np.log(harm + 2)
            if margin >= 0:
                progress += np.clip((margin - margins) / (margin + 0.1 * scale), 0, 1)
            lost = np.log(max(gain, 1) / np.maximum(gained.counts()[free], 0.5))
            best = int(np.argmax(progress / (lost + COST_OF_A_LITERAL)))
            chosen, margin = int(free[best]), float(margins[best])
            term, free = np.append(term, seed[chosen]), np.delete(free, best)
            gained, wronged = gained.narrowed(chosen), wronged.narrowed(chosen)

    def shrink(self, term: Term, fixed: Term) -> Term:
        """Drop literals, the one first that leaves the best rule, while the term stays valid."""
        while len(droppable := np.flatnonzero(~np.isin(term, fixed))):
            gains = count(all_but_one(self.pool.rejected.rows[term], self.pool.rejected.open)[droppable])
            harms = count(all_but_one(self.pool.accepted.rows[term], self.pool.accepted.open)[droppable])
            valid = self.is_precise(gains, harms)
            valid[valid] = self._ask_without(term, term[droppable[valid]]) < 0
            if not valid.any():
                return term
            term = np.delete(term, droppable[np.argmax(np.where(valid, gains - harms, -np.inf))])
        return term

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
