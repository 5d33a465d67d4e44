"""Sources of rows: files, folders, patterns and queries, as queries in SQL that DuckDB answers.

Texts are decompressed, and rewritten in UTF-8 where they are in another encoding.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import glob
import gzip
import io
import lzma
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hornbook.errors import HornbookError
from hornbook.tables.frames import check_names
from hornbook.tables.text_format import DELIMITERS, TextFormat

COMPRESSION_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
PARQUET_SUFFIXES = (".parquet", ".pq")
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".data", *PARQUET_SUFFIXES, *JSON_SUFFIXES)
"""What files of a folder are tables."""

PARQUET_START = b"PAR1"
OTHER_KINDS = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"ARROW1": "an Arrow file",
    b"PARE": "an encrypted Parquet file",
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

MAX_SHOWN_CHARACTERS = 120
"""Length to which names of files and messages of other libraries are cut."""

UTF8, WESTERN = "utf-8", "cp1252"
"""The encodings that a text without a byte order mark is tried in; the second contains Latin-1."""

BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: UTF8,
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""The encodings by the first bytes of a text."""

_MULTIBYTE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_NOT_WESTERN = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]")


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


def name_source(source: str | Path) -> str:
    """The name of a source: that of a file or folder, or the query."""
    return shorten(str(source)) if is_query(source) else Path(source).name


def shorten(text: str) -> str:
    """A text as one line of at most so many characters that a message stays readable."""
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
    source: str | Path, asked: TextFormat, names: Sequence[str] | None = None
) -> Iterator[Source]:
    """Open a source; errors name it, and a file that changes before it is closed is refused.

    `asked` is what is known about the format of texts, `names` are their columns if they have no header.
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
                yield _read_texts(connection, plain, folder, asked, names)
            else:
                if asked != TextFormat():
                    raise HornbookError(f"what is no text has no {asked.describe()}; leave that out")
                query = (
                    _query_files(plain, *kinds) if files else f"FROM ({str(source).strip().rstrip(';')}\n)"
                )
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
        found = [each for each in sorted(Path(source).rglob("*")) if _content_suffix(each) in TABLE_SUFFIXES]
        if not found:
            raise HornbookError(f"{shorten(source)}: there is no CSV, Parquet or JSON file in this folder")
        return found
    if os.path.exists(source):
        raise HornbookError(
            f"{shorten(source)}: this is not a file on disk, which is needed to read it twice; save it first"
        )
    found = [Path(each) for each in sorted(glob.glob(source, recursive=True)) if os.path.isfile(each)]
    if not found:
        raise HornbookError(f"there is no file {shorten(source)!r}")
    return found


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
    except UnicodeError as error:
        raise HornbookError(f"{name} holds bytes that are no text: {shorten(str(error))}") from None
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
    if "Maximum line size" in text:
        return f"{where} has more than {MAX_LINE_BYTES:,} bytes; is a quote opened and not closed?"
    return shorten(re.sub(r"^\w+( \w+)? Error: ", "", text.partition("\n\n")[0]))


def _find_kind(path: Path, given: Path) -> str:
    """What a file is: parquet, json or csv; refuse what is no table."""
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(PARQUET_START):
        return "parquet"
    suffix = _content_suffix(given)
    kind = next((kind for first, kind in OTHER_KINDS.items() if start.startswith(first)), None)
    if kind is not None or suffix == ".arff":
        raise HornbookError(f"this is {kind or 'an ARFF file'}; save the table as CSV or Parquet")
    if suffix in PARQUET_SUFFIXES:
        raise HornbookError("this is no Parquet file: it does not begin with PAR1; get it again")
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


def _read_texts(
    connection: Any, paths: Sequence[Path], folder: Path, asked: TextFormat, names: Sequence[str] | None
) -> Source:
    """The cells of texts with the same columns, one below the other."""
    sources = []
    for path in paths:
        plain, encoding = _rewrite_plainly(path, folder, asked.encoding)
        delimiter = asked.delimiter or _sniff_delimiter(connection, plain)
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
        text_format = replace(asked, delimiter=delimiter, encoding=encoding)
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
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
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


def _rewrite_plainly(path: Path, folder: Path, given: str | None) -> tuple[Path, str]:
    """Rewrite a text as UTF-8 with line ends of one kind, unless it is so; return it and its encoding.

    The encoding, if it is not given, is found by the byte order mark, UTF-8, or what Windows writes in the
    West. The last is taken only for a text in which no two bytes are a character of UTF-8: otherwise it is
    UTF-8 that was damaged.
    """
    encoding = given or _find_mark(path)
    error, are_lines_mixed = _check_text(path, encoding)
    if error is not None and given is None and encoding == UTF8 and _is_western(path):
        encoding, error = WESTERN, None
    if error is not None:
        advice = "name another encoding"
        if given is None:
            example = "encoding='latin-1' (--csv encoding=latin-1)"
            advice = f"if it is in another encoding, name it, such as {example}"
        raise HornbookError(f"the file is not {encoding} text ({error}); {advice}")
    if _codec(encoding) == _codec(UTF8) and not are_lines_mixed:
        return path, encoding
    plain = folder / f"plain-{len(os.listdir(folder))}"
    with path.open(encoding=_codec(encoding)) as text, plain.open("w", encoding=UTF8, newline="\n") as target:
        shutil.copyfileobj(text, target, CHUNK_BYTES)
    return plain, encoding


def _codec(encoding: str) -> str:
    """The codec of an encoding; that of UTF-8 passes over a byte order mark."""
    return "utf-8-sig" if codecs.lookup(encoding).name == UTF8 else encoding


def _find_mark(path: Path) -> str:
    """The encoding that a file's byte order mark names; UTF-8 without one."""
    with path.open("rb") as file:
        start = file.read(4)
    return next((name for mark, name in BYTE_ORDER_MARKS.items() if start.startswith(mark)), UTF8)


def _check_text(path: Path, encoding: str) -> tuple[str | None, bool]:
    """The byte of a file that is not text in an encoding, or None, and whether its line ends differ.

    A text with NUL characters is refused.
    """
    decoder = codecs.getincrementaldecoder(_codec(encoding))()
    lines = io.IncrementalNewlineDecoder(None, translate=False)
    offset = 0
    with path.open("rb") as file:
        while True:
            pending = len(decoder.getstate()[0])
            chunk = file.read(CHUNK_BYTES)
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return f"byte {offset - pending + error.start}", False
            except UnicodeError as error:
                return str(error), False
            if "\0" in text:
                raise HornbookError(
                    "the file holds NUL characters: it is damaged, no text, or in another encoding, such as "
                    "encoding='utf-16-le' (--csv encoding=utf-16-le)"
                )
            lines.decode(text, final=not chunk)
            if not chunk:
                return None, isinstance(lines.newlines, tuple)
            offset += len(chunk)


def _is_western(path: Path) -> bool:
    """Whether a file is text in the Western encoding, with no character of UTF-8 in it."""
    with path.open("rb") as file:
        tail = b""
        while chunk := file.read(CHUNK_BYTES):
            if _NOT_WESTERN.search(chunk) or _MULTIBYTE.search(tail + chunk):
                return False
            tail = chunk[-3:]
    return True
