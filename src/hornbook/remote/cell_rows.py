"""Rows of a table as JSON values, as requests to an endpoint have them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

MAX_WHOLE_NUMBER = 2.0**53
"""Below this, whole numbers are written without a decimal point, whatever the type of their column."""


@dataclass(frozen=True)
class CellRows:
    """Rows of a table as JSON values: numbers, words, booleans, and None for a missing one.

    Parameters
    ----------
    columns
        The names of the columns; None where rows of an array have none.
    rows
        The values of each row.
    words
        The places of columns that are no numbers.

    Examples
    --------
    >>> CellRows.of(pd.DataFrame({"age": [40.0, float("nan")], "sex": ["f", None]})).rows
    ((40, 'f'), (None, None))

    """

    columns: tuple[str, ...] | None
    rows: tuple[tuple[Any, ...], ...]
    words: frozenset[int] = frozenset()

    @classmethod
    def of(cls, rows: Any) -> CellRows:
        """The cells of a frame or of an array."""
        if not hasattr(rows, "iloc"):
            array = np.asarray(rows)
            return cls(None, tuple(zip(*map(_column_cells, array.T), strict=True)))
        columns = [rows.iloc[:, place] for place in range(rows.shape[1])]
        words = (place for place, each in enumerate(columns) if not pd.api.types.is_numeric_dtype(each))
        cells = zip(*map(_column_cells, columns), strict=True)
        return cls(tuple(map(str, rows.columns)), tuple(cells), frozenset(words))

    def take(self, numbers: Sequence[int]) -> CellRows:
        """Some of the rows."""
        return replace(self, rows=tuple(self.rows[number] for number in numbers))

    def find_different(self) -> dict[tuple[Any, ...], int]:
        """The different rows, each with the place of one of its kind."""
        return {row: place for place, row in enumerate(self.rows)}

    def write_nan(self) -> CellRows:
        """The rows with NaN for a missing number; a missing word stays None."""
        rows = (
            tuple(
                math.nan if value is None and place not in self.words else value
                for place, value in enumerate(row)
            )
            for row in self.rows
        )
        return replace(self, rows=tuple(rows))

    def to_objects(self) -> list[dict[str, Any]]:
        """Each row as an object with a field a column."""
        columns = self.columns or tuple(map(str, range(len(self.rows[0]))))
        return [dict(zip(columns, row, strict=True)) for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)


def _column_cells(values: Any) -> list[Any]:
    """The values of a column as JSON values; each different one is converted once."""
    numbers, levels = pd.factorize(pd.Series(values))
    cells = np.empty(len(levels) + 1, object)  # None comes last, where the number -1 of missing ones points
    cells[:-1] = [_cell(each) for each in pd.Series(levels).tolist()]
    column: list[Any] = cells[numbers].tolist()
    return column


def _cell(value: Any) -> Any:
    """A value as JSON has it; whole numbers are written alike, whatever the type of their column."""
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_WHOLE_NUMBER:
        return int(value)
    return value if isinstance(value, str | int | float) else str(value)
