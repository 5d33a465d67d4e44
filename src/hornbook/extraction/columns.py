"""The columns of a table in short, and values as a user gives them, which become the table's own values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_numeric_dtype

from hornbook.code_book import EMPTY_BOOK, CodeBook, ColumnWords, are_whole, describe_unknown, list_values
from hornbook.conditions import Value, truth_value, write_value
from hornbook.display import Displayed
from hornbook.errors import HornbookError, UnknownLevelError
from hornbook.tables import as_frame, number_times

UNKNOWN_TEXTS = ("", "?")
"""Texts that stand for a missing value."""

MAX_CATEGORIES = 1000
"""Categories of a column that are kept, the commonest first."""


@dataclass(frozen=True)
class ColumnSummary(Displayed):
    """What values a column of the table has.

    Attributes
    ----------
    name
        The column.
    missing
        The share of rows without a value.
    numbers
        The least, middle and greatest value of a column of numbers; empty for categories.
    whole
        Whether all its values are whole numbers.
    categories
        The commonest values of a column of categories, the commonest first.

    """

    name: str
    missing: float
    numbers: tuple[float, ...] = ()
    whole: bool = False
    categories: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        if len(self.numbers) not in (0, 3):
            raise HornbookError(f"{self.numbers} are not the least, middle and greatest value of a column")

    def __str__(self) -> str:
        values = list_values(self.categories)
        if self.numbers:
            low, middle, high = self.numbers
            values = f"{low:.6g} to {high:.6g}, median {middle:.6g}"
        return f"{self.name}: {values}" + (f"; {self.missing:.1%} missing" if self.missing else "")

    @property
    def levels(self) -> tuple[Value, ...]:
        """All its values, if it has categories, and there can be no others."""
        is_whole_list = len(self.categories) < MAX_CATEGORIES
        return tuple(sorted(self.categories, key=str)) if is_whole_list else ()

    @classmethod
    def of(cls, values: pd.Series[Any], code_book: CodeBook = EMPTY_BOOK) -> ColumnSummary:
        """Summarise a column; a code book says whether its numbers are categories."""
        name, missing = str(values.name), float(values.isna().mean()) if len(values) else 0.0
        known = values.dropna()
        if code_book.are_quantities(values):
            numbers = known.to_numpy(np.float64)
            if not len(numbers):
                return cls(name, missing)
            spread = numbers.min(), np.median(numbers), numbers.max()
            return cls(name, missing, tuple(map(float, spread)), are_whole(numbers))
        common = known.value_counts().index[:MAX_CATEGORIES]
        return cls(name, missing, categories=tuple(map(plain_value, common)))


def plain_value(value: Any) -> Any:
    """A value of a table as one of Python."""
    return value.item() if hasattr(value, "item") else value


@dataclass(frozen=True)
class UnknownLevels:
    """What becomes of levels that the table never had: they are refused, or missing values that are counted.

    Parameters
    ----------
    as_missing
        Whether they are taken for missing.
    counts
        How many rows had each, by column and level.

    Examples
    --------
    >>> sex = ColumnSummary("sex", 0.0, categories=("f", "m"))
    >>> levels = UnknownLevels(as_missing=True)
    >>> levels.read_column(pd.Series(["f", "F", "m"], name="sex"), sex, CodeBook()).tolist()
    ['f', nan, 'm']
    >>> list(levels.describe())
    ["column 'sex' is never 'F' in the table: missing in 1 row"]

    """

    as_missing: bool = False
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def read_column(self, values: pd.Series[Any], summary: ColumnSummary, book: CodeBook) -> pd.Series[Any]:
        """The values of a column as the table has them; an error about a value names its row."""
        if summary.numbers and is_numeric_dtype(values) and not is_bool_dtype(values):
            return values
        known: dict[Any, Any] = {}
        for value in values.dropna().unique():
            where = (values == value).to_numpy()
            try:
                known[value] = read_value(summary, book, value)
            except UnknownLevelError as error:
                if not self.as_missing:
                    row = values.index[where.argmax()]
                    raise HornbookError(
                        f"row {row}: {error}; unknown_levels='missing' (--unknown-levels missing) takes such "
                        "values for missing ones"
                    ) from None
                self.counts[summary.name, write_value(value)] += int(where.sum())
            except HornbookError as error:
                raise HornbookError(f"row {values.index[where.argmax()]}: {error}") from None
        return values.map(known).infer_objects()

    def describe(self) -> Iterator[str]:
        """How many rows had which levels that the table never had."""
        for (column, level), count in sorted(self.counts.items()):
            rows = "1 row" if count == 1 else f"{count:,} rows"
            yield f"column {column!r} is never {level!r} in the table: missing in {rows}"


def read_values(
    summaries: Iterable[ColumnSummary], book: CodeBook, values: Mapping[Any, Any]
) -> dict[str, Any]:
    """The values of some columns as the table has them, None where one is missing.

    Columns may be named by their labels. Refuse a column that the table does not have, and a value that its
    column never has.

    Examples
    --------
    >>> columns = ColumnSummary("sex", 0.0, categories=(1, 2)), ColumnSummary("age", 0.0, (20.0, 50.0, 79.0))
    >>> book = CodeBook({"sex": ColumnWords(levels=((1, "male"), (2, "female")))})
    >>> read_values(columns, book, {"sex": "female", "age": "61"})
    {'sex': 2, 'age': 61.0}
    >>> read_values(columns, book, {"sex": "x"})
    Traceback (most recent call last):
    hornbook.errors.UnknownLevelError: column 'sex' is never 'x'; its values are male (1), female (2), or ?

    """
    by_name = {summary.name: summary for summary in summaries}
    named = {find_column(name, by_name, book): value for name, value in values.items()}
    return {column: read_value(by_name[column], book, value) for column, value in named.items()}


def name_values(row: Any, columns: list[str]) -> dict[Any, Any]:
    """The values of one row by the names of their columns.

    A list or an array has the values in order, and so has a row whose columns have numbers for names.
    """
    if isinstance(row, list | tuple | np.ndarray):
        listed = np.asarray(row, object).reshape(-1)
        if len(listed) != len(columns):
            raise HornbookError(f"a row has {len(columns)} values, one a column; got {len(listed)}")
        return dict(zip(columns, listed, strict=True))
    if (frame := as_frame(row)) is not None:
        if len(frame) != 1:
            raise HornbookError(f"one row is explained at a time; got {len(frame)}")
        row = {name: frame[name].iloc[0] for name in frame.columns}
    if not isinstance(row, Mapping | pd.Series):
        raise HornbookError(
            f"a row is a mapping, a series or a frame of one row, as X.iloc[17]; got {row!r:.40}"
        )
    values = dict(row.items())
    if len(values) == len(columns) and not any(isinstance(name, str) for name in values):
        return dict(zip(columns, values.values(), strict=True))
    return values


def find_column(name: Any, columns: Mapping[str, Any], book: CodeBook) -> str:
    """The column that a user names, by its name or its label."""
    column = name if name in columns else book.find_column(str(name))
    if column not in columns:
        raise HornbookError(describe_unknown(str(name), list(columns)))
    return column


def read_value(summary: ColumnSummary, book: CodeBook, value: Any) -> Any:
    """A value as its column has it, None where it is missing; refuse one that the column never has."""
    if is_unknown(value):
        return None
    words = book.words(summary.name)
    if isinstance(value, str):
        value = value.strip()
    named = words.read_level(value) if words.scale or isinstance(value, str) else value
    if named is not value:
        return named
    if summary.numbers:
        return _read_number(summary, words, value)
    for category in summary.categories:
        if category == value or write_value(category) == write_value(value):
            return category
        if category in (0, 1) and truth_value(value) == category:
            return category
    if not summary.levels:  # there may be others
        return value
    values = (
        name
        if (name := words.name_value(category)) == write_value(category)
        else f"{name} ({write_value(category)})"
        for category in summary.levels
    )
    raise UnknownLevelError(
        f"column {summary.name!r} is never {getattr(value, 'item', lambda: value)()!r}; "
        f"its values are {list_values(values)}, or ?"
    )


def is_unknown(value: Any) -> bool:
    """Whether a value stands for a missing one."""
    return value.strip() in UNKNOWN_TEXTS if isinstance(value, str) else bool(pd.isna(value))


def _read_number(summary: ColumnSummary, words: ColumnWords, value: Any) -> float:
    low, _, high = summary.numbers
    try:
        number = float(value)
    except (TypeError, ValueError):
        if {low, high} <= {0.0, 1.0} and (truth := truth_value(value)) is not None:
            return float(truth)
        raise HornbookError(
            f"column {summary.name!r} is never {value!r}; it has {words.scale or 'number'}s, from "
            f"{words.name_value(low)} to {words.name_value(high)}, or ?"
        ) from None
    if not math.isfinite(number):
        raise HornbookError(f"column {summary.name!r} has finite numbers, or ?; got {value!r}")
    return number


def read_given_rows(
    summaries: Iterable[ColumnSummary], book: CodeBook, frame: pd.DataFrame, levels: UnknownLevels
) -> pd.DataFrame:
    """Rows with the columns and values of a table, whose columns are summarised; others are left out."""
    columns, frame = {summary.name: summary for summary in summaries}, number_times(frame)
    given = {book.find_column(str(name)): name for name in reversed(frame.columns)}
    given |= {str(name): name for name in frame.columns}  # a column's own name comes before a label
    read = {
        column: levels.read_column(frame[given[column]], summary, book)
        for column, summary in columns.items()
        if column in given
    }
    return pd.DataFrame(read, index=frame.index)


def read_given_row(row: Any, frame: pd.DataFrame, book: CodeBook) -> pd.DataFrame:
    """One row with the columns and types of a table; what is not given is missing.

    The row is a list of values, a mapping of some columns or their labels, a series or a frame of one row.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [40, 60], "sex": ["f", "m"]})
    >>> read_given_row({"age": "51"}, table, CodeBook())
       age  sex
    0   51  NaN

    """
    values, given = {}, {}
    for name, value in name_values(row, list(frame.columns)).items():
        column = find_column(name, dict.fromkeys(frame.columns), book)
        values[column] = read_value(ColumnSummary.of(frame[column], book), book, value)
        given[column] = value
    if not any(value is not None for value in values.values()):
        raise HornbookError(f"the row has no value in any of the columns {', '.join(frame.columns[:12])}")
    return pd.DataFrame(
        {name: _fit_type(values.get(name), given.get(name), frame[name]) for name in frame.columns}
    )


def _fit_type(value: Any, given: Any, column: pd.Series[Any]) -> pd.Series[Any]:
    """A value as a series, of the column's type where that can hold it; in single precision it is rounded.

    A missing one is written as in the column, of whose missing values the given one is preferred.
    """
    if value is None and column.dtype == object:
        written = column[column.isna()].tolist()
        return pd.Series(
            [given if type(given) in map(type, written) else (*written, np.nan)[0]], dtype=object
        )
    plain = pd.Series([np.nan if value is None else value])
    try:
        with np.errstate(over="ignore"):
            typed = plain.astype(column.dtype)
    except (TypeError, ValueError):
        return plain
    if value is None:
        fits = typed.isna()
    else:
        fits = np.isfinite(typed) if is_float_dtype(typed.dtype) else typed == value
    return typed if bool(fits.iloc[0]) else plain
