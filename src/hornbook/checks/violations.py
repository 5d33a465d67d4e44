"""Violations of claims: rows that meet conditions, brought as close to a row of the table as can be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.conditions import Condition, find_range, meet_conditions, shorten_cut
from hornbook.delta import PartSearch, minimise
from hornbook.display import Displayed
from hornbook.logic import Bools
from hornbook.models import ClassifierTeacher
from hornbook.tables import replace_columns

NEAREST_ROWS = 8
"""Rows of the table to which a violation is brought as close as can be; the closest is shown."""

COMPARED_ROWS = 5_000
"""Rows of the table among which the nearest ones are looked for."""


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

    @property
    def possible(self) -> bool:
        """Whether some row can meet all conditions."""
        return all(len(pool) for pool in self.pools.values())

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
        changed, frame = rows.copy(), self.teacher.sampler.frame
        columns = rng.integers(frame.shape[1], size=len(rows))
        for place in np.unique(columns):
            name = frame.columns[place]
            pool = self.pools.get(name, frame[name])
            drawn = pool.iloc[rng.integers(len(pool), size=len(rows))]
            changed[name] = _replace_values(changed[name], columns == place, drawn)
        return changed

    def describe(self) -> str:
        """Say where the rows come from."""
        return f"{self.teacher.sampler.describe()}, changed so that they meet the body"


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


def bring_close(
    witnesses: pd.DataFrame,
    table: pd.DataFrame,
    breaks: Callable[[pd.DataFrame], Bools],
    needed: tuple[str, ...],
) -> tuple[pd.DataFrame, int, tuple[str, ...]]:
    """Bring a row that breaks a claim close to a row of the table.

    Parameters
    ----------
    witnesses
        Rows that break the claim.
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
    for place in range(min(len(witnesses), NEAREST_ROWS)):
        witness = witnesses.iloc[[place]].reset_index(drop=True)
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
    return tuple(str(name) for name in other.columns if _differ(one, other, name))


def _differ(one: pd.DataFrame, other: pd.DataFrame, name: str) -> bool:
    first, second = one[name].iloc[0], other[name].iloc[0]
    if pd.isna(first) or pd.isna(second):
        return bool(pd.isna(first)) != bool(pd.isna(second))
    return bool(first != second)


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

    def vary(number: int, columns: list[str]) -> pd.DataFrame:
        row = rows[number]
        restored = {
            name: row[name].set_axis(witness.index) for name in changed[number] if name not in columns
        }
        return replace_columns(witness, restored)

    def keeps(lists: list[tuple[int, list[str]]]) -> Bools:
        return holds(pd.concat([vary(*each) for each in lists], ignore_index=True))

    changed = [list_changed_columns(witness, row) for row in rows]
    searches = [PartSearch(columns) for columns in changed]
    return [vary(number, left) for number, left in enumerate(minimise(searches, keeps))]
