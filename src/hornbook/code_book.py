"""Code books: what the user calls columns, units, levels and classes.

A code book is a TOML file, or a mapping of the same shape. Every part is optional:

    [columns.age]
    label = "Age at diagnosis"
    unit = "years"

    [columns.sex]
    levels = { 1 = "male", 2 = "female" }

    [columns.stage]
    order = ["I", "II", "III", "IV"]

    [columns.region]
    codes = true                # numbers that are categories: never region > 3

    [classes]
    0 = "benign"
    1 = "malignant"

Words never change what an explanation decides, only how it reads. A condition becomes words in one
place, `CodeBook.phrase`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.conditions import (
    Between,
    Category,
    Condition,
    IsTrue,
    Missing,
    Threshold,
    Value,
    merge_conditions,
    write_value,
)
from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.schema import leaves_out_defaults, read_object
from hornbook.storage import read_toml
from hornbook.tables import find_scales, number_times
from hornbook.tables.table import sorted_levels
from hornbook.times import Scale, read_days, write_days

UNNAMED_TARGET = "class"
"""What is predicted, where nobody says it."""

MAX_NAMED_VALUES = 12
"""Values or columns that an error names."""


@leaves_out_defaults
@dataclass(frozen=True)
class ColumnWords(Displayed):
    """What a column and its values are called.

    Parameters
    ----------
    label
        What the column is called; empty if by its name.
    unit
        The unit of its numbers.
    levels
        Pairs of a value and its name.
    order
        All its values from the lowest to the highest; empty if they have no order.
    codes
        Whether its numbers are categories, and not quantities.
    whole
        Whether all its numbers are whole.
    pair
        Its values, if there are two: what is not the one is the other.
    scale
        What its numbers are, if they are days: dates, times or durations.

    """

    label: str = ""
    unit: str = ""
    levels: tuple[tuple[Value, str], ...] = ()
    order: tuple[Value, ...] = ()
    codes: bool = False
    whole: bool = False
    pair: tuple[Value, ...] = ()
    scale: Scale = ""

    def __str__(self) -> str:
        values = list_values(name for _, name in self.levels)
        return ", ".join(part for part in (self.label, self.unit, values) if part) or "no words"

    @property
    def are_categories(self) -> bool:
        """Whether its values are categories, even if they are numbers."""
        return bool(self.codes or self.levels or self.order)

    def are_quantities(self, values: pd.Series[Any]) -> bool:
        """Whether the values of the column are numbers that can be compared, and not categories or a pair."""
        numeric = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        return numeric and not self.are_categories and not self.pair

    def name_level(self, value: Any) -> Any:
        """The name of a value; a value without one stays as it is."""
        if self.scale and isinstance(value, int | float | np.number):
            return write_days(float(value), self.scale)
        return next((name for level, name in self.levels if level == value), value)

    def read_level(self, name: Any) -> Any:
        """The value that has a name, days for times; anything else stays as it is."""
        if self.scale and (days := read_days(name, self.scale)) is not None:
            return days
        return next((level for level, own in self.levels if own == name), name)

    def name_value(self, value: Any) -> str:
        """What a value is called, as text."""
        return write_value(self.name_level(value))

    def describe_range(self, least: int, most: int) -> str:
        """Whole numbers from one to another, in words.

        Examples
        --------
        >>> words = ColumnWords(whole=True)
        >>> words.describe_range(44, 60), words.describe_range(44, 44), words.describe_range(-3, 2)
        ('44–60', '44', '−3 to 2')

        """
        low, high = (self.name_value(end) for end in (least, most))
        if least == most:
            return low
        if self.scale or least < 0:
            return " to ".join(end if self.scale else end.replace("-", "−") for end in (low, high))
        return f"{low}–{high}"


@dataclass(frozen=True)
class Phrase:
    """A condition in words: the column's name, a sign, values, and their unit."""

    name: str
    sign: str
    values: tuple[str, ...]
    unit: str = ""

    def __str__(self) -> str:
        values = ", ".join(self.values)
        if self.sign in ("in", "not in"):
            values = f"{{{values}}}"
        sign = f" {self.sign}" if self.sign else ""
        return f"{self.name}{sign} {values}" + (f" {self.unit}" if self.unit else "")


@dataclass(frozen=True)
class CodeBook(Displayed):
    """The words of the user for columns, their values, and classes.

    Parameters
    ----------
    columns
        The words for each column that has any.
    classes
        The names of classes, by what the model calls them, as text.
    source
        Where it comes from, for messages.

    Examples
    --------
    >>> sex = ColumnWords("Sex", levels=((1, "male"), (2, "female")))
    >>> book = CodeBook({"sex": sex, "age": ColumnWords(unit="years")})
    >>> book.describe(Category("sex", 2)), book.describe(Threshold("age", 44.5))
    ('Sex = female', 'age > 44.5 years')

    """

    columns: Mapping[str, ColumnWords] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=dict)
    source: str = field(default="the code book", compare=False, repr=False)

    def __str__(self) -> str:
        return f"words for {len(self.columns)} columns and {len(self.classes)} classes"

    def without_words(self) -> CodeBook:
        """The code book that knows of its columns what the table says, and nothing that the user does."""
        return CodeBook(
            {
                name: ColumnWords(whole=words.whole, pair=words.pair, scale=words.scale)
                for name, words in self.columns.items()
            }
        )

    def words(self, column: str) -> ColumnWords:
        """The words for a column."""
        return self.columns.get(column, _NO_WORDS)

    def are_quantities(self, values: pd.Series[Any]) -> bool:
        """Whether the values of a column are numbers that can be compared, and not categories or a pair."""
        return self.words(str(values.name)).are_quantities(values)

    def label(self, column: str) -> str:
        """What a column is called."""
        return self.words(column).label or column

    def title(self, column: str) -> str:
        """What a column is called, with its unit."""
        unit = self.words(column).unit
        return f"{self.label(column)} ({unit})" if unit else self.label(column)

    def find_column(self, name: str) -> str:
        """The column that has a name or a label."""
        labels = (column for column, words in self.columns.items() if words.label == name)
        return name if name in self.columns else next(labels, name)

    def name_value(self, column: str, value: Any) -> str:
        """A value of a column, with its unit."""
        words = self.words(column)
        name = words.name_value(value)
        return f"{name} {words.unit}" if words.unit and not isinstance(value, str) else name

    def describe(self, condition: Condition) -> str:
        """A condition in words.

        Examples
        --------
        >>> book = CodeBook({"stage": ColumnWords(order=("I", "II", "III")), "age": ColumnWords(whole=True)})
        >>> book.describe(Category("stage", ("II", "III"))), book.describe(Threshold("age", 43))
        ('stage ≥ II', 'age ≥ 44')
        >>> book.describe(Between("age", 43, 60)), CodeBook().describe(Between("age", 43.5, 60))
        ('age 44–60', '43.5 < age ≤ 60')

        """
        return str(self.phrase(condition))

    def describe_all(self, conditions: Iterable[Condition]) -> tuple[str, ...]:
        """Conditions that all hold, in words: those on one column are said together."""
        return tuple(map(self.describe, merge_conditions(conditions)))

    def phrase(self, condition: Condition) -> Phrase:
        """A condition in words, part by part."""
        words, label = self.words(condition.column), self.label(condition.column)
        match condition:
            case Missing(_, missing):
                return Phrase(label, "is", ("missing" if missing else "present",))
            case IsTrue(_, true):
                return Phrase(label, "is", ("true" if true else "false",))
            case Threshold(_, cut, above):
                if not words.whole:
                    return Phrase(label, ">" if above else "≤", (words.name_value(cut),), words.unit)
                cut = math.floor(cut) + above
                return Phrase(label, "≥" if above else "≤", (words.name_value(cut),), words.unit)
            case Between(column, low, high, inside):
                if not inside:
                    below, beyond = Threshold(column, low, above=False), self.phrase(Threshold(column, high))
                    return replace(beyond, name=f"{self.describe(below)} or {beyond.name}")
                if not words.whole:
                    return Phrase(
                        f"{words.name_value(low)} < {label}", "≤", (words.name_value(high),), words.unit
                    )
                least, most = math.floor(low) + 1, math.floor(high)
                values = words.describe_range(least, most)
                return Phrase(label, "=" if least == most else "", (values,), words.unit)
            case Category(_, values, inside):
                if (segment := _find_segment(condition, words.order or words.pair)) is not None:
                    sign, end = segment
                    return Phrase(label, sign, (words.name_value(end),))
                signs = ("=", "in") if inside else ("≠", "not in")
                return Phrase(label, signs[len(values) > 1], tuple(map(words.name_value, values)))

    def name_classes(self, target: str, classes: tuple[Any, ...]) -> tuple[str, ...]:
        """Classes in words: by the code book, `dead` and `not dead` for 1 and 0, else as the model says.

        Without a target they are `class 1` and `class 0`.

        Examples
        --------
        >>> CodeBook().name_classes(UNNAMED_TARGET, (False, True))
        ('class 0', 'class 1')
        >>> CodeBook().name_classes("dead", (0, 1)), CodeBook().name_classes("iris", ("setosa", "virginica"))
        (('not dead', 'dead'), ('setosa', 'virginica'))
        >>> CodeBook(classes={"3": "severe"}).name_classes("grade", (1, 2, 3))
        ('grade 1', 'grade 2', 'severe')

        """
        spelled = {spell_key(name): number for number, name in enumerate(classes)}
        names = [name if isinstance(name, str) else f"{target} {spell_key(name)}" for name in classes]
        is_pair = len(classes) == 2 and not isinstance(classes[0], str) and tuple(classes) == (0, 1)
        if is_pair and target != UNNAMED_TARGET:
            names = [f"not {target}", target]
        for key, name in self.classes.items():
            if spell_key(key) not in spelled:
                raise HornbookError(
                    f"{self.source}, classes: the model has no class {key!r}; its classes are "
                    f"{list_values(classes)}"
                )
            names[spelled[spell_key(key)]] = name
        if len(set(names)) < len(names):
            raise HornbookError(f"two classes are called alike: {', '.join(names)}; give them other names")
        return tuple(names)


_NO_WORDS = ColumnWords()

CodeBookSource: TypeAlias = CodeBook | Mapping[str, Any] | str | Path | None
"""Where a code book comes from: a TOML file, a mapping of its shape, a code book, or nothing."""

EMPTY_BOOK = CodeBook()
"""The code book of a user who has none: every column is called by its name."""


def are_whole(numbers: NDArray[np.float64]) -> bool:
    """Whether there are numbers, and all of them are whole."""
    return bool(len(numbers)) and bool((numbers == np.floor(numbers)).all())


def describe_unknown(name: str, names: Sequence[str]) -> str:
    """What is wrong with the name of a column that a table does not have, and the nearest that it has."""
    folded = {each.casefold(): each for each in names}
    close = [folded[each] for each in get_close_matches(name.casefold(), folded, n=3)]
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"it has {list_values(names)}"
    return f"the table has no column {name!r}; {hint}"


def _find_segment(condition: Category, order: tuple[Any, ...]) -> tuple[str, Any] | None:
    """The sign and the end of values that are all on one side of some place of the order, or a single one."""
    named, inside = condition.values, condition.inside
    meant = [value for value in order if (value in named) == inside]
    if not meant or len(meant) == len(order) or not set(named) <= set(order):
        return None
    if len(meant) == 1:
        return "=", meant[0]
    if meant == list(order[: len(meant)]):
        return "≤", meant[-1]
    return ("≥", meant[0]) if meant == list(order[-len(meant) :]) else None


def read_segment(column: str, words: ColumnWords, sign: str, end: Any) -> Condition:
    """The values of an ordered column on one side of a value; the inverse of how a phrase says it."""
    level = words.read_level(end)
    if level not in words.order:
        raise HornbookError(
            f"{column!r} is compared by {sign} with one of {list_values(map(words.name_value, words.order))}"
        )
    place = words.order.index(level) + (sign in ("<=", ">"))
    values = words.order[:place] if sign in ("<=", "<") else words.order[place:]
    return Category(column, values)


def spell_key(value: Any) -> str:
    """A value as a key of a code book: whole numbers without a decimal point, truth values as 1 and 0."""
    if isinstance(value, bool) or value in ("True", "False", "true", "false"):
        return str(int(str(value).lower() == "true"))
    return write_value(value)


def list_values(values: Iterable[Any]) -> str:
    written = list(map(write_value, values))
    more = f" and {len(written) - MAX_NAMED_VALUES} more" if len(written) > MAX_NAMED_VALUES else ""
    return ", ".join(written[:MAX_NAMED_VALUES]) + more


def read_code_book(source: CodeBookSource, frame: pd.DataFrame) -> CodeBook:
    """The code book of a table: levels become the table's own values; refuse what does not fit it.

    Columns of whole numbers, and of two values, are recognised without any code book.

    Examples
    --------
    >>> book = {"columns": {"sex": {"label": "Sex", "levels": {1: "male", 2: "female"}}}}
    >>> read_code_book(book, pd.DataFrame({"sex": [1, 2], "age": [40, 60]})).columns["sex"].levels
    ((1, 'male'), (2, 'female'))
    >>> read_code_book(book, pd.DataFrame({"Sex": [1, 2]}))
    Traceback (most recent call last):
    hornbook.errors.HornbookError: the code book: the table has no column 'sex'; did you mean 'Sex'?

    """
    book = source if isinstance(source, CodeBook) else _read_source(source)
    names = list(map(str, frame.columns))
    for name, words in book.columns.items():
        if name not in names:
            raise HornbookError(f"{book.source}: {describe_unknown(name, names)}")
        if words.label in names and words.label != name:
            raise HornbookError(
                f"{book.source}, column {name!r}: its label {words.label!r} is another column's name; "
                "choose another label"
            )
    scales, columns = find_scales(frame), {}
    for name, values in zip(names, (each for _, each in number_times(frame).items()), strict=True):
        words, known = book.words(name), values.dropna()
        if name in book.columns:
            words = _bind_column(words, frame[name], f"{book.source}, column {name!r}")
        if name in scales:
            words = replace(words, scale=scales[name])
        elif len(distinct := known.unique()) == 2:
            words = replace(words, pair=tuple(sorted(distinct.tolist(), key=str)))
        if words.are_quantities(values) and are_whole(known.to_numpy(np.float64)):
            words = replace(words, whole=True)
        if words != _NO_WORDS:
            columns[name] = words
    return replace(book, columns=columns)


@dataclass(frozen=True)
class _WrittenWords:
    """The words for a column as a user writes them."""

    label: str = ""
    unit: str = ""
    levels: Mapping[Any, str] = field(default_factory=dict)
    order: tuple[Any, ...] = ()
    codes: bool = False


@dataclass(frozen=True)
class _WrittenBook:
    """A code book as a user writes it."""

    columns: Mapping[Any, _WrittenWords] = field(default_factory=dict)
    classes: Mapping[Any, str] = field(default_factory=dict)


def _read_source(source: Mapping[str, Any] | str | Path | None) -> CodeBook:
    """A code book as it is written, without a table."""
    name, content = "the code book", source or {}
    if isinstance(source, str | Path):
        name, content = str(source), read_toml(Path(source))
    written = read_object(_WrittenBook, content, name)
    columns = {
        str(column): _read_words(words, f"{name}, column {str(column)!r}")
        for column, words in written.columns.items()
    }
    _refuse_alike([words.label or column for column, words in columns.items()], name)
    return CodeBook(columns, _read_names(written.classes, f"{name}, classes"), name)


def _read_words(written: _WrittenWords, source: str) -> ColumnWords:
    levels = _read_names(written.levels, f"{source}, levels")
    order = tuple(map(spell_key, written.order))
    _refuse_alike(order, f"{source}, order")
    words = ColumnWords(written.label, written.unit, tuple(levels.items()), order, written.codes)
    if words.unit and words.are_categories:
        raise HornbookError(
            f"{source}: levels have no unit; leave out unit, or leave out levels, order and codes"
        )
    return words


def _read_names(written: Mapping[Any, str], source: str) -> dict[str, str]:
    _refuse_alike([*written.values()], source)
    return {spell_key(key): name for key, name in written.items()}


def _refuse_alike(names: Sequence[str], source: str) -> None:
    for name in names:
        if not name.strip() or names.count(name) > 1:
            raise HornbookError(f"{source}: {name!r} is empty, or stands there twice; give different names")


def _bind_column(words: ColumnWords, values: pd.Series[Any], source: str) -> ColumnWords:
    """The words for a column whose levels are the column's own values."""
    if not words.are_categories:
        return words
    own = {spell_key(value): value for value in sorted_levels(values.dropna())}
    names = {name: key for key, name in words.levels}

    def find(level: Any, part: str) -> Any:
        key = names.get(level, level) if part == "order" else level
        if spell_key(key) not in own:
            raise HornbookError(
                f"{source}, {part}: {level!r} never occurs; its values are {list_values(own.values())}"
            )
        return own[spell_key(key)]

    levels = tuple((find(key, "levels"), name) for key, name in words.levels)
    order = tuple(find(level, "order") for level in words.order)
    for value in own.values():
        if order and value not in order:
            raise HornbookError(f"{source}, order: it lacks {write_value(value)!r}; name every value")
    return replace(words, levels=levels, order=order)
