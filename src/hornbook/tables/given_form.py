"""The form in which a user gave rows, a frame, a polars frame or an array, and rows back in that form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

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

    @classmethod
    def of(cls, frame: pd.DataFrame) -> GivenForm:
        """The form in which a frame's rows were given: that of the frame unless it remembers another."""
        remembered: GivenForm = frame.attrs.get(ATTRIBUTE) or cls(tuple(frame.columns), frame.columns)
        return remembered

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
        return self if self.dtype is not None else GivenForm(self.names, dtype=np.dtype(object))

    def _make_polars(self, rows: pd.DataFrame) -> Any:
        import polars

        columns = {name: [None if pd.isna(each) else each for each in rows[name]] for name in rows}
        return polars.DataFrame(columns, schema=self.schema, strict=False)

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # pandas copies attributes with every frame


def remember_form(frame: pd.DataFrame, given: Any) -> None:
    """Note at a frame of ours in which form its rows were given."""
    names = tuple(frame.columns)
    if isinstance(given, pd.DataFrame):
        form = GivenForm(names, given.columns)
    elif hasattr(given, "collect_schema"):
        form = GivenForm(names, schema=given.collect_schema())
    else:
        form = GivenForm(names, dtype=np.asarray(given).dtype)
    frame.attrs[ATTRIBUTE] = form
