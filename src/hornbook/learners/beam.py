"""Terms that gain most on samples: a beam search from the empty term on, and a look around one.

Samples lie one row of bits each, a bit a variable: those that meet a longer term are some of the
rows, and there are fewer at every step, so that a long search costs little more than a short one.

References
----------
P. Clark, R. Boswell. Rule Induction with CN2: Some Recent Improvements. EWSL 1991 (beam search).

"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from hornbook.learners.pool import count_bits
from hornbook.logic import Words, bits
from hornbook.logic.bits import WORD

Term = frozenset[int]

BEAM, DEPTH = 4, 12
"""Terms that are grown side by side, and their greatest length."""

OFFERS, EACH = 12, 3
"""How many terms are offered in the end, and how many at most that differ in their last literal only."""

COUNTED = 1 << 14
"""Samples that are counted at once, so that they stay in the cache."""


@dataclass(frozen=True)
class Stakes:
    """Samples about which a new rule would change what is said, by what the change is worth."""

    samples: tuple[Words, ...]
    worths: NDArray[np.float64]
    width: int

    def meeting(self, literal: int) -> Stakes:
        """Those in which a literal is true."""
        word, bit = literal // WORD, np.uint64(1 << literal % WORD)
        met = tuple(items[(items[:, word] & bit).astype(np.bool_)] for items in self.samples)
        return Stakes(met, self.worths, self.width)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many there are of each worth."""
        return np.array([len(items) for items in self.samples], np.int64)

    def counts(self) -> NDArray[np.int64]:
        """How many there are of each worth, in which a variable is true."""
        return np.stack([_true(items, self.width) for items in self.samples])


class Offers:
    """The terms that gain most, among all that were looked at."""

    def __init__(self, cost: float) -> None:
        self.cost = cost
        self.gains: dict[Term, float] = {}

    @property
    def least(self) -> float:
        """What a term has to gain more than."""
        return min(self.gains.values()) if len(self.gains) == OFFERS else 0.0

    @property
    def most(self) -> float:
        """What the best term gains."""
        return max(self.gains.values(), default=0.0)

    def add(self, term: Term, worth: float) -> None:
        """Offer a term that meets samples of so much worth."""
        gain = worth - self.cost * len(term)
        if gain > self.least:
            self.gains[term] = gain
            if len(self.gains) > OFFERS:
                del self.gains[min(self.gains, key=self.gains.__getitem__)]

    def add_longer(self, term: Term, worths: NDArray[np.float64]) -> None:
        """Offer a term with one literal more: those few after which it meets most worth."""
        for literal in _highest(worths, EACH):
            if literal not in term:
                self.add(term | {literal}, float(worths[literal]))

    def best_first(self) -> list[Term]:
        """The terms that gain most."""
        return sorted(self.gains, key=lambda term: -self.gains[term])


def offered(stakes: Stakes, cost: float, near: Term = frozenset()) -> list[Term]:
    """The terms that gain most for a rule, the best first.

    Parameters
    ----------
    stakes
        What it is worth to meet samples.
    cost
        What a literal costs.
    near
        A term that is there, to look around: one literal of it may be dropped or exchanged.

    """
    offers = Offers(cost)
    if (stakes.worths[stakes.sizes > 0] > 0).any():
        _search(stakes, offers)
        _look_around(near, stakes, offers)
    return offers.best_first()


def _search(stakes: Stakes, offers: Offers) -> None:
    helped, harmed = stakes.worths.clip(min=0), stakes.worths.clip(max=0)
    # growing terms are ranked as if the empty one were worth nothing: what is worth most now leads nowhere
    lenient = min(1.0, float(stakes.sizes @ helped) / max(-float(stakes.sizes @ harmed), 1e-9))
    beam: list[tuple[Term, Stakes]] = [(frozenset(), stakes)]
    seen: set[Term] = set()
    for length in range(1, DEPTH + 1):
        longer: list[tuple[float, Term, Stakes, int]] = []
        for term, met in beam:
            counts = met.counts()
            benefit: NDArray[np.float64] = helped @ counts
            harm: NDArray[np.float64] = harmed @ counts
            offers.add_longer(term, benefit + harm)
            # more literals only lower the benefit
            hopeless = benefit - offers.cost * (length + 1) <= offers.most
            rank = np.where(hopeless, -np.inf, benefit + lenient * harm)
            hopeful = (v for v in _highest(rank, 2 * BEAM) if not hopeless[v] and v not in term)
            longer += [(float(rank[v]), term | {v}, met, v) for v in hopeful]
        longer.sort(key=lambda one: -one[0])
        beam = []
        for _, term, met, v in longer:
            if term not in seen and len(beam) < BEAM:
                seen.add(term)
                beam.append((term, met.meeting(v)))


def _look_around(term: Term, stakes: Stakes, offers: Offers) -> None:
    for literal in sorted(term):
        others = term - {literal}
        met = reduce(Stakes.meeting, sorted(others), stakes)
        offers.add_longer(others, met.worths @ met.counts())
        if others:
            offers.add(others, float(met.worths @ met.sizes))


def _highest(values: NDArray[np.float64], most: int) -> list[int]:
    highest: list[int] = np.argsort(-values, kind="stable")[:most].tolist()
    return highest


def _true(items: Words, width: int) -> NDArray[np.int64]:
    """In how many rows of bits each is set."""
    total = np.zeros(width, np.int64)
    for at in range(0, len(items), COUNTED):
        total += count_bits(bits.transpose(items[at : at + COUNTED], width))
    return total
