"""Hold rows out, so that a figure about new rows can be measured on them.

Rows that belong together stay together: equal rows, or the rows of one group, such as a patient. Each
such set of rows is a unit. If some rows of a unit were used and others held out, the figure would be
about rows that were seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from hornbook.errors import HornbookError
from hornbook.randomness import Purpose, generator

Floats: TypeAlias = NDArray[np.float64]

LEAST_ROWS_TO_SPLIT = 100
"""Minimum number of rows of which some are held out; a figure measured on fewer would say little."""

LEAST_DIFFERENT_ROWS = 25
"""Minimum number of different rows of which some are held out; samples meet nearly all of fewer cases."""

LEAST_GROUPS = 3
"""Minimum number of groups of which one is held out: a fifth of two is none."""

HELD_OUT_SHARE = 0.2
"""Share of the units that are held out."""


def number_units(frame: pd.DataFrame, groups: ArrayLike | None = None) -> NDArray[np.intp]:
    """For each row the number of its unit, shape (rows,): of its group, or of the rows that equal it.

    Rows are equal if they have the same values, missing ones included.

    Parameters
    ----------
    frame
        The rows.
    groups
        The group of each row, by any labels. They alone say then what belongs together.

    Examples
    --------
    >>> rows = pd.DataFrame({"age": [40, 50, 40, None], "sex": ["f", "f", "f", "m"]})
    >>> number_units(rows), number_units(rows, groups=["Ann", "Bea", "Cleo", "Bea"])
    (array([0, 1, 0, 2]), array([0, 1, 2, 1]))

    """
    if groups is None:
        if not len(frame):
            return np.zeros(0, np.intp)
        columns = [column.reset_index(drop=True) for _, column in frame.items()]
        numbered = columns[0].groupby(columns, dropna=False, sort=False, observed=True).ngroup()
        return np.asarray(numbered, np.intp)
    labels = pd.Series(np.asarray(groups, object).ravel())
    if len(labels) != len(frame):
        raise HornbookError(
            f"groups= has {len(labels)} labels for {len(frame)} rows; give each row its group"
        )
    if labels.isna().any():
        row = frame.index[int(labels.isna().argmax())]
        raise HornbookError(f"row {row} has no group; give each row one, or make it a group of its own")
    return pd.factorize(labels)[0].astype(np.intp)


def read_weights(weights: ArrayLike | None, rows: int, name: str = "sample_weight") -> Floats | None:
    """The weights of rows as numbers; None if there are none. Refuse those that say nothing of cases.

    Examples
    --------
    >>> read_weights([1, 0, 2.5], rows=3)
    array([1. , 0. , 2.5])
    >>> read_weights([1, -1, 2.5], rows=3)
    Traceback (most recent call last):
    hornbook.errors.HornbookError: sample_weight is a number of cases for each row, 0 or more; got -1.0

    """
    if weights is None:
        return None
    try:
        numbers = np.asarray(weights, np.float64).ravel()
    except (TypeError, ValueError):
        raise HornbookError(f"{name} is a number of cases for each row; got other values") from None
    if len(numbers) != rows:
        raise HornbookError(f"{name} has {len(numbers)} values for {rows} rows; give each row its weight")
    if (wrong := numbers[~(np.isfinite(numbers) & (numbers >= 0))]).size:
        raise HornbookError(f"{name} is a number of cases for each row, 0 or more; got {wrong[0]}")
    if not numbers.any():
        raise HornbookError(f"{name} is 0 for every row: no row is left")
    return numbers


def count_shared_rows(rows: pd.DataFrame, table: pd.DataFrame) -> int:
    """How many rows occur in a table with the same columns, value by value, missing ones included.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [40.0, None], "sex": ["f", "m"]})
    >>> count_shared_rows(pd.DataFrame({"age": [40, 41], "sex": ["f", "f"]}), table)
    1

    """
    units = number_units(pd.concat([table, rows[list(table.columns)]], ignore_index=True))
    return int(np.isin(units[len(table) :], units[: len(table)]).sum())


def shuffle_units(units: NDArray[np.intp], seed: int) -> NDArray[np.intp]:
    """For each row the place of its unit in a random order of all units, shape (rows,)."""
    _, first, number = np.unique(units, return_index=True, return_inverse=True)
    shuffled = np.argsort(generator(seed, Purpose.HELD_OUT_ROWS).permutation(len(units)))  # place of each row
    places = np.argsort(np.argsort(shuffled[first]))
    return places[number].astype(np.intp)


def split_rows(
    frame: pd.DataFrame,
    seed: int,
    hold_out: bool = True,
    groups: ArrayLike | None = None,
    weights: Floats | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split the rows of a table into those for fitting an explanation and those held out, by row number.

    Of at least 100 rows, 25 of them different, a random fifth is held out: of their units, so that equal
    rows, or the rows of a group, are all used or all held out. The only unit with a known value in some
    column is never held out: nothing could be learned about that column.

    Parameters
    ----------
    frame
        The table.
    seed
        The seed; together with the units and the missing values, it determines the split.
    hold_out
        Whether to hold out any rows.
    groups
        The group of each row, as for scikit-learn's `GroupShuffleSplit`; by default equal rows are a group.
    weights
        How many cases each row stands for: a row of 0 is neither used nor held out.

    Examples
    --------
    >>> used, held_out = split_rows(pd.DataFrame({"age": range(120)}), seed=0)
    >>> len(used), len(held_out), np.intersect1d(used, held_out).size
    (96, 24, 0)
    >>> [len(rows) for rows in split_rows(pd.DataFrame({"age": range(99)}), seed=0)]
    [99, 0]
    >>> patients = np.arange(120) // 4
    >>> used, held_out = split_rows(pd.DataFrame({"age": range(120)}), seed=0, groups=patients)
    >>> len(held_out), np.intersect1d(patients[used], patients[held_out]).size
    (24, 0)

    """
    if weights is not None and not weights.all():
        counted = np.flatnonzero(weights)
        groups = None if groups is None else number_units(frame, groups)[counted]
        used, held_out = split_rows(frame.iloc[counted], seed, hold_out, groups)
        return counted[used], counted[held_out]
    everything = np.arange(len(frame))
    if not hold_out or len(frame) < LEAST_ROWS_TO_SPLIT:
        return everything, everything[:0]
    units = number_units(frame, groups)
    places = shuffle_units(units, seed)
    count = places.max() + 1
    if groups is not None and count < LEAST_GROUPS:
        raise HornbookError(f"groups= has fewer than {LEAST_GROUPS} different groups: none can be held out")
    if groups is None and count < LEAST_DIFFERENT_ROWS:
        return everything, everything[:0]
    is_held_out = places < round(HELD_OUT_SHARE * count)
    known = frame.notna().to_numpy()  # (rows, columns)
    lost = known[is_held_out].any(axis=0) & ~known[~is_held_out].any(axis=0)
    needed = [units[is_held_out][known[is_held_out, column].argmax()] for column in np.flatnonzero(lost)]
    is_held_out &= ~np.isin(units, needed)
    return everything[~is_held_out], everything[is_held_out]


def note_units(frame: pd.DataFrame, held_out: NDArray[np.intp], groups: ArrayLike | None) -> Iterator[str]:
    """Say that rows were held out by groups, or how many rows repeat another one, if any were held out."""
    if not len(held_out):
        return
    units = number_units(frame, groups)
    count = len(np.unique(units))
    if groups is not None:
        held = len(np.unique(units[held_out]))
        yield f"{held:,} of {count:,} groups were held out, each with all its rows"
    elif repeats := len(frame) - count:
        rows = f"{repeats:,} of {len(frame):,} rows repeat" if repeats > 1 else "one row repeats"
        yield f"{rows} another one; equal rows were held out together"
