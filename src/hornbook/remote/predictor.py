"""Adapter for models behind an endpoint: their answers become classes, scores and decisions.

A server answers with a label a row (a word, a whole number, true or false), a number, or a list of
numbers, one a class. A number from 0 to 1 is the score of the second of two classes.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import ModelError
from hornbook.logic import Bools
from hornbook.models.classes import describe_numbers, list_labels
from hornbook.models.outputs import Output, class_column, class_scores, positive_scores
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
    column, columns = class_column(classes, positive, name), model.settings.columns
    labels = partial(number_rows, model, output)
    return Predictor(
        partial(score_classes, model, output),
        name,
        positive=classes[column],
        column=column,
        output="probability" if output in ("probability", "logit") else "score",
        names=columns,
        inputs=None if columns is None else len(columns),
        dtype=np.float64,
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
    """The score of each class for each row, shape (rows, classes); a label is 1 for its class."""
    answers = unwrap_answers(model, model.answer_rows(rows))
    if (labels := read_labels(model, answers)) is not None:
        own: NDArray[np.float64] = np.eye(len(model.classes_ or TWO_CLASSES))[labels]
        return own
    return class_scores(read_scores(model, answers), output or "score", model.name)


def number_rows(model: Endpoint, output: Output | None, rows: Any) -> NDArray[np.intp]:
    """The number of the class that the server decides for, for each row."""
    answers, threshold = unwrap_answers(model, model.answer_rows(rows)), model.settings.threshold
    if (labels := read_labels(model, answers)) is not None:
        return labels
    scores = read_scores(model, answers)
    if threshold is not None:
        second: Bools = positive_scores(scores, 1, output or "score", model.name) >= np.float32(threshold)
        return second.astype(np.intp)
    if scores.ndim == 2:
        largest: NDArray[np.intp] = scores.argmax(axis=1)
        return largest
    if output is None and (outside := scores[(scores < 0) | (scores > 1)]).size:
        raise ModelError(describe_numbers(model.settings.url, outside[0], THRESHOLD_ADVICE))
    second = scores >= (0.0 if output == "logit" else 0.5)
    return second.astype(np.intp)


def unwrap_answers(model: Endpoint, answers: list[Any]) -> list[Any]:
    """Answers as labels, numbers or lists of numbers, one a class; an object has a number for each class."""
    answers, classes = [_unwrap(each) for each in answers], model.classes_ or TWO_CLASSES
    if answers and isinstance(answers[0], dict):
        answers = [
            [each.get(str(name)) for name in classes] if isinstance(each, dict) else each for each in answers
        ]
    return answers


def read_labels(model: Endpoint, answers: list[Any]) -> NDArray[np.intp] | None:
    """The numbers of the classes that the answers name; None if they are not all labels."""
    numbers = {label: number for number, label in enumerate(model.classes_ or TWO_CLASSES)}
    labels = [_find_label(each, numbers) for each in answers]
    return None if None in labels else np.array(labels, np.intp)


def read_scores(model: Endpoint, answers: list[Any]) -> NDArray[np.float64]:
    """Answers as scores, of shape (rows,) where a row has one number, else (rows, classes)."""
    classes = model.classes_ or TWO_CLASSES
    width = len(classes) if isinstance(answers[0], list) else 0
    for each in answers:
        if not (_is_score(each, width) and (width or len(classes) == 2)):
            raise ModelError(
                f"{model.settings.url} answered a row with {shorten(each)}, which is not a score and none of "
                f"the classes {list(classes)}; name the classes in a TOML file: classes = […]"
            )
    return np.array(answers, np.float64)


def _find_label(answer: Any, numbers: dict[Any, int]) -> int | None:
    """The number of a class that an answer names, or is where there are more than two; None of others."""
    if isinstance(answer, list | dict):
        return None
    if answer not in numbers and isinstance(answer, int) and 0 <= answer < len(numbers) > 2:
        return answer
    return numbers.get(answer)


def _is_score(answer: Any, width: int) -> bool:
    """Whether the answer about a row is a finite number, or a list of as many as the width says."""
    if width:
        return (
            isinstance(answer, list) and len(answer) == width and all(_is_score(each, 0) for each in answer)
        )
    return isinstance(answer, int | float) and abs(answer) < math.inf


def _list_labels(model: Endpoint, answers: list[Any]) -> tuple[Any, ...]:
    """The classes of a server that gives one label or number a row."""
    try:
        distinct = [*dict.fromkeys(answers)]
    except TypeError:  # lists and objects
        distinct = answers
    labels = list_labels(distinct, model.settings.url, THRESHOLD_ADVICE, ", in a TOML file: classes = […]")
    return TWO_CLASSES if labels is None else tuple(labels)
