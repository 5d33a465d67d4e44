"""Models as they are asked: with the table they are asked about, and what they say of its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.classify.candidate import Point
from hornbook.classify.explanation import Explanation
from hornbook.classify.reading import Reading
from hornbook.classify.run import explain_classifier
from hornbook.data.binarise import Binariser
from hornbook.data.reader import Reader
from hornbook.distributions import Distribution
from hornbook.explain.answers import FREE
from hornbook.learners import QueryResult, Settings, extract
from hornbook.logic import Batch
from hornbook.models import Predictor
from hornbook.models.missing import columns_with_missing
from hornbook.oracles.columns import predict_readable_rows, reads_columns, wrap_column_model
from hornbook.oracles.completions import LabelOracle
from hornbook.proof.prover import Prover
from hornbook.queries import Step
from hornbook.teachers import (
    Teacher,
    Unknowns,
    augmented_rows,
    classifier_labels,
    classifier_teacher,
    judge_teacher,
    perturbed_rows,
    prover_for_model,
)
from hornbook.trace import Trace

Watch: TypeAlias = Callable[[Step, Trace], None]


@dataclass(frozen=True, eq=False)
class Subject:
    """A classifier as it is asked about one label.

    Parameters
    ----------
    label
        The name of the label, true for one class of the model's.
    predictor
        The model, its positive class that one.
    reader
        How rows become interpretations.
    frame
        The table: samples are its rows, spoiled a little.
    unknown, draws, seed
        How the model is asked about unknown values, see `hornbook.teachers.classifier_teacher`.

    """

    label: str
    predictor: Predictor
    reader: Reader
    frame: pd.DataFrame
    unknown: Unknowns | None
    draws: int
    seed: int

    @cached_property
    def by_columns(self) -> bool:
        """Whether the model reads the columns of the table, and not the variables made of them."""
        source = self.reader.source
        return isinstance(source, Binariser) and reads_columns(self.predictor, source.columns_)

    @cached_property
    def takes_missing_in(self) -> frozenset[str]:
        """The columns of the table in which the model takes missing values, found by asking it."""
        return columns_with_missing(self.predictor, self._named_frame)

    @cached_property
    def asked(self) -> Predictor:
        """The model as a function of variables."""
        source = self.reader.source
        if self.by_columns and isinstance(source, Binariser):
            takes_missing = self.takes_missing_in.issuperset(self.reader.columns)
            return wrap_column_model(self.predictor, source, self.frame, takes_missing)
        return self.predictor

    @cached_property
    def inputs(self) -> Sequence[str] | None:
        """The variables that the model reads, in its order; None where it knows itself."""
        if self.asked.names is not None:
            return None
        given = (
            self.reader.columns
            if not isinstance(self.reader.source, Binariser)
            else self.reader.vocabulary.names
        )
        counts = {self.asked.encoding.inputs(len(names)): names for names in (self.reader.plain, given)}
        return counts.get(self.asked.inputs or -1, given)

    @cached_property
    def rows(self) -> Batch:
        """The table as interpretations."""
        return self.reader.batch(self.frame)

    @cached_property
    def teacher(self) -> Teacher:
        """The model as a teacher about variables and label."""
        return classifier_teacher(self.asked, self.rows, self.label, **self._asking, seed=self.seed)

    @cached_property
    def labels(self) -> LabelOracle:
        """The model as a function from features to labels."""
        return classifier_labels(self.asked, self.rows, self.label, **self._asking, seed=self.seed)

    def prover(self, seconds: float) -> Prover:
        """Who proves what the model says about variables and label; the table's rows are not needed."""
        return prover_for_model(
            self.asked,
            self.reader.vocabulary,
            self.label,
            inputs=self.inputs,
            groups=self.reader.groups,
            unknown=self.unknown,
            seconds=seconds,
        )

    @property
    def _named_frame(self) -> pd.DataFrame:
        return self.frame.set_axis(list(self.reader.columns), axis=1)

    @property
    def _asking(self) -> dict[str, Any]:
        return {
            "inputs": self.inputs,
            "groups": self.reader.groups,
            "unknown": self.unknown,
            "draws": self.draws,
        }

    def answers(self, features: Batch) -> NDArray[np.int8]:
        """What the model predicts of interpretations: 1 or 0."""
        return self.labels(features).astype(np.int8)

    def answers_on(self, frame: pd.DataFrame) -> NDArray[np.int8]:
        """What the model predicts of rows of a table as they are.

        Rows with missing values that it cannot read get the label of most of their completions.
        """
        if not self.by_columns:
            batch = self.reader.batch(frame)
            labels = self.labels.model_labels if self.asked.encoding.native else self.labels
            return labels(batch).astype(np.int8)
        readable, decided = predict_readable_rows(self.predictor, frame, self.takes_missing_in)
        answers = np.empty(len(frame), np.int8)
        answers[readable] = decided
        if not readable.all():
            answers[~readable] = self.answers(self.reader.batch(frame[~readable]))
        return answers

    @cached_property
    def drawn_from(self) -> Distribution:
        """Where an explanation's samples come from: rows of the table, spoiled a little or a lot."""
        return augmented_rows(self.rows, self.reader.groups)

    @property
    def asked_from(self) -> Distribution:
        """Where the features in equivalence queries come from."""
        return perturbed_rows(self.rows, self.reader.groups)

    def explain(self, reading: Reading, watch: Callable[[Point], None] | None = None) -> Explanation:
        """The most faithful rules about the label, card or tree, that a reader is willing to read."""
        return explain_classifier(
            self.asked,
            self.rows,
            self.label,
            reading,
            **self._asking,
            distribution=self.drawn_from,
            watch=watch,
        )

    def extract(
        self,
        settings: Settings,
        trace: Path | None = None,
        watch: Watch | None = None,
        device: str | None = None,
    ) -> QueryResult:
        """Rules about the label and its negation, by equivalence queries."""
        return _extracted(self.teacher, settings, trace, watch, device)


@dataclass(frozen=True, eq=False)
class Judged:
    """A model that judges whole interpretations; the parameters are as for `Subject`."""

    predictor: Predictor
    reader: Reader
    frame: pd.DataFrame
    unknown: Unknowns | None
    draws: int
    seed: int
    label: ClassVar[str] = ""

    @cached_property
    def rows(self) -> Batch:
        """The table as interpretations."""
        return self.reader.batch(self.frame)

    @cached_property
    def teacher(self) -> Teacher:
        """The model as a teacher."""
        return judge_teacher(
            self.predictor,
            self.rows,
            groups=self.reader.groups,
            unknown=self.unknown,
            draws=self.draws,
            seed=self.seed,
        )

    def prover(self, seconds: float) -> Prover:
        """Who proves which interpretations the model accepts; the table's rows are not needed."""
        groups, unknown = self.reader.groups, self.unknown
        return prover_for_model(
            self.predictor, self.reader.vocabulary, groups=groups, unknown=unknown, seconds=seconds
        )

    def answers(self, items: Batch) -> NDArray[np.int8]:
        """Whether the model accepts interpretations: 1 or 0."""
        return self.teacher(items).astype(np.int8)

    def answers_on(self, frame: pd.DataFrame) -> NDArray[np.int8]:
        """Whether the model accepts rows of a table as they are; by completions where it cannot read them."""
        batch = self.reader.batch(frame)
        native = self.predictor.encoding.native
        return (self.predictor.decide(batch) if native else self.teacher(batch)).astype(np.int8)

    @property
    def asked_from(self) -> Distribution:
        """Where the interpretations in equivalence queries come from."""
        return self.teacher.distribution

    def extract(
        self,
        settings: Settings,
        trace: Path | None = None,
        watch: Watch | None = None,
        device: str | None = None,
    ) -> QueryResult:
        """Rules that tell what the model accepts, by equivalence queries."""
        return _extracted(self.teacher, settings, trace, watch, device)


def _extracted(
    teacher: Teacher, settings: Settings, trace: Path | None, watch: Watch | None, device: str | None
) -> QueryResult:
    return extract(
        teacher,
        teacher.distribution,
        settings,
        margin=teacher.margin,
        background=teacher.background,
        heads=teacher.heads,
        groups=teacher.groups,
        trace=trace,
        watch=watch,
        device=device,
    )


def said(subjects: Sequence[Subject | Judged], about: Batch | pd.DataFrame) -> NDArray[np.int8]:
    """The class that a model says each item or row is of, -1 where unknown values leave it open."""
    told = [
        subject.answers(about) if isinstance(about, Batch) else subject.answers_on(about)
        for subject in subjects
    ]
    if len(told) == 1:
        return told[0]
    yes = np.stack(told, axis=1) == 1
    return np.where(yes.any(axis=1), yes.argmax(axis=1), FREE).astype(np.int8)
