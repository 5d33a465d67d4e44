"""Cells: regions of inputs, cut further by the signs that some units' sums are to have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbook.logic.bits import Bools
from hornbook.oracles.proof.layers import Vector
from hornbook.oracles.proof.region import Numbers, States


class Cells(NamedTuple):
    """Cells, one a row: what is asked, and what is known of each.

    `low` and `high` bound the sums of the hidden units, all layers side by side; `signs` are 1
    and -1 for sums that are to be at least and at most 0; `slopes` and `multipliers` are those
    that served last; `upper` bounds the output.
    """

    regions: Bools
    low: Numbers
    high: Numbers
    signs: Numbers
    slopes: Numbers
    multipliers: Numbers
    upper: Vector

    def take(self, items: slice | States | Bools) -> Cells:
        """Some of the cells."""
        return Cells(*(getattr(self, field)[items] for field in self._fields))

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.upper)

    @property
    def open(self) -> Bools:
        """Which units' sums can have either sign."""
        return (self.low < 0) & (self.high > 0)

    @classmethod
    def joined(cls, several: Iterable[Cells]) -> Cells:
        """The cells one after another."""
        columns = zip(
            *(tuple(getattr(cells, field) for field in cls._fields) for cells in several), strict=True
        )
        return cls(*(np.concatenate(column) for column in columns))


class Tried(NamedTuple):
    """One choice of slopes and multipliers: its bound, where it is reached, and how it could be better.

    `pulls` are the coefficients of the units' outputs, `inputs` those of the first layer's sums.
    """

    upper: Vector
    states: States
    pulls: Numbers
    inputs: Numbers
    by_slopes: Numbers
    by_multipliers: Numbers

    def take(self, items: States) -> Tried:
        """Those of some of the cells."""
        return Tried(*(getattr(self, field)[items] for field in self._fields))

    def unless(self, better: Bools, other: Tried) -> Tried:
        """The same, but the other's where it is better."""
        parts = zip(self._fields, self, other, strict=True)
        return Tried(**{field: chosen(better, new, old) for field, old, new in parts})


def chosen(better: Bools, new: NDArray[Any], old: NDArray[Any]) -> NDArray[Any]:
    """The new rows where they are better, else the old ones."""
    return np.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)
