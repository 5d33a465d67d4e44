"""The teacher: a classifier bound to a table, which answers about rows as the model reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.distributions import RowSampler
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary
from hornbook.models import (
    COMPLETE,
    ENCODINGS,
    Endpoint,
    Predictor,
    as_predictor,
    columns_with_missing,
    find_classes,
    load_model,
)
from hornbook.randomness import Purpose, generator

DONORS = 32
"""Rows whose values fill in what a model cannot read as missing."""

COMPLETED_ROWS = 1 << 14
"""Number of completed rows that a model is asked about at a time."""


@dataclass(frozen=True, eq=False)
class Donors:
    """The policy for models that take no missing values: rows are completed by values of other rows.

    A row with missing values gets the class that most of its completions get, one with the values
    of each donor; the first of equals. So the answer about a row depends on that row alone.

    Parameters
    ----------
    rows
        Complete rows of the table.
    columns
        The columns in which the model takes no missing values.

    """

    rows: pd.DataFrame
    columns: frozenset[str]

    def find_incomplete(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Which rows have to be completed."""
        names = [name for name in frame.columns if name in self.columns]
        needed: NDArray[np.bool_] = frame[names].isna().any(axis=1).to_numpy()
        return needed

    def complete(self, frame: pd.DataFrame, donor: int) -> pd.DataFrame:
        """The rows with the values of one donor where the model needs one."""
        given = self.rows.iloc[donor]
        filled = {
            name: values.where(values.notna(), given[name]) if name in self.columns else values
            for name, values in frame.items()
        }
        return pd.DataFrame(filled)


@dataclass(frozen=True, eq=False)
class ClassifierTeacher:
    """A classifier bound to the rows of a table.

    Parameters
    ----------
    classify
        The model: the number of the class of each row of a frame, as its own `predict` says.
    classes
        What the model calls its classes.
    frame
        The rows.
    sampler
        Where samples come from: rows with columns exchanged between them.
    donors
        How rows are completed for a model that takes no missing values; None for one that does.

    """

    classify: Callable[[pd.DataFrame], NDArray[np.intp]]
    classes: tuple[Any, ...]
    frame: pd.DataFrame
    sampler: RowSampler
    donors: Donors | None = None

    def labels(self, rows: pd.DataFrame) -> NDArray[np.intp]:
        """The number of the model's class for each row."""
        if not len(rows):
            return np.zeros(0, np.intp)
        if self.donors is None or not (needed := self.donors.find_incomplete(rows)).any():
            return self.classify(rows)
        numbers = np.empty(len(rows), np.intp)
        if not needed.all():
            numbers[~needed] = self.classify(rows[~needed])
        holes = rows[needed]
        votes = np.zeros((len(holes), len(self.classes)), np.intp)
        count, step = len(self.donors.rows), max(1, COMPLETED_ROWS // len(holes))
        for start in range(0, count, step):
            donors = range(start, min(start + step, count))
            completed = pd.concat([self.donors.complete(holes, donor) for donor in donors], ignore_index=True)
            for voted in self.classify(completed).reshape(len(donors), len(holes)):
                votes[np.arange(len(holes)), voted] += 1
        numbers[needed] = votes.argmax(axis=1)
        return numbers

    def sample(self, size: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw `size` samples, as rows of the table's columns."""
        return self.sampler.draw(size, rng)

    def describe(self) -> str:
        """How missing values are answered about, in words."""
        if self.donors is None or not self.donors.find_incomplete(self.frame).any():
            return "the model's own answer"
        return f"the class that most of {len(self.donors.rows)} completions get, with values of other rows"


def bind_classifier(model: Any, frame: pd.DataFrame, seed: int) -> ClassifierTeacher:
    """A classifier bound to the rows of a table.

    Parameters
    ----------
    model
        A fitted classifier, the path or URL of one, or what `as_predictor` made of one.
    frame
        Rows as the model reads them.
    seed
        Decides which rows of a very large table samples are made of, and which rows complete others
        for a model that takes no missing values.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rows = pd.DataFrame({"age": [20.0, 40.0, 60.0, 80.0]})
    >>> model = DecisionTreeClassifier().fit(rows, ["young", "young", "old", "old"])
    >>> teacher = bind_classifier(model, rows, seed=0)
    >>> teacher.classes, teacher.labels(rows)
    (('old', 'young'), array([1, 1, 0, 0]))

    """
    predictors, classes = list_predictors(model, frame)
    classify = partial(_classify, predictors)
    unread = frozenset(frame.columns) - _columns_with_missing(predictors[0], frame)
    donors = choose_donors(frame, unread, generator(seed, Purpose.COMPLETIONS)) if unread else None
    sampler = RowSampler.of(frame, generator(seed, Purpose.SAMPLED_ROWS))
    return ClassifierTeacher(classify, classes, frame, sampler, donors)


def list_predictors(model: Any, frame: pd.DataFrame) -> tuple[list[Predictor], tuple[Any, ...]]:
    """For each class but the last, the model as a function that decides for it; and all classes.

    Of two classes it is the second one that is decided for. A model that has no names for its
    classes, such as a network in a file, is asked about a row: it has as many as it has outputs.
    """
    model = _load_classifier(model)
    if isinstance(model, Predictor):
        return [model], (0, 1)
    if isinstance(model, Endpoint):
        find_classes(model, frame)
    if hasattr(model, "classes_"):
        classes = tuple(np.asarray(model.classes_).tolist())
    else:
        classes = tuple(range(count_classes(as_predictor(model), frame)))
    if len(classes) < 3:
        return [as_predictor(model)], classes
    return [as_predictor(model, positive=name) for name in classes[:-1]], classes


def predict_two_classes(model: Any, frame: pd.DataFrame) -> tuple[Predictor, tuple[Any, ...]]:
    """The model as a function that decides for the second of its two classes; and both classes."""
    model = _load_classifier(model)
    if isinstance(model, Predictor):
        return model, (0, 1)
    if isinstance(model, Endpoint):
        find_classes(model, frame)
    classes = tuple(np.asarray(getattr(model, "classes_", (0, 1))).tolist())
    if len(classes) > 2:
        raise HornbookError(
            f"{type(model).__name__} has {len(classes)} classes, and queries are about one of two; say which "
            f"one counts as true: as_predictor(model, positive={classes[0]!r})"
        )
    return as_predictor(model), classes


def _load_classifier(model: Any) -> Any:
    """The model, or the one in a file; refuse a regressor."""
    if isinstance(model, str | Path):
        model = load_model(model)
    if hasattr(model, "__sklearn_tags__"):
        from sklearn.base import is_regressor

        if is_regressor(model):
            raise HornbookError(
                f"{type(model).__name__} predicts numbers, and an explanation needs classes; say from which "
                "number on it says yes: as_predictor(model, threshold=…)"
            )
    return model


def count_classes(predictor: Predictor, frame: pd.DataFrame) -> int:
    """The number of a model's classes: that of its outputs about a row, or two for a single output."""
    complete = frame.dropna()
    rows = (complete if len(complete) else frame).head(1)
    if predictor.encoding not in (COMPLETE, ENCODINGS["nan"]) or not len(rows):
        return 2
    outputs = predictor.output_rows(predictor.read(rows))
    return max(2, outputs.shape[1]) if outputs.ndim == 2 else 2


def _classify(predictors: list[Predictor], rows: pd.DataFrame) -> NDArray[np.intp]:
    """The number of each row's class; each class is asked for only where no earlier one is decided for."""
    if len(predictors) == 1:
        return _decide(predictors[0], rows).astype(np.intp)
    numbers = np.full(len(rows), len(predictors), np.intp)
    left = np.arange(len(rows))
    for number, predictor in enumerate(predictors):
        if not len(left):
            break
        decided = _decide(predictor, rows.iloc[left])
        numbers[left[decided]] = number
        left = left[~decided]
    return numbers


def _decide(predictor: Predictor, rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether a model decides for its positive class about rows of a table."""
    if predictor.encoding in (COMPLETE, ENCODINGS["nan"]):
        return predictor.decide_rows(predictor.read(rows))
    columns = Vocabulary(map(str, predictor.names or rows.columns))
    values = rows.set_axis(list(map(str, rows.columns)), axis=1)[list(columns.names)]
    return predictor.decide(Batch.from_array(values.to_numpy(np.float64), columns))


def _columns_with_missing(predictor: Predictor, frame: pd.DataFrame) -> frozenset[str]:
    """The columns in which the model takes missing values: all, if it has a number of its own for them."""
    if predictor.encoding in (COMPLETE, ENCODINGS["nan"]):
        return columns_with_missing(predictor, frame)
    return frozenset(frame.columns)


def choose_donors(frame: pd.DataFrame, columns: frozenset[str], rng: np.random.Generator) -> Donors:
    """Rows to complete others with; where no row is complete, columns are completed one by one."""
    names = [name for name in frame.columns if name in columns]
    complete = frame[frame[names].notna().all(axis=1)]
    if len(complete):
        chosen = complete.iloc[rng.integers(len(complete), size=DONORS)]
        return Donors(chosen.reset_index(drop=True), columns)
    pieces = {}
    for name in frame.columns:
        known = frame[name].dropna() if name in columns else frame[name]
        if not len(known):
            raise HornbookError(f"column {name!r} has no value at all, and the model takes no missing values")
        pieces[name] = known.iloc[rng.integers(len(known), size=DONORS)].to_numpy()
    return Donors(pd.DataFrame(pieces), columns)
