"""Tables larger than memory: Parquet and CSV files, read some rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from hornbook.data.table import (
    DELIMITER_LINES,
    MISSING_MARKERS,
    check_names,
    detect_delimiter,
    refuse_infinity,
)
from hornbook.errors import HornbookError

ROWS_PER_FRAME = 1 << 16
"""Maximum number of rows of a frame, which bounds the memory."""

BYTES_PER_BLOCK = 1 << 22
"""Number of bytes of a text that are read at a time."""

PARQUET_SUFFIXES = (".parquet", ".pq")

TEXT_TYPES = ("int64", "float64", "string")
"""Types of text columns, narrowest first; a column gets the first that fits all its values."""


@dataclass(frozen=True, eq=False)
class TableStream:
    """The rows of a file as frames, each time it is iterated over; see `stream_table`."""

    path: Path
    markers: frozenset[str]
    delimiter: str

    def __iter__(self) -> Iterator[pd.DataFrame]:
        start = 0
        for batch in self._batches():
            columns = zip(self.columns, batch.columns, strict=True)
            frame = pd.DataFrame({name: self._series(name, column) for name, column in columns})
            frame.index = pd.RangeIndex(start, start + len(frame))
            refuse_infinity(frame)
            start += len(frame)
            yield frame

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return check_names(self._names)

    @cached_property
    def types(self) -> dict[str, str]:
        """The type of each text column, inferred by reading the whole file."""
        types: dict[str, str] = {}
        unknown: set[str] = set()
        for batch in self._batches():
            for name, column in zip(self.columns, batch.columns, strict=True):
                if types.get(name) != "string" and _is_text(column):
                    known = self._known(column)
                    types[name] = _narrowest_type(known, types.get(name, "int64"))
                    unknown |= {name} if known.null_count else set()
        # where a value is missing pandas has no whole numbers
        return {
            name: "float64" if kind == "int64" and name in unknown else kind for name, kind in types.items()
        }

    def _series(self, name: str, column: Any) -> pd.Series[Any]:
        if _is_text(column):
            column = self._known(column).cast(self.types[name])
        values: pd.Series[Any] = column.to_pandas()
        return values

    def _known(self, column: Any) -> Any:
        """Strip white space from texts, and replace the markers of missing values by null."""
        import pyarrow as pa
        import pyarrow.compute as pc

        trimmed = pc.utf8_trim_whitespace(column.cast(pa.string()))
        missing = pc.is_in(pc.utf8_lower(trimmed), pa.array(sorted(self.markers), pa.string()))
        return pc.if_else(missing, pa.scalar(None, pa.string()), trimmed)

    @cached_property
    def _names(self) -> list[str]:
        with _arrow_errors(self.path), self._opened() as file:
            return list((file.schema_arrow if self._is_parquet else file.schema).names)

    @property
    def _is_parquet(self) -> bool:
        return self.path.suffix.lower() in PARQUET_SUFFIXES

    def _batches(self) -> Iterator[Any]:
        with _arrow_errors(self.path), self._opened(dict.fromkeys(self._names, "string")) as file:
            for batch in file.iter_batches(ROWS_PER_FRAME) if self._is_parquet else file:
                for start in range(0, len(batch), ROWS_PER_FRAME):
                    yield batch[start : start + ROWS_PER_FRAME]

    def _opened(self, types: dict[str, str] | None = None) -> Any:
        """Open the file; `types` are the column types of a text."""
        if self._is_parquet:
            from pyarrow import parquet

            return parquet.ParquetFile(self.path, pre_buffer=False)
        from pyarrow import csv

        return csv.open_csv(
            self.path,
            csv.ReadOptions(block_size=BYTES_PER_BLOCK),
            csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )


def stream_table(
    path: str | Path, *, delimiter: str | None = None, missing: Iterable[str] = MISSING_MARKERS
) -> TableStream:
    r"""Open a table that is read some rows at a time, for files that do not fit into memory.

    Together, the frames equal the table that `read_table` reads: the same names, missing values,
    and columns of numbers or text. Since a word can follow ten million numbers, a file with text
    columns is read once before the first frame.

    Parameters
    ----------
    path
        A `.parquet` file, or a CSV, TSV or similar text with a header.
    delimiter
        The delimiter of a text; detected if not given.
    missing
        The markers of missing values, as for `read_table`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     _ = path.write_text("age,ill\n40,no\n?,yes\n")
    ...     for frame in stream_table(path):
    ...         print(frame)
        age  ill
    0  40.0   no
    1   NaN  yes

    """
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise HornbookError(
            'reading a file in parts needs pyarrow: pip install "hornbook[parquet]"'
        ) from None
    path = Path(path)
    if not path.is_file():
        raise HornbookError(f"there is no file {str(path)!r}")
    if path.suffix.lower() not in PARQUET_SUFFIXES and delimiter is None:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            delimiter = detect_delimiter("".join(file.readline() for _ in range(2 * DELIMITER_LINES)))
    return TableStream(path, frozenset(marker.strip().lower() for marker in missing), delimiter or ",")


def _is_text(column: Any) -> bool:
    from pyarrow import types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _narrowest_type(known: Any, least: str) -> str:
    """Return the narrowest type, not below `least`, to which all texts can be converted."""
    import pyarrow as pa

    for kind in TEXT_TYPES[TEXT_TYPES.index(least) : -1]:
        try:
            known.cast(kind)
        except pa.ArrowInvalid:
            continue
        return kind
    return TEXT_TYPES[-1]


@contextmanager
def _arrow_errors(path: Path) -> Iterator[None]:
    """Turn pyarrow's errors about a file into HornbookError."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowInvalid as error:
        raise HornbookError(f"{path.name}: {error}") from None
