"""What each rule of a hypothesis contributes: the items of the pool that it alone rejects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornbook.learners.body import worth
from hornbook.learners.pool import Pool, Side, count
from hornbook.logic import bits
from hornbook.logic.bits import Words


@dataclass(frozen=True)
class Cover:
    """The items that meet each of several terms, of both labels.

    It looks at each rule by itself. An item that rules reject only together, one deriving what
    another needs, counts for none of them.
    """

    rejected: Words
    accepted: Words

    @classmethod
    def of(cls, pool: Pool, terms: Iterable[NDArray[np.intp]]) -> Cover:
        """The items of a pool that meet the terms."""
        terms = list(terms)
        return cls(_met(pool.rejected, terms), _met(pool.accepted, terms))

    def of_some(self, positions: Sequence[int]) -> Cover:
        """The cover of some of the terms."""
        return Cover(self.rejected[positions], self.accepted[positions])

    def alone(self, at: int) -> tuple[Words, Words]:
        """The rejected and the accepted items that meet one term and no other."""
        return self.rejected[at] & _once(self.rejected), self.accepted[at] & _once(self.accepted)

    def beside(self, at: int) -> tuple[Words, Words]:
        """The rejected and the accepted items that meet no other term."""
        rejected, accepted = (
            ~(_any(words[:at]) | _any(words[at + 1 :])) for words in (self.rejected, self.accepted)
        )
        return rejected, accepted

    def replace(self, at: int, term: NDArray[np.intp], pool: Pool) -> None:
        """Put another term in the place of one."""
        self.rejected[at], self.accepted[at] = (side.meeting(term) for side in (pool.rejected, pool.accepted))

    def contributions(self) -> NDArray[np.int64]:
        """What each term is worth on the items that meet it and no other."""
        return worth(*(count(words & _once(words)) for words in (self.rejected, self.accepted)))

    def best(self, chosen: Sequence[int], most: int) -> list[int]:
        """The positions of terms that are worth most together, as far as exchanges of those chosen lead.

        A term that does more harm than good goes. The one that adds most comes in, and then, if
        they are too many, the one goes whose removal costs least.
        """
        chosen = list(chosen)
        relevant = Cover(_met_by_some(self.rejected), _met_by_some(self.accepted))
        added = -1
        while True:
            losses = relevant.of_some(chosen).contributions()
            if len(chosen) > most or losses.min(initial=0) < 0:
                least = len(chosen) - 1 if losses[-1] <= losses.min() else int(np.argmin(losses))
                if chosen.pop(least) == added:
                    return chosen
                continue
            offers = worth(
                *(count(words & ~_any(words[chosen])) for words in (relevant.rejected, relevant.accepted))
            )
            if offers.max(initial=0) <= 0:
                return chosen
            added = int(np.argmax(offers))
            chosen.append(added)


def _met(side: Side, terms: list[NDArray[np.intp]]) -> Words:
    met = np.zeros((len(terms), side.rows.shape[1]), np.uint64)
    for row, term in zip(met, terms, strict=True):
        row[:] = side.meeting(term)
    return met


def _met_by_some(words: Words) -> Words:
    """The same rows, without the items that are in none of them."""
    return bits.take(words, np.flatnonzero(bits.flat(_any(words), bits.WORD * words.shape[1])))


def _any(words: Words) -> Words:
    """The items that are in some row."""
    some: Words = np.bitwise_or.reduce(words, axis=0)
    return some


def _once(words: Words) -> Words:
    """The items that are in exactly one row."""
    once, twice = np.zeros((2, words.shape[1]), np.uint64)
    for row in words:
        twice |= once & row
        once |= row
    exactly: Words = once & ~twice
    return exactly
