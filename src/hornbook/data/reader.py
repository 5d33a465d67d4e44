"""How the rows of a table become partial interpretations: binarised, or as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.data.binarise import Binariser
from hornbook.data.frames import as_frame
from hornbook.data.recognise import Variables, is_binary, numbered
from hornbook.distributions.literals import Groups
from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.errors import HornbookError
from hornbook.logic.vocabulary import Vocabulary


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
