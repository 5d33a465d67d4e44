"""The teacher: a classifier bound to a table, which answers about rows as the model reads them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.models.answers import ask_once
from hornbook.models.classes import find_predictor, view_class
from hornbook.models.inputs import columns_with_missing
from hornbook.models.predictor import Predictor
from hornbook.models.row_sampler import RowSampler
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
    predictor
        The model as one batch function for all its classes; of two classes it decides for the second.
    classes
        What the model calls its classes.
    frame
        The rows.
    sampler
        Where samples come from: rows with columns exchanged between them.
    donors
        How rows are completed for a model that takes no missing values; None for one that does.

    """

    predictor: Predictor
    classes: tuple[Any, ...]
    frame: pd.DataFrame
    sampler: RowSampler
    donors: Donors | None = None

    @property
    def columns_read(self) -> frozenset[str] | None:
        """The columns of the rows that the model says it reads; None if it names none of them."""
        columns = list(map(str, self.frame.columns))
        read = self.predictor.list_columns(columns) if self.predictor.names else None
        return frozenset(columns).intersection(read or ()) or None

    @property
    def columns(self) -> list[str]:
        """The columns of the rows that the model reads, in its order; all of them if it does not say."""
        names = list(map(str, self.frame.columns))
        return self.predictor.list_columns(names) or names

    def labels(self, rows: pd.DataFrame) -> NDArray[np.intp]:
        """The number of the model's class for each row."""
        if not len(rows):
            return np.zeros(0, np.intp)
        if self.donors is None or not (needed := self.donors.find_incomplete(rows)).any():
            return self._classify(rows)
        numbers = np.empty(len(rows), np.intp)
        if not needed.all():
            numbers[~needed] = self._classify(rows[~needed])
        holes = rows[needed]
        votes = np.zeros((len(holes), len(self.classes)), np.intp)
        count, step = len(self.donors.rows), max(1, COMPLETED_ROWS // len(holes))
        for start in range(0, count, step):
            donors = range(start, min(start + step, count))
            completed = pd.concat([self.donors.complete(holes, donor) for donor in donors], ignore_index=True)
            for voted in self._classify(completed).reshape(len(donors), len(holes)):
                votes[np.arange(len(holes)), voted] += 1
        numbers[needed] = votes.argmax(axis=1)
        return numbers

    def _classify(self, rows: pd.DataFrame) -> NDArray[np.intp]:
        """The number of the class of each row that the model reads as it is."""
        predictor = self.predictor
        labels = ask_once(
            ("labels", id(predictor)), rows, lambda part: predictor.classify_rows(predictor.read(part))
        )
        return labels.astype(np.intp, copy=False)

    def measure_support(self, rows: pd.DataFrame, number: int) -> NDArray[np.float64]:
        """How clearly the model decides for a class, for each row: the score of the class.

        Of the first of two classes it is less the score of the second, which has more digits. Rows that
        have to be completed are, by the values of one donor.
        """
        scores = ask_once(
            ("scores", id(self.predictor)),
            rows,
            lambda part: self.predictor.score_classes(self._read_completed(part)).astype(np.float64),
        )
        return -scores[:, 1] if number == 0 and len(self.classes) == 2 else scores[:, number]

    def measure_leads(self, rows: pd.DataFrame) -> NDArray[np.float64]:
        """How far each row is from another decision of the model; completed as for `measure_support`."""
        return ask_once(
            ("leads", id(self.predictor)),
            rows,
            lambda part: self.predictor.lead_rows(self._read_completed(part)).astype(np.float64),
        )

    def _read_completed(self, rows: pd.DataFrame) -> Any:
        """Rows as the model reads them, completed by the values of one donor."""
        if self.donors is not None and self.donors.find_incomplete(rows).any():
            rows = self.donors.complete(rows, 0)
        return self.predictor.read(rows)

    def bind_rows(
        self, frame: pd.DataFrame, seed: int, weights: NDArray[np.float64] | None = None
    ) -> ClassifierTeacher:
        """The same model, bound to other rows; it is not asked again where it takes missing values."""
        unread = frozenset[str]() if self.donors is None else self.donors.columns
        return _bind_rows(self.predictor, self.classes, frame, unread, seed, weights)

    def view_class(self, number: int, classes: tuple[str, str]) -> ClassifierTeacher:
        """The teacher of one class against the others, by names for both."""
        predictor = self.predictor
        if len(self.classes) == 2 and predictor.classes is None:  # it decides for the second
            raise HornbookError("the model decides for one class already; leave out positive=")
        viewed = replace(view_class(predictor, number), classes=None)
        return replace(self, predictor=viewed, classes=classes)

    def sample(self, size: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw `size` samples, as rows of the table's columns."""
        return self.sampler.draw(size, rng)

    def describe(self) -> str:
        """How missing values are answered about, in words."""
        if self.donors is None:
            return "the model's own answer"
        if not self.donors.find_incomplete(self.frame).any():
            return "the table has none where the model takes none"
        return f"the class that most of {len(self.donors.rows)} completions get, with values of other rows"


def bind_classifier(
    model: Any, frame: pd.DataFrame, seed: int, used: NDArray[np.intp] | None = None
) -> ClassifierTeacher:
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
    used
        The numbers of the rows that the teacher has; all by default. A model that does not say its classes
        is asked about the other rows too, to find them.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rows = pd.DataFrame({"age": [20.0, 40.0, 60.0, 80.0]})
    >>> model = DecisionTreeClassifier().fit(rows, ["young", "young", "old", "old"])
    >>> teacher = bind_classifier(model, rows, seed=0)
    >>> teacher.classes, teacher.labels(rows)
    (('old', 'young'), array([1, 1, 0, 0]))

    """
    predictor, classes = find_predictor(model, frame)
    own = frame if used is None else frame.iloc[used]
    unread = frozenset(frame.columns) - columns_with_missing(predictor, own)
    return _bind_rows(predictor, classes, own, unread, seed)


def _bind_rows(
    predictor: Predictor,
    classes: tuple[Any, ...],
    frame: pd.DataFrame,
    unread: frozenset[str],
    seed: int,
    weights: NDArray[np.float64] | None = None,
) -> ClassifierTeacher:
    """A model bound to rows; `unread` are the columns in which it takes no missing values."""
    donors = choose_donors(frame, unread, generator(seed, Purpose.COMPLETIONS)) if unread else None
    sampler = RowSampler.of(frame, generator(seed, Purpose.SAMPLED_ROWS), weights)
    return ClassifierTeacher(predictor, classes, frame, sampler, donors)


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
