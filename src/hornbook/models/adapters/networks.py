"""Adapters for networks: PyTorch modules, Keras 3 models on any backend, and those that hornbook saves.

Hornbook's own networks are weights in a safetensors file, and the rest in JSON next to it: `encoding` (a name
that `Encoding.named` knows), `vocabulary`, `duals`, and `weights`, the SHA-256 of the other file. The weights
are those of a `Sequential` of linear layers with ReLU between them, whose output is log-odds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from hornbook.errors import HornbookError, keras, library
from hornbook.logic import Vocabulary
from hornbook.models.inputs import Encoding
from hornbook.models.outputs import Output, positive_column, unknown_output_error
from hornbook.models.predictor import Predictor
from hornbook.schema import read_json
from hornbook.storage import read_text

KERAS_OUTPUTS: dict[str | None, Output] = {
    "sigmoid": "probability",
    "softmax": "probability",
    "linear": "logit",
    "log_softmax": "logit",
}
"""What the last layer of Keras gives, by its activation."""


def adapt_torch(model: Any, name: str, positive: Any, output: Output | None) -> Predictor:
    """The module in evaluation mode, without gradients, on its own device and in its own type.

    Whether a plain `Sequential` gives probabilities or logits is read off its last layer
    (sigmoid and softmax, or linear and log-softmax). Of other modules nobody can tell, so `output` must.
    """
    torch = library("torch", "torch")
    layers = sequential_layers(model, torch)
    column = positive_column(positive, name)
    linear = bool(layers) and isinstance(layers[0], torch.nn.Linear)
    weights = _first_weights(model)
    return Predictor(
        partial(_run_torch, model),
        name,
        positive=column,
        column=column,
        output=output or _infer_torch_output(layers, name, torch),
        inputs=layers[0].in_features if linear else None,
        dtype=np.float64 if weights is not None and weights.dtype == torch.float64 else np.float32,
        # a matrix product takes either order; other code may insist on rows
        order="F" if linear else "C",
    )


def _run_torch(model: Any, array: Any) -> Any:
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


def _infer_torch_output(layers: list[Any], name: str, torch: Any) -> Output:
    last = layers[-1] if layers else None
    if isinstance(last, torch.nn.Sigmoid | torch.nn.Softmax):
        return "probability"
    if isinstance(last, torch.nn.Linear | torch.nn.LogSoftmax):
        return "logit"  # the softmax of log-probabilities is the probabilities
    raise unknown_output_error(name)


def adapt_keras(model: Any, name: str, positive: Any, output: Output | None) -> Predictor:
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
        output=output or _infer_keras_output(model, name),
        inputs=shape[1] if shape is not None and len(shape) == 2 else None,
        order="F" if keras().backend.backend() == "torch" else "C",  # others would copy
    )


def _infer_keras_output(model: Any, name: str) -> Output:
    activation = getattr(_last_keras_layer(model), "activation", None)
    kind = KERAS_OUTPUTS.get(getattr(activation, "__name__", None))
    if kind is None:
        raise unknown_output_error(name)
    return kind


def _last_keras_layer(model: Any) -> Any:
    """The layer that the output comes from; None for a model with a `call` of its own."""
    if type(model).call is keras().Sequential.call:
        return model.layers[-1]
    output = getattr(model, "output", None)
    last = model.layers[-1] if model.layers else None
    return last if output is not None and output is getattr(last, "output", None) else None


@dataclass(frozen=True)
class NetworkDescription:
    """What stands beside the weights of a network.

    Attributes
    ----------
    encoding
        How interpretations become inputs.
    widths
        The units of each hidden layer.
    weights
        The SHA-256 of the file of weights.
    vocabulary, duals
        The names of the variables, and of the dual of each that has one.
    provenance
        What the network was made from.

    """

    encoding: str
    widths: tuple[int, ...]
    weights: str
    vocabulary: tuple[str, ...]
    duals: Mapping[str, str]
    provenance: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class SavedNetwork:
    """A module with its vocabulary and input encoding."""

    vocabulary: Vocabulary
    encoding: Encoding
    module: Any
    description: NetworkDescription


def adapt_saved(model: Any, name: str, positive: Any, output: Output | None) -> Predictor:
    """Make a predictor of a network, with its own encoding and variables."""
    encoding = model.encoding
    if isinstance(encoding, str):
        encoding = Encoding.named(encoding)
    predictor = adapt_torch(model.module, name, positive, output)
    return replace(predictor, encoding=encoding, names=model.vocabulary.names)


def read_network(path: Path) -> SavedNetwork:
    """Read the network whose weights are in `path`."""
    torch, safetensors = library("torch", "torch"), library("safetensors.torch", "torch")
    beside = path.with_suffix(".json")
    if not beside.is_file():
        raise HornbookError(
            f"{path} holds weights alone, and {beside.name}, which should describe the network, is "
            "missing; save other networks as ONNX"
        )
    weights = path.read_bytes()
    about = read_json(NetworkDescription, read_text(beside), f"{beside} does not describe a network")
    vocabulary, encoding = Vocabulary(about.vocabulary, about.duals), Encoding.named(about.encoding)
    if hashlib.sha256(weights).hexdigest() != about.weights:
        raise HornbookError(f"{path} is not the file that {beside.name} describes: the checksums differ")
    module = _build_layers(safetensors.load(weights), torch)
    expected, actual = encoding.inputs(len(vocabulary)), module[0].in_features
    if expected != actual:
        raise HornbookError(
            f"{beside} speaks of {expected} inputs, but the weights in {path.name} take {actual}"
        )
    return SavedNetwork(vocabulary, encoding, module, about)


def _build_layers(state: dict[str, Any], torch: Any) -> Any:
    """Build linear layers with ReLU between them from their weights."""
    shapes = [state[f"{2 * layer}.weight"].shape for layer in range(len(state) // 2)]
    parts = [part for shape in shapes for part in (torch.nn.Linear(shape[1], shape[0]), torch.nn.ReLU())]
    module = torch.nn.Sequential(*parts[:-1])
    module.load_state_dict(state)
    return module.eval()
