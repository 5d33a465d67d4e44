"""How a table is written as text: its encoding, its delimiter and the signs in its numbers."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TextIO

from hornbook.errors import HornbookError
from hornbook.tables.compressed import CHUNK_BYTES, open_bytes
from hornbook.tables.notation import DECIMALS, NOTATIONS, THOUSANDS, Notation

DELIMITERS = (",", ";", "\t", "|")
DELIMITER_LINES = 50
"""Number of lines from which the delimiter is detected."""

DELIMITER_CHARACTERS = 1 << 20
"""Number of characters that these lines have at most."""

SIGN_NAMES = {"\t": "tab", " ": "space", "": "none"}
"""Words for signs that are not seen in a description."""

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
    """How a table is written as text; what is None is found out.

    Parameters
    ----------
    delimiter
        The sign between values.
    encoding
        The name of the encoding, such as `utf-8` or `cp1252`.
    decimal
        The decimal sign of numbers, a point or a comma.
    thousands
        The sign between groups of three digits: a comma, a point, a space or an apostrophe; empty
        for none.

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
            values[name] = value if name == "encoding" else signs.get(value, value)
        return cls(**values)

    def describe(self) -> str:
        """The format as `parse` reads it, without what is unknown."""
        return " ".join(
            f"{field.name}={SIGN_NAMES.get(value, value)}"
            for field in fields(self)
            if (value := getattr(self, field.name)) is not None
        )

    def describe_guesses(self, given: TextFormat) -> str:
        """What was found out, since it was not given, and is not plain."""
        known = asdict(given)
        guesses = {name: None if known[name] is not None else value for name, value in asdict(self).items()}
        return TextFormat(**guesses).without(PLAIN_TEXT).describe()

    def without(self, other: TextFormat) -> TextFormat:
        """The format without what is as in another one."""
        values = asdict(other)
        return TextFormat(
            **{name: None if value == values[name] else value for name, value in asdict(self).items()}
        )

    @property
    def notations(self) -> tuple[Notation, ...]:
        """The notations of numbers that the format allows."""
        return tuple(
            notation
            for notation in NOTATIONS
            if self.decimal in (None, notation.decimal) and self.thousands in (None, notation.thousands)
        )

    def with_notation(self, notation: Notation) -> TextFormat:
        """The format with a notation of numbers."""
        return replace(self, decimal=notation.decimal, thousands=notation.thousands)

    def open_text(self, path: Path) -> TextIO:
        """Open a file in the encoding, with its line ends as they are."""
        return io.TextIOWrapper(open_bytes(path), encoding=_codec(self.encoding or UTF8), newline="")

    def resolve_encoding(self, path: Path) -> TextFormat:
        """The format with the encoding of a file, found out if it is not given; all bytes are read."""
        if self.encoding is None:
            return replace(self, encoding=detect_encoding(path))
        if (error := _find_bad_byte(path, self.encoding)) is not None:
            raise HornbookError(f"the file is not {self.encoding} text ({error}); name another encoding")
        return self


PLAIN_TEXT = TextFormat(",", UTF8, ".", "")
"""The format that needs no mention."""


def _codec(encoding: str) -> str:
    """The codec of an encoding; that of UTF-8 passes over a byte order mark."""
    return "utf-8-sig" if codecs.lookup(encoding).name == UTF8 else encoding


def detect_encoding(path: Path) -> str:
    """Detect the encoding of a file: by its byte order mark, UTF-8, or what Windows writes in the West.

    The last is taken only for a text in which no two bytes are a character of UTF-8: otherwise it
    is UTF-8 that was damaged.
    """
    with open_bytes(path) as file:
        start = file.read(4)
    encoding = next((name for mark, name in BYTE_ORDER_MARKS.items() if start.startswith(mark)), UTF8)
    error = _find_bad_byte(path, encoding)
    if error is None:
        return encoding
    if encoding == UTF8 and not start.startswith(codecs.BOM_UTF8) and _is_western(path):
        return WESTERN
    raise HornbookError(
        f"the file is not {encoding} text ({error}); if it is in another encoding, name it, such as "
        "encoding='latin-1' (--csv encoding=latin-1)"
    )


def _find_bad_byte(path: Path, encoding: str) -> str | None:
    """Say which byte of a file is not text in an encoding; refuse a text with NUL characters."""
    decoder = codecs.getincrementaldecoder(_codec(encoding))()
    offset = 0
    with open_bytes(path) as file:
        while True:
            pending = len(decoder.getstate()[0])
            chunk = file.read(CHUNK_BYTES)
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return f"byte {offset - pending + error.start}"
            except UnicodeError as error:
                return str(error)
            if "\0" in text:
                raise HornbookError(
                    "the file holds NUL characters: it is damaged, no text, or in another encoding, such as "
                    "encoding='utf-16-le' (--csv encoding=utf-16-le)"
                )
            if not chunk:
                return None
            offset += len(chunk)


def _is_western(path: Path) -> bool:
    """Whether a file is text in the Western encoding, with no character of UTF-8 in it."""
    with open_bytes(path) as file:
        tail = b""
        while chunk := file.read(CHUNK_BYTES):
            if _NOT_WESTERN.search(chunk) or _MULTIBYTE.search(tail + chunk):
                return False
            tail = chunk[-3:]
    return True


def detect_delimiter(file: TextIO, width: int | None = None) -> str:
    """Detect the delimiter that splits most of the first lines into the same number of values.

    Parameters
    ----------
    file
        The text, from its first line.
    width
        The number of columns, if it is known.

    """
    text = file.read(DELIMITER_CHARACTERS)
    lines = [line for line in io.StringIO(text, newline="") if line.strip()]
    whole = lines[:-1] if len(lines) > 1 and len(text) == DELIMITER_CHARACTERS else lines
    return max(DELIMITERS, key=lambda delimiter: _score_delimiter(whole[:DELIMITER_LINES], delimiter, width))


def _score_delimiter(lines: Sequence[str], delimiter: str, width: int | None) -> tuple[int, int]:
    """The number of lines that a delimiter splits as the first one, and into how many values."""
    try:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
    except csv.Error:
        return 0, 0
    first = width or (widths[0] if widths else 1)
    return (sum(width == first for width in widths) if first > 1 else 0), first
