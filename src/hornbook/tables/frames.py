"""Frames of rows: with named columns, in the form in which a user gave them, and beside a table's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype

from hornbook.errors import HornbookError
from hornbook.times import Scale, count_days, find_scale, find_time_type, restore_column

COLUMNS_PER_CHECK = 256
"""Number of columns whose numbers are checked at a time."""

LEAST_IDENTIFIED = 20
"""The fewest rows of which a column with a value of its own in each is taken for their names."""

IDENTIFIER = re.compile(r"(^|[^a-z])(id|uuid|guid|nr|number|index|key)([^a-z]|$)|[a-z]I[dD]$", re.IGNORECASE)
"""What the name of a column of identifiers has in it."""

ATTRIBUTE = "hornbook.given_form"
"""The attribute of a frame that remembers the form; rows that are chosen from the frame keep it."""


@dataclass(frozen=True, eq=False)
class GivenForm:
    """How a user gave rows.

    Parameters
    ----------
    names
        The names of the columns in frames of ours.
    columns
        The user's own columns of a pandas frame; None for rows of another form.
    schema
        The schema of a polars frame.
    dtype
        The type of an array.
    times
        The types of the columns of dates, times and durations, which are days in frames of ours.

    Examples
    --------
    >>> rows = pd.DataFrame({"x0": [1, 2], "x1": [3, 4]})
    >>> GivenForm(("x0", "x1"), dtype=np.dtype(np.float32))(rows)
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    >>> GivenForm(("x0", "x1"), pd.Index([10, 20]))(rows).columns.tolist()
    [10, 20]

    """

    names: tuple[str, ...]
    columns: pd.Index[Any] | None = None
    schema: Any = None
    dtype: np.dtype[Any] | None = None
    times: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, frame: pd.DataFrame) -> GivenForm:
        """The form in which a frame's rows were given: that of the frame unless it remembers another."""
        remembered: GivenForm | None = frame.attrs.get(ATTRIBUTE)
        return remembered or cls(tuple(frame.columns), frame.columns, times=find_times(frame))

    def __call__(self, rows: pd.DataFrame) -> Any:
        """Rows of a frame of ours as the user would give them, numbered from 0."""
        own = rows.reset_index(drop=True)
        if tuple(own.columns) != self.names:
            own = own[list(self.names)]
        if self.columns is not None:
            return own.set_axis(self.columns, axis=1)
        if self.schema is not None:
            return self._make_polars(own)
        assert self.dtype is not None
        if self.dtype.kind in "fcO" or not own.isna().any(axis=None):
            return np.array(own.to_numpy(self.dtype))
        return np.array(own.to_numpy(np.float64 if self.dtype.kind in "iub" else object))

    def as_array(self) -> GivenForm:
        """Rows as an array: the user's own, or one with the values of the user's frame."""
        return self if self.dtype is not None else replace(self, columns=None, dtype=np.dtype(object))

    def _make_polars(self, rows: pd.DataFrame) -> Any:
        import polars

        columns = {name: [None if pd.isna(each) else each for each in rows[name]] for name in rows}
        return polars.DataFrame(columns, schema=self.schema, strict=False)

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # pandas copies attributes with every frame


def remember_form(frame: pd.DataFrame, given: Any) -> None:
    """Note at a frame of ours in which form its rows were given."""
    names, times = tuple(frame.columns), find_times(frame)
    if isinstance(given, pd.DataFrame):
        form = GivenForm(names, given.columns, times=times)
    elif hasattr(given, "collect_schema"):
        form = GivenForm(names, schema=given.collect_schema(), times=times)
    else:
        form = GivenForm(names, dtype=np.asarray(given).dtype, times=times)
    frame.attrs[ATTRIBUTE] = form


def check_names(names: Sequence[object]) -> list[str]:
    """Return the names with single spaces; refuse empty and repeated ones."""
    positions: dict[str, int] = {}
    for position, given in enumerate(names, 1):
        name = " ".join(str(given).split())
        if not name:
            raise HornbookError(f"column {position} has no name; name it in the header")
        if name in positions:
            raise HornbookError(
                f"columns {positions[name]} and {position} are both called {name!r}; rename one"
            )
        positions[name] = position
    return list(positions)


def as_frame(data: Any) -> pd.DataFrame | None:
    """Convert a pandas or polars frame to pandas; None for anything else."""
    if isinstance(data, pd.DataFrame):
        return data
    if type(data).__module__.partition(".")[0] == "polars" and hasattr(data, "collect_schema"):
        eager = data.collect() if hasattr(data, "collect") else data
        return pd.DataFrame(eager.to_dict(as_series=False))
    return None


def read_frame(X: Any) -> pd.DataFrame:
    """Rows as a frame whose columns have names: x0, x1, … where they have none; times are days."""
    frame = as_frame(X)
    if frame is None:
        frame = pd.DataFrame(np.asarray(X)).infer_objects()
    refuse_unusable(frame)
    named = frame.set_axis(name_columns(frame), axis=1)
    remember_form(named, X)
    return number_times(named)


def find_times(frame: pd.DataFrame) -> dict[str, Any]:
    """The types of the columns of dates, times and durations."""
    return {str(name): kind for name, values in frame.items() if (kind := find_time_type(values)) is not None}


def number_times(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with days in columns of dates, times and durations."""
    times = find_times(frame)
    return replace_columns(frame, {name: count_days(frame[name], kind) for name, kind in times.items()})


def restore_times(frame: pd.DataFrame, times: Mapping[str, Any]) -> pd.DataFrame:
    """The frame with times of their types in columns of days."""
    restored = {
        name: restore_column(frame[name], kind)
        for name, kind in times.items()
        if name in frame and find_time_type(frame[name]) is None
    }
    return replace_columns(frame, restored) if restored else frame


def find_scales(frame: pd.DataFrame) -> dict[str, Scale]:
    """What the days are in columns of times, those included that have become days."""
    days = number_times(frame)
    return {
        name: find_scale(kind, days[name].to_numpy(np.float64))
        for name, kind in GivenForm.of(frame).times.items()
        if name in days
    }


def replace_columns(rows: pd.DataFrame, values: Mapping[Any, Any]) -> pd.DataFrame:
    """The rows with other values in some columns, or with further columns.

    A column may have any name; pandas' `assign` takes names as keywords, and none can be `self`.
    """
    changed = rows.copy(deep=False)
    for name, value in values.items():
        changed[name] = value
    return changed


def find_identifiers(frame: pd.DataFrame) -> list[str]:
    """The columns that number or name rows: words, or whole numbers called so, of which no two are the same.

    Of fewer than 20 rows nothing is said.

    Examples
    --------
    >>> rows = range(30)
    >>> find_identifiers(pd.DataFrame({"patient_id": rows, "name": [f"p{row}" for row in rows], "age": rows}))
    ['patient_id', 'name']

    """
    if len(frame) < LEAST_IDENTIFIED:
        return []
    return [
        str(name)
        for name, values in frame.items()
        if values.is_unique
        and (not is_numeric_dtype(values) or (IDENTIFIER.search(str(name)) and (values % 1 == 0).all()))
        and not is_datetime64_any_dtype(values)
    ]


def name_columns(frame: pd.DataFrame) -> list[str]:
    """The names of columns; x0, x1, … where they have none."""
    if all(isinstance(name, str) for name in frame.columns):
        return list(frame.columns)
    return [f"x{number}" for number in range(frame.shape[1])]


def refuse_unusable(frame: pd.DataFrame) -> None:
    """Refuse a frame without rows, or with infinite numbers."""
    if not len(frame):
        raise HornbookError("there are no rows to explain the model on; pass some rows that it decides")
    refuse_infinity(frame)


def refuse_infinity(frame: pd.DataFrame) -> None:
    """Refuse infinite numbers, naming the row of the first by the frame's index."""
    numbers = frame.select_dtypes("number")
    for start in range(0, numbers.shape[1], COLUMNS_PER_CHECK):
        part = numbers.iloc[:, start : start + COLUMNS_PER_CHECK]
        infinite = np.isinf(part.to_numpy(np.float64, na_value=np.nan))  # (rows, columns)
        if infinite.any():
            column = int(infinite.any(axis=0).argmax())
            row, name = part.index[infinite[:, column].argmax()], part.columns[column]
            raise HornbookError(f"row {row}, column {name!r} is infinity; make it missing or finite")


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
