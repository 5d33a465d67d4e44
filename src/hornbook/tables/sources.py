"""Sources of rows: files, folders, patterns and queries, as queries in SQL that DuckDB answers.

Compressed files are decompressed, and texts rewritten in UTF-8 where they are in another encoding.
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
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

COMPRESSION_SUFFIXES = (".gz", ".zst")
PARQUET_SUFFIXES = (".parquet", ".pq")
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".data")
TABLE_SUFFIXES = (*TEXT_SUFFIXES, *PARQUET_SUFFIXES, *JSON_SUFFIXES)
"""What files of a folder are tables."""

QUERY_TYPES = ["BIGINT", "DOUBLE", "TIME", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR"]
"""The types that columns of a text have in a query: all that DuckDB tries but truth values."""

PARQUET_START = b"PAR1"
OTHER_KINDS = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"ARROW1": "an Arrow file",
    b"PARE": "an encrypted Parquet file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
}
"""What else a file may be, by its first bytes."""

CHUNK_BYTES = 1 << 20
"""Number of bytes that are read at a time."""

MAX_EXPANSION = 200
"""Largest number of bytes that a compressed byte may become; tables become 3 to 50."""

SMALL_EXPANSION = 1 << 24
"""Number of bytes up to which a file may expand by any factor."""

MAX_LINE_BYTES = 1 << 21
"""Length of the longest line of a text."""

BAD_QUOTE = (
    "a quote is opened and not closed, or a quote inside a quoted value is not written twice; "
    "is the file cut short?"
)

NO_TEXT = (
    "holds NUL characters: the file is damaged, no text, or in another encoding, such as "
    "encoding='utf-16-le' (--csv encoding=utf-16-le)"
)
OTHER_ENCODING = "if it is in another encoding, name it, such as encoding='cp1252' (--csv encoding=cp1252)"

MAX_SHOWN_CHARACTERS = 120
"""Length to which names of files and messages of other libraries are cut."""


def _is_delimiter(sign: str) -> bool:
    """Whether a sign can stand between values, and in a description."""
    return len(sign) == 1 and sign not in '"\0' and (sign in "\t " or not sign.isspace())


def _is_encoding(name: str) -> bool:
    """Whether Python knows an encoding of texts by a name, of one word."""
    try:
        "".encode(name)
    except (LookupError, ValueError):
        return False
    return name.split() == [name]


@dataclass(frozen=True)
class TextFormat:
    """How a table is written as text; None is what is usual, and the delimiter that the text seems to have.

    Parameters
    ----------
    delimiter
        The sign between values.
    encoding
        The name of the encoding, such as `cp1252`; UTF-8, or UTF-16 after its byte order mark.
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
        if self.delimiter is not None and not _is_delimiter(self.delimiter):
            raise HornbookError(f"the delimiter is one character, such as ; or tab; got {self.delimiter!r}")
        if self.decimal not in (None, *DECIMALS):
            raise HornbookError(f"the decimal sign is . or ,; got {self.decimal!r}")
        if self.thousands not in (None, *THOUSANDS):
            raise HornbookError(f"the sign between thousands is , . ' space or none; got {self.thousands!r}")
        if self.decimal is not None and self.decimal == self.thousands:
            raise HornbookError(f"{self.decimal!r} is either the decimal sign or between thousands, not both")
        if self.encoding is not None and not _is_encoding(self.encoding):
            raise HornbookError(
                f"there is no encoding {self.encoding!r}; there are utf-8, cp1252, latin-1, utf-16 and others"
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

    def describe_guesses(self, given: TextFormat) -> str:
        """What was found out, since it was not given, and is not plain."""
        known, plain = asdict(given), asdict(PLAIN_TEXT)
        return TextFormat(
            **{
                name: None if known[name] is not None or value == plain[name] else value
                for name, value in asdict(self).items()
            }
        ).describe()


PLAIN_TEXT = TextFormat(",", "utf-8", ".", "")
"""The format that needs no mention."""


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
    """Whether there is something to read: a file, a folder, files that a pattern names, or a query."""
    return is_query(source) or os.path.exists(source) or bool(glob.glob(source, recursive=True))


def names_table(source: str) -> bool:
    """Whether it is a query, or a file whose name says that it is a table and nothing else."""
    return is_query(source) or _content_suffix(Path(source)) in (".csv", ".tsv", *PARQUET_SUFFIXES)


def name_source(source: str | Path) -> str:
    """The name of a source: that of a file or folder, or the query."""
    return shorten(str(source)) if is_query(source) else Path(source).name or str(source)


def shorten(text: str) -> str:
    """Shorten a text to one line of at most `MAX_SHOWN_CHARACTERS` characters."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_SHOWN_CHARACTERS else f"{line[: MAX_SHOWN_CHARACTERS - 1]}…"


@contextmanager
def _make_folder() -> Iterator[Path]:
    """A temporary folder; unlike Python's own it may also go with a generator that is not read to its end."""
    folder = mkdtemp(prefix="hornbook-")
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def connect() -> Iterator[Any]:
    """Start DuckDB on one thread, so that rows keep their order; it installs and leaves nothing."""
    with _make_folder() as folder:
        settings = {
            "threads": 1,
            "temp_directory": str(folder),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        with import_module("duckdb").connect(config=settings) as connection:
            disable_optimizers(connection)
            yield connection


def disable_optimizers(connection: Any, *further: str) -> None:
    """Disable two optimizers that take long where there are many columns, and further ones."""
    names = ",".join(("common_subexpressions", "in_clause", *further))
    connection.execute(f"SET disabled_optimizers = {quote(names)}")


@contextmanager
def open_source(
    source: str | Path, text_format: TextFormat, names: Sequence[str] | None = None
) -> Iterator[Source]:
    """Open a source; errors name it, and a file that changes before it is closed is refused.

    `text_format` is what is known of the format of texts, `names` are their columns if they have no header.
    """
    files = [] if is_query(source) else list_files(str(source))
    with _name_errors(source), _make_folder() as folder, connect() as connection:
        before = _stamp(files)
        plain = [_decompress(path, folder) for path in files]
        kinds = {_find_kind(path, given) for path, given in zip(plain, files, strict=True)}
        if len(kinds) > 1:
            raise HornbookError(f"there are files of several kinds: {', '.join(sorted(kinds))}")
        try:
            if "csv" in kinds:
                yield _read_texts(connection, plain, folder, text_format, names)
            else:
                if text_format != TextFormat():
                    raise HornbookError(f"what is not text has no {text_format.describe()}; leave that out")
                query = _query_files(plain, *kinds) if files else _write_query(connection, str(source))
                yield Source(connection, query, check_names(connection.sql(query).columns), None)
        except import_module("duckdb").Error as error:
            _refuse_changes(files, before)
            reason = _explain(re.sub(r'"?/\S*"? ?', "", str(error)))  # without the paths of plain copies
            if "parquet" in kinds and len(files) == 1:
                reason = f"the Parquet file is damaged or cut short ({reason}); get it again"
            raise HornbookError(reason) from None
        _refuse_changes(files, before)


def list_files(source: str) -> list[Path]:
    """The files of a source: itself, those of a folder, or those that a pattern names."""
    if os.path.isfile(source):
        return [Path(source)]
    if os.path.isdir(source):
        paths = [each for each in sorted(Path(source).rglob("*")) if _content_suffix(each) in TABLE_SUFFIXES]
        if not paths:
            raise HornbookError(f"{shorten(source)}: there is no CSV, Parquet or JSON file in this folder")
        return paths
    if os.path.exists(source):
        raise HornbookError(
            f"{shorten(source)}: this is not a file on disk, which is needed to read it twice; save it first"
        )
    paths = [Path(each) for each in sorted(glob.glob(source, recursive=True)) if os.path.isfile(each)]
    if not paths:
        raise HornbookError(f"there is no file {shorten(source)!r}")
    return paths


def _stamp(files: Sequence[Path]) -> list[tuple[int, int]]:
    """The times and sizes of files, which tell whether one has changed."""
    return [(status.st_mtime_ns, status.st_size) for status in map(os.stat, files)]


def _refuse_changes(files: Sequence[Path], before: list[tuple[int, int]]) -> None:
    """Refuse files that are not what they were."""
    if _stamp(files) != before:
        raise HornbookError("it changed while it was read; run the command again")


@contextmanager
def _name_errors(source: str | Path) -> Iterator[None]:
    """Name the source in errors about its content."""
    name = shorten(name_source(source))
    try:
        yield
    except HornbookError as error:
        raise HornbookError(f"{name}: {error}") from None
    except OSError as error:
        raise HornbookError(f"{name} cannot be read: {error.strerror or error}") from None
    except UnicodeError:
        raise HornbookError(f"{name}: the file is not utf-8 text; {OTHER_ENCODING}") from None
    except MemoryError:
        raise HornbookError(f"{name} does not fit into memory; read some of its rows by max_rows=…") from None


def _explain(text: str) -> str:
    """What is wrong with a file or a query, in one line; DuckDB says it in several."""
    line = re.search(r"CSV Error on Line: (\d+)", text)
    where = f"line {line[1]}" if line else "a line"
    if widths := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        delimiter = re.search(r"delimiter = (.*) \(", text)
        return (
            f"{where} has {widths[2]} values and there are {widths[1]} columns; is the delimiter "
            f"{delimiter[1] if delimiter else ','!r}, and are values with a delimiter quoted?"
        )
    if "unterminated quote" in text:
        return f"{where}: {BAD_QUOTE}"
    if "Invalid unicode" in text:
        return f"{where} is not utf-8 text; {OTHER_ENCODING}"
    if "invalid state" in text:
        return f"its lines end in several ways (save it again with one), or {BAD_QUOTE}"
    if "Maximum line size" in text:
        return f"{where} has more than {MAX_LINE_BYTES:,} bytes; is a quote opened and not closed?"
    return shorten(re.sub(r"^\w+( \w+)? Error: ", "", text.partition("\n\n")[0]))


def _find_kind(path: Path, given: Path) -> str:
    """What a file is: parquet, json or csv; refuse what is not a table."""
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(PARQUET_START):
        return "parquet"
    suffix = _content_suffix(given)
    kind = next((kind for first, kind in OTHER_KINDS.items() if start.startswith(first)), None)
    if kind is not None or suffix == ".arff":
        raise HornbookError(f"this is {kind or 'an ARFF file'}; save the table as CSV or Parquet")
    if suffix in PARQUET_SUFFIXES:
        raise HornbookError("this is not a Parquet file: it does not begin with PAR1; get it again")
    return "json" if suffix in JSON_SUFFIXES else "csv"


def _content_suffix(path: Path) -> str:
    """The suffix of a file's content, in lower case: `.json` for `table.json.gz`."""
    stem = Path(path.stem) if path.suffix.lower() in COMPRESSION_SUFFIXES else path
    return stem.suffix.lower()


def quote(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def _quote_path(path: Path) -> str:
    """The path of one file in SQL, whatever signs of patterns are in it."""
    return quote(glob.escape(str(path)))


def _query_files(paths: Sequence[Path], kind: str) -> str:
    """A query for the rows of Parquet or JSON files, whose types are those of all rows."""
    options = ", sample_size = -1" if kind == "json" else ""
    return f"FROM read_{kind}([{', '.join(map(_quote_path, paths))}]{options})"


def _write_query(connection: Any, query: str) -> str:
    """A user's query as a source of rows; words for yes and no in its texts stay words, as in files."""
    suffixes = "|".join(map(re.escape, TEXT_SUFFIXES))
    for name in set(re.findall(rf"['\"]([^'\"]+(?:{suffixes})(?:\.gz|\.zst)?)['\"]", query)):
        if glob.glob(name, recursive=True):
            rows = f"read_csv({quote(name)}, auto_type_candidates = {QUERY_TYPES})"
            connection.execute(f'CREATE TEMP VIEW "{name}" AS FROM {rows}')
    return f"FROM ({query.strip().rstrip(';')}\n)"


def _read_texts(
    connection: Any, paths: Sequence[Path], folder: Path, known: TextFormat, names: Sequence[str] | None
) -> Source:
    """The cells of texts with the same columns, one below the other."""
    sources = []
    for path in paths:
        encoding = known.encoding or _find_encoding(path)
        plain = _rewrite_plainly(path, folder, encoding)
        delimiter = known.delimiter or _sniff_delimiter(connection, plain)
        header, skip = _read_header(plain, delimiter) if names is None else (names, 0)
        columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(header)))
        query = (
            f"FROM read_csv({_quote_path(plain)}, auto_detect = false, columns = {{{columns}}}, "
            f"header = false, skip = {skip}, delim = {quote(delimiter)}, quote = '\"', escape = '\"', "
            f"compression = 'none', strict_mode = true, null_padding = false, "
            f"max_line_size = {MAX_LINE_BYTES})"
        )
        if len(header) == 1:  # without blank lines
            query += " WHERE trim(c0) <> ''"
        text_format = TextFormat(
            delimiter, encoding, known.decimal or ".", known.thousands or "", known.missing
        )
        sources.append(Source(connection, query, check_names(header), text_format))
        if sources[-1].names != sources[0].names:
            raise HornbookError(f"{path.name} and the first file have different columns")
    return replace(sources[0], query=" UNION ALL ".join(source.query for source in sources))


def _sniff_delimiter(connection: Any, path: Path) -> str:
    """The delimiter that DuckDB finds, or that the header has most where lines are uneven."""
    try:
        ((delimiter, width),) = connection.sql(
            f"SELECT Delimiter, len(Columns) FROM sniff_csv({_quote_path(path)}, skip = 0, header = true, "
            "quote = '\"', escape = '\"', compression = 'none', all_varchar = true)"
        ).fetchall()
    except import_module("duckdb").Error:
        width = 1
    if width > 1 and delimiter in DELIMITERS:
        return str(delimiter)
    with path.open(encoding="utf-8-sig") as file:
        header = next(filter(str.strip, file), "")
    return max(DELIMITERS, key=header.count)


def _read_header(path: Path, delimiter: str) -> tuple[list[str], int]:
    """The names in the first line of a text that is not blank, and the number of lines with it."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, skipinitialspace=not delimiter.isspace(), strict=True)
        try:
            for lines, row in enumerate(reader, 1):
                if "\0" in "".join(row):
                    raise HornbookError(f"line {lines} {NO_TEXT}")
                if len(row) > 1 or "".join(row).strip():
                    return row, lines
        except csv.Error as error:
            is_quote = "expected after" in str(error) or "unexpected end" in str(error)
            reason = BAD_QUOTE if is_quote else shorten(str(error))
            raise HornbookError(f"line {reader.line_num}: {reason}") from None
    raise HornbookError("the file is empty; its first line should name the columns")


def _open_zstd(file: Any) -> Any:
    module = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    return import_module(module).ZstdFile(file)


DECOMPRESSORS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"\x28\xb5\x2f\xfd": _open_zstd,
}
"""For the first bytes of a compressed file, a function that decompresses it."""


def _decompress(path: Path, folder: Path) -> Path:
    """Decompress a file into a folder if its first bytes say that it is compressed; return the plain file.

    What is damaged, or expands to more than a table would, is refused.
    """
    with path.open("rb") as file:
        start = file.read(max(map(len, DECOMPRESSORS)))
        file.seek(0)
        opener = next((each for first, each in DECOMPRESSORS.items() if start.startswith(first)), None)
        if opener is None:
            return path
        expanded, size = folder / f"expanded-{len(os.listdir(folder))}", 0
        with expanded.open("wb") as target:
            content = opener(file)
            while chunk := _read_chunk(content):
                size += target.write(chunk)
                if size > max(SMALL_EXPANSION, MAX_EXPANSION * file.tell()):
                    raise HornbookError(
                        f"the file expands to more than {MAX_EXPANSION} times its size, which tables do not; "
                        "if you trust it, decompress it yourself"
                    )
    return expanded


def _read_chunk(content: Any) -> bytes:
    """Read the next bytes of a compressed file; whatever its library raises is damage."""
    try:
        return bytes(content.read(CHUNK_BYTES))
    except Exception as error:
        reason = shorten(str(error)) or type(error).__name__
        raise HornbookError(f"the compressed file is damaged or cut short ({reason}); get it again") from None


def _find_encoding(path: Path) -> str:
    """UTF-8, or UTF-16 where a file begins with its byte order mark."""
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"


def _rewrite_plainly(path: Path, folder: Path, encoding: str) -> Path:
    """Rewrite a text of another encoding as UTF-8."""
    if codecs.lookup(encoding).name == "utf-8":
        return path
    plain = folder / f"plain-{len(os.listdir(folder))}"
    try:
        with path.open(encoding=encoding) as text, plain.open("w", encoding="utf-8", newline="\n") as target:
            shutil.copyfileobj(text, target, CHUNK_BYTES)
    except UnicodeError:
        raise HornbookError(f"the file is not {encoding} text; {OTHER_ENCODING}") from None
    return plain
