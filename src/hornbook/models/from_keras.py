"""Adapter for Keras 3 models, on any backend."""

from __future__ import annotations

from typing import Any

from hornbook.errors import HornbookError, keras
from hornbook.models.outputs import Output, positive_column, unknown_output_error
from hornbook.models.predictor import Predictor

INFERRED: dict[str | None, Output] = {
    "sigmoid": "probability",
    "softmax": "probability",
    "linear": "logit",
    "log_softmax": "logit",
}


def adapt(model: Any, name: str, positive: Any, output: Output | None) -> Predictor:
    """The model's prediction on a batch.

    Whether it gives probabilities or logits is read off the activation of the last layer.
    """
    if not model.built:
        raise HornbookError(f"{name} is not built yet; call it once or give it an Input layer")
    shape = getattr(model, "input_shape", None)
    if isinstance(shape, list | dict):
        raise HornbookError(f"{name} takes several inputs; wrap it as a function of one array")
    column = positive_column(positive, name)
    return Predictor(
        model.predict_on_batch,
        name,
        positive=column,
        column=column,
        output=output or _infer_output(model, name),
        inputs=shape[1] if shape is not None and len(shape) == 2 else None,
        order="F" if keras().backend.backend() == "torch" else "C",  # others would copy
    )


def _infer_output(model: Any, name: str) -> Output:
    activation = getattr(_last_layer(model), "activation", None)
    kind = INFERRED.get(getattr(activation, "__name__", None))
    if kind is None:
        raise unknown_output_error(name)
    return kind


def _last_layer(model: Any) -> Any:
    """The layer that the output comes from; None for a model with a `call` of its own."""
    if type(model).call is keras().Sequential.call:
        return model.layers[-1]
    output = getattr(model, "output", None)
    last = model.layers[-1] if model.layers else None
    return last if output is not None and output is getattr(last, "output", None) else None
