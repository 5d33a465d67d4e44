"""What is learned about a model that says nothing of itself, by asking it: what it reads, and its classes.

A plain function, or an object with `predict` alone, has no names of columns and no `classes_`. It is given
rows as the user gave them. Its classes are its answers about the rows of the table: words, truth values or
whole numbers are labels, several numbers a row are scores of classes, and numbers between 0 and 1 are scores
of the second of two.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.code_book import EMPTY_BOOK, CodeBook, spell_key
from hornbook.errors import HornbookError, ModelError, ModelTimeout
from hornbook.models.adapters import as_predictor
from hornbook.models.answers import OutOfAnswersError, afford, hash_rows
from hornbook.models.inputs import ROWS_ASKED, read_numbers
from hornbook.models.loading import load_model
from hornbook.models.outputs import SCORE_ROUNDING, flatten_column, number_labels, one_hot
from hornbook.models.predictor import Predictor, RemoteModel
from hornbook.tables import GivenForm, restore_times

CLASSES_SHARE = 0.25
"""The share of a budget that is spent on finding out what a model answers."""

MAX_LABELS = 50
"""The most different whole numbers that are taken for labels."""


def find_predictor(model: Any, frame: pd.DataFrame) -> tuple[Predictor, tuple[Any, ...]]:
    """A model as one function for all its classes, and the classes; of two it decides for the second.

    A model that does not say its classes is asked about the rows.
    """
    model, times = _load_classifier(model), GivenForm.of(frame).times
    if isinstance(model, RemoteModel):
        model.find_classes(restore_times(frame, times))
    if not isinstance(model, Predictor):
        names = _list_declared(model)
        predictor = as_predictor(model, positive=names[0] if len(names) > 2 else None)
    elif model.threshold is not None and _scores_second(model):
        return replace(model, times=times), model.classes or ()
    elif model.positive is not None or model.threshold is not None:  # it decides for one class, or not
        return replace(model, classes=None, times=times), (0, 1)
    else:
        predictor = model
    predictor = choose_form(replace(predictor, times=times), frame)
    if predictor.classes is None:
        predictor = find_answered_classes(predictor, frame)
    classes = predictor.classes or ()
    if len(classes) == 2:
        return view_class(predictor, 1), classes
    return replace(predictor, column=None, positive=None), classes


def _scores_second(predictor: Predictor) -> bool:
    """Whether a model has two classes, and scores the second of them."""
    classes = predictor.classes or ()
    return len(classes) == 2 and predictor.positive in (None, classes[1])


def predict_two_classes(
    model: Any, frame: pd.DataFrame, reads_columns: bool = False
) -> tuple[Predictor, tuple[Any, ...]]:
    """The model as a function that decides for the second of its two classes; and both classes.

    A function that `reads_columns`, and does not say its classes, is asked about the rows.
    """
    model, times = _load_classifier(model), GivenForm.of(frame).times
    if isinstance(model, Predictor):
        return replace(model, times=times), (model.classes or ()) if _scores_second(model) else (0, 1)
    if isinstance(model, RemoteModel):
        model.find_classes(restore_times(frame, times))
    declared = tuple(_list_declared(model))
    classes = declared or (0, 1)
    if len(classes) == 2:
        predictor = as_predictor(model)
        if reads_columns and predictor.takes_any_form and not declared:
            predictor, classes = find_predictor(model, frame)
    if len(classes) != 2:
        raise HornbookError(
            f"{type(model).__name__} has {len(classes)} classes, and queries are about one of two; say which "
            f"one counts as true: as_predictor(model, positive={classes[0]!r}); on the command line, extract "
            f"explains all, and --train --positive {classes[0]} one"
        )
    return replace(predictor, times=times), classes


def _load_classifier(model: Any) -> Any:
    """The model, or the one in a file; refuse a regressor."""
    if isinstance(model, str | Path):
        model = load_model(model)
    if hasattr(model, "__sklearn_tags__"):
        from sklearn.base import is_regressor

        if is_regressor(model):
            raise HornbookError(
                f"{type(model).__name__} predicts numbers, and an explanation needs classes; say from which "
                "number on it says yes, or which ranges there are: as_predictor(model, threshold=10) or "
                "as_predictor(model, bands=[10, 20]) (--bands 10,20)"
            )
    return model


def _list_declared(model: Any) -> list[Any]:
    """The classes that a model with methods says it has."""
    has_methods = (
        hasattr(model, "predict") or hasattr(model, "predict_proba") or isinstance(model, RemoteModel)
    )
    return list(np.asarray(getattr(model, "classes_", ())).tolist()) if has_methods else []


def choose_form(predictor: Predictor, frame: pd.DataFrame) -> Predictor:
    """The predictor with the form in which its model takes rows of a table, if it says nothing of that.

    This is the form in which the user gave them. A model that fails on these rows, and answers about them
    as an array of numbers, is given such arrays. One that was trained on an array is given an array: of
    numbers, if it answers about them.
    """
    if not predictor.takes_any_form or predictor.list_columns(list(frame.columns)):
        return predictor
    # as many rows as columns would hide that a function takes one for the other
    rows = _list_complete(frame).head(ROWS_ASKED + (frame.shape[1] == ROWS_ASKED))
    given = GivenForm.of(frame)
    numbers = partial(read_numbers, dtype=predictor.dtype, name=predictor.name)
    forms = (given, numbers) if predictor.inputs is None else (numbers, given.as_array())
    for form in forms:
        candidate = replace(predictor, form=form)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                candidate.raw_answers(candidate.read(rows))
            except ModelTimeout:
                raise
            except HornbookError:
                continue
        return replace(predictor, form=form)
    return replace(predictor, form=forms[0])


def find_answered_classes(predictor: Predictor, frame: pd.DataFrame) -> Predictor:
    """The predictor of a model that does not say its classes, with those that it answers about rows.

    Examples
    --------
    >>> rows = pd.DataFrame({"age": [20.0, 40.0, 60.0]})
    >>> model = as_predictor(lambda rows: np.where(rows[:, 0] > 50, "old", "young"))
    >>> predictor = find_answered_classes(choose_form(model, rows), rows)
    >>> predictor.classes, predictor.classify_rows(predictor.read(rows))
    (('old', 'young'), array([1, 1, 0]))

    """
    declared = getattr(predictor.source, "classes_", None)
    names = None if declared is None else tuple(np.asarray(declared).tolist())
    answers = _answer_table(predictor, frame)
    if answers.ndim > 1:
        return _name_columns(predictor, names, answers.shape[1])
    labels = None
    if predictor.output == "score":
        labels = _list_answered_labels(answers, predictor.name, names)
    columns = _count_probabilities(predictor, frame)
    if columns > 2 and set(labels or ()) <= set(range(columns)):
        labels = tuple(range(columns))  # though some may be answered about no row
    if labels is None and names is None and np.issubdtype(answers.dtype, np.integer):
        labels = (0, 1)
    if labels is None:  # a number from 0 to 1 is a score
        return replace(predictor, classes=(False, True) if answers.dtype == np.bool_ else names or (0, 1))
    number = partial(_number_answers, predictor.outputs, predictor.name, labels)
    return replace(predictor, outputs=partial(one_hot, number, len(labels)), classes=labels, labels=number)


def view_class(predictor: Predictor, number: int) -> Predictor:
    """A model with classes as one that decides for one of them."""
    assert predictor.classes is not None
    return replace(predictor, column=number, positive=predictor.classes[number])


def _list_complete(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows without missing values; if there are none, rows whose missing values are filled in."""
    complete = frame.dropna()
    if len(complete):
        return complete
    filled = frame.copy()
    for name, values in frame.items():
        known = values.dropna()
        if len(known):
            filled[name] = values.where(values.notna(), known.iloc[0])
    return filled


def _answer_table(predictor: Predictor, frame: pd.DataFrame) -> NDArray[Any]:
    """A model's answers about different rows of a table: complete ones, and the others if it has any."""
    places = np.sort(np.unique(hash_rows(frame), return_index=True)[1])
    if (count := afford(len(places), CLASSES_SHARE)) < len(places):
        places = places[np.linspace(0, len(places) - 1, count).astype(np.intp)]
    frame = frame.iloc[places]
    complete = _list_complete(frame)
    answers = predictor.raw_answers(predictor.read(complete))
    if len(complete) == len(frame):
        return answers
    try:
        holed = frame[frame.isna().any(axis=1)]
        others = predictor.raw_answers(predictor.read(holed))
    except (ModelTimeout, OutOfAnswersError):
        raise
    except HornbookError:  # it takes no missing values
        return answers
    same_kind = others.ndim == answers.ndim and not pd.isna(others).any()
    return np.concatenate([answers, others]) if same_kind else answers


def _name_columns(predictor: Predictor, names: tuple[Any, ...] | None, columns: int) -> Predictor:
    if names is not None and len(names) != columns:
        raise HornbookError(
            f"{predictor.name} has {len(names)} classes and answers with {columns} numbers a row; "
            "give a number for each class"
        )
    return replace(predictor, classes=names or tuple(range(columns)))


def _list_answered_labels(
    answers: NDArray[Any], name: str, declared: tuple[Any, ...] | None
) -> tuple[Any, ...] | None:
    """The labels of a model: those that it declares, or the words and whole numbers that it answers."""
    advice = None if declared is not None else ": model.classes_ = […]"
    labels = list_labels(pd.unique(answers).tolist(), name, ": as_predictor(model, threshold=…)", advice)
    if labels is None or declared is not None:
        return None if labels is None else declared
    return tuple(each if isinstance(each, str) else int(each) for each in labels)


def list_labels(distinct: list[Any], name: str, threshold: str, classes: str | None) -> list[Any] | None:
    """The labels among a model's different answers; None if they are scores from 0 to 1, or 0 and 1.

    `threshold` and `classes` are how a user says from which number on the model says yes, and what its
    classes are, if it does not say so itself.
    """
    if not all(isinstance(each, str) for each in distinct):
        if not all(isinstance(each, int | float) for each in distinct):
            kinds = " and ".join(repr(each) for each in distinct[:2])
            raise ModelError(f"{name} answers rows with {kinds}; give each a word, or a number")
        if all(-SCORE_ROUNDING <= each <= 1 + SCORE_ROUNDING for each in distinct):
            return None
        if len(distinct) > MAX_LABELS or not all(float(each).is_integer() for each in distinct):
            raise HornbookError(describe_numbers(name, max(distinct), threshold))
    if classes is not None and len(distinct) < 2:
        raise HornbookError(
            f"{name} answers every row with {distinct[0]!r}, and an explanation needs two classes; give rows "
            f"on which it answers otherwise, or say all its classes{classes}"
        )
    return sorted(distinct)


def describe_numbers(name: str, number: float, threshold: str) -> str:
    """Say that a model answers with numbers, and how a user makes classes of them."""
    return (
        f"{name} answers with numbers, such as {number:g}, and an explanation needs classes; say from which "
        f"number on it says yes{threshold}"
    )


def _count_probabilities(predictor: Predictor, frame: pd.DataFrame) -> int:
    """The number of columns of a model's probabilities beside its labels; 0 if it has none."""
    if not all(hasattr(predictor.source, method) for method in ("predict", "predict_proba")):
        return 0
    scorer = replace(predictor, outputs=predictor.source.predict_proba)
    probabilities = scorer.raw_answers(scorer.read(_list_complete(frame).head(1)))
    return probabilities.shape[1] if probabilities.ndim == 2 else 0


def _number_answers(
    ask: Callable[[Any], Any], name: str, classes: tuple[Any, ...], rows: Any
) -> NDArray[np.intp]:
    answers = flatten_column(ask(rows))
    numbers = number_labels(answers, classes)
    if (numbers < 0).any():
        strange = answers[numbers < 0][:1].tolist()[0]
        raise ModelError(
            f"{name} answers a row with {strange!r}, which it answered about no row of the table; say all "
            "its classes: model.classes_ = […]"
        )
    return numbers


def match_classes(
    old: Sequence[Any], new: Sequence[Any], code_book: CodeBook = EMPTY_BOOK
) -> tuple[tuple[Any, ...], tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The classes of both sides together, and the number of each of theirs among them.

    Classes are the same if they are written alike, or if the code book calls them alike. Which
    is which is never guessed.

    Examples
    --------
    >>> match_classes((0, 1), (True, False))
    ((0, 1), (array([0, 1]), array([1, 0])))
    >>> match_classes(("no", "yes"), (0, 1), CodeBook(classes={"0": "no", "1": "yes"}))[1]
    (array([0, 1]), array([0, 1]))

    """
    book = {spell_key(key): name for key, name in code_book.classes.items()}
    keys = [[book.get(spell_key(name), spell_key(name)) for name in classes] for classes in (old, new)]
    if not set(keys[0]) & set(keys[1]):
        raise HornbookError(
            f"there is no class in common: one side says {', '.join(keys[0])}, the other "
            f'{", ".join(keys[1])}; say what is what in the code book, as in [classes] 0 = "no"'
        )
    joint = list(dict.fromkeys([*keys[0], *keys[1]]))
    named: dict[str, Any] = {}
    for key, name in zip([*keys[0], *keys[1]], [*old, *new], strict=True):
        if key not in named or spell_key(name) in book:  # the code book speaks of these
            named[key] = name
    numbers = [np.array([joint.index(key) for key in own], np.intp) for own in keys]
    return tuple(named[key] for key in joint), (numbers[0], numbers[1])
