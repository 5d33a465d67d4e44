"""Rows that meet conditions: samples of a table with values of the table that meet them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from hornbook.conditions import Condition, find_range, meet_conditions, shorten_cut
from hornbook.logic import Bools
from hornbook.models import ClassifierTeacher


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
