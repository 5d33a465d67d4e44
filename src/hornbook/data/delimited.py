"""Text tables: lines of values between delimiters, and ARFF."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

from hornbook.logic.errors import HornbookError

DELIMITERS = (",", ";", "\t", "|")
SAMPLE = 50
"""So many lines decide on a delimiter."""


@dataclass(frozen=True)
class Grid:
    """Column names, and rows of as many texts."""

    names: list[str]
    rows: list[list[str]]


def read_delimited(text: str, delimiter: str | None = None, names: Sequence[str] | None = None) -> Grid:
    r"""Rows of a CSV, TSV or similar text; the first line has the names unless they are given.

    Examples
    --------
    >>> read_delimited("age;sex\n40;male\n")
    Grid(names=['age', 'sex'], rows=[['40', 'male']])

    """
    delimiter = delimiter or sniffed(text)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=delimiter != "\t")
    try:
        numbered = [(reader.line_num, row) for row in reader if len(row) > 1 or "".join(row).strip()]
    except csv.Error as error:
        raise HornbookError(f"line {reader.line_num}: {error}") from None
    if names is None:
        if not numbered:
            raise HornbookError("the file is empty; its first line should name the columns")
        header, numbered = numbered[0][1], numbered[1:]
    else:
        header = list(names)
    refuse_uneven(numbered, len(header), delimiter)
    return Grid(checked_names(header), [row for _, row in numbered])


def sniffed(text: str) -> str:
    """The delimiter that splits the first lines into the same number of values, the most of them."""
    lines = [line for line in text.splitlines()[: 2 * SAMPLE] if line.strip()][:SAMPLE]

    def score(delimiter: str) -> tuple[int, int]:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        except csv.Error:
            return 0, 0
        first = widths[0] if widths else 1
        return (sum(width == first for width in widths) if first > 1 else 0), first

    return max(DELIMITERS, key=score)


def read_arff(text: str) -> Grid:
    """Rows of a dense ARFF text."""
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
            return Grid(checked_names(names), _arff_rows(lines[number:], number, len(names)))
    raise HornbookError("not ARFF: there is no line '@data'")


def _arff_rows(lines: list[str], offset: int, width: int) -> list[list[str]]:
    numbered = []
    for number, line in enumerate(lines, offset + 1):
        stripped = line.strip()
        if stripped.startswith("{"):
            raise HornbookError(f"line {number}: sparse ARFF rows are not read; save the data as dense")
        if stripped and not stripped.startswith("%"):
            quote = re.search("['\"]", stripped)
            row = csv.reader([stripped], quotechar=quote[0] if quote else '"', skipinitialspace=True)
            numbered.append((number, next(row)))
    refuse_uneven(numbered, width, ",")
    return [row for _, row in numbered]


def checked_names(names: Sequence[object]) -> list[str]:
    """Names with single spaces; refuse empty and repeated ones."""
    clean = [" ".join(str(name).split()) for name in names]
    for position, name in enumerate(clean):
        if not name:
            raise HornbookError(f"column {position + 1} has no name; name it in the header")
        if name in clean[:position]:
            first = clean.index(name) + 1
            raise HornbookError(f"columns {first} and {position + 1} are both called {name!r}; rename one")
    return clean


def refuse_uneven(numbered: Sequence[tuple[int, list[str]]], width: int, delimiter: str) -> None:
    """Refuse a row that has more or fewer values than there are columns, by its line."""
    for number, row in numbered:
        if len(row) != width:
            raise HornbookError(
                f"line {number} has {len(row)} values and there are {width} columns; "
                f"is the delimiter {delimiter!r}, and are values with a delimiter quoted?"
            )
