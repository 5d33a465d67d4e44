"""Columns as trees tell their values apart: cells between thresholds, levels, and a missing value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from hornbook.conditions import shorten_cut
from hornbook.logic import Bools
from hornbook.proof.domain import Box, ColumnRange, Domain, Interval, Levels
from hornbook.proof.ensembles import TreeNodes, ZeroReading
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
    """The cells or levels of every column, which no tree divides, whatever the question.

    Parameters
    ----------
    domain
        The domain; its levels are those of the grid, and its numbers are shown where a cell has some.
    columns
        The columns in the order in which the model reads them.
    edges
        For each column, the ends of its cells, from -inf to inf: a cell holds the numbers above one and
        up to the next. None for a column of levels.
    space
        The cells and levels as states.

    """

    domain: Domain
    columns: tuple[str, ...]
    edges: tuple[Vector | None, ...]
    space: CellSpace
    masks: dict[tuple[int, ColumnRange], Bools] = field(default_factory=dict, repr=False)
    """The states that a range of a column holds, for the ranges of earlier questions."""

    @classmethod
    def of(
        cls,
        domain: Domain,
        columns: Sequence[str],
        trees: Iterable[TreeNodes],
        preprocessing: Preprocessing,
        zeros: ZeroReading | None = None,
    ) -> CellGrid:
        """The cells that the trees do not divide, given how they read numbers close to zero."""
        every: list[set[float]] = [set() for _ in columns]
        for tree in trees:
            for place, cut in zip(tree.column.tolist(), tree.cut.tolist(), strict=True):
                if place >= 0 and isinstance(source := preprocessing.inputs[place], ValueInput):
                    every[source.column].add(cut)
        if zeros is not None:
            for source in preprocessing.inputs:
                if isinstance(source, ValueInput):
                    every[source.column] |= {math.nextafter(-zeros.reach, -math.inf), zeros.reach}
        edges: list[Vector | None] = []
        values: list[list[Any]] = []
        for name, own in zip(columns, every, strict=True):
            interval = domain.ranges[name]
            if isinstance(interval, Levels):
                edges.append(None)
                values.append(list(interval.values))
                continue
            ends = np.array([-math.inf, *sorted(cut for cut in own if math.isfinite(cut)), math.inf])
            known = np.unique(domain.rows[name].dropna().to_numpy(np.float64))
            pairs = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
            edges.append(ends)
            values.append([_choose_number(interval, low, high, known) for low, high in pairs])
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
            name = columns[source.column]
            if domain.ranges[name].missing:
                routed[place, -1] = source.encode(domain.missing_value(name))
        if zeros is not None:
            routed[np.abs(routed) <= zeros.reach] = zeros.number
        owners = tuple(source.column for source in preprocessing.inputs)
        space = CellSpace(inputs=inputs, owners=owners, routed=routed)
        return cls(domain, tuple(columns), tuple(edges), space)

    def has_levels(self, domain: Domain) -> bool:
        """Whether every level of a domain is a state of this grid."""
        for name in self.columns:
            own, every = domain.ranges[name], self.domain.ranges[name]
            if isinstance(own, Levels) and isinstance(every, Levels) and not {*own.values} <= {*every.values}:
                return False
        return True

    def region(self, box: Box) -> Bools:
        """The states of the rows in a box, (columns, states)."""
        return np.stack([self._column_region(place, box[name]) for place, name in enumerate(self.columns)])

    def _column_region(self, place: int, own: ColumnRange) -> Bools:
        """The states of a column for which a range holds a value, (states,)."""
        if (place, own) in self.masks:
            return self.masks[place, own]
        mask = np.zeros(self.space.inputs.shape[1], np.bool_)
        every, edges = self.domain.ranges[self.columns[place]], self.edges[place]
        if isinstance(own, Interval) and edges is not None:
            low = np.maximum(np.nextafter(edges[:-1], np.inf), own.low)
            high = np.minimum(edges[1:], own.high)
            if own.whole:
                low, high = np.ceil(low), np.floor(high)
            if own.single:
                low, high = np.array([own.snap(*ends) for ends in zip(low, high, strict=True)]).T
            mask[: len(low)] = low <= high
        elif isinstance(own, Levels) and isinstance(every, Levels):
            mask[: len(every.values)] = [value in own.values for value in every.values]
        mask[-1] = own.missing
        self.masks[place, own] = mask
        return mask

    def locate(self, rows: pd.DataFrame) -> tuple[States, Bools]:
        """The states of rows, (k, columns), and for which rows each value has one."""
        states = np.full((len(rows), len(self.columns)), self.space.inputs.shape[1] - 1)
        inside = np.ones(len(rows), np.bool_)
        whole = self.space.whole()
        for place, (name, ends) in enumerate(zip(self.columns, self.edges, strict=True)):
            known = rows[name].notna().to_numpy(np.bool_)
            own = self.domain.ranges[name]
            if isinstance(own, Levels):
                state = pd.Index(own.values, dtype=object).get_indexer(rows[name].astype(object)[known])
            elif ends is not None:
                state = np.searchsorted(ends[1:-1], rows[name].to_numpy(np.float64, na_value=np.nan)[known])
            states[known, place] = np.maximum(state, 0)
            inside[known] &= state >= 0
            inside[~known] &= bool(whole[place, -1])
        return states, inside

    def draw_edges(self, size: int, rng: np.random.Generator) -> pd.DataFrame:
        """Random rows of the domain whose numbers lie at the ends of cells, just above one or at the next."""
        columns = []
        region = self.region(self.domain.ranges)
        for place, (name, ends) in enumerate(zip(self.columns, self.edges, strict=True)):
            own, cells = self.domain.ranges[name], np.flatnonzero(region[place, :-1])
            if not len(cells):
                columns.append(np.full(size, np.nan))
                continue
            numbers = cells[rng.integers(len(cells), size=size)].astype(np.float64)
            if isinstance(own, Interval) and ends is not None:
                chosen = numbers.astype(np.intp)
                low, high = np.nextafter(ends[chosen], np.inf), ends[chosen + 1]
                numbers = np.clip(np.where(rng.random(size) < 0.5, low, high), own.low, own.high)
            if region[place, -1]:
                numbers = np.where(rng.random(size) < 0.2, np.nan, numbers)
            columns.append(numbers)
        return self.domain.decode(np.stack(columns, axis=1), self.columns)

    def show(self, states: States) -> pd.DataFrame:
        """A row for each input, with values of the table where its cells have some."""
        shown: Matrix = self.space.inputs[np.arange(self.space.count), states, SHOWN]
        return self.domain.decode(shown, self.columns)

    def show_within(self, states: States, box: Box) -> pd.DataFrame:
        """The row for an input, (columns,), with numbers of a box."""
        numbers = self.space.inputs[np.arange(self.space.count), states, SHOWN].copy()
        for place, name in enumerate(self.columns):
            own, ends = box[name], self.edges[place]
            if not isinstance(own, Interval) or ends is None or math.isnan(numbers[place]):
                continue
            if not own.low <= numbers[place] <= own.high:
                known = np.unique(self.domain.rows[name].dropna().to_numpy(np.float64))
                low, high = ends[states[place]], ends[states[place] + 1]
                numbers[place] = _choose_number(own, float(low), float(high), known)
        return self.domain.decode(numbers[None], self.columns)


def _choose_number(interval: Interval, low: float, high: float, known: Vector) -> float:
    """A number above one end and up to another: of the interval if it can be, and then of the table."""
    least, most = interval.snap(max(math.nextafter(low, math.inf), interval.low), min(high, interval.high))
    if least > most:  # no number of the interval: the cell is in no question about it
        return high if math.isfinite(high) else math.nextafter(low, math.inf)
    first, last = np.searchsorted(known, least), np.searchsorted(known, most, side="right")
    if first < last:
        return float(known[(first + last) // 2])
    if interval.whole or least == most:
        return most
    short = shorten_cut(least, most)
    return float(np.float32(short)) if interval.single else short
