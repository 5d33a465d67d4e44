"""The kinds of columns: binary, categorical and quantitative."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from hornbook.logic.errors import HornbookError

Kind: TypeAlias = Literal["binary", "categorical", "quantitative"]
KINDS: tuple[Kind, ...] = get_args(Kind)

TRUE_WORDS = frozenset({"1", "true", "t", "yes", "y"})
FALSE_WORDS = frozenset({"0", "false", "f", "no", "n"})


def infer_kind(values: pd.Series[Any]) -> Kind:
    """The kind of a column, from its known values.

    Truth values, and any two values of which numbers are whole, make a column binary; other
    numbers make it quantitative; everything else makes it categorical.

    Examples
    --------
    >>> infer_kind(pd.Series([0, 1, None])), infer_kind(pd.Series([1, 2, 3]))
    ('binary', 'quantitative')
    >>> infer_kind(pd.Series(["no", "yes"])), infer_kind(pd.Series(["red", "green", "blue"]))
    ('binary', 'categorical')

    """
    known = known_values(values)
    return kind_of(levels_of(known), are_numbers(known))


def kind_of(levels: list[Any], numbers: bool) -> Kind:
    """The kind of a column with these distinct values, which are or are not numbers."""
    if not numbers:
        return "binary" if len(levels) == 2 or are_truths(levels) else "categorical"
    whole = all(float(level).is_integer() for level in levels[:3])
    return "binary" if len(levels) <= 2 and whole else "quantitative"


def are_numbers(known: pd.Series[Any]) -> bool:
    """Whether known values are numbers; truth values are not."""
    return pd.api.types.is_numeric_dtype(known) and not pd.api.types.is_bool_dtype(known)


def known_values(values: pd.Series[Any]) -> pd.Series[Any]:
    """The known values of a column, as numbers where they are; refuse a column with none."""
    known = values.dropna()
    if known.empty:
        raise HornbookError(f"column {values.name!r} has no known value; drop it")
    if known.dtype == object:
        known = known.infer_objects()
    if pd.api.types.is_datetime64_any_dtype(known) or pd.api.types.is_timedelta64_dtype(known):
        raise HornbookError(f"column {values.name!r} holds times; turn them into numbers first")
    return known


def levels_of(known: pd.Series[Any], most: int | None = None) -> list[Any]:
    """The distinct values of a column, or so many of them, in order: a category's own, or sorted."""
    if isinstance(known.dtype, pd.CategoricalDtype):
        present = set(known.unique())
        return [level for level in known.cat.categories if level in present]
    try:
        distinct = [
            level.item() if isinstance(level, np.generic) else level for level in known.unique()[:most]
        ]
    except TypeError:
        distinct = [None]
    if not all(isinstance(level, str | int | float) for level in distinct):
        raise HornbookError(f"column {known.name!r} holds values that are not numbers or text")
    return sorted(distinct, key=lambda level: (isinstance(level, str), level))


def are_truths(levels: list[Any]) -> bool:
    """Whether every level is a word or number for true or false."""
    return all(truth(level) is not None for level in levels)


def truth(level: object) -> bool | None:
    """The truth value that a level spells, if any."""
    word = spelled(level).lower()
    return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None


def spelled(level: object) -> str:
    """A level as it appears in names: whole numbers without a point."""
    if isinstance(level, float) and level.is_integer():
        return str(int(level))
    return str(level).strip()
