"""Tables: columns of known kinds, with holes, from files and frames."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pandas as pd

from hornbook.data.delimited import Grid, checked_names, read_arff, read_delimited
from hornbook.data.frames import as_frame, refuse_infinity
from hornbook.data.kinds import KINDS, Kind, infer_kind
from hornbook.data.labels import binary_label
from hornbook.logic.errors import HornbookError

MISSING = ("?", "", "NA", "NaN")
"""The markers of a missing value, in any case of letters."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of known kinds, missing values as NaN.

    Parameters
    ----------
    frame
        The values.
    kinds
        For each column, `binary`, `categorical` or `quantitative`.
    name
        What reports call it.
    label
        The column that is the class, with values 0 and 1, if there is one.

    """

    frame: pd.DataFrame
    kinds: dict[str, Kind]
    name: str
    label: str | None = None

    @property
    def features(self) -> pd.DataFrame:
        """The columns but for the label."""
        return self.frame if self.label is None else self.frame.drop(columns=self.label)

    @property
    def missing(self) -> float:
        """The share of missing values in the features."""
        return float(self.features.isna().to_numpy().mean())

    @property
    def complete(self) -> int:
        """How many rows have every feature."""
        return int(self.features.notna().all(axis=1).sum())

    def with_label(
        self, column: str, positive: str | float | None = None, above: float | None = None
    ) -> Table:
        """The table with one column as its class, made 0 and 1.

        Parameters
        ----------
        column
            The column.
        positive
            The value that counts as 1; the others count as 0.
        above
            Numbers greater than this count as 1; the others count as 0.

        """
        if column not in self.frame:
            close = get_close_matches(column, self.frame.columns, n=3)
            hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise HornbookError(f"there is no column {column!r} to be the label{hint}")
        name, classes = binary_label(self.frame[column], positive, above)
        position = self.frame.columns.get_loc(column)
        names = [name if number == position else other for number, other in enumerate(self.frame.columns)]
        frame = self.frame.assign(**{column: classes}).set_axis(checked_names(names), axis=1)
        kinds = {name if other == column else other: kind for other, kind in self.kinds.items()}
        return replace(self, frame=frame, kinds={**kinds, name: "binary"}, label=name)

    def checksum(self) -> str:
        """The SHA-256 of the values and column names."""
        return hashlib.sha256(self.frame.to_csv(index=False).encode()).hexdigest()

    def describe(self) -> str:
        """The table in one line."""
        counts = ", ".join(f"{count} {kind}" for kind in KINDS if (count := list(self._kinds()).count(kind)))
        shape = f"{len(self)} rows, {self.features.shape[1]} features ({counts})"
        holes = f"{100 * self.missing:.2f} % missing, {self.complete} complete rows"
        if self.label is None:
            return f"{self.name}: {shape}, {holes}"
        positive = int(self.frame[self.label].sum())
        return f"{self.name}: {shape}, {holes}, {self.label} {positive} to {len(self) - positive}"

    def _kinds(self) -> Iterable[Kind]:
        return (kind for column, kind in self.kinds.items() if column != self.label)

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        return f"<Table {self.describe()}>"


def read_table(
    source: Any,
    *,
    label: str | None = None,
    positive: str | float | None = None,
    above: float | None = None,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    missing: Iterable[str] = MISSING,
    kinds: Mapping[str, Kind] | None = None,
    name: str | None = None,
) -> Table:
    """A table from a file or a frame, its missing values kept.

    Parameters
    ----------
    source
        A path to a CSV, TSV or similar text, an `.arff` or a `.parquet` file; or a pandas or
        polars frame.
    label, positive, above
        The column that is the class; see `Table.with_label`.
    delimiter
        What separates the values of a text; found out if not given.
    names
        The column names of a text without a header.
    missing
        The markers of missing values, these and no others, in any case of letters;
        `[*MISSING, "-9"]` adds one to the usual.
    kinds
        For a column, its kind, in place of the one inferred.
    name
        What reports call the table; the file's name if not given.

    Examples
    --------
    >>> table = read_table(pd.DataFrame({"age": [40, 50, 61], "ill": ["no", "?", "yes"]}))
    >>> table.kinds
    {'age': 'quantitative', 'ill': 'binary'}
    >>> print(table.describe())
    table: 3 rows, 2 features (1 binary, 1 quantitative), 16.67 % missing, 2 complete rows

    """
    frame = as_frame(source)
    if frame is None:
        path = Path(source)
        name = name or path.name
        frame = _read_file(path, delimiter, names)
    markers = frozenset(marker.strip().lower() for marker in missing)
    frame = frame.set_axis(checked_names(list(frame.columns)), axis=1).reset_index(drop=True)
    if frame.empty:
        raise HornbookError(f"{name or 'the table'} has {frame.shape[1]} columns and {len(frame)} rows")
    frame = frame.apply(_parsed, markers=markers)
    refuse_infinity(frame)
    for column, kind in (kinds or {}).items():
        if column not in frame or kind not in KINDS:
            raise HornbookError(
                f"{column!r}: {kind!r} is not a column with one of the kinds {', '.join(KINDS)}"
            )
    inferred = {str(column): infer_kind(values) for column, values in frame.items()}
    table = Table(frame, {**inferred, **(kinds or {})}, name or "table")
    return table if label is None else table.with_label(label, positive, above)


def _read_file(path: Path, delimiter: str | None, names: Sequence[str] | None) -> pd.DataFrame:
    if not path.is_file():
        raise HornbookError(f"there is no file {str(path)!r}")
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        try:
            return pd.read_parquet(path)
        except ImportError:
            raise HornbookError('reading Parquet needs pyarrow: pip install "hornbook[parquet]"') from None
    try:
        text = path.read_text("utf-8-sig")
        grid: Grid = read_arff(text) if suffix == ".arff" else read_delimited(text, delimiter, names)
    except UnicodeDecodeError as error:
        raise HornbookError(f"{path.name} is not UTF-8 text (byte {error.start}); convert it first") from None
    except HornbookError as error:
        raise HornbookError(f"{path.name}: {error}") from None
    return pd.DataFrame(grid.rows, columns=grid.names, dtype=object)


def _parsed(column: pd.Series[Any], markers: frozenset[str]) -> pd.Series[Any]:
    """A column of texts with its markers made missing, as numbers if all the rest are."""
    if not pd.api.types.is_string_dtype(column) and column.dtype != object:
        return column
    clean = column.map(lambda value: value.strip() if isinstance(value, str) else value)
    known = clean.mask(clean.map(lambda value: isinstance(value, str) and value.lower() in markers))
    try:
        return pd.to_numeric(known)
    except (ValueError, TypeError):
        return known
