"""Reads code books: TOML files or mappings, checked for themselves and against a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from hornbook.code_book import CodeBook, ColumnWords, are_whole, describe_unknown, list_values, spell_key
from hornbook.conditions import write_value
from hornbook.errors import HornbookError
from hornbook.storage import read_toml
from hornbook.tables.table import sorted_levels

CodeBookSource: TypeAlias = CodeBook | Mapping[str, Any] | str | Path | None
"""Where a code book comes from: a TOML file, a mapping of its shape, a code book, or nothing."""


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
    bound = {
        name: _bind_column(words, frame[name], f"{book.source}, column {name!r}")
        for name, words in book.columns.items()
    }
    pairs = {
        str(name): tuple(sorted(distinct.tolist(), key=str))
        for name, values in frame.items()
        if len(distinct := values.dropna().unique()) == 2
    }
    book = replace(book, columns=bound).with_pairs(pairs)
    return book.with_whole(
        str(name)
        for name, values in frame.items()
        if book.are_quantities(values) and are_whole(values.dropna().to_numpy(np.float64))
    )


def _read_source(source: Mapping[str, Any] | str | Path | None) -> CodeBook:
    """A code book as it is written, without a table."""
    if source is None or isinstance(source, Mapping):
        return _read_book(source or {}, "the code book")
    return _read_book(read_toml(Path(source)), str(source))


def _read_book(content: Mapping[str, Any], source: str) -> CodeBook:
    """A code book out of a mapping; a message says which part is wrong."""
    _refuse_others(content, ("columns", "classes"), source)
    columns, classes = (_read_mapping(content, part, source) for part in ("columns", "classes"))
    read = {
        str(name): _read_words(
            _read_mapping(columns, name, f"{source}, columns"), f"{source}, column {name!r}"
        )
        for name in columns
    }
    labels = [words.label or name for name, words in read.items()]
    for label in labels:
        if labels.count(label) > 1:
            raise HornbookError(f"{source}: two columns are called {label!r}; give them different labels")
    return CodeBook(read, _read_names(classes, f"{source}, classes"), source)


def _read_words(content: Mapping[str, Any], source: str) -> ColumnWords:
    _refuse_others(content, ("label", "unit", "levels", "order", "codes"), source)
    for part, kind, example in (
        ("label", str, 'label = "Age at diagnosis"'),
        ("unit", str, 'unit = "years"'),
        ("order", list | tuple, 'order = ["low", "high"]'),
        ("codes", bool, "codes = true"),
    ):
        if part in content and not isinstance(content[part], kind):
            raise HornbookError(f"{source}: {part} is {content[part]!r}; write for example {example}")
    levels = _read_names(_read_mapping(content, "levels", source), f"{source}, levels")
    order = tuple(map(spell_key, content.get("order", ())))
    if len(set(order)) < len(order):
        raise HornbookError(f"{source}: order names a level twice; name each once")
    words = ColumnWords(
        content.get("label", ""),
        content.get("unit", ""),
        tuple(levels.items()),
        order,
        content.get("codes", False),
    )
    if words.unit and words.are_categories:
        raise HornbookError(
            f"{source}: levels have no unit; leave out unit, or leave out levels, order and codes"
        )
    return words


def _read_mapping(content: Mapping[Any, Any], part: Any, source: str) -> Mapping[Any, Any]:
    value = content.get(part, {})
    if not isinstance(value, Mapping):
        raise HornbookError(f"{source}: {part} is {value!r}, and should be a table: {part} = {{ … = … }}")
    return value


def _read_names(content: Mapping[Any, Any], source: str) -> dict[str, str]:
    names = {spell_key(key): name for key, name in content.items()}
    for key, name in names.items():
        if not isinstance(name, str) or not name.strip():
            raise HornbookError(f'{source}: {key} is {name!r}; a name is a text: {key} = "…"')
        if list(names.values()).count(name) > 1:
            alike = " and ".join(other for other, own in names.items() if own == name)
            raise HornbookError(f"{source}: {alike} have one name, {name!r}; give them different names")
    return names


def _refuse_others(content: Mapping[Any, Any], parts: tuple[str, ...], source: str) -> None:
    for part in content:
        if part not in parts:
            close = get_close_matches(str(part), parts, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(parts)}"
            raise HornbookError(f"{source}: there is no {part!r}; {hint}")


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
