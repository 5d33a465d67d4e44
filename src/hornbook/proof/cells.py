"""Columns as trees tell their values apart: cells between thresholds, levels, and a missing value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.explanations import shorten_cut
from hornbook.logic import Bools
from hornbook.proof.domain import Box, Domain, Interval, Levels
from hornbook.proof.ensembles import TreeNodes
from hornbook.proof.network import Matrix, Vector
from hornbook.proof.pipeline import Preprocessing, ValueInput
from hornbook.proof.region import InputSpace, Numbers, States

SHOWN, VALID = 0, 1
"""What a state of a column holds: the number in the row or of the level, and whether the state exists."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CellSpace(InputSpace):
    """Columns whose states are cells, in ascending order, or levels, and at last a missing value.

    `inputs` holds, for each column and state, a number of the cell to show in a row, or the number of
    the level, and whether the state exists: columns have different numbers of cells. `routed` holds
    the number that trees compare, for each of their inputs and each state of its column.
    """

    owners: tuple[int, ...]
    routed: Numbers  # (inputs of the trees, states)

    def whole(self) -> Bools:
        """The region of all inputs."""
        exists: Bools = self.inputs[:, :, VALID] > 0
        return exists

    def column_states(self, column: int) -> tuple[int, Vector]:
        """The column that decides an input of the trees, and the input in each of its states."""
        return self.owners[column], self.routed[column]


@dataclass(frozen=True, eq=False)
class CellGrid:
    """The cells or levels of every column of a domain.

    Parameters
    ----------
    domain
        The domain.
    columns
        The columns in the order in which the model reads them.
    edges
        For each column, the ends of its cells: a cell holds the numbers above one and up to the next.
        None for a column of levels.
    cell_states
        For each column, the state of each cell, or -1 if the domain has no number in it.
    space
        The cells and levels as states.

    """

    domain: Domain
    columns: tuple[str, ...]
    edges: tuple[Vector | None, ...]
    cell_states: tuple[NDArray[np.intp], ...]
    space: CellSpace

    @classmethod
    def of(
        cls,
        domain: Domain,
        columns: Sequence[str],
        trees: Iterable[TreeNodes],
        cuts: Mapping[str, set[float]],
        preprocessing: Preprocessing,
    ) -> CellGrid:
        """The cells that neither the trees nor the given cuts divide."""
        every: list[set[float]] = [set(cuts.get(name, ())) for name in columns]
        for tree in trees:
            for place, cut in zip(tree.column.tolist(), tree.cut.tolist(), strict=True):
                if place >= 0 and isinstance(source := preprocessing.inputs[place], ValueInput):
                    every[source.column].add(cut)
        edges: list[Vector | None] = []
        cell_states, values = [], []
        for name, own in zip(columns, every, strict=True):
            interval = domain.ranges[name]
            if isinstance(interval, Levels):
                edges.append(None)
                cell_states.append(np.arange(len(interval.values)))
                values.append(list(interval.values))
                continue
            ends = _edges(interval, own)
            numbers = _representatives(interval, ends, domain.rows[name])
            exists = ~np.isnan(numbers)
            edges.append(ends)
            cell_states.append(np.where(exists, np.cumsum(exists) - 1, -1))
            values.append(numbers[exists].tolist())
        states = max(map(len, values)) + 1
        inputs = np.full((len(columns), states, 2), np.inf)
        inputs[:, :, VALID] = 0
        for place, (name, own_values) in enumerate(zip(columns, values, strict=True)):
            is_level = edges[place] is None
            inputs[place, : len(own_values), SHOWN] = range(len(own_values)) if is_level else own_values
            inputs[place, : len(own_values), VALID] = 1
            inputs[place, -1] = np.nan, domain.ranges[name].missing
        routed = np.full((len(preprocessing.inputs), states), np.inf)
        for place, source in enumerate(preprocessing.inputs):
            numbers_of = [source.encode(value) for value in values[source.column]]
            routed[place, : len(numbers_of)] = numbers_of
            routed[place, -1] = source.encode(math.nan)
        owners = tuple(source.column for source in preprocessing.inputs)
        space = CellSpace(inputs=inputs, owners=owners, routed=routed)
        return cls(domain, tuple(columns), tuple(edges), tuple(cell_states), space)

    def region(self, box: Box) -> Bools:
        """The states of the rows in a box, (columns, states)."""
        region = self.space.whole()
        shown = self.space.inputs[:, :, SHOWN]
        for place, name in enumerate(self.columns):
            own, every = box[name], self.domain.ranges[name]
            if isinstance(own, Interval):
                region[place] &= (shown[place] >= own.low) & (shown[place] <= own.high)
            elif isinstance(every, Levels):
                region[place, : len(every.values)] = [value in own.values for value in every.values]
            region[place, -1] = own.missing
        return region

    def locate(self, rows: pd.DataFrame) -> tuple[States, Bools]:
        """The states of rows, (k, columns), and which rows are in the domain."""
        states = np.full((len(rows), len(self.columns)), self.space.inputs.shape[1] - 1)
        inside = np.ones(len(rows), np.bool_)
        whole = self.space.whole()
        for place, (name, ends, states_of) in enumerate(
            zip(self.columns, self.edges, self.cell_states, strict=True)
        ):
            known = rows[name].notna().to_numpy(np.bool_)
            own = self.domain.ranges[name]
            if isinstance(own, Levels):
                cell = pd.Index(own.values, dtype=object).get_indexer(rows[name].astype(object)[known])
            elif ends is not None:
                cell = np.searchsorted(ends, rows[name].to_numpy(np.float64, na_value=np.nan)[known]) - 1
            within = (cell >= 0) & (cell < len(states_of))
            state = np.where(within, states_of[np.clip(cell, 0, len(states_of) - 1)], -1)
            states[known, place] = np.maximum(state, 0)
            inside[known] &= state >= 0
            inside[~known] &= bool(whole[place, -1])
        return states, inside

    def draw_edges(self, size: int, rng: np.random.Generator) -> pd.DataFrame:
        """Random rows whose numbers lie at the ends of cells, just above one or just at the next."""
        columns = []
        for place, (ends, states_of) in enumerate(zip(self.edges, self.cell_states, strict=True)):
            cells = np.flatnonzero(states_of >= 0)
            numbers = cells[rng.integers(len(cells), size=size)].astype(np.float64)
            if ends is not None:
                chosen = numbers.astype(np.intp)
                low, high = np.nextafter(ends[chosen], np.inf), ends[chosen + 1]
                numbers = np.where(rng.random(size) < 0.5, low, high)
            if self.space.inputs[place, -1, VALID]:
                numbers = np.where(rng.random(size) < 0.2, np.nan, numbers)
            columns.append(numbers)
        return self.domain.decode(np.stack(columns, axis=1), self.columns)

    def show(self, states: States) -> pd.DataFrame:
        """A row for each input, with values of the table where its cells have some."""
        shown: Matrix = self.space.inputs[np.arange(self.space.count), states, SHOWN]
        return self.domain.decode(shown, self.columns)


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
