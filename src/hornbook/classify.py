"""Rules out of a classifier: from what it predicts to why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hornbook.distributions import Distribution
from hornbook.distributions.literals import Groups
from hornbook.extraction import Extraction, Settings, extract
from hornbook.logic.batch import Batch
from hornbook.oracles.adapters import Predictor
from hornbook.queries import Step
from hornbook.teachers import DRAWS, Unknowns, classifier_teacher
from hornbook.traces import Trace


def explain_classifier(
    predictor: Predictor,
    rows: Batch,
    label: str,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    *,
    inputs: Sequence[str] | None = None,
    groups: Groups = (),
    distribution: Distribution | None = None,
    unknown: Unknowns | None = None,
    draws: int = DRAWS,
    trace: Path | None = None,
    watch: Callable[[Step, Trace], None] | None = None,
) -> Extraction:
    """Read rules about a label, and about its negation, out of a classifier.

    The theory is over the features, the label and its dual; its rules have one of the latter
    two as their head. What it says about rows is told by `evaluate.predicted_labels`.

    Parameters
    ----------
    predictor
        The model.
    rows
        The features of real rows, without the label: with duals, if rules may speak of what is
        false.
    label
        The name of the label, which is true where the model decides for its positive class.
    settings
        Budget, sample sizes, precision and seed.
    inputs
        The features that the model reads, in its order. By default the names it was trained
        with, where it knows them, and otherwise all.
    groups
        Sets of features of which at most one is true: the `groups_` of a binariser. No question
        breaks them.
    distribution
        Where the features of samples come from. By default the rows, with extra missing values
        and exchanged ones.
    unknown, draws
        How the model answers about ?, see `hornbook.teachers.classifier_teacher`.
    trace, watch
        A file for the steps, and a function that is called after each.

    Examples
    --------
    >>> from hornbook.logic.vocabulary import Vocabulary
    >>> from hornbook.oracles.adapters import as_predictor
    >>> symptoms = Vocabulary.with_duals(["fever", "cough"])
    >>> rows = Batch.from_array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]], symptoms)
    >>> model = as_predictor(lambda array: array.max(axis=1), name="any symptom")
    >>> small = Settings(pool=1000, size=1000, evaluation=1000)
    >>> found = explain_classifier(model, rows, "ill", small, inputs=["fever", "cough"])
    >>> for rule in sorted(str(found.theory).splitlines()):
    ...     print(rule)
    cough → ill
    cough ∧ not_cough → ⊥
    fever → ill
    fever ∧ not_fever → ⊥
    ill ∧ not_ill → ⊥
    not_fever ∧ not_cough → not_ill

    """
    teacher = classifier_teacher(
        predictor,
        rows,
        label,
        inputs=inputs,
        groups=groups,
        distribution=distribution,
        unknown=unknown,
        draws=draws,
        seed=settings.seed,
    )
    return extract(
        teacher,
        teacher.distribution,
        settings,
        margin=teacher.margin,
        background=teacher.background,
        heads=teacher.heads,
        groups=groups,
        trace=trace,
        watch=watch,
    )
