"""Find out whether a model accepts missing values, by trying: no declaration says it for a pipeline."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from hornbook.models.predictor import Predictor

ROWS_ASKED = 4
"""Number of rows with a missing value that are tried for each column."""


def takes_missing(predictor: Predictor) -> bool:
    """Whether a model of variables accepts NaN in each of them."""
    if predictor.inputs is None:
        return False
    known = np.array([[0.0], [1.0]]).repeat(predictor.inputs, axis=1)
    holes = np.concatenate([_hide(known, column) for column in range(predictor.inputs)])
    return _answers(predictor, holes)


def columns_with_missing(predictor: Predictor, table: Any) -> frozenset[str]:
    """Return the columns of a table in which a model accepts missing values.

    It does where it answers about rows of the table without the value, in finite scores, and
    does not where it fails. Columns that it does not read are among them.
    """
    from pandas import concat

    complete = table.dropna()
    shown = (complete if len(complete) else table).head(ROWS_ASKED)
    holes = [_hide(shown, column) for column in range(shown.shape[1])]
    if _answers(predictor, concat(holes, ignore_index=True)):
        return frozenset(table.columns)
    answered = (_answers(predictor, rows) for rows in holes)
    return frozenset(name for name, taken in zip(table.columns, answered, strict=True) if taken)


def _hide(rows: Any, column: int) -> Any:
    """The rows without the values of one column."""
    if not hasattr(rows, "iloc"):
        hidden = rows.copy()
        hidden[:, column] = np.nan
        return hidden
    name = rows.columns[column]
    return rows.assign(**{name: rows[name].where(np.zeros(len(rows), np.bool_))})


def _answers(predictor: Predictor, rows: Any) -> bool:
    """Whether the model scores the rows and decides about them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            rows = predictor.read(rows)
            predictor.score_rows(rows)
            predictor.decide_rows(rows)
        except Exception:  # whatever a model raises that wants no NaN
            return False
    return True
