"""The layers inside a model: torch, Keras, ONNX and scikit-learn networks, read as matrices.

A reader knows some layers, each by its exact type and with the settings that it understands, and
refuses everything else by name: subclasses, hooks, methods put in another's place, unknown settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from hornbook.oracles.adapters import Predictor
from hornbook.oracles.adapters.from_onnx import model_of
from hornbook.oracles.adapters.libraries import keras, library
from hornbook.oracles.proof.layers import (
    DOUBLE,
    Layers,
    Matrix,
    ReluNet,
    Vector,
    fold_threshold,
    unproved,
)

SINGLE = 2.0**-24
"""The unit roundoff of single precision, in which most networks compute."""

LINEAR, RELU, SIGMOID = "linear layer", "ReLU", "sigmoid"
SOFTMAX, LOG_SOFTMAX = "softmax", "log-softmax"

OUTPUT_KINDS = {
    ("probability", SIGMOID): 1,
    ("probability", SOFTMAX): 2,
    ("score", SIGMOID): 1,
    ("score", SOFTMAX): 2,
    ("logit", LOG_SOFTMAX): 2,
}
"""The outputs that a network has if its last activation and what it is said to give fit each other."""


class Step(NamedTuple):
    """One thing that a layer does: its kind, its name in messages, and its numbers if it is linear."""

    kind: str
    layer: str
    weights: Matrix | None = None
    biases: Vector | None = None
    roundoff: float = DOUBLE


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
    hornbook.logic.errors.HornbookError: nothing can be proved about f: it is a function, which is not read

    """
    model = predictor.source
    if all(hasattr(model, part) for part in ("module", "encoding", "vocabulary")):
        model = model.module
    roots = {ancestor.__module__.partition(".")[0] for ancestor in type(model).__mro__}
    for root, read in READERS.items():
        if root in roots:
            return _assemble(predictor, list(read(model, predictor)))
    raise unproved(predictor, f"it is a {type(model).__name__}, which is not read")


def refuse_changed(part: Any, layer: str, predictor: Predictor, allowed: tuple[str, ...] = ()) -> None:
    """Raise for an object with a method put in the place of its class's, or with hooks of PyTorch's."""
    changed = [name for name in vars(part) if callable(getattr(type(part), name, None))]
    if other := set(changed) - set(allowed):
        raise unproved(predictor, f"{layer} has its own {min(other)}, put in the place of its class's")
    if any(getattr(part, hooks, None) for hooks in ("_forward_hooks", "_forward_pre_hooks")):
        raise unproved(predictor, f"{layer} has a forward hook")


def _assemble(predictor: Predictor, steps: list[Step]) -> ReluNet:
    """Linear layers with ReLU between them, and what comes last, as one network."""
    layers: Layers = []
    last, roundoff = "", DOUBLE
    for kind, layer, weights, biases, precision in steps:
        if not layers and kind != LINEAR:
            raise unproved(predictor, f"{layer} comes before its first linear layer")
        if last not in ("", LINEAR, RELU):
            raise unproved(predictor, f"{layer} comes after its {last}, which is no last layer then")
        if last == kind == LINEAR:
            raise unproved(predictor, f"{layer} is linear and follows a linear layer with no ReLU between")
        if weights is not None and biases is not None:
            layers.append((weights, biases))
            roundoff = max(roundoff, precision)
        last = kind
    if last in ("", RELU):
        raise unproved(predictor, "it does not end in a linear layer, a sigmoid or a softmax")
    _refuse_misfit(predictor, steps[-1], len(layers[-1][1]))
    squashed = last != LINEAR or predictor.output == "logit"
    return fold_threshold(layers, predictor, roundoff, squashed)


def _refuse_misfit(predictor: Predictor, last: Step, outputs: int) -> None:
    """Raise unless last activation, number of outputs and kind of output fit each other."""
    if outputs not in (1, 2):
        raise unproved(
            predictor,
            f"it has {outputs} outputs; proofs are about networks that decide between two classes, "
            "with one output or two",
        )
    fits = (
        predictor.output != "probability" if last.kind == LINEAR
        else OUTPUT_KINDS.get((predictor.output, last.kind)) == outputs
    )  # fmt: skip
    if not fits:
        raise unproved(
            predictor,
            f"{last.layer}, a {last.kind} of {outputs}, does not fit output={predictor.output!r}: "
            "a sigmoid is of one number, a softmax of two, and both give probabilities",
        )


def _linear(layer: str, predictor: Predictor, weights: Any, biases: Any = None) -> Step:
    weights = np.asarray(weights)
    biases = np.zeros(len(weights), weights.dtype) if biases is None else np.asarray(biases)
    if weights.ndim != 2 or biases.shape != weights.shape[:1]:
        raise unproved(predictor, f"{layer} has weights and biases of shapes that do not fit")
    if any(numbers.dtype not in (np.float32, np.float64) for numbers in (weights, biases)):
        raise unproved(predictor, f"{layer} computes in {weights.dtype}, and not in float32 or float64")
    roundoff = DOUBLE if weights.dtype == np.float64 else SINGLE
    return Step(LINEAR, layer, weights.astype(np.float64), biases.astype(np.float64), roundoff)


def _torch_steps(module: Any, predictor: Predictor, place: str = "") -> Iterator[Step]:
    torch = library("torch", "torch")
    nn, kind = torch.nn, type(module)
    layer = f"its layer {place} ({kind.__name__})" if place else f"it, a {kind.__name__},"
    _refuse_torch_settings(torch, predictor)
    refuse_changed(module, layer, predictor)
    if getattr(module, "_compiled_call_impl", None) is not None:
        raise unproved(predictor, f"{layer} is compiled, so what runs does not show")
    if kind is nn.Sequential:
        for number, part in enumerate(module):
            yield from _torch_steps(part, predictor, f"{place}.{number}" if place else str(number))
    elif kind is nn.Linear:
        tensors = [each for each in (module.weight, module.bias) if each is not None]
        for tensor in tensors:
            plain = type(tensor) in (nn.Parameter, torch.Tensor)
            if not plain or tensor.dtype not in (torch.float32, torch.float64):
                raise unproved(predictor, f"{layer} computes in {tensor.dtype}, not in float32 or float64")
        weights, *biases = (tensor.detach().cpu().numpy() for tensor in tensors)
        yield _linear(layer, predictor, weights, *biases)
    elif kind in (nn.Softmax, nn.LogSoftmax):
        if module.dim not in (1, -1):
            raise unproved(predictor, f"{layer} runs over dimension {module.dim}, not over the classes")
        yield Step(SOFTMAX if kind is nn.Softmax else LOG_SOFTMAX, layer)
    elif kind in (nn.ReLU, nn.Sigmoid):
        yield Step(RELU if kind is nn.ReLU else SIGMOID, layer)
    elif kind is nn.Flatten:
        if (module.start_dim, module.end_dim) not in ((1, -1), (1, 1)):
            raise unproved(predictor, f"{layer} flattens more than one row")
    elif kind not in (nn.Identity, nn.Dropout):  # which pass numbers on as they are in evaluation
        raise unproved(predictor, f"{layer} is not understood")


def _refuse_torch_settings(torch: Any, predictor: Predictor) -> None:
    """Raise where settings of the whole process change what layers compute."""
    every = torch.nn.modules.module
    if every._global_forward_hooks or every._global_forward_pre_hooks:
        raise unproved(predictor, "torch has a forward hook for all modules")
    if torch.get_float32_matmul_precision() != "highest":
        raise unproved(
            predictor,
            "torch multiplies in less than single precision; torch.set_float32_matmul_precision('highest')",
        )


KERAS_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "Dense": {"quantization_config": None},
    "ReLU": {"max_value": None, "negative_slope": 0.0, "threshold": 0.0},
    "Activation": {},
    "Dropout": {},
    "Flatten": {},
}
"""The layers that are understood, and what some of their settings must be."""

KERAS_HARMLESS = {
    *("name", "trainable", "dtype", "units", "use_bias", "activation"),
    *("kernel_initializer", "bias_initializer", "kernel_constraint", "bias_constraint"),
    *("kernel_regularizer", "bias_regularizer", "activity_regularizer"),
    *("rate", "seed", "noise_shape", "data_format"),
}
"""Settings that matter in training alone, or that show elsewhere."""

KERAS_METHODS = ("build", "quantize")
"""Methods that Keras itself puts in the place of a class's."""


def _keras_steps(model: Any, predictor: Predictor) -> Iterator[Step]:
    if type(model) is not keras().Sequential or len(model.input_shape) != 2:
        raise unproved(predictor, f"it, a {type(model).__name__}, is no Sequential of rows of numbers")
    if keras().backend.backend() == "torch":
        _refuse_torch_settings(library("torch", "torch"), predictor)
    refuse_changed(model, "it", predictor, KERAS_METHODS)
    known = keras().activations
    kinds = {"relu": RELU, "sigmoid": SIGMOID, "softmax": SOFTMAX, "log_softmax": LOG_SOFTMAX}
    for part in model.layers:
        layer = f"its layer {part.name} ({type(part).__name__})"
        refuse_changed(part, layer, predictor, KERAS_METHODS)
        activation = getattr(part, "activation", known.linear)
        named = [kind for name, kind in kinds.items() if activation is getattr(known, name)]
        if not named and activation is not known.linear:
            raise unproved(predictor, f"{layer} has the activation {activation!r}, which is not understood")
        _refuse_keras_settings(part, layer, predictor)
        if type(part) is keras().layers.Dense:
            numbers = (each for each in (part.kernel, part.bias) if each is not None)
            weights, *biases = (keras().ops.convert_to_numpy(each) for each in numbers)
            yield _linear(layer, predictor, weights.T, *biases)
        elif type(part) is keras().layers.ReLU:
            yield Step(RELU, layer)
        for kind in named:
            yield Step(kind, layer)


def _refuse_keras_settings(part: Any, layer: str, predictor: Predictor) -> None:
    """Raise for a layer of another type, of less precision, or with a setting that is not understood."""
    name = type(part).__name__
    if name not in KERAS_SETTINGS or type(part) is not getattr(keras().layers, name):
        raise unproved(predictor, f"{layer} is not understood")
    if part.dtype_policy.name not in ("float32", "float64"):
        raise unproved(predictor, f"{layer} computes in {part.dtype_policy.name}")
    understood = KERAS_SETTINGS[name]
    try:
        settings = part.get_config()
    except TypeError as error:
        raise unproved(predictor, f"{layer} does not tell its settings: {error}") from error
    for setting, value in settings.items():
        if setting in KERAS_HARMLESS or (setting in understood and understood[setting] == value):
            continue
        raise unproved(predictor, f"{layer} has {setting}={value!r}, which is not understood")


def _sklearn_steps(model: Any, predictor: Predictor) -> Iterator[Step]:
    from sklearn.neural_network import MLPClassifier

    if type(model) is not MLPClassifier:
        raise unproved(predictor, f"it is a {type(model).__name__}, which is not read")
    refuse_changed(model, "it", predictor)
    if len(model.classes_) != 2 or model.out_activation_ != "logistic":
        raise unproved(predictor, "it does not decide between two classes, which proofs are about")
    if model.activation not in ("relu", "identity"):
        raise unproved(predictor, f"it has the activation {model.activation}")
    for position, (weights, biases) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        if position and model.activation == "relu":
            yield Step(RELU, f"its hidden layer {position}")
        yield _linear(f"its layer {position + 1}", predictor, weights.T, biases)
    yield Step(SIGMOID, "its output")


ONNX_ATTRIBUTES: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "Gemm": {"alpha": (1,), "beta": (1,), "transA": (0,), "transB": (0, 1)},
    "MatMul": {},
    "Add": {},
    "Relu": {},
    "Sigmoid": {},
    "Softmax": {"axis": (1, -1)},
    "LogSoftmax": {"axis": (1, -1)},
    "Identity": {},
    "Flatten": {"axis": (1, -1)},
    "Reshape": {"allowzero": (0,)},
    "Squeeze": {},
    "Cast": {"to": (1, 11), "saturate": (0, 1)},
}
"""The operators that are understood, and what each of their attributes may be."""

ONNX_KINDS = {"Relu": RELU, "Sigmoid": SIGMOID, "Softmax": SOFTMAX, "LogSoftmax": LOG_SOFTMAX}

ONNX_TYPES = {"tensor(float)": 1, "tensor(double)": 11}
"""The types in which networks may compute, and their numbers in attributes."""


def _onnx_steps(session: Any, predictor: Predictor) -> Iterator[Step]:
    nodes, constants, target = _onnx_graph(session, predictor)
    (given,) = session.get_inputs()
    if given.type not in ONNX_TYPES:
        raise unproved(predictor, f"it reads {given.type}, not float or double")
    value, width, precision, flat = given.name, predictor.inputs, ONNX_TYPES[given.type], False
    while readers := [node for node in nodes if value in node.input]:
        node, operator = readers[0], readers[0].op_type
        layer = f"its operator {node.name or node.output[0]} ({operator})"
        attributes = _onnx_attributes(node, layer, predictor)
        others = [constants[name] for name in node.input if name in constants]
        chained = len(readers) == 1 and len(others) == len([name for name in node.input if name]) - 1
        if not chained or (operator != "Add" and node.input[0] != value):
            raise unproved(predictor, f"{layer} works on more than what comes before it and constants")
        if flat and operator not in ("Sigmoid", "Identity", "Cast"):
            raise unproved(predictor, f"{layer} works on numbers that are no rows any more")
        value = node.output[0]
        if operator in ("Gemm", "MatMul"):
            weights = others[0] if attributes.get("transB") else others[0].T
            added = others[1:]
            if operator == "MatMul" and (sums := _onnx_sum(nodes, value, constants)):
                added, value = [constants[name] for name in sums.input if name in constants], sums.output[0]
            width = len(weights)
            yield _linear(layer, predictor, weights, *(_onnx_row(each, width) for each in added))
        elif operator in ONNX_KINDS:
            yield Step(ONNX_KINDS[operator], layer)
        elif operator == "Cast":
            if attributes["to"] < precision:
                raise unproved(predictor, f"{layer} makes double precision single")
            precision = int(attributes["to"])
        elif operator in ("Reshape", "Squeeze"):
            shape = others[0].tolist()
            flat = width == 1 and (operator, shape) in (
                ("Reshape", [-1]),
                ("Squeeze", [1]),
                ("Squeeze", [-1]),
            )
            if not flat and (operator, shape) not in (("Reshape", [-1, width]), ("Reshape", [0, width]),
                                                      ("Reshape", [0, -1])):  # fmt: skip
                raise unproved(predictor, f"{layer} changes the shape of rows")
        elif operator not in ("Identity", "Flatten"):
            raise unproved(predictor, f"{layer} adds elsewhere than to a product of matrices")
    if value != target:
        raise unproved(predictor, f"its output {target!r} is not the end of its chain of operators")


def _onnx_graph(session: Any, predictor: Predictor) -> tuple[list[Any], dict[str, Any], str]:
    """The operators of a session's graph, its constants, and the name of its output."""
    onnx, onnxruntime = library("onnx", "onnx"), library("onnxruntime", "onnx")
    if type(session) is not onnxruntime.InferenceSession:
        raise unproved(predictor, f"it is a {type(session).__name__}, no InferenceSession")
    refuse_changed(session, "it", predictor)
    for provider, options in session.get_provider_options().items():
        if provider != "CPUExecutionProvider" and options.get("use_tf32") != "0":
            raise unproved(predictor, f"it runs on {provider}, maybe in less than single precision")
    model = model_of(session)
    if model is None:
        raise unproved(predictor, "its graph is not at hand")
    graph = model.graph
    if model.functions or graph.sparse_initializer or len(graph.output) != 1:
        raise unproved(predictor, "its graph has functions, sparse weights or several outputs")
    if any(tensor.data_location == tensor.EXTERNAL for tensor in graph.initializer):
        raise unproved(predictor, "its weights are in another file")
    constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    fixed = [node for node in graph.node if node.op_type == "Constant" and node.attribute[0].name == "value"]
    constants |= {node.output[0]: onnx.numpy_helper.to_array(node.attribute[0].t) for node in fixed}
    return [node for node in graph.node if node not in fixed], constants, graph.output[0].name


def _onnx_attributes(node: Any, layer: str, predictor: Predictor) -> dict[str, Any]:
    """The attributes of an operator that is understood, each with a value that is."""
    understood = ONNX_ATTRIBUTES.get(node.op_type)
    if understood is None or node.domain not in ("", "ai.onnx"):
        raise unproved(predictor, f"{layer} is not understood")
    value_of = library("onnx", "onnx").helper.get_attribute_value
    attributes = {each.name: value_of(each) for each in node.attribute}
    for name, value in attributes.items():
        if value not in understood.get(name, ()):
            raise unproved(predictor, f"{layer} has {name}={value!r}, which is not understood")
    return attributes


def _onnx_sum(nodes: list[Any], value: str, constants: Mapping[str, Any]) -> Any:
    """The operator that adds a constant to a product, if that is all that becomes of it."""
    readers = [node for node in nodes if value in node.input]
    if len(readers) != 1 or readers[0].op_type != "Add":
        return None
    return readers[0] if any(name in constants for name in readers[0].input) else None


def _onnx_row(constant: Any, width: int) -> Any:
    """A constant as what is added to each row; one that differs by rows stays as it is, and does not fit."""
    constant = np.asarray(constant)
    same = constant.ndim < 2 or (constant.ndim == 2 and len(constant) == 1)
    return (
        np.broadcast_to(constant.reshape(-1), (width,)) if same and constant.size in (1, width) else constant
    )


READERS: Mapping[str, Callable[[Any, Predictor], Iterator[Step]]] = {
    "keras": _keras_steps,
    "onnxruntime": _onnx_steps,
    "torch": _torch_steps,
    "sklearn": _sklearn_steps,
}
"""How the networks of a library are read. A Keras model may be a torch module too."""
