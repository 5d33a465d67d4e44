"""Conditions on a column that a variable stands for: it is true, has a level, or is in an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Bools, HornTheory, Rule, Vocabulary
from hornbook.queries.literals import Groups
from hornbook.tables.table import spell_level, truth_value


@dataclass(frozen=True)
class IsTrue:
    """The column is true."""

    column: str

    def holds(self, known: pd.Series[Any]) -> Bools:
        """Which known values are true."""
        answers = {level: truth_value(level) for level in known.unique()}
        if strange := [level for level, answer in answers.items() if answer is None]:
            raise HornbookError(
                f"column {self.column!r} was true or false when the binariser was fitted, "
                f"and now has {strange[0]!r}"
            )
        return known.map(answers).to_numpy(np.bool_)

    @property
    def name(self) -> str:
        """The name of the variable."""
        return self.column

    def describe(self, negated: bool = False) -> str:
        """The condition, or its negation."""
        return f"{self.column} is {'false' if negated else 'true'}"


@dataclass(frozen=True)
class Equals:
    """The column has a given value."""

    column: str
    value: str | float

    def holds(self, known: pd.Series[Any]) -> Bools:
        """Which known values equal it; values that were never seen do not."""
        return (known == self.value).to_numpy(np.bool_)

    @property
    def name(self) -> str:
        """The name of the variable."""
        return f"{self.column}={spell_level(self.value)}"

    def describe(self, negated: bool = False) -> str:
        """The condition, or its negation."""
        return f"{self.column} {'≠' if negated else '='} {spell_level(self.value)}"


@dataclass(frozen=True)
class Between:
    """The column is above `low` and at most `high`: a named bin."""

    column: str
    bin: str
    low: float = -math.inf
    high: float = math.inf

    def holds(self, known: pd.Series[Any]) -> Bools:
        """Which known values are in the interval."""
        try:
            numbers = known.to_numpy(np.float64)
        except (TypeError, ValueError) as error:
            raise HornbookError(f"column {self.column!r} holds numbers: {error}") from None
        return (numbers > self.low) & (numbers <= self.high)

    @property
    def name(self) -> str:
        """The name of the variable."""
        return f"{self.column}={self.bin}"

    def describe(self, negated: bool = False) -> str:
        """The condition, or its negation."""
        above, most = (f"{self.column} {sign} " for sign in (">", "≤"))
        if negated:
            bounds = [(most, self.low), (above, self.high)]
            return " or ".join(f"{side}{bound:.6g}" for side, bound in bounds if math.isfinite(bound))
        if math.isfinite(self.low) and math.isfinite(self.high):
            return f"{self.low:.6g} < {most}{self.high:.6g}"
        return f"{most}{self.high:.6g}" if math.isfinite(self.high) else f"{above}{self.low:.6g}"


Condition: TypeAlias = IsTrue | Equals | Between

BIN_NAMES = {
    1: ("known",),
    2: ("low", "high"),
    3: ("low", "middle", "high"),
    4: ("very_low", "low", "high", "very_high"),
    5: ("very_low", "low", "middle", "high", "very_high"),
}


def make_intervals(column: str, cuts: tuple[float, ...]) -> tuple[Between, ...]:
    """The bins between cut points, closed on the right.

    Examples
    --------
    >>> [interval.name for interval in make_intervals("age", (40.0, 60.0))]
    ['age=low', 'age=middle', 'age=high']
    >>> make_intervals("age", (40.0, 60.0))[1].describe()
    '40 < age ≤ 60'

    """
    count = len(cuts) + 1
    names = BIN_NAMES.get(count) or tuple(f"bin{number}" for number in range(1, count + 1))
    bounds = (-math.inf, *cuts, math.inf)
    return tuple(
        Between(column, name, low, high) for name, low, high in zip(names, bounds, bounds[1:], strict=False)
    )


def to_object(condition: Condition) -> dict[str, Any]:
    """Convert a condition to a JSON object; an infinite bound is null."""
    fields = {
        key: None if value in (-math.inf, math.inf) else value for key, value in asdict(condition).items()
    }
    return {"says": type(condition).__name__, **fields}


def from_object(entry: dict[str, Any]) -> Condition:
    """Read what `to_object` wrote."""
    kinds: dict[str, type[Condition]] = {kind.__name__: kind for kind in (IsTrue, Equals, Between)}
    fields = {key: value for key, value in entry.items() if key != "says" and value is not None}
    return kinds[entry["says"]](**fields)


def group_by_column(columns: Sequence[str]) -> Groups:
    """Group the variables of each column that has several; `columns` has one entry per variable."""
    members: dict[str, list[int]] = {}
    for variable, column in enumerate(columns):
        members.setdefault(column, []).append(variable)
    return tuple(tuple(group) for group in members.values() if len(group) > 1)


def exclusivity_rules(vocabulary: Vocabulary, groups: Groups) -> HornTheory:
    """Return the rules that at most one variable of each group is true.

    With duals, a true variable implies the duals of the others, so that closures derive them;
    without, two true variables imply ⊥.

    Examples
    --------
    >>> print(exclusivity_rules(Vocabulary(["age=low", "age=high"]), ((0, 1),)))
    age=low ∧ age=high → ⊥
    >>> print(exclusivity_rules(Vocabulary.with_duals(["age=low", "age=high"]), ((0, 1),)))
    age=low → not_age=high
    age=high → not_age=low

    """
    rules = []
    for v, w in (pair for group in groups for pair in combinations(group, 2)):
        not_v, not_w = vocabulary.dual(v), vocabulary.dual(w)
        if not_v is None or not_w is None:
            rules.append(Rule({v, w}, BOTTOM))
        else:
            rules += [Rule({v}, not_w), Rule({w}, not_v)]
    return HornTheory(vocabulary, rules)
