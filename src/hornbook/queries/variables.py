"""Between the columns of a table and variables, both ways.

A binariser makes variables of columns, each of which stands for a condition. A model that reads the
columns is asked about variables by rows whose values meet the question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from hornbook.code_book import EMPTY_BOOK
from hornbook.conditions import Category, Condition, IsTrue, make_range, spell_level
from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.logic import Batch, HornTheory, Vocabulary, bits
from hornbook.models import COMPLETE, ENCODINGS, Predictor, make_missing
from hornbook.queries.literals import Groups, exclusivity_rules, group_by_column
from hornbook.tables import Kind, as_frame, infer_kind, name_columns, read_frame
from hornbook.tables.table import are_truths, known_values, sorted_levels

Floats: TypeAlias = NDArray[np.float64]

Variable: TypeAlias = tuple[str, Condition]
"""A variable's name, and what it stands for."""

BIN_NAMES = {
    2: ("low", "high"),
    3: ("low", "middle", "high"),
    4: ("very_low", "low", "high", "very_high"),
    5: ("very_low", "low", "middle", "high", "very_high"),
}
"""The names of the ranges of a column, by their number."""

MAX_LEVELS = 30
"""The most values of a column of categories, unless the caller allows more."""

MOST_IN_SINGLE = 1e38
"""The largest number of which trees are grown as it is."""

VALUES_PER_BIN = 5
"""Values of each bin that a question about it is asked with."""


@dataclass(frozen=True)
class Binariser(Displayed):
    """Makes variables of the columns of a table: true, false or, where the value is missing, unknown.

    A quantitative column becomes one variable per bin (`age=low`, `age=middle`, `age=high`), a
    categorical one a variable per level (`ascites=2`), a binary one a single variable (`obesity`,
    or `sex=male` if its two values are not truth values). Bins are closed on the right.

    Parameters
    ----------
    columns
        The columns.
    variables
        The name of each variable, and the condition on its column that it stands for.
    dual
        Whether each has a dual `not_…`, which stands for the negation; duals come after all others.
    closed
        Whether the variables of a column without a value are false, and not unknown.
    exclusive
        Whether the variables of a column exclude each other in questions and rules; in rows they always do.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [20.0, 40, 60, 100], "obesity": [0, 1, None, 1]})
    >>> binariser = Binariser.fit(frame)
    >>> binariser.transform(frame)
       age=low  age=middle  age=high  obesity
    0      1.0         0.0       0.0      0.0
    1      0.0         1.0       0.0      1.0
    2      0.0         1.0       0.0      NaN
    3      0.0         0.0       1.0      1.0
    >>> binariser.describe("age=high")
    'age > 80'
    >>> print(Binariser.fit(frame[["obesity"]], dual=True).background())
    obesity ∧ not_obesity → ⊥

    References
    ----------
    C. Persia, A. Ozaki. Extracting Rules from Neural Networks with Partial Interpretations.
    Northern Lights Deep Learning Workshop 3, 2022.

    """

    columns: tuple[str, ...]
    variables: tuple[Variable, ...]
    dual: bool = False
    closed: bool = False
    exclusive: bool = True

    @classmethod
    def fit(
        cls,
        X: Any,
        *,
        kinds: Mapping[str, Kind] | None = None,
        cuts: Mapping[str, Sequence[float]] | None = None,
        labels: ArrayLike | None = None,
        dual: bool = False,
        closed: bool = False,
        max_levels: int = MAX_LEVELS,
    ) -> Binariser:
        """Make variables of the columns of a table.

        Parameters
        ----------
        X
            The table.
        kinds
            The kinds of some columns (`binary`, `categorical` or `quantitative`); others are inferred.
        cuts
            Cut points of some columns. Others are cut at the mean of the values up to their mean, and of
            those above it.
        labels
            A label of each row: then columns without cut points are cut where it changes most.
        dual, closed
            See the class.
        max_levels
            A categorical column with more levels is refused.

        """
        frame = read_frame(X)
        names = list(map(str, frame.columns))
        for argument, given in (("cuts", cuts), ("kinds", kinds)):
            if unknown := set(given or ()) - set(names):
                raise HornbookError(f"{argument} names {min(unknown)!r}, which is not a column")
        variables = []
        for name in names:
            known = known_values(frame[name].reset_index(drop=True))
            points = _check_cuts(name, (cuts or {}).get(name))
            kind = (kinds or {}).get(name) or ("quantitative" if points else infer_kind(known))
            if kind == "quantitative":
                own = None if labels is None else np.asarray(labels)[known.index]
                variables += make_bins(name, points or cut_points(_numbers(known), own))
            else:
                variables += _name_levels(known, kind, max_levels)
        return cls(tuple(names), tuple(variables), dual, closed)

    def __str__(self) -> str:
        return f"columns {', '.join(self.columns)} as {self.vocabulary}"

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The condition that each variable stands for; a dual stands for its negation."""
        return tuple(condition for _, condition in self.variables)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables without their duals."""
        return tuple(name for name, _ in self.variables)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The variables, and their duals."""
        return Vocabulary.with_duals(self.names) if self.dual else Vocabulary(self.names)

    @cached_property
    def groups(self) -> Groups:
        """Sets of variables that exclude each other: those of one column."""
        return group_by_column([condition.column for condition in self.conditions]) if self.exclusive else ()

    def background(self, label: str | None = None) -> HornTheory:
        """The rules that hold by construction: duals are disjoint, and so are the variables of a column.

        With a label they are over the features and the label.
        """
        vocabulary = self.vocabulary if label is None else self.vocabulary.with_label(label)
        return HornTheory.background(vocabulary) | exclusivity_rules(vocabulary, self.groups)

    def batch(self, X: Any) -> Batch:
        """Rows as partial interpretations; they may have further columns."""
        frame = as_frame(X)
        if frame is None:
            frame = pd.DataFrame(np.asarray(X)).infer_objects()
        frame = frame.set_axis(name_columns(frame), axis=1)
        if absent := [name for name in self.columns if name not in frame]:
            present = ", ".join(frame.columns)
            raise HornbookError(f"the rows have no column {absent[0]!r}; they have {present}")
        known = [condition.evaluate(frame) for condition in self.conditions]
        true, false = (bits.pack_rows(np.array(part, np.bool_)) for part in zip(*known, strict=True))
        if self.closed:
            false = ~true
            bits.clear_spare(false, len(frame))
        if self.dual:
            true, false = np.concatenate([true, false]), np.concatenate([false, true])
        return Batch(self.vocabulary, true, false, len(frame))

    def transform(self, X: Any) -> pd.DataFrame:
        """The values of the variables: 1, 0, or NaN where the column's value is missing."""
        index = getattr(as_frame(X), "index", None)
        return pd.DataFrame(self.batch(X).to_array(), index, list(self.vocabulary))

    def find_variable(self, column: str) -> str:
        """The variable of a column of two values."""
        own = [name for name, condition in self.variables if condition.column == column]
        if len(own) != 1:
            raise HornbookError(f"column {column!r} becomes {len(own)} variables; a class has two values")
        return own[0]

    def describe(self, name: str) -> str:
        """The condition behind a variable's name."""
        return EMPTY_BOOK.describe(self.condition(name).round())

    def condition(self, name: str) -> Condition:
        """The condition that a variable stands for."""
        variable, count = self.vocabulary.index(name), len(self.variables)
        condition = self.conditions[variable % count]
        return condition if variable < count else condition.negate()


def _check_cuts(column: str, cuts: Sequence[float] | None) -> tuple[float, ...]:
    """The cut points given for a column, none if there are none; refuse those that do not ascend."""
    if cuts is None:
        return ()
    if not len(cuts) or not np.all(np.isfinite(cuts)) or not np.all(np.diff(cuts) > 0):
        raise HornbookError(f"the cut points of {column!r} are not ascending numbers: {list(cuts)}")
    return tuple(map(float, cuts))


def cut_points(values: Floats, labels: NDArray[Any] | None = None) -> tuple[float, ...]:
    """Return one or two ascending cut points of known values; a constant column is cut at its only value.

    Examples
    --------
    >>> cut_points(np.array([1.0, 2, 3, 10]))
    (2.0, 10.0)
    >>> values = np.arange(100.0)
    >>> cut_points(values, (values > 40) & (values <= 70))
    (40.5, 70.5)

    """
    if values.min() == values.max():
        return (float(values[0]),)
    points = _halve_by_means(values) if labels is None else _cut_by_tree(values, labels)
    return tuple(np.unique(points).tolist())


def _halve_by_means(values: Floats) -> Floats:
    """Cut at the mean of the values up to the overall mean, and at the mean of those above it.

    Sums are rounded once, so the order of the values does not matter.
    """
    mean = min(rounded_mean(values), float(np.nextafter(values.max(), -np.inf)))  # some value is above it
    return np.array([rounded_mean(values[values <= mean]), rounded_mean(values[values > mean])])


def rounded_mean(values: Floats) -> float:
    """The mean of the values, from their exactly rounded sum, and within their range."""
    _, exponent = math.frexp(float(np.abs(values).max()))  # scaled down, a sum cannot overflow
    mean = math.ldexp(math.fsum(np.ldexp(values, -exponent).tolist()) / len(values), exponent)
    return min(max(mean, float(values.min())), float(values.max()))


def _cut_by_tree(values: Floats, labels: NDArray[Any]) -> Floats:
    """Cut at the thresholds of a decision tree of three leaves, or at the median if it has none."""
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(
        max_leaf_nodes=3, min_samples_leaf=max(1, len(values) // 20), random_state=0
    )
    scale = max(1.0, np.abs(values).max() / MOST_IN_SINGLE)  # it reads single precision
    grown = model.fit(values[:, None] / scale, labels).tree_
    thresholds: Floats = scale * grown.threshold[grown.feature >= 0]
    return thresholds if len(thresholds) else np.array([np.median(values)])


def make_bins(column: str, cuts: Sequence[float]) -> list[Variable]:
    r"""The variables of the ranges between cut points, closed on the right.

    Examples
    --------
    >>> print(*make_bins("age", (40.0, 60.0)), sep="\n")
    ('age=low', age <= 40)
    ('age=middle', 40 < age <= 60)
    ('age=high', age > 60)

    """
    count, ends = len(cuts) + 1, pairwise((-math.inf, *cuts, math.inf))
    names = BIN_NAMES.get(count) or tuple(f"bin{number}" for number in range(1, count + 1))
    return [(f"{column}={name}", make_range(column, *own)) for name, own in zip(names, ends, strict=True)]


def _name_levels(known: pd.Series[Any], kind: Kind, max_levels: int) -> list[Variable]:
    """The variables of a column of levels: one for each, of two one."""
    name, levels = str(known.name), sorted_levels(known)
    if kind == "binary" and are_truths(levels):
        return [(name, IsTrue(name))]
    if kind == "binary":
        if len(levels) > 2:
            raise HornbookError(
                f"column {name!r} has {len(levels)} distinct values, too many for a binary one; "
                "make it categorical or quantitative, or give it cut points"
            )
        levels = levels[-1:]
    if len(levels) > max_levels:
        raise HornbookError(
            f"column {name!r} has {len(levels)} distinct values, more than {max_levels}; drop it, merge "
            "values, or bin it if they are numbers"
        )
    return [(f"{name}={spell_level(level)}", Category(name, level)) for level in levels]


def _numbers(known: pd.Series[Any]) -> Floats:
    """The known values of a quantitative column; words are refused."""
    try:
        return known.to_numpy(np.float64)
    except (TypeError, ValueError) as error:
        raise HornbookError(f"column {known.name!r} is to be quantitative, but: {error}") from None


def is_binary(frame: pd.DataFrame) -> bool:
    """Whether every known value is 1 or 0."""
    numeric = (pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes)
    return all(numeric) and bool((frame.isin([0, 1]) | frame.isna()).to_numpy().all())


@dataclass(frozen=True, eq=False)
class BinValues:
    """Turns binary variables back into table rows: each bin becomes values observed in it.

    A model that reads `age` cannot be told `age=high`, but it can be given several of the high ages
    of the table, one after the other. A column without a known bin is missing.

    Parameters
    ----------
    variables
        For each column, the positions of its variables.
    values
        For each column, `VALUES_PER_BIN` values, in the table's own type, for each variable if it is
        true, for a column with one variable as many if it is false, and last what stands for unknown:
        a missing value as the table writes it, or any values for models that take no missing ones.

    """

    variables: Mapping[str, tuple[int, ...]]
    values: Mapping[str, pd.Series[Any]]

    @classmethod
    def of(
        cls, binariser: Binariser, frame: pd.DataFrame, takes_missing: bool, rng: np.random.Generator
    ) -> BinValues:
        """Draw the values from those of a table."""
        conditions = binariser.conditions
        variables, values = {}, {}
        for name in binariser.columns:
            own = [v for v, condition in enumerate(conditions) if condition.column == name]
            known = frame[name].dropna()
            parts = [known[conditions[v].evaluate(known.to_frame())[0]] for v in own]
            if len(own) == 1:
                parts.append(known[conditions[own[0]].evaluate(known.to_frame())[1]])
            drawn = [_draw_values(part if len(part) else known, rng) for part in parts]
            unknown = make_missing(drawn[0], frame[name]) if takes_missing else _draw_values(known, rng)
            variables[name], values[name] = tuple(own), pd.concat([*drawn, unknown], ignore_index=True)
        return cls(variables, values)

    def frame(self, facts: NDArray[Any]) -> pd.DataFrame:
        """The table rows, one draw after another, for a (rows, variables) array of 1, 0 and NaN."""
        columns = {}
        for name, positions in self.variables.items():
            about, values = facts[:, positions], self.values[name]
            # of several bins the one that is true; with all but one ruled out, the one that is left
            true = (about == 1) | ((about != 0) & ((about == 0).sum(axis=1) == len(positions) - 1)[:, None])
            if len(positions) == 1:
                true = np.hstack([about == 1, about == 0])
            unknown = len(values) // VALUES_PER_BIN - 1
            choice = np.where(true.any(axis=1), true.argmax(axis=1), unknown)
            places = VALUES_PER_BIN * choice + np.arange(VALUES_PER_BIN)[:, None]  # (draws, rows)
            columns[name] = values.iloc[places.reshape(-1)].reset_index(drop=True)
        return pd.DataFrame(columns, copy=False)


def _draw_values(known: pd.Series[Any], rng: np.random.Generator) -> pd.Series[Any]:
    """Several observed values, spread evenly over their order and shuffled."""
    places = ((np.arange(VALUES_PER_BIN) + 0.5) * len(known) / VALUES_PER_BIN).astype(np.intp)
    order = known.reset_index(drop=True).sort_values().index  # pandas may sort objects into another type
    return known.iloc[order[rng.permutation(places)]]


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
        by_draw = answers.reshape(VALUES_PER_BIN, len(facts), *answers.shape[1:])
        return np.asarray(by_draw.mean(axis=0), np.float64)

    column = 1 if predictor.column is None else predictor.column
    return replace(
        predictor,
        outputs=lambda facts: average(predictor.output_rows, facts),
        labels=lambda facts: np.where(average(predictor.decide_rows, facts) > 0.5, column, -1),
        asks_another=True,
        classes=None,
        encoding=ENCODINGS["nan"] if takes_missing else COMPLETE,
        inputs=len(binariser.variables),
        names=binariser.names,
        dtype=np.float64,
        order="C",
    )
