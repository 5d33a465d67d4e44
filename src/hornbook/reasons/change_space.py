"""The values that each column of a row may change to, and how far they are from the row's own.

A value may change to any that occurs in its column of the table, within the limits that the user sets:
a column may be fixed, or go only up or only down. A missing value may become known. A known one may
become missing where that occurs in the column and the model itself takes missing values.

The distance of two values is their quantile distance: the share of the table's known values that lie
between them, each end counted half. It is 1 for two categories, for a column of two values, and between
a value and a missing one. The distance of a change is the sum over its columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from hornbook.code_book import CodeBook
from hornbook.conditions import Category, Condition, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.extraction.columns import find_column

Places: TypeAlias = NDArray[np.int32]
"""Changed rows, (rows, columns): each column's place in the list of its values, 0 for the row's own."""

DISTANCE_WORDS = (
    "the share of the table's known values between the old and the new value, added up over the columns; "
    "1 for categories, for columns of two values, and where a value was or becomes missing"
)


@dataclass(frozen=True)
class ChangeLimits:
    """Columns that may not change, or may go only up or only down.

    A value in a column with a direction stays known, and a missing one stays missing.

    Examples
    --------
    >>> limits = ChangeLimits(fixed=("sex",), up=("age",))
    >>> limits.direction("age"), limits.direction("bili")
    (1, 0)

    """

    fixed: tuple[str, ...] = ()
    up: tuple[str, ...] = ()
    down: tuple[str, ...] = ()

    def direction(self, column: str) -> int:
        """1 if a column goes only up, -1 if only down, 0 if it is free."""
        return (column in self.up) - (column in self.down)

    def fit_to(self, frame: pd.DataFrame, book: CodeBook) -> ChangeLimits:
        """Replace labels of columns by the table's names.

        Refuse a column that there is not, one that is named twice, and a direction without an order.
        """
        known = dict.fromkeys(map(str, frame.columns))
        fixed, up, down = (
            tuple(find_column(name, known, book) for name in names)
            for names in (self.fixed, self.up, self.down)
        )
        names = (*fixed, *up, *down)
        for name in names:
            if names.count(name) > 1:
                raise HornbookError(f"column {name!r} is limited twice; name it once: fixed, up or down")
        for name in (*up, *down):
            if order_values(frame[name], book) is None:
                raise HornbookError(
                    f"the values of {name!r} have no order, so none is up or down; fix the column, or give "
                    "the code book an order of its values"
                )
        return ChangeLimits(fixed, up, down)


NO_LIMITS = ChangeLimits()
"""Every column may change."""


@dataclass(frozen=True, eq=False)
class ChangeSpace:
    """One row, and the values to which it may change within the limits.

    Parameters
    ----------
    values
        For each column the row's own value, and then the others that it may have, the nearest first,
        and of equally near ones the commonest.
    distances
        How far each of them is from the row's own.
    limits
        What may not change.

    Examples
    --------
    >>> from hornbook.code_book import EMPTY_BOOK
    >>> frame = pd.DataFrame({"age": [20, 40, 60, 80], "sex": ["f", "m", "d", "f"]})
    >>> space = ChangeSpace.of(frame, frame.iloc[[1]], EMPTY_BOOK, ChangeLimits(up=("age",)))
    >>> [values.tolist() for values in space.values], [each.tolist() for each in space.distances]
    ([[40, 60, 80], ['m', 'f', 'd']], [[0.0, 0.25, 0.5], [0.0, 1.0, 1.0]])
    >>> space.make_rows(np.array([[2, 0]], np.int32)).to_dict("list")
    {'age': [80], 'sex': ['m']}

    """

    values: tuple[pd.Series[Any], ...]
    distances: tuple[NDArray[np.float64], ...]
    limits: ChangeLimits

    @classmethod
    def of(
        cls,
        frame: pd.DataFrame,
        row: pd.DataFrame,
        book: CodeBook,
        limits: ChangeLimits,
        hidden: Iterable[str] = (),
    ) -> ChangeSpace:
        """The changes of a row to values of a table; columns that are `hidden` may become missing.

        The row is a frame of one row with the columns of the table, and of their types as far as it can be.
        """
        limits = limits.fit_to(frame, book)
        hidden = frozenset(hidden)
        columns = [
            _list_values(frame[name], row[name], book, name in limits.fixed, limits.direction(name), hidden)
            for name in frame.columns
        ]
        return cls(
            tuple(values for values, _ in columns), tuple(distances for _, distances in columns), limits
        )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(str(values.name) for values in self.values)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """The number of other values of each column, (columns,)."""
        return np.array([len(values) - 1 for values in self.values], np.intp)

    @cached_property
    def ladders(self) -> tuple[NDArray[np.int32], ...]:
        """For each column the positions of its other values, numbers in ascending order."""
        ladders = []
        for values in self.values:
            others = values.iloc[1:]
            numeric = is_numeric_dtype(values)
            order = np.argsort(others.to_numpy(), kind="stable") if numeric else np.arange(len(others))
            ladders.append((order + 1).astype(np.int32))
        return tuple(ladders)

    def make_rows(self, places: Places) -> pd.DataFrame:
        """Build the rows of changes."""
        return pd.DataFrame(
            {
                name: pd.Series(values.array.take(own), dtype=values.dtype)
                for name, values, own in zip(self.columns, self.values, places.T, strict=True)
            }
        )

    def measure(self, places: Places) -> NDArray[np.float64]:
        """The distance of each change from the row, (rows,)."""
        lengths = np.zeros(len(places))
        for distances, own in zip(self.distances, places.T, strict=True):
            lengths += distances[own]
        return lengths

    def keep_nearer(self, places: Places, length: float) -> Places:
        """The changes that are nearer than a distance."""
        nearer: Places = places[self.measure(places) < length]
        return nearer

    def find_places(self, rows: pd.DataFrame) -> Places:
        """Turn rows into changes: each column takes their value, or keeps its own if it may not."""
        places = np.zeros((len(rows), len(self.values)), np.int32)
        for number, (name, values) in enumerate(zip(self.columns, self.values, strict=True)):
            others = values.iloc[1:].reset_index(drop=True)
            known = pd.Index(others[others.notna()].astype(object))
            theirs = rows[name]
            places[:, number] = known.get_indexer(pd.Index(theirs.astype(object))) + 1
            if len(others) and others.isna().iloc[-1]:  # the farthest comes last, and missing is farthest
                places[theirs.isna().to_numpy(), number] = len(others)
        return places

    def pin(self, column: str) -> Condition:
        """Make the condition that a column has the row's value."""
        value = self._own_value(column)
        return Missing(column) if pd.isna(value) else Category(column, value)

    def bound(self, column: str) -> tuple[Condition, ...]:
        """Make the conditions that keep a changing column within its direction."""
        direction, value = self.limits.direction(column), self._own_value(column)
        if not direction:
            return ()
        if isinstance(value, str):
            return (Category(column, tuple(self.values[self.columns.index(column)])),)
        if direction > 0:
            return (Threshold(column, float(np.nextafter(value, -np.inf))),)
        return (Threshold(column, float(value), above=False),)

    def _own_value(self, column: str) -> Any:
        value = self.values[self.columns.index(column)].iloc[0]
        return value.item() if hasattr(value, "item") else value


def order_values(values: pd.Series[Any], book: CodeBook) -> pd.Series[Any] | None:
    """Turn the values of a column into ordered numbers, NaN where missing; None if they have no order."""
    words = book.words(str(values.name))
    if words.order:
        return values.map({value: number for number, value in enumerate(words.order)}).astype(np.float64)
    if not is_numeric_dtype(values) or words.codes or (words.levels and not words.pair):
        return None
    return values.astype(np.float64)


def _list_values(
    values: pd.Series[Any],
    first: pd.Series[Any],
    book: CodeBook,
    fixed: bool,
    direction: int,
    hidden: frozenset[str],
) -> tuple[pd.Series[Any], NDArray[np.float64]]:
    """List the row's own value and those that it may change to, nearest first, with their distances."""
    known = values.dropna()
    unknown = bool(first.isna().iloc[0])
    if fixed or (direction and unknown):
        return first, np.zeros(1)
    others = _sort_by_commonness(known, book)
    others = others if unknown else others[others != first.iloc[0]]
    if not unknown and values.name in hidden:
        others = pd.concat([others, values[values.isna()].head(1)])
    listed = pd.concat([first, others.astype(first.dtype)], ignore_index=True)
    numbers = order_values(listed, book)
    if direction and numbers is not None:
        kept = ((numbers - numbers.iloc[0]) * direction >= 0).to_numpy()  # false for a missing value
        listed = listed[kept].reset_index(drop=True)
    own = listed.iloc[np.zeros(len(listed), np.intp)]
    distances = measure_distance_pairs(own, listed, known, book)
    distances[0] = 0.0
    nearest = np.argsort(distances, kind="stable")
    return listed.iloc[nearest].reset_index(drop=True), distances[nearest]


def _sort_by_commonness(known: pd.Series[Any], book: CodeBook) -> pd.Series[Any]:
    """Sort the distinct values of a column: numbers from the median outwards, others by frequency."""
    others = known.drop_duplicates()
    numbers, ranked = order_values(others, book), order_values(known, book)
    if numbers is None or ranked is None:
        rarity = -others.map(known.value_counts()).to_numpy(np.float64)
    else:
        rarity = np.abs(_rank_values(numbers.to_numpy(), np.sort(ranked.to_numpy())) - 0.5)
    return others.iloc[np.argsort(rarity, kind="stable")]


def measure_distance_pairs(
    before: pd.Series[Any], after: pd.Series[Any], known: pd.Series[Any], book: CodeBook
) -> NDArray[np.float64]:
    """The quantile distance of each value from its new one, by the known values of the table."""
    old, new, ranked = (order_values(values, book) for values in (before, after, known))
    same = (before.to_numpy() == after.to_numpy()) | (before.isna().to_numpy() & after.isna().to_numpy())
    distances = np.where(same, 0.0, 1.0)
    if old is not None and new is not None and ranked is not None and not book.words(str(known.name)).pair:
        order = np.sort(ranked.to_numpy())
        far = np.abs(_rank_values(old.to_numpy(), order) - _rank_values(new.to_numpy(), order))
        distances = np.where(np.isnan(far), distances, far)
    return distances


def _rank_values(numbers: NDArray[np.float64], known: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mid-rank of each number among the known ones, from 0 to 1; NaN where missing."""
    below, upto = (known.searchsorted(numbers, side) for side in ("left", "right"))
    ranks: NDArray[np.float64] = (below + upto) / (2 * len(known))
    return np.where(np.isnan(numbers), np.nan, ranks)
