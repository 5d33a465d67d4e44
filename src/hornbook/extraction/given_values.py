"""Values as a user gives them: text, numbers, names of levels and labels become the table's own values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype

from hornbook.code_book import CodeBook, describe_unknown
from hornbook.conditions import truth_value, write_value
from hornbook.errors import HornbookError
from hornbook.extraction.result import MAX_SHOWN_CATEGORIES, ColumnSummary, Extraction
from hornbook.tables import as_frame

UNKNOWN_TEXTS = ("", "?")
"""Texts that stand for a missing value."""


def read_values(extraction: Extraction, values: Mapping[Any, Any]) -> dict[str, Any]:
    """The values of some columns as the table has them, None where one is missing.

    Columns may be named by their labels, and values by names of parts that the explanation knows. Refuse a
    column that the table does not have, and a value that its column never has.

    Examples
    --------
    >>> from hornbook import Explainer
    >>> rows = pd.DataFrame({"age": range(20, 80), "sex": [1, 2] * 30})
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit(rows, rows.age > 50)
    >>> book = {"columns": {"sex": {"levels": {1: "male", 2: "female"}}}}
    >>> extraction = Explainer(model, rows, code_book=book).extract(n_samples=500)
    >>> read_values(extraction, {"sex": "female", "age": "61"})
    {'sex': 2, 'age': 61.0}
    >>> read_values(extraction, {"sex": "other"})
    Traceback (most recent call last):
    hornbook.errors.HornbookError: column 'sex' is never 'other'; its values are male (1), female (2), or ?

    """
    summaries = {summary.name: summary for summary in extraction.columns}
    book = extraction.code_book
    read = {}
    for name, value in values.items():
        column = find_column(name, summaries, book)
        named = isinstance(value, str) and extraction.explanation.names_part(column, value.strip())
        read[column] = value.strip() if named else read_value(summaries[column], book, value)
    return read


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
        raise HornbookError(f"a row is a mapping, a series or a frame of one row, not a {type(row).__name__}")
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


def read_value(summary: ColumnSummary, book: CodeBook, value: Any, *, new: bool = False) -> Any:
    """A value as its column has it, None where it is missing; `new` accepts a category never seen."""
    if is_unknown(value):
        return None
    words = book.words(summary.name)
    if isinstance(value, str):
        value = value.strip()
        named = words.read_level(value)
        if named != value:
            return named
    if summary.numbers:
        return _read_number(summary, value)
    for category in summary.categories:
        if category == value or write_value(category) == write_value(value):
            return category
        if category in (0, 1) and truth_value(value) == category:
            return category
    if new or len(summary.categories) in (0, MAX_SHOWN_CATEGORIES):  # there may be others
        return value
    values = (
        name
        if (name := words.name_value(category)) == write_value(category)
        else f"{name} ({write_value(category)})"
        for category in sorted(summary.categories, key=str)
    )
    raise HornbookError(
        f"column {summary.name!r} is never {value!r}; its values are {', '.join(values)}, or ?"
    )


def is_unknown(value: Any) -> bool:
    """Whether a value stands for a missing one."""
    if isinstance(value, str):
        return value.strip() in UNKNOWN_TEXTS
    return value is None or value is pd.NA or (isinstance(value, float | np.floating) and math.isnan(value))


def _read_number(summary: ColumnSummary, value: Any) -> float:
    low, _, high = summary.numbers
    try:
        number = float(value)
    except (TypeError, ValueError):
        if {low, high} <= {0.0, 1.0} and (truth := truth_value(value)) is not None:
            return float(truth)
        raise HornbookError(
            f"column {summary.name!r} is never {value!r}; it has numbers, from {write_value(low)} to "
            f"{write_value(high)}, or ?"
        ) from None
    if not math.isfinite(number):
        raise HornbookError(f"column {summary.name!r} has finite numbers, or ?; got {value!r}")
    return number


def read_given_rows(extraction: Extraction, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows with the columns and values of the extraction's table; other columns are left out.

    The index numbers the rows from 0. A category that was never seen stays as it is; an error about a
    value names its row.
    """
    book = extraction.code_book
    summaries = {summary.name: summary for summary in extraction.columns}
    given = {book.find_column(str(name)): name for name in reversed(frame.columns)}
    given |= {str(name): name for name in frame.columns}  # a column's own name comes before a label
    read = {
        column: _read_column(frame[given[column]], summary, book)
        for column, summary in summaries.items()
        if column in given
    }
    return pd.DataFrame(read, index=frame.index)


def _read_column(values: pd.Series[Any], summary: ColumnSummary, book: CodeBook) -> pd.Series[Any]:
    known: dict[Any, Any] = {}
    for value in values.dropna().unique():
        try:
            known[value] = read_value(summary, book, value, new=True)
        except HornbookError as error:
            row = int(values.index[(values == value).to_numpy().argmax()]) + 1
            raise HornbookError(f"row {row}: {error}") from None
    return values.map(known).infer_objects()


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
