"""Adapter for models behind an endpoint: their answers become classes, scores and decisions.

A server answers with a label a row (a word, a whole number, true or false), a number, or a list of
numbers, one a class. A number from 0 to 1 is the score of the second of two classes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import ModelError
from hornbook.logic import Bools
from hornbook.models.classes import describe_numbers, list_labels
from hornbook.models.outputs import Output, class_column, class_scores, decide_for, positive_scores
from hornbook.models.predictor import Predictor
from hornbook.remote.protocols import shorten

if TYPE_CHECKING:
    from hornbook.remote.endpoint import Endpoint

TWO_CLASSES = (0, 1)
"""The classes of a server that says nothing about them."""

THRESHOLD_ADVICE = ", in a TOML file: threshold = …"
"""How a user says from which number on a server says yes."""


def adapt(model: Endpoint, name: str, positive: Any, output: Output | None) -> Predictor:
    """The score of the positive class, and the server's own decision.

    Labels decide as they are; of several numbers the largest decides, the first of equal ones; a
    single number decides for the second class from ½ on, or from the threshold of the settings on.
    """
    classes = list(model.classes_ or TWO_CLASSES)
    column = class_column(classes, positive, name)
    labels = partial(number_rows, model, output)
    return Predictor(
        partial(score_classes, model, output),
        name,
        positive=classes[column],
        column=column,
        output="probability" if output in ("probability", "logit") else "score",
        names=model.columns,
        inputs=None if model.columns is None else len(model.columns),
        dtype=np.float64,
        decisions=partial(decide_for, labels, column),
        classes=tuple(classes),
        labels=labels,
        form=_keep,
    )


def _keep(rows: Any) -> Any:
    """Rows as they are, words and all."""
    return rows


def find_classes(model: Endpoint, rows: Any) -> tuple[Any, ...] | None:
    """The classes of a server by its answers about rows; None without any."""
    answers = [_unwrap(each) for each in model.answer_rows(rows)]
    if not answers:
        return None
    if isinstance(answers[0], dict):
        classes = tuple(answers[0])
    elif isinstance(answers[0], list):
        classes = tuple(range(len(answers[0])))
    else:
        classes = _list_labels(model, answers)
    if len(classes) < 2:
        raise ModelError(
            f"{model.settings.url} answers with {shorten(answers[0])}, which is about no two classes"
        )
    return classes


def _unwrap(answer: Any) -> Any:
    """The only item of a list of one, which some servers make of a number."""
    return answer[0] if isinstance(answer, list) and len(answer) == 1 else answer


def score_classes(model: Endpoint, output: Output | None, rows: Any) -> NDArray[Any]:
    """The score of each class for each row, shape (rows, classes)."""
    answers = read_answers(model, model.answer_rows(rows))
    if answers.dtype == np.intp:
        own: NDArray[np.float64] = np.eye(len(model.classes_ or TWO_CLASSES))[answers]
        return own
    return class_scores(answers, output or "score", model.name)


def number_rows(model: Endpoint, output: Output | None, rows: Any) -> NDArray[np.intp]:
    """The number of the class that the server decides for, for each row."""
    answers, threshold = read_answers(model, model.answer_rows(rows)), model.settings.threshold
    if answers.dtype == np.intp:
        return answers
    if threshold is not None:
        second: Bools = positive_scores(answers, 1, output or "score", model.name) >= np.float32(threshold)
        return second.astype(np.intp)
    if answers.ndim == 2:
        largest: NDArray[np.intp] = answers.argmax(axis=1)
        return largest
    if output is None and (outside := answers[(answers < 0) | (answers > 1)]).size:
        raise ModelError(describe_numbers(model.settings.url, outside[0], THRESHOLD_ADVICE))
    second = answers >= (0.0 if output == "logit" else 0.5)
    return second.astype(np.intp)


def read_answers(model: Endpoint, answers: list[Any]) -> NDArray[Any]:
    """Answers as numbers of classes, or as scores of shape (rows,) or (rows, classes).

    The data type tells which: class numbers are `intp`, scores are `float64`.
    """
    classes, answers = model.classes_ or TWO_CLASSES, [_unwrap(each) for each in answers]
    if answers and isinstance(answers[0], dict):
        answers = [
            [each.get(str(name)) for name in classes] if isinstance(each, dict) else each for each in answers
        ]
    if answers and isinstance(answers[0], list):
        return _read_scores(model, answers, (len(answers), len(classes)))
    try:
        numbers = {label: number for number, label in enumerate(classes)}
        labels = [numbers.get(each) for each in answers]
    except TypeError:  # a list or an object among them
        return _read_scores(model, answers, (len(answers),))
    if None not in labels:
        return np.array(labels, np.intp)
    if len(classes) == 2:
        return _read_scores(model, answers, (len(answers),))
    return np.array([_number_class(model, numbers, each) for each in answers], np.intp)


def _read_scores(model: Endpoint, answers: list[Any], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Numbers as an array of the given shape; raise for anything else."""
    try:
        scores = np.array(answers, np.float64)
    except (TypeError, ValueError):
        scores = np.full(shape, np.nan)  # such as rows of several lengths
    if scores.shape == shape and np.isfinite(scores).all():
        return scores
    if len(shape) == 2 and scores.shape[1:] != shape[1:]:
        raise ModelError(
            f"{model.settings.url} gives {scores.shape[1]} numbers a row, and there are {shape[1]} classes; "
            "name them in a TOML file: classes = […]"
        )
    wrong = next(each for each in answers if not _is_score(each, shape[1:]))
    raise ModelError(
        f"{model.settings.url} answered a row with {shorten(wrong)}, which is not a score and none of the "
        f"classes {list(model.classes_ or TWO_CLASSES)}; name the classes in a TOML file: classes = […]"
    )


def _is_score(answer: Any, shape: tuple[int, ...]) -> bool:
    """Whether the answer about a row is a finite number, or a list of as many as the shape says."""
    if shape:
        return (
            isinstance(answer, list)
            and len(answer) == shape[0]
            and all(_is_score(each, ()) for each in answer)
        )
    return isinstance(answer, int | float) and bool(np.isfinite(answer))


def _number_class(model: Endpoint, numbers: dict[Any, int], answer: Any) -> int:
    """The number of a class, which is a label or that number itself."""
    if answer in numbers:
        return numbers[answer]
    if isinstance(answer, int) and 0 <= answer < len(numbers):
        return answer
    raise ModelError(
        f"{model.settings.url} answered a row with {shorten(answer)}, which is none of the classes "
        f"{list(numbers)}; name all of them in a TOML file: classes = […]"
    )


def _list_labels(model: Endpoint, answers: list[Any]) -> tuple[Any, ...]:
    """The classes of a server that gives one label or number a row."""
    try:
        distinct = [*dict.fromkeys(answers)]
    except TypeError:  # lists and objects
        distinct = answers
    labels = list_labels(distinct, model.settings.url, THRESHOLD_ADVICE, ", in a TOML file: classes = […]")
    return TWO_CLASSES if labels is None else tuple(labels)
