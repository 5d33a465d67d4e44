"""Reading feed-forward ReLU networks of torch, ONNX and scikit-learn as matrices.

The network N of a model is the real-valued function with the model's stored weights, the threshold
folded into the last bias: the model decides for its positive class where N is at least 0. The model
itself computes in floating point, so its decision may differ where N is close to 0;
`bounds.Rounding` bounds how close.

`relu_net` reads a model layer by layer (`NetworkStep`) and refuses whatever it does not understand;
`fold_threshold` turns the layers into one `ReluNet`; `ScoreLink` relates N to the model's score.

References
----------
N. J. Higham. Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, chapter 3.

"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError, library
from hornbook.logic import Bools
from hornbook.models import Predictor
from hornbook.models.adapters.onnx import session_model

Matrix: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.float64]
Layers: TypeAlias = list[tuple[Matrix, Vector]]
"""The weights (out, in) and the biases of each layer, the first layer first."""

Function = TypeVar("Function")

Contests: TypeAlias = tuple[tuple[Function, ...], ...]
"""For each class a function for each other class, positive where that one is ahead."""

DOUBLE_ROUNDOFF = 2.0**-53
"""The unit roundoff of double precision; bounds are computed in it."""


SCORE_ROUNDING = 2.0**-20
"""A generous bound on the relative rounding error of scores and thresholds in single precision."""


@dataclass(frozen=True)
class ScoreLink:
    """The relation between the output N and the model's score: N is 0 where the score is the threshold.

    Parameters
    ----------
    threshold
        The lowest score for which the model decides for its positive class.
    scale
        The score is sigmoid(scale·(N + cut)); with scale 0 it is N + cut.

    Examples
    --------
    >>> ScoreLink(0.5, 1.0).scores(np.array([-1.0, 0.0])).round(3)
    array([0.269, 0.5  ])
    >>> ScoreLink(0.7, 0.0).scores(np.array([-0.5, 0.0])).round(3)
    array([0.2, 0.7])

    """

    threshold: float = 0.5
    scale: float = 0.0

    @classmethod
    def of(cls, predictor: Predictor, scale: float) -> ScoreLink:
        """The link of a predictor; without a threshold, the model decides at 1/2."""
        threshold = 0.5 if predictor.threshold is None else float(predictor.threshold)
        if scale and not 0 < threshold < 1:
            raise unprovable(
                predictor, f"a probability never crosses the threshold {threshold}, so there is no question"
            )
        return cls(threshold, scale)

    @property
    def cut(self) -> float:
        """The number subtracted from the raw output, so that N is 0 at the threshold."""
        if not self.scale:
            return self.threshold
        return math.log(self.threshold / (1 - self.threshold)) / self.scale

    @property
    def tolerance(self) -> float:
        """A bound on |N| where the model's rounded score equals its threshold."""
        if not self.scale:
            return SCORE_ROUNDING * (1 + abs(self.threshold))
        # the slope of the sigmoid at t is t(1 - t)
        return SCORE_ROUNDING * (1 + abs(self.cut)) / (self.threshold * (1 - self.threshold))

    def scores(self, outputs: Vector) -> Vector:
        """The score for each output N."""
        raw = outputs + self.cut
        scores: Vector = (1 + np.tanh(self.scale * raw / 2)) / 2 if self.scale else raw
        return scores

    def allowance(self, scores: Vector, off: Vector) -> Vector:
        """Bound the difference of scores whose outputs differ by at most `off`."""
        spread = off * self.scale / 4 if self.scale else off
        allowed: Vector = spread + SCORE_ROUNDING * (1 + np.abs(scores))
        return allowed


@dataclass(frozen=True, eq=False)
class ReluNet:
    """Linear layers with ReLU between them, one output at the end.

    Parameters
    ----------
    weights, biases
        Of each layer, (out, in) and (out,).
    roundoff
        The unit roundoff of the arithmetic that the model itself uses.
    link
        The relation between the output and the model's score.
    output_magnitudes
        The magnitudes of the last weights and biases as the model itself sums them, if the
        network is the difference of the model's two outputs.

    Examples
    --------
    >>> net = ReluNet.of([(np.eye(2), np.zeros(2)), (np.array([[1.0, -1.0]]), np.array([0.5]))])
    >>> net(np.array([[1.0, 0.0], [0.0, 1.0], [-3.0, -4.0]]))
    array([ 1.5, -0.5,  0.5])

    """

    weights: tuple[Matrix, ...]
    biases: tuple[Vector, ...]
    roundoff: float = DOUBLE_ROUNDOFF
    link: ScoreLink = ScoreLink()
    output_magnitudes: tuple[Matrix, Vector] | None = None

    @classmethod
    def of(cls, layers: Layers, roundoff: float = DOUBLE_ROUNDOFF, link: ScoreLink | None = None) -> ReluNet:
        """Build a network from layers; their shapes must fit, and the last has one output."""
        for (below, _), (above, _) in pairwise(layers):
            if above.shape[1] != len(below):
                raise HornbookError(
                    f"a layer of {len(below)} units is read by one of {above.shape[1]} inputs"
                )
        if not all(np.isfinite(part).all() for layer in layers for part in layer):
            raise HornbookError("the network has weights that are not finite, so nothing can be proved of it")
        weights, biases = zip(*layers, strict=True)
        return cls(tuple(weights), tuple(biases), roundoff, link or ScoreLink())

    @property
    def depth(self) -> int:
        """The number of linear layers."""
        return len(self.weights)

    def __call__(self, inputs: Matrix) -> Vector:
        """The output for each row of inputs."""
        return self.from_first(inputs @ self.weights[0].T + self.biases[0])

    def from_first(self, sums: Matrix) -> Vector:
        """The output for each row of first-layer sums, before their ReLU."""
        for weights, biases in zip(self.weights[1:], self.biases[1:], strict=True):
            sums = np.maximum(sums, 0) @ weights.T + biases
        outputs: Vector = sums[:, 0]
        return outputs

    def negate(self) -> ReluNet:
        """The network with the opposite output."""
        weights, biases = (*self.weights[:-1], -self.weights[-1]), (*self.biases[:-1], -self.biases[-1])
        return replace(self, weights=weights, biases=biases)

    def magnitudes(self, first: Vector) -> list[Vector]:
        """Bounds on the absolute sums of every layer, given those of the first."""
        layers = [first]
        for weights, biases in zip(self.weights[1:], self.biases[1:], strict=True):
            layers.append(np.abs(weights) @ layers[-1] + np.abs(biases))
        return layers

    @cached_property
    def operations(self) -> int:
        """An upper bound on the number of operations behind any single number of a bound."""
        return 16 * sum(int(weights.shape[0] + weights.shape[1] + 8) for weights in self.weights)


def pair_classes(count: int, contest: Callable[[int, int], Function]) -> Contests[Function]:
    """Make the contest of each class with each other one, from the numbers of the other and of the class."""
    return tuple(
        tuple(contest(rival, outcome) for rival in range(count) if rival != outcome)
        for outcome in range(count)
    )


def gamma(operations: int, roundoff: float) -> float:
    """n·u / (1 - n·u): the relative error of a sum after n roundings with unit roundoff u."""
    product = operations * roundoff
    if product >= 0.5:
        raise HornbookError(f"sums of {operations} terms are too long for the model's precision")
    return product / (1 - product)


def fold_threshold(layers: Layers, predictor: Predictor, roundoff: float, squashed: bool) -> ReluNet:
    """Fold the threshold into the last bias: N is at least 0 where the predictor decides positively.

    Parameters
    ----------
    layers
        The model's layers, with one output, or one for each of two classes.
    predictor
        The source of the threshold and the positive class.
    roundoff
        The unit roundoff of the model's precision.
    squashed
        Whether the score is the sigmoid or softmax of the output, or the output itself.

    """
    if len(layers) == 1:
        layers = _split_linear_layer(*layers[0])
    weights, biases = layers[-1]
    output_magnitudes = (np.abs(weights).sum(axis=0, keepdims=True), np.abs(biases).sum(keepdims=True))
    positive = 1 if predictor.column is None else predictor.column
    link = ScoreLink.of(predictor, float(squashed))
    if len(biases) == 2 and squashed:
        weights, biases = weights[1:] - weights[:1], biases[1:] - biases[:1]
    elif len(biases) == 2:
        if predictor.threshold is None:
            raise unprovable(
                predictor, "its two outputs are plain scores; name a threshold for the positive one"
            )
        weights, biases = weights[[positive]], biases[[positive]]
        positive = 1
    sign = 1.0 if positive == 1 else -1.0
    # a single output scores 1 - s for the other class
    cut = link.cut if squashed or positive == 1 else link.cut - 1
    net = ReluNet.of([*layers[:-1], (sign * weights, sign * biases - cut)], roundoff, link)
    return replace(net, output_magnitudes=(output_magnitudes[0], output_magnitudes[1] + abs(cut)))


def unprovable(predictor: Predictor, why: str) -> HornbookError:
    """Return the error for a model that proofs do not support."""
    return HornbookError(f"nothing can be proved about {predictor.name}: {why}")


def refuse_difference(
    predictor: Predictor,
    link: ScoreLink,
    answers: tuple[Vector, Bools],
    reading: tuple[Vector, Vector],
    describe: Callable[[int], str],
) -> None:
    """Raise if a model's scores and decisions differ from its outputs as read, beyond their rounding."""
    (scores, decided), (outputs, off) = answers, reading
    read = link.scores(outputs)
    wrong = ~(np.abs(scores - read) <= link.allowance(read, off))  # so that no number is wrong too
    wrong |= (decided != (outputs >= 0)) & (np.abs(outputs) > off + link.tolerance)
    if wrong.any():
        at = int(wrong.argmax())
        raise unprovable(
            predictor,
            f"it does not compute what was read of it: it scores {scores[at]:.6g} where {read[at]:.6g} "
            f"was read, and it decides {bool(decided[at])}, for {describe(at)}",
        )


def _split_linear_layer(weights: Matrix, biases: Vector) -> Layers:
    """Write a linear layer as two with a ReLU between: x = relu(x) - relu(-x)."""
    hidden = (np.concatenate([weights, -weights]), np.concatenate([biases, -biases]))
    same = np.eye(len(biases))
    return [hidden, (np.concatenate([same, -same], axis=1), np.zeros(len(biases)))]


SINGLE_ROUNDOFF = 2.0**-24
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
"""For a predictor's kind of output and the last activation, the number of outputs that fits both."""


class NetworkStep(NamedTuple):
    """One operation of a network: its kind, its name in messages, and its weights if it is linear."""

    kind: str
    layer: str
    weights: Matrix | None = None
    biases: Vector | None = None
    roundoff: float = DOUBLE_ROUNDOFF


def relu_net(predictor: Predictor) -> ReluNet:
    """Read the network of a predictor's model, with its threshold folded in.

    Examples
    --------
    >>> import torch
    >>> from hornbook.models import as_predictor
    >>> module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    >>> relu_net(as_predictor(module)).depth
    2
    >>> relu_net(as_predictor(lambda array: array.mean(axis=1), name="f"))
    Traceback (most recent call last):
    hornbook.errors.HornbookError: nothing can be proved about f: the prover does not support function

    """
    model = predictor.source
    if all(hasattr(model, part) for part in ("module", "encoding", "vocabulary")):
        model = model.module
    roots = {ancestor.__module__.partition(".")[0] for ancestor in type(model).__mro__}
    if "keras" in roots:  # perhaps a torch module too
        raise unprovable(
            predictor, "the prover reads a network of Keras from ONNX: model.export(…, format='onnx')"
        )
    for root, read in READERS.items():
        if root in roots:
            return _assemble(predictor, list(read(model, predictor)))
    raise unprovable(predictor, f"the prover does not support {type(model).__name__}")


def read_contests(predictor: Predictor, count: int) -> Contests[ReluNet]:
    """Read a network that decides between classes by softmax: of each two classes, whose output is higher.

    With two classes that is the network itself, with the threshold folded in.
    """
    if count == 2:
        net = relu_net(predictor)
        return (net,), (net.negate(),)
    steps = _sklearn_steps(predictor.source, predictor)
    layers, last, roundoff = _collect_layers(predictor, list(steps))
    if last != SOFTMAX or len(layers[-1][1]) != count:
        raise unprovable(predictor, f"its last layer is not a softmax of its {count} classes")
    if len(layers) == 1:
        layers = _split_linear_layer(*layers[0])
    (weights, biases), link = layers[-1], ScoreLink(0.5, 1.0)

    def contest(rival: int, outcome: int) -> ReluNet:
        pair = [rival, outcome]
        output = weights[[rival]] - weights[[outcome]], biases[[rival]] - biases[[outcome]]
        sizes = (
            np.abs(weights[pair]).sum(axis=0, keepdims=True),
            np.abs(biases[pair]).sum(keepdims=True),
        )
        return replace(ReluNet.of([*layers[:-1], output], roundoff, link), output_magnitudes=sizes)

    return pair_classes(count, contest)


def refuse_changed(part: Any, layer: str, predictor: Predictor, allowed: tuple[str, ...] = ()) -> None:
    """Raise for an object with a patched method, or with PyTorch forward hooks."""
    changed = [name for name in vars(part) if callable(getattr(type(part), name, None))]
    if other := set(changed) - set(allowed):
        raise unprovable(predictor, f"{layer} has its own {min(other)}, put in the place of its class's")
    if any(getattr(part, hooks, None) for hooks in ("_forward_hooks", "_forward_pre_hooks")):
        raise unprovable(predictor, f"{layer} has a forward hook")


def _assemble(predictor: Predictor, steps: list[NetworkStep]) -> ReluNet:
    """Assemble linear layers, ReLUs and a last activation into one network."""
    layers, last, roundoff = _collect_layers(predictor, steps)
    _refuse_misfit(predictor, steps[-1], len(layers[-1][1]))
    squashed = last != LINEAR or predictor.output == "logit"
    return fold_threshold(layers, predictor, roundoff, squashed)


def _collect_layers(predictor: Predictor, steps: list[NetworkStep]) -> tuple[Layers, str, float]:
    """The linear layers, between which there are ReLUs, the kind of the last step, and the unit roundoff."""
    layers: Layers = []
    last, roundoff = "", DOUBLE_ROUNDOFF
    for kind, layer, weights, biases, precision in steps:
        if not layers and kind != LINEAR:
            raise unprovable(predictor, f"{layer} comes before its first linear layer")
        if last not in ("", LINEAR, RELU):
            raise unprovable(predictor, f"{layer} comes after its {last}, which is not a last layer then")
        if last == kind == LINEAR:
            raise unprovable(predictor, f"{layer} is linear and follows a linear layer with no ReLU between")
        if weights is not None and biases is not None:
            layers.append((weights, biases))
            roundoff = max(roundoff, precision)
        last = kind
    if last in ("", RELU):
        raise unprovable(predictor, "it does not end in a linear layer, a sigmoid or a softmax")
    return layers, last, roundoff


def _refuse_misfit(predictor: Predictor, last: NetworkStep, outputs: int) -> None:
    """Raise unless last activation, number of outputs and kind of output fit each other."""
    if outputs not in (1, 2):
        raise unprovable(
            predictor,
            f"it has {outputs} outputs; proofs are about networks that decide between two classes, "
            "with one output or two",
        )
    fits = (
        predictor.output != "probability" if last.kind == LINEAR
        else OUTPUT_KINDS.get((predictor.output, last.kind)) == outputs
    )  # fmt: skip
    if not fits:
        raise unprovable(
            predictor,
            f"{last.layer}, a {last.kind} of {outputs}, does not fit output={predictor.output!r}: "
            "a sigmoid is of one number, a softmax of two, and both give probabilities",
        )


def _linear(layer: str, predictor: Predictor, weights: Any, biases: Any = None) -> NetworkStep:
    weights = np.asarray(weights)
    biases = np.zeros(len(weights), weights.dtype) if biases is None else np.asarray(biases)
    if weights.ndim != 2 or biases.shape != weights.shape[:1]:
        raise unprovable(predictor, f"{layer} has weights and biases of shapes that do not fit")
    if any(numbers.dtype not in (np.float32, np.float64) for numbers in (weights, biases)):
        raise unprovable(predictor, f"{layer} computes in {weights.dtype}, and not in float32 or float64")
    roundoff = DOUBLE_ROUNDOFF if weights.dtype == np.float64 else SINGLE_ROUNDOFF
    return NetworkStep(LINEAR, layer, weights.astype(np.float64), biases.astype(np.float64), roundoff)


TORCH_KINDS = {"ReLU": RELU, "Sigmoid": SIGMOID, "Softmax": SOFTMAX, "LogSoftmax": LOG_SOFTMAX}
"""The activations that the prover supports."""


def _torch_steps(module: Any, predictor: Predictor, place: str = "") -> Iterator[NetworkStep]:
    torch = library("torch", "torch")
    nn, kind = torch.nn, type(module)
    layer = f"its layer {place} ({kind.__name__})" if place else f"it, a {kind.__name__},"
    _refuse_torch_settings(torch, predictor)
    is_scripted = isinstance(module, torch.jit.ScriptModule)
    if is_scripted or getattr(module, "_compiled_call_impl", None) is not None:
        raise unprovable(predictor, f"{layer} is compiled, so what runs does not show")
    refuse_changed(module, layer, predictor)
    if kind is nn.Sequential:
        for number, part in enumerate(module):
            yield from _torch_steps(part, predictor, f"{place}.{number}" if place else str(number))
    elif kind is nn.Linear:
        yield _torch_linear(torch, module, layer, predictor)
    elif kind in [getattr(nn, name) for name in TORCH_KINDS]:
        if getattr(module, "dim", -1) not in (1, -1):
            raise unprovable(predictor, f"{layer} runs over dimension {module.dim}, not over the classes")
        yield NetworkStep(TORCH_KINDS[kind.__name__], layer)
    elif kind is nn.Flatten:
        if (module.start_dim, module.end_dim) not in ((1, -1), (1, 1)):
            raise unprovable(predictor, f"{layer} flattens more than one row")
    elif kind not in (nn.Identity, nn.Dropout):  # which pass numbers on as they are in evaluation
        raise unprovable(predictor, f"{layer} is not supported")


def _torch_linear(torch: Any, module: Any, layer: str, predictor: Predictor) -> NetworkStep:
    tensors = [each for each in (module.weight, module.bias) if each is not None]
    for tensor in tensors:
        plain = type(tensor) in (torch.nn.Parameter, torch.Tensor)
        if not plain or tensor.dtype not in (torch.float32, torch.float64):
            raise unprovable(predictor, f"{layer} computes in {tensor.dtype}, not in float32 or float64")
    weights, *biases = (tensor.detach().cpu().numpy() for tensor in tensors)
    return _linear(layer, predictor, weights, *biases)


def _refuse_torch_settings(torch: Any, predictor: Predictor) -> None:
    """Raise where settings of the whole process change what layers compute."""
    every = torch.nn.modules.module
    if every._global_forward_hooks or every._global_forward_pre_hooks:
        raise unprovable(predictor, "torch has a forward hook for all modules")
    if torch.get_float32_matmul_precision() != "highest":
        raise unprovable(
            predictor,
            "torch multiplies in less than single precision; torch.set_float32_matmul_precision('highest')",
        )


def _sklearn_steps(model: Any, predictor: Predictor) -> Iterator[NetworkStep]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    if type(model) is LogisticRegression:
        refuse_changed(model, "it", predictor)
        yield _linear("its coefficients", predictor, model.coef_, model.intercept_)
        yield NetworkStep(SIGMOID if len(model.classes_) == 2 else SOFTMAX, "its output")
        return
    if type(model) is not MLPClassifier:
        raise unprovable(predictor, f"the prover does not support {type(model).__name__}")
    refuse_changed(model, "it", predictor)
    if model.out_activation_ != ("logistic" if len(model.classes_) == 2 else "softmax"):
        raise unprovable(predictor, "it does not decide between classes, which proofs are about")
    if model.activation not in ("relu", "identity"):
        raise unprovable(predictor, f"it has the activation {model.activation}")
    for position, (weights, biases) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        if position and model.activation == "relu":
            yield NetworkStep(RELU, f"its hidden layer {position}")
        yield _linear(f"its layer {position + 1}", predictor, weights.T, biases)
    yield NetworkStep(SIGMOID if len(model.classes_) == 2 else SOFTMAX, "its output")


ONNX_ATTRIBUTES: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "Gemm": {"alpha": (1,), "beta": (1,), "transA": (0,), "transB": (0, 1)},
    "MatMul": {},
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
"""The operators that the prover supports, and what each of their attributes may be."""

ONNX_KINDS = {"Relu": RELU, "Sigmoid": SIGMOID, "Softmax": SOFTMAX, "LogSoftmax": LOG_SOFTMAX}

ONNX_TYPES = {"tensor(float)": 1, "tensor(double)": 11}
"""The types in which networks may compute, and their numbers in attributes."""

FLATTENINGS = (("Reshape", [-1]), ("Squeeze", [1]), ("Squeeze", [-1]))
"""Operators that make a column of one number a list, with their shapes or axes."""


def _onnx_steps(session: Any, predictor: Predictor) -> Iterator[NetworkStep]:
    """Read a graph of ONNX as a chain of operators, each of which works on what comes before it."""
    nodes, constants, target = _onnx_graph(session, predictor)
    (given,) = session.get_inputs()
    if given.type not in ONNX_TYPES:
        raise unprovable(predictor, f"it reads {given.type}, not float or double")
    value, width, precision = given.name, predictor.inputs, ONNX_TYPES[given.type]
    is_flat = False  # whether there are no rows any more
    while readers := [node for node in nodes if value in node.input]:
        node, operator = readers[0], readers[0].op_type
        layer = f"its operator {node.name or node.output[0]} ({operator})"
        attributes = _onnx_attributes(node, layer, predictor)
        others = [constants[name] for name in node.input if name in constants]
        is_chained = len(readers) == 1 and len(others) == len([name for name in node.input if name]) - 1
        if not is_chained or node.input[0] != value:
            raise unprovable(predictor, f"{layer} works on more than what comes before it and constants")
        if is_flat and operator not in ("Sigmoid", "Identity", "Cast"):
            raise unprovable(predictor, f"{layer} works on numbers that are not rows any more")
        value = node.output[0]
        if operator in ("Gemm", "MatMul"):
            weights, *added = others
            after = [each for each in nodes if value in each.input]
            if operator == "MatMul" and [each.op_type for each in after] == ["Add"]:
                added = [constants[name] for name in after[0].input if name in constants]
                value = after[0].output[0] if added else value
            weights = weights if attributes.get("transB") else weights.T
            width = len(weights)
            yield _linear(layer, predictor, weights, *(_onnx_row(each, width) for each in added))
        elif operator in ONNX_KINDS:
            yield NetworkStep(ONNX_KINDS[operator], layer)
        elif operator == "Cast":
            if int(attributes["to"]) < precision:
                raise unprovable(predictor, f"{layer} makes double precision single")
            precision = int(attributes["to"])
        elif operator in ("Reshape", "Squeeze"):
            shape = others[0].tolist()
            is_flat = width == 1 and (operator, shape) in FLATTENINGS
            stays = operator == "Reshape" and shape in ([-1, width], [0, width], [0, -1])
            if not is_flat and not stays:
                raise unprovable(predictor, f"{layer} changes the shape of rows")
    if value != target:
        raise unprovable(predictor, f"its output {target!r} is not the end of its chain of operators")


def _onnx_graph(session: Any, predictor: Predictor) -> tuple[list[Any], dict[str, Any], str]:
    """The operators of a session's graph, its constants, and the name of its output."""
    onnx, onnxruntime = library("onnx", "onnx"), library("onnxruntime", "onnx")
    if type(session) is not onnxruntime.InferenceSession:
        raise unprovable(predictor, f"it is a {type(session).__name__}, no InferenceSession")
    refuse_changed(session, "it", predictor)
    for provider, options in session.get_provider_options().items():
        if provider != "CPUExecutionProvider" and options.get("use_tf32") != "0":
            raise unprovable(predictor, f"it runs on {provider}, maybe in less than single precision")
    model = session_model(session)
    if model is None:
        raise unprovable(predictor, "its graph is not at hand")
    graph = model.graph
    if model.functions or graph.sparse_initializer or len(graph.output) != 1:
        raise unprovable(predictor, "its graph has functions, sparse weights or several outputs")
    if any(tensor.data_location == tensor.EXTERNAL for tensor in graph.initializer):
        raise unprovable(predictor, "its weights are in another file")
    constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    fixed = [node for node in graph.node if node.op_type == "Constant" and node.attribute[0].name == "value"]
    constants |= {node.output[0]: onnx.numpy_helper.to_array(node.attribute[0].t) for node in fixed}
    return [node for node in graph.node if node not in fixed], constants, graph.output[0].name


def _onnx_attributes(node: Any, layer: str, predictor: Predictor) -> dict[str, Any]:
    """The attributes of an operator, refused unless operator and values are supported."""
    understood = ONNX_ATTRIBUTES.get(node.op_type)
    if understood is None or node.domain not in ("", "ai.onnx"):
        raise unprovable(predictor, f"{layer} is not supported")
    value_of = library("onnx", "onnx").helper.get_attribute_value
    attributes = {each.name: value_of(each) for each in node.attribute}
    for name, value in attributes.items():
        if value not in understood.get(name, ()):
            raise unprovable(predictor, f"{layer} has {name}={value!r}, which is not supported")
    return attributes


def _onnx_row(constant: Any, width: int) -> Any:
    """Turn a constant into the numbers added to a row; one that differs by rows stays, and does not fit."""
    constant = np.asarray(constant)
    same = constant.ndim < 2 or (constant.ndim == 2 and len(constant) == 1)
    return (
        np.broadcast_to(constant.reshape(-1), (width,)) if same and constant.size in (1, width) else constant
    )


READERS: Mapping[str, Callable[[Any, Predictor], Iterator[NetworkStep]]] = {
    "onnxruntime": _onnx_steps,
    "torch": _torch_steps,
    "sklearn": _sklearn_steps,
}
"""The reader for each library's networks."""
