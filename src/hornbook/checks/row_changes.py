"""The fewest columns in which a row has to change: values of another row, given back as far as can be."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.logic import Bools
from hornbook.queries import run_together
from hornbook.tables import replace_columns


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

    Parts of the columns that differ are tried, halves first, then ever smaller parts, down to single
    columns: no further one can be given back. All rows are tried side by side.

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

    def ask(questions: dict[int, pd.DataFrame]) -> dict[int, Bools]:
        kept = holds(pd.concat(questions.values(), ignore_index=True))
        ends = np.cumsum([len(variants) for variants in questions.values()])
        return dict(zip(questions, np.split(kept, ends[:-1]), strict=True))

    return run_together([_restore(witness, row) for row in rows], ask)


def _restore(witness: pd.DataFrame, row: pd.DataFrame) -> Generator[pd.DataFrame, Bools, pd.DataFrame]:
    """Yield variants of a witness with values of a row, and go on from the first that has the property."""
    spare = list(list_changed_columns(witness, row))
    size = len(spare)
    while size and spare:
        parts = [spare[start : start + size] for start in range(0, len(spare), size)]
        variants = pd.concat(
            [replace_columns(witness, {name: row[name].array for name in part}) for part in parts],
            ignore_index=True,
        )
        kept = yield variants
        if kept.any():
            first = int(kept.argmax())
            witness = variants.iloc[[first]].reset_index(drop=True)
            spare = [name for name in spare if name not in parts[first]]
        else:
            size //= 2
    return witness
