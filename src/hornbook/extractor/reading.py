"""What was read out of a model: rules about each label, put together, and how faithful they are."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.classify.candidate import Point as Weighed
from hornbook.classify.explanation import Explanation
from hornbook.deciders import Decider
from hornbook.distributions import Distribution
from hornbook.evaluate import Agreement, Fidelity, RuleStatistics
from hornbook.explain.answers import FREE, Answers, united
from hornbook.extractor.subject import Judged, Subject, said
from hornbook.learners import DisagreementPoint, QueryResult
from hornbook.logic import Batch, HornTheory, Vocabulary
from hornbook.logic.formats import read_rule, rule_object
from hornbook.oracles import CoherenceReport, GroupPropagation
from hornbook.queries import Guarantee
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share


@dataclass(frozen=True)
class Found:
    """What was read about one label, in whichever way.

    Attributes
    ----------
    theory, background, statistics, guarantee, stop_reason
        See `QueryResult` and `hornbook.classify.explanation.Explanation`.
    frontier
        Theories of growing size, and how faithful each is.
    steps
        What happened, an entry for each equivalence query or candidate.
    queries
        How many answers the model gave.
    drawn_from, unknowns
        Where samples came from, and how unknown values were answered about.
    decider, default
        The card or tree that the theory decides by, if it does; the label of what it leaves open,
        if chosen.
    coherence
        How often the model contradicts itself about unknown values, if that was measured.

    """

    theory: HornTheory
    background: HornTheory
    statistics: tuple[RuleStatistics, ...]
    guarantee: Guarantee
    stop_reason: str
    frontier: tuple[Weighed, ...] | tuple[DisagreementPoint, ...]
    steps: tuple[dict[str, Any], ...]
    queries: int
    drawn_from: Distribution
    unknowns: str
    decider: Decider | None = None
    default: bool | None = None
    coherence: CoherenceReport | None = None

    @classmethod
    def explained(cls, found: Explanation, subject: Subject, steps: Sequence[dict[str, Any]]) -> Found:
        """What a reader's budget allows for."""
        return cls(
            found.theory,
            found.background.over(found.theory.vocabulary),
            found.statistics,
            found.guarantee,
            found.stop_reason,
            found.frontier,
            tuple(steps),
            found.queries,
            subject.drawn_from,
            found.unknowns,
            found.decider,
            found.default,
        )

    @classmethod
    def extracted(cls, found: QueryResult, subject: Subject | Judged) -> Found:
        """What equivalence queries led to."""
        return cls(
            found.theory,
            found.background,
            found.statistics,
            found.guarantee,
            found.stop_reason,
            found.frontier,
            tuple(found.trace.entries),
            found.membership_queries,
            subject.asked_from,
            subject.teacher.describe(),
            coherence=found.coherence,
        )

    @property
    def distribution(self) -> str:
        """Where samples came from, in words."""
        return self.drawn_from.describe()

    @property
    def curve(self) -> tuple[DisagreementPoint, ...]:
        """The frontier as rules, literals and disagreement."""
        return tuple(
            point
            if isinstance(point, DisagreementPoint)
            else DisagreementPoint(point.rules, point.literals, _rest(point.fidelity))
            for point in self.frontier
        )


@dataclass(frozen=True)
class Reading:
    """Rules about one label, or about several, and what is known of them.

    Attributes
    ----------
    answers
        The rules and the labels that they are about.
    rules
        What each rule is worth; none for a card or tree.
    fidelity
        How often rules, with their default, and model say the same: on unseen rows, and on samples.
    derived
        The share of fresh samples on which the rules themselves say what the model says.
    undetermined
        The share on which the rules say nothing, and the default does.
    conflicts
        The share for which more than one class follows; part of the former.
    found
        For each label what was read about it; for a judge the only one, under the empty name.
    seconds
        How long it took.

    """

    answers: Answers
    rules: tuple[RuleStatistics, ...]
    fidelity: Fidelity
    derived: Share
    undetermined: Share
    conflicts: Share
    found: dict[str, Found]
    seconds: float

    @property
    def worst(self) -> Found:
        """What differs most from the model: what holds for it holds for every label."""
        return max(
            self.found.values(), key=lambda found: found.curve[-1].disagreement.high if found.curve else 1
        )

    @property
    def stop_reason(self) -> str:
        """How the run ended; with several labels, how each did."""
        reasons = {label: found.stop_reason for label, found in self.found.items()}
        if len(set(reasons.values())) == 1:
            return next(iter(reasons.values()))
        return "; ".join(f"{label}: {reason}" for label, reason in reasons.items())

    @property
    def literals(self) -> int:
        """How many literals there are to read, heads aside."""
        return self.answers.to_read

    @property
    def queries(self) -> int:
        """How many answers the model gave in all."""
        return sum(found.queries for found in self.found.values())


def put_together(
    subjects: Sequence[Subject | Judged],
    found: Sequence[Found],
    unseen: pd.DataFrame,
    size: int,
    started: float,
) -> Reading:
    """The rules about all labels as one theory, measured on unseen rows and on so many fresh samples."""
    chosen_by, measured_on = (
        draw_samples(subjects[0], found[0], size, generator(subjects[0].seed, purpose))
        for purpose in (Purpose.DEFAULT_CHOICE, Purpose.EVALUATION)
    )
    parts = [_answers(subject, each, chosen_by) for subject, each in zip(subjects, found, strict=True)]
    answers = parts[0]
    if len(parts) > 1:
        labels = tuple(subject.label for subject in subjects)
        theory, background = (
            united([getattr(part, name) for part in parts], labels) for name in ("theory", "background")
        )
        answers = Answers(theory, background, labels, parts=tuple(parts))
        answers = replace(answers, default=_default(answers, said(subjects, chosen_by), chosen_by))
    model, derived = said(subjects, measured_on), answers.of(measured_on)
    follows = answers.following(measured_on).sum(axis=1) if answers.labels else np.zeros(size)
    conflicts = (follows > 1)[model != FREE]
    fidelity = Fidelity(
        samples=Agreement.of(answers.filled(measured_on), model).plain,
        unseen_rows=measure_rows(answers, subjects, unseen).plain if len(unseen) else None,
        used_rows=measure_rows(answers, subjects, subjects[0].frame).plain.estimate,
    )
    return Reading(
        answers,
        tuple(_statistics(answers.theory.vocabulary, found)),
        fidelity,
        Agreement.of(derived, model).plain,
        Agreement.of(derived, model).undetermined,
        Share.of(int(conflicts.sum()), len(conflicts)),
        dict(zip((subject.label for subject in subjects), found, strict=True)),
        time.perf_counter() - started,
    )


def _answers(subject: Subject | Judged, found: Found, items: Batch) -> Answers:
    """The rules about one label with their default."""
    if isinstance(subject, Judged):
        return Answers(found.theory, found.background)
    answers = Answers(found.theory, found.background, (subject.label,), decider=found.decider)
    if found.decider is not None:
        return answers
    default = (
        _default(answers, subject.answers(items), items) if found.default is None else int(found.default)
    )
    return replace(answers, default=default)


def _default(answers: Answers, model: NDArray[np.int8], items: Batch) -> int:
    """What the model says most often where the rules say nothing."""
    left = model[(answers.of(items) == FREE) & (model != FREE)]
    return int(np.bincount(left if len(left) else model[model != FREE], minlength=1).argmax())


def draw_samples(subject: Subject | Judged, found: Found, size: int, rng: np.random.Generator) -> Batch:
    """So many samples of the population that `Fidelity.samples` is about.

    Where a column is known to be in one bin, it is known to be in no other, as in real rows.
    """
    items = found.drawn_from.draw(size, rng)
    return GroupPropagation(items.vocabulary, subject.reader.groups)(items)


def measure_rows(answers: Answers, subjects: Sequence[Subject | Judged], rows: pd.DataFrame) -> Agreement:
    """How often rules, with their default, and model say the same of rows of a table."""
    return Agreement.of(answers.filled(subjects[0].reader.batch(rows)), said(subjects, rows))


def _statistics(vocabulary: Vocabulary, found: Sequence[Found]) -> Iterator[RuleStatistics]:
    """What every rule is worth, over the common vocabulary."""
    for each in found:
        for statistics in each.statistics:
            rule = read_rule(vocabulary, rule_object(each.background.vocabulary, statistics.rule))
            yield replace(statistics, rule=rule)


def _rest(share: Share) -> Share:
    return Share.of(share.size - share.hits, share.size)
