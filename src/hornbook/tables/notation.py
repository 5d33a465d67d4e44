r"""How the numbers of a table are written, found out from all cells of its columns.

A file has one notation: a decimal sign, and perhaps a sign between groups of three digits. It is
guessed only where nothing else reads the columns: `3,5` needs a decimal comma and `1,234.5` a comma
between thousands, but `1,234` alone can be either, and is refused until the user says which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, TypeAlias

from hornbook.errors import HornbookError


@dataclass(frozen=True)
class Notation:
    """A decimal sign, and the sign between thousands, if there is one."""

    decimal: str = "."
    thousands: str = ""


DECIMALS = (".", ",")
THOUSANDS = ("", ",", ".", " ", "'")
PLAIN = Notation()
NOTATIONS = tuple(
    Notation(decimal, thousands) for thousands in THOUSANDS for decimal in DECIMALS if decimal != thousands
)
"""All notations, the simplest first."""

SAME_SIGNS = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'"})
"""Other signs between thousands, and what they stand for."""

Words: TypeAlias = Literal["truths", "dates"]
Reading: TypeAlias = Notation | Words
"""A way to read all cells of a column."""

_LINES: dict[Words, re.Pattern[str]] = {
    "truths": re.compile(r"(?:(?:true|false)\n)*+", re.IGNORECASE),
    "dates": re.compile(
        r"(?:(?:\d{4}([-/.])\d\d?\1\d\d?|\d\d?([-/.])\d\d?\2\d{4})"
        r"(?:[T ]\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?\n)*+",
        re.ASCII,
    ),
}
_INTEGERS = re.compile(r"(?:[+-]?\d{1,18}\n)*+", re.ASCII)


@cache
def _number_lines(decimal: str, thousands: str) -> re.Pattern[str]:
    """The pattern of lines of numbers; an empty sign does not occur in them."""
    groups = rf"[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})++|" if thousands else ""
    point = re.escape(decimal)
    fraction = rf"(?:{point}\d{'*' if decimal == '.' else '+'})?" if decimal else ""
    leading = rf"|{point}\d+" if decimal else ""
    number = rf"(?:(?:{groups}\d+){fraction}{leading})(?:e[+-]?\d+)?"
    return re.compile(rf"(?:[+-]?(?:{number}|inf|infinity)\n)*+", re.ASCII | re.IGNORECASE)


@dataclass
class ColumnReadings:
    """How the cells of a column can be read, part by part.

    Parameters
    ----------
    readings
        The ways to read every cell so far.
    example
        The first cell, or the first with a sign that may be decimal.
    complete
        Whether no cell is missing.
    whole
        Whether all cells are whole numbers without any sign but their own.

    """

    readings: set[Reading] = field(default_factory=lambda: {*NOTATIONS, *_LINES})
    example: str = ""
    complete: bool = True
    whole: bool = True

    def add(self, cells: Sequence[str]) -> None:
        """Strike out the readings that do not read these known cells."""
        if not self.readings or not cells:
            return
        text = join_cells(cells)
        if text.count("\n") != len(cells):
            self.readings.clear()
            return
        self.readings = _find_readings(text, self.readings)
        self.whole = self.whole and _INTEGERS.fullmatch(text) is not None
        if not _has_sign(self.example):
            self.example = next(filter(_has_sign, cells), cells[0]) if _has_sign(text) else cells[0]


def _has_sign(text: str) -> bool:
    """Whether a text has a sign that may be decimal."""
    return "," in text or "." in text


def join_cells(cells: Sequence[str]) -> str:
    """The cells as lines of one text, which one pattern reads faster than each by itself."""
    text = "\n".join(cells) + "\n"
    return text if text.isascii() else text.translate(SAME_SIGNS)


def _find_readings(text: str, candidates: Iterable[Reading]) -> set[Reading]:
    """The candidates that read every line of a text."""

    @cache
    def is_read(decimal: str, thousands: str) -> bool:
        return _number_lines(decimal, thousands).fullmatch(text) is not None

    def fits(reading: Reading) -> bool:
        if not isinstance(reading, Notation):
            return _LINES[reading].fullmatch(text) is not None
        # a sign that does not occur makes no difference: few patterns are tried
        signs = (sign if sign and sign in text else "" for sign in (reading.decimal, reading.thousands))
        return is_read(*signs)

    return {reading for reading in candidates if fits(reading)}


def choose_notation(columns: Mapping[str, ColumnReadings], allowed: Sequence[Notation]) -> Notation:
    """Choose the notation of a file: the simplest allowed one that reads all its columns of numbers.

    Refuses columns that no notation reads together, and signs that could mean something else.
    """
    readings = {
        name: possible
        for name, column in columns.items()
        if (possible := [notation for notation in allowed if notation in column.readings])
    }
    common = [notation for notation in allowed if all(notation in each for each in readings.values())]
    if common and (common[0] == PLAIN or _is_needed(common[0], list(readings.values()), allowed)):
        return common[0]
    unclear = next(name for name, possible in readings.items() if PLAIN not in possible)
    other = next((name for name, possible in readings.items() if not {*possible} >= {*readings[unclear]}), "")
    where = [f"column {name!r} has {columns[name].example!r}" for name in (unclear, other) if name]
    raise HornbookError(
        f"{' and '.join(where)}: is the decimal sign a point or a comma? Say decimal='.' or decimal=',' "
        "(--csv decimal=. or --csv decimal=,)"
    )


def _is_needed(chosen: Notation, readings: Sequence[Sequence[Notation]], allowed: Sequence[Notation]) -> bool:
    """Whether the signs of a notation that can mean something else are the only way to read some column."""

    def needs(sign: str, other_signs: set[str], field: str) -> bool:
        return other_signs <= {sign} or any(
            all(getattr(notation, field) == sign for notation in possible) for possible in readings
        )

    decimals, thousands = ({getattr(each, field) for each in allowed} for field in ("decimal", "thousands"))
    return (chosen.decimal == "." or needs(chosen.decimal, decimals, "decimal")) and (
        chosen.thousands not in DECIMALS or needs(chosen.thousands, thousands, "thousands")
    )


def parse_numbers(cells: Sequence[str], notation: Notation = PLAIN) -> list[float]:
    """Convert cells that a notation reads to the nearest numbers.

    Examples
    --------
    >>> parse_numbers(["1.234,5", "-2"], Notation(",", "."))
    [1234.5, -2.0]

    """
    text = join_cells(cells)
    if notation.thousands:
        text = text.replace(notation.thousands, "")
    if notation.decimal != ".":
        text = text.replace(notation.decimal, ".")
    return [float(number) for number in text.split("\n")[: len(cells)]]
