"""A zoo of small models for proofs: honest ones, and traps that look like networks or trees that are read.

Each model reads four variables and is held against all its inputs. A trap must be refused, by its
adapter, by who reads it, or by the comparison of what was read with the model; or decided rightly.
"""

import warnings
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, product

import numpy as np
import onnxruntime
import pandas as pd
import torch
from onnx import TensorProto, helper, numpy_helper
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from torch import nn

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary
from hornbook.models import Encoding, as_predictor
from hornbook.proof import Interpretations, make

NAMES = ("a", "b", "c", "d")
WIDTH, LABEL = len(NAMES), len(NAMES)
VOCABULARY, FEATURES = Vocabulary([*NAMES, "y"]), Vocabulary(NAMES)

ADAPTER, READING, COMPARISON = "adapter", "reading", "comparison"


@dataclass(frozen=True)
class Examination:
    """What came of the questions about one model: verdicts, wrong ones, and who refused it and why.

    `both` says whether it accepts some inputs and rejects others; all questions about another are easy.
    """

    name: str
    proved: int = 0
    refuted: int = 0
    undecided: int = 0
    wrong: int = 0
    both: bool = False
    refused_by: str = ""
    reason: str = ""


def examine(name, steps=(1, 1)):
    """Ask about a model of the zoo, and hold every verdict against all inputs.

    Asked are every so-many-th of the questions that can be proved, and every so-many-th of the others.
    """
    build = HONEST.get(name) or TRAPS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # libraries warn about some of the traps themselves
        try:
            predictor = build()
        except HornbookError as error:
            return Examination(name, refused_by=ADAPTER, reason=str(error))
        try:
            prover = make(predictor, Interpretations(VOCABULARY, label="y"))
        except HornbookError as error:
            compared = any(words in str(error) for words in ("was read of it", "cannot be asked"))
            return Examination(name, refused_by=COMPARISON if compared else READING, reason=str(error))
        return _examined(name, prover, steps)


def _examined(name, prover, steps):
    unknown = [np.nan] if prover.space.values == "ternary" else []
    every = np.array(list(product([0.0, 1.0, *unknown], repeat=WIDTH)))
    decided = prover.predictor.decide(Batch.from_array(every, FEATURES))
    counts = {"proved": 0, "refuted": 0, "undecided": 0}
    wrong = 0
    questions = {True: [], False: []}  # by whether they can be proved
    for true, false, label in _questions():
        inside = (every[:, sorted(true)] == 1).all(axis=1) & (every[:, sorted(false)] == 0).all(axis=1)
        item = (true | {LABEL}, false) if label else (true, false | {LABEL})
        questions[not (decided[inside] == label).any()].append((item, label, inside))
    for holds, step in zip(questions, steps, strict=True):
        for item, label, inside in questions[holds][::step]:
            verdict = prover.prove_rejection(*item)
            counts[verdict.status] += 1
            if verdict.status == "proved":
                wrong += not holds
            elif verdict.status == "refuted":
                at = _place(verdict.witness, every)
                wrong += holds or not inside[at] or decided[at] != label
    return Examination(name, **counts, wrong=wrong, both=len(set(decided.tolist())) == 2)


def _questions():
    """Which variables are true and which false, at most three in all, and which label is asked about."""
    for size in range(WIDTH):
        for chosen in combinations(range(WIDTH), size):
            for values in product([True, False], repeat=size):
                true = {v for v, value in zip(chosen, values, strict=True) if value}
                yield from ((true, set(chosen) - true, label) for label in (True, False))


def _place(witness, every):
    """Where a witness stands among all inputs."""
    row = [1.0 if v in witness.true else 0.0 if v in witness.false else np.nan for v in range(WIDTH)]
    return int(((every == row) | (np.isnan(every) & np.isnan(row))).all(axis=1).argmax())


def ask(model, **options):
    return as_predictor(model, **{"encoding": "half", **options})


def unlike(predictor, change):
    """A predictor whose answers are not those of the model that it names as its source."""
    return replace(predictor, outputs=lambda array: change(np.asarray(predictor.outputs(array))))


# torch


def linear(below, above, seed, bias=True):
    rng = np.random.default_rng(seed)
    layer = nn.Linear(below, above, bias=bias)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(rng.normal(size=(above, below)) * 2))
        if bias:
            layer.bias.copy_(torch.from_numpy(rng.normal(size=above) * 0.5))
    return layer


def parts(outputs=1, width=WIDTH, seed=0):
    """Layers that decide either way on many inputs."""
    layers = [linear(width, 5, seed), nn.ReLU(), linear(5, outputs, seed + 100)]
    with torch.no_grad():
        inputs = torch.from_numpy(np.array(list(product([0, 0.5, 1], repeat=width))[:: 1 + 27 * (width > 4)]))
        raw = nn.Sequential(*layers)(inputs.float())
        layers[-1].bias -= raw.median(dim=0).values + 0.01
    return layers


def sequence(outputs=1, *last, width=WIDTH, seed=0):
    return nn.Sequential(*parts(outputs, width, seed), *last)


def nested():
    shared = nn.ReLU(inplace=True)
    first, _, last = parts(seed=3)
    inner = nn.Sequential(linear(5, 5, 4), nn.Dropout(0.5), shared)
    return nn.Sequential(nn.Flatten(), nn.Sequential(first, shared), nn.Identity(), inner, last).train()


class Doubling(nn.Linear):
    def forward(self, inputs):
        return super().forward(inputs) * 2 - 1


def subclassed():
    first, relu, last = parts()
    other = Doubling(5, 1)
    other.load_state_dict(last.state_dict())
    return nn.Sequential(first, relu, other)


class OwnSequential(nn.Sequential):
    def forward(self, inputs):
        return super().forward(1 - inputs)


class Saturating(nn.ReLU):
    def forward(self, inputs):
        return inputs.clamp(0, 0.3)


def hooked(kind):
    module = sequence()
    if kind == "hook":
        module[0].register_forward_hook(lambda part, inputs, output: -output)
    else:
        module.register_forward_pre_hook(lambda part, inputs: (1 - inputs[0],))
    return module


def patched_forward():
    module = sequence()
    module[1].forward = torch.abs
    return module


def with_relu(relu):
    first, _, last = parts()
    return nn.Sequential(first, relu, last)


def with_batch_norm():
    first, relu, last = parts()
    norm = nn.BatchNorm1d(5)
    norm.running_mean += 0.7
    return nn.Sequential(first, norm, relu, last).eval()


def with_nan():
    module = sequence()
    with torch.no_grad():
        module[0].weight[0, 0] = torch.nan
    return module


def with_large_weights():
    module = sequence()
    with torch.no_grad():
        for part in (module[0], module[2]):
            part.weight *= 1e25
    return module


def pruned():
    from torch.nn.utils import prune

    module = sequence()
    prune.random_unstructured(module[0], "weight", amount=0.5)
    return module


def normed():
    module = sequence()
    nn.utils.parametrizations.weight_norm(module[0])
    with torch.no_grad():
        module[0].parametrizations.weight.original0 *= 3
    return module


TORCH = {
    "torch, one logit": lambda: ask(sequence()),
    "torch, one logit, threshold 0.8": lambda: ask(sequence(seed=1), threshold=0.8),
    "torch, sigmoid": lambda: ask(sequence(1, nn.Sigmoid())),
    "torch, sigmoid, class 0, threshold 0.3": lambda: ask(
        sequence(1, nn.Sigmoid()), positive=0, threshold=0.3
    ),
    "torch, softmax": lambda: ask(sequence(2, nn.Softmax(dim=1))),
    "torch, softmax, class 0, threshold 0.7": lambda: ask(
        sequence(2, nn.Softmax(dim=-1)), positive=0, threshold=0.7
    ),
    "torch, log-softmax": lambda: ask(sequence(2, nn.LogSoftmax(dim=1))),
    "torch, two logits": lambda: ask(sequence(2, seed=2)),
    "torch, score, threshold 0.2": lambda: ask(sequence(), output="score", threshold=0.2),
    "torch, score, class 0": lambda: ask(sequence(), output="score", threshold=0.9, positive=0),
    "torch, double, signed": lambda: ask(sequence(seed=5).double(), encoding="signed"),
    "torch, two channels": lambda: ask(sequence(width=2 * WIDTH), encoding="two-channel"),
    "torch, complete inputs": lambda: ask(sequence(), encoding="complete"),
    "torch, one linear layer": lambda: ask(nn.Sequential(linear(WIDTH, 1, 7))),
    "torch, no biases, threshold 0.6": lambda: ask(
        nn.Sequential(linear(WIDTH, 1, 11, bias=False)), threshold=0.6
    ),
    "torch, nested, in training": lambda: ask(nested()),
    "torch, unknown is 0.1": lambda: ask(sequence(), encoding=Encoding(1.0, -0.7, 0.1)),
}

TORCH_TRAPS = {
    "torch, two sigmoids": lambda: ask(sequence(2, nn.Sigmoid()), threshold=0.9),
    "torch, softmax of one": lambda: ask(sequence(1, nn.Softmax(dim=1))),
    "torch, log-softmax of one": lambda: ask(sequence(1, nn.LogSoftmax(dim=1))),
    "torch, sigmoid called logit": lambda: ask(sequence(1, nn.Sigmoid()), output="logit"),
    "torch, softmax called logit": lambda: ask(sequence(2, nn.Softmax(dim=1)), output="logit"),
    "torch, log-softmax called score": lambda: ask(
        sequence(2, nn.LogSoftmax(dim=1)), output="score", threshold=-0.4
    ),
    "torch, logits called probabilities": lambda: ask(sequence(), output="probability"),
    "torch, ReLU first": lambda: ask(nn.Sequential(nn.ReLU(), *parts()), encoding="signed"),
    "torch, ReLU last": lambda: ask(sequence(1, nn.ReLU()), output="score"),
    "torch, sigmoid inside": lambda: ask(with_relu(nn.Sigmoid())),
    "torch, no ReLU between": lambda: ask(with_relu(nn.Identity())),
    "torch, subclass of Linear": lambda: ask(subclassed()),
    "torch, subclass of Sequential": lambda: ask(OwnSequential(*parts()), output="logit"),
    "torch, subclass of ReLU": lambda: ask(with_relu(Saturating())),
    "torch, forward hook": lambda: ask(hooked("hook")),
    "torch, pre-hook": lambda: ask(hooked("pre-hook")),
    "torch, patched forward": lambda: ask(patched_forward()),
    "torch, softmax over rows": lambda: ask(sequence(2, nn.Softmax(dim=0))),
    "torch, leaky ReLU": lambda: ask(with_relu(nn.LeakyReLU(0.3))),
    "torch, ReLU6": lambda: ask(with_relu(nn.ReLU6())),
    "torch, Hardtanh": lambda: ask(with_relu(nn.Hardtanh(0, 0.5))),
    "torch, Threshold": lambda: ask(with_relu(nn.Threshold(0.2, 0.0))),
    "torch, batch norm": lambda: ask(with_batch_norm()),
    "torch, weight norm": lambda: ask(normed()),
    "torch, pruned": lambda: ask(pruned()),
    "torch, NaN in weights": lambda: ask(with_nan()),
    "torch, sums that overflow": lambda: ask(with_large_weights()),
    "torch, softmax of no dimension": lambda: ask(sequence(2, nn.Softmax())),
    "torch, bfloat16": lambda: ask(sequence().bfloat16()),
    "torch, three outputs": lambda: ask(sequence(3), positive=1),
    "torch, flattened batch": lambda: ask(sequence(1, nn.Flatten(0, -1)), output="logit"),
    "torch, scripted": lambda: ask(torch.jit.script(sequence()), output="logit"),
    "torch, traced": lambda: ask(torch.jit.trace(sequence(), torch.zeros(1, WIDTH)), output="logit"),
    "torch, scripted inside": lambda: ask(with_relu(torch.jit.script(nn.ReLU()))),
    "torch, answers of another": lambda: unlike(ask(sequence()), np.negative),
    "torch, answers off by 0.001": lambda: unlike(ask(sequence()), lambda raw: raw + 0.001),
}

# ONNX


def graph(nodes, constants, outputs=1, kind=TensorProto.FLOAT, names=("scores",), rank=2, rows="k"):
    given = helper.make_tensor_value_info("inputs", kind, [rows, WIDTH])
    wanted = [
        helper.make_tensor_value_info(name, TensorProto.DOUBLE if kind == TensorProto.DOUBLE else 1,
                                      [rows, outputs][:rank])
        for name in names
    ]  # fmt: skip
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    content = helper.make_graph(nodes, "graph", [given], wanted, tensors)
    model = helper.make_model(content, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


@cache
def matrices(outputs=1, dtype=np.float32, seed=0):
    first, _, last = parts(outputs, seed=seed)
    pairs = {"W": first.weight.T, "B": first.bias, "V": last.weight.T, "C": last.bias}
    return {name: value.detach().numpy().astype(dtype) for name, value in pairs.items()}


def chain(*operators, outputs=1, **options):
    """Operators one after another, each with its further inputs and its attributes."""
    nodes, value = [], "inputs"
    for number, (operator, *further) in enumerate(operators):
        attributes = further.pop() if further and isinstance(further[-1], dict) else {}
        result = "scores" if number == len(operators) - 1 else f"v{number}"
        nodes.append(helper.make_node(operator, [value, *further], [result], **attributes))
        value = result
    constants = {**matrices(outputs), **options.pop("constants", {})}
    used = {name: constants[name] for node in nodes for name in node.input if name in constants}
    return graph(nodes, used, outputs, **options)


PRODUCT, SUM = ("MatMul", "W"), ("Add", "B")
SECOND = (("MatMul", "V"), ("Add", "C"))
WHOLE = (PRODUCT, SUM, ("Relu",), *SECOND)


def twice_read():
    """An output before the end of the graph."""
    nodes = [
        helper.make_node("MatMul", ["inputs", "U"], ["scores"]),
        helper.make_node("Relu", ["scores"], ["v"]),
        helper.make_node("MatMul", ["v", "X"], ["w"]),
    ]
    return graph(nodes, {"U": np.ones((WIDTH, 1), np.float32), "X": np.ones((1, 1), np.float32)})


def added_to_itself():
    nodes = [
        helper.make_node("MatMul", ["inputs", "W"], ["v"]),
        helper.make_node("Relu", ["v"], ["r"]),
        helper.make_node("Add", ["v", "r"], ["s"]),
        helper.make_node("MatMul", ["s", "V"], ["scores"]),
    ]
    return graph(nodes, {name: matrices()[name] for name in "WV"})


def two_outputs():
    nodes = [
        helper.make_node("Gemm", ["inputs", "U"], ["scores"]),
        helper.make_node("Sigmoid", ["scores"], ["more"]),
    ]
    return graph(nodes, {"U": np.ones((WIDTH, 1), np.float32)}, names=("scores", "more"))


def whole_double():
    kind = {"to": TensorProto.DOUBLE}
    nodes = [
        helper.make_node("Cast", ["inputs"], ["x"], **kind),
        helper.make_node("Gemm", ["x", "W", "B"], ["v"]),
        helper.make_node("Relu", ["v"], ["r"]),
        helper.make_node("Gemm", ["r", "V", "C"], ["scores"]),
    ]
    return graph(nodes, matrices(dtype=np.float64), kind=TensorProto.DOUBLE)


ONNX = {
    "ONNX, sigmoid": lambda: ask(chain(*WHOLE, ("Sigmoid",))),
    "ONNX, softmax, class 0": lambda: ask(chain(*WHOLE, ("Softmax", {"axis": 1}), outputs=2), positive=0),
    "ONNX, Gemm, threshold 0.7": lambda: ask(
        chain(("Gemm", "W", "B"), ("Relu",), ("Gemm", "V", "C"), ("Identity",)), threshold=0.7
    ),
    "ONNX, transposed, reshaped": lambda: ask(
        chain(
            ("Flatten",), ("Gemm", "T", "B", {"transB": 1}), ("Reshape", "shape"), ("Relu",), *SECOND,
            ("Sigmoid",), ("Squeeze", "axes"), rank=1,
            constants={"T": matrices()["W"].T.copy(), "shape": np.array([-1, 5]), "axes": np.array([1])},
        )
    ),
    "ONNX, double": lambda: ask(whole_double()),
}  # fmt: skip

ONNX_TRAPS = {
    "ONNX, Cast to integer and back": lambda: ask(
        chain(PRODUCT, ("Cast", {"to": 7}), ("Cast", {"to": 1}), ("Relu",), *SECOND), output="logit"
    ),
    "ONNX, Cast to half and back": lambda: ask(
        chain(PRODUCT, ("Cast", {"to": 10}), ("Cast", {"to": 1}), ("Relu",), *SECOND), output="logit"
    ),
    "ONNX, Clip": lambda: ask(
        chain(PRODUCT, SUM, ("Clip", "low", "high"), *SECOND,
              constants={"low": np.float32(0), "high": np.float32(0.3)})
    ),
    "ONNX, LeakyRelu": lambda: ask(chain(PRODUCT, SUM, ("LeakyRelu", {"alpha": 0.4}), *SECOND)),
    "ONNX, softmax over rows": lambda: ask(chain(*WHOLE, ("Softmax", {"axis": 0}), outputs=2)),
    "ONNX, softmax of one": lambda: ask(chain(*WHOLE, ("Softmax",))),
    "ONNX, two sigmoids": lambda: ask(chain(*WHOLE, ("Sigmoid",), outputs=2), threshold=0.9),
    "ONNX, Gemm with alpha": lambda: ask(
        chain(("Gemm", "W", "B", {"alpha": 2.0}), ("Relu",), ("Gemm", "V", "C"))
    ),
    "ONNX, Gemm with beta": lambda: ask(
        chain(("Gemm", "W", "B", {"beta": -3.0}), ("Relu",), ("Gemm", "V", "C"))
    ),
    "ONNX, two biases": lambda: ask(chain(("Gemm", "W", "B"), SUM, ("Relu",), *SECOND)),
    "ONNX, bias after ReLU": lambda: ask(chain(PRODUCT, ("Relu",), SUM, *SECOND)),
    "ONNX, bias first": lambda: ask(
        chain(("Add", "Z"), *WHOLE, constants={"Z": np.float32([0.5, -0.5, 0.3, 0.1])})
    ),
    "ONNX, biases that differ by rows": lambda: ask(
        chain(PRODUCT, ("Add", "R"), ("Relu",), *SECOND, rows=3,
              constants={"R": np.float32([[-2], [0], [2]])})
    ),
    "ONNX, added to itself": lambda: ask(added_to_itself()),
    "ONNX, Mul": lambda: ask(chain(PRODUCT, ("Mul", "B"), ("Relu",), *SECOND)),
    "ONNX, output before the end": lambda: ask(twice_read()),
    "ONNX, several outputs": lambda: ask(two_outputs()),
    "ONNX, inputs are integers": lambda: ask(
        chain(("Cast", {"to": 1}), *WHOLE, kind=TensorProto.INT64), output="logit"
    ),
    "ONNX, sigmoid called logit": lambda: ask(chain(*WHOLE, ("Sigmoid",)), output="logit"),
}  # fmt: skip

# scikit-learn


@cache
def examples(missing=False, seed=0):
    rng = np.random.default_rng(seed)
    inputs = rng.integers(0, 3, (120, WIDTH)) / 2
    labels = (inputs[:, 0] + inputs[:, 1] > inputs[:, 2] + 0.3) ^ (rng.random(120) < 0.2)
    if missing:
        inputs[rng.random(inputs.shape) < 0.2] = np.nan
    return inputs, labels.astype(int)


def fit(model, *data):
    return model.fit(*(data or examples()))


def mlp(*hidden, **options):
    return MLPClassifier(hidden, solver="lbfgs", max_iter=60, random_state=0, **options)


def warm_forest():
    model = fit(RandomForestClassifier(3, random_state=0, warm_start=True, max_depth=3))
    return fit(model.set_params(n_estimators=8))


def at_rounding():
    """A tree that splits at 0.1, which is less than 0.1 in single precision."""
    inputs, labels = examples()
    model = DecisionTreeClassifier(random_state=0).fit(np.where(inputs == 1, 0.1, inputs / 10), labels)
    inner = model.tree_.feature >= 0
    model.tree_.threshold[inner] = np.where(model.tree_.threshold[inner] > 0.05, 0.1, 0.05)
    return model


def two_labels():
    inputs, labels = examples()
    return inputs, np.stack([labels, 1 - labels * (inputs[:, 3] > 0.2)], axis=1)


class OwnMlp(MLPClassifier):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


class OwnForest(RandomForestClassifier):
    def predict_proba(self, X):
        return super().predict_proba(1 - np.asarray(X))


def patched_mlp():
    model = fit(mlp(4))
    right = model.predict_proba
    model.predict_proba = lambda X: right(X)[:, ::-1]
    return model


def exchanged_tree():
    model = fit(RandomForestClassifier(3, random_state=0))
    model.estimators_[1] = fit(LogisticRegression())
    return model


def changed_loss():
    model = fit(GradientBoostingClassifier(n_estimators=5, random_state=0))
    return model.set_params(loss="exponential")


def changed_weights():
    """A network whose predictor was made before it was trained on."""
    model = fit(mlp(4))
    predictor = ask(model)
    return replace(predictor, source=fit(mlp(4, alpha=1.0)))


def named_forest():
    inputs, labels = examples()
    frame = pd.DataFrame(inputs, columns=NAMES)
    return RandomForestClassifier(7, max_depth=2, random_state=0).fit(frame, np.array(["n", "y"])[labels])


def boosting(**options):
    return fit(GradientBoostingClassifier(n_estimators=8, random_state=0, **options))


SKLEARN = {
    "histogram boosting": lambda: ask(fit(HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5))),
    "MLP, threshold 0.3": lambda: ask(fit(mlp(5, 3)), threshold=0.3),
    "MLP, class 0": lambda: ask(fit(mlp(5)), positive=0),
    "MLP, no hidden layer": lambda: ask(fit(mlp())),
    "tree": lambda: ask(fit(DecisionTreeClassifier(random_state=0))),
    "tree, class 0, threshold 0.4": lambda: ask(
        fit(DecisionTreeClassifier(max_depth=3, random_state=0)), positive=0, threshold=0.4
    ),
    "tree, NaN for unknown": lambda: ask(
        fit(DecisionTreeClassifier(random_state=0), *examples(missing=True)), encoding="nan"
    ),
    "tree, trained with NaN": lambda: ask(
        fit(DecisionTreeClassifier(random_state=0), *examples(missing=True))
    ),
    "tree, monotonic": lambda: ask(fit(DecisionTreeClassifier(monotonic_cst=[1, 1, -1, 0], random_state=0))),
    "tree, splits within rounding": lambda: ask(at_rounding(), encoding=Encoding(0.1, 0.0, 0.05)),
    "extra tree": lambda: ask(fit(ExtraTreeClassifier(random_state=0))),
    "forest of 2, ties": lambda: ask(fit(RandomForestClassifier(2, random_state=0)), threshold=0.5),
    "forest of 10, ties": lambda: ask(fit(RandomForestClassifier(10, random_state=0)), threshold=0.5),
    "forest of 20, class 0": lambda: ask(fit(RandomForestClassifier(20, random_state=1)), positive=0),
    "forest, class weights": lambda: ask(
        fit(RandomForestClassifier(6, class_weight="balanced", random_state=0)), threshold=0.45
    ),
    "forest, warm start": lambda: ask(warm_forest()),
    "forest, names and words": lambda: ask(named_forest(), positive="n"),
    "extra trees": lambda: ask(fit(ExtraTreesClassifier(7, random_state=0))),
    "boosting, threshold 0.7": lambda: ask(boosting(), threshold=0.7),
    "boosting, class 0, threshold 0.3": lambda: ask(boosting(), positive=0, threshold=0.3),
    "boosting from zero": lambda: ask(boosting(init="zero")),
    "boosting, exponential": lambda: ask(boosting(loss="exponential")),
    "boosting, exponential, threshold 0.7": lambda: ask(boosting(loss="exponential"), threshold=0.7),
    "boosting, exponential, class 0, threshold 0.4": lambda: ask(
        boosting(loss="exponential", init="zero"), positive=0, threshold=0.4
    ),
}

SKLEARN_TRAPS = {
    "MLP, multilabel": lambda: ask(fit(mlp(4), *two_labels()), threshold=0.9),
    "MLP, three classes": lambda: ask(
        fit(mlp(4), examples()[0], (examples()[0][:, 0] * 2).astype(int)), positive=1
    ),
    "MLP, tanh": lambda: ask(fit(mlp(4, activation="tanh"))),
    "MLP, hidden layers linear": lambda: ask(fit(mlp(4, activation="identity"))),
    "MLP, subclass": lambda: ask(fit(OwnMlp((4,), solver="lbfgs", max_iter=50, random_state=0))),
    "MLP, patched predict_proba": lambda: ask(patched_mlp()),
    "MLP, source exchanged": changed_weights,
    "forest, subclass": lambda: ask(fit(OwnForest(5, random_state=0))),
    "forest, tree exchanged": lambda: ask(exchanged_tree()),
    "forest, answers of another": lambda: unlike(
        ask(fit(RandomForestClassifier(5, random_state=0))), lambda raw: raw[:, ::-1]
    ),
    "forest, three classes": lambda: ask(
        fit(RandomForestClassifier(3), examples()[0], (examples()[0][:, 0] * 2).astype(int)), positive=1
    ),
    "tree, one class": lambda: ask(fit(DecisionTreeClassifier(), examples()[0], np.ones(120)), positive=1.0),
    "tree, two outputs": lambda: ask(fit(DecisionTreeClassifier(random_state=0), *two_labels())),
    "voting": lambda: ask(
        fit(VotingClassifier([("t", DecisionTreeClassifier()), ("m", mlp(3))], voting="soft"))
    ),
    "bagging": lambda: ask(fit(BaggingClassifier(n_estimators=3, random_state=0))),
    "AdaBoost": lambda: ask(fit(AdaBoostClassifier(n_estimators=3, random_state=0))),
    "pipeline": lambda: ask(fit(make_pipeline(Binarizer(threshold=0.4), DecisionTreeClassifier()))),
    "boosting from a tree": lambda: ask(boosting(init=DecisionTreeClassifier(max_depth=2))),
    "boosting from chance": lambda: ask(boosting(init=DummyClassifier(strategy="uniform"))),
    "boosting, loss changed": lambda: ask(changed_loss()),
    "function": lambda: ask(lambda array: array.mean(axis=1)),
}

# XGBoost and LightGBM


def xgb(**settings):
    import xgboost

    options = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1, **settings}
    return fit(xgboost.XGBClassifier(**options))


def lgbm(**settings):
    import lightgbm

    options = {"n_estimators": 8, "min_child_samples": 5, "n_jobs": 1, "verbose": -1, **settings}
    return fit(lightgbm.LGBMClassifier(**options))


def own_objective(labels, scores):
    shares = 1 / (1 + np.exp(-scores))
    return shares - labels, shares * (1 - shares)


STRONG = {"learning_rate": 1.0, "reg_lambda": 0.0, "min_child_weight": 0.0, "n_estimators": 20}
"""Settings with which boosting leaves the share that it starts from, however close to 1 or 0."""

EARLY = {"pred_early_stop": True, "pred_early_stop_freq": 1, "pred_early_stop_margin": 0.3}

BOOSTERS = {
    "XGBoost": lambda: ask(xgb()),
    "XGBoost, NaN for unknown, class 0": lambda: ask(xgb(), encoding="nan", positive=0),
    "XGBoost from 1e-7": lambda: ask(xgb(base_score=1e-7, **STRONG), encoding="nan"),
    "XGBoost from 1 - 1e-7": lambda: ask(xgb(base_score=1 - 1e-7, **STRONG)),
    "XGBoost from 1 - 1e-6, threshold 0.9": lambda: ask(xgb(base_score=1 - 1e-6, **STRONG), threshold=0.9),
    "XGBoost booster of log-odds": lambda: ask(
        xgb(objective="binary:logitraw", base_score=0.9, **STRONG).get_booster()
    ),
    "LightGBM": lambda: ask(lgbm(), threshold=0.5),
    "LightGBM booster with pred_early_stop, which it does not know": lambda: ask(lgbm(**EARLY).booster_),
}

BOOSTER_TRAPS = {
    "XGBoost, missing is None": lambda: ask(xgb().set_params(missing=None)),
    "XGBoost, log-odds": lambda: ask(xgb(objective="binary:logitraw")),
    "LightGBM, pred_early_stop": lambda: ask(lgbm(**EARLY)),
    "LightGBM, pred_early_stop set later": lambda: ask(lgbm().set_params(**EARLY)),
    "LightGBM, own objective": lambda: ask(lgbm(objective=own_objective)),
    "LightGBM booster, own objective": lambda: ask(lgbm(objective=own_objective).booster_),
}

HONEST = TORCH | ONNX | SKLEARN | BOOSTERS
TRAPS = TORCH_TRAPS | ONNX_TRAPS | SKLEARN_TRAPS | BOOSTER_TRAPS
