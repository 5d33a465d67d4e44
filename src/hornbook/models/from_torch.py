"""Adapter for PyTorch modules, which are evaluated on their own device and left unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from hornbook.errors import library
from hornbook.models.outputs import Output, positive_column, unknown_output_error
from hornbook.models.predictor import Predictor


def adapt(model: Any, name: str, positive: Any, output: Output | None) -> Predictor:
    """The module in evaluation mode, without gradients, on its own device and in its own type.

    Whether a plain `Sequential` gives probabilities or logits is read off its last layer
    (sigmoid and softmax, or linear and log-softmax). Of other modules nobody can tell, so
    `output` must.
    """
    torch = library("torch", "torch")
    layers = sequential_layers(model, torch)
    column = positive_column(positive, name)
    linear = bool(layers) and isinstance(layers[0], torch.nn.Linear)
    weights = _first_weights(model)
    return Predictor(
        partial(_outputs, model),
        name,
        positive=column,
        column=column,
        output=output or _infer_output(layers, name, torch),
        inputs=layers[0].in_features if linear else None,
        dtype=np.float64 if weights is not None and weights.dtype == torch.float64 else np.float32,
        # a matrix product takes either order; other code may insist on rows
        order="F" if linear else "C",
    )


def _outputs(model: Any, array: Any) -> Any:
    import torch

    weights = _first_weights(model)
    tensor = torch.from_numpy(array)
    if weights is not None:
        tensor = tensor.to(weights.device, weights.dtype)
    with _evaluation_mode(model), torch.no_grad():
        answer = model(tensor)
    if not isinstance(answer, torch.Tensor):
        raise TypeError(f"forward gave a {type(answer).__name__}, not one tensor; wrap the module")
    if answer.dtype != torch.float64:
        answer = answer.float()
    return answer.cpu().numpy()


@contextmanager
def _evaluation_mode(model: Any) -> Iterator[None]:
    """Switch the module to evaluation mode, and back to training mode afterwards."""
    training = [module for module in model.modules() if module.training]
    if training:
        model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def _first_weights(model: Any) -> Any:
    """The first floating-point tensor of the module; its device and type stand for the whole."""
    tensors = chain(model.parameters(), model.buffers())
    return next((tensor for tensor in tensors if tensor.is_floating_point()), None)


def sequential_layers(model: Any, torch: Any) -> list[Any]:
    """The layers of a plain, possibly nested, `Sequential`; none for a module with its own `forward`."""
    # a class of torch.jit has no forward, only its objects have
    if getattr(type(model), "forward", None) is not torch.nn.Sequential.forward:
        return []
    nested = [
        sequential_layers(part, torch) if isinstance(part, torch.nn.Sequential) else [part] for part in model
    ]
    return list(chain.from_iterable(nested))


def _infer_output(layers: list[Any], name: str, torch: Any) -> Output:
    last = layers[-1] if layers else None
    if isinstance(last, torch.nn.Sigmoid | torch.nn.Softmax):
        return "probability"
    if isinstance(last, torch.nn.Linear | torch.nn.LogSoftmax):
        return "logit"  # the softmax of log-probabilities is the probabilities
    raise unknown_output_error(name)
