"""Table files: CSV, ARFF and Parquet, possibly compressed, as parts of some rows each."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from hornbook.errors import HornbookError, library
from hornbook.memory import available_memory
from hornbook.tables.compressed import content_suffix, open_bytes
from hornbook.tables.rows import check_names
from hornbook.tables.text_format import PLAIN_TEXT, TextFormat, detect_delimiter

PARQUET_SUFFIXES = (".parquet", ".pq")
PARQUET_START = b"PAR1"

MANY_CELLS = 10**8
"""Number of values up to which a Parquet file may be of any size."""

MAX_CELLS_PER_BYTE = 1000
"""Largest number of values that a byte of a Parquet file may stand for if they are many."""

BYTES_A_CHARACTER = 15
"""Memory that a character of a table takes while the table is read, about: cells are texts at first."""

OTHER_KINDS = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"ARROW1": "an Arrow file",
    b"PARE": "an encrypted Parquet file",
}
"""What else a file may be, by its first bytes."""

ROWS_PER_PART, CELLS_PER_PART = 1 << 14, 1 << 21
"""Most rows, and most values of a wide table, that are read at a time."""

MAX_SHOWN_CHARACTERS = 120
"""Length to which names of files and messages of other libraries are cut."""


@contextmanager
def open_parts(
    path: Path, text_format: TextFormat, names: Sequence[str] | None, whole: bool
) -> Iterator[tuple[Iterator[pd.DataFrame], TextFormat | None]]:
    """Open a table file: its rows in parts, and its format if it is a text; errors name the file.

    Cells of texts stay texts. A Parquet file that is read as a `whole` comes in one part.
    """
    with _name_errors(path):
        suffix = _find_suffix(path)
        if whole:
            _refuse_beyond_memory(path)
        if suffix in PARQUET_SUFFIXES:
            if text_format != TextFormat():
                raise HornbookError(f"a Parquet file has no {text_format.describe()}; leave that out")
            yield _parquet_parts(path, whole), None
        elif suffix == ".arff":
            arff_format = replace(PLAIN_TEXT, encoding=text_format.resolve_encoding(path).encoding)
            if other := text_format.without(arff_format).describe():
                raise HornbookError(f"an ARFF file has no {other}; leave that out")
            with arff_format.open_text(path) as file:
                yield _arff_parts(file), arff_format
        else:
            full_format = _resolve_delimiter(text_format.resolve_encoding(path), path, names)
            delimiter = full_format.delimiter or ","
            yield _delimited_parts(lambda: full_format.open_text(path), delimiter, names), full_format


def _refuse_beyond_memory(path: Path) -> None:
    """Refuse a file that cannot fit into memory as a whole; of a compressed one that is not known yet."""
    size, free = path.stat().st_size, available_memory()
    if free is not None and size * BYTES_A_CHARACTER > free:
        needed = size * BYTES_A_CHARACTER
        raise HornbookError(
            f"as a whole it takes about {needed / (1 << 30):,.0f} GiB of memory, and "
            f"{free / (1 << 30):,.1f} GiB are free; give parts of at most {free // BYTES_A_CHARACTER:,} bytes"
        )


def _find_suffix(path: Path) -> str:
    """The suffix of a table file, `.parquet` if it begins like one; refuse what is no table."""
    if os.path.isdir(path):
        raise HornbookError("this is a folder; give a table file")
    if not os.path.isfile(path):
        raise HornbookError("this is not a file on disk, which is needed to read it twice; save it first")
    with path.open("rb") as file:
        start = file.read(16)
    with open_bytes(path) as file:
        content = file.read(16)
    kind = next((kind for first, kind in OTHER_KINDS.items() if content.startswith(first)), None)
    if kind is not None:
        raise HornbookError(f"this is {kind}; save the table as CSV or Parquet")
    is_parquet, suffix = content.startswith(PARQUET_START), content_suffix(path)
    if is_parquet and content != start:
        raise HornbookError("this is a Parquet file, compressed once more; decompress it")
    if suffix in PARQUET_SUFFIXES and not is_parquet:
        raise HornbookError("this is no Parquet file: it does not begin with PAR1; get it again")
    return PARQUET_SUFFIXES[0] if is_parquet else suffix


def _resolve_delimiter(text_format: TextFormat, path: Path, names: Sequence[str] | None) -> TextFormat:
    """The format with the delimiter of a file, detected if it is not given."""
    if text_format.delimiter is not None:
        return text_format
    with text_format.open_text(path) as file:
        return replace(text_format, delimiter=detect_delimiter(file, len(names) if names else None))


def _parquet_parts(path: Path, whole: bool) -> Iterator[pd.DataFrame]:
    """Yield the rows of a Parquet file; whatever its library raises is damage."""
    library("pyarrow", "parquet")
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path, pre_buffer=False) as file:
            claimed, width, size = file.metadata.num_rows, file.metadata.num_columns, path.stat().st_size
            if claimed * width > max(MANY_CELLS, MAX_CELLS_PER_BYTE * size):
                raise HornbookError(
                    f"it claims {claimed:,} rows of {width:,} columns in {size:,} bytes; get it again"
                )
            rows = 0
            for part in [file.read()] if whole else file.iter_batches(ROWS_PER_PART):
                part.validate(full=True)  # its texts too
                rows += part.num_rows
                yield part.to_pandas()
            if not claimed:
                yield file.schema_arrow.empty_table().to_pandas()
            if rows != claimed:
                raise HornbookError(f"it claims {claimed:,} rows and has {rows:,}; get it again")
    except (HornbookError, MemoryError):
        raise
    except Exception as error:
        reason = shorten(str(error)) or type(error).__name__
        raise HornbookError(f"the Parquet file is damaged or cut short ({reason}); get it again") from None


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
    delimiter = delimiter or detect_delimiter(StringIO(text, newline=""), len(names) if names else None)
    parts = _delimited_parts(lambda: StringIO(text, newline=""), delimiter, names)
    return pd.concat(parts, ignore_index=True)


def _delimited_parts(
    open_text: Callable[[], TextIO], delimiter: str, names: Sequence[str] | None
) -> Iterator[pd.DataFrame]:
    """Yield the rows of a text in parts, the first of which has none."""
    with open_text() as file:
        reader = _csv_reader(file, delimiter)
        with _csv_errors(reader):
            header = names or next(filter(_is_full, reader), None)
        if header is None:
            raise HornbookError("the file is empty; its first line should name the columns")
        columns, width = check_names(header), len(header)
        yield pd.DataFrame(columns=columns, dtype=object)
        while rows := _next_rows(reader, width):
            full = [row for row in rows if len(row) == width > 1 or _is_full(row)]
            if any(len(row) != width for row in full):
                _refuse_uneven(open_text, delimiter, width)
            cells = np.array(full, dtype=object).reshape(len(full), width)
            yield pd.DataFrame(cells, columns=columns, dtype=object)


def _csv_reader(file: TextIO, delimiter: str) -> Any:
    """Read rows of a text; quotes that are not closed are errors."""
    return csv.reader(file, delimiter=delimiter, skipinitialspace=not delimiter.isspace(), strict=True)


def _next_rows(reader: Any, width: int) -> list[list[str]]:
    """The next rows of a text, blank ones too."""
    with _csv_errors(reader):
        return list(islice(reader, max(1, min(ROWS_PER_PART, CELLS_PER_PART // width))))


def _is_full(row: list[str]) -> bool:
    """Whether a row is not a blank line."""
    return len(row) > 1 or bool("".join(row).strip())


@contextmanager
def _csv_errors(reader: Any) -> Iterator[None]:
    """Say where a text is not CSV, and what to do about it."""
    try:
        yield
    except csv.Error as error:
        advice = {
            "unexpected end of data": "a quote is opened and not closed; is the file cut short?",
            "field larger": "a value has more than 131,072 characters; is a quote opened and not closed?",
            "expected after": "a quote inside a quoted value is to be written twice",
        }
        reason = next((text for key, text in advice.items() if key in str(error)), shorten(str(error)))
        raise HornbookError(f"line {reader.line_num}: {reason}") from None


def _refuse_uneven(open_text: Callable[[], TextIO], delimiter: str, width: int) -> None:
    """Refuse the first row of a text with more or fewer values than columns, naming its line."""
    with open_text() as file:
        reader = _csv_reader(file, delimiter)
        for row in filter(_is_full, reader):
            _check_width(row, width, reader.line_num, delimiter)


def _check_width(row: list[str], width: int, line: int, delimiter: str) -> None:
    """Refuse a row with more or fewer values than columns."""
    if len(row) != width:
        raise HornbookError(
            f"line {line} has {len(row)} values and there are {width} columns; "
            f"is the delimiter {delimiter!r}, and are values with a delimiter quoted?"
        )


def _arff_parts(file: TextIO) -> Iterator[pd.DataFrame]:
    """Yield the rows of a dense ARFF text in parts, the first of which has none."""
    names: list[str] = []
    lines = enumerate(file, 1)
    for number, line in lines:
        words = line.strip()
        if re.match(r"@attribute\b", words, re.IGNORECASE):
            match = re.match(r"""@attribute\s+('[^']*'|"[^"]*"|\S+)\s+\S""", words, re.IGNORECASE)
            if not match:
                raise HornbookError(f"line {number}: expected '@attribute name type'; got {shorten(words)!r}")
            names.append(match[1].strip("'\""))
        elif re.match(r"@data\b", words, re.IGNORECASE):
            break
    else:
        raise HornbookError("not ARFF: there is no line '@data'")
    columns = check_names(names)
    yield pd.DataFrame(columns=columns, dtype=object)
    rows = _arff_rows(lines, len(columns))
    while part := list(islice(rows, ROWS_PER_PART)):
        yield pd.DataFrame(part, columns=columns, dtype=object)


def _arff_rows(lines: Iterable[tuple[int, str]], width: int) -> Iterator[list[str]]:
    """Yield the rows of the data of an ARFF text."""
    for number, line in lines:
        stripped = line.strip()
        if stripped.startswith("{"):
            raise HornbookError(f"line {number}: sparse ARFF rows are not read; save the data as dense")
        if stripped and not stripped.startswith("%"):
            quote = re.search("['\"]", stripped)
            reader = csv.reader([stripped], quotechar=quote[0] if quote else '"', skipinitialspace=True)
            try:
                row = next(reader)
            except csv.Error as error:
                raise HornbookError(f"line {number}: {error}") from None
            _check_width(row, width, number, ",")
            yield row


def shorten(text: str) -> str:
    """A text as one line of at most so many characters that a message stays readable."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_SHOWN_CHARACTERS else f"{line[: MAX_SHOWN_CHARACTERS - 1]}…"


@contextmanager
def _name_errors(path: Path) -> Iterator[None]:
    """Name the file in errors about its content."""
    if not os.path.exists(path):
        raise HornbookError(f"there is no file {shorten(str(path))!r}")
    try:
        yield
    except HornbookError as error:
        raise HornbookError(f"{shorten(path.name)}: {error}") from None
    except OSError as error:
        raise HornbookError(f"{shorten(path.name)} cannot be read: {error.strerror or error}") from None
    except UnicodeError as error:
        raise HornbookError(
            f"{shorten(path.name)} holds bytes that are no text: {shorten(str(error))}"
        ) from None
    except MemoryError:
        raise HornbookError(
            f"{shorten(path.name)} does not fit into memory; read some of its rows by max_rows=…"
        ) from None
