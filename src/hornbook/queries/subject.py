"""The subject of queries: a model of two classes, or a judge, bound to the variables of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from hornbook.code_book import CodeBook, CodeBookSource, read_code_book
from hornbook.logic import Vocabulary
from hornbook.models import note_accuracy, predict_two_classes
from hornbook.queries.distributions import Distribution, Random
from hornbook.queries.reader import Reader, fit_binariser, is_binary, to_frame
from hornbook.queries.table_theory import target_questions, target_theory
from hornbook.queries.teacher import BoundModel
from hornbook.randomness import Purpose, generator
from hornbook.tables import (
    Kind,
    as_frame,
    infer_kind,
    name_columns,
    note_units,
    number_units,
    refuse_unusable,
    remember_form,
    split_rows,
)

if TYPE_CHECKING:
    from hornbook.queries.binarise import Binariser  # needs scikit-learn, which takes a second to import

RANDOM_ROWS = 1000
"""Rows that are drawn for a judge of which only the variables are given."""


@dataclass(frozen=True, eq=False)
class QuerySubject:
    """A model bound to the variables of a table, with the user's words.

    Parameters
    ----------
    bound
        The model, bound to the rows that questions are made from.
    frame
        All rows of the table.
    kept_back
        The numbers of the rows that are held out; none of a judge's.
    classes
        What the model calls its classes.
    words
        The user's words for columns, values and classes.
    groups
        The group of each row: rows of a group are held out together.

    """

    bound: BoundModel
    frame: pd.DataFrame
    kept_back: NDArray[np.intp]
    classes: tuple[Any, ...]
    words: CodeBook
    groups: ArrayLike | None = None

    @classmethod
    def bind(
        cls,
        model: Any,
        X: Any,
        *,
        target: str | None = None,
        binariser: Binariser | None = None,
        kinds: dict[str, Kind] | None = None,
        code_book: CodeBookSource = None,
        groups: ArrayLike | None = None,
        target_label: str | None = None,
        seed: int = 0,
    ) -> QuerySubject:
        """Bind a model to the variables that the columns of a table are, or are made into.

        Parameters
        ----------
        model
            A judge that accepts or rejects whole interpretations, or a classifier of two classes.
        X
            Rows like those that the model will see, missing values as NaN: columns of 1, 0 and NaN are
            variables. Or the vocabulary of a judge: then rows are drawn at random.
        target
            What a classifier predicts: the label of the rules. None for a judge.
        binariser
            The fitted binariser that made the columns, or that makes variables of them.
        kinds
            The kinds of columns that variables are made of, 0/1 columns too; told by their values by default.
        code_book
            The user's words: a TOML file, a mapping of its shape, or a `CodeBook`.
        groups
            The group of each row: its rows are all held out, or none.
        target_label
            The class of a judge's rows, if its target T is a rule a row, as in the paper: then half of the
            questions violate one of them, the rest is random, and values of a column exclude each other no
            more than in the paper.
        seed
            Decides which rows are held out, and makes answers repeatable.

        """
        frame = _read_variables(X, seed)
        words = read_code_book(code_book, frame)
        used, kept_back = split_rows(frame, seed, target is not None, groups)
        are_variables = binariser is None and kinds is None and is_binary(frame)
        asks_columns = target is not None and binariser is None and not are_variables
        predictor, classes = predict_two_classes(model, frame, asks_columns)
        duals = target is not None
        if are_variables:
            reader = Reader.of_variables(frame.iloc[used], duals)
        else:
            if binariser is None:
                told = kinds or _infer_kinds(frame, words)
                binariser = fit_binariser(predictor, frame.iloc[used], told)
            reader = Reader.of(frame, binariser, duals)
        drawn: Distribution | None = Random(X) if isinstance(X, Vocabulary) else None
        theory = None
        if target_label is not None:
            reader = replace(reader, groups=())
            theory = target_theory(reader.batch(frame), reader.find_variable(target_label), "drop")
            drawn = target_questions(theory)
        bound = BoundModel(predictor, reader, frame.iloc[used], target, seed, drawn, theory)
        return cls(bound, frame, kept_back, classes if duals else (False, True), words, groups)

    @property
    def seed(self) -> int:
        """Makes answers repeatable."""
        return self.bound.seed

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes in words; none of a judge."""
        return () if self.bound.label is None else self.words.name_classes(self.bound.label, self.classes)

    @property
    def held_out(self) -> pd.DataFrame:
        """The rows that are held out."""
        return self.frame.iloc[self.kept_back]

    @property
    def held_out_units(self) -> NDArray[np.intp]:
        """For each row that is held out the number of its group, or of the rows that equal it."""
        return number_units(self.frame, self.groups)[self.kept_back]

    def note_accuracy(self, labels: pd.Series[Any]) -> Iterator[str]:
        """Say how often a classifier agrees with the labels, and warn where one class alone does better."""
        numbers = self.bound.decide_rows(self.frame).astype(np.intp)
        return note_accuracy(numbers, self.classes, labels, self.words)

    def describe_units(self) -> tuple[str, ...]:
        """Say how rows that belong together were held out, if any were."""
        return tuple(note_units(self.frame, self.kept_back, self.groups))


def _read_variables(X: Any, seed: int) -> pd.DataFrame:
    """Rows as a frame; columns without names are x0, x1, …, and not_x0, … if one half mirrors the other."""
    if isinstance(X, Vocabulary):
        drawn = Random(X, 0.0).draw(RANDOM_ROWS, generator(seed, Purpose.SAMPLED_ROWS))
        X = pd.DataFrame(drawn.to_array(), columns=list(X.names))
    frame = as_frame(X)
    if frame is None:
        frame = pd.DataFrame(np.asarray(X)).infer_objects()
    refuse_unusable(frame)
    named = all(isinstance(name, str) for name in frame.columns)
    columns = name_columns(frame) if named else list(to_frame(frame.to_numpy()).columns)
    frame = frame.set_axis(columns, axis=1)
    remember_form(frame, X)
    return frame


def _infer_kinds(frame: pd.DataFrame, words: CodeBook) -> dict[str, Kind]:
    """The kinds of columns, by their values; those with levels are categories."""
    return {
        str(column): "categorical" if words.words(str(column)).are_categories else infer_kind(values)
        for column, values in frame.items()
    }
