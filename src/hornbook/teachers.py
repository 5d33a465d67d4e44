"""A model and the user's rows as a teacher: who answers, and where samples come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from hornbook.data.binarise import Binariser
from hornbook.data.conditions import exclusivity_rules
from hornbook.data.table import Table
from hornbook.distributions import Distribution, Groups, Labelled, Literals, Mixture, Rows
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Bottom, HornTheory, Vocabulary
from hornbook.models import Predictor
from hornbook.models.predictor import Floats
from hornbook.oracles import Classifier, Completions, Exclusions, Judge
from hornbook.oracles.completions import Labels
from hornbook.proof.equivalence import ExactCompletions
from hornbook.proof.prover import PROOF_SECONDS, Prover
from hornbook.proof.region import Values
from hornbook.randomness import Purpose, generator

Unknowns: TypeAlias = Literal["native", "completions", "exact"]
"""How a model answers about ?: by itself, or by what it says of some completions, or of all."""

MISSING, FLIPS = 0.1, 0.05
"""How rows are spoiled: the share of values made unknown, and of values exchanged."""

DRAWS = 32
"""Completions tried for each interpretation."""


@dataclass(frozen=True)
class Teacher:
    """A model that answers questions, and a distribution of questions.

    Parameters
    ----------
    model
        Who answers; a judge, a classifier, or the completions of either, some or all.
    distribution
        Where samples come from.
    groups
        Sets of variables of which at most one is true.
    heads
        The heads that rules need to have, or None for any.

    """

    model: Judge | Classifier | Completions | ExactCompletions
    distribution: Distribution
    groups: Groups = ()
    heads: tuple[int, ...] | None = None

    def __call__(self, batch: Batch) -> Bools:
        """Whether the model accepts each interpretation."""
        return self.model(self.exclusions(batch))

    def margin(self, batch: Batch) -> Floats:
        """How clearly it does; negative where it rejects."""
        return self.model.margin(self.exclusions(batch))

    @cached_property
    def exclusions(self) -> Exclusions:
        """What the groups add to a question before the model is asked."""
        return Exclusions(self.distribution.vocabulary, self.groups)

    def describe(self) -> str:
        """How unknown values are answered about."""
        if isinstance(self.model, Judge | Classifier):
            return "the model's own"
        return self.model.describe()

    def prover(self, seconds: float = PROOF_SECONDS) -> Prover:
        """Who proves what the model says, for every input and in so many seconds a question."""
        model = self.model.member if isinstance(self.model, Completions) else self.model
        if isinstance(model, ExactCompletions):
            return model.prover
        assert isinstance(model, Judge | Classifier)
        values: Values | None = "complete" if isinstance(self.model, Completions) else None
        return _prover(model, self.distribution.vocabulary, self.groups, values, seconds)

    @property
    def background(self) -> HornTheory:
        """What always holds: a variable excludes its dual, and the others of its group."""
        vocabulary = self.distribution.vocabulary
        return HornTheory.background(vocabulary) | exclusivity_rules(vocabulary, self.groups)


def judge_teacher(
    predictor: Predictor,
    rows: Batch,
    *,
    groups: Groups = (),
    distribution: Distribution | None = None,
    unknown: Unknowns | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Teacher:
    """A model that judges interpretations, as a teacher; the parameters are as for a classifier."""
    predictor.check(rows.vocabulary)
    distribution = distribution or spoiled(rows, groups)
    return _taught(Judge(predictor), distribution, Rows(rows), groups, unknown, draws, seed)


def classifier_teacher(
    predictor: Predictor,
    rows: Batch,
    label: str,
    *,
    inputs: Sequence[str] | None = None,
    groups: Groups = (),
    distribution: Distribution | None = None,
    unknown: Unknowns | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Teacher:
    """A model that predicts a label from features, as a teacher about features and label.

    Parameters
    ----------
    predictor
        The model.
    rows
        The features of real rows, without the label.
    label
        The name of the label, which is true where the model decides for its positive class.
    inputs
        The features that the model reads, in its order: see `Classifier`.
    groups
        Sets of features of which at most one is true.
    distribution
        Where the features of samples come from: by default the rows, see `spoiled`.
    unknown
        How the model answers about ?: `native`, or by `completions`, in which case it accepts
        what it accepts in one of `draws` completions with values of `rows`; or `exact`, by all
        completions, which is decided for feed-forward ReLU networks (`hornbook.proof`).
        By default native where the model has a number for ?.
    draws, seed
        How many completions are tried, and which.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbook.logic import Vocabulary
    >>> from hornbook.models import as_predictor
    >>> symptoms = Vocabulary(["fever", "cough"])
    >>> rows = Batch.from_array([[1, 1], [1, 0], [0, 1], [0, 0]], symptoms)
    >>> model = as_predictor(lambda array: array.max(axis=1), name="any symptom")
    >>> teacher = classifier_teacher(model, rows, "ill")
    >>> batch = Batch.from_array([[1, np.nan, 0, 1], [0, np.nan, 0, 1]], teacher.distribution.vocabulary)
    >>> teacher(batch)
    array([False,  True])

    """
    labelled = Labelled(distribution or spoiled(rows, groups), label)
    classifier = Classifier(predictor, labelled.vocabulary, label, inputs)
    return _taught(classifier, labelled, Labelled(Rows(rows), label), groups, unknown, draws, seed)


def _taught(
    model: Judge | Classifier,
    distribution: Distribution,
    rows: Distribution,
    groups: Groups,
    unknown: Unknowns | None,
    draws: int,
    seed: int,
) -> Teacher:
    """The model as a teacher that answers about ? in the way that is wanted."""
    vocabulary = distribution.vocabulary
    leave = model.heads if isinstance(model, Classifier) else frozenset()
    answering: Judge | Classifier | Completions | ExactCompletions = model
    if unknown == "exact":
        answering = ExactCompletions(_prover(model, vocabulary, groups, "complete"))
    elif _by_completions(model.predictor, unknown):
        rng = generator(seed, Purpose.COMPLETIONS)
        answering = Completions(
            model, vocabulary, draws, model.margin, rng=rng, groups=groups, rows=rows, leave=leave
        )
    return Teacher(answering, distribution, groups, tuple(sorted(leave)) or None)


def _prover(
    model: Judge | Classifier,
    vocabulary: Vocabulary,
    groups: Groups,
    values: Values | None,
    seconds: float = PROOF_SECONDS,
) -> Prover:
    """Who proves what a model says about an interpretation."""
    classifier = model if isinstance(model, Classifier) else None
    return Prover(
        model.predictor,
        vocabulary,
        groups=groups,
        values=values,
        label=None if classifier is None else vocabulary.name(classifier.label),
        features=None if classifier is None else classifier.features.names,
        seconds=seconds,
    )


def prover_about(
    predictor: Predictor,
    features: Vocabulary,
    label: str | None = None,
    *,
    inputs: Sequence[str] | None = None,
    groups: Groups = (),
    unknown: Unknowns | None = None,
    seconds: float = PROOF_SECONDS,
) -> Prover:
    """Who proves what a model says, without any rows: about features and label, or, of a judge, variables.

    The parameters are those of `classifier_teacher`, and what a question may take.
    """
    complete = unknown == "exact" or _by_completions(predictor, unknown)
    return Prover(
        predictor,
        features if label is None else features.with_label(label),
        groups=groups,
        values="complete" if complete else None,
        label=label,
        features=inputs,
        seconds=seconds,
    )


def classifier_labels(
    predictor: Predictor,
    rows: Batch,
    label: str,
    *,
    inputs: Sequence[str] | None = None,
    groups: Groups = (),
    unknown: Unknowns | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Labels:
    """The labels that a model gives to rows of features, whatever is unknown in them.

    The parameters are those of `classifier_teacher`. A model that has no number for ? is asked
    about `draws` completions, with values of `rows`, and the label that most of them get counts.
    """
    vocabulary = Labelled(Rows(rows), label).vocabulary
    classifier = Classifier(predictor, vocabulary, label, inputs)
    completions = draws if _by_completions(predictor, unknown) else None
    return Labels(classifier, rows, groups, completions, rng=generator(seed, Purpose.COMPLETIONS))


def spoiled(rows: Batch, groups: Groups = ()) -> Rows:
    """The user's rows with extra missing values and exchanged ones: what teachers are asked about."""
    return Rows(rows, MISSING, FLIPS, groups)


def perturbed(rows: Batch, groups: Groups = ()) -> Mixture:
    """The user's rows, spoiled, and children of two rows each: what classifiers are explained on.

    A child has each column from one row or the other, so it is near the rows and yet none of
    them. What holds of both holds of further rows more than what holds of these alone.
    """
    grouped = {v for group in groups for v in group}
    alone = (v for v in Literals.of(rows.vocabulary, groups).drawn.tolist() if v not in grouped)
    columns = (*groups, *((v,) for v in alone))
    return Mixture((spoiled(rows, groups), Rows(rows, MISSING, 0.5, columns)), (0.5, 0.5))


def _by_completions(predictor: Predictor, unknown: Unknowns | None) -> bool:
    if unknown not in (None, *get_args(Unknowns)):
        raise HornbookError(f"unknown is 'native', 'completions' or 'exact', not {unknown!r}")
    if unknown == "native" and not predictor.encoding.native:
        raise HornbookError(
            f"{predictor.name} takes complete inputs only; ask it with unknown='completions', or name the "
            "encoding of ? that it was trained with: as_predictor(model, encoding='half')"
        )
    return unknown == "completions" or not predictor.encoding.native


def teacher_about(
    table: Table, predictor: Predictor, rules: HornTheory, *, judges: bool, seed: int = 0
) -> Teacher:
    """A model as a teacher about the columns of a table, binarised as the rules and the model need it.

    Variables get duals if the rules or the model name one, or if the model has twice as many
    inputs. A model that does not judge predicts the table's label from the other columns.
    """
    frame = table.frame if judges else table.features
    kinds = {column: kind for column, kind in table.kinds.items() if column in frame}
    plain = Binariser(kinds=kinds).fit(frame).vocabulary_
    named = {*_names(rules), *(predictor.names or ())} - {f"not_{table.label}" if not judges else ""}
    paired = Vocabulary.with_duals(plain)
    doubled = predictor.encoding.inputs(len(paired))
    dual = predictor.inputs == doubled or any(name not in plain and name in paired for name in named)
    binariser = Binariser(kinds=kinds, dual=dual).fit(frame)
    rows, groups = binariser.batch(frame), binariser.groups_
    if judges:
        return judge_teacher(predictor, rows, groups=groups, seed=seed)
    reads_plain = predictor.names is None and predictor.inputs == predictor.encoding.inputs(len(plain))
    inputs = plain.names if reads_plain else None
    return classifier_teacher(predictor, rows, str(table.label), inputs=inputs, groups=groups, seed=seed)


def _names(rules: HornTheory) -> set[str]:
    """The names that rules speak of."""
    heads = {rule.head for rule in rules if not isinstance(rule.head, Bottom)}
    return set(rules.vocabulary.named(heads.union(*(rule.body for rule in rules))))
