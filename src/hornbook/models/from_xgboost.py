"""Adapter for XGBoost boosters and their scikit-learn wrappers, which handle missing values."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.models import from_sklearn
from hornbook.models.encoding import ENCODINGS, Encoding
from hornbook.models.outputs import Output, positive_column
from hornbook.models.predictor import Predictor


def adapt(model: Any, name: str, positive: Any, output: Output | None) -> Predictor:
    """Make a predictor of a booster; ? is NaN, or the model's own marker of missing values."""
    if hasattr(model, "get_booster"):
        predictor = from_sklearn.adapt(model, name, positive, output)
        return replace(predictor, encoding=Encoding(unknown=model.missing), dtype=np.float32, order="C")
    column = positive_column(positive, name)
    objective = json.loads(model.save_config())["learner"]["objective"]["name"]
    predictor = Predictor(
        partial(_predictions, model),
        name,
        ENCODINGS["nan"],
        positive=column,
        column=column,
        output=output or ("logit" if objective == "binary:logitraw" else "score"),
        inputs=model.num_features(),
        names=None if model.feature_names is None else tuple(model.feature_names),
        row_wise=True,
    )
    if objective != "multi:softmax":
        return predictor
    if column is None:
        raise HornbookError(f"{name} tells only the class; say which is positive, e.g. positive=1")
    return replace(predictor, outputs=partial(_decisions, model, column), column=None)


def _predictions(model: Any, array: NDArray[Any]) -> Any:
    # a booster with names would ask for a data frame; the names were compared before
    return model.inplace_predict(array, validate_features=False)


def _decisions(model: Any, label: int, array: NDArray[Any]) -> Any:
    return _predictions(model, array) == label
