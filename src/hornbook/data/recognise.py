"""Tables whose columns are variables already: 1, 0 and unknown, with their duals and groups recognised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.data.dual import groups_of
from hornbook.distributions.literals import Groups
from hornbook.logic.batch import Batch
from hornbook.logic.errors import HornbookError
from hornbook.logic.vocabulary import NEGATION_PREFIX, Vocabulary


def is_binary(frame: pd.DataFrame) -> bool:
    """Whether every known value is 1 or 0."""
    numeric = (pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes)
    return all(numeric) and bool((frame.isin([0, 1]) | frame.isna()).to_numpy().all())


@dataclass(frozen=True)
class Variables:
    """What the columns of a binary table say about each other, by their names and values.

    `not_v` is the dual of `v`, and `age=low` excludes `age=high` if no row has both: the names
    that a `Binariser` gives. A column without a dual gets one, so that rules can speak of what
    is false.

    Parameters
    ----------
    columns
        The names of the columns.
    vocabulary
        The columns, then the duals that were added.
    groups
        Sets of variables of which at most one is true.

    Examples
    --------
    >>> frame = pd.DataFrame({"age=low": [1, 0], "age=high": [0, 1], "ascites": [1, None]})
    >>> variables = Variables.of(frame)
    >>> variables.vocabulary.names
    ('age=low', 'age=high', 'ascites', 'not_age=low', 'not_age=high', 'not_ascites')
    >>> variables.groups
    ((0, 1),)
    >>> variables.batch(frame)[1]
    Interpretation(true=frozenset({1, 3}), false=frozenset({0, 4}))

    """

    columns: tuple[str, ...]
    vocabulary: Vocabulary
    groups: Groups

    @classmethod
    def of(cls, frame: pd.DataFrame, add_duals: bool = True) -> Variables:
        """The variables of a binary table."""
        columns = tuple(map(str, frame.columns))
        values = numbers(frame)
        duals = {name: NEGATION_PREFIX + name for name in columns if NEGATION_PREFIX + name in columns}
        for name, dual in duals.items():
            left, right = (values[:, columns.index(column)] for column in (name, dual))
            if not np.array_equal(left, 1 - right, equal_nan=True):
                raise HornbookError(f"columns {name!r} and {dual!r} should have opposite values; rename one")
        lone = [name for name in columns if name not in duals and name not in duals.values()]
        added = {name: NEGATION_PREFIX + name for name in lone if add_duals}
        vocabulary = Vocabulary((*columns, *added.values()), {**duals, **added})
        return cls(columns, vocabulary, _exclusive(columns, set(duals.values()), values))

    def batch(self, frame: pd.DataFrame) -> Batch:
        """The rows as partial interpretations."""
        values = numbers(frame)
        lone = [v for v, dual in self.vocabulary.pairs if dual >= len(self.columns)]
        return Batch.from_array(np.hstack([values, 1 - values[:, lone]]), self.vocabulary)


def numbered(values: NDArray[Any]) -> list[str]:
    """Names for the columns of an array: `x0`, `x1`, …, and `not_x0`, … if half mirrors the other half.

    Examples
    --------
    >>> numbered(np.array([[1, 0, 0, 1], [0, 0, 1, 1]]))
    ['x0', 'x1', 'not_x0', 'not_x1']

    """
    width = values.shape[1]
    half, odd = divmod(width, 2)
    mirrored = not odd and half and np.array_equal(values[:, half:], 1 - values[:, :half], equal_nan=True)
    plain = [f"x{number}" for number in range(half if mirrored else width)]
    return [*plain, *(NEGATION_PREFIX + name for name in plain)] if mirrored else plain


def numbers(frame: pd.DataFrame) -> NDArray[np.float64]:
    """The values as floats, missing ones as NaN."""
    return frame.to_numpy(np.float64, na_value=np.nan)


def _exclusive(columns: Sequence[str], duals: set[str], values: NDArray[np.float64]) -> Groups:
    """The columns called `column=…` of which no row has two true."""
    named = [v for v, name in enumerate(columns) if "=" in name and name not in duals]
    groups = groups_of([columns[v].rpartition("=")[0] for v in named])
    candidates = (tuple(named[position] for position in group) for group in groups)
    return tuple(group for group in candidates if ((values[:, group] == 1).sum(axis=1) <= 1).all())
