"""What both extractors share: one result, read by fitted attributes, pages and files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Tags, check_random_state, estimator_html_repr
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from hornbook.errors import HornbookError
from hornbook.explanations import Explanation
from hornbook.extraction import Extraction, Fidelity, FrontierPoint
from hornbook.logic import HornTheory
from hornbook.models import name_model_source
from hornbook.storage import write_file
from hornbook.tables import as_frame, name_columns, refuse_unusable, remember_form


class Extractor(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator whose fit leaves an `Extraction`.

    It is no classifier in scikit-learn's sense: it learns from the model's answers, and not from `y`.
    """

    extraction_: Extraction
    classes_: NDArray[Any]

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
        same = self.explanation_.decide(frame) == self._model_labels(frame)
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        return float(np.average(same, weights=weights))

    def _model_labels(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        """The number of the model's class for each row."""
        raise NotImplementedError

    def report(self, path: str | Path) -> None:
        """Write the report, one HTML page."""
        from hornbook.report import to_html

        check_is_fitted(self)
        write_file(Path(path), to_html(self.extraction_))

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

    def __sklearn_clone__(self) -> Self:
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
        refuse_unusable(frame)
        if reset:
            self._columns = self._name_columns(frame)
        named = frame.set_axis(self._columns, axis=1)
        remember_form(named, X)
        return named

    def _name_columns(self, frame: pd.DataFrame) -> list[str]:
        """The names of columns; x0, x1, … where they have none."""
        return name_columns(frame)


def describe_run(model: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a run was made from: the name of its model, and its settings, ready for JSON."""
    name = name_model_source(model) if isinstance(model, str | Path) else getattr(model, "name", None)
    name = name if isinstance(name, str) else getattr(model, "__name__", type(model).__name__)
    plain = {
        key: value for key, value in settings.items() if isinstance(value, str | int | float | bool | None)
    }
    return {"model": {"name": name}, "settings": plain}


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
