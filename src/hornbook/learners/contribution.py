"""What each rule of a hypothesis contributes: the items of the pool that it alone rejects."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hornbook.learners.pool import Pool, Side, count
from hornbook.logic.bits import Words


class Cover:
    """The items that meet each of several terms, of both labels.

    It looks at each rule by itself. An item that rules reject only together, one deriving what
    another needs, counts for none of them.
    """

    def __init__(self, pool: Pool, terms: Iterable[NDArray[np.intp]]) -> None:
        self.pool = pool
        terms = list(terms)
        self.rejected, self.accepted = (_met(side, terms) for side in (pool.rejected, pool.accepted))

    def alone(self, at: int) -> tuple[Words, Words]:
        """The rejected and the accepted items that meet one term and no other."""
        return self.rejected[at] & _once(self.rejected), self.accepted[at] & _once(self.accepted)

    def replace(self, at: int, term: NDArray[np.intp]) -> None:
        """Put another term in the place of one."""
        self.rejected[at], self.accepted[at] = (
            side.meeting(term) for side in (self.pool.rejected, self.pool.accepted)
        )

    def contributions(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each term, how many rejected and accepted items meet it and no other."""
        gains, harms = (count(words & _once(words)) for words in (self.rejected, self.accepted))
        return gains, harms


def _met(side: Side, terms: list[NDArray[np.intp]]) -> Words:
    met = np.zeros((len(terms), side.rows.shape[1]), np.uint64)
    for row, term in zip(met, terms, strict=True):
        row[:] = side.meeting(term)
    return met


def _once(words: Words) -> Words:
    """The items that are in exactly one row."""
    once, twice = np.zeros((2, words.shape[1]), np.uint64)
    for row in words:
        twice |= once & row
        once |= row
    exactly: Words = once & ~twice
    return exactly
