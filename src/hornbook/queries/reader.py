"""From the columns of a table to variables: by a binariser, or as 0/1 columns with recognised duals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import NEGATION_PREFIX, Batch, Interpretation, Vocabulary
from hornbook.queries.bins import Between, Condition, group_by_column
from hornbook.queries.literals import Groups
from hornbook.tables import as_frame

if TYPE_CHECKING:
    from hornbook.queries.binarise import Binariser  # needs scikit-learn, which takes a second to import


def is_binary(frame: pd.DataFrame) -> bool:
    """Whether every known value is 1 or 0."""
    numeric = (pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes)
    return all(numeric) and bool((frame.isin([0, 1]) | frame.isna()).to_numpy().all())


@dataclass(frozen=True)
class BinaryColumns:
    """The columns of a binary table as variables, with duals and groups recognised by their names.

    `not_v` is the dual of `v`, and `age=low` excludes `age=high` if no row has both: the names
    that a `Binariser` gives. A column without a dual gets one, so that rules can mention that it
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
    >>> variables = BinaryColumns.of(frame)
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
    def of(cls, frame: pd.DataFrame, add_duals: bool = True) -> BinaryColumns:
        """Recognise the variables of a binary table."""
        columns = tuple(map(str, frame.columns))
        values = to_floats(frame)
        positions = {name: position for position, name in enumerate(columns)}
        duals = {name: NEGATION_PREFIX + name for name in columns if NEGATION_PREFIX + name in positions}
        for name, dual in duals.items():
            left, right = (values[:, positions[column]] for column in (name, dual))
            if not np.array_equal(left, 1 - right, equal_nan=True):
                raise HornbookError(f"columns {name!r} and {dual!r} should have opposite values; rename one")
        paired = {*duals, *duals.values()}
        lone = [name for name in columns if name not in paired]
        added = {name: NEGATION_PREFIX + name for name in lone if add_duals}
        vocabulary = Vocabulary((*columns, *added.values()), {**duals, **added})
        return cls(columns, vocabulary, _find_exclusive(columns, set(duals.values()), values))

    def batch(self, frame: pd.DataFrame) -> Batch:
        """Convert rows to partial interpretations."""
        values = to_floats(frame)
        lone = [v for v, dual in self.vocabulary.pairs if dual >= len(self.columns)]
        return Batch.from_array(np.hstack([values, 1 - values[:, lone]]), self.vocabulary)


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
    """Encodes table rows as partial interpretations.

    Parameters
    ----------
    columns
        The names of the columns, in order.
    source
        The encoding: a fitted binariser, or `BinaryColumns` if the columns are variables already.
    described
        The binariser that describes the variables, if there is one.

    """

    columns: tuple[str, ...]
    source: Binariser | BinaryColumns
    described: Binariser | None = None

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
            return cls(columns, binariser, binariser)
        if is_binary(frame):
            return cls(columns, BinaryColumns.of(frame, duals), binariser)
        raise HornbookError(
            f"the table has {len(columns)} columns, neither the {len(binariser.columns_)} that the "
            f"binariser takes nor the {len(binariser.vocabulary_)} of 1, 0 and NaN that it makes of them"
        )

    @classmethod
    def of_variables(cls, frame: pd.DataFrame, duals: bool = True) -> Reader:
        """Make a reader for tables of 1, 0 and NaN; `duals` says whether lone columns get a dual."""
        return cls(tuple(map(str, frame.columns)), BinaryColumns.of(frame, duals))

    @property
    def vocabulary(self) -> Vocabulary:
        """The variables."""
        return self.source.vocabulary if isinstance(self.source, BinaryColumns) else self.source.vocabulary_

    @property
    def groups(self) -> Groups:
        """Sets of variables of which at most one is true."""
        return self.source.groups if isinstance(self.source, BinaryColumns) else self.source.groups_

    @property
    def plain(self) -> tuple[str, ...]:
        """The variables without their duals."""
        duals = {dual for _, dual in self.vocabulary.pairs}
        return tuple(name for v, name in enumerate(self.vocabulary) if v not in duals)

    def batch(self, frame: pd.DataFrame) -> Batch:
        """Convert rows to partial interpretations."""
        return self.source.batch(frame)

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
        """The names of the bins of a column of numbers."""
        if isinstance(self.source, BinaryColumns):
            return ()
        own = (each for each in self.source.conditions_ if each.column == column)
        return tuple(condition.bin for condition in own if isinstance(condition, Between))

    def _facts_of(self, column: str, value: str) -> Interpretation:
        if not isinstance(self.source, BinaryColumns):
            return self.source.facts(column, value)
        if value.strip() not in ("0", "1", "?"):
            raise HornbookError(f"column {column!r} is 0, 1 or ?, not {value!r}")
        return self.interpretation({column: np.nan if value.strip() == "?" else float(value)})

    def describe(self, name: str) -> str:
        """What a variable that stands for no condition is called: its name, or the words of a subclass."""
        return name

    def condition(self, name: str) -> tuple[Condition, bool] | None:
        """The condition behind the name of a variable, and whether it is negated; None if there is none."""
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
