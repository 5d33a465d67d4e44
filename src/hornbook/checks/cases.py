"""The cases that may break a claim about columns, and violations: close to a row of the table.

A case of a rule is a row that meets its body: a sample of the table in which values of the body's columns
are exchanged for values of the table that meet it. A case of a monotonicity is a pair of rows that differ
in one column only. Pairs stand in one frame: the lower rows, and below them the higher ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.checks.claims import MonotoneClaim, RuleClaim, name_outcome
from hornbook.conditions import Condition, find_range, meet_conditions, shorten_cut
from hornbook.delta import minimise
from hornbook.display import Displayed
from hornbook.errors import ModelError
from hornbook.extraction.columns import plain_value
from hornbook.logic import Bools
from hornbook.models import ClassifierTeacher, ask_anew
from hornbook.proof import ColumnProver, Verdict
from hornbook.tables import replace_columns

NEAREST_ROWS = 8
"""Rows of the table to which a violation is brought as close as can be; the closest is shown."""

COMPARED_ROWS = 5_000
"""Rows of the table among which the nearest ones are looked for."""

LADDER_ROWS, LADDER_VALUES = 512, 32
"""Rows at which a monotonicity is searched further, and values of the column that are tried at each."""


@dataclass(frozen=True, eq=False)
class Violation(Displayed):
    """Rows that break a claim: one row, or two that differ in one column, the lower one first.

    Parameters
    ----------
    rows
        The rows, in the columns of the table.
    outcomes
        The model's class for each, in words.
    row
        The table's row that comes closest, by the table's index.
    changed
        The columns in which they differ from that row; none if it is that row itself.

    """

    rows: pd.DataFrame
    outcomes: tuple[str, ...]
    row: Any
    changed: tuple[str, ...]

    def __str__(self) -> str:
        near = f"row {self.row}" + (f" with another {' and '.join(self.changed)}" if self.changed else "")
        return f"{near}: {', then '.join(self.outcomes)}"


@dataclass(frozen=True, eq=False)
class RuleCases:
    """Rows that meet the body of a rule; those that get another class than its outcome break it."""

    claim: RuleClaim
    teacher: ClassifierTeacher
    classes: tuple[str, ...]

    @cached_property
    def outcome(self) -> tuple[int, bool]:
        """The number of the class that the outcome names, and whether it says that it is that class."""
        return name_outcome(self.claim.outcome, self.classes)

    @cached_property
    def sampler(self) -> BodySampler:
        """Draws rows that meet the body."""
        return BodySampler(self.teacher, self.claim.body)

    @property
    def possible(self) -> bool:
        """Whether some row can meet the body."""
        return all(len(pool) for pool in self.sampler.pools.values())

    def prove(self, prover: ColumnProver, seconds: float) -> Verdict[pd.DataFrame]:
        """Prove or refute that no row of the domain breaks the rule."""
        number, positive = self.outcome
        if positive or len(self.classes) == 2:
            return prover.prove(self.claim.body, number if positive else 1 - number, seconds=seconds)
        return Verdict.leave_open("a proof is about one class, and not about all others of several")

    def draw(self, size: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw rows that meet the body."""
        return self.sampler.draw(size, rng)

    def breaks(self, rows: pd.DataFrame) -> Bools:
        """Which rows meet the body and get another class."""
        number, positive = self.outcome
        broken = meet_conditions(self.claim.body, rows)
        if broken.any():
            broken[broken] = (self.teacher.labels(rows[broken]) == number) != positive
        return broken

    def take(self, rows: pd.DataFrame, numbers: NDArray[np.intp]) -> list[pd.DataFrame]:
        """Some of the rows, each as a frame."""
        return [rows.iloc[[number]] for number in numbers]

    def bring_close(self, broken: Sequence[pd.DataFrame]) -> tuple[pd.DataFrame, int, tuple[str, ...]]:
        """A row close to one of the table, the number of that one, and the columns in which they differ."""
        return bring_close(broken, self.teacher.frame, self.breaks, self.claim.columns)

    def describe(self) -> str:
        """Say where rows come from."""
        return f"{self.teacher.sampler.describe()}, changed so that they meet the body"


@dataclass(frozen=True, eq=False)
class PairCases:
    """Pairs of rows, the lower one first; those that lose (or gain) a class break a monotonicity."""

    claim: MonotoneClaim
    teacher: ClassifierTeacher
    classes: tuple[str, ...]

    @cached_property
    def outcome(self) -> tuple[int, bool]:
        """The number of the class that the outcome names, and whether it says that it is that class."""
        return name_outcome(self.claim.outcome, self.classes)

    @cached_property
    def values(self) -> NDArray[Any]:
        """The values of the column, ascending."""
        values: NDArray[Any] = np.sort(self.teacher.frame[self.claim.column].dropna().unique())
        return values

    @property
    def possible(self) -> bool:
        """Whether there are two values."""
        return len(self.values) > 1

    def prove(self, prover: ColumnProver, seconds: float) -> Verdict[pd.DataFrame]:
        """Prove or refute that the class is never lost, or never gained, where the column rises."""
        number, positive = self.outcome
        if len(self.classes) > 2:
            return Verdict.leave_open("monotonicity is proved of trees of two classes, and sampled of others")
        never_lost = positive == (self.claim.never == "lowers")
        return prover.prove_monotone(self.claim.column, number if never_lost else 1 - number, seconds=seconds)

    def draw(self, size: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw pairs."""
        rows, count = self.teacher.sample(size, rng), len(self.values)
        first = rng.integers(count, size=size)
        second = (first + rng.integers(1, count, size=size)) % count
        return self._pair(rows, *(self.values[end(first, second)] for end in (np.minimum, np.maximum)))

    def _pair(self, rows: pd.DataFrame, low: Any, high: Any) -> pd.DataFrame:
        """Pairs of rows with these values of the column."""
        both = [replace_columns(rows, {self.claim.column: values}) for values in (low, high)]
        return pd.concat(both, ignore_index=True)

    def breaks(self, rows: pd.DataFrame) -> Bools:
        """Which pairs lose the class that must not be lost, or gain the one that must not be gained."""
        number, positive = self.outcome
        below, above = ((self.teacher.labels(rows) == number) == positive).reshape(2, -1)
        broken: Bools = below & ~above if self.claim.never == "lowers" else ~below & above
        return broken

    def take(self, rows: pd.DataFrame, numbers: NDArray[np.intp]) -> list[pd.DataFrame]:
        """Some of the pairs."""
        return [rows.iloc[[number, number + len(rows) // 2]] for number in numbers]

    def climb(self, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Try many values of the column at rows; a pair that breaks the claim on the way, if there is one."""
        places = np.unique(np.linspace(0, len(self.values) - 1, LADDER_VALUES).astype(np.intp))
        rows = self.teacher.sample(LADDER_ROWS, rng)
        steps = [replace_columns(rows, {self.claim.column: value}) for value in self.values[places]]
        ladder = pd.concat([*steps[:-1], *steps[1:]], ignore_index=True)
        return self.take(ladder, np.flatnonzero(self.breaks(ladder))[:1])

    def bring_close(self, broken: Sequence[pd.DataFrame]) -> tuple[pd.DataFrame, int, tuple[str, ...]]:
        """A pair whose other values are close to a row, the number of that row, and what differs of them."""
        column = self.claim.column
        low, high = broken[0][column]
        row, number, changed = bring_close(
            [broken[0].head(1)],
            self.teacher.frame,
            lambda rows: self.breaks(self._pair(rows, low, high)),
            (column,),
        )
        return self._pair(row, low, high), number, tuple(name for name in changed if name != column)

    def describe(self) -> str:
        """Say where pairs come from."""
        return (
            f"pairs of samples that differ in {self.claim.column!r} alone: {self.teacher.sampler.describe()}"
        )


def find_violation(cases: RuleCases | PairCases, broken: Sequence[pd.DataFrame]) -> Violation:
    """The violation that changes few columns of a row of the table, from cases that break a claim.

    It is refused if the model is asked again and says something else.
    """
    frame, complete = cases.teacher.frame, []
    for case in broken:  # that of a proof lacks the columns that the model does not read
        others = frame.iloc[[0] * len(case)].reset_index(drop=True)
        complete.append(replace_columns(others, {name: case[name].set_axis(others.index) for name in case}))
    rows, number, changed = cases.bring_close(complete)
    with ask_anew():
        if not cases.breaks(rows)[0]:
            raise ModelError(
                f"{cases.claim}: it changes its answers, for it breaks this on a row only now and then"
            )
    outcomes = tuple(cases.classes[label] for label in cases.teacher.labels(rows))
    return Violation(rows, outcomes, plain_value(frame.index[number]), changed)


@dataclass(frozen=True, eq=False)
class BodySampler:
    """Draws rows that meet conditions: samples with values of the table that meet them."""

    teacher: ClassifierTeacher
    body: tuple[Condition, ...]

    @cached_property
    def pools(self) -> dict[str, pd.Series[Any]]:
        """For each column of the body, the table's values that meet its conditions, or one made for them."""
        pools = {}
        for column in dict.fromkeys(condition.column for condition in self.body):
            own = [condition for condition in self.body if condition.column == column]
            values = self.teacher.frame[column]
            pool = values[meet_conditions(own, values.to_frame())]
            if not len(pool):
                made = [pd.Series([value]) for value in make_values(own, values)]
                pool = next((each for each in made if _meet_values(own, each, column)), values.head(0))
            pools[column] = pool.reset_index(drop=True)
        return pools

    def draw(self, size: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw rows that meet the conditions."""
        rows = self.teacher.sample(size, rng)
        for column, pool in self.pools.items():
            own = [condition for condition in self.body if condition.column == column]
            met = meet_conditions(own, rows)
            if not met.all():
                rows[column] = _replace_values(
                    rows[column], ~met, pool.iloc[rng.integers(len(pool), size=size)]
                )
        return rows

    def change_values(self, rows: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """The rows with one value changed in each, so that they meet the conditions still."""
        frame, changed = self.teacher.sampler.frame, {name: rows[name].array for name in rows}
        columns = rng.integers(frame.shape[1], size=len(rows))
        for place in np.unique(columns):
            name, where = frame.columns[place], columns == place
            pool = self.pools.get(name, frame[name])
            drawn = pool.iloc[rng.integers(len(pool), size=len(rows))]
            if drawn.dtype == rows[name].dtype:
                changed[name] = changed[name].copy()
                changed[name][where] = drawn.array[where]
            else:
                changed[name] = _replace_values(rows[name], where, drawn).array
        return pd.DataFrame(changed)


def make_values(conditions: Sequence[Condition], values: pd.Series[Any]) -> Iterator[Any]:
    """Values that may meet all conditions on one column, where no value of the table does.

    Examples
    --------
    >>> from hornbook.conditions import Threshold
    >>> ages = pd.Series([20.0, 60.0])
    >>> list(make_values([Threshold("age", 70)], ages))
    [110.0]

    """
    for each in conditions:
        yield from each.allowed_values
    if any(each.accepts_missing for each in conditions):
        yield None
    low, high = find_range(conditions)
    if np.isfinite(low) and np.isfinite(high):
        yield shorten_cut(np.nextafter(low, np.inf), high) if np.nextafter(low, np.inf) < high else high
    elif np.isfinite(low):
        spread = float(values.max() - values.min()) if values.notna().any() else 0.0
        yield low + (spread or 1.0)
    elif np.isfinite(high):
        yield high


def _meet_values(conditions: Sequence[Condition], values: pd.Series[Any], column: str) -> bool:
    try:
        return bool(meet_conditions(conditions, values.rename(column).to_frame()).all())
    except (TypeError, ValueError):  # a text where a number is compared
        return False


def _replace_values(values: pd.Series[Any], where: Bools, others: pd.Series[Any]) -> pd.Series[Any]:
    """The values with others in some places, in the column's own type where that can be."""
    other = others.set_axis(values.index)
    if values.dtype != object and others.isna().all():
        return values.mask(where)
    return values.mask(where, other)


def bring_close(
    witnesses: Sequence[pd.DataFrame],
    table: pd.DataFrame,
    breaks: Callable[[pd.DataFrame], Bools],
    needed: tuple[str, ...],
) -> tuple[pd.DataFrame, int, tuple[str, ...]]:
    """Bring a row that breaks a claim close to a row of the table.

    Parameters
    ----------
    witnesses
        Frames of one row each that breaks the claim.
    table
        Rows of the table.
    breaks
        Which rows of a frame break the claim.
    needed
        Columns that the claim speaks of; a difference in one of them counts half.

    Returns
    -------
    row, number, changed
        A row that breaks the claim, as a frame; the number of the table's row that comes closest; and the
        columns in which they differ, none if a row of the table breaks the claim itself.

    """
    table = table.head(COMPARED_ROWS)
    broken = breaks(table)
    if broken.any():
        number = int(broken.argmax())
        return table.iloc[[number]].reset_index(drop=True), number, ()
    closest: list[tuple[pd.DataFrame, int, tuple[str, ...]]] = []
    for witness in witnesses[:NEAREST_ROWS]:
        numbers = find_nearest_rows(witness, table, NEAREST_ROWS, needed).tolist()
        near = [table.iloc[[number]].reset_index(drop=True) for number in numbers]
        for number, row, closer in zip(numbers, near, restore_values(witness, near, breaks), strict=True):
            closest.append((closer, number, list_changed_columns(closer, row)))
        if any(len(changed) == 1 for *_, changed in closest):
            break  # no row of the table breaks the claim, so none is closer
    return min(closest, key=lambda each: len(each[2]))


def find_nearest_rows(
    row: pd.DataFrame, table: pd.DataFrame, count: int, preferred: tuple[str, ...] = ()
) -> NDArray[np.intp]:
    """The numbers of the table's rows that differ from a row in the fewest columns.

    A difference in a preferred column counts half.
    """
    differences = np.zeros(len(table))
    for name in table.columns:
        value = row[name].iloc[0]
        same = table[name].isna() if pd.isna(value) else table[name] == value
        differences += ~same.fillna(False).to_numpy(np.bool_) * (0.5 if name in preferred else 1.0)
    return np.argsort(differences, kind="stable")[:count]


def list_changed_columns(one: pd.DataFrame, other: pd.DataFrame) -> tuple[str, ...]:
    """The columns in which two frames of one row differ."""
    changed = []
    for name, values in other.items():
        first, second = one[name].array[0], values.array[0]
        unknown = bool(pd.isna(first)), bool(pd.isna(second))
        if unknown[0] != unknown[1] or (not any(unknown) and bool(first != second)):
            changed.append(str(name))
    return tuple(changed)


def restore_values(
    witness: pd.DataFrame, rows: Sequence[pd.DataFrame], holds: Callable[[pd.DataFrame], Bools]
) -> list[pd.DataFrame]:
    """Give a witness the values of each row again, as many as keep a property that the witness has.

    No further column can be given back. All rows are tried side by side.

    Parameters
    ----------
    witness
        A frame of one row.
    rows
        Frames of one row each.
    holds
        For each row of a frame, whether it has the property.

    Examples
    --------
    >>> witness = pd.DataFrame({"age": [70], "sex": ["m"], "weight": [60]})
    >>> row = pd.DataFrame({"age": [30], "sex": ["f"], "weight": [80]})
    >>> (closer,) = restore_values(witness, [row], lambda rows: (rows.age > 50).to_numpy())
    >>> closer.to_dict("list")
    {'age': [70], 'sex': ['f'], 'weight': [80]}

    """
    changed = [list_changed_columns(witness, row) for row in rows]
    every = pd.concat([witness, *rows], ignore_index=True)
    columns = [(str(name), values.array) for name, values in every.items()]

    def keeps(lists: list[tuple[int, list[str]]]) -> Bools:
        numbers = np.array([number + 1 for number, _ in lists])
        kept = [frozenset(names) for _, names in lists]
        mixed = {}
        for name, values in columns:
            is_kept = np.fromiter((name in names for names in kept), np.bool_, len(kept))
            mixed[name] = values.take(np.where(is_kept, 0, numbers))
        return holds(pd.DataFrame(mixed))

    closer = []
    for row, own, left in zip(rows, changed, minimise(changed, keeps), strict=True):
        given_back = {name: row[name].set_axis(witness.index) for name in own if name not in left}
        closer.append(replace_columns(witness, given_back))
    return closer
