"""Table files: CSV, ARFF and Parquet, read as a whole, or as a sample where memory does not hold them."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from hornbook.errors import HornbookError, library
from hornbook.randomness import Purpose, generator

DELIMITERS = (",", ";", "\t", "|")
DELIMITER_LINES = 50
"""Number of lines from which the delimiter is detected."""

MISSING_MARKERS = ("?", "", "NA", "NaN")
"""Markers of a missing value, in upper or lower case."""

PARQUET_SUFFIXES = (".parquet", ".pq")

ROWS_PER_PART = 1 << 14
"""Number of rows that are read at a time while a file is sampled."""


def read_rows(
    parts: Callable[[], Iterable[pd.DataFrame]],
    markers: frozenset[str],
    max_rows: int | None,
    seed: int,
) -> pd.DataFrame:
    """Read a table that comes in parts: all rows, or at most `max_rows` of them, drawn uniformly.

    A column becomes one of numbers only if all its values in all parts are numbers. So the parts
    are read a second time if a column begins with numbers and has words in a later part.

    Parameters
    ----------
    parts
        Returns the parts of the table in order, each time it is called; cells may be texts.
    markers
        The markers of missing values, in lower case.
    max_rows
        The largest number of rows to return, in the order of the table; None for all.
    seed
        The seed of the sample.

    """
    texts: set[str] = set()
    while True:
        reservoir = _Reservoir(max_rows, generator(seed, Purpose.FILE_ROWS))
        late_texts: set[str] = set()
        for number, part in enumerate(parts()):
            names = check_names(list(part.columns))
            named = part.set_axis(names, axis=1)
            columns = {name: _parse_column(named[name], markers, name in texts) for name in names}
            found = {name for name in names if name not in texts and _is_text(columns[name])}
            texts |= found
            late_texts |= found if number else set()
            reservoir.add(pd.DataFrame(columns, index=part.index))
        if not late_texts:
            return reservoir.rows()


class _Reservoir:
    """A uniform sample of the rows seen so far: those with the smallest random keys."""

    def __init__(self, size: int | None, rng: np.random.Generator) -> None:
        self.size, self.rng = size, rng
        self.parts: list[pd.DataFrame] = []
        self.keys = np.zeros(0)  # (rows of all parts,)
        self.largest_key = 1.0

    def add(self, part: pd.DataFrame) -> None:
        """Add the next rows of the table; at most twice the sample stays in memory."""
        keys = self.rng.random(len(part))
        chosen = keys < self.largest_key
        self.parts.append(part[chosen])
        self.keys = np.append(self.keys, keys[chosen])
        if self.size is not None and len(self.keys) > 2 * self.size:
            self._prune()

    def rows(self) -> pd.DataFrame:
        """The sample, in the order of the table."""
        self._prune()
        return self.parts[0].reset_index(drop=True)

    def _prune(self) -> None:
        """Keep the rows with the smallest keys."""
        kept = np.sort(np.argsort(self.keys)[: self.size])
        self.parts = [pd.concat(self.parts, ignore_index=True).iloc[kept]]
        self.keys = self.keys[kept]
        if self.size is not None and len(kept) == self.size:
            self.largest_key = float(self.keys.max())


def iterate_parts(
    path: Path, delimiter: str | None, names: Sequence[str] | None, max_rows: int | None
) -> Iterator[pd.DataFrame]:
    """Yield the rows of a file, in parts if `max_rows` is given; the cells of a text file stay texts."""
    if not path.is_file():
        raise HornbookError(f"there is no file {str(path)!r}")
    suffix = path.suffix.lower()
    with _file_errors(path):
        if suffix in PARQUET_SUFFIXES:
            library("pyarrow", "parquet")
            if max_rows is None:
                yield pd.read_parquet(path)
                return
            from pyarrow.parquet import ParquetFile

            for batch in ParquetFile(path, pre_buffer=False).iter_batches(ROWS_PER_PART):
                yield batch.to_pandas()
        elif suffix == ".arff":
            yield read_arff(path.read_text("utf-8-sig"))
        else:
            with path.open(encoding="utf-8-sig", newline="") as file:
                header, rows = _delimited_rows(file, delimiter, names)
                size = None if max_rows is None else ROWS_PER_PART
                part = list(islice(rows, size))
                yield pd.DataFrame(part, columns=header, dtype=object)
                while part := list(islice(rows, size)):
                    yield pd.DataFrame(part, columns=header, dtype=object)


def read_delimited(
    text: str, delimiter: str | None = None, names: Sequence[str] | None = None
) -> pd.DataFrame:
    r"""Parse a CSV, TSV or similar text; the first line has the names unless they are given.

    Examples
    --------
    >>> print(read_delimited("age;sex\n40;male\n"))
      age   sex
    0  40  male

    """
    header, rows = _delimited_rows(StringIO(text, newline=""), delimiter, names)
    return pd.DataFrame(list(rows), columns=header, dtype=object)


def _delimited_rows(
    file: TextIO, delimiter: str | None, names: Sequence[str] | None
) -> tuple[list[str], Iterator[list[str]]]:
    """Return the column names of a text, and its rows."""
    delimiter = delimiter or detect_delimiter(islice(file, 2 * DELIMITER_LINES))
    file.seek(0)
    numbered = _numbered_rows(file, delimiter)
    if names is None:
        _, names = next(numbered, (0, None))
    if names is None:
        raise HornbookError("the file is empty; its first line should name the columns")
    return check_names(names), refuse_uneven(numbered, len(names), delimiter)


def _numbered_rows(file: TextIO, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a text that are not blank, each with the number of its line."""
    reader = csv.reader(file, delimiter=delimiter, skipinitialspace=delimiter != "\t")
    try:
        for row in reader:
            if len(row) > 1 or "".join(row).strip():
                yield reader.line_num, row
    except csv.Error as error:
        raise HornbookError(f"line {reader.line_num}: {error}") from None


def detect_delimiter(text: Iterable[str]) -> str:
    """Detect the delimiter that splits most of the first lines into the same number of values."""
    lines = [line for line in text if line.strip()][:DELIMITER_LINES]

    def score(delimiter: str) -> tuple[int, int]:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        except csv.Error:
            return 0, 0
        first = widths[0] if widths else 1
        return (sum(width == first for width in widths) if first > 1 else 0), first

    return max(DELIMITERS, key=score)


def read_arff(text: str) -> pd.DataFrame:
    """Parse a dense ARFF text."""
    names: list[str] = []
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        words = line.strip()
        if re.match(r"@attribute\b", words, re.IGNORECASE):
            match = re.match(r"""@attribute\s+('[^']*'|"[^"]*"|\S+)\s+\S""", words, re.IGNORECASE)
            if not match:
                raise HornbookError(f"line {number}: expected '@attribute name type'; got {words!r}")
            names.append(match[1].strip("'\""))
        elif re.match(r"@data\b", words, re.IGNORECASE):
            rows = refuse_uneven(_arff_rows(lines[number:], number), len(names), ",")
            return pd.DataFrame(list(rows), columns=check_names(names), dtype=object)
    raise HornbookError("not ARFF: there is no line '@data'")


def _arff_rows(lines: list[str], offset: int) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, offset + 1):
        stripped = line.strip()
        if stripped.startswith("{"):
            raise HornbookError(f"line {number}: sparse ARFF rows are not read; save the data as dense")
        if stripped and not stripped.startswith("%"):
            quote = re.search("['\"]", stripped)
            row = csv.reader([stripped], quotechar=quote[0] if quote else '"', skipinitialspace=True)
            yield number, next(row)


def check_names(names: Sequence[object]) -> list[str]:
    """Return the names with single spaces; refuse empty and repeated ones."""
    clean = [" ".join(str(name).split()) for name in names]
    for position, name in enumerate(clean):
        if not name:
            raise HornbookError(f"column {position + 1} has no name; name it in the header")
        if name in clean[:position]:
            first = clean.index(name) + 1
            raise HornbookError(f"columns {first} and {position + 1} are both called {name!r}; rename one")
    return clean


def refuse_uneven(
    numbered: Iterable[tuple[int, list[str]]], width: int, delimiter: str
) -> Iterator[list[str]]:
    """Yield the rows; refuse one with more or fewer values than columns, naming its line."""
    for number, row in numbered:
        if len(row) != width:
            raise HornbookError(
                f"line {number} has {len(row)} values and there are {width} columns; "
                f"is the delimiter {delimiter!r}, and are values with a delimiter quoted?"
            )
        yield row


def _is_text(column: pd.Series[Any]) -> bool:
    """Whether a column holds texts, or objects of any type."""
    return bool(pd.api.types.is_string_dtype(column)) or column.dtype == object


def _parse_column(column: pd.Series[Any], markers: frozenset[str], as_text: bool) -> pd.Series[Any]:
    """Replace the missing markers of a text column by NaN, and convert it to numbers if possible.

    `as_text` leaves numbers as they are written.
    """
    if not _is_text(column):
        return column
    stripped = [value.strip() if isinstance(value, str) else value for value in column]
    known = pd.Series(
        [np.nan if isinstance(value, str) and value.lower() in markers else value for value in stripped],
        index=column.index,
        name=column.name,
        dtype=column.dtype,
    )
    if as_text:
        return known
    try:
        return pd.to_numeric(known)
    except (ValueError, TypeError):
        return known


@contextmanager
def _file_errors(path: Path) -> Iterator[None]:
    """Name the file in errors about its content."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise HornbookError(f"{path.name} is not UTF-8 text (byte {error.start}); convert it first") from None
    except HornbookError as error:
        raise HornbookError(f"{path.name}: {error}") from None
