"""Models as teachers of queries about partial interpretations, bound to the variables of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from hornbook.code_book import CodeBook, CodeBookSource, read_code_book
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Bottom, HornTheory, Vocabulary
from hornbook.models import (
    ClassifierTeacher,
    Floats,
    Predictor,
    bind_classifier,
    predict_two_classes,
)
from hornbook.models.subject import Binding
from hornbook.proof import PROOF_SECONDS, Interpretations, RuleProver, make
from hornbook.queries.completions import Completions, LabelOracle
from hornbook.queries.distributions import Distribution, Labelled, Random, Rows
from hornbook.queries.literals import Groups, exclusivity_rules
from hornbook.queries.membership import Classifier, GroupPropagation, Judge
from hornbook.queries.reader import (
    Reader,
    fit_binariser,
    is_binary,
    reads_columns,
    to_frame,
    wrap_column_model,
)
from hornbook.randomness import Purpose, generator
from hornbook.tables import (
    Kind,
    Table,
    as_frame,
    infer_kind,
    name_columns,
    number_times,
    refuse_unusable,
    remember_form,
    split_rows,
)

if TYPE_CHECKING:
    from hornbook.queries.binarise import Binariser  # needs scikit-learn, which takes a second to import

MISSING_SHARE, EXCHANGED_SHARE = 0.1, 0.05
"""How rows are perturbed: the shares of values made unknown and of values exchanged."""

COMPLETIONS = 32
"""Number of completions of an interpretation."""

RANDOM_ROWS = 1000
"""Rows that are drawn for a judge of which only the variables are given."""


@dataclass(frozen=True)
class QueryTeacher:
    """A model that answers membership queries, and a distribution of queries.

    Parameters
    ----------
    model
        A judge or a classifier.
    distribution
        Where samples come from.
    groups
        Sets of variables that exclude each other.
    completions
        The same model for unknown values, where it has no number for them.

    """

    model: Judge | Classifier
    distribution: Distribution
    groups: Groups = ()
    completions: Completions | None = None

    @classmethod
    def of(
        cls,
        model: Judge | Classifier,
        rows: Batch,
        *,
        groups: Groups = (),
        seed: int = 0,
        distribution: Distribution | None = None,
    ) -> QueryTeacher:
        """Make a teacher, which answers about unknown values by completions where its model cannot.

        A model that has no number for ? accepts what it accepts in one of 32 completions with values of
        `rows`.

        Parameters
        ----------
        model
            A judge, or a classifier, which is asked about features and label.
        rows
            Real rows, of features without the label.
        groups
            Sets of features that exclude each other.
        seed
            Decides which completions are tried.
        distribution
            Where samples come from; by default these are the rows with some values changed.

        Examples
        --------
        >>> import numpy as np
        >>> from hornbook.models import as_predictor
        >>> symptoms = Vocabulary(["fever", "cough"])
        >>> rows = Batch.from_array([[1, 1], [1, 0], [0, 1], [0, 0]], symptoms)
        >>> model = as_predictor(lambda array: array.max(axis=1), name="any symptom")
        >>> teacher = QueryTeacher.of(Classifier(model, symptoms.with_label("ill"), "ill"), rows)
        >>> batch = Batch.from_array([[1, np.nan, 0, 1], [0, np.nan, 0, 1]], teacher.distribution.vocabulary)
        >>> teacher(batch)
        array([False,  True])

        """
        drawn: Distribution = distribution or perturbed_rows(rows, groups)
        source: Distribution = Rows(rows)
        if isinstance(model, Classifier):
            label = model.vocabulary.name(model.label)
            drawn, source = Labelled(drawn, label), Labelled(source, label)
        else:
            model.predictor.check(rows.vocabulary)
        completions = None
        if not model.predictor.encoding.native:
            completions = Completions(
                model,
                drawn.vocabulary,
                COMPLETIONS,
                model.margin,
                rng=generator(seed, Purpose.COMPLETIONS),
                groups=groups,
                rows=source,
                keep=model.heads,
            )
        return cls(model, drawn, groups, completions)

    def __call__(self, batch: Batch) -> Bools:
        """Whether the model accepts each interpretation."""
        return (self.completions or self.model)(self.propagate_groups(batch))

    def margin(self, batch: Batch) -> Floats:
        """The model's margins; negative where it rejects."""
        return (self.completions or self.model).margin(self.propagate_groups(batch))

    @property
    def heads(self) -> tuple[int, ...] | None:
        """The heads that rules need to have, or None for any."""
        return tuple(sorted(self.model.heads)) or None

    @cached_property
    def propagate_groups(self) -> GroupPropagation:
        """Adds to each query what follows from the groups."""
        return GroupPropagation(self.distribution.vocabulary, self.groups)

    def describe(self) -> str:
        """How unknown values are answered, in words."""
        return "the model's own" if self.completions is None else self.completions.describe()

    def prover(self, seconds: float = PROOF_SECONDS) -> RuleProver:
        """A prover of the model's answers for every input, with a time limit in seconds per question."""
        vocabulary, model = self.distribution.vocabulary, self.model
        classifier = model if isinstance(model, Classifier) else None
        domain = Interpretations(
            vocabulary,
            self.groups,
            None if self.completions is None else "complete",
            None if classifier is None else vocabulary.name(classifier.label),
            None if classifier is None else classifier.features.names,
        )
        return make(model.predictor, domain, seconds)

    @property
    def background(self) -> HornTheory:
        """The rules that always hold: a variable excludes its dual and the others of its group."""
        vocabulary = self.distribution.vocabulary
        return HornTheory.background(vocabulary) | exclusivity_rules(vocabulary, self.groups)


def perturbed_rows(rows: Batch, groups: Groups = ()) -> Rows:
    """The user's rows with some values exchanged or made unknown: the default distribution of teachers."""
    return Rows(rows, MISSING_SHARE, EXCHANGED_SHARE, groups)


@dataclass(frozen=True, eq=False)
class VariableTeacher:
    """A model of two classes, or a judge, that is asked about the variables of the rows of a table.

    Parameters
    ----------
    predictor
        The model.
    reader
        How rows become interpretations.
    frame
        The table.
    label
        The name of the label that a classifier decides; None for a judge of whole interpretations.
    seed
        Decides completions and the values that bins are represented by.
    classes
        What a classifier calls its classes.
    distribution
        Where the interpretations of a judge come from, if not from the table.

    """

    predictor: Predictor
    reader: Reader
    frame: pd.DataFrame
    label: str | None
    seed: int = 0
    classes: tuple[Any, ...] = (False, True)
    distribution: Distribution | None = None

    @cached_property
    def reads_columns(self) -> bool:
        """Whether the model reads the columns of the table, and not the variables made of them."""
        return self.reader.binarises and reads_columns(self.predictor, self.reader.columns)

    @cached_property
    def variable_model(self) -> Predictor:
        """The model as a function of variables: one of columns is shown values that meet the question."""
        binariser = self.reader.described
        if binariser is None or not self.reads_columns:
            return self.predictor
        rng = generator(self.seed, Purpose.BIN_VALUES)
        return wrap_column_model(self.predictor, binariser, self.frame, self._takes_missing, rng)

    @cached_property
    def inputs(self) -> Sequence[str] | None:
        """The variables that the model reads, in its order; None where it knows itself."""
        if self.variable_model.names is not None:
            return None
        reader = self.reader
        given = reader.vocabulary.names if reader.binarises else reader.columns
        counts = {self.variable_model.encoding.inputs(len(names)): names for names in (reader.plain, given)}
        return counts.get(self.variable_model.inputs or -1, given)

    @cached_property
    def rows(self) -> Batch:
        """The table as interpretations."""
        return self.reader.batch(self.frame)

    @property
    def groups(self) -> Groups:
        """Sets of variables of which a question has at most one."""
        return self.reader.groups

    @cached_property
    def queries(self) -> QueryTeacher:
        """The model as a teacher that answers membership queries, about variables and label."""
        if self.label is None:
            model: Judge | Classifier = Judge(self.predictor)
        else:
            model = self._classify_variables(self.label)
        return QueryTeacher.of(
            model, self.rows, groups=self.groups, seed=self.seed, distribution=self.distribution
        )

    def _classify_variables(self, label: str) -> Classifier:
        return Classifier(self.variable_model, self.rows.vocabulary.with_label(label), label, self.inputs)

    @cached_property
    def label_oracle(self) -> LabelOracle:
        """The model as a function from features to labels."""
        assert self.label is not None
        classifier = self._classify_variables(self.label)
        completions = None if self.variable_model.encoding.native else COMPLETIONS
        rng = generator(self.seed, Purpose.COMPLETIONS)
        return LabelOracle(classifier, self.rows, self.reader.groups, completions, rng=rng)

    @property
    def feature_distribution(self) -> Distribution:
        """Where interpretations of the features come from: the rows, with some values changed."""
        if self.label is None:
            return self.queries.distribution
        return perturbed_rows(self.rows, self.reader.groups)

    def prover(self, seconds: float = PROOF_SECONDS) -> RuleProver:
        """A prover of the model's answers for every input, with a time limit in seconds per question."""
        if self.reads_columns:
            raise HornbookError(
                f"{self.predictor.name} reads the columns of the table, and these proofs are about models "
                "that read its variables; hornbook extract --proof proves rules about columns"
            )
        return self.queries.prover(seconds)

    def decide_items(self, items: Batch) -> Bools:
        """Whether the model accepts interpretations, or decides for its label."""
        return self.queries(items) if self.label is None else self.label_oracle(items)

    def decide_rows(self, frame: pd.DataFrame) -> Bools:
        """The model's own decision about rows as they are; by completions where it cannot read them."""
        if self.reads_columns:
            return self._classifier.labels(frame).astype(np.bool_)
        items = self.reader.batch(frame)
        if not self.variable_model.encoding.native:
            return self.decide_items(items)
        return self.predictor.decide(items) if self.label is None else self.label_oracle.model_labels(items)

    def labels(self, rows: pd.DataFrame) -> NDArray[np.intp]:
        """The number of the model's class for each row: 1 where it accepts, or decides for its label."""
        return self.decide_rows(rows).astype(np.intp)

    @cached_property
    def _classifier(self) -> ClassifierTeacher:
        return bind_classifier(self.predictor, self.frame, self.seed)

    @cached_property
    def _takes_missing(self) -> bool:
        return self._classifier.donors is None


@dataclass(frozen=True, eq=False)
class QuerySubject(Binding[VariableTeacher]):
    """A model bound to the variables of a table, with the user's words; no rows of a judge are held out."""

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
                column_kinds = kinds or _infer_kinds(frame, words)
                binariser = fit_binariser(predictor, frame.iloc[used], column_kinds)
            reader = Reader.of(frame, binariser, duals)
        drawn: Distribution | None = Random(X) if isinstance(X, Vocabulary) else None
        teacher = VariableTeacher(
            predictor,
            reader,
            frame.iloc[used],
            target,
            seed,
            classes if duals else (False, True),
            drawn,
        )
        return cls(teacher, frame, kept_back, words, target or "what it accepts", seed, groups)


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
    return number_times(frame)


def _infer_kinds(frame: pd.DataFrame, words: CodeBook) -> dict[str, Kind]:
    """The kinds of columns, by their values; those with levels are categories."""
    return {
        str(column): "categorical" if words.words(str(column)).are_categories else infer_kind(values)
        for column, values in frame.items()
    }


def judge_of_table(table: Table, predictor: Predictor, rules: HornTheory, *, seed: int = 0) -> QueryTeacher:
    """Make a teacher of a judge of a table's rows, binarised as the rules and the model need it.

    Variables get duals if the rules or the model name one, or if the model has twice as many inputs.
    """
    from hornbook.queries.binarise import Binariser

    plain = Binariser(kinds=table.kinds).fit(table.frame).vocabulary_
    paired = Vocabulary.with_duals(plain)
    named = {*_names(rules), *(predictor.names or ())}
    doubled = predictor.inputs == predictor.encoding.inputs(len(paired))
    dual = doubled or any(name not in plain and name in paired for name in named)
    binariser = Binariser(kinds=table.kinds, dual=dual).fit(table.frame)
    return QueryTeacher.of(
        Judge(predictor), binariser.batch(table.frame), groups=binariser.groups_, seed=seed
    )


def _names(rules: HornTheory) -> set[str]:
    """The names of the variables in rules."""
    heads = {rule.head for rule in rules if not isinstance(rule.head, Bottom)}
    return set(rules.vocabulary.named(heads.union(*(rule.body for rule in rules))))
