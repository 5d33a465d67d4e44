"""`as_predictor`, which finds the adapter for a model of any supported library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError, ModelError
from hornbook.models.inputs import Encoding
from hornbook.models.loading import load_model, name_model_source
from hornbook.models.outputs import Output, flatten_column, one_hot, positive_column
from hornbook.models.predictor import Predictor, RemoteModel

LIBRARIES = {
    "keras": ("predict_on_batch", "networks", "adapt_keras"),
    "xgboost": ("predict", "estimators", "adapt_xgboost"),
    "lightgbm": ("predict", "estimators", "adapt_lightgbm"),
    "onnxruntime": ("run", "onnx", "adapt_session"),
    "torch": ("parameters", "networks", "adapt_torch"),
    "sklearn": ("predict", "estimators", "adapt_estimator"),
}
"""The adapter for a model that descends from a class of the library and has the method. The order
matters: a Keras model may be a torch module too, and a booster an estimator."""


def as_predictor(
    model: Any,
    *,
    encoding: Encoding | str | None = None,
    threshold: float | None = None,
    positive: Any = None,
    bands: Sequence[float] | None = None,
    output: Output | None = None,
    name: str | None = None,
) -> Predictor:
    """Turn a model of any supported library, or a model file, into a predictor.

    Parameters
    ----------
    model
        A function of an array or a frame; a scikit-learn estimator or pipeline, or anything with
        `predict` or `predict_proba`;
        a torch module; a Keras model; an onnxruntime session; an XGBoost or LightGBM model; an
        `Endpoint`; or the path of a file, or a URL, that `load_model` reads without trust.
    encoding
        The input encoding of unknown values, as an `Encoding` or its name. By default NaN for
        boosters and for scikit-learn models that accept NaN; the saved one for hornbook's own
        networks; and otherwise `complete`: unknown values are refused rather than guessed.
    threshold
        The lowest score of the positive class. By default the model decides itself: by its
        `predict`, or by the largest of several outputs; a single probability or score of at
        least ½ means class 1.
    positive
        The positive class: a label of a scikit-learn style classifier, otherwise a column of the
        output. By default the second of two.
    bands
        Numbers that cut the predictions of a regressor into classes: `[10, 20]` makes three, `≤ 10`,
        `10–20` and `> 20`.
    output
        The kind of a network's or function's output: `probability`, `logit`, or `score` (used
        unchanged). By default inferred from a network's last layer, and `score` for functions.
    name
        The model's name in messages.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbook.logic import Batch, Vocabulary
    >>> predictor = as_predictor(lambda array: array.max(axis=1), encoding="half", name="any")
    >>> batch = Batch.from_array([[0, 0], [0, np.nan], [0, 1]], Vocabulary(["sunny", "happy"]))
    >>> predictor(batch)
    array([0. , 0.5, 1. ], dtype=float32)
    >>> predictor.decide(batch)
    array([False,  True,  True])

    """
    if isinstance(model, Predictor):
        raise HornbookError(f"{model.name} is a predictor already; change it with dataclasses.replace")
    if isinstance(model, str | Path):
        name = name or name_model_source(model)
        model = load_model(model)
    if threshold is not None and not math.isfinite(threshold):
        raise HornbookError(f"the threshold is a score, not {threshold}")
    if output not in (None, "probability", "logit", "score"):
        raise HornbookError(f"output is 'probability', 'logit' or 'score', not {output!r}")
    predictor = _find_adapter(model)(model, name or _name(model), positive, output)
    if isinstance(encoding, str):
        encoding = Encoding.named(encoding)
    threshold = None if threshold is None else float(threshold)
    if bands is not None:
        if threshold is not None or positive is not None:
            raise HornbookError("bands are classes, and need no threshold and no positive class")
        predictor = cut_into_bands(predictor, bands)
    return replace(predictor, threshold=threshold, encoding=encoding or predictor.encoding, source=model)


def cut_into_bands(predictor: Predictor, bands: Sequence[float]) -> Predictor:
    """A model that predicts numbers as one whose classes are ranges of them.

    Examples
    --------
    >>> import pandas as pd
    >>> days = as_predictor(lambda rows: rows["size"] * 10, bands=[10, 20])
    >>> days.classes
    ('≤ 10', '10–20', '> 20')
    >>> days.classify_rows(pd.DataFrame({"size": [0.5, 1.0, 1.5, 3.0]}))
    array([0, 0, 1, 2])

    """
    cuts = tuple(map(float, bands))
    if not cuts or not all(map(math.isfinite, cuts)) or any(low >= high for low, high in pairwise(cuts)):
        raise HornbookError(f"bands are numbers in ascending order, such as [10, 20], not {list(bands)}")
    if predictor.classes is not None:
        raise HornbookError(f"{predictor.name} predicts classes, not numbers; leave bands out")
    written = [f"{cut!r}".removesuffix(".0") for cut in cuts]
    classes = f"≤ {written[0]}", *(f"{low}–{high}" for low, high in pairwise(written)), f"> {written[-1]}"
    number = partial(_find_bands, predictor.outputs, np.array(cuts))
    return replace(
        predictor,
        outputs=partial(one_hot, number, len(classes)),
        output="score",
        column=None,
        classes=classes,
        labels=number,
        bands=cuts,
    )


def _find_bands(predict: Callable[[Any], Any], cuts: NDArray[np.float64], rows: Any) -> NDArray[np.intp]:
    """The number of the band of each prediction; the upper end belongs to a band."""
    numbers = flatten_column(predict(rows))
    if numbers.ndim != 1 or np.isnan(numbers := numbers.astype(np.float64)).any():
        raise ModelError("bands need one number a row")
    return np.searchsorted(cuts, numbers)


def _find_adapter(model: Any) -> Callable[..., Predictor]:
    """The function that makes a predictor of the model."""
    if isinstance(model, RemoteModel):
        return type(model).adapt
    if all(hasattr(model, part) for part in ("module", "encoding", "vocabulary")):
        return _import_adapter("networks", "adapt_saved")
    roots = {ancestor.__module__.partition(".")[0] for ancestor in type(model).__mro__}
    for root, (method, module, function) in LIBRARIES.items():
        if root in roots and hasattr(model, method):
            return _import_adapter(module, function)
    if hasattr(model, "predict") or hasattr(model, "predict_proba"):
        return _import_adapter("estimators", "adapt_estimator")
    if callable(model):
        return _adapt_function
    raise HornbookError(
        f"a {type(model).__name__} is not a supported model; "
        f"give a function of an array, or a model of {', '.join(LIBRARIES)}"
    )


def _import_adapter(module: str, function: str) -> Callable[..., Predictor]:
    adapter: Callable[..., Predictor] = getattr(import_module(f"hornbook.models.adapters.{module}"), function)
    return adapter


def _adapt_function(model: Callable[..., Any], name: str, positive: Any, output: Output | None) -> Predictor:
    """Make a predictor of a function of a (k, inputs) array; its scores are used unchanged by default."""
    column = positive_column(positive, name)
    return Predictor(
        model, name, positive=column, column=column, output=output or "score", takes_any_form=True
    )


def _name(model: Any) -> str:
    if isinstance(model, RemoteModel):
        return model.name
    steps = getattr(model, "steps", None)  # a pipeline is called by what decides in its end
    decides = steps[-1][1] if isinstance(steps, list) and steps else model
    return getattr(decides, "__name__", None) or type(decides).__name__
