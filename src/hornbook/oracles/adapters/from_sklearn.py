"""scikit-learn estimators and pipelines, and whatever has their `predict`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.logic.errors import HornbookError
from hornbook.oracles.adapters.encoding import COMPLETE, ENCODINGS, Encoding
from hornbook.oracles.adapters.predictor import Predictor
from hornbook.oracles.adapters.scores import Output, class_column, list_of, refuse_output, refuse_positive


def adapt(model: Any, name: str, positive: Any, output: Output | None) -> Predictor:
    """The probability of the positive class, or 0 and 1 from a classifier that only decides.

    What a model without classes predicts (a regressor) is taken as the score. Unless told
    otherwise, an estimator that declares to accept NaN gets NaN for ?, others no ? at all.
    """
    refuse_output(output, name)
    _refuse_unfitted(model, name)
    names = getattr(model, "feature_names_in_", None)
    predictor = Predictor(
        partial(_call, model.predict, names),
        name,
        _encoding(model),
        inputs=getattr(model, "n_features_in_", None),
        names=None if names is None else tuple(names),
        dtype=np.float64,
        order="F",
    )
    if not hasattr(model, "classes_"):
        refuse_positive(positive, name)
        return predictor
    classes = list_of(model.classes_)
    column = class_column(classes, positive, name)
    label = classes[column]
    if hasattr(model, "predict_proba"):
        outputs = partial(_call, model.predict_proba, names)
        return replace(predictor, outputs=outputs, positive=label, column=column, output="probability")
    return replace(predictor, outputs=partial(_decisions, model.predict, names, label), positive=label)


def _call(method: Any, names: Any, array: NDArray[Any]) -> Any:
    if names is None:
        return method(array)
    # an estimator fitted on a data frame wants its column names back
    return method(pd.DataFrame(array, columns=names, copy=False))


def _decisions(method: Any, names: Any, label: Any, array: NDArray[Any]) -> Any:
    return np.asarray(_call(method, names, array)) == label


def _encoding(model: Any) -> Encoding:
    tags = getattr(model, "__sklearn_tags__", None)
    return ENCODINGS["nan"] if tags is not None and tags().input_tags.allow_nan else COMPLETE


def _refuse_unfitted(model: Any, name: str) -> None:
    if not hasattr(model, "__sklearn_tags__"):
        return
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        raise HornbookError(f"{name} is not fitted yet; call its fit first") from None
