"""Teachers: a model that answers membership queries, bound to a distribution of queries."""

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
from hornbook.oracles import Classifier, Completions, GroupPropagation, Judge
from hornbook.oracles.completions import LabelOracle
from hornbook.proof.equivalence import ExactCompletions
from hornbook.proof.prover import PROOF_SECONDS, Prover
from hornbook.proof.region import Values
from hornbook.randomness import Purpose, generator

Unknowns: TypeAlias = Literal["native", "completions", "exact"]
"""How a model answers about unknown values: natively, by some completions, or by all of them."""

MISSING_SHARE, EXCHANGED_SHARE = 0.1, 0.05
"""How rows are perturbed: the shares of values made unknown and of values exchanged."""

DRAWS = 32
"""Default number of completions of an interpretation."""


@dataclass(frozen=True)
class Teacher:
    """A model that answers membership queries, and a distribution of queries.

    Parameters
    ----------
    model
        The model: a judge, a classifier, or completions of either.
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
        return self.model(self.propagate_groups(batch))

    def margin(self, batch: Batch) -> Floats:
        """The model's margins; negative where it rejects."""
        return self.model.margin(self.propagate_groups(batch))

    @cached_property
    def propagate_groups(self) -> GroupPropagation:
        """Adds to each query what follows from the groups."""
        return GroupPropagation(self.distribution.vocabulary, self.groups)

    def describe(self) -> str:
        """How unknown values are answered, in words."""
        if isinstance(self.model, Judge | Classifier):
            return "the model's own"
        return self.model.describe()

    def prover(self, seconds: float = PROOF_SECONDS) -> Prover:
        """A prover of the model's answers for every input, with a time limit in seconds per question."""
        model = self.model.member if isinstance(self.model, Completions) else self.model
        if isinstance(model, ExactCompletions):
            return model.prover
        assert isinstance(model, Judge | Classifier)
        values: Values | None = "complete" if isinstance(self.model, Completions) else None
        return _make_prover(model, self.distribution.vocabulary, self.groups, values, seconds)

    @property
    def background(self) -> HornTheory:
        """The rules that always hold: a variable excludes its dual and the others of its group."""
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
    """Make a teacher of a model that judges interpretations; parameters as for `classifier_teacher`."""
    predictor.check(rows.vocabulary)
    distribution = distribution or perturbed_rows(rows, groups)
    return _make_teacher(Judge(predictor), distribution, Rows(rows), groups, unknown, draws, seed)


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
    """Make a teacher, over features and label, of a model that predicts a label from features.

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
        Where the features of samples come from: by default the rows, see `perturbed_rows`.
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
    labelled = Labelled(distribution or perturbed_rows(rows, groups), label)
    classifier = Classifier(predictor, labelled.vocabulary, label, inputs)
    return _make_teacher(classifier, labelled, Labelled(Rows(rows), label), groups, unknown, draws, seed)


def _make_teacher(
    model: Judge | Classifier,
    distribution: Distribution,
    rows: Distribution,
    groups: Groups,
    unknown: Unknowns | None,
    draws: int,
    seed: int,
) -> Teacher:
    """Make a teacher with the given policy for unknown values."""
    vocabulary = distribution.vocabulary
    heads = model.heads if isinstance(model, Classifier) else frozenset()
    answering: Judge | Classifier | Completions | ExactCompletions = model
    if unknown == "exact":
        answering = ExactCompletions(_make_prover(model, vocabulary, groups, "complete"))
    elif _needs_completions(model.predictor, unknown):
        rng = generator(seed, Purpose.COMPLETIONS)
        answering = Completions(
            model, vocabulary, draws, model.margin, rng=rng, groups=groups, rows=rows, keep=heads
        )
    return Teacher(answering, distribution, groups, tuple(sorted(heads)) or None)


def _make_prover(
    model: Judge | Classifier,
    vocabulary: Vocabulary,
    groups: Groups,
    values: Values | None,
    seconds: float = PROOF_SECONDS,
) -> Prover:
    """Make a prover of a model's answers."""
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


def prover_for_model(
    predictor: Predictor,
    features: Vocabulary,
    label: str | None = None,
    *,
    inputs: Sequence[str] | None = None,
    groups: Groups = (),
    unknown: Unknowns | None = None,
    seconds: float = PROOF_SECONDS,
) -> Prover:
    """Make a prover of a model's answers over features and label; without a label, over a judge's variables.

    Parameters as for `classifier_teacher`, and the time limit in seconds per question.
    """
    complete = unknown == "exact" or _needs_completions(predictor, unknown)
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
) -> LabelOracle:
    """Make an oracle for the model's label of rows of features, with or without unknown values.

    The parameters are those of `classifier_teacher`. A model that has no number for ? is asked
    about `draws` completions, with values of `rows`, and the label that most of them get counts.
    """
    vocabulary = Labelled(Rows(rows), label).vocabulary
    classifier = Classifier(predictor, vocabulary, label, inputs)
    completions = draws if _needs_completions(predictor, unknown) else None
    return LabelOracle(classifier, rows, groups, completions, rng=generator(seed, Purpose.COMPLETIONS))


def perturbed_rows(rows: Batch, groups: Groups = ()) -> Rows:
    """The user's rows with some values exchanged or made unknown: the default distribution of teachers."""
    return Rows(rows, MISSING_SHARE, EXCHANGED_SHARE, groups)


def augmented_rows(rows: Batch, groups: Groups = ()) -> Mixture:
    """Perturbed rows, and crossovers of two rows each: the default distribution of explanations.

    A crossover takes each column from one row or the other, so it is near the rows and yet new.
    What holds for both kinds generalises better than what holds for the rows alone.
    """
    grouped = {v for group in groups for v in group}
    alone = (v for v in Literals.of(rows.vocabulary, groups).drawn.tolist() if v not in grouped)
    columns = (*groups, *((v,) for v in alone))
    return Mixture((perturbed_rows(rows, groups), Rows(rows, MISSING_SHARE, 0.5, columns)), (0.5, 0.5))


def _needs_completions(predictor: Predictor, unknown: Unknowns | None) -> bool:
    if unknown not in (None, *get_args(Unknowns)):
        raise HornbookError(f"unknown is 'native', 'completions' or 'exact', not {unknown!r}")
    if unknown == "native" and not predictor.encoding.native:
        raise HornbookError(
            f"{predictor.name} takes complete inputs only; ask it with unknown='completions', or name the "
            "encoding of ? that it was trained with: as_predictor(model, encoding='half')"
        )
    return unknown == "completions" or not predictor.encoding.native


def teacher_from_table(
    table: Table, predictor: Predictor, rules: HornTheory, *, judges: bool, seed: int = 0
) -> Teacher:
    """Make a teacher over the columns of a table, binarised as the rules and the model need it.

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
    """The names of the variables in rules."""
    heads = {rule.head for rule in rules if not isinstance(rule.head, Bottom)}
    return set(rules.vocabulary.named(heads.union(*(rule.body for rule in rules))))
