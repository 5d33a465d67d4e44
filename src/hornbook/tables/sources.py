"""Sources of rows, a file or a query, as queries in SQL that DuckDB answers.

Compressed files are decompressed, and texts in another encoding than UTF-8 rewritten, in a temporary folder.
"""

from __future__ import annotations

import codecs
import csv
import glob
import gzip
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hornbook.errors import HornbookError
from hornbook.tables.frames import check_names

DELIMITERS = (",", ";", "\t", "|")
DECIMALS = (".", ",")
THOUSANDS = ("", ",", ".", " ", "'")

SIGN_NAMES = {"\t": "tab", " ": "space", "": "none"}
"""Words for signs that are not seen in a description."""

JOINED_WORDS = "␣"
"""The sign between words of one value in a description, whose parts have spaces between them."""

PARQUET_SUFFIXES = (".parquet", ".pq")
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".data")

GZIP_START, ZSTD_START, PARQUET_START = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"
"""The first bytes of files of these kinds."""

QUERY_TYPES = ["BIGINT", "DOUBLE", "TIME", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR"]
"""The types that columns of a text have in a query: all that DuckDB tries but truth values."""

START_BYTES = 1 << 10
"""Bytes at the start of a file by which texts are told from what is none."""

MAX_LINE_BYTES = 1 << 21
"""Length of the longest line of a text."""

MAX_SHOWN_CHARACTERS = 120
"""Length to which names of files and messages of other libraries are cut."""

OTHER_ENCODING = "If it is in another encoding, name it, such as encoding='cp1252' (--csv encoding=cp1252)"


@dataclass(frozen=True)
class TextFormat:
    """How a table is written as text; None is what is usual, and the delimiter that the header has.

    Parameters
    ----------
    delimiter
        The sign between values.
    encoding
        The name of the encoding, such as `cp1252`; UTF-8 by default.
    decimal
        The decimal sign of numbers, a comma or a point.
    thousands
        The sign between groups of three digits: a comma, a point, a space or an apostrophe; none.
    missing
        Further words that stand for missing values, with commas between them.

    Examples
    --------
    >>> text_format = TextFormat.parse("delimiter=; decimal=,")
    >>> text_format.delimiter, text_format.decimal, text_format.encoding
    (';', ',', None)
    >>> text_format.describe()
    'delimiter=; decimal=,'

    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing: str | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\0\r\n'):
            raise HornbookError(f"the delimiter is one character, such as ; or tab; got {self.delimiter!r}")
        if self.decimal not in (None, *DECIMALS):
            raise HornbookError(f"the decimal sign is . or ,; got {self.decimal!r}")
        if self.thousands not in (None, *THOUSANDS):
            raise HornbookError(f"the sign between thousands is , . ' space or none; got {self.thousands!r}")
        if self.decimal is not None and self.decimal == self.thousands:
            raise HornbookError(f"{self.decimal!r} is either the decimal sign or between thousands, not both")
        with suppress(LookupError, ValueError):
            "".encode(self.encoding or "utf-8")
            return
        raise HornbookError(
            f"there is no encoding {self.encoding!r}; there are utf-8, cp1252, utf-16 and others"
        )

    @property
    def markers(self) -> list[str]:
        """The further words that stand for missing values."""
        return [] if self.missing is None else self.missing.split(",")

    @classmethod
    def parse(cls, text: str) -> TextFormat:
        """Read a description: `name=sign`, separated by spaces, with the words tab, space and none."""
        signs = {word: sign for sign, word in SIGN_NAMES.items()}
        values: dict[str, str] = {}
        names = [field.name for field in fields(cls)]
        for item in text.split():
            name, equals, value = item.partition("=")
            if name not in names or not equals or not value or name in values:
                raise HornbookError(
                    f"{item!r} is not one of {'=…, '.join(names)}=…, once each, separated by spaces"
                )
            is_sign = name not in ("encoding", "missing")
            values[name] = signs.get(value, value) if is_sign else value.replace(JOINED_WORDS, " ")
        return cls(**values)

    def describe(self) -> str:
        """The format as `parse` reads it, without what is unknown."""
        return " ".join(
            f"{field.name}={SIGN_NAMES.get(value, value.replace(' ', JOINED_WORDS))}"
            for field in fields(self)
            if (value := getattr(self, field.name)) is not None
        )


@dataclass(frozen=True)
class Source:
    """Rows as a query, the names of their columns, and the format of a text."""

    connection: Any
    query: str
    names: list[str]
    text_format: TextFormat | None


def is_query(source: object) -> bool:
    """Whether a source is a query rather than the path of a file.

    Examples
    --------
    >>> is_query("SELECT * FROM 'visits/*.parquet'"), is_query("selected.csv")
    (True, False)

    """
    return isinstance(source, str) and re.match(r"\s*(select|with|from)\s", source, re.IGNORECASE) is not None


def is_source(source: str) -> bool:
    """Whether there is something to read: a file, or a query."""
    return is_query(source) or os.path.isfile(source)


def names_table(source: str) -> bool:
    """Whether it is a query, or a file whose name says that it is a table and nothing else."""
    return is_query(source) or _content_suffix(source) in (".csv", ".tsv", *PARQUET_SUFFIXES)


def name_source(source: str | Path) -> str:
    """The name of a source: that of a file, or the query."""
    return shorten(str(source)) if is_query(source) else Path(source).name or str(source)


def shorten(text: str) -> str:
    """Shorten a text to one line of at most `MAX_SHOWN_CHARACTERS` characters."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_SHOWN_CHARACTERS else f"{line[: MAX_SHOWN_CHARACTERS - 1]}…"


def quote(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def _content_suffix(source: str | Path) -> str:
    """The suffix of a file's content, in lower case: `.json` for `table.json.gz`."""
    path = Path(source)
    return Path(path.stem if path.suffix.lower() in (".gz", ".zst") else path).suffix.lower()


@contextmanager
def open_source(
    source: str | Path, text_format: TextFormat, names: Sequence[str] | None = None
) -> Iterator[Source]:
    """Open a source; errors name it.

    `text_format` is what is known of the format of a text, `names` are its columns if it has no header.
    """
    folder = Path(mkdtemp(prefix="hornbook-"))
    error_of_query = import_module("duckdb").Error
    try:
        with connect(folder) as connection:
            yield _find_rows(connection, source, folder, text_format, names)
    except HornbookError as error:
        raise HornbookError(f"{shorten(name_source(source))}: {error}") from None
    except error_of_query as error:
        reason = _explain(re.sub(r"['\"]?/\S*['\"]?", "", str(error)))  # without paths
        raise HornbookError(f"{shorten(name_source(source))}: {reason}") from None
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or shorten(str(error))
        raise HornbookError(f"{shorten(name_source(source))} cannot be read: {reason}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def connect(folder: Path) -> Iterator[Any]:
    """Start DuckDB on one thread, so that rows keep their order; it installs nothing, and leaves nothing."""
    settings = {
        "threads": 1,
        "temp_directory": str(folder),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "disabled_optimizers": "common_subexpressions,in_clause",  # slow where there are many columns
    }
    with import_module("duckdb").connect(config=settings) as connection:
        yield connection


def _find_rows(
    connection: Any, source: str | Path, folder: Path, known: TextFormat, names: Sequence[str] | None
) -> Source:
    """The rows of a query, or of a file by its first bytes and its name."""
    if is_query(source):
        query = _write_query(connection, str(source))
    else:
        if os.path.isdir(source):
            raise HornbookError(
                f"a folder is no table; name its files in a query: SELECT * FROM '{source}/*.csv'"
            )
        if not os.path.isfile(source):
            raise HornbookError(
                "there is no such file; several files are read by a query: SELECT * FROM 'visits/*.parquet'"
            )
        plain = _decompress(Path(source), folder)
        with plain.open("rb") as file:
            start = file.read(START_BYTES)
        if start.startswith(PARQUET_START):
            query = f"FROM read_parquet({_quote_path(plain)})"
        elif _content_suffix(source) in PARQUET_SUFFIXES:
            raise HornbookError("this is not a Parquet file: it does not begin with PAR1; get it again")
        elif _content_suffix(source) in JSON_SUFFIXES:
            query = f"FROM read_json({_quote_path(plain)}, sample_size = -1)"
        else:
            return _read_text(connection, plain, start, folder, known, names)
    if known != TextFormat():
        raise HornbookError(f"what is not text has no {known.describe()}; leave that out")
    return Source(connection, query, check_names(connection.sql(query).columns), None)


def _quote_path(path: Path) -> str:
    """The path of one file in SQL, whatever signs of patterns are in it."""
    return quote(glob.escape(str(path)))


def _write_query(connection: Any, query: str) -> str:
    """A user's query as a source of rows; words for yes and no in its texts stay words, as in files."""
    suffixes = "|".join(map(re.escape, TEXT_SUFFIXES))
    for name in set(re.findall(rf"['\"]([^'\"]+(?:{suffixes})(?:\.gz|\.zst)?)['\"]", query)):
        if glob.glob(name, recursive=True):
            rows = f"read_csv({quote(name)}, auto_type_candidates = {QUERY_TYPES})"
            connection.execute(f'CREATE TEMP VIEW "{name}" AS FROM {rows}')
    return f"FROM ({query.strip().rstrip(';')}\n)"


def _decompress(path: Path, folder: Path) -> Path:
    """The file, or a decompressed one in a folder if its first bytes say that it is compressed."""
    with path.open("rb") as file:
        start = file.read(4)
    is_gzip = start.startswith(GZIP_START)
    if not is_gzip and start != ZSTD_START:
        return path
    zstd = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    plain = folder / "decompressed"
    try:
        with (gzip if is_gzip else import_module(zstd)).open(path) as content, plain.open("wb") as target:
            shutil.copyfileobj(content, target)
    except Exception as error:  # whatever its library raises is damage
        reason = shorten(str(error)) or type(error).__name__
        raise HornbookError(f"the compressed file is damaged or cut short ({reason}); get it again") from None
    return plain


def _read_text(
    connection: Any, path: Path, start: bytes, folder: Path, known: TextFormat, names: Sequence[str] | None
) -> Source:
    """The cells of a text."""
    encoding = known.encoding or "utf-8"
    if codecs.lookup(encoding).name != "utf-8":
        path = _rewrite_plainly(path, folder, encoding)
    elif b"\0" in start or start.startswith(b"PK"):
        raise HornbookError(
            "this is no text, or in another encoding, such as encoding='utf-16' (--csv encoding=utf-16); "
            "save an Excel workbook as CSV or Parquet"
        )
    try:
        delimiter = known.delimiter or _find_delimiter(path)
        header, skip = _read_header(path, delimiter) if names is None else (names, 0)
    except UnicodeError:
        raise HornbookError(f"the file is not {encoding} text. {OTHER_ENCODING}") from None
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(header)))
    query = (
        f"FROM read_csv({_quote_path(path)}, auto_detect = false, columns = {{{columns}}}, "
        f"header = false, skip = {skip}, delim = {quote(delimiter)}, quote = '\"', escape = '\"', "
        f"compression = 'none', strict_mode = true, null_padding = false, max_line_size = {MAX_LINE_BYTES})"
    )
    if len(header) == 1:  # without blank lines
        query += " WHERE trim(c0) <> ''"
    text_format = replace(
        known,
        delimiter=delimiter,
        encoding=encoding,
        decimal=known.decimal or ".",
        thousands=known.thousands or "",
    )
    return Source(connection, query, check_names(header), text_format)


def _rewrite_plainly(path: Path, folder: Path, encoding: str) -> Path:
    """A text of another encoding as UTF-8."""
    plain = folder / "plain"
    try:
        with path.open(encoding=encoding) as text, plain.open("w", encoding="utf-8", newline="\n") as target:
            shutil.copyfileobj(text, target)
    except UnicodeError:
        raise HornbookError(f"the file is not {encoding} text. {OTHER_ENCODING}") from None
    return plain


def _find_delimiter(path: Path) -> str:
    """The delimiter that the header has most."""
    with path.open(encoding="utf-8-sig") as file:
        header = re.sub(r'"[^"]*"', "", next(filter(str.strip, file), ""))
    return max(DELIMITERS, key=header.count)


def _read_header(path: Path, delimiter: str) -> tuple[list[str], int]:
    """The names in the first line of a text that is not blank, and the number of lines with it."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, skipinitialspace=not delimiter.isspace(), strict=True)
        try:
            for lines, row in enumerate(reader, 1):
                if len(row) > 1 or "".join(row).strip():
                    return row, lines
        except csv.Error as error:
            raise HornbookError(f"line {reader.line_num}: {shorten(str(error))}") from None
    raise HornbookError("the file is empty; its first line should name the columns")


def _explain(text: str) -> str:
    """What is wrong with a file or a query, in one line; DuckDB says it in several."""
    if line := re.search(r"CSV Error on Line: (\d+)", text):
        if widths := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
            return (
                f"line {line[1]} has {widths[2]} values and there are {widths[1]} columns; name the "
                "delimiter (--csv delimiter=;), and quote values that have it"
            )
        return (
            f"line {line[1]} cannot be read: is a quote not closed, or the file cut short? {OTHER_ENCODING}"
        )
    return shorten(re.sub(r"^\w+( \w+)? Error: ", "", text.partition("\n\n")[0]))
