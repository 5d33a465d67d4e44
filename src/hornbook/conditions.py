"""Conditions on the columns of a table: thresholds, ranges, categories, truth values and missing values.

A condition is true, false or unknown of a row. It is unknown exactly where the row has no value
in the column; only whether a value is missing is always known. Explanations, reasons and claims are
made of conditions, and the variables of a theory stand for them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import pandas as pd

from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.logic import Bools
from hornbook.times import count_days, find_time_type

Value: TypeAlias = str | int | float | bool
"""A value of a column of categories."""

TRUE_WORDS = frozenset({"1", "true", "t", "yes", "y"})
FALSE_WORDS = frozenset({"0", "false", "f", "no", "n"})


@dataclass(frozen=True)
class _ColumnCondition(Displayed, ABC):
    """What conditions share: they are about one column, and each has a negation."""

    sign: ClassVar[str]
    """The field that is false of a condition that is the negation of another."""

    column: str

    @property
    def is_plain(self) -> bool:
        """Whether it is not the negation of another condition."""
        return bool(getattr(self, self.sign))

    @property
    def accepts_missing(self) -> bool:
        """Whether it is true of a missing value."""
        return False

    @property
    def named_values(self) -> tuple[Any, ...]:
        """The values that it names."""
        return ()

    @property
    def cuts(self) -> tuple[float, ...]:
        """The numbers by which it divides those of its column, ascending."""
        return ()

    @property
    def allowed_values(self) -> tuple[Any, ...]:
        """The values of which it asks for one; empty where there are no such."""
        return self.named_values if self.is_plain else ()

    def negate(self) -> Self:
        """The condition that is true where this one is false."""
        opposite: dict[str, Any] = {self.sign: not self.is_plain}
        return replace(self, **opposite)

    def evaluate(self, frame: pd.DataFrame) -> tuple[Bools, Bools]:
        """Where the condition is true of the rows, and where it is false."""
        holds, fails = self._compare(frame)
        return (holds, fails) if self.is_plain else (fails, holds)

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Whether the condition is true of a value that is not missing."""

    def implies(self, other: Condition) -> bool:
        """Whether the other condition is true wherever this one is."""
        if self.column != other.column:
            return False
        return not other.missing if isinstance(other, Missing) else self._implies(other)

    def excludes(self, other: Condition) -> bool:
        """Whether no row can meet both conditions."""
        return self.implies(other.negate())

    def round(self, digits: int = 6) -> Self:
        """The same condition with its numbers rounded to `digits` digits, for readers."""
        return self

    def floor(self) -> Self:
        """A condition that says the same of whole numbers, by whole numbers."""
        return self

    @abstractmethod
    def _compare(self, frame: pd.DataFrame) -> tuple[Bools, Bools]:
        """Where the condition that this one is or negates is true, and where it is false."""

    def _implies(self, other: Condition) -> bool:
        """Whether it implies another condition on the same column, other than that there is a value."""
        return self == other


@dataclass(frozen=True)
class _NumberCondition(_ColumnCondition):
    """What conditions on the numbers of a column share: they are true in intervals."""

    @property
    @abstractmethod
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """The intervals in which it is true, from above their lower ends to their upper ones."""

    @property
    def cuts(self) -> tuple[float, ...]:
        """The numbers by which it divides those of its column, ascending."""
        return tuple(sorted({float(end) for ends in self.intervals for end in ends if math.isfinite(end)}))

    def accepts(self, value: Any) -> bool:
        """Whether the condition is true of a number."""
        return any(low < value <= high for low, high in self.intervals)

    def _implies(self, other: Condition) -> bool:
        return isinstance(other, _NumberCondition) and all(
            any(least <= low and high <= most for least, most in other.intervals)
            for low, high in self.intervals
        )


@dataclass(frozen=True)
class Threshold(_NumberCondition):
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
    sign = "above"

    cut: float
    above: bool = True

    def __post_init__(self) -> None:
        _refuse_nan(self.column, self.cut)

    @property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """The interval in which it is true."""
        return ((self.cut, math.inf) if self.above else (-math.inf, self.cut),)

    def round(self, digits: int = 6) -> Threshold:
        """The threshold with its cut rounded to `digits` digits."""
        return Threshold(self.column, round_digits(self.cut, digits), self.above)

    def floor(self) -> Threshold:
        """The threshold at the whole number below it."""
        return Threshold(self.column, math.floor(self.cut), self.above)

    def _compare(self, frame: pd.DataFrame) -> tuple[Bools, Bools]:
        values = read_numbers(frame, self.column)
        return values > self.cut, values <= self.cut  # neither holds of NaN

    def __str__(self) -> str:
        return f"{self.column} {'>' if self.above else '<='} {write_value(self.cut)}"


@dataclass(frozen=True)
class Between(_NumberCondition):
    """Whether the number in a column is above `low` and at most `high`, or, if not `inside`, another one.

    Both ends are finite; see `make_range` for ranges that need not be.

    Examples
    --------
    >>> rows = pd.DataFrame({"age": [30.0, 50.0, np.nan]})
    >>> Between("age", 40, 60).evaluate(rows)
    (array([False,  True, False]), array([ True, False, False]))
    >>> print(Between("age", 40, 60), Between("age", 40, 60).negate(), sep=", ")
    40 < age <= 60, age <= 40 or age > 60
    >>> Between("age", 40, 60).implies(Threshold("age", 30))
    True

    """

    kind: ClassVar[str] = "range"
    sign = "inside"

    low: float
    high: float
    inside: bool = True

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise HornbookError(f"{self.column!r} is in no range above {self.low} and at most {self.high}")

    @property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """The interval in which it is true, or those around it."""
        if self.inside:
            return ((self.low, self.high),)
        return (-math.inf, self.low), (self.high, math.inf)

    def round(self, digits: int = 6) -> Between:
        """The range with its ends rounded to `digits` digits, unless they become equal."""
        low, high = (round_digits(end, digits) for end in (self.low, self.high))
        return Between(self.column, low, high, self.inside) if low < high else self

    def floor(self) -> Between:
        """The range between the whole numbers below its ends, unless they become equal."""
        low, high = math.floor(self.low), math.floor(self.high)
        return Between(self.column, low, high, self.inside) if low < high else self

    def _compare(self, frame: pd.DataFrame) -> tuple[Bools, Bools]:
        values = read_numbers(frame, self.column)
        return (values > self.low) & (values <= self.high), (values <= self.low) | (values > self.high)

    def __str__(self) -> str:
        low, high = write_value(self.low), write_value(self.high)
        if self.inside:
            return f"{low} < {self.column} <= {high}"
        return f"{self.column} <= {low} or {self.column} > {high}"


@dataclass(frozen=True)
class Category(_ColumnCondition):
    """Whether a column has one of some values, or, if not `inside`, another one.

    A single value need not be in a tuple. Several are kept sorted, each once, so that equal sets
    compare equal.

    Examples
    --------
    >>> rows = pd.DataFrame({"status": ["A11", "A13", None]})
    >>> Category("status", ("A12", "A11")).evaluate(rows)
    (array([ True, False, False]), array([False,  True, False]))
    >>> print(Category("status", ("A12", "A11")), Category("sex", "f").negate(), sep=", ")
    status in {A11, A12}, sex ≠ f

    """

    kind: ClassVar[str] = "category"
    sign = "inside"

    values: tuple[Value, ...]
    inside: bool = True

    def __init__(self, column: str, values: Value | tuple[Value, ...], inside: bool = True) -> None:
        named = values if isinstance(values, tuple) else (values,)
        _refuse_nan(column, *named)
        if not named:
            raise HornbookError(f"a set of values of {column!r} is empty; name at least one value")
        distinct = sorted(dict.fromkeys(named), key=lambda value: (isinstance(value, str), value))
        for part, value in (("column", column), ("values", tuple(distinct)), ("inside", inside)):
            object.__setattr__(self, part, value)

    @property
    def named_values(self) -> tuple[Any, ...]:
        """The values that it names."""
        return self.values

    def accepts(self, value: Any) -> bool:
        """Whether the condition is true of a value."""
        return bool(value in self.values) == self.inside

    def _compare(self, frame: pd.DataFrame) -> tuple[Bools, Bools]:
        values = _read_cells(frame, self.column)
        present = values.notna().to_numpy(np.bool_)
        if len(self.values) == 1:
            equal = (values == self.values[0]).fillna(False)
        else:
            equal = values.isin(self.values)
        matches = present & equal.to_numpy(np.bool_)
        return matches, present & ~matches

    def _implies(self, other: Condition) -> bool:
        if not isinstance(other, Category):
            return False
        mine, others = frozenset(self.values), frozenset(other.values)
        if self.inside:
            return mine <= others if other.inside else mine.isdisjoint(others)
        return not other.inside and others <= mine

    def __str__(self) -> str:
        values = ", ".join(map(write_value, self.values))
        if len(self.values) == 1:
            return f"{self.column} {'=' if self.inside else '≠'} {values}"
        return f"{self.column} {'in' if self.inside else 'not in'} {{{values}}}"


@dataclass(frozen=True)
class IsTrue(_ColumnCondition):
    """Whether a column of truth values, however they are spelled, is true, or, if not `true`, false.

    Examples
    --------
    >>> rows = pd.DataFrame({"smokes": ["yes", "no", None]})
    >>> IsTrue("smokes").evaluate(rows)
    (array([ True, False, False]), array([False,  True, False]))
    >>> print(IsTrue("smokes").negate())
    smokes is false

    """

    kind: ClassVar[str] = "truth"
    sign = "true"

    true: bool = True

    @property
    def named_values(self) -> tuple[Any, ...]:
        """The number that stands for true."""
        return (1,)

    def accepts(self, value: Any) -> bool:
        """Whether the condition is true of a value that spells a truth value."""
        return truth_value(value) is self.true

    def _compare(self, frame: pd.DataFrame) -> tuple[Bools, Bools]:
        values = _column(frame, self.column)
        truths = {level: truth_value(level) for level in values.dropna().unique()}
        if strange := [level for level, truth in truths.items() if truth is None]:
            raise HornbookError(f"column {self.column!r} is true or false, and not {strange[0]!r}")
        known = values.notna().to_numpy(np.bool_)
        true = known & values.isin([level for level, truth in truths.items() if truth]).to_numpy(np.bool_)
        return true, known & ~true

    def __str__(self) -> str:
        return f"{self.column} is {'true' if self.true else 'false'}"


@dataclass(frozen=True)
class Missing(_ColumnCondition):
    """Whether a column has no value, or, if not `missing`, whether it has one. Never unknown.

    Examples
    --------
    >>> Missing("sex").evaluate(pd.DataFrame({"sex": ["f", None]}))
    (array([False,  True]), array([ True, False]))

    """

    kind: ClassVar[str] = "missing"
    sign = "missing"

    missing: bool = True

    @property
    def accepts_missing(self) -> bool:
        """Whether it is true of a missing value."""
        return self.missing

    def accepts(self, value: Any) -> bool:
        """Whether it asks for a value, whatever it is."""
        return not self.missing

    def implies(self, other: Condition) -> bool:
        """Whether the other condition is true wherever this one is."""
        return self == other

    def excludes(self, other: Condition) -> bool:
        """Whether no row can meet both conditions."""
        return self.column == other.column and (
            self.missing if not isinstance(other, Missing) else self != other
        )

    def _compare(self, frame: pd.DataFrame) -> tuple[Bools, Bools]:
        missing = _column(frame, self.column).isna().to_numpy(np.bool_)
        return missing, ~missing

    def __str__(self) -> str:
        return f"{self.column} is {'missing' if self.missing else 'present'}"


Condition: TypeAlias = Threshold | Between | Category | IsTrue | Missing


def make_range(column: str, low: float, high: float) -> Threshold | Between:
    """The condition that a number is above `low` and at most `high`, of which one may be infinite.

    Examples
    --------
    >>> print(make_range("age", -math.inf, 40), make_range("age", 40, 60), sep=", ")
    age <= 40, 40 < age <= 60

    """
    if low == -math.inf:
        return Threshold(column, high, above=False)
    return Threshold(column, low) if high == math.inf else Between(column, low, high)


def find_range(conditions: Iterable[Condition]) -> tuple[float, float]:
    """The range (low, high] that is left to the numbers of a column by thresholds and ranges on it."""
    ends = [each.intervals[0] for each in conditions if isinstance(each, _NumberCondition)]
    lows, highs = zip((-math.inf, math.inf), *ends, strict=True)
    return max(lows), min(highs)


def merge_conditions(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """The fewest conditions that are all true where the given ones are: of a column one, if that can be.

    Those that exclude each other stay as they are.

    Examples
    --------
    >>> def show(*conditions):
    ...     print(" and ".join(map(str, merge_conditions(conditions))))
    >>> show(Threshold("age", 40), Threshold("age", 60, above=False), Threshold("age", 30))
    40 < age <= 60
    >>> show(Category("band", ("40-54", "55+"), inside=False), Category("band", "25-39"))
    band = 25-39

    """
    by_column: dict[str, list[Condition]] = {}
    for condition in dict.fromkeys(conditions):
        by_column.setdefault(condition.column, []).append(condition)
    return tuple(each for own in by_column.values() for each in _merge_column(own))


def _merge_column(conditions: list[Condition]) -> list[Condition]:
    """The fewest conditions for those on one column."""
    own = [each for each in conditions if not any(o != each and o.implies(each) for o in conditions)]
    numbers = [each for each in own if isinstance(each, _NumberCondition)]
    categories = [each for each in own if isinstance(each, Category)]
    others = [each for each in own if each not in numbers and each not in categories]
    left = _intersect_intervals(numbers)
    named = [value for each in categories if each.inside for value in each.values]
    allowed = [value for value in dict.fromkeys(named) if all(each.accepts(value) for each in categories)]
    if not left or (named and not allowed):
        return conditions
    merged: list[Condition] = _join_intervals(conditions[0].column, left) if numbers else []
    if named and not (numbers and any(isinstance(value, str) for value in allowed)):
        allowed = [value for value in allowed if all(each.accepts(value) for each in numbers)]
        merged = []
    if allowed:
        merged.append(Category(conditions[0].column, tuple(allowed)))
    elif named:
        return conditions
    elif categories:
        excluded = tuple(value for each in categories for value in each.values)
        merged.append(Category(conditions[0].column, excluded, inside=False))
    return merged + others


def _intersect_intervals(conditions: Iterable[_NumberCondition]) -> list[tuple[float, float]]:
    """The intervals of numbers that meet all conditions, ascending; each is above its lower end."""
    left = [(-math.inf, math.inf)]
    for each in conditions:
        pairs = ((max(a, low), min(b, high)) for a, b in left for low, high in each.intervals)
        left = [(low, high) for low, high in pairs if low < high]
    return left


def _join_intervals(column: str, intervals: list[tuple[float, float]]) -> list[Condition]:
    """The conditions that a number is in one of some intervals: in their range, and in none of the gaps."""
    gaps = [(end, start) for (_, end), (start, _) in pairwise(intervals)]
    low, high = intervals[0][0], intervals[-1][1]
    joined: list[Condition] = [make_range(column, low, high)] if (low, high) != (-math.inf, math.inf) else []
    return [*joined, *(Between(column, end, start, inside=False) for end, start in gaps)]


def truth_value(level: object) -> bool | None:
    """The truth value that a level spells; None if it spells none."""
    word = spell_level(level).lower()
    return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None


def spell_level(level: object) -> str:
    """A level as variables are named by it: whole numbers without a decimal point."""
    if isinstance(level, float) and level.is_integer():
        return str(int(level))
    return str(level).strip()


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
    for first, second in combinations(distinct, 2):
        if first.excludes(second) or second.excludes(first):
            yield (first, second), None


def round_digits(number: float, digits: int) -> float:
    """Round a number to `digits` significant digits."""
    return float(f"{number:.{digits}g}")


def read_numbers(frame: pd.DataFrame, column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A column as numbers, times in days, NaN where a value is missing; refuse a column of words."""
    cells = _column(frame, column)
    if (kind := find_time_type(cells)) is not None:
        return count_days(cells, kind)
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
    >>> write_value(3.0), write_value(0.25), write_value(-0.0), write_value("f")
    ('3', '0.25', '0', 'f')

    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return str(value)
    return repr(float(value) + 0.0).removesuffix(".0")  # and never −0


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
    """A column in which values are sought, numbers in double precision and times in days as in thresholds."""
    cells = _column(frame, column)
    if (kind := find_time_type(cells)) is not None:
        return pd.Series(count_days(cells, kind), cells.index)
    return cells.astype(np.float64) if pd.api.types.is_float_dtype(cells.dtype) else cells


def meet_conditions(conditions: Iterable[Condition], rows: pd.DataFrame) -> Bools:
    """Which rows meet all conditions."""
    met = np.ones(len(rows), np.bool_)
    for condition in conditions:
        met &= condition.evaluate(rows)[0]
    return met
