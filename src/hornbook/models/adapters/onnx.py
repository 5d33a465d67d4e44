"""Adapter for ONNX models, run by onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError, library
from hornbook.models.outputs import (
    Output,
    class_column,
    number_labels,
    one_hot,
    positive_column,
    unknown_output_error,
)
from hornbook.models.predictor import Predictor

NUMPY_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
}

SHAPING = ("Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze")
"""Operators that do not change values."""

CLASSIFIERS = ("LinearClassifier", "SVMClassifier", "TreeEnsembleClassifier", "ZipMap")
"""Operators that name the labels of their columns."""

INFERRED: dict[str, Output] = {
    "Sigmoid": "probability",
    "Softmax": "probability",
    "LogSoftmax": "logit",
    "Gemm": "logit",
    "MatMul": "logit",
}


def open_session(path: Path) -> Any:
    """Open a session for the model in a file."""
    onnxruntime = library("onnxruntime", "onnx")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what goes wrong is raised, not printed as well
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def adapt_session(session: Any, name: str, positive: Any, output: Output | None) -> Predictor:
    """One matrix of numbers, or an input for each column, and an output that is found as follows.

    Classifiers converted from scikit-learn and the like have a label, which decides, and
    probabilities, which are the scores; `positive` is a label. Where the graph does not name its labels,
    they are what it answers about rows. A model with one output of numbers is a network: whether it gives
    probabilities or logits is read off its last operator, unless `output` says so, and `positive` is a
    column.
    """
    run, predictor = _make_runner(session, name)
    outputs = {each.name: each.type for each in session.get_outputs()}
    maps = [each for each, kind in outputs.items() if kind.startswith("seq(map(")]
    numbers = [each for each, kind in outputs.items() if kind.startswith(("tensor(float", "tensor(double"))]
    labels = [each for each in outputs if each not in maps + numbers]
    if len(numbers) > 1:
        raise HornbookError(f"{name} has the outputs {', '.join(numbers)}; keep one, e.g. with onnx.utils")
    if not labels:
        column = positive_column(positive, name)
        kind = output or _infer_output(session, numbers[0], name)
        return replace(
            predictor, outputs=partial(run, numbers[0]), positive=column, column=column, output=kind
        )
    classes = _classes(session)
    if classes is None:  # its answers about rows say what they are
        answers = partial(run, labels[0])
        return replace(
            predictor, outputs=answers if positive is None else partial(_decide_by_label, answers, positive)
        )
    number = partial(_number_labels, partial(run, labels[0]), classes)
    if maps:
        scores: Any = partial(_read_maps, partial(run, maps[0]), classes)
    else:
        scores = partial(run, numbers[0]) if numbers else partial(one_hot, number, len(classes))
    return replace(
        predictor,
        outputs=scores,
        classes=tuple(classes),
        labels=number,
        positive=positive,
        column=None if positive is None and len(classes) > 2 else class_column(classes, positive, name),
        output=output or ("probability" if numbers else "score"),
    )


def _make_runner(session: Any, name: str) -> tuple[Callable[..., Any], Predictor]:
    """Return a function that runs the session, and a predictor whose output is still to be set."""
    inputs = session.get_inputs()
    if _reads_columns(inputs):
        names = tuple(each.name for each in inputs)
        read_columns = partial(_run_columns, session, {each.name: (each.type, each.shape) for each in inputs})
        return read_columns, Predictor(read_columns, name, inputs=len(names), names=names)
    if len(inputs) != 1 or inputs[0].type not in NUMPY_TYPES or len(inputs[0].shape) != 2:
        what = ", ".join(f"{each.name}: {each.type} {each.shape}" for each in inputs)
        raise HornbookError(
            f"{name} should take one matrix of numbers, or an input of one value for each column, not {what}"
        )
    rows, columns = (size if isinstance(size, int) else None for size in inputs[0].shape)
    run = partial(_run, session, inputs[0].name, rows)
    return run, Predictor(run, name, inputs=columns, dtype=NUMPY_TYPES[inputs[0].type])


def _run(session: Any, source: str, rows: int | None, target: str, array: NDArray[Any]) -> Any:
    """Compute the named output; a model exported for a fixed number of rows is run in such batches."""
    array = np.ascontiguousarray(array)
    if rows is None:
        return session.run([target], {source: array})[0]
    answers: list[Any] = []
    for start in range(0, len(array), rows):
        part = array[start : start + rows]
        filled = np.concatenate([part, np.repeat(part[-1:], rows - len(part), axis=0)])
        answers.extend(session.run([target], {source: filled})[0][: len(part)])
    return answers


def _reads_columns(inputs: Sequence[Any]) -> bool:
    """Whether every input is one column: numbers, words or truth values."""
    kinds = {*NUMPY_TYPES, "tensor(string)", "tensor(bool)"}
    are_columns = all(each.type in kinds and each.shape[1:] in ([], [1]) for each in inputs)
    return are_columns and (len(inputs) > 1 or inputs[0].type == "tensor(string)")


def _run_columns(session: Any, inputs: Mapping[str, tuple[str, list[Any]]], target: str, rows: Any) -> Any:
    """Compute the named output for the columns of a table, or of an array in their order."""
    by_name = rows if hasattr(rows, "iloc") else dict(zip(inputs, np.asarray(rows).T, strict=True))
    given = {}
    for name, (kind, shape) in inputs.items():
        values = np.asarray(by_name[name])
        if kind == "tensor(string)":
            column = np.array([_write_word(value, name) for value in values.tolist()], object)
        elif np.issubdtype(wanted := NUMPY_TYPES.get(kind, np.bool_), np.floating):
            column = np.asarray(by_name[name], np.float64).astype(wanted)
        else:
            if any(value is None or value != value for value in values.tolist()):
                raise ValueError(f"{name} takes whole numbers, and none that is missing")
            column = values.astype(wanted)
        given[name] = column[:, None] if shape[1:] else column
    return session.run([target], given)[0]


def _write_word(value: Any, name: str) -> str:
    """A value as an input of words takes it; refuse a missing one."""
    from hornbook.conditions import write_value  # with pandas, without which files of models are tried

    if value is None or value != value:
        raise ValueError(f"{name} takes words, and none that is missing")
    return value if isinstance(value, str) else write_value(value)


def _read_maps(run: Any, classes: list[Any], array: NDArray[Any]) -> NDArray[Any]:
    """The numbers of all classes, (rows, classes)."""
    return np.array([[each[label] for label in classes] for each in run(array)], np.float32)


def _decide_by_label(run: Any, label: Any, array: NDArray[Any]) -> NDArray[Any]:
    decided: NDArray[Any] = np.asarray(run(array)) == label
    return decided


def _number_labels(run: Any, classes: list[Any], array: NDArray[Any]) -> NDArray[np.intp]:
    return number_labels(np.asarray(run(array)), classes)


def _infer_output(session: Any, target: str, name: str) -> Output:
    last = _last_operator(session, target)
    if last not in INFERRED:
        raise unknown_output_error(name)
    return INFERRED[last]


def session_model(session: Any) -> Any:
    """Return the model that a session runs; None if it is not accessible."""
    onnx = library("onnx", "onnx")
    # onnxruntime does not tell the graph, only privately what it was read from
    path, content = (getattr(session, part, None) for part in ("_model_path", "_model_bytes"))
    if not path and not content:
        return None
    return onnx.load(path, load_external_data=False) if path else onnx.load_from_string(content)


def _nodes(session: Any, operators: Collection[str]) -> list[Any]:
    """Return the nodes of a session's graph with these operators; none if it is not accessible."""
    model = session_model(session)
    return [] if model is None else [node for node in model.graph.node if node.op_type in operators]


def _classes(session: Any) -> list[Any] | None:
    """Return the labels of the probability columns if a classifier in the graph names them."""
    attributes = [attribute for node in _nodes(session, CLASSIFIERS) for attribute in node.attribute]
    named = [attribute for attribute in attributes if attribute.name.startswith("classlabels_")]
    labels = [list(each.ints) or [label.decode() for label in each.strings] for each in named]
    distinct = [each for number, each in enumerate(labels) if each and each not in labels[:number]]
    return distinct[0] if len(distinct) == 1 else _extracted_classes(session)


def _extracted_classes(session: Any) -> list[Any] | None:
    """Return the labels that the graph takes one of by its number, if it does so once."""
    onnx, model = library("onnx", "onnx"), session_model(session)
    if model is None:
        return None
    values = {each.name: each for each in model.graph.initializer}
    taken = [node.input[0] for node in _nodes(session, ("ArrayFeatureExtractor",)) if node.input[0] in values]
    if len(taken) != 1:
        return None
    labels = onnx.numpy_helper.to_array(values[taken[0]]).ravel().tolist()
    return [each.decode() if isinstance(each, bytes) else each for each in labels]


def _last_operator(session: Any, target: str) -> str:
    """Return the operator of the named output; empty if it is not accessible."""
    model = session_model(session)
    if model is None:
        return ""
    producer = {result: node for node in model.graph.node for result in node.output}
    node = producer.get(target)
    while node is not None and node.op_type in SHAPING:
        node = producer.get(node.input[0])
    if node is not None and node.op_type == "Add":
        terms = [producer[term].op_type for term in node.input if term in producer]
        return terms[0] if len(terms) == 1 else "Add"
    return "" if node is None else str(node.op_type)
