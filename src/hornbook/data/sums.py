"""Exact means: sums without rounding, in parts and in any order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MANTISSA = 53
"""Bits of a double's mantissa."""

HALF = 26
"""Mantissas are added up in two halves, so that a double holds the sum of 2²⁶ of them exactly."""

PART = 1 << 16
"""So many values at a time, which stay in the cache."""

LEAST = -1074
"""The smallest double is 2 to this power."""


class ExactSum:
    """The sum of all values added, whole and unrounded, so that their order does not matter.

    Every double is a whole number times a power of two. Mantissas are added up for each power
    apart, and the powers are put together by integers as long as it takes.

    Examples
    --------
    >>> total = ExactSum()
    >>> for part in ([1e300, 0.1, 0.2], [0.3, -1e300]):
    ...     total.add(np.array(part))
    >>> total.mean()
    0.12

    References
    ----------
    R. Neal. Fast exact summation using small and large superaccumulators. arXiv:1505.05571, 2015.

    """

    def __init__(self) -> None:
        self.count = 0
        self.scaled = 0
        """The sum, in units of the smallest double."""

    def add(self, values: NDArray[np.float64]) -> None:
        """Add finite values."""
        for start in range(0, len(values), PART):
            mantissas, powers = np.frexp(values[start : start + PART])
            whole = np.ldexp(mantissas, MANTISSA).astype(np.int64)
            shifts = powers - MANTISSA - LEAST  # negative for subnormal numbers, whose last bits are zero
            whole >>= np.maximum(-shifts, 0)
            shifts = np.maximum(shifts, 0)
            high, low = (np.bincount(shifts, half) for half in (whole >> HALF, whole & ((1 << HALF) - 1)))
            for shift in np.flatnonzero((high != 0) | (low != 0)).tolist():
                self.scaled += ((int(high[shift]) << HALF) + int(low[shift])) << shift
        self.count += len(values)

    def mean(self) -> float:
        """The double nearest to the mean."""
        return self.scaled / (self.count << -LEAST)


def exact_mean(values: NDArray[np.float64]) -> float:
    """The double nearest to the mean of the values; it is never outside their range."""
    total = ExactSum()
    total.add(values)
    return total.mean()
