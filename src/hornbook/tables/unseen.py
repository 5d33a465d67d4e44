"""Rows that come apart from a table: read, fitted to its columns, and looked for in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from hornbook.errors import HornbookError
from hornbook.tables.files import open_parts
from hornbook.tables.notation import PLAIN
from hornbook.tables.rows import PartReader
from hornbook.tables.table import read_file_rows, refuse_infinity
from hornbook.tables.text_format import TextFormat


def read_new_rows(
    path: Path, text_format: TextFormat | None = None, max_rows: int | None = None
) -> tuple[pd.DataFrame, TextFormat | None, int]:
    """The rows of a table file, how a text is written, and how many rows the file has.

    A column may have no value at all.
    """
    rows, found_format, total = read_file_rows(path, text_format or TextFormat(), max_rows=max_rows)
    if rows.empty:
        raise HornbookError(f"{path.name} has {rows.shape[1]} columns and {len(rows)} rows")
    refuse_infinity(rows)
    return rows, found_format, total


def read_new_parts(
    path: Path, text_format: TextFormat | None = None
) -> tuple[Iterator[pd.DataFrame], TextFormat | None]:
    """The rows of a table file in parts of some thousand rows, and how a text is written.

    The file is read twice, and memory does not grow with it. Each part has the index of its rows in
    the file, from 0.
    """
    asked = text_format or TextFormat()
    with open_parts(path, asked, None, whole=False) as (parts, found_format):
        reader = PartReader.scan(parts, (PLAIN,) if found_format is None else found_format.notations)
    if not reader.rows:
        raise HornbookError(f"{path.name} has no rows")
    return _read_again(path, asked, reader), found_format and found_format.with_notation(reader.notation)


def _read_again(path: Path, asked: TextFormat, reader: PartReader) -> Iterator[pd.DataFrame]:
    """Yield the parts of a file that was scanned before."""
    first_row = 0
    with open_parts(path, asked, None, whole=False) as (parts, _):
        for part in filter(len, reader.read(parts)):
            refuse_infinity(part, first_row)
            yield part.set_axis(pd.RangeIndex(first_row, first_row + len(part)))
            first_row += len(part)


def fit_columns(rows: pd.DataFrame, table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows in the columns of a table, in its order; further columns are left out.

    Rows without one of the columns are refused, as are words where the table has numbers; `name` is
    what a message calls the rows.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [40.0, 50.0], "sex": ["f", "m"]})
    >>> list(fit_columns(pd.DataFrame({"id": [7], "sex": ["f"], "age": [61]}), table, "new.csv"))
    ['age', 'sex']
    >>> fit_columns(pd.DataFrame({"sex": ["f"]}), table, "new.csv")
    Traceback (most recent call last):
    hornbook.errors.HornbookError: new.csv has no column 'age'; it needs those of the table: age, sex

    """
    for column in table.columns:
        if column not in rows:
            raise HornbookError(
                f"{name} has no column {column!r}; it needs those of the table: {', '.join(table.columns)}"
            )
    if not len(rows):
        raise HornbookError(f"{name} has no rows to measure fidelity on")
    rows = pd.DataFrame({column: _fit_values(rows[column], table[column], name) for column in table.columns})
    refuse_infinity(rows)
    return rows


def _fit_values(values: pd.Series[Any], wanted: pd.Series[Any], name: str) -> pd.Series[Any]:
    """The values as the table has them: numbers where it has numbers, words where it has words."""
    if values.isna().all():
        return values.astype(float if _is_number(wanted) else object)
    if _is_number(values) != _is_number(wanted) and not wanted.isna().all():
        kinds = [("numbers" if _is_number(each) else "words") for each in (wanted, values)]
        raise HornbookError(f"column {wanted.name!r} has {kinds[0]} in the table and {kinds[1]} in {name}")
    return values


def _is_number(values: pd.Series[Any]) -> bool:
    return is_numeric_dtype(values) and not is_bool_dtype(values)


def count_shared_rows(rows: pd.DataFrame, table: pd.DataFrame) -> int:
    """How many rows occur in a table with the same columns, value by value, missing ones included.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [40.0, None], "sex": ["f", "m"]})
    >>> count_shared_rows(pd.DataFrame({"age": [40, 41], "sex": ["f", "f"]}), table)
    1

    """
    hashes = [
        pd.util.hash_pandas_object(
            pd.DataFrame({name: _comparable(frame[name]) for name in table.columns}), index=False
        )
        for frame in (rows, table)
    ]
    return int(hashes[0].isin(hashes[1]).sum())


def _comparable(values: pd.Series[Any]) -> pd.Series[Any]:
    """Values of which equal ones are equal whatever their type: numbers as floats, others as texts."""
    if _is_number(values):
        return values.astype(float) + 0.0  # -0.0 becomes 0.0
    return values.astype(object).where(values.isna(), values.astype(str)).where(values.notna(), None)
