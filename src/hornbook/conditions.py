"""Conditions on the columns of a table: thresholds, categories and missing values.

A condition is true, false or unknown of a row. It is unknown exactly where the row has no value
in the column; only whether a value is missing is always known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd

from hornbook.errors import HornbookError
from hornbook.logic import Bools

Value: TypeAlias = str | int | float | bool
"""A value of a column of categories."""


@dataclass(frozen=True)
class Threshold:
    """Whether the number in a column is above a cut, or, if not `above`, at most the cut.

    Examples
    --------
    >>> rows = pd.DataFrame({"age": [30.0, 50.0, np.nan]})
    >>> Threshold("age", 40).evaluate(rows)
    (array([False,  True, False]), array([ True, False, False]))
    >>> print(Threshold("age", 40), Threshold("age", 40).negate(), sep=", ")
    age > 40, age <= 40

    """

    kind: ClassVar[str] = "threshold"

    column: str
    cut: float
    above: bool = True

    def __post_init__(self) -> None:
        _refuse_nan(self.column, self.cut)

    def evaluate(self, frame: pd.DataFrame) -> tuple[Bools, Bools]:
        """Where the condition is true of the rows, and where it is false."""
        values = read_numbers(frame, self.column)
        above, below = values > self.cut, values <= self.cut  # neither holds of NaN
        return (above, below) if self.above else (below, above)

    def negate(self) -> Threshold:
        """The condition that is true where this one is false."""
        return Threshold(self.column, self.cut, not self.above)

    def implies(self, other: Condition) -> bool:
        """Whether the other condition is true wherever this one is."""
        if not isinstance(other, Threshold):
            return _implies_presence(self, other)
        same = self.column == other.column and self.above == other.above
        return same and (self.cut >= other.cut if self.above else self.cut <= other.cut)

    def excludes(self, other: Condition) -> bool:
        """Whether no row can meet both conditions."""
        return self.implies(other.negate())

    def __str__(self) -> str:
        return f"{self.column} {'>' if self.above else '<='} {write_value(self.cut)}"


@dataclass(frozen=True)
class Category:
    """Whether a column has a value, or, if not `equal`, another one.

    Examples
    --------
    >>> rows = pd.DataFrame({"sex": ["f", "m", None]})
    >>> Category("sex", "f").evaluate(rows)
    (array([ True, False, False]), array([False,  True, False]))
    >>> print(Category("sex", "f"), Category("sex", "f").negate(), sep=", ")
    sex = f, sex ≠ f

    """

    kind: ClassVar[str] = "category"

    column: str
    value: Value
    equal: bool = True

    def __post_init__(self) -> None:
        _refuse_nan(self.column, self.value)

    def evaluate(self, frame: pd.DataFrame) -> tuple[Bools, Bools]:
        """Where the condition is true of the rows, and where it is false."""
        values = _read_cells(frame, self.column)
        present = values.notna().to_numpy(np.bool_)
        matches = present & (values == self.value).fillna(False).to_numpy(np.bool_)
        others = present & ~matches
        return (matches, others) if self.equal else (others, matches)

    def negate(self) -> Category:
        """The condition that is true where this one is false."""
        return Category(self.column, self.value, not self.equal)

    def implies(self, other: Condition) -> bool:
        """Whether the other condition is true wherever this one is."""
        if not isinstance(other, Category | CategorySet):
            return _implies_presence(self, other)
        return _implies_values(self, other)

    def excludes(self, other: Condition) -> bool:
        """Whether no row can meet both conditions."""
        return self.implies(other.negate())

    def __str__(self) -> str:
        return f"{self.column} {'=' if self.equal else '≠'} {write_value(self.value)}"


@dataclass(frozen=True)
class CategorySet:
    """Whether a column has one of some values, or, if not `inside`, another one.

    The values are kept sorted, each once, so that equal sets compare equal.

    Examples
    --------
    >>> rows = pd.DataFrame({"status": ["A11", "A13", None]})
    >>> CategorySet("status", ("A12", "A11")).evaluate(rows)
    (array([ True, False, False]), array([False,  True, False]))
    >>> print(CategorySet("status", ("A12", "A11")), CategorySet("status", ("A11",)).negate(), sep=", ")
    status in {A11, A12}, status not in {A11}

    """

    kind: ClassVar[str] = "set"

    column: str
    values: tuple[Value, ...]
    inside: bool = True

    def __post_init__(self) -> None:
        _refuse_nan(self.column, *self.values)
        distinct = sorted(dict.fromkeys(self.values), key=lambda value: (isinstance(value, str), value))
        object.__setattr__(self, "values", tuple(distinct))
        if not distinct:
            raise HornbookError(f"a set of values of {self.column!r} is empty; name at least one value")

    def evaluate(self, frame: pd.DataFrame) -> tuple[Bools, Bools]:
        """Where the condition is true of the rows, and where it is false."""
        values = _read_cells(frame, self.column)
        present = values.notna().to_numpy(np.bool_)
        matches = present & values.isin(self.values).to_numpy(np.bool_)
        others = present & ~matches
        return (matches, others) if self.inside else (others, matches)

    def negate(self) -> CategorySet:
        """The condition that is true where this one is false."""
        return CategorySet(self.column, self.values, not self.inside)

    def implies(self, other: Condition) -> bool:
        """Whether the other condition is true wherever this one is."""
        if not isinstance(other, Category | CategorySet):
            return _implies_presence(self, other)
        return _implies_values(self, other)

    def excludes(self, other: Condition) -> bool:
        """Whether no row can meet both conditions."""
        return self.implies(other.negate())

    def __str__(self) -> str:
        values = ", ".join(map(write_value, self.values))
        return f"{self.column} {'in' if self.inside else 'not in'} {{{values}}}"


@dataclass(frozen=True)
class Missing:
    """Whether a column has no value, or, if not `missing`, whether it has one. Never unknown.

    Examples
    --------
    >>> Missing("sex").evaluate(pd.DataFrame({"sex": ["f", None]}))
    (array([False,  True]), array([ True, False]))

    """

    kind: ClassVar[str] = "missing"

    column: str
    missing: bool = True

    def evaluate(self, frame: pd.DataFrame) -> tuple[Bools, Bools]:
        """Where the condition is true of the rows, and where it is false."""
        missing = _column(frame, self.column).isna().to_numpy(np.bool_)
        return (missing, ~missing) if self.missing else (~missing, missing)

    def negate(self) -> Missing:
        """The condition that is true where this one is false."""
        return Missing(self.column, not self.missing)

    def implies(self, other: Condition) -> bool:
        """Whether the other condition is true wherever this one is."""
        return self == other

    def excludes(self, other: Condition) -> bool:
        """Whether no row can meet both conditions."""
        return self.column == other.column and (
            self.missing if not isinstance(other, Missing) else self != other
        )

    def __str__(self) -> str:
        return f"{self.column} is {'missing' if self.missing else 'present'}"


Condition: TypeAlias = Threshold | Category | CategorySet | Missing


def _refuse_nan(column: str, *values: Any) -> None:
    """Raise for a value that no comparison is true of."""
    if any(isinstance(value, float | np.floating) and math.isnan(value) for value in values):
        raise HornbookError(
            f"a condition compares {column!r} with NaN, which no value is equal to, above or below; "
            "Missing asks whether there is a value"
        )


def background_rules(
    conditions: Iterable[Condition],
) -> Iterator[tuple[tuple[Condition, ...], Condition | None]]:
    """What always holds between conditions: (body, head), the head None where a body is impossible.

    Of ordered thresholds only neighbours are named; the others follow.

    Examples
    --------
    >>> ages = [Threshold("age", cut) for cut in (40, 50, 60)]
    >>> for body, head in background_rules([*ages, Threshold("age", 50, above=False)]):
    ...     print(" and ".join(map(str, body)), "->", head)
    age > 50 -> age > 40
    age > 60 -> age > 50
    age > 50 and age <= 50 -> None
    age > 60 and age <= 50 -> None

    """
    distinct = list(dict.fromkeys(conditions))
    implied = {a: [b for b in distinct if a != b and a.implies(b)] for a in distinct}
    for condition, followers in implied.items():
        for head in followers:
            if not any(head in implied[between] for between in followers):
                yield (condition,), head
    for first, second in permutations(distinct, 2):
        if distinct.index(first) < distinct.index(second) and (
            first.excludes(second) or second.excludes(first)
        ):
            yield (first, second), None


def read_numbers(frame: pd.DataFrame, column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A column as numbers, NaN where a value is missing; refuse a column of words."""
    cells = _column(frame, column)
    try:
        values: np.ndarray[Any, np.dtype[np.float64]] = cells.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        word = next((cell for cell in cells if isinstance(cell, str)), cells.iloc[0])
        raise HornbookError(
            f"column {column!r} holds {word!r}, and is compared with numbers; make its values numbers"
        ) from None
    return values


def write_value(value: Any) -> str:
    """A value as a reader expects it: whole numbers without a decimal point.

    Examples
    --------
    >>> write_value(3.0), write_value(0.25), write_value("f")
    ('3', '0.25', 'f')

    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return str(value)
    return repr(float(value)).removesuffix(".0")


def shorten_cut(low: float, high: float) -> float:
    """The number with the fewest digits between two values, near their middle: low <= cut < high.

    Examples
    --------
    >>> shorten_cut(3, 4), shorten_cut(2.0871, 2.1342), shorten_cut(120, 180)
    (3.0, 2.1, 150.0)

    """
    if float(low).is_integer() and high == low + 1:
        return float(low)
    width = high - low
    within = low + width / 4, high - width / 4
    middle = low + width / 2
    if not np.isfinite(width) or middle in (low, high):
        return float(low)
    for digits in range(-int(np.floor(np.log10(width))) - 1, 18):
        cut = float(f"{round(middle, digits):.15g}")
        if within[0] <= cut <= within[1] and low <= cut < high:
            return cut
    return float(low)


def _column(frame: pd.DataFrame, column: str) -> pd.Series[Any]:
    try:
        return frame[column]
    except KeyError:
        raise HornbookError(
            f"the rows have no column {column!r}; they have {', '.join(map(str, frame.columns))}"
        ) from None


def _read_cells(frame: pd.DataFrame, column: str) -> pd.Series[Any]:
    """A column in which values are sought, numbers in double precision as in thresholds."""
    cells = _column(frame, column)
    return cells.astype(np.float64) if pd.api.types.is_float_dtype(cells.dtype) else cells


def _implies_presence(condition: Condition, other: Condition) -> bool:
    return isinstance(other, Missing) and not other.missing and other.column == condition.column


def _implies_values(condition: Category | CategorySet, other: Category | CategorySet) -> bool:
    """Whether one condition on the values of a column implies another."""
    if condition.column != other.column:
        return False
    (values, inside), (others, among) = map(_value_set, (condition, other))
    if inside:
        return values <= others if among else values.isdisjoint(others)
    return not among and others <= values


def _value_set(condition: Category | CategorySet) -> tuple[frozenset[Any], bool]:
    """The values that a condition names, and whether it is true of them or of the others."""
    if isinstance(condition, Category):
        return frozenset([condition.value]), condition.equal
    return frozenset(condition.values), condition.inside


def meet_conditions(conditions: Iterable[Condition], rows: pd.DataFrame) -> Bools:
    """Which rows meet all conditions."""
    met = np.ones(len(rows), np.bool_)
    for condition in conditions:
        met &= condition.evaluate(rows)[0]
    return met
