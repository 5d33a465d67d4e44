"""Adapters for scikit-learn estimators and pipelines, boosters, and other objects with `predict`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError, ModelError
from hornbook.models.inputs import COMPLETE, ENCODINGS, list_trained_columns, takes_missing
from hornbook.models.outputs import (
    Output,
    class_column,
    flatten_column,
    number_labels,
    one_hot,
    plain_labels,
    positive_column,
    refuse_output,
    refuse_positive,
)
from hornbook.models.predictor import Predictor

if TYPE_CHECKING:
    from pandas import Index


def adapt_estimator(model: Any, name: str, positive: Any, output: Output | None) -> Predictor:
    """The probability of the positive class, or 0 and 1 from a classifier that only decides.

    What a classifier decides is what its `predict` says. What a model without classes predicts
    (a regressor) is taken as the score. Unless told otherwise, an estimator that answers when
    it is asked with NaN gets NaN for ?, others no ? at all.
    """
    refuse_output(output, name)
    _refuse_unfitted(model, name)
    predictor = _scoring(model, name, positive)
    return replace(predictor, encoding=ENCODINGS["nan"] if takes_missing(predictor) else COMPLETE)


def own_labels(model: Any, name: str) -> Callable[[Any], NDArray[np.intp]]:
    """Return a function from rows to the number of the class that the model's `predict` gives each."""
    names, classes = _trained_names(model), plain_labels(model.classes_)
    if not hasattr(model, "predict"):
        return partial(_most_probable, model.predict_proba, names)
    return partial(_predicted_numbers, partial(_call, model.predict, names), name, classes)


def _scoring(model: Any, name: str, positive: Any) -> Predictor:
    """Make a predictor with the model's scores and decisions; its encoding is still to be set."""
    names = _trained_names(model)
    answer = model.predict if hasattr(model, "predict") else model.predict_proba
    predictor = Predictor(
        partial(_call, answer, names),
        name,
        inputs=getattr(model, "n_features_in_", None),
        names=None if names is None else tuple(names),
        dtype=np.float64,
        order="F",
        takes_any_form=names is None,
    )
    if not hasattr(model, "classes_"):
        refuse_positive(positive, name)
        return predictor
    classes = plain_labels(model.classes_)
    column = class_column(classes, positive, name)
    labels = own_labels(model, name)
    predictor = replace(
        predictor, positive=classes[column], column=column, classes=tuple(classes), labels=labels
    )
    if not hasattr(model, "predict_proba"):
        return replace(predictor, outputs=partial(one_hot, labels, len(classes)))
    return replace(predictor, outputs=partial(_call, model.predict_proba, names), output="probability")


def _trained_names(model: Any) -> Index[Any] | None:
    """The names of the columns that an estimator was fitted on; None if it was fitted on an array."""
    names = list_trained_columns(model)
    if not names:
        return None
    from pandas import Index

    trained: Index[Any] = Index(names)
    return trained


def _call(method: Any, names: Index[Any] | None, array: NDArray[Any]) -> Any:
    if names is None or names.equals(getattr(array, "columns", None)):
        return method(array)
    from pandas import DataFrame

    # an estimator fitted on a data frame wants its column names back
    return method(DataFrame(array, columns=names, copy=False))


def _most_probable(method: Any, names: Any, array: NDArray[Any]) -> NDArray[np.intp]:
    numbers: NDArray[np.intp] = np.asarray(_call(method, names, array)).argmax(axis=1)
    return numbers


def _predicted_numbers(
    method: Callable[[Any], Any], name: str, classes: list[Any], rows: Any
) -> NDArray[np.intp]:
    predicted = flatten_column(method(rows))
    numbers = number_labels(predicted, classes)
    if (numbers < 0).any():
        strange = plain_labels(predicted[numbers < 0][:1])[0]
        raise ModelError(f"{name} predicts {strange!r}, which is none of its classes")
    return numbers


def _refuse_unfitted(model: Any, name: str) -> None:
    if not hasattr(model, "__sklearn_tags__"):
        return
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        raise HornbookError(f"{name} is not fitted yet; call its fit first") from None


def adapt_xgboost(model: Any, name: str, positive: Any, output: Output | None) -> Predictor:
    """Make a predictor of a booster; ? is NaN, which is missing beside the model's own marker of that."""
    if hasattr(model, "get_booster"):
        predictor = adapt_estimator(model, name, positive, output)
        convert = partial(_as_categories, _list_categories(model.get_booster()))
        return replace(predictor, encoding=ENCODINGS["nan"], dtype=np.float32, order="C", convert=convert)
    column = positive_column(positive, name)
    objective = json.loads(model.save_config())["learner"]["objective"]["name"]
    return Predictor(
        partial(_predict_xgboost, model),
        name,
        ENCODINGS["nan"],
        positive=column,
        column=column,
        output=output or ("logit" if objective == "binary:logitraw" else "score"),
        inputs=model.num_features(),
        names=None if model.feature_names is None else tuple(model.feature_names),
        convert=partial(_as_categories, _list_categories(model)),
    )


def _list_categories(booster: Any) -> frozenset[str]:
    """The columns that a booster of XGBoost was given as categories."""
    types = zip(booster.feature_names or (), booster.feature_types or (), strict=False)
    return frozenset(name for name, kind in types if kind == "c")


def _as_categories(names: frozenset[str], rows: Any) -> Any:
    """A table whose columns of words, and those with some names, are categories, as boosters read them."""
    kinds = {
        name: "category"
        for name, dtype in rows.dtypes.items()
        if (name in names or dtype.kind in "OT" or str(dtype) == "str") and str(dtype) != "category"
    }
    return rows.astype(kinds) if kinds else rows


def _predict_xgboost(model: Any, array: NDArray[Any]) -> Any:
    # a booster with names would ask for a data frame; the names were compared before
    return model.inplace_predict(array, validate_features=False)


def adapt_lightgbm(model: Any, name: str, positive: Any, output: Output | None) -> Predictor:
    """What the booster predicts; ? is NaN.

    LightGBM rewrites the names of columns: those of a table are compared as it writes them, and those of
    variables are not.
    """
    _refuse_unfitted(model, name)
    booster = model.booster_ if hasattr(model, "fit") else model
    predictor = Predictor(
        booster.predict,
        name,
        ENCODINGS["nan"],
        output=output or "score",
        inputs=booster.num_feature(),
        dtype=np.float64,  # in which it compares
        convert=partial(_as_categories, frozenset()),
    )
    if not hasattr(model, "classes_"):
        column = positive_column(positive, name)
        return replace(predictor, positive=column, column=column)
    classes, labels = plain_labels(model.classes_), own_labels(model, name)
    column = class_column(classes, positive, name)
    return replace(predictor, positive=classes[column], column=column, classes=tuple(classes), labels=labels)
