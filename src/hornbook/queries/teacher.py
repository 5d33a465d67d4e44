"""Models as teachers of queries about partial interpretations, bound to the variables of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from hornbook.code_book import CodeBook, CodeBookSource, read_code_book
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, HornTheory, Vocabulary
from hornbook.models import (
    ClassifierTeacher,
    Predictor,
    bind_classifier,
    columns_with_missing,
    predict_two_classes,
)
from hornbook.models.inputs import list_trained_columns, match_columns
from hornbook.models.subject import Binding
from hornbook.proof import PROOF_SECONDS, Interpretations, RuleProver, make
from hornbook.queries.completions import Completions
from hornbook.queries.distributions import Distribution, Labelled, Random, Rows
from hornbook.queries.literals import Literals, extend_batch
from hornbook.queries.membership import Judge
from hornbook.queries.variables import Binariser, is_binary, wrap_column_model
from hornbook.queries.violations import target_questions, target_theory
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.tables import Kind, infer_kind, read_frame, split_rows

MISSING_SHARE, EXCHANGED_SHARE = 0.1, 0.05
"""How rows are perturbed: the shares of values made unknown and of values exchanged."""

RANDOM_ROWS = 1000
"""Rows that are drawn for a judge of which only the variables are given."""


@dataclass(frozen=True, eq=False)
class QueryTeacher:
    """A judge, or a classifier of two classes, that is asked about the variables of the rows of a table.

    A classifier is asked about features and label. A model that has no number for ? accepts what it accepts
    in one of several completions with values of the rows, and predicts for a partial row what it predicts
    for most of its completions.

    Parameters
    ----------
    predictor
        The model.
    binariser
        How rows become interpretations.
    frame
        The table.
    label
        The name of the label that a classifier decides; None for a judge of whole interpretations.
    seed
        Decides completions and the values that bins are represented by.
    classes
        What a classifier calls its classes.
    drawn
        Where the interpretations of a judge come from, if not from the table.
    theory
        The target T of a judge, if it is known: how often judge and rules differ from it is measured.

    Examples
    --------
    >>> from hornbook.models import as_predictor
    >>> rows = pd.DataFrame({"fever": [1, 1, 0, 0], "cough": [1, 0, 1, 0]})
    >>> model = as_predictor(lambda array: array.max(axis=1), name="any symptom")
    >>> teacher = QueryTeacher(model, Binariser.fit(rows), rows, "ill")
    >>> batch = Batch.from_array([[1, np.nan, 0, 1], [0, np.nan, 0, 1]], teacher.distribution.vocabulary)
    >>> teacher(batch)
    array([False,  True])

    """

    predictor: Predictor
    binariser: Binariser
    frame: pd.DataFrame
    label: str | None = None
    seed: int = 0
    classes: tuple[Any, ...] = (False, True)
    drawn: Distribution | None = None
    theory: HornTheory | None = None

    @cached_property
    def reads_columns(self) -> bool:
        """Whether the model reads the columns of the table, and not the variables made of them."""
        return reads_columns(self.predictor, self.binariser, self.frame)

    @cached_property
    def judge(self) -> Judge:
        """The model as a function of variables: one of columns is shown values that meet the question."""
        model, binariser = self.predictor, self.binariser
        if self.reads_columns:
            rng = generator(self.seed, Purpose.BIN_VALUES)
            model = wrap_column_model(model, binariser, self.frame, self._classifier.donors is None, rng)
        names = None
        if model.names is None:
            is_plain = reads_plain(model, binariser, self.frame)
            names = binariser.names if is_plain else binariser.vocabulary.names
        return Judge(model, self.distribution.vocabulary, self.label, names)

    @cached_property
    def rows(self) -> Batch:
        """The table as interpretations."""
        return self.binariser.batch(self.frame)

    @cached_property
    def feature_distribution(self) -> Distribution:
        """Where interpretations of the features come from: the rows, with some values changed."""
        return self.drawn or Rows(self.rows, MISSING_SHARE, EXCHANGED_SHARE, self.binariser.groups)

    @cached_property
    def distribution(self) -> Distribution:
        """Where questions come from: interpretations of the features, with a label if there is one."""
        features = self.feature_distribution
        return features if self.label is None else Labelled(features, self.label)

    @cached_property
    def _literals(self) -> Literals:
        return Literals.of(self.distribution.vocabulary, self.binariser.groups)

    @property
    def _completions(self) -> Completions | None:
        return None if self.judge.predictor.encoding.native else self._row_completions

    @cached_property
    def _row_completions(self) -> Completions:
        rows = Rows(self.rows)
        return Completions(
            self.distribution.vocabulary,
            rng=generator(self.seed, Purpose.COMPLETIONS),
            groups=self.binariser.groups,
            rows=rows if self.label is None else Labelled(rows, self.label),
            keep=self.judge.heads,
        )

    def __call__(self, batch: Batch) -> Bools:
        """Whether the model accepts each interpretation."""
        items = self._literals.propagate(batch)
        return (
            self.judge(items)
            if self._completions is None
            else self._completions.accept_some(self.judge, items)
        )

    @property
    def heads(self) -> tuple[int, ...] | None:
        """The heads that rules need to have, or None for any."""
        return tuple(sorted(self.judge.heads)) or None

    @property
    def background(self) -> HornTheory:
        """The rules that always hold: a variable excludes its dual and the others of its column."""
        return self.binariser.background(self.label)

    def describe(self) -> str:
        """How unknown values are answered, in words."""
        return "the model's own" if self._completions is None else self._completions.describe()

    def sample_rows(self, size: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw rows of the table's columns, for a model that reads these."""
        return self._classifier.sample(size, rng)

    def describe_samples(self) -> str:
        """Where the samples come from on which rules are measured, in words."""
        if self.reads_columns:
            return self._classifier.sampler.describe()
        return self.feature_distribution.describe()

    def measure_incoherence(self, size: int) -> Share | None:
        """The share of partial interpretations whose answer contradicts the answers about their completions.

        A formula accepts a partial interpretation exactly if it accepts a completion; a network's answers
        about unknown values may come from no formula. Accepted is contradicted as far as completions are
        tried. None for a model whose answers are those of completions.
        """
        if self._completions is not None:
            return None
        drawn = self.distribution.draw(size, generator(self.seed, Purpose.COHERENCE))
        items = self._literals.propagate(drawn)
        partial = items[self._row_completions.prepare(items).any]
        return Share.where(self(partial) != self._row_completions.accept_some(self.judge, partial))

    def prover(self, seconds: float = PROOF_SECONDS) -> RuleProver:
        """A prover of the model's answers for every input, with a time limit in seconds per question."""
        if self.reads_columns:
            raise HornbookError(
                f"{self.predictor.name} reads the columns of the table, and these proofs are about models "
                "that read its variables; hornbook extract --proof proves rules about columns"
            )
        judge = self.judge
        domain = Interpretations(
            judge.vocabulary,
            self.binariser.groups,
            None if self._completions is None else "complete",
            self.label,
            judge.features.names,
        )
        return make(judge.predictor, domain, seconds)

    def decide_items(self, items: Batch) -> Bools:
        """Whether the model accepts interpretations of the features, or decides for its label."""
        if self.label is None:
            return self(items)
        whole = self._literals.propagate(extend_batch(items, self.judge.vocabulary))
        predict = self.judge.predict
        return predict(whole) if self._completions is None else self._completions.vote(predict, whole)

    def decide_rows(self, frame: pd.DataFrame) -> Bools:
        """The model's own decision about rows as they are; by completions where it cannot read them."""
        if self.reads_columns:
            return self._classifier.labels(frame).astype(np.bool_)
        return self.decide_items(self.binariser.batch(frame))

    def labels(self, rows: pd.DataFrame) -> NDArray[np.intp]:
        """The number of the model's class for each row: 1 where it accepts, or decides for its label."""
        return self.decide_rows(rows).astype(np.intp)

    @cached_property
    def _classifier(self) -> ClassifierTeacher:
        return bind_classifier(self.predictor, self.frame, self.seed)


def are_variables(binariser: Binariser, frame: pd.DataFrame) -> bool:
    """Whether the columns of a table are its variables, and known values 1 or 0."""
    return binariser.names == binariser.columns and is_binary(frame)


def reads_columns(predictor: Predictor, binariser: Binariser, frame: pd.DataFrame) -> bool:
    """Whether a model reads the columns of a table, and not the variables made of them."""
    if are_variables(binariser, frame) or not predictor.encodes_as_tables:
        return False
    if predictor.names is not None:
        return set(predictor.names) <= set(binariser.columns)
    if predictor.inputs in (None, len(binariser.columns)):
        return True
    trained_on = list_trained_columns(predictor.source)
    return bool(trained_on) and None not in match_columns(trained_on, binariser.columns)


def reads_plain(predictor: Predictor, binariser: Binariser, frame: pd.DataFrame) -> bool:
    """Whether a model of variables reads them without their duals."""
    if predictor.names is not None:
        return set(predictor.names) <= set(binariser.names)
    if predictor.inputs is not None:
        return predictor.inputs == predictor.encoding.inputs(len(binariser.names))
    return are_variables(binariser, frame)


@dataclass(frozen=True, eq=False)
class QuerySubject(Binding):
    """A model bound to the variables of a table, with the user's words; no rows of a judge are held out."""

    teacher: QueryTeacher

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
        row_rules: str | None = None,
        seed: int = 0,
    ) -> QuerySubject:
        """Bind a model to the variables that the columns of a table are made into.

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
            What makes variables of the columns.
        kinds
            The kinds of columns that variables are made of; told by their values by default.
        code_book
            The user's words: a TOML file, a mapping of its shape, or a `CodeBook`.
        groups
            The group of each row: its rows are all held out, or none.
        row_rules
            The class of a judge's rows, if its target T is a rule a row, as in the paper: then half of the
            questions violate one of them, the rest is random, and values of a column exclude each other no
            more than in the paper.
        seed
            Decides which rows are held out, and makes answers repeatable.

        """
        drawn: Distribution | None = Random(X) if isinstance(X, Vocabulary) else None
        frame = read_frame(X if drawn is None else _draw_rows(drawn.vocabulary, seed))
        words = read_code_book(code_book, frame)
        used, kept_back = split_rows(frame, seed, target is not None, groups)
        predictor, classes = predict_two_classes(model, frame, binariser is None and not is_binary(frame))
        own = frame.iloc[used]
        if binariser is None:
            binariser = fit_binariser(predictor, own, kinds or _infer_kinds(frame, words), target is not None)
        classes = (False, True) if target is None else classes
        theory = None
        if row_rules is not None:
            binariser = replace(binariser, exclusive=False)
            theory = target_theory(binariser.batch(frame), binariser.find_variable(row_rules), "drop")
            drawn = target_questions(theory)
        teacher = QueryTeacher(predictor, binariser, own, target, seed, classes, drawn, theory)
        return cls(teacher, frame, kept_back, words, target or "what it accepts", seed, groups)


def fit_binariser(
    predictor: Predictor, frame: pd.DataFrame, kinds: dict[str, Kind], has_duals: bool
) -> Binariser:
    """Fit a binariser whose variables suit a model; without `has_duals` it has duals if the model reads them.

    If the model reads the columns themselves, bins are cut where its answers change most, because
    rules cannot express what happens within a bin.
    """
    plain = Binariser.fit(frame, kinds=kinds)
    if reads_columns(predictor, plain, frame):
        taken = columns_with_missing(predictor, frame)
        if frame.drop(columns=list(taken)).notna().all(axis=None):
            decided = predictor.decide_rows(predictor.read(frame))
            return Binariser.fit(frame, kinds=kinds, labels=decided, dual=True)
        return replace(plain, dual=True)
    return replace(plain, dual=has_duals or not reads_plain(predictor, plain, frame))


def _draw_rows(vocabulary: Vocabulary, seed: int) -> pd.DataFrame:
    """Random complete rows over the variables of a judge."""
    drawn = Random(vocabulary, 0.0).draw(RANDOM_ROWS, generator(seed, Purpose.SAMPLED_ROWS))
    return pd.DataFrame(drawn.to_array(), columns=list(vocabulary.names))


def _infer_kinds(frame: pd.DataFrame, words: CodeBook) -> dict[str, Kind]:
    """The kinds of columns, by their values; those with levels are categories."""
    return {
        str(column): "categorical" if words.words(str(column)).are_categories else infer_kind(values)
        for column, values in frame.items()
    }
