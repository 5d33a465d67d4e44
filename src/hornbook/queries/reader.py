"""Between the columns of a table and variables, both ways.

A reader turns rows into variables: by a binariser, or as 0/1 columns with recognised duals. A model of table
columns is asked about binarised variables by rows whose values meet the question.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.conditions import Condition
from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.logic import NEGATION_PREFIX, Batch, Vocabulary
from hornbook.models import COMPLETE, ENCODINGS, Predictor, columns_with_missing, make_missing
from hornbook.queries.literals import Groups, group_by_column
from hornbook.tables import Kind

if TYPE_CHECKING:
    from hornbook.queries.binarise import Binariser  # needs scikit-learn, which takes a second to import

VALUES_PER_BIN = 5
"""Values of each bin that a question about it is asked with."""


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
class Reader(Displayed):
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
        Sets of variables that exclude each other.
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

    def __str__(self) -> str:
        return f"columns {', '.join(self.columns)} as {self.vocabulary}"

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
        true [1, 3], false [0, 4], all else unknown

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


@dataclass(frozen=True, eq=False)
class BinValues:
    """Turns binary variables back into table rows: each bin becomes values observed in it.

    A model that reads `age` cannot be told `age=high`, but it can be given several of the high ages
    of the table, one after the other. A column without a known bin is missing.

    Parameters
    ----------
    names
        The columns.
    variables
        For each column, the positions of its variables.
    values
        For each column, `VALUES_PER_BIN` values, in the table's own type, for each variable if it is
        true, for a column with one variable as many if it is false, and last what stands for unknown:
        a missing value as the table writes it, or any values for models that take no missing ones.

    """

    names: tuple[str, ...]
    variables: tuple[tuple[int, ...], ...]
    values: tuple[pd.Series[Any], ...]

    @classmethod
    def of(
        cls, binariser: Binariser, frame: pd.DataFrame, takes_missing: bool, rng: np.random.Generator
    ) -> BinValues:
        """Draw the values from those of a table."""
        names = tuple(binariser.columns_)
        frame = frame.set_axis(list(names), axis=1)
        conditions = binariser.conditions_
        variables = tuple(
            tuple(v for v, condition in enumerate(conditions) if condition.column == name) for name in names
        )
        values = []
        for name, positions in zip(names, variables, strict=True):
            known = frame[name].dropna()
            parts = [known[conditions[v].evaluate(known.to_frame())[0]] for v in positions]
            if len(positions) == 1:
                parts.append(known[conditions[positions[0]].evaluate(known.to_frame())[1]])
            drawn = [_draw_values(part if len(part) else known, rng) for part in parts]
            unknown = make_missing(drawn[0], frame[name]) if takes_missing else _draw_values(known, rng)
            values.append(pd.concat([*drawn, unknown], ignore_index=True))
        return cls(names, variables, tuple(values))

    def frame(self, facts: NDArray[Any]) -> pd.DataFrame:
        """The table rows, one draw after another, for a (rows, variables) array of 1, 0 and NaN."""
        columns = {}
        for name, positions, values in zip(self.names, self.variables, self.values, strict=True):
            about = facts[:, positions]
            # of several bins the one that is true; with all but one ruled out, the one that is left
            true = (about == 1) | ((about != 0) & ((about == 0).sum(axis=1) == len(positions) - 1)[:, None])
            if len(positions) == 1:
                true = np.hstack([about == 1, about == 0])
            unknown = len(values) // VALUES_PER_BIN - 1
            choice = np.where(true.any(axis=1), true.argmax(axis=1), unknown)
            places = VALUES_PER_BIN * choice + np.arange(VALUES_PER_BIN)[:, None]  # (draws, rows)
            columns[name] = values.iloc[places.reshape(-1)].reset_index(drop=True)
        return pd.DataFrame(columns, copy=False)


def wrap_column_model(
    predictor: Predictor,
    binariser: Binariser,
    frame: pd.DataFrame,
    takes_missing: bool,
    rng: np.random.Generator,
) -> Predictor:
    """Turn a model of columns into a model of variables: the answer is that about most of several rows."""
    columns = BinValues.of(binariser, frame, takes_missing, rng)

    def average(ask: Callable[[Any], Any], facts: NDArray[Any]) -> NDArray[np.float64]:
        answers = np.asarray(ask(predictor.read(columns.frame(facts))), np.float64)
        means: NDArray[np.float64] = answers.reshape(VALUES_PER_BIN, len(facts), *answers.shape[1:]).mean(
            axis=0
        )
        return means

    plain = binariser.vocabulary_.names[: len(binariser.conditions_)]
    return replace(
        predictor,
        outputs=lambda facts: average(predictor.output_rows, facts),
        decisions=lambda facts: average(predictor.decide_rows, facts) > 0.5,
        asks_another=True,
        classes=None,
        labels=None,
        encoding=ENCODINGS["nan"] if takes_missing else COMPLETE,
        inputs=len(plain),
        names=plain,
        dtype=np.float64,
        order="C",
    )


def reads_columns(predictor: Predictor, columns: Collection[str]) -> bool:
    """Whether a model reads the columns of a table, and not the variables made of them."""
    if predictor.names is not None:
        return set(predictor.names) <= set(columns)
    return predictor.inputs in (None, len(columns))


def fit_binariser(
    predictor: Predictor, frame: pd.DataFrame, kinds: Mapping[str, Kind] | None = None
) -> Binariser:
    """Fit a binariser whose bins suit a model.

    If the model reads the columns themselves, bins are cut where its answers change most, because
    rules cannot express what happens within a bin.
    """
    from hornbook.queries.binarise import Binariser

    columns = list(map(str, frame.columns))
    if reads_columns(predictor, columns):
        named = frame.set_axis(columns, axis=1)
        unread = set(columns) - columns_with_missing(predictor, named)
        if named[[name for name in columns if name in unread]].notna().all(axis=None):
            decided = predictor.decide_rows(predictor.read(named))
            return Binariser(dual=True, bins="tree", kinds=kinds).fit(frame, decided)
    return Binariser(dual=True, kinds=kinds).fit(frame)


def _draw_values(known: pd.Series[Any], rng: np.random.Generator) -> pd.Series[Any]:
    """Several observed values, spread evenly over their order and shuffled."""
    places = ((np.arange(VALUES_PER_BIN) + 0.5) * len(known) / VALUES_PER_BIN).astype(np.intp)
    order = known.reset_index(drop=True).sort_values().index  # pandas may sort objects into another type
    return known.iloc[order[rng.permutation(places)]]
