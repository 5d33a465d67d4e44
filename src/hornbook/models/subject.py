"""The subject: a model bound to the rows of a table, with the user's words; what every question is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from hornbook.code_book import (
    UNNAMED_TARGET,
    CodeBook,
    CodeBookSource,
    list_values,
    read_code_book,
    spell_key,
)
from hornbook.conditions import truth_value
from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.models.answers import MAX_ROWS_SHARE, afford
from hornbook.models.classes import match_classes
from hornbook.models.predictor import Predictor
from hornbook.models.teacher import ClassifierTeacher, bind_classifier
from hornbook.statistics import Share
from hornbook.tables import (
    as_frame,
    fit_columns,
    name_columns,
    note_units,
    number_times,
    number_units,
    read_frame,
    read_weights,
    split_rows,
)

Floats: TypeAlias = NDArray[np.float64]
"""A number for each row."""


def _thin(numbers: NDArray[np.intp], share: float) -> NDArray[np.intp]:
    """A share of some numbers, evenly spread; one of them at least, if there are any."""
    count = min(len(numbers), max(1, int(share * len(numbers))))
    return numbers[np.linspace(0, len(numbers) - 1, count).astype(np.intp)] if len(numbers) else numbers


def _spell_truths(labels: list[Any], classes: Sequence[Any]) -> list[Any]:
    """Labels as a model with the classes 0 and 1 has them, where all are words for true and false."""
    truths = {label: truth_value(label) for label in dict.fromkeys(labels)}
    if {*map(spell_key, classes)} != {"0", "1"} or None in truths.values():
        return labels
    return [int(bool(truths[label])) for label in labels]


@dataclass(frozen=True, eq=False)
class Binding(Displayed):
    """A model bound to the rows of a table, with the user's words.

    Parameters
    ----------
    teacher
        The model, bound to the rows that answers are made from.
    frame
        All rows of the table.
    kept_back
        The numbers of the rows that are held out of the teacher's.
    words
        The user's words for columns, values and classes.
    target
        What the model predicts.
    seed
        Makes answers repeatable.
    groups
        The group of each row, such as its patient: rows of a group are held out together.
    weights
        How many cases of the population each row stands for; by default all count alike. Rows of 0 are
        neither used nor held out.
    test_rows, test_weights
        Rows that the user gave for measuring, and their weights; then none of the table are held out.
    positive
        What the model and the user call the class that is asked about; none if it is about all classes.

    """

    teacher: Any
    frame: pd.DataFrame
    kept_back: NDArray[np.intp]
    words: CodeBook
    target: str = UNNAMED_TARGET
    seed: int = 0
    groups: ArrayLike | None = None
    weights: Floats | None = None
    test_rows: pd.DataFrame | None = None
    test_weights: Floats | None = None
    positive: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows, columns = self.frame.shape
        return f"{self.predictor.name} on {rows:,} rows of {columns} columns: {', '.join(self.classes)}"

    @property
    def predictor(self) -> Predictor:
        """The model as one batch function for all its classes."""
        predictor: Predictor = self.teacher.predictor
        return predictor

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The model's classes in words."""
        return self.words.name_classes(self.target, self.teacher.classes)

    def measure_accuracy(self, labels: ArrayLike) -> Share:
        """The share of the labelled rows to which the model gives their label."""
        places, numbers = self._label_rows
        truth = self.name_labels(labels)
        if len(truth) != len(self.frame):
            raise HornbookError(
                f"there are {len(self.frame)} rows and {len(truth)} labels; give each its label"
            )
        known = ~pd.isna(truth[places])
        names = _spell_truths(truth[places][known].tolist(), self.teacher.classes)
        levels = list(dict.fromkeys(names))
        if not levels:
            return Share.of(0, 0)
        _, (own, true) = match_classes(self.teacher.classes, levels, self.words)
        number = dict(zip(levels, true.tolist(), strict=True))
        same = own[numbers[known]] == np.array([number[name] for name in names])
        weights = self._weigh(places)
        return Share.where(same, weights=None if weights is None else weights[known])

    def name_labels(self, labels: ArrayLike) -> NDArray[Any]:
        """True labels as the model's classes: numbers as it cuts its own, if it predicts numbers."""
        given = np.asarray(labels).ravel()
        if self.positive:
            negative, name = self.teacher.classes
            known = [None if pd.isna(each) else spell_key(each) in self.positive for each in given.tolist()]
            return np.array([None if each is None else name if each else negative for each in known], object)
        threshold = self.predictor.threshold
        if not np.issubdtype(given.dtype, np.number):
            return given
        if threshold is not None and pd.Series(given).nunique() > 2:
            places = (given >= threshold).astype(np.intp)
        elif self.predictor.bands:
            places = np.searchsorted(self.predictor.bands, given)
        else:
            return given
        bands: NDArray[Any] = np.array(self.teacher.classes, object)[places]
        bands[np.isnan(given.astype(np.float64))] = None
        return bands

    @cached_property
    def _label_rows(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The numbers of rows that the model may be asked about, and of its class for each."""
        places = np.arange(len(self.frame)) if self.weights is None else np.flatnonzero(self.weights)
        if (count := afford(len(places), MAX_ROWS_SHARE)) < len(places):
            places = _thin(places, count / len(places))
        return places, self.teacher.labels(self.frame.iloc[places])

    def _weigh(self, numbers: NDArray[np.intp]) -> Floats | None:
        """The weights of some rows; None where all rows that count, count alike."""
        if self.weights is None or len(np.unique(self.weights[self.weights > 0])) == 1:
            return None
        return self.weights[numbers]

    @property
    def used(self) -> NDArray[np.intp]:
        """The numbers of the rows that the teacher has."""
        everything = np.arange(len(self.frame)) if self.weights is None else np.flatnonzero(self.weights)
        return np.setdiff1d(everything, self.kept_back)

    @property
    def used_weights(self) -> Floats | None:
        """The weight of each of the teacher's rows; None if they count alike."""
        return self._weigh(self.used)

    @property
    def held_out_weights(self) -> Floats | None:
        """The weight of each row for measuring; None if they count alike."""
        return self._weigh(self.kept_back) if self.test_rows is None else self.test_weights

    @property
    def held_out(self) -> pd.DataFrame:
        """The rows for measuring: those that were held out, or the user's test rows."""
        return self.frame.iloc[self.kept_back] if self.test_rows is None else self.test_rows

    @property
    def held_out_units(self) -> NDArray[np.intp]:
        """For each row for measuring the number of its group, or of the rows that equal it."""
        if self.test_rows is not None:
            return number_units(self.test_rows)
        return number_units(self.frame, self.groups)[self.kept_back]

    def describe_units(self) -> Iterator[str]:
        """Say how rows that belong together were held out, if any were, and what rows count."""
        counted = np.union1d(self.used, self.kept_back)
        groups = None if self.groups is None else np.asarray(self.groups, object)[counted]
        yield from note_units(self.frame.iloc[counted], np.searchsorted(counted, self.kept_back), groups)
        if (weights := self._weigh(counted)) is not None:
            low, high = f"{weights.min():.4g}", f"{weights.max():.4g}"
            yield f"rows count by their weights, from {low} to {high}: shares are of what they stand for"


@dataclass(frozen=True, eq=False)
class Subject(Binding):
    """A classifier bound to the rows of a table, with the user's words."""

    teacher: ClassifierTeacher

    @classmethod
    def bind(
        cls,
        model: Any,
        X: Any,
        *,
        target: str = UNNAMED_TARGET,
        positive: Any = None,
        code_book: CodeBookSource = None,
        groups: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        hold_out: bool = True,
        seed: int = 0,
    ) -> Subject:
        """Bind a model to rows.

        Parameters
        ----------
        model
            A fitted classifier of any supported library, the path or URL of one, a function of rows, or what
            `as_predictor` made of one.
        X
            Rows as the model reads them, missing values as NaN.
        target
            What the model predicts: what its classes are called in words.
        positive
            The class that questions are about, as the model or in words: the others are then one class.
        code_book
            The user's words: a TOML file, a mapping of its shape, or a `CodeBook`.
        groups
            The group of each row: its rows are all held out, or none. Without groups equal rows are one.
        weights
            How many cases of the population each row stands for; by default all count alike.
        hold_out
            Whether a fifth of the rows, if there are 100, is held out for measuring.
        seed
            Decides which rows are held out, and makes answers repeatable.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> rows = pd.DataFrame({"age": [20.0, 40, 60, 80] * 30})
        >>> model = DecisionTreeClassifier().fit(rows, rows.age > 50)
        >>> subject = Subject.bind(model, rows, target="old", groups=range(120))
        >>> subject.classes, len(subject.teacher.frame), len(subject.held_out)
        (('not old', 'old'), 96, 24)

        """
        frame = read_frame(X)
        words = read_code_book(code_book, frame)
        numbers = read_weights(weights, len(frame))
        used, kept_back = split_rows(frame, seed, hold_out, groups, numbers)
        teacher = bind_classifier(model, frame, seed, used)
        subject = cls(teacher, frame, kept_back, words, target, seed, groups, numbers)
        if subject.used_weights is not None:
            subject = subject._bind_rows(kept_back)
        return subject if positive is None else subject.view_class(positive)

    def view_class(self, positive: Any) -> Subject:
        """The subject as a question about one class: the others are one class, the negative one."""
        known = {spell_key(own): n for n, own in enumerate(self.teacher.classes)}
        number = {**known, **{name: n for n, name in enumerate(self.classes)}}.get(spell_key(positive))
        if number is None:
            raise HornbookError(
                f"the model has no class {positive!r}; its classes are {list_values(self.teacher.classes)}"
            )
        names = list(self.classes)
        name = names.pop(number)
        teacher = self.teacher.view_class(number, (names[0] if len(names) == 1 else f"not {name}", name))
        own = tuple({spell_key(self.teacher.classes[number]), name})
        return replace(self, teacher=teacher, words=replace(self.words, classes={}), positive=own)

    def with_test_rows(self, rows: Any, weights: ArrayLike | None = None) -> Subject:
        """The subject with all rows of its table, and others for measuring, which have the same columns."""
        frame = as_frame(rows)
        if frame is None:
            frame = read_frame(rows)
        named = number_times(frame.set_axis(name_columns(frame), axis=1))
        test_rows = fit_columns(named, self.frame, "test")
        numbers = read_weights(weights, len(test_rows), "test_weight")
        if numbers is not None:
            test_rows, numbers = test_rows[numbers > 0], numbers[numbers > 0]
            numbers = numbers if len(np.unique(numbers)) > 1 else None
        subject = self._bind_rows(np.zeros(0, np.intp))
        return replace(subject, test_rows=test_rows, test_weights=numbers)

    def hold_out(self) -> Subject:
        """The subject with a fifth of its table's rows held out, by its seed."""
        return self._bind_rows(split_rows(self.frame, self.seed, groups=self.groups, weights=self.weights)[1])

    def _bind_rows(self, kept_back: NDArray[np.intp]) -> Subject:
        """The subject with these rows of the table held out, and no test rows."""
        subject = replace(self, kept_back=kept_back, test_rows=None, test_weights=None)
        rows = self.frame.iloc[subject.used]
        return replace(subject, teacher=self.teacher.bind_rows(rows, self.seed, subject.used_weights))

    def within_budget(self) -> Subject:
        """The subject with as many rows as the model may be asked about, evenly spread over the table."""
        rows = len(self.teacher.frame) + len(self.held_out)
        if (count := afford(rows, MAX_ROWS_SHARE)) == rows:
            return self
        used, kept_back = (_thin(numbers, count / rows) for numbers in (self.used, self.kept_back))
        numbers = np.sort(np.concatenate([used, kept_back]))
        groups = None if self.groups is None else np.asarray(self.groups, object)[numbers]
        fewer = replace(
            self,
            teacher=self.teacher.bind_rows(self.frame.iloc[used], self.seed, self._weigh(used)),
            frame=self.frame.iloc[numbers],
            kept_back=np.searchsorted(numbers, kept_back),
            groups=groups,
            weights=None if self.weights is None else self.weights[numbers],
        )
        if self.test_rows is None:
            return fewer
        tests = _thin(np.arange(len(self.test_rows)), count / rows)
        test_weights = None if self.test_weights is None else self.test_weights[tests]
        return replace(fewer, test_rows=self.test_rows.iloc[tests], test_weights=test_weights)

    def refuse_weights(self, verb: str) -> None:
        """Raise where rows have weights, for a question that counts all rows alike."""
        if self.weights is not None:
            raise HornbookError(
                f"{verb} counts all rows alike: bind the model without sample_weight= (--weight)"
            )
