"""Adapter for LightGBM boosters and their scikit-learn wrappers, which handle missing values."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from hornbook.errors import HornbookError
from hornbook.models.encoding import ENCODINGS
from hornbook.models.from_sklearn import decide_for, own_labels
from hornbook.models.outputs import Output, class_column, plain_labels, positive_column
from hornbook.models.predictor import Predictor


def adapt(model: Any, name: str, positive: Any, output: Output | None) -> Predictor:
    """What the booster predicts; ? is NaN.

    LightGBM rewrites the names of columns, so they are not compared with the variables': the
    order is the caller's responsibility.
    """
    is_estimator = hasattr(model, "fit")
    if is_estimator and not model.__sklearn_is_fitted__():
        raise HornbookError(f"{name} is not fitted yet; call its fit first")
    booster = model.booster_ if is_estimator else model
    column: int | None
    classes: tuple[Any, ...] | None = None
    decisions = labels = None
    if hasattr(model, "classes_"):
        classes = tuple(plain_labels(model.classes_))
        column = class_column(list(classes), positive, name)
        label = classes[column]
        labels = own_labels(model, name)
        decisions = partial(decide_for, labels, column)
    else:
        label = column = positive_column(positive, name)
    return Predictor(
        booster.predict,
        name,
        ENCODINGS["nan"],
        positive=label,
        column=column,
        output=output or "score",
        inputs=booster.num_feature(),
        dtype=np.float64,  # in which it compares
        decisions=decisions,
        classes=classes,
        labels=labels,
        row_wise=True,
    )
