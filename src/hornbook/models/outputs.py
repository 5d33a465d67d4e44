"""From a model's outputs to scores of classes, leads over other classes, and labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Bools

Floats: TypeAlias = NDArray[np.float32]


Output: TypeAlias = Literal["probability", "logit", "score"]
"""`probability`: 0 to 1. `logit`: a sigmoid or softmax is still to come. `score`: any number."""


SCORE_ROUNDING = 1e-5
"""Maximum rounding error of a score beyond 0 and 1."""

SMALLEST_MARGIN = float(np.finfo(np.float32).tiny)
"""The smallest positive normal number, for margins just below 0."""


def positive_scores(raw: NDArray[Any], column: int | None, output: Output, source: str) -> Floats:
    """One score each from outputs of shape (k,), (k, 1) or (k, classes).

    A single number is about class 1 of two. Of two columns the second is the positive class
    unless `column` says otherwise; of more, `column` must say.

    Examples
    --------
    >>> positive_scores(np.array([[0.9, 0.1], [0.2, 0.8]]), None, "probability", "model")
    array([0.1, 0.8], dtype=float32)
    >>> positive_scores(np.array([[0.0], [4.0]]), 0, "logit", "model").round(2)
    array([0.5 , 0.02], dtype=float32)

    """
    scores = class_scores(raw, output, source)
    classes = scores.shape[1]
    if column is None and classes > 2:
        raise HornbookError(f"{source}: there are {classes} classes; say which is positive, e.g. positive=1")
    column = 1 if column is None else column
    if column >= classes:
        raise HornbookError(f"{source}: there is no class {column}, only 0 to {classes - 1}")
    return scores[:, column]


def class_scores(raw: NDArray[Any], output: Output, source: str) -> Floats:
    """The score of each class from outputs of shape (k,), (k, 1) or (k, classes), as `positive_scores`.

    Examples
    --------
    >>> class_scores(np.array([0.25, 1.0]), "probability", "model")
    array([[0.75, 0.25],
           [0.  , 1.  ]], dtype=float32)

    """
    if raw.ndim > 2 or raw.shape[-1] == 0:
        raise HornbookError(f"{source}: expected one score or one row of scores each, got shape {raw.shape}")
    if is_single(raw):
        second = _sigmoid(raw.reshape(-1)) if output == "logit" else raw.reshape(-1)
        return as_floats(np.stack([1 - second, second], axis=1))
    return as_floats(_softmax(raw) if output == "logit" else raw)


def positive_leads(raw: NDArray[Any], column: int | None, output: Output, scores: Floats) -> Floats:
    """Half of the positive class's lead over the best other class; negative where another is predicted.

    Of several outputs the largest is the prediction, the first of equal ones. A single output of at
    least ½, or a logit of at least 0, predicts class 1: a convention, since such a model has none.

    Parameters
    ----------
    raw, column, output
        As for `positive_scores`.
    scores
        The result of that function.

    Examples
    --------
    >>> raw = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    >>> positive_leads(raw, 0, "probability", positive_scores(raw, 0, "probability", "model"))
    array([ 0.4,  0. , -0.3], dtype=float32)
    >>> positive_leads(raw, 1, "probability", positive_scores(raw, 1, "probability", "model")) >= 0
    array([False, False,  True])

    """
    column = 1 if column is None else column
    decided = choose_classes(raw, output) == column
    if is_single(raw):
        return agree_in_sign(scores - 0.5, decided)
    shares = _softmax(raw) if output == "logit" else raw
    others = np.delete(shares, column, axis=1)
    return agree_in_sign(as_floats((shares[:, column] - others.max(axis=1)) / 2), decided)


def choose_classes(raw: NDArray[Any], output: Output) -> NDArray[np.intp]:
    """The number of the class that the outputs about each row decide for, as for `positive_leads`."""
    if is_single(raw):
        return (raw.reshape(-1) >= (0.0 if output == "logit" else 0.5)).astype(np.intp)
    numbers: NDArray[np.intp] = raw.argmax(axis=1)
    return numbers


def agree_in_sign(leads: Floats, decided: Bools) -> Floats:
    """Move leads that contradict the decisions to 0, or to the largest number below it.

    Examples
    --------
    >>> agree_in_sign(np.array([0.3, 0.0, -0.1], np.float32), np.array([True, False, True])) >= 0
    array([ True, False,  True])

    """
    agreeing: Floats = np.where(decided, leads.clip(0), leads.clip(None, -SMALLEST_MARGIN))
    return agreeing


def one_hot(labels: Callable[[Any], NDArray[np.intp]], classes: int, rows: Any) -> Floats:
    """1 for the class of each row and 0 for the others, as scores, (rows, classes)."""
    scores: Floats = np.eye(classes, dtype=np.float32)[labels(rows)]
    return scores


def is_single(raw: NDArray[Any]) -> bool:
    """Whether there is one number a row: the score of class 1 of two."""
    return raw.ndim == 1 or raw.shape[1] == 1


def as_floats(numbers: Any) -> Floats:
    """Convert an array to `float32`."""
    floats: Floats = numbers.astype(np.float32, copy=False)
    return floats


def class_column(classes: list[Any], positive: Any, name: str) -> int:
    """The position of the positive class among the labels; by default the second of two."""
    if positive is None and len(classes) != 2:
        raise HornbookError(
            f"{name} knows the classes {classes}; say which is positive, e.g. positive={classes[0]!r} in "
            f"Python; on the command line, extract explains all, and --train --positive {classes[0]} one"
        )
    if positive is not None and positive not in classes:
        raise HornbookError(f"{name} knows no class {positive!r}; its classes are {classes}")
    return 1 if positive is None else classes.index(positive)


def plain_labels(classes: Any) -> list[Any]:
    """Convert labels to plain Python values, which read better in messages."""
    return list(np.asarray(classes).tolist())


def flatten_column(answers: Any) -> NDArray[Any]:
    """A model's answers as they are, one a row; the only column of a table of one, as CatBoost gives it."""
    given = np.asarray(answers)
    return given.reshape(-1) if given.ndim == 2 and given.shape[1] == 1 else given


def number_labels(labels: NDArray[Any], classes: Sequence[Any]) -> NDArray[np.intp]:
    """The number of the class that each label names; -1 for one that names none.

    Examples
    --------
    >>> number_labels(np.array(["b", "a", "c"]), ["a", "b"])
    array([ 1,  0, -1])

    """
    numbers = np.full(labels.shape, -1, np.intp)
    for number, name in enumerate(classes):
        numbers[labels == name] = number
    return numbers


def positive_column(positive: Any, name: str) -> int | None:
    """The output column of the positive class of a model without class names; None if it is not given."""
    if positive is None:
        return None
    if isinstance(positive, int | np.integer) and positive >= 0:
        return int(positive)
    raise HornbookError(f"{name} knows no class names; positive is a column of its output, not {positive!r}")


def _sigmoid(logits: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore"):  # e^x for a large x is infinite, and the score rightly 0
        probabilities: NDArray[Any] = 1 / (1 + np.exp(-logits))
    return probabilities


def _softmax(logits: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(invalid="ignore"):  # ∞ - ∞ is NaN, which the caller refuses
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities: NDArray[Any] = powers / powers.sum(axis=1, keepdims=True)
    return probabilities


def refuse_output(output: Output | None, name: str) -> None:
    """Refuse `output` for a model whose kind of output is known."""
    if output is not None:
        raise HornbookError(f"the kind of output of {name} is known; leave output={output!r} out")


def refuse_positive(positive: Any, name: str) -> None:
    """Refuse `positive` for a model without classes."""
    if positive is not None:
        raise HornbookError(f"{name} has no classes, so none is positive; leave positive={positive!r} out")


def unknown_output_error(name: str) -> HornbookError:
    """The error for a network whose kind of output cannot be inferred."""
    return HornbookError(
        f"cannot tell whether {name} gives probabilities or logits; "
        "pass output='probability' or output='logit'"
    )
