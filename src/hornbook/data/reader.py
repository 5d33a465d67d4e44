"""Tables whose columns are variables already: 1, 0 and unknown, with their duals and groups recognised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.data.binarise import Binariser
from hornbook.data.conditions import groups_of
from hornbook.data.table import as_frame
from hornbook.distributions import Groups
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Interpretation, Vocabulary
from hornbook.logic.vocabulary import NEGATION_PREFIX


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


@dataclass(frozen=True, eq=False)
class Reader:
    """Columns and the variables made of them.

    Parameters
    ----------
    columns
        What the columns are called, in order.
    source
        What makes variables of them: a fitted binariser, or `Variables` where the columns are
        variables already.

    """

    columns: tuple[str, ...]
    source: Binariser | Variables
    described: Binariser | None = None

    @classmethod
    def of(cls, frame: pd.DataFrame, binariser: Binariser, duals: bool = True) -> Reader:
        """A reader of tables like this one.

        Parameters
        ----------
        frame
            What the binariser takes, or what it made.
        binariser
            One that is fitted.
        duals
            Whether columns of 1, 0 and NaN that have no dual get one.

        """
        columns = tuple(map(str, frame.columns))
        if columns == tuple(binariser.columns_):
            return cls(columns, binariser, binariser)
        if is_binary(frame):
            return cls(columns, Variables.of(frame, duals), binariser)
        raise HornbookError(
            f"the table has {len(columns)} columns, neither the {len(binariser.columns_)} that the "
            f"binariser takes nor the {len(binariser.vocabulary_)} of 1, 0 and NaN that it makes of them"
        )

    @classmethod
    def of_variables(cls, frame: pd.DataFrame, duals: bool = True) -> Reader:
        """A reader of tables of 1, 0 and NaN; `duals` says whether lone columns get a dual."""
        return cls(tuple(map(str, frame.columns)), Variables.of(frame, duals))

    @property
    def vocabulary(self) -> Vocabulary:
        """The variables."""
        return self.source.vocabulary_ if isinstance(self.source, Binariser) else self.source.vocabulary

    @property
    def groups(self) -> Groups:
        """Sets of variables of which at most one is true."""
        return self.source.groups_ if isinstance(self.source, Binariser) else self.source.groups

    @property
    def plain(self) -> tuple[str, ...]:
        """The variables without their duals."""
        duals = {dual for _, dual in self.vocabulary.pairs}
        return tuple(name for v, name in enumerate(self.vocabulary) if v not in duals)

    def batch(self, frame: pd.DataFrame) -> Batch:
        """The rows as partial interpretations."""
        return self.source.batch(frame)

    def interpretation(self, row: Any) -> Interpretation:
        """One row: a mapping of some columns to values, a series, a list, or a frame of one."""
        frame = as_frame(row)
        if frame is None and isinstance(row, Mapping | pd.Series):
            named = {str(name): value for name, value in row.items()}
            for name in named:
                Vocabulary(self.columns).index(name)
            frame = pd.DataFrame({name: [named.get(name, np.nan)] for name in self.columns})
        if frame is None:
            frame = pd.DataFrame(np.asarray(row, object).reshape(1, -1)).infer_objects()
        if frame.shape != (1, len(self.columns)):
            raise HornbookError(
                f"one row of {len(self.columns)} values is explained at a time; got shape {frame.shape}"
            )
        return self.batch(frame.set_axis(list(self.columns), axis=1))[0]

    def describe(self, name: str) -> str:
        """The condition behind the name of a variable, or the name."""
        known = self.described is not None and name in self.described.vocabulary_
        return self.described.describe(name) if known and self.described else name


def framed(values: NDArray[Any]) -> pd.DataFrame:
    """An array as a frame, its columns called x0, x1, …, and duals recognised."""
    try:
        names = numbered(values.astype(np.float64))
    except (TypeError, ValueError):
        names = [f"x{number}" for number in range(values.shape[1])]
    return pd.DataFrame(values, columns=names).infer_objects()
