"""What has to be known of a column to make variables of it, from a whole table or a stream of one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.data.cuts import Floats, Strategy, cut_points, evenly, halves, middle
from hornbook.data.kinds import Kind, are_numbers, infer_kind, kind_of, known_values, levels_of
from hornbook.data.order import PASSES, Ranked
from hornbook.data.streams import TableStream
from hornbook.data.sums import ExactSum
from hornbook.logic.errors import HornbookError


class Column(Protocol):
    """A column of a table, whole or in parts."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    def kind(self) -> Kind:
        """Its kind, inferred."""
        ...

    def levels(self) -> list[Any]:
        """Its distinct values, in order; of many perhaps only some, but more than there may be."""
        ...

    def count(self) -> str:
        """How many distinct values it has, as far as that is known."""
        ...

    def refuse_words(self) -> None:
        """Refuse values that are not numbers."""
        ...


class Whole:
    """A column that is there as a whole; `labels` are those of its rows, known or not."""

    def __init__(self, column: pd.Series[Any], labels: NDArray[Any] | None) -> None:
        self.name = str(column.name)
        self.known = known_values(column)
        self.labels = labels

    def kind(self) -> Kind:
        """Its kind, inferred."""
        return infer_kind(self.known)

    def levels(self) -> list[Any]:
        """Its distinct values, in order."""
        return levels_of(self.known)

    def count(self) -> str:
        """How many distinct values it has."""
        return str(len(self.levels()))

    def refuse_words(self) -> None:
        """Refuse values that are not numbers."""
        _numbers(self.known)

    def cut_points(self, bins: int, strategy: Strategy) -> tuple[float, ...]:
        """Where to cut it."""
        labels = None if self.labels is None else self.labels[self.known.index]
        return cut_points(_numbers(self.known), bins, strategy, labels)


class WholeColumns:
    """The columns of a frame, and the labels of its rows."""

    def __init__(self, frame: pd.DataFrame, labels: NDArray[Any] | None) -> None:
        self.columns = [Whole(frame[name], labels) for name in frame.columns]

    def cut_points(self, names: Sequence[str], bins: int, strategy: Strategy) -> dict[str, tuple[float, ...]]:
        """Where to cut the columns that are named."""
        chosen = [column for column in self.columns if column.name in names]
        return {column.name: column.cut_points(bins, strategy) for column in chosen}


class Profile:
    """A column of which only some rows are there at a time: what is kept of those that were.

    Once there are more than `most` distinct values no further ones are kept.
    """

    def __init__(self, name: str, most: int) -> None:
        self.name = name
        self.most = most
        self.distinct: set[Any] = set()
        self.total = ExactSum()
        self.low, self.high = np.inf, -np.inf
        self.numbers = True
        self.word: HornbookError | None = None

    def add(self, part: pd.Series[Any]) -> None:
        """Take note of some of its values."""
        if part.isna().all():
            return
        known = known_values(part)
        if len(self.distinct) <= self.most:
            self.distinct.update(levels_of(known, self.most + 1))
        self.numbers &= are_numbers(known)
        if self.word is None:
            try:
                values = _numbers(known)
            except HornbookError as error:
                self.word = error
                return
            self.total.add(values)
            self.low, self.high = min(self.low, values.min()), max(self.high, values.max())

    def kind(self) -> Kind:
        """Its kind, inferred."""
        return kind_of(self.levels(), self.numbers)

    def levels(self) -> list[Any]:
        """Its distinct values, in order, if there are not too many."""
        if not self.distinct:
            raise HornbookError(f"column {self.name!r} has no known value; drop it")
        return levels_of(pd.Series(list(self.distinct), name=self.name, dtype=object))

    def count(self) -> str:
        """How many distinct values it has, as far as that is known."""
        return f"{len(self.distinct)}{' or more' if len(self.distinct) > self.most else ''}"

    def refuse_words(self) -> None:
        """Refuse values that are not numbers."""
        if self.word is not None:
            raise self.word


class StreamedColumns:
    """The columns of a stream, which is read once to know them, and again to cut them."""

    def __init__(self, stream: TableStream, most: int) -> None:
        self.stream = stream
        self.columns = [Profile(name, most) for name in stream.columns]
        for frame in stream:
            for column in self.columns:
                column.add(frame[column.name])

    def cut_points(self, names: Sequence[str], bins: int, strategy: Strategy) -> dict[str, tuple[float, ...]]:
        """Where to cut the columns that are named: where they would be cut as a whole."""
        chosen = [column for column in self.columns if column.name in names]
        varied = [column for column in chosen if column.low < column.high]
        points = {column.name: np.array([column.low]) for column in chosen}
        if varied and strategy not in _STREAMED:
            raise HornbookError(
                f"bins={strategy!r} needs all rows at once; use {', '.join(_STREAMED)}, give cuts, "
                "or fit the binariser to some of the rows"
            )
        if varied:
            points |= _STREAMED[strategy](self.stream, varied, bins)
        return {name: tuple(np.unique(found).tolist()) for name, found in points.items()}


def _means_of_halves(stream: TableStream, columns: Sequence[Profile], bins: int) -> dict[str, Floats]:
    middles = {column.name: middle(column.total.mean(), column.high) for column in columns}
    sums = {column.name: (ExactSum(), ExactSum()) for column in columns}
    for name, values in _values(stream, columns):
        above = values > middles[name]
        for half, chosen in zip(sums[name], (~above, above), strict=True):
            half.add(values[chosen])
    return {
        name: halves(lower.mean(), middles[name], upper.mean(), bins) for name, (lower, upper) in sums.items()
    }


def _quantiles(stream: TableStream, columns: Sequence[Profile], bins: int) -> dict[str, Floats]:
    # a quantile is between the values of two ranks, where NumPy finds it once they are known
    places = {column.name: np.arange(1, bins) / bins * (column.total.count - 1) for column in columns}
    ranked = {name: Ranked([rank for at in found for rank in _ranks(at)]) for name, found in places.items()}
    below_top = {column.name: column.low for column in columns}
    tops = {column.name: column.high for column in columns}
    for _ in range(PASSES):
        for name, values in _values(stream, columns):
            ranked[name].add(values)
            below_top[name] = values.max(initial=below_top[name], where=values < tops[name])
        for one in ranked.values():
            one.narrow()
    points = {}
    for name, found in places.items():
        pairs = np.reshape(ranked[name].values(), (-1, 2))
        between = [np.quantile(pair, at % 1) for pair, at in zip(pairs, found, strict=True)]
        points[name] = np.minimum(between, below_top[name])
    return points


def _ranks(place: float) -> tuple[int, int]:
    return math.floor(place), math.ceil(place)


def _widths(stream: TableStream, columns: Sequence[Profile], bins: int) -> dict[str, Floats]:
    return {column.name: evenly(column.low, column.high, bins) for column in columns}


_STREAMED: dict[str, Callable[[TableStream, Sequence[Profile], int], dict[str, Floats]]] = {
    "mean-of-halves": _means_of_halves,
    "quantile": _quantiles,
    "width": _widths,
}


def _values(stream: TableStream, columns: Sequence[Profile]) -> Iterator[tuple[str, Floats]]:
    """The known values of columns of numbers, part by part."""
    for frame in stream:
        for column in columns:
            yield column.name, _numbers(frame[column.name].dropna())


def _numbers(known: pd.Series[Any]) -> Floats:
    try:
        return known.to_numpy(np.float64)
    except (TypeError, ValueError) as error:
        raise HornbookError(f"column {known.name!r} is to be quantitative, but: {error}") from None
