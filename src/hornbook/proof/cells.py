"""Columns as trees tell their values apart: cells between thresholds, and a missing value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.explanations import shorten_cut
from hornbook.logic import Bools
from hornbook.proof.domain import Box, Domain, Interval
from hornbook.proof.ensembles import TreeEnsemble
from hornbook.proof.network import Matrix, Vector
from hornbook.proof.pipeline import Preprocessing
from hornbook.proof.region import InputSpace, States

ROUTED, SHOWN, VALID = 0, 1, 2
"""What a state of a column holds: the number that trees compare, the number in the row, whether it exists."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CellSpace(InputSpace):
    """Columns whose states are cells, in ascending order, and at last a missing value.

    `inputs` holds, for each column and state, the number that trees compare, a number of the cell to
    show in a row, and whether the state exists: columns have different numbers of cells.
    """

    indicators: tuple[int, ...] = ()

    def whole(self) -> Bools:
        """The region of all inputs."""
        exists: Bools = self.inputs[:, :, VALID] > 0
        return exists

    def column_states(self, column: int) -> tuple[int, Vector]:
        """The column that decides an input of the trees, and the input in each of its states."""
        if column < self.count:
            return column, self.inputs[column, :, ROUTED]
        missing = np.arange(self.inputs.shape[1]) == self.inputs.shape[1] - 1
        return self.indicators[column - self.count], missing.astype(np.float64)

    def show(self, states: States) -> Matrix:
        """A row for each input, (k, columns), NaN where a value is missing."""
        shown: Matrix = self.inputs[np.arange(self.count), states, SHOWN]
        return shown


@dataclass(frozen=True, eq=False)
class CellGrid:
    """The cells of every column of a domain.

    Parameters
    ----------
    columns
        The columns in the order in which the model reads them.
    edges
        For each column, the ends of its cells: a cell holds the numbers above one and up to the next.
    cell_states
        For each column, the state of each cell, or -1 if the domain has no number in it.
    space
        The cells as states.

    """

    columns: tuple[str, ...]
    edges: tuple[Vector, ...]
    cell_states: tuple[NDArray[np.intp], ...]
    space: CellSpace

    @classmethod
    def of(
        cls,
        domain: Domain,
        columns: Sequence[str],
        ensemble: TreeEnsemble,
        cuts: Mapping[str, set[float]],
        preprocessing: Preprocessing,
    ) -> CellGrid:
        """The cells that neither the trees nor the given cuts divide."""
        every: list[set[float]] = [set(cuts.get(name, ())) for name in columns]
        for tree in ensemble.trees:
            for column, cut in zip(tree.column.tolist(), tree.cut.tolist(), strict=True):
                if 0 <= column < len(columns):
                    every[column].add(cut)
        edges, cell_states, shown = [], [], []
        for name, own in zip(columns, every, strict=True):
            interval = domain.intervals[name]
            ends = _edges(interval, own)
            numbers = _representatives(interval, ends, domain.rows[name])
            exists = ~np.isnan(numbers)
            edges.append(ends)
            cell_states.append(np.where(exists, np.cumsum(exists) - 1, -1))
            shown.append(numbers[exists])
        states = max(map(len, shown)) + 1
        inputs = np.full((len(columns), states, 3), np.inf)
        inputs[:, :, VALID] = 0
        for place, (name, numbers) in enumerate(zip(columns, shown, strict=True)):
            inputs[place, : len(numbers), ROUTED] = inputs[place, : len(numbers), SHOWN] = numbers
            inputs[place, : len(numbers), VALID] = 1
            inputs[place, -1] = preprocessing.fills[place], np.nan, domain.intervals[name].missing
        space = CellSpace(inputs=inputs, indicators=preprocessing.indicators)
        return cls(tuple(columns), tuple(edges), tuple(cell_states), space)

    def region(self, box: Box) -> Bools:
        """The states of the rows in a box, (columns, states)."""
        region = self.space.whole()
        shown = self.space.inputs[:, :, SHOWN]
        for place, name in enumerate(self.columns):
            own = box[name]
            region[place] &= (shown[place] >= own.low) & (shown[place] <= own.high)
            region[place, -1] = own.missing
        return region

    def locate(self, values: Matrix) -> tuple[States, Bools]:
        """The states of rows, (k, columns), and which rows are in the domain."""
        states = np.full(values.shape, self.space.inputs.shape[1] - 1)
        inside = np.ones(len(values), np.bool_)
        whole = self.space.whole()
        for place, (ends, states_of) in enumerate(zip(self.edges, self.cell_states, strict=True)):
            numbers = values[:, place]
            known = ~np.isnan(numbers)
            cell = np.searchsorted(ends, numbers[known]) - 1
            within = (cell >= 0) & (cell < len(states_of))
            state = np.where(within, states_of[np.clip(cell, 0, len(states_of) - 1)], -1)
            states[known, place] = np.maximum(state, 0)
            inside[known] &= state >= 0
            inside[~known] &= bool(whole[place, -1])
        return states, inside

    def draw_edges(self, size: int, rng: np.random.Generator) -> Matrix:
        """Random rows whose numbers lie at the ends of cells, just above one or just at the next."""
        columns = []
        for place, (ends, states_of) in enumerate(zip(self.edges, self.cell_states, strict=True)):
            cells = np.flatnonzero(states_of >= 0)
            chosen = cells[rng.integers(len(cells), size=size)]
            low, high = np.nextafter(ends[chosen], np.inf), ends[chosen + 1]
            numbers = np.where(rng.random(size) < 0.5, low, high)
            if self.space.inputs[place, -1, VALID]:
                numbers = np.where(rng.random(size) < 0.2, np.nan, numbers)
            columns.append(numbers)
        return np.stack(columns, axis=1)


def _edges(interval: Interval, cuts: set[float]) -> Vector:
    inner = sorted(cut for cut in cuts if interval.low <= cut < interval.high)
    return np.array([math.nextafter(interval.low, -math.inf), *inner, interval.high])


def _representatives(interval: Interval, edges: Vector, values: pd.Series[float]) -> Vector:
    """A number of each cell, of the table where it has one; NaN for a cell without a number of the domain."""
    known = np.unique(values.dropna().to_numpy(np.float64))
    numbers = np.full(len(edges) - 1, np.nan)
    for place, (low, high) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
        first, last = np.searchsorted(known, [low, high], side="right").tolist()
        if first < last:
            numbers[place] = known[(first + last) // 2]
        elif interval.whole:
            numbers[place] = math.floor(high) if math.floor(high) > low else math.nan
        else:
            least = math.nextafter(low, math.inf)
            numbers[place] = shorten_cut(least, high) if least < high else high
    return numbers
