"""The binariser, which turns a table of numbers and words into a table of 1, 0 and unknown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from hornbook.code_book import EMPTY_BOOK
from hornbook.conditions import (
    Category,
    Condition,
    IsTrue,
    make_range,
    spell_level,
)
from hornbook.errors import HornbookError
from hornbook.logic import Batch, HornTheory, Vocabulary
from hornbook.queries.literals import exclusivity_rules, group_by_column
from hornbook.schema import read_json, write_json
from hornbook.tables.frames import as_frame, refuse_infinity
from hornbook.tables.table import (
    KINDS,
    Kind,
    Table,
    are_truths,
    infer_kind,
    known_values,
    sorted_levels,
)

Strategy: TypeAlias = Literal["mean-of-halves", "quantile", "width", "tree"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

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


def mean_of_halves_cuts(values: Floats, bins: int) -> Floats:
    """Cut at the mean of the values up to the overall mean, and at the mean of those above it.

    Two bins are cut at the mean itself, four bins at all three means. Sums are rounded once, so
    the order of the values does not matter.
    """
    mean = min(rounded_mean(values), float(np.nextafter(values.max(), -np.inf)))  # some value is above it
    lower, upper = rounded_mean(values[values <= mean]), rounded_mean(values[values > mean])
    points = {2: [mean], 3: [lower, upper], 4: [lower, mean, upper]}
    if bins not in points:
        raise HornbookError(f"mean-of-halves makes 2, 3 or 4 bins, not {bins}; use 'quantile' or 'width'")
    return np.array(points[bins])


def rounded_mean(values: Floats) -> float:
    """The mean of the values, from their exactly rounded sum, and within their range."""
    _, exponent = math.frexp(float(np.abs(values).max()))  # scaled down, a sum cannot overflow
    mean = math.ldexp(math.fsum(np.ldexp(values, -exponent).tolist()) / len(values), exponent)
    return min(max(mean, float(values.min())), float(values.max()))


MOST_IN_SINGLE = 1e38
"""The largest number of which trees are grown as it is."""


def tree_cuts(values: Floats, bins: int, labels: NDArray[Any]) -> Floats:
    """Cut at the thresholds of a small decision tree, or at the median if it has none."""
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(
        max_leaf_nodes=bins, min_samples_leaf=max(1, len(values) // 20), random_state=0
    )
    scale = max(1.0, np.abs(values).max() / MOST_IN_SINGLE)  # it reads single precision
    grown = model.fit(values[:, None] / scale, labels).tree_
    thresholds = scale * grown.threshold[grown.feature >= 0]
    return np.sort(thresholds) if len(thresholds) else np.array([np.median(values)])


def cut_points(
    values: Floats, bins: int, strategy: Strategy, labels: NDArray[Any] | None = None
) -> tuple[float, ...]:
    """Return ascending, distinct cut points of known values; there may be fewer bins than asked for.

    A constant column is cut at its only value.

    Examples
    --------
    >>> cut_points(np.array([1.0, 2, 3, 10]), 3, "mean-of-halves")
    (2.0, 10.0)
    >>> cut_points(np.array([0.0, 0, 0, 0, 8]), 4, "quantile")
    (0.0,)

    """
    if values.min() == values.max():
        return (float(values[0]),)
    if strategy == "mean-of-halves":
        points = mean_of_halves_cuts(values, bins)
    elif strategy == "quantile":  # about as many values in each bin, and some in the last
        below_top = values[values < values.max()].max()
        points = np.minimum(np.quantile(values, np.arange(1, bins) / bins), below_top)
    elif strategy == "width":
        points = np.linspace(values.min(), values.max(), bins + 1)[1:-1]
    elif labels is None:
        raise HornbookError("bins='tree' requires y to be passed, but the target y is None: call fit(X, y)")
    else:
        points = tree_cuts(values, bins, labels)
    return tuple(np.unique(points).tolist())


@dataclass(frozen=True)
class BinariserForm:
    """What is kept of a fitted binariser: its columns, and the variables that it makes, without duals."""

    columns: tuple[str, ...]
    dual: bool
    variables: tuple[Variable, ...]


class Binariser(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns columns into variables that are 1, 0 or, where the value is missing, NaN.

    A quantitative column becomes one variable per bin (`age=low`, `age=middle`, `age=high`), a
    categorical one a variable per level (`ascites=2`), a binary one a single variable (`obesity`,
    or `sex=male` if its two values are not truth values). Bins are closed on the right.

    Parameters
    ----------
    bins
        Where to cut: `mean-of-halves` (at the mean of the values up to the mean, and of those
        above it), `quantile`, `width` (equal widths) or `tree` (a small decision tree per
        column, which needs labels).
    n_bins
        The number of bins. Equal cut points count as one, so a column may get fewer.
    cuts
        Explicit cut points for some columns, instead of `bins`.
    kinds
        The kinds of some columns (`binary`, `categorical` or `quantitative`); others are inferred.
    dual
        Whether to add a variable `not_…` with the opposite value for each variable.
    max_levels
        A categorical column with more levels is refused.

    Attributes
    ----------
    vocabulary_
        The variables.
    groups_
        Sets of variables that exclude each other: those of one column.
    conditions_
        The condition on its column that each variable (except duals) stands for; a dual stands for
        its negation.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [20.0, 40, 60, 100], "obesity": [0, 1, None, 1]})
    >>> binariser = Binariser().fit(frame)
    >>> binariser.transform(frame)
       age=low  age=middle  age=high  obesity
    0      1.0         0.0       0.0      0.0
    1      0.0         1.0       0.0      1.0
    2      0.0         1.0       0.0      NaN
    3      0.0         0.0       1.0      1.0
    >>> binariser.describe("age=high")
    'age > 80'
    >>> print(Binariser(dual=True).fit(frame[["obesity"]]).background())
    obesity ∧ not_obesity → ⊥

    References
    ----------
    C. Persia, A. Ozaki. Extracting Rules from Neural Networks with Partial Interpretations.
    Northern Lights Deep Learning Workshop 3, 2022.

    """

    def __init__(
        self,
        bins: Strategy = "mean-of-halves",
        n_bins: int = 3,
        cuts: Mapping[str, Sequence[float]] | None = None,
        kinds: Mapping[str, Kind] | None = None,
        dual: bool = False,
        max_levels: int = 30,
    ) -> None:
        self.bins = bins
        self.n_bins = n_bins
        self.cuts = cuts
        self.kinds = kinds
        self.dual = dual
        self.max_levels = max_levels

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learn the cut points and levels; `y` is used by `bins='tree'` only."""
        self._check_parameters()
        frame = self._columns(X, reset=True)
        for argument in ("cuts", "kinds"):
            if unknown := set(getattr(self, argument) or ()) - set(self.columns_):
                raise HornbookError(f"{argument} names {min(unknown)!r}, which is not a column")
        labels = None if y is None else np.asarray(y)
        if labels is not None:
            check_consistent_length(frame, labels)
        variables = [self._variables(known_values(frame[name]), labels) for name in self.columns_]
        self._know([variable for several in variables for variable in several])
        return self

    def transform(self, X: Any) -> Any:
        """Return the values of the variables: 1, 0, or NaN where the column's value is missing.

        A frame is transformed into a frame, an array into an array.
        """
        check_is_fitted(self)
        values = self._values(self._columns(X, reset=False))
        given = as_frame(X)
        if given is None:
            return values
        return pd.DataFrame(values, index=given.index, columns=list(self.vocabulary_))

    def _values(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        values = np.full((len(frame), len(self.conditions_)), np.nan, order="F")
        for position, condition in enumerate(self.conditions_):
            true, false = condition.evaluate(frame)
            values[true, position], values[false, position] = 1, 0
        return np.hstack([values, 1 - values]) if self.dual else values

    def batch(self, X: Any) -> Batch:
        """Convert rows to partial interpretations."""
        check_is_fitted(self)
        return Batch.from_array(self._values(self._columns(X, reset=False)), self.vocabulary_)

    def background(self, exclusive: bool = False) -> HornTheory:
        """The rules that hold by construction: duals are disjoint, and so are bins if `exclusive`."""
        check_is_fitted(self)
        theory = HornTheory.background(self.vocabulary_)
        return theory | exclusivity_rules(self.vocabulary_, self.groups_) if exclusive else theory

    def describe(self, name: str) -> str:
        """The condition behind a variable's name."""
        return EMPTY_BOOK.describe(self.condition(name).round())

    def condition(self, name: str) -> Condition:
        """The condition that a variable stands for."""
        check_is_fitted(self)
        variable, count = self.vocabulary_.index(name), len(self.conditions_)
        condition = self.conditions_[variable % count]
        return condition if variable < count else condition.negate()

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The names of the variables."""
        check_is_fitted(self)
        return np.array(self.vocabulary_.names, dtype=object)

    def to_json(self) -> str:
        """Write the columns and conditions as JSON, enough to binarise other rows in the same way."""
        return write_json(self.form())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Restore a fitted binariser from the output of `to_json`."""
        return cls.from_form(read_json(BinariserForm, text, "not a binariser in JSON"))

    def form(self) -> BinariserForm:
        """The columns and conditions."""
        check_is_fitted(self)
        variables = tuple(zip(self.vocabulary_, self.conditions_, strict=False))
        return BinariserForm(tuple(self.columns_), self.dual, variables)

    @classmethod
    def from_form(cls, form: BinariserForm) -> Self:
        """The fitted binariser of these columns and conditions."""
        binariser = cls(dual=form.dual)
        binariser.columns_ = list(form.columns)
        binariser.feature_names_in_ = np.array(binariser.columns_, dtype=object)
        binariser.n_features_in_ = len(binariser.columns_)
        binariser._know(form.variables)
        return binariser

    def _know(self, variables: Sequence[Variable]) -> None:
        names = [name for name, _ in variables]
        self.conditions_ = tuple(condition for _, condition in variables)
        self.vocabulary_ = Vocabulary.with_duals(names) if self.dual else Vocabulary(names)
        self.groups_ = group_by_column([condition.column for condition in self.conditions_])

    def _variables(self, known: pd.Series[Any], labels: NDArray[Any] | None) -> list[Variable]:
        """The variables of one column, from its known values and all rows' labels."""
        name = str(known.name)
        given = (self.kinds or {}).get(name)
        kind = given or ("quantitative" if name in (self.cuts or {}) else infer_kind(known))
        if kind == "quantitative":
            values = _numbers(known)
            cuts = (self.cuts or {}).get(name)
            if cuts is None:
                known_labels = None if labels is None else labels[known.index]
                cuts = cut_points(values, self.n_bins, self.bins, known_labels)
            return make_bins(name, tuple(map(float, cuts)))
        levels = sorted_levels(known)
        if kind == "binary" and are_truths(levels):
            return [(name, IsTrue(name))]
        if kind == "binary":
            if len(levels) > 2:
                raise HornbookError(
                    f"column {name!r} has {len(levels)} distinct values, too many for a binary one; "
                    "make it categorical or quantitative, or give it cut points"
                )
            levels = levels[-1:]
        if len(levels) > self.max_levels:
            raise HornbookError(
                f"column {name!r} has {len(levels)} distinct values, more than "
                f"max_levels={self.max_levels}; drop it, merge values, or bin it if they are numbers"
            )
        return [(f"{name}={spell_level(level)}", Category(name, level)) for level in levels]

    def _columns(self, X: Any, reset: bool) -> pd.DataFrame:
        """Convert the input to a frame with the column names of the fit."""
        frame = as_frame(X)
        if frame is None:
            array = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
            frame = pd.DataFrame(array, columns=[f"x{number}" for number in range(array.shape[1])])
        else:
            validate_data(self, frame, reset=reset, skip_check_array=True)
            refuse_infinity(frame)
        if reset:
            self.columns_ = [str(column) for column in frame.columns]
        return frame.set_axis(self.columns_, axis=1).reset_index(drop=True)

    def _check_parameters(self) -> None:
        if self.bins not in STRATEGIES:
            raise HornbookError(f"bins is one of {', '.join(STRATEGIES)}; got {self.bins!r}")
        if self.n_bins < 2:
            raise HornbookError(f"n_bins is at least 2; got {self.n_bins}")
        for column, kind in (self.kinds or {}).items():
            if kind not in KINDS:
                raise HornbookError(f"the kind of {column!r} is one of {', '.join(KINDS)}; got {kind!r}")
        for column, cuts in (self.cuts or {}).items():
            if not len(cuts) or not np.all(np.isfinite(cuts)) or not np.all(np.diff(cuts) > 0):
                raise HornbookError(f"the cut points of {column!r} are not ascending numbers: {list(cuts)}")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = self.bins == "tree"
        return tags


def _numbers(known: pd.Series[Any]) -> Floats:
    """The known values of a quantitative column; words are refused."""
    try:
        return known.to_numpy(np.float64)
    except (TypeError, ValueError) as error:
        raise HornbookError(f"column {known.name!r} is to be quantitative, but: {error}") from None


def binarise_table(table: Table, **parameters: Any) -> tuple[Binariser, Batch]:
    """Fit a binariser to a table with its kinds; return it and the binarised rows, label included."""
    kinds = {**table.kinds, **parameters.pop("kinds", {})}
    binariser = Binariser(kinds=kinds, **parameters).fit(table.frame)
    return binariser, binariser.batch(table.frame)


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
