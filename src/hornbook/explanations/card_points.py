"""The points of a score card: its lines, and what each column gives, value by value.

A card is a sum of lines. Read by column it is a sum of characteristics, as credit score cards call
them: each has cases, of which one applies to a row and gives its points. So it is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import floor
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Category, Condition, Missing, Threshold, meet_conditions, merge_conditions
from hornbook.display import Displayed
from hornbook.logic import Bools

Points: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class CardLine(Displayed):
    """Points for a body of conditions, the last one its own, the others those of the lines above it.

    `points` has one number for each class, or one alone if there are two classes; so has
    `unknown_points`, for rows in which the line's own condition is unknown.
    """

    body: tuple[Condition, ...]
    points: tuple[int, ...]
    unknown_points: tuple[int, ...]

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.body))}: {', '.join(f'{each:+d}' for each in self.points)}"


def add_points(lines: Iterable[CardLine], start: tuple[int, ...], frame: pd.DataFrame) -> Points:
    """The points that lines give to each row, on top of those to start with, shape (rows, sums)."""
    sums = np.tile(np.array(start, np.int64), (len(frame), 1))
    values: dict[Condition, tuple[Bools, Bools]] = {}
    for line in lines:
        for condition in line.body:
            if condition not in values:
                values[condition] = condition.evaluate(frame)
        reached = np.ones(len(frame), np.bool_)
        for condition in line.body[:-1]:
            reached &= values[condition][0]
        true, false = values[line.body[-1]]
        sums[reached & true] += np.array(line.points)
        sums[reached & ~true & ~false] += np.array(line.unknown_points)
    return sums


@dataclass(frozen=True)
class PointsCase:
    """A case of a characteristic: conditions that are all true, and the points that it gives.

    A case without conditions is whatever the cases before it are not.
    """

    conditions: tuple[Condition, ...]
    points: tuple[int, ...]

    def match(self, frame: pd.DataFrame) -> Bools:
        """The rows of which all conditions are true."""
        return meet_conditions(self.conditions, frame)

    def is_empty(self, code_book: CodeBook) -> bool:
        """Whether no whole number is meant, of a column that has no others."""
        match self.conditions:
            case (Threshold(column, low), Threshold(_, high)):
                return code_book.words(column).whole and floor(low) == floor(high)
        return False

    def find_place(self, code_book: CodeBook) -> int:
        """The place of its first value in the order of its column, 0 without an order; missing is last."""
        (condition,) = self.conditions[:1]
        order = code_book.words(condition.column).order
        if condition.accepts_missing:
            return len(order) + 1
        if not order:
            return 0
        met = condition.evaluate(pd.DataFrame({condition.column: pd.Series(order, dtype=object)}))[0]
        return int(met.argmax()) if met.any() else len(order)


class PointsRow(NamedTuple):
    """A line of a printed card: values of a column or conditions, the case, and how many conditions."""

    words: str
    case: PointsCase
    conditions: int


@dataclass(frozen=True)
class Characteristic:
    """The points of one column, or of several together, for each case.

    The first case of which all conditions are true applies; there always is one.
    """

    columns: tuple[str, ...]
    cases: tuple[PointsCase, ...]

    def find_case(self, row: pd.DataFrame) -> PointsCase:
        """The case that applies to a frame of one row."""
        return next(case for case in self.cases if case.match(row)[0])

    def describe_case(self, case: PointsCase, code_book: CodeBook = EMPTY_BOOK) -> str:
        """A case in words: its conditions, or that other values are meant than those of the first case."""
        return " and ".join(code_book.describe_all(case.conditions)) or "other values"

    def list_rows(self, code_book: CodeBook = EMPTY_BOOK) -> Iterator[PointsRow]:
        """What is printed: of a column's rows that hold the first counts; all other values give nothing.

        Ranges are named by one end each, from both ends of the column up to a range that gives nothing.

        Examples
        --------
        >>> lines = [CardLine((Threshold("age", cut),), (2,), (1,)) for cut in (40, 60)]
        >>> for row in next(list_characteristics(lines)).list_rows():
        ...     print(row.words, *row.case.points)
        > 60 4
        else > 40 2
        missing 2

        """
        if not self.cases[-1].conditions:
            for case in self.cases:
                if any(case.points):
                    count = sum(len(each.cuts) or 1 for each in merge_conditions(case.conditions))
                    yield PointsRow(self.describe_case(case, code_book), case, count)
            return
        *known, missing = self.cases
        if any(isinstance(each, Threshold) for case in known for each in case.conditions):
            yield from _list_range_rows([case for case in known if not case.is_empty(code_book)], code_book)
        else:
            for case in sorted(known, key=lambda case: case.find_place(code_book)):
                if any(case.points) or any(known[-1].points):
                    words = _describe_values(case.conditions[0], code_book)
                    yield PointsRow(words, case, words != OTHER)
        if any(missing.points):
            yield PointsRow("missing", missing, 1)


OTHER = "any other"
"""The values of a column that no row before names."""


def _list_range_rows(ranges: list[PointsCase], code_book: CodeBook) -> Iterator[PointsRow]:
    """The ranges below one that gives nothing by their upper ends, and those above it by their lower ones."""
    silent = next((place for place, case in enumerate(ranges) if not any(case.points)), None)
    middle = silent or 0
    for side, end in ((ranges[:middle], -1), (ranges[:middle:-1], 0)):
        for number, case in enumerate(side):
            words = _describe_values(case.conditions[end], code_book)
            yield PointsRow(f"else {words}" if number else words, case, 1)
    if silent is None:
        yield PointsRow(OTHER, ranges[0], 0)


def _describe_values(condition: Condition, code_book: CodeBook) -> str:
    """The values of its column that a condition accepts, in words: `> 1.1`, `f, m`."""
    if isinstance(condition, Missing):
        return "any value"
    phrase = code_book.phrase(condition)
    if phrase.sign in ("≠", "not in"):
        return OTHER
    values = ", ".join(phrase.values)
    return values if phrase.sign in ("=", "in") else f"{phrase.sign} {values}"


def list_characteristics(lines: Iterable[CardLine]) -> Iterator[Characteristic]:
    """The lines of a card by column, and then those that several columns give together.

    Examples
    --------
    >>> low, high = (CardLine((Threshold("bili", cut),), (2,), (1,)) for cut in (1.1, 3.4))
    >>> for case in next(list_characteristics([low, high])).cases:
    ...     print(*case.conditions, *case.points)
    bili <= 1.1 0
    bili > 1.1 bili <= 3.4 2
    bili > 3.4 4
    bili is missing 2

    """
    by_column: dict[str, list[CardLine]] = {}
    together = []
    for line in lines:
        names = {condition.column for condition in line.body}
        if len(names) == 1:
            by_column.setdefault(names.pop(), []).append(line)
        else:
            together.append(line)
    for column, own in by_column.items():
        conditions = [condition for line in own for condition in line.body]
        if any(each.cuts for each in conditions) and any(each.named_values for each in conditions):
            together += own  # numbers and words in one column
        else:
            yield Characteristic((column,), tuple(_list_column_cases(column, own)))
    for line in together:
        columns = dict.fromkeys(condition.column for condition in line.body)
        yield Characteristic(tuple(columns), tuple(_list_line_cases(line)))


def _list_line_cases(line: CardLine) -> Iterator[PointsCase]:
    """Where a line is true, where it is unknown, and all else, which gives nothing."""
    *above, own = line.body
    yield PointsCase(line.body, line.points)
    if not isinstance(own, Missing) and any(line.unknown_points):
        yield PointsCase((*above, Missing(own.column)), line.unknown_points)
    yield PointsCase((), (0,) * len(line.points))


def _list_column_cases(column: str, lines: list[CardLine]) -> Iterator[PointsCase]:
    """The ranges or values of a column that get different points, in order, and a missing value."""
    conditions = [condition for line in lines for condition in line.body]
    cuts = sorted({cut for condition in conditions for cut in condition.cuts})
    named = list(dict.fromkeys(value for condition in conditions for value in condition.named_values))
    values = [*cuts, np.inf] if cuts else [*named, object()]  # an object is like no value that is named
    rows = pd.DataFrame({column: pd.Series([*values, None], dtype=object)})
    zero = (0,) * len(lines[0].points)
    points = [tuple(each) for each in add_points(lines, zero, rows).tolist()]
    if cuts:
        ends = [k for k in range(len(values)) if k + 1 == len(values) or points[k] != points[k + 1]]
        for start, end in zip([None, *ends], ends, strict=False):
            yield PointsCase(
                _write_range(column, None if start is None else values[start], values[end]), points[end]
            )
    else:
        yield from _list_value_cases(column, dict(zip(named, points, strict=False)), points[len(named)])
    yield PointsCase((Missing(column),), points[-1])


def _write_range(column: str, low: float | None, high: float) -> tuple[Condition, ...]:
    """The conditions of a range of numbers: above `low`, and at most `high`."""
    above = () if low is None else (Threshold(column, low),)
    at_most = () if high == np.inf else (Threshold(column, high, above=False),)
    return (*above, *at_most) or (Missing(column, missing=False),)


def _list_value_cases(
    column: str, points: dict[Any, tuple[int, ...]], other: tuple[int, ...]
) -> Iterator[PointsCase]:
    """The values with the same points together, then all others."""
    by_points: dict[tuple[int, ...], list[Any]] = {}
    for value, each in points.items():
        if each != other:
            by_points.setdefault(each, []).append(value)
    for each, values in by_points.items():
        yield PointsCase((Category(column, tuple(values)),), each)
    named = [value for values in by_points.values() for value in values]
    rest = Category(column, tuple(named), inside=False) if named else Missing(column, missing=False)
    yield PointsCase((rest,), other)
