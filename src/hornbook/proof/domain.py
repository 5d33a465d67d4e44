"""The rows that proofs about columns are about: a domain, and boxes of it that meet conditions.

A domain gives every column a range of numbers, and says whether a value may be missing. Conditions
on columns cut boxes out of it: in each column of a box a row has a number between two ends, or no
value, or may have either.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from hornbook.errors import HornbookError
from hornbook.explanations import Category, CategorySet, Condition, Missing, Threshold

MAX_BOXES = 20_000
"""The most boxes that one question may be about."""


@dataclass(frozen=True)
class Interval:
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

    def between(self, low: float, high: float) -> Interval:
        """The numbers of this interval between two others; a value is not missing then."""
        low, high = max(self.low, low), min(self.high, high)
        if self.whole and low <= high:
            low, high = math.ceil(low), math.floor(high)
        return replace(self, low=float(low), high=float(high), missing=False)

    def without_numbers(self) -> Interval:
        """The missing value alone."""
        return replace(self, low=math.inf, high=-math.inf)

    def __str__(self) -> str:
        numbers = f"{self.low:.6g} to {self.high:.6g}" if self.has_numbers else ""
        kind = ", whole numbers" if self.whole and self.has_numbers else ""
        return numbers + kind + (" or missing" if numbers else "missing") * self.missing


Box: TypeAlias = Mapping[str, Interval]
"""An interval for each column."""


@dataclass(frozen=True, eq=False)
class Domain:
    """The rows that a proof is about.

    Parameters
    ----------
    intervals
        The values of each column of numbers.
    rows
        Rows of the table, on which what is read of a model is compared with the model.

    Examples
    --------
    >>> domain = Domain.of(pd.DataFrame({"age": [20, 60], "bili": [0.5, None]}))
    >>> print(domain)
    age: 20 to 60, whole numbers; bili: 0.5 to 0.5 or missing

    """

    intervals: Box
    rows: pd.DataFrame

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Domain:
        """The domain of a table: from the lowest to the highest value of each column, missing where one is.

        A column that has whole numbers only has no others in the domain.
        """
        intervals = {}
        for name, values in frame.items():
            if not pd.api.types.is_numeric_dtype(values) or not values.notna().any():
                continue
            numbers = values.dropna().to_numpy(np.float64)
            whole = bool((numbers == np.floor(numbers)).all())
            low, high = float(numbers.min()), float(numbers.max())
            intervals[str(name)] = Interval(low, high, whole, bool(values.isna().any()))
        return cls(intervals, frame)

    def widen(self, conditions: Iterable[Condition]) -> Domain:
        """The domain with columns that reach beyond the thresholds of conditions, by their own width."""
        intervals = dict(self.intervals)
        for condition in conditions:
            if not isinstance(condition, Threshold) or condition.column not in intervals:
                continue
            own = intervals[condition.column]
            width = own.high - own.low or 1.0
            if condition.above and condition.cut >= own.high:
                own = replace(own, high=condition.cut + width)
            elif not condition.above and condition.cut < own.low:
                own = replace(own, low=condition.cut - width)
            if own.whole:
                own = replace(own, low=float(math.floor(own.low)), high=float(math.ceil(own.high)))
            intervals[condition.column] = own
        return replace(self, intervals=intervals)

    def list_boxes(
        self, body: Sequence[Condition], excluded: Sequence[Sequence[Condition]] = ()
    ) -> list[Box]:
        """The boxes of the rows that meet a body and none of some others; no two boxes share a row.

        Examples
        --------
        >>> domain = Domain.of(pd.DataFrame({"age": [20.0, 60.5]}))
        >>> for box in domain.list_boxes([Threshold("age", 30)], [[Threshold("age", 50)]]):
        ...     print(box["age"])
        30 to 50

        """
        for condition in (*body, *(each for other in excluded for each in other)):
            if condition.column not in self.intervals:
                raise HornbookError(
                    f"{condition}: proofs are about the numbers that the model reads, and this is none"
                )
        boxes = list(_meet_all(self.intervals, body))
        for other in excluded:
            boxes = [part for box in boxes for part in _fail_some(box, other)]
            if len(boxes) > MAX_BOXES:
                raise HornbookError(f"there are more than {MAX_BOXES:,} cases to look at")
        return boxes

    def __str__(self) -> str:
        return "; ".join(f"{name}: {interval}" for name, interval in self.intervals.items())


def _meet_all(box: Box, conditions: Sequence[Condition]) -> Iterator[Box]:
    """The parts of a box that meet all conditions."""
    if not conditions:
        yield box
        return
    first, *rest = conditions
    for interval in _meet(box[first.column], first):
        yield from _meet_all({**box, first.column: interval}, rest)


def _fail_some(box: Box, conditions: Sequence[Condition]) -> Iterator[Box]:
    """The parts of a box that fail some condition: the first, or the second but not the first, and so on."""
    for number, condition in enumerate(conditions):
        for part in _meet_all(box, conditions[:number]):
            for interval in _fail(part[condition.column], condition):
                yield {**part, condition.column: interval}


def _meet(interval: Interval, condition: Condition) -> Iterator[Interval]:
    """The parts of an interval that meet a condition, each one that is not empty."""
    parts: Iterable[Interval]
    if isinstance(condition, Threshold):
        above = math.nextafter(condition.cut, math.inf)
        parts = [
            interval.between(above, math.inf)
            if condition.above
            else interval.between(-math.inf, condition.cut)
        ]
    elif isinstance(condition, Missing):
        parts = [interval.without_numbers() if condition.missing else replace(interval, missing=False)]
    elif isinstance(condition, Category):
        parts = _meet_values(interval, [condition.value], condition.equal)
    else:
        parts = _meet_values(interval, condition.values, condition.inside)
    yield from (part for part in parts if not part.is_empty)


def _fail(interval: Interval, condition: Condition) -> Iterator[Interval]:
    """The parts of an interval that do not meet a condition: a missing value meets none but its own."""
    parts = list(_meet(interval, condition.negate()))
    if isinstance(condition, Missing) or not interval.missing:
        yield from parts
    elif parts:
        yield replace(parts[0], missing=True)
        yield from parts[1:]
    else:
        yield interval.without_numbers()


def _meet_values(interval: Interval, values: Sequence[Any], inside: bool) -> Iterator[Interval]:
    """The parts of an interval with one of some values, or with none of them."""
    numbers = sorted({float(value) for value in values if isinstance(value, int | float | np.number)})
    if inside:
        yield from (interval.between(number, number) for number in numbers)
        return
    low = -math.inf
    for number in numbers:
        yield interval.between(low, math.nextafter(number, -math.inf))
        low = math.nextafter(number, math.inf)
    yield interval.between(low, math.inf)


def condition_cuts(conditions: Iterable[Condition]) -> dict[str, set[float]]:
    """For each column, the numbers after which some condition may change.

    Examples
    --------
    >>> condition_cuts([Threshold("age", 40), Threshold("age", 50, above=False)])
    {'age': {40.0, 50.0}}

    """
    cuts: dict[str, set[float]] = {}
    for condition in conditions:
        own = cuts.setdefault(condition.column, set())
        if isinstance(condition, Threshold):
            own.add(float(condition.cut))
        elif not isinstance(condition, Missing):
            values = condition.values if isinstance(condition, CategorySet) else (condition.value,)
            for value in values:
                if isinstance(value, int | float | np.number):
                    own |= {float(value), math.nextafter(float(value), -math.inf)}
    return cuts
