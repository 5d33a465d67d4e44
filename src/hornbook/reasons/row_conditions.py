"""The conditions that a row meets, from loose to tight, of which its reasons are made.

Every column is cut into bins, as in a grid of candidate conditions, with further cuts close to the
row's own value. A literal is a condition that is true of the row, with the bins in which it is true.
A body is a set of literals, by their numbers. A literal that is true in more bins than another of its
column is looser.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.code_book import CodeBook
from hornbook.conditions import Category, Condition, Missing, Threshold, read_numbers
from hornbook.logic import Bools
from hornbook.surrogates.grid import CategoryColumn, Grid, NumericColumn

Body: TypeAlias = frozenset[int]
"""The numbers of some literals, all of which a row has to meet."""

Codes: TypeAlias = NDArray[np.integer[Any]]
"""Rows as bins, shape (columns, rows)."""

REASON_CUTS = 32
"""Thresholds of a column, beside those close to the row's value."""

TAIL_CUTS = 8
"""Further thresholds between the outermost one of a column and a value beyond it."""


@dataclass(frozen=True, eq=False)
class RowLiteral:
    """A condition that is true of a row, the place of its column, and the bins in which it is true.

    It is `exact` if it is true of no other number of the table on its side of the row's own.
    """

    condition: Condition
    place: int
    bins: Bools  # (bins of the column,), the last is for missing values
    exact: bool = False

    def is_looser(self, other: RowLiteral) -> bool:
        """Whether this literal is true in all bins of another literal of its column, and in more."""
        if self.place != other.place:
            return False
        return bool((self.bins >= other.bins).all() and (self.bins > other.bins).any())


@dataclass(frozen=True, eq=False)
class RowConditions:
    """All literals of a row.

    Parameters
    ----------
    row
        The row, as a frame.
    grid
        The bins of the columns that the model reads.
    literals
        The conditions that are true of the row.

    Examples
    --------
    >>> from hornbook.code_book import EMPTY_BOOK
    >>> rows = pd.DataFrame({"age": [20.0, 40, 60, 80], "sex": ["f", "m", "f", "m"]})
    >>> conditions = RowConditions.of(rows.iloc[[2]], Grid.of(rows), rows, EMPTY_BOOK)
    >>> for numbers in conditions.by_column:
    ...     print(", ".join(str(conditions.literals[number].condition) for number in numbers))
    age > 35, age > 55, age <= 60, age <= 65, age = 60
    sex = f

    """

    row: pd.DataFrame
    grid: Grid
    literals: tuple[RowLiteral, ...]

    @classmethod
    def of(cls, row: pd.DataFrame, grid: Grid, frame: pd.DataFrame, code_book: CodeBook) -> RowConditions:
        """List the literals of a row over a table's bins, with further cuts close to the row's values."""
        columns, literals = [], []
        for place, column in enumerate(grid.columns):
            value = row[column.name].iloc[0]
            missing = bool(pd.isna(value))
            has_missing = bool(frame[column.name].isna().any())
            if not missing and isinstance(column, NumericColumn):
                whole = code_book.words(column.name).whole
                column, own = _list_number_literals(column, place, float(value), frame, whole)
            elif not missing and isinstance(column, CategoryColumn):
                column, own = _list_category_literals(column, place, value)
            else:
                own = []
            columns.append(column)
            literals += own
            if missing or has_missing:
                only_missing = np.arange(column.size + 1) == column.size
                bins = only_missing if missing else ~only_missing
                literals.append(RowLiteral(Missing(column.name, missing), place, bins))
        return cls(row, Grid(tuple(columns)), tuple(literals))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.grid.columns)

    @cached_property
    def row_number(self) -> int:
        """A checksum of the row's values; it seeds the random numbers for this row."""
        return zlib.crc32("\0".join(str(self.row[name].iloc[0]) for name in self.columns).encode())

    def encode(self, rows: pd.DataFrame) -> Codes:
        """Rows as bins, (columns, rows)."""
        return self.grid.encode(rows).codes

    @cached_property
    def by_column(self) -> tuple[tuple[int, ...], ...]:
        """For each column the numbers of its literals."""
        numbers: list[list[int]] = [[] for _ in self.grid.columns]
        for number, literal in enumerate(self.literals):
            numbers[literal.place].append(number)
        return tuple(map(tuple, numbers))

    def find_bins(self, body: Iterable[int]) -> dict[int, Bools]:
        """Map each column that a body names to the bins in which all its literals are true."""
        bins: dict[int, Bools] = {}
        for number in sorted(body):
            literal = self.literals[number]
            bins[literal.place] = literal.bins & bins.get(literal.place, True)
        return bins

    def meets(self, body: Iterable[int], codes: Codes) -> Bools:
        """Which rows meet a body, shape (rows,)."""
        met = np.ones(codes.shape[1], np.bool_)
        for place, bins in self.find_bins(body).items():
            met &= bins[codes[place]]
        return met

    def count_met(self, codes: Codes) -> NDArray[np.intp]:
        """Count the rows that meet each literal, shape (literals,)."""
        counts = np.zeros(len(self.literals), np.intp)
        for column, own, numbers in zip(self.grid.columns, codes, self.by_column, strict=True):
            histogram = np.bincount(own, minlength=column.size + 1)
            for number in numbers:
                counts[number] = histogram[self.literals[number].bins].sum()
        return counts

    def remove_implied(self, body: Body) -> Body:
        """Remove the literals that other literals of the body imply."""
        by_column: dict[int, list[int]] = {}
        for number in body:
            by_column.setdefault(self.literals[number].place, []).append(number)
        return frozenset(
            number
            for own in by_column.values()
            for number in own
            if not any(self.literals[number].is_looser(self.literals[other]) for other in own)
        )

    def list_looser(self, number: int) -> list[int]:
        """List the looser literals of the same column and side, the loosest first."""
        own = self.literals[number]
        looser = [
            other
            for other in self.by_column[own.place]
            if self.literals[other].is_looser(own) and _have_one_side(own, self.literals[other])
        ]
        return sorted(looser, key=lambda other: -int(self.literals[other].bins.sum()))

    @cached_property
    def tightest(self) -> Body:
        """The tightest literals of each column and side, but no exact ones."""
        inexact = (number for number, literal in enumerate(self.literals) if not literal.exact)
        return self.remove_implied(frozenset(inexact))

    def tighten(self, number: int) -> int:
        """Replace a literal by the tightest of its column and side."""
        own = self.literals[number]
        tight = [
            other
            for other in self.by_column[own.place]
            if other in self.tightest and own.is_looser(self.literals[other])
        ]
        same = (other for other in tight if _have_one_side(self.literals[other], own))
        return next(same, number)

    def list_other_categories(self, number: int) -> list[int]:
        """List the literals that exclude one other category each, for a literal that fixes a category."""
        if not self.literals[number].condition.allowed_values:
            return []
        return [
            other
            for other in self.by_column[self.literals[number].place]
            if (excluded := self.literals[other].condition).named_values and not excluded.is_plain
        ]

    def describe(self, body: Iterable[int]) -> tuple[Condition, ...]:
        """Name the conditions of a body in the order of the columns, one for all categories of a column."""
        conditions: list[Condition] = []
        numbers = self.remove_implied(frozenset(body))
        for place, column in enumerate(self.grid.columns):
            own = [
                self.literals[number] for number in sorted(numbers) if self.literals[number].place == place
            ]
            if len(own) > 1 and isinstance(column, CategoryColumn):
                conditions.append(_unite_categories(column, np.all([each.bins for each in own], axis=0)))
            else:
                conditions += (each.condition for each in own)
        return tuple(conditions)


def _have_one_side(literal: RowLiteral, other: RowLiteral) -> bool:
    """Whether one literal of a column may be replaced by the other: thresholds must have the same side."""
    one, two = literal.condition, other.condition
    if isinstance(one, Threshold) and isinstance(two, Threshold):
        return one.above == two.above
    return not isinstance(one, Threshold) or isinstance(two, Missing)


def _list_number_literals(
    column: NumericColumn, place: int, value: float, frame: pd.DataFrame, whole: bool
) -> tuple[NumericColumn, list[RowLiteral]]:
    """Add cuts close to a value to a column, and list the literals that are true of the value."""
    known = np.append(read_numbers(frame, column.name), value)
    loose = [*column.cuts, *_list_tail_cuts(column.cuts, known, value)]
    if whole and value.is_integer():
        named = {*loose, value - 1, value}
    else:
        named = {_move_cut(known, cut, value) for cut in loose} | {*_list_close_cuts(known, value)}
    below = float(np.nextafter(value, -np.inf))  # so that the value has a bin of its own
    cuts = tuple(sorted({*named, below, value}))
    wider = replace(column, cuts=cuts)
    bins = np.arange(wider.size + 1)
    literals = []
    for number, cut in enumerate(cuts):
        if cut != below:
            met = (bins > number) if value > cut else (bins <= number)
            condition = Threshold(column.name, cut, above=value > cut)
            literals.append(RowLiteral(condition, place, met & (bins < wider.size), exact=cut not in named))
    if not whole:
        own_bin = bins == np.searchsorted(cuts, value)
        literals.append(RowLiteral(Category(column.name, value), place, own_bin, exact=True))
    return wider, literals


def _list_tail_cuts(cuts: Sequence[float], known: NDArray[np.float64], value: float) -> Iterator[float]:
    """Yield values of the table between the outermost cut and a value beyond it, evenly by their number."""
    if len(cuts) and not cuts[0] < value <= cuts[-1]:
        last = cuts[-1] if value > cuts[-1] else cuts[0]
        low, high = sorted((last, value))
        beyond = np.unique(known[(known > low) & (known < high)])
        yield from map(float, beyond[:: max(1, len(beyond) // TAIL_CUTS)])


def _move_cut(known: NDArray[np.float64], cut: float, value: float) -> float:
    """Move a cut between two numbers of the table towards the one on the side of a value.

    A model that rounds numbers has its own thresholds in the middle, and not quite where it says.
    """
    return _shorten_between(float(known[known <= cut].max()), float(known[known > cut].min()), value)


def _list_close_cuts(known: NDArray[np.float64], value: float) -> Iterator[float]:
    """Yield cuts between a value and its neighbours in the table, nearer to the value."""
    lower, higher = known[known < value], known[known > value]  # NaN is neither
    if len(lower):
        yield _shorten_between(float(lower.max()), value, value)
    if len(higher):
        yield _shorten_between(value, float(higher.min()), value)


def _shorten_between(low: float, high: float, value: float) -> float:
    """Find the shortest cut between two numbers, in the half that is nearer to a value."""
    gap = high - low
    first, last = (low + gap / 2, high) if high <= value else (low, high - gap / 2)
    first, last = first + 0.1 * (last - first), last - 0.1 * (last - first)
    for digits in range(-int(np.floor(np.log10(gap))) - 2, 18) if first < last else ():
        cut = float(f"{round((first + last) / 2, digits):.15g}")
        if first <= cut <= last:
            return cut
    return low  # neighbouring numbers: above the lower one is the higher one


def _list_category_literals(
    column: CategoryColumn, place: int, value: Any
) -> tuple[CategoryColumn, list[RowLiteral]]:
    """Add a value to the categories of a column, and list the literals that are true of the value."""
    if value not in column.values:
        column = replace(column, values=(*column.values, value), rankings=(), ordered=False)
    bins, own = np.arange(column.size + 1), column.values.index(value)
    known = bins < column.size
    literals = [RowLiteral(Category(column.name, column.values[own]), place, bins == own)]
    others = [number for number in range(len(column.values)) if number != own]
    if column.ordered:
        for end in range(1, len(column.values)):
            met = (bins >= end) if own >= end else (bins < end)
            values = tuple(each for each, inside in zip(column.values, met, strict=False) if inside)
            if len(values) > 1:
                named = met & (bins < len(column.values))
                literals.append(RowLiteral(Category(column.name, values), place, named))
    elif len(others) > 1:
        for number in others:
            without = Category(column.name, column.values[number], inside=False)
            literals.append(RowLiteral(without, place, known & (bins != number)))
    return column, literals


def _unite_categories(column: CategoryColumn, bins: Bools) -> Condition:
    """Make the condition that a value is in one of some bins, by the shorter of two lists of categories."""
    inside = tuple(value for value, met in zip(column.values, bins, strict=False) if met)
    outside = tuple(value for value, met in zip(column.values, bins, strict=False) if not met)
    if not bins[len(column.values)] and len(inside) <= len(outside):
        return Category(column.name, inside)
    return Category(column.name, outside, inside=False)
