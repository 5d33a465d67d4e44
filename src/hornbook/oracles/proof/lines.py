"""The two lines that a ReLU lies between, for every unit of many cells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hornbook.oracles.proof.cells import Cells
from hornbook.oracles.proof.region import Numbers, States


class Lines(NamedTuple):
    """The line above is slope·x + intercept, that below goes through 0: under·x. All are (k, units)."""

    slope: Numbers
    intercept: Numbers
    under: Numbers

    @classmethod
    def of(cls, cells: Cells) -> Lines:
        """Those of the cells' ranges; where a sign is open the slope below is the cell's choice."""
        low, high, open_ = cells.low, cells.high, cells.open
        on = (low >= 0).astype(np.float64)
        slope = np.divide(high, high - low, out=on.copy(), where=open_)
        return cls(slope, np.where(open_, -low * slope, 0), np.where(open_, cells.slopes, on))

    def below(self, unit: int, rows: States) -> Lines:
        """Those of some cells, and of the units before this one alone."""
        return Lines(*(part[:, :unit][rows] for part in self))

    def signed(self, rows: States, units: States, sign: float) -> Lines:
        """Those of some cells, each with one unit more that has a certain sign."""
        on = float(sign > 0)
        lines = Lines(*(part[rows] for part in self))
        for part, value in zip(lines, (on, 0.0, on), strict=True):
            part[np.arange(len(rows)), units] = value
        return lines


def plain_slopes(low: Numbers, high: Numbers) -> Numbers:
    """Slopes of lower lines that leave the smaller triangle."""
    return (high > -low).astype(np.float64)
