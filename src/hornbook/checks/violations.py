"""Violations of claims, as close to a row of the table as they can be brought."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.delta import PartSearch, minimise
from hornbook.logic import Bools
from hornbook.tables import replace_columns

NEAREST_ROWS = 8
"""Rows of the table to which a violation is brought as close as can be; the closest is shown."""

COMPARED_ROWS = 5_000
"""Rows of the table among which the nearest ones are looked for."""


@dataclass(frozen=True, eq=False)
class Violation:
    """Rows that break a claim: one row, or two that differ in one column, the lower one first.

    Parameters
    ----------
    rows
        The rows, in the columns of the table.
    outcomes
        The model's class for each, in words.
    row
        The number of the table's row that comes closest.
    changed
        The columns in which they differ from that row; none if it is that row itself.

    """

    rows: pd.DataFrame
    outcomes: tuple[str, ...]
    row: int
    changed: tuple[str, ...]


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
