"""The rows that proofs about columns are about: a domain, and boxes of it that meet conditions.

A domain gives every column a range of numbers or a list of levels, and says whether a value may be
missing. Conditions on columns cut boxes out of it: in each column of a box a row has a number between
two ends or one of some levels, or no value, or may have either.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype, is_object_dtype

from hornbook.conditions import Between, Category, Condition, IsTrue, Missing, Threshold, write_value
from hornbook.display import Displayed
from hornbook.errors import HornbookError

MAX_BOXES = 20_000
"""The most boxes that one question may be about."""

MISSING_SHARE = 0.2
"""The share of missing values in random rows, in columns that may have them."""

MAX_LEVELS_SHOWN = 12
"""The most levels of a column that are written out."""


@dataclass(frozen=True)
class Interval(Displayed):
    """The values of one column: the numbers from `low` to `high`, whole ones only if it says so, or none.

    Without numbers `low` is above `high`. `missing` says whether there may be no value.
    """

    low: float
    high: float
    whole: bool = False
    missing: bool = False

    @property
    def has_numbers(self) -> bool:
        """Whether the value may be a number."""
        return self.low <= self.high

    @property
    def is_empty(self) -> bool:
        """Whether there is no value at all, not even a missing one."""
        return not self.has_numbers and not self.missing

    def holds(self, value: Any) -> bool:
        """Whether the value may be this one."""
        if is_missing(value):
            return self.missing
        return self.low <= value <= self.high and not (self.whole and value % 1)

    def between(self, low: float, high: float) -> Interval:
        """Cut the interval to the numbers between two others, without the missing value."""
        low, high = self.snap(max(self.low, low), min(self.high, high))
        return replace(self, low=low, high=high, missing=False)

    def snap(self, low: float, high: float) -> tuple[float, float]:
        """Move two ends inwards to whole numbers, if a row has only those."""
        if self.whole and low <= high:
            low, high = float(math.ceil(low)), float(math.floor(high))
        return low, high

    def draw(self, at_ends: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw a value for each row: an end or 0 where `at_ends`, else any number; or NaN."""
        if not self.has_numbers:
            return np.full(len(at_ends), np.nan)
        numbers = rng.uniform(self.low, self.high, len(at_ends))
        if self.whole:
            numbers = np.round(numbers)
        ends = [self.low, self.high, *([0.0] if self.low < 0 < self.high else [])]
        numbers = np.where(at_ends, rng.choice(ends, len(at_ends)), numbers)
        missing = self.missing & (rng.random(len(at_ends)) < MISSING_SHARE)
        return np.where(missing, np.nan, numbers)

    def without_values(self) -> Interval:
        """The missing value alone."""
        return replace(self, low=math.inf, high=-math.inf)

    def select(self, condition: Threshold | Between | Category | IsTrue) -> list[Interval]:
        """Cut out the parts whose numbers meet a condition."""
        if isinstance(condition, Category | IsTrue):
            return list(_select_numbers(self, condition.named_values, condition.is_plain))
        return [
            self.between(math.nextafter(low, math.inf) if math.isfinite(low) else low, high)
            for low, high in condition.intervals
        ]

    def __str__(self) -> str:
        numbers = f"{self.low:.6g} to {self.high:.6g}" if self.has_numbers else ""
        kind = ", whole numbers" if self.whole and self.has_numbers else ""
        return numbers + kind + (" or missing" if numbers else "missing") * self.missing


@dataclass(frozen=True)
class Levels(Displayed):
    """The values of one column: one of some words, truth values or numbers, or none.

    `missing` says whether there may be no value.
    """

    values: tuple[Any, ...]
    missing: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is no value at all, not even a missing one."""
        return not self.values and not self.missing

    def holds(self, value: Any) -> bool:
        """Whether the value may be this one."""
        return self.missing if is_missing(value) else value in self.values

    def draw(self, at_ends: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.object_]:
        """Draw a level for each row, or None for a missing value."""
        numbers = rng.integers(max(len(self.values), 1), size=len(at_ends))
        missing = self.missing & (rng.random(len(at_ends)) < MISSING_SHARE)
        listed = np.empty(len(self.values) + 1, object)
        listed[:-1] = self.values
        drawn: NDArray[np.object_] = listed[np.where(missing, len(self.values), numbers)]
        return drawn

    def without_values(self) -> Levels:
        """The missing value alone."""
        return replace(self, values=())

    def select(self, condition: Threshold | Between | Category | IsTrue) -> list[Levels]:
        """Select the levels that meet a condition, as one part without the missing value."""
        return [Levels(tuple(value for value in self.values if condition.accepts(value)))]

    def __str__(self) -> str:
        shown = ", ".join(map(write_value, self.values[:MAX_LEVELS_SHOWN]))
        more = len(self.values) - MAX_LEVELS_SHOWN
        listed = f"{shown} and {more} more" if more > 0 else shown
        return listed + (" or missing" if listed else "missing") * self.missing


ColumnRange: TypeAlias = Interval | Levels
"""The values that a column may have."""

Box: TypeAlias = Mapping[str, ColumnRange]
"""The values of each column."""


@dataclass(frozen=True, eq=False)
class Domain(Displayed):
    """The rows that a proof is about.

    Parameters
    ----------
    ranges
        The values of each column.
    rows
        Rows of the table, on which what is read of a model is compared with the model.

    Examples
    --------
    >>> domain = Domain.of(pd.DataFrame({"age": [20, 60], "bili": [0.5, None], "sex": ["m", "f"]}))
    >>> print(domain)
    age: 20 to 60, whole numbers; bili: 0.5 to 0.5 or missing; sex: f, m

    """

    ranges: Box
    rows: pd.DataFrame

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Domain:
        """Make the domain of a table: the range of the numbers of each column, or its levels.

        A value is missing only in a column where one is. A column that has whole numbers only has no
        others in the domain.
        """
        ranges: dict[str, ColumnRange] = {}
        for name, values in frame.items():
            known, missing = values.dropna(), bool(values.isna().any())
            if not len(known):
                continue
            if is_numeric_dtype(values):
                numbers = known.to_numpy(np.float64)
                whole = bool((numbers == np.floor(numbers)).all())
                ranges[str(name)] = Interval(float(numbers.min()), float(numbers.max()), whole, missing)
            elif (levels := list_levels(known)) is not None:
                ranges[str(name)] = Levels(levels, missing)
        return cls(ranges, frame)

    def widen(self, conditions: Iterable[Condition]) -> Domain:
        """Widen the domain to all that conditions name; beyond thresholds by the width of the column."""
        ranges = dict(self.ranges)
        for condition in conditions:
            own = ranges.get(condition.column)
            if isinstance(own, Levels):
                new = (value for value in condition.allowed_values if value not in own.values)
                ranges[condition.column] = replace(own, values=(*own.values, *new))
            elif isinstance(own, Interval) and isinstance(condition, Threshold):
                ranges[condition.column] = _widen_interval(own, condition)
        return replace(self, ranges=ranges)

    def join_levels(self, other: Domain) -> Domain:
        """Add the levels of another domain."""
        ranges = dict(self.ranges)
        for name, own in ranges.items():
            further = other.ranges[name]
            if isinstance(own, Levels) and isinstance(further, Levels):
                new = (value for value in further.values if value not in own.values)
                ranges[name] = replace(own, values=(*own.values, *new))
        return replace(self, ranges=ranges)

    def list_boxes(
        self, body: Sequence[Condition], excluded: Sequence[Sequence[Condition]] = ()
    ) -> list[Box]:
        """List disjoint boxes of the rows that meet a body and none of the excluded ones.

        Examples
        --------
        >>> domain = Domain.of(pd.DataFrame({"age": [20.0, 60.5]}))
        >>> for box in domain.list_boxes([Threshold("age", 30)], [[Threshold("age", 50)]]):
        ...     print(box["age"])
        30 to 50

        """
        for condition in (*body, *(each for other in excluded for each in other)):
            own = self.ranges.get(condition.column)
            if own is None:
                raise HornbookError(
                    f"{condition}: proofs are about the columns that the model reads, and this is none"
                )
            words = isinstance(own, Levels) and any(map(_is_word, own.values))
            if words and condition.cuts:
                raise HornbookError(f"{condition}: the values of the column are not numbers")
        boxes = list(_meet_all(self.ranges, body))
        for other in excluded:
            boxes = [part for box in boxes for part in _fail_some(box, other)]
            if len(boxes) > MAX_BOXES:
                raise HornbookError(f"there are more than {MAX_BOXES:,} cases to look at")
        return boxes

    def decode(self, numbers: NDArray[np.float64], columns: Sequence[str]) -> pd.DataFrame:
        """Turn numbers, (k, columns), into rows: a level is its position in its list, NaN a missing value."""
        rows: dict[str, NDArray[Any]] = {}
        for name, own_numbers in zip(columns, numbers.T, strict=True):
            own = self.ranges[name]
            rows[name] = own_numbers
            if isinstance(own, Levels):
                listed = np.empty(len(own.values) + 1, object)
                listed[:-1] = own.values
                places = np.where(np.isnan(own_numbers), len(own.values), own_numbers).astype(np.intp)
                rows[name] = listed[places]
        return self.write(rows)

    def write(self, values: Mapping[str, NDArray[Any]]) -> pd.DataFrame:
        """Write rows in the form of the table: its types, and its way to write missing values.

        Numbers that the type of a column cannot hold, such as a fraction among whole ones, stay doubles.
        """
        return pd.DataFrame({name: self._write_column(name, own) for name, own in values.items()})

    @cached_property
    def kinds(self) -> Mapping[str, Any]:
        """The type of each column of the table."""
        return dict(zip(map(str, self.rows.columns), self.rows.dtypes, strict=True))

    def _write_column(self, name: str, values: NDArray[Any]) -> Any:
        kind = self.kinds[name]
        if values.dtype == kind and not is_object_dtype(kind):
            return values
        missing = pd.isna(values)
        if is_object_dtype(kind) or isinstance(kind, pd.StringDtype):
            values = values.astype(object)
            values[missing] = self.missing_value(name)
            return pd.Series(values, dtype=kind)
        if isinstance(kind, pd.CategoricalDtype):
            further = pd.Index([*pd.unique(values[~missing])], dtype=object).difference(kind.categories)
            categories = kind.categories if not len(further) else [*kind.categories, *further]
            return pd.Categorical(values, categories=categories, ordered=kind.ordered)
        doubles = pd.Series(values, dtype=object).where(~missing, np.nan).to_numpy(np.float64)
        try:
            with np.errstate(invalid="ignore", over="ignore"):
                written = pd.Series(
                    values if values.dtype == object and not missing.any() else doubles
                ).astype(kind)
        except (TypeError, ValueError):  # a missing value or a fraction, of which the type knows nothing
            return doubles
        held = written.to_numpy(np.float64, na_value=np.nan)
        return written if np.array_equal(held, doubles, equal_nan=True) else doubles

    def missing_value(self, name: str) -> Any:
        """The missing value of a column as the table has it: None, NaN, NaT or pd.NA; refuse two of them."""
        values = self.rows[name]
        if values.dtype != object:
            return (
                pd.NA
                if isinstance(values.dtype, pd.StringDtype) and values.dtype.na_value is pd.NA
                else math.nan
            )
        written = {str(value): value for value in values[values.isna()].tolist()}
        if len(written) > 1:
            raise HornbookError(
                f"missing values of the column {name!r} are written in different ways, "
                f"{' and '.join(sorted(written))}, which models tell apart; write all in one way"
            )
        return next(iter(written.values()), math.nan)

    def draw(
        self, boxes: Sequence[Box], columns: Sequence[str], size: int, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Draw `size` rows of each box: half with values anywhere, half with ends and zeros."""
        at_ends = np.arange(size) % 2 == 1
        return self.write(
            {name: np.concatenate([box[name].draw(at_ends, rng) for box in boxes]) for name in columns}
        )

    def contains(self, rows: pd.DataFrame) -> NDArray[np.bool_]:
        """Which rows are in the domain."""
        inside = np.ones(len(rows), np.bool_)
        for name, values in rows.items():
            own, missing = self.ranges[str(name)], values.isna().to_numpy(np.bool_)
            if isinstance(own, Levels):
                known = values.isin(own.values).to_numpy(np.bool_)
            else:
                numbers = values.to_numpy(np.float64, na_value=np.nan)
                known = (numbers >= own.low) & (numbers <= own.high)
            inside &= np.where(missing, own.missing, known)
        return inside

    def __str__(self) -> str:
        return "; ".join(f"{name}: {own}" for name, own in self.ranges.items())

    def describe(self) -> str:
        """Say in a note which rows proofs are about."""
        return f"Proofs are about rows with values in these ranges: {self}"


def _meet_all(box: Box, conditions: Sequence[Condition]) -> Iterator[Box]:
    """Cut out the parts of a box that meet all conditions."""
    if not conditions:
        yield box
        return
    first, *rest = conditions
    for part in _meet(box[first.column], first):
        yield from _meet_all({**box, first.column: part}, rest)


def _fail_some(box: Box, conditions: Sequence[Condition]) -> Iterator[Box]:
    """Cut out the parts of a box that fail the first condition, or meet it and fail the second, and so on."""
    for number, condition in enumerate(conditions):
        for part in _meet_all(box, conditions[:number]):
            for own in _fail(part[condition.column], condition):
                yield {**part, condition.column: own}


def _meet(own: ColumnRange, condition: Condition) -> Iterator[ColumnRange]:
    """Yield the nonempty parts of a range that meet a condition."""
    parts: Sequence[ColumnRange]
    if isinstance(condition, Missing):
        parts = [own.without_values() if condition.missing else replace(own, missing=False)]
    else:
        parts = own.select(condition)
    yield from (part for part in parts if not part.is_empty)


def _fail(own: ColumnRange, condition: Condition) -> Iterator[ColumnRange]:
    """Yield the parts of a range that fail a condition; a missing value fails all but its own."""
    parts = list(_meet(own, condition.negate()))
    if isinstance(condition, Missing) or not own.missing:
        yield from parts
    elif parts:
        yield replace(parts[0], missing=True)
        yield from parts[1:]
    else:
        yield own.without_values()


def is_missing(value: Any) -> bool:
    """Whether a value of a row is a missing one: None, NaN, NaT or pd.NA."""
    return (
        value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))
    )


def list_levels(values: pd.Series[Any]) -> tuple[Any, ...] | None:
    """List the distinct values of a column, words last; None if some are neither words nor numbers."""
    levels = values.dropna().unique().tolist()
    if not all(isinstance(level, str | bool | int | float) for level in levels):
        return None
    return tuple(sorted(levels, key=lambda level: (_is_word(level), level)))


def _is_word(value: Any) -> bool:
    return isinstance(value, str)


def _widen_interval(own: Interval, condition: Threshold) -> Interval:
    width = own.high - own.low or 1.0
    if not math.isfinite(condition.cut):  # which no number is beyond
        return own
    if condition.above and condition.cut >= own.high:
        own = replace(own, high=condition.cut + width)
    elif not condition.above and condition.cut < own.low:
        own = replace(own, low=condition.cut - width)
    if own.whole:
        own = replace(own, low=float(math.floor(own.low)), high=float(math.ceil(own.high)))
    low, high = own.snap(own.low, own.high)
    return replace(own, low=low, high=high)


def _select_numbers(interval: Interval, values: Sequence[Any], inside: bool) -> Iterator[Interval]:
    """Yield the parts of an interval that hold one of some values, or none of them."""
    numbers = sorted({float(value) for value in values if isinstance(value, int | float | np.number)})
    if inside:
        yield from (interval.between(number, number) for number in numbers)
        return
    low = -math.inf
    for number in numbers:
        yield interval.between(low, math.nextafter(number, -math.inf))
        low = math.nextafter(number, math.inf)
    yield interval.between(low, math.inf)
