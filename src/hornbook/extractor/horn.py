"""HornExtractor: the explanation of a classifier, by the conventions of scikit-learn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import Tags, check_random_state, estimator_html_repr
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from hornbook.data.examples import split_rows
from hornbook.data.table import as_frame, refuse_infinity
from hornbook.errors import HornbookError
from hornbook.evaluate import Fidelity
from hornbook.explain import Decision, explain_row
from hornbook.explanations import Explanation
from hornbook.extraction import FrontierPoint, explain_classifier
from hornbook.logic import HornTheory
from hornbook.surrogates import Candidate, Form
from hornbook.teacher import bind_classifier


class HornExtractor(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Explains what a fitted classifier does, in the columns of a table.

    Parameters
    ----------
    model
        The classifier, already fitted: of scikit-learn, torch, Keras, ONNX, XGBoost or LightGBM, the
        path of a model file, a function of an array, or what `as_predictor` made of one. It is
        never refitted, copied or changed; clones share it.
    target
        What the model predicts: what its classes are called in words.
    form
        `tree`, `card`, `rules`, or `auto` for the best of them.
    max_literals
        The most conditions that there may be to read.
    n_samples
        How many samples the explanation is fitted to; half as many choose among candidates. By
        default 16,000, or up to 24,000 for a large table.
    random_state
        Makes the run repeatable.
    verbose
        1 prints every candidate to stderr.

    Attributes
    ----------
    explanation_
        What a person reads: a `DecisionTree`, a `ScoreCard` or a `RuleSet`.
    fidelity_
        How often explanation and model say the same: on unseen rows, with an interval; `samples`
        has the figure for fresh samples of the neighbourhood.
    theory_, background_
        The explanation as Horn rules, and what always holds beside them.
    frontier_
        The best explanation of every size, the shortest first.
    extraction_
        The whole result, as one value.
    classes_
        The model's classes.
    feature_names_in_, n_features_in_
        The columns that were given to `fit`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[["petal width (cm)"]], y == 2)
    >>> extractor = HornExtractor(model, "virginica", random_state=0).fit(X[["petal width (cm)"]])
    >>> print(extractor.explanation_)
    if petal width (cm) > 1.75: virginica
    otherwise: not virginica
    >>> print(extractor.fidelity_)
    on 30 unseen rows 100.00 % (95 % interval 88.43 % to 100.00 %)
    >>> print(extractor.explain({"petal width (cm)": 2.3}))
    virginica, because
      petal width (cm) > 1.75
    with petal width (cm) <= 1.75 it would be not virginica

    """

    def __init__(
        self,
        model: Any,
        target: str = "label",
        *,
        form: Form = "auto",
        max_literals: int = 20,
        n_samples: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.target = target
        self.form = form
        self.max_literals = max_literals
        self.n_samples = n_samples
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: Any, y: ArrayLike | None = None, *, watch: Callable[[Candidate], None] | None = None
    ) -> Self:
        """Ask the model about samples of rows like these, and explain its answers.

        Parameters
        ----------
        X
            Rows as the model reads them, missing values as NaN. A fifth of at least 100 rows is
            held out: the fidelity on unseen rows is measured on it.
        y
            Not used: the explanation is about what the model says.
        watch
            Is called with every candidate.

        """
        refuse_numbers(y, self.target)
        frame = self._read_frame(X, reset=True)
        seed = draw_seed(self.random_state)
        used, held_out = split_rows(frame, seed)
        self.teacher_ = bind_classifier(self.model, frame.iloc[used], seed)
        self.classes_ = np.array(self.teacher_.classes)
        self.extraction_ = explain_classifier(
            self.teacher_,
            frame.iloc[held_out],
            self.target,
            form=self.form,
            max_literals=self.max_literals,
            n_samples=self.n_samples,
            seed=seed,
            watch=watch or (print_candidate if self.verbose else None),
        )
        return self

    @property
    def explanation_(self) -> Explanation:
        """What a person reads."""
        return self.extraction_.explanation

    @property
    def fidelity_(self) -> Fidelity:
        """How often explanation and model say the same, on each population."""
        return self.extraction_.fidelity

    @property
    def theory_(self) -> HornTheory:
        """The explanation as Horn rules."""
        return self.extraction_.theory

    @property
    def background_(self) -> HornTheory:
        """What always holds beside the rules."""
        return self.extraction_.background

    @property
    def frontier_(self) -> tuple[FrontierPoint, ...]:
        """The best explanation of every size, the shortest first."""
        return self.extraction_.frontier

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row by the explanation."""
        check_is_fitted(self)
        predicted: NDArray[Any] = self.classes_[self.explanation_.decide(self._read_frame(X, reset=False))]
        return predicted

    def score(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """The share of these rows on which `predict` says what the model says; `y` is not looked at."""
        check_is_fitted(self)
        frame = self._read_frame(X, reset=False)
        same = self.explanation_.decide(frame) == self.teacher_.labels(frame)
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        return float(np.average(same, weights=weights))

    def explain(self, row: Any) -> Decision:
        """Why the explanation decides as it does about one row, and the smallest change that would change it.

        Parameters
        ----------
        row
            A series, a list, a frame of one row, or a mapping of some columns to values: the others
            are missing.

        """
        check_is_fitted(self)
        return explain_row(self.explanation_, name_values(row, self._columns))

    def report(self, path: str | Path) -> None:
        """Write the report, one HTML page."""
        from hornbook.report import to_html

        check_is_fitted(self)
        Path(path).write_text(to_html(self.extraction_), "utf-8")

    def save(self, folder: str | Path) -> None:
        """Save the extraction and its report in a folder; `hornbook.load` reads it."""
        from hornbook.runs import save_extraction

        check_is_fitted(self)
        save_extraction(Path(folder), self.extraction_)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; those of the model are its own, for it stays as it was fitted."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        return parameters

    def _repr_html_(self) -> str:
        """The explanation in a notebook."""
        if not self.__sklearn_is_fitted__():
            return str(estimator_html_repr(self))
        from hornbook.report import to_notebook

        return to_notebook(self.extraction_)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_clone__(self) -> HornExtractor:
        return type(self)(**self.get_params())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "extraction_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = False
        return tags

    def _read_frame(self, X: Any, reset: bool) -> pd.DataFrame:
        """Rows as a frame whose columns have the names that `fit` gave them."""
        frame = as_frame(X)
        if frame is None:
            values = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
            frame = pd.DataFrame(values).infer_objects()
        else:
            validate_data(self, frame, reset=reset, skip_check_array=True)
            refuse_infinity(frame)
        if not len(frame):
            raise HornbookError("there are no rows to explain the model on; pass some rows that it decides")
        if reset:
            self._columns = name_columns(frame)
        return frame.set_axis(self._columns, axis=1)


def name_columns(frame: pd.DataFrame) -> list[str]:
    """The names of columns; x0, x1, … where they have none."""
    if all(isinstance(name, str) for name in frame.columns):
        return list(frame.columns)
    return [f"x{number}" for number in range(frame.shape[1])]


def name_values(row: Any, columns: list[str]) -> Any:
    """One row with the names of its columns: a list or array of values gets them in order."""
    if isinstance(row, list | tuple | np.ndarray):
        values = np.asarray(row, object).reshape(-1)
        if len(values) != len(columns):
            raise HornbookError(f"a row has {len(columns)} values, one a column; got {len(values)}")
        return dict(zip(columns, values, strict=True))
    frame = as_frame(row)
    return row if frame is None else frame


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """The seed of a run from what scikit-learn calls a random state."""
    if isinstance(random_state, int):
        return random_state
    return int(check_random_state(random_state).randint(2**31))


def refuse_numbers(y: ArrayLike | None, target: str) -> None:
    """Refuse a target of numbers: an explanation is about classes."""
    if y is not None and type_of_target(y).startswith("continuous"):
        middle = np.median(np.asarray(y))
        raise HornbookError(f"{target!r} is a number, and an explanation needs classes: e.g. y > {middle:g}")


def print_candidate(candidate: Candidate) -> None:
    """Print a candidate to stderr, as progress."""
    fidelity = f"{100 * candidate.fidelity.estimate:.1f} % of samples"
    print(f"{candidate.form} with {candidate.literals} literals: {fidelity}", file=sys.stderr)
