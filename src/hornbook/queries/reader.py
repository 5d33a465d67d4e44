"""From the columns of a table to variables: by a binariser, or as 0/1 columns with recognised duals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.conditions import Condition
from hornbook.errors import HornbookError
from hornbook.logic import NEGATION_PREFIX, Batch, Interpretation, Vocabulary
from hornbook.queries.literals import Groups, group_by_column
from hornbook.tables import as_frame

if TYPE_CHECKING:
    from hornbook.queries.binarise import Binariser  # needs scikit-learn, which takes a second to import


def is_binary(frame: pd.DataFrame) -> bool:
    """Whether every known value is 1 or 0."""
    numeric = (pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes)
    return all(numeric) and bool((frame.isin([0, 1]) | frame.isna()).to_numpy().all())


def default_names(values: NDArray[Any]) -> list[str]:
    """Name the columns of an array `x0`, `x1`, …, and `not_x0`, … if one half mirrors the other.

    Examples
    --------
    >>> default_names(np.array([[1, 0, 0, 1], [0, 0, 1, 1]]))
    ['x0', 'x1', 'not_x0', 'not_x1']

    """
    width = values.shape[1]
    half, odd = divmod(width, 2)
    mirrored = not odd and half and np.array_equal(values[:, half:], 1 - values[:, :half], equal_nan=True)
    plain = [f"x{number}" for number in range(half if mirrored else width)]
    return [*plain, *(NEGATION_PREFIX + name for name in plain)] if mirrored else plain


def to_floats(frame: pd.DataFrame) -> NDArray[np.float64]:
    """The values as floats, missing ones as NaN."""
    return frame.to_numpy(np.float64, na_value=np.nan)


def _find_exclusive(columns: Sequence[str], duals: set[str], values: NDArray[np.float64]) -> Groups:
    """Group the columns named `column=…` if no row has two of them true."""
    named = [v for v, name in enumerate(columns) if "=" in name and name not in duals]
    groups = group_by_column([columns[v].rpartition("=")[0] for v in named])
    candidates = (tuple(named[position] for position in group) for group in groups)
    return tuple(group for group in candidates if ((values[:, group] == 1).sum(axis=1) <= 1).all())


@dataclass(frozen=True, eq=False)
class Reader:
    """Encodes rows of a table as partial interpretations.

    A binariser makes variables of the columns, or the columns are variables already, true, false or
    unknown by 1, 0 and NaN.

    Parameters
    ----------
    columns
        The names of the columns, in order.
    vocabulary
        The variables.
    groups
        Sets of variables of which at most one is true.
    described
        The fitted binariser that knows what the variables stand for, if there is one.
    binarises
        Whether it makes the variables of the columns.
    closed
        Whether the variables of a column without a value are false, and not unknown.

    """

    columns: tuple[str, ...]
    vocabulary: Vocabulary
    groups: Groups
    described: Binariser | None = None
    binarises: bool = False
    closed: bool = False

    @classmethod
    def of(cls, frame: pd.DataFrame, binariser: Binariser, duals: bool = True) -> Reader:
        """Make a reader for tables like this one.

        Parameters
        ----------
        frame
            A table in the binariser's input or output format.
        binariser
            A fitted binariser.
        duals
            Whether columns of 1, 0 and NaN that have no dual get one.

        """
        columns = tuple(map(str, frame.columns))
        if columns == tuple(binariser.columns_):
            return cls.by_binariser(binariser)
        if is_binary(frame):
            return replace(cls.of_variables(frame, duals), described=binariser)
        raise HornbookError(
            f"the table has {len(columns)} columns, neither the {len(binariser.columns_)} that the "
            f"binariser takes nor the {len(binariser.vocabulary_)} of 1, 0 and NaN that it makes of them"
        )

    @classmethod
    def by_binariser(cls, binariser: Binariser, closed: bool = False) -> Reader:
        """The reader that makes variables by a fitted binariser."""
        columns = tuple(binariser.columns_)
        return cls(columns, binariser.vocabulary_, binariser.groups_, binariser, True, closed)

    @classmethod
    def of_variables(cls, frame: pd.DataFrame, duals: bool = True) -> Reader:
        """Make a reader for tables of 1, 0 and NaN, with duals and groups recognised by their names.

        `not_v` is the dual of `v`, and `age=low` excludes `age=high` if no row has both: the names
        that a `Binariser` gives. With `duals` a column without a dual gets one, so that rules can mention
        that it is false.

        Examples
        --------
        >>> frame = pd.DataFrame({"age=low": [1, 0], "age=high": [0, 1], "ascites": [1, None]})
        >>> variables = Reader.of_variables(frame)
        >>> variables.vocabulary.names
        ('age=low', 'age=high', 'ascites', 'not_age=low', 'not_age=high', 'not_ascites')
        >>> variables.groups
        ((0, 1),)
        >>> variables.batch(frame)[1]
        Interpretation(true=frozenset({1, 3}), false=frozenset({0, 4}))

        """
        columns = tuple(map(str, frame.columns))
        values = to_floats(frame)
        positions = {name: position for position, name in enumerate(columns)}
        paired = {name: NEGATION_PREFIX + name for name in columns if NEGATION_PREFIX + name in positions}
        for name, dual in paired.items():
            left, right = (values[:, positions[column]] for column in (name, dual))
            if not np.array_equal(left, 1 - right, equal_nan=True):
                raise HornbookError(f"columns {name!r} and {dual!r} should have opposite values; rename one")
        lone = [name for name in columns if name not in {*paired, *paired.values()}]
        added = {name: NEGATION_PREFIX + name for name in lone if duals}
        vocabulary = Vocabulary((*columns, *added.values()), {**paired, **added})
        return cls(columns, vocabulary, _find_exclusive(columns, set(paired.values()), values))

    @property
    def plain(self) -> tuple[str, ...]:
        """The variables without their duals."""
        duals = {dual for _, dual in self.vocabulary.pairs}
        return tuple(name for v, name in enumerate(self.vocabulary) if v not in duals)

    def batch(self, frame: pd.DataFrame) -> Batch:
        """Convert rows to partial interpretations."""
        if self.described is not None and self.binarises:
            items = self.described.batch(frame)
            return (
                Batch.from_array(np.nan_to_num(items.to_array()), self.vocabulary) if self.closed else items
            )
        values = to_floats(frame)
        lone = [v for v, dual in self.vocabulary.pairs if dual >= len(self.columns)]
        return Batch.from_array(np.hstack([values, 1 - values[:, lone]]), self.vocabulary)

    def interpretation(self, row: Any) -> Interpretation:
        """Convert one row, given as a mapping (other columns are unknown), series, list or frame."""
        frame = as_frame(row)
        if frame is None and isinstance(row, Mapping | pd.Series):
            named = {str(name): value for name, value in row.items()}
            vocabulary = Vocabulary(self.columns)
            for name in named:
                vocabulary.index(name)
            frame = pd.DataFrame({name: [named.get(name, np.nan)] for name in self.columns})
        if frame is None:
            frame = pd.DataFrame(np.asarray(row, object).reshape(1, -1)).infer_objects()
        if frame.shape != (1, len(self.columns)):
            raise HornbookError(
                f"one row of {len(self.columns)} values is explained at a time; got shape {frame.shape}"
            )
        return self.batch(frame.set_axis(list(self.columns), axis=1))[0]

    def facts(self, values: Mapping[str, str]) -> Interpretation:
        """The facts that follow from values of columns as text: numbers, words, names of bins, or `?`."""
        true: set[int] = set()
        false: set[int] = set()
        for column, value in values.items():
            known = self._facts_of(column, value)
            true |= known.true
            false |= known.false
        return Interpretation(frozenset(true), frozenset(false))

    def bins(self, column: str) -> tuple[str, ...]:
        """The names of the ranges or levels of a column."""
        return tuple(self.described.name_bins(column)) if self.described and self.binarises else ()

    def _facts_of(self, column: str, value: str) -> Interpretation:
        if self.described is not None and self.binarises:
            return self.described.facts(column, value)
        if value.strip() not in ("0", "1", "?"):
            raise HornbookError(f"column {column!r} is 0, 1 or ?, not {value!r}")
        return self.interpretation({column: np.nan if value.strip() == "?" else float(value)})

    def describe(self, name: str) -> str:
        """What a variable that stands for no condition is called: its name, or the words of a subclass."""
        return name

    def condition(self, name: str) -> Condition | None:
        """The condition behind the name of a variable; None if it is known by its name alone."""
        if self.described is None or name not in self.described.vocabulary_:
            return None
        return self.described.condition(name)


def to_frame(values: NDArray[Any]) -> pd.DataFrame:
    """Convert an array to a frame with columns x0, x1, …, recognising duals."""
    try:
        names = default_names(values.astype(np.float64))
    except (TypeError, ValueError):
        names = [f"x{number}" for number in range(values.shape[1])]
    return pd.DataFrame(values, columns=names).infer_objects()
