"""The labels that a model is explained by, each with the model as a function that decides for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from hornbook.data.table import spell_level
from hornbook.errors import HornbookError
from hornbook.models import Encoding, Output, Predictor, as_predictor, load_model

Labels = tuple[dict[str, Predictor], NDArray[Any]]
"""A predictor for each label, and the classes that are said."""


def judged(target: str, predictor: Predictor) -> Labels:
    """A judge has one label: whether it accepts."""
    return {target: predictor}, np.array([False, True])


def labels_of(
    target: str,
    model: Any,
    classes: Any,
    positive: Any,
    threshold: float | None,
    predictor: Callable[[Any], Predictor],
) -> Labels:
    """One label of a model with two classes, or of which one is asked about, and one a class otherwise."""
    own = getattr(model, "classes_", None)
    known = own if classes is None else classes
    if known is None or len(known) < 3 or positive is not None:
        only = predictor(positive)
        return {target: only}, _two_classes(known, only.positive)
    names = np.asarray(known)
    if threshold is not None:
        raise HornbookError(
            f"a threshold decides for one class, and there are {len(names)}: say which with positive=, e.g. "
            f"positive={names.tolist()[0]!r}, or leave the threshold out"
        )
    each = {
        f"{target}={spell_level(name)}": predictor(column if own is None else name)
        for column, name in enumerate(names.tolist())
    }
    return each, names


def as_classifier(
    model: Any,
    target: str,
    positive: Any,
    encoding: Encoding | str | None,
    threshold: float | None,
    output: Output | None,
) -> Predictor:
    """The model, or the one in a file, as a function that decides for a class."""
    model = load_model(model) if isinstance(model, str | Path) else model
    if hasattr(model, "__sklearn_tags__") and is_regressor(model) and threshold is None:
        raise HornbookError(
            f"{type(model).__name__} predicts numbers, and rules need classes: say from which number on "
            f"{target!r} is true with threshold=, or train a classifier"
        )
    return as_predictor(model, encoding=encoding, threshold=threshold, positive=positive, output=output)


def _two_classes(known: Any, positive: Any) -> NDArray[Any]:
    """The classes that are said for false and for true."""
    if known is None or len(known) > 2:
        return np.array([False, True])
    ordered = list(known)
    if positive is not None and positive in ordered:
        ordered.sort(key=lambda name: name == positive)
    return np.asarray(ordered)
