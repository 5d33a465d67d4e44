"""How a table is written as text: its encoding, its delimiter and the signs in its numbers.

A file has one notation of numbers: a decimal sign, and perhaps a sign between groups of three digits. It
is guessed only where nothing else reads the columns: `3,5` needs a decimal comma and `1,234.5` a comma
between thousands, but `1,234` alone can be either, and is refused until the user says which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

from hornbook.errors import HornbookError

DELIMITERS = (",", ";", "\t", "|")

SIGN_NAMES = {"\t": "tab", " ": "space", "": "none"}
"""Words for signs that are not seen in a description."""


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


PLAIN_TEXT = TextFormat(",", "utf-8", ".", "")
"""The format that needs no mention."""


def choose_notation(
    columns: Mapping[str, Sequence[Notation]], allowed: Sequence[Notation], example: Callable[[str], str]
) -> Notation:
    """Choose the notation of a file: the simplest allowed one that reads all its columns of numbers.

    Refuses columns that no notation reads together, and signs that could mean something else.

    Parameters
    ----------
    columns
        For each column of numbers the notations that read all its cells, of those that are allowed.
    allowed
        The notations that may be chosen, the simplest first.
    example
        A cell of a column, with a sign that may be decimal if there is one.

    """
    common = [notation for notation in allowed if all(notation in each for each in columns.values())]
    if common and (common[0] == PLAIN or _is_needed(common[0], list(columns.values()), allowed)):
        return common[0]
    unclear = next(name for name, possible in columns.items() if PLAIN not in possible)
    other = next((name for name, possible in columns.items() if not {*possible} >= {*columns[unclear]}), "")
    where = [f"column {name!r} has {example(name)!r}" for name in (unclear, other) if name]
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
