"""The layers inside a model: torch, Keras, ONNX and scikit-learn networks, read as matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hornbook.logic.errors import HornbookError
from hornbook.oracles.adapters import Predictor
from hornbook.oracles.adapters.from_onnx import SHAPING, graph_of
from hornbook.oracles.adapters.from_torch import layers_of
from hornbook.oracles.proof.layers import DOUBLE, Layers, Matrix, ReluNet, Vector, folded

SINGLE = 2.0**-24
"""The unit roundoff of single precision, in which most networks compute."""

LINEAR, RELU, SQUASH = "linear", "relu", "squash"


def relu_net(predictor: Predictor) -> ReluNet:
    """The network inside a predictor's model, its threshold folded in.

    Examples
    --------
    >>> import torch
    >>> from hornbook.oracles.adapters import as_predictor
    >>> module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    >>> relu_net(as_predictor(module)).depth
    2
    >>> relu_net(as_predictor(lambda array: array.mean(axis=1), name="f"))
    Traceback (most recent call last):
    hornbook.logic.errors.HornbookError: nothing can be proved about f: it is a function, not a ReLU network

    """
    model = predictor.source
    roots = {ancestor.__module__.partition(".")[0] for ancestor in type(model).__mro__}
    if hasattr(model, "module") and hasattr(model, "vocabulary"):
        return _assembled(predictor, list(_torch_steps(model.module, predictor)))
    for root, steps in (("keras", _keras_steps), ("onnxruntime", _onnx_steps), ("torch", _torch_steps)):
        if root in roots:
            return _assembled(predictor, list(steps(model, predictor)))
    if hasattr(model, "coefs_") and hasattr(model, "out_activation_"):
        return _assembled(predictor, list(_sklearn_steps(model, predictor)))
    raise unproved(predictor, f"it is a {type(model).__name__}")


def unproved(predictor: Predictor, why: str) -> HornbookError:
    """For a model other than linear layers with ReLU between them, of torch, Keras, ONNX, scikit-learn."""
    return HornbookError(f"nothing can be proved about {predictor.name}: {why}, not a ReLU network")


Step = tuple[str, Matrix | None, Vector | None, float]
"""One layer: its kind, its weights and biases if it is linear, and its precision."""


def _assembled(predictor: Predictor, steps: list[Step]) -> ReluNet:
    """Linear layers and the ReLUs between them as one network; neighbouring linear layers become one."""
    layers: Layers = []
    squashed, rectified, roundoff = predictor.output == "logit", True, DOUBLE
    for position, (kind, weights, biases, precision) in enumerate(steps):
        roundoff = max(roundoff, precision)
        if kind == SQUASH:
            if position != len(steps) - 1:
                raise unproved(predictor, "it squashes numbers before its last layer")
            squashed = True
        elif kind == RELU:
            rectified = True
        elif weights is not None and biases is not None:
            if not rectified:
                raise unproved(predictor, "two of its linear layers follow each other with no ReLU between")
            layers.append((weights, biases))
            rectified = False
    if not layers or rectified:
        raise unproved(predictor, "it does not end in a linear layer")
    return folded(layers, predictor, roundoff, squashed)


def _linear(weights: Any, biases: Any) -> Step:
    weights = np.asarray(weights)
    single = weights.dtype != np.float64
    biases = np.zeros(len(weights)) if biases is None else np.asarray(biases)
    if weights.dtype not in (np.float32, np.float64):
        raise HornbookError(f"weights of type {weights.dtype} are not supported in proofs; use float32")
    return LINEAR, weights.astype(np.float64), biases.astype(np.float64), SINGLE if single else DOUBLE


def _torch_steps(module: Any, predictor: Predictor) -> Iterator[Step]:
    import torch

    parts = layers_of(module, torch)
    if not parts:
        raise unproved(predictor, f"{type(module).__name__} has a forward of its own")
    for part in parts:
        if isinstance(part, torch.nn.Linear):
            if part.weight.dtype not in (torch.float32, torch.float64):
                raise unproved(predictor, f"it computes in {part.weight.dtype}")
            biases = None if part.bias is None else part.bias.detach().cpu().numpy()
            yield _linear(part.weight.detach().cpu().numpy(), biases)
        elif isinstance(part, torch.nn.ReLU):
            yield RELU, None, None, 0.0
        elif isinstance(part, torch.nn.Sigmoid | torch.nn.Softmax | torch.nn.LogSoftmax):
            yield SQUASH, None, None, 0.0
        elif not isinstance(part, torch.nn.Identity | torch.nn.Dropout | torch.nn.Flatten):
            raise unproved(predictor, f"it has a layer {type(part).__name__}")


ACTIVATIONS = {"relu": RELU, "sigmoid": SQUASH, "softmax": SQUASH, "log_softmax": SQUASH, "logistic": SQUASH}


def _keras_steps(model: Any, predictor: Predictor) -> Iterator[Step]:
    from hornbook.oracles.adapters.libraries import keras

    kinds = keras().layers
    if type(model).call is not keras().Sequential.call:
        raise unproved(predictor, f"{type(model).__name__} is no Sequential model")
    for layer in model.layers:
        if isinstance(layer, kinds.Dense):
            kernel, *bias = (keras().ops.convert_to_numpy(each) for each in layer.weights)
            yield _linear(kernel.T, bias[0] if bias else None)
        elif not isinstance(layer, kinds.Activation | kinds.ReLU | kinds.Dropout | kinds.Flatten):
            raise unproved(predictor, f"it has a layer {type(layer).__name__}")
        if isinstance(layer, kinds.ReLU):
            if layer.get_config().get("max_value") or layer.get_config().get("negative_slope"):
                raise unproved(predictor, "its ReLU is leaky or has a ceiling")
            yield RELU, None, None, 0.0
        activation = getattr(getattr(layer, "activation", None), "__name__", "linear")
        if activation in ACTIVATIONS:
            yield ACTIVATIONS[activation], None, None, 0.0
        elif activation != "linear":
            raise unproved(predictor, f"it has the activation {activation}")


def _sklearn_steps(model: Any, predictor: Predictor) -> Iterator[Step]:
    if model.activation not in ("relu", "identity"):
        raise unproved(predictor, f"it has the activation {model.activation}")
    if model.activation == "identity" and len(model.coefs_) > 1:
        raise unproved(predictor, "its hidden layers are linear")
    for position, (weights, biases) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        if position:
            yield RELU, None, None, 0.0
        yield _linear(weights.T, biases)
    if model.out_activation_ in ACTIVATIONS:
        yield ACTIVATIONS[model.out_activation_], None, None, 0.0


def _onnx_steps(session: Any, predictor: Predictor) -> Iterator[Step]:
    from onnx import numpy_helper

    graph = graph_of(session)
    if graph is None:
        raise unproved(predictor, "its graph is not at hand")
    constants = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    value = session.get_inputs()[0].name
    nodes = list(graph.node)
    while readers := [node for node in nodes if value in node.input]:
        if len(readers) > 1:
            raise unproved(predictor, "its graph is no chain")
        (node,) = readers
        others = [constants[name] for name in node.input if name in constants]
        value = node.output[0]
        if node.op_type == "Gemm":
            yield _gemm(node, others, predictor)
        elif node.op_type == "MatMul" and node.input[1] in constants:
            biases, value = _added(nodes, value, constants)
            yield _linear(others[0].T, biases)
        elif node.op_type == "Relu":
            yield RELU, None, None, 0.0
        elif node.op_type in ("Sigmoid", "Softmax", "LogSoftmax"):
            yield SQUASH, None, None, 0.0
        elif node.op_type not in SHAPING:
            raise unproved(predictor, f"it has the operator {node.op_type}")


def _gemm(node: Any, others: list[Any], predictor: Predictor) -> Step:
    attributes = {each.name: each.f if each.type == 1 else each.i for each in node.attribute}
    if attributes.get("alpha", 1) != 1 or attributes.get("beta", 1) != 1 or attributes.get("transA"):
        raise unproved(predictor, "it scales a matrix product")
    weights = others[0] if attributes.get("transB") else others[0].T
    return _linear(weights, others[1].reshape(-1) if len(others) > 1 else None)


def _added(nodes: list[Any], value: str, constants: dict[str, Any]) -> tuple[Any, str]:
    """The constant that is added to a product, if one is, and the sum's name."""
    for node in nodes:
        if node.op_type == "Add" and value in node.input:
            added = [constants[name] for name in node.input if name in constants]
            if added:
                return added[0].reshape(-1), node.output[0]
    return None, value
