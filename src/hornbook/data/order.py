"""Values by rank, from a stream: in four passes over it, with memory for the counts of one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DIGIT = 16
"""Bits of a value that a pass decides."""

PASSES = 64 // DIGIT


class Ranked:
    """Finds the values that have given ranks, counted from 0, when all values are sorted.

    A double is a number of four digits, each of 16 bits, in whose order it stands. A pass
    counts what the next digit is among those values that have the digits found so far.

    Examples
    --------
    >>> ranked = Ranked([0, 2])
    >>> for _ in range(PASSES):
    ...     for part in ([3.0, -1.0], [0.5, 7.0]):
    ...         ranked.add(np.array(part))
    ...     ranked.narrow()
    >>> ranked.values()
    [-1.0, 3.0]

    """

    def __init__(self, ranks: Sequence[int]) -> None:
        self.ranks = list(ranks)
        self.found = [0] * len(self.ranks)
        """The digits found so far, as a number."""
        self.below = 64
        """How many bits are yet to be found."""
        self._count_anew()

    def add(self, values: NDArray[np.float64]) -> None:
        """Count some of the values; all of them make a pass."""
        keys = _keys(values)
        leading = keys >> np.uint64(self.below) if self.below < 64 else np.zeros_like(keys)
        digits = (keys >> np.uint64(self.below - DIGIT)) & np.uint64((1 << DIGIT) - 1)
        for found, counts in self.counts.items():
            chosen = digits[leading == np.uint64(found)]
            counts += np.bincount(chosen.astype(np.intp), minlength=1 << DIGIT)

    def narrow(self) -> None:
        """End a pass: find the next digit of every value that is looked for."""
        for number, rank in enumerate(self.ranks):
            ends = np.cumsum(self.counts[self.found[number]])
            digit = int(np.searchsorted(ends, rank, side="right"))
            self.ranks[number] = rank - (int(ends[digit - 1]) if digit else 0)
            self.found[number] = (self.found[number] << DIGIT) + digit
        self.below -= DIGIT
        self._count_anew()

    def values(self) -> list[float]:
        """The values, after the last pass."""
        keys = np.array(self.found, np.uint64)
        negative = keys < _SIGN
        return [float(value) for value in np.where(negative, ~keys, keys ^ _SIGN).view(np.float64)]

    def _count_anew(self) -> None:
        self.counts = {found: np.zeros(1 << DIGIT, np.int64) for found in set(self.found)}


_SIGN = np.uint64(1 << 63)


def _keys(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Whole numbers in the order of the values."""
    bits = (values + 0.0).view(np.uint64)  # zero has two signs
    return np.where(bits & _SIGN != 0, ~bits, bits | _SIGN)
