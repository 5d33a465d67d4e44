"""Whether a model takes missing values, and in which columns: it is asked about rows that lack them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from hornbook.errors import ModelTimeout
from hornbook.models.predictor import Predictor

ROWS_ASKED = 4
"""Number of rows with a missing value that are tried for each column."""

MAX_VALUES_ASKED = 1 << 22
"""Most values of the rows that are tried: of thousands of columns several are missing at a time."""


def takes_missing(predictor: Predictor) -> bool:
    """Whether a model of variables accepts NaN in each of them."""
    if predictor.inputs is None:
        return False
    known = np.array([[0.0], [1.0]]).repeat(predictor.inputs, axis=1)
    holes = [_hide(known, columns) for columns in _group_columns(known.shape)]
    return _answers(predictor, np.concatenate(holes))


def columns_with_missing(predictor: Predictor, table: Any) -> frozenset[str]:
    """Return the columns of a table in which a model accepts missing values.

    It does where it answers about rows of the table without the value, in finite scores, and
    does not where it fails. Columns that it does not read are among them. Of thousands of columns it
    is asked about several at a time. A model with a number of its own for unknown values takes them in all.
    """
    if not predictor.encodes_as_tables:
        return frozenset(table.columns)
    complete = table.dropna()
    shown = (complete if len(complete) else table).head(ROWS_ASKED)
    groups = list(_group_columns(shown.shape))
    if _answers(predictor, _hide_in_turn(shown, groups, table)):
        return frozenset(table.columns)
    taken = (columns for columns in groups if _answers(predictor, _hide(shown, columns, table)))
    return frozenset(table.columns[column] for columns in taken for column in columns)


def _group_columns(shape: tuple[int, int]) -> Iterator[range]:
    """The numbers of the columns whose values are missing at a time, for rows of a shape: one, or several."""
    rows, columns = shape
    size = -(-rows * columns * columns // MAX_VALUES_ASKED)
    return (range(start, min(start + size, columns)) for start in range(0, columns, size))


def _missing_value(column: Any) -> Any:
    """How a column writes that a value is missing: the first one of objects, such as None, else NaN."""
    return next(iter(column[column.isna()]), np.nan) if column.dtype == object else np.nan


def _hide(rows: Any, columns: range, table: Any = None) -> Any:
    """The rows without the values of some columns, or of a table, in which they are missing as there."""
    hidden = rows.copy()
    if table is None:
        hidden[:, columns] = np.nan
        return hidden
    for name in rows.columns[columns.start : columns.stop]:
        hidden[name] = rows[name].mask(np.ones(len(rows), np.bool_), _missing_value(table[name]))
    return hidden


def _hide_in_turn(rows: Any, groups: list[range], table: Any) -> Any:
    """A table of the rows once for each group of columns, without the values of that group."""
    from pandas import DataFrame

    repeated = rows.iloc[np.tile(np.arange(len(rows)), len(groups))].reset_index(drop=True)
    turn = np.arange(len(groups)).repeat(len(rows))
    return DataFrame(
        {
            name: repeated[name].mask(turn == number, _missing_value(table[name]))
            for number, columns in enumerate(groups)
            for name in rows.columns[columns.start : columns.stop]
        }
    )


def _answers(predictor: Predictor, rows: Any) -> bool:
    """Whether the model scores the rows and decides about them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            asked = replace(predictor, locates_failures=False)
            rows = asked.read(rows)
            asked.score_classes(rows)
            asked.classify_rows(rows)
        except ModelTimeout:
            raise
        except (Exception, SystemExit):  # whatever a model raises that wants no NaN
            return False
    return True
