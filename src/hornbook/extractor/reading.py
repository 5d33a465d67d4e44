"""What was read out of a model: rules about each label, put together, and how faithful they are."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hornbook.answers import FREE, Answers, united
from hornbook.cards import Card
from hornbook.classify import Explanation
from hornbook.classify import Point as Weighed
from hornbook.evaluate.rules import RuleStatistics
from hornbook.extraction import Extraction, Point
from hornbook.extractor.subject import Judged, Subject, said
from hornbook.intervals import Share
from hornbook.logic.formats import read_rule, rule_object
from hornbook.logic.theory import HornTheory
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.coherence import CoherenceReport
from hornbook.queries import Guarantee

STREAM = 3
"""The stream of randomness that fresh samples come from; those before it are the learners' own."""


@dataclass(frozen=True)
class Found:
    """What was read about one label, in whichever way.

    Attributes
    ----------
    theory, background, statistics, guarantee, stop_reason
        See `Extraction` and `hornbook.classify.Explanation`.
    frontier
        Theories of growing size, and how faithful each is.
    steps
        What happened, an entry for each equivalence query or candidate.
    queries
        How many answers the model gave.
    card
        The score that the theory counts, if it does.
    coherence
        How often the model contradicts itself about unknown values, if that was measured.

    """

    theory: HornTheory
    background: HornTheory
    statistics: tuple[RuleStatistics, ...]
    guarantee: Guarantee
    stop_reason: str
    frontier: tuple[Weighed, ...] | tuple[Point, ...]
    steps: tuple[dict[str, Any], ...]
    queries: int
    distribution: str
    unknowns: str
    card: Card | None = None
    coherence: CoherenceReport | None = None

    @classmethod
    def explained(cls, found: Explanation, steps: Sequence[dict[str, Any]]) -> Found:
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
            found.distribution,
            found.unknowns,
            found.card,
        )

    @classmethod
    def extracted(cls, found: Extraction, subject: Subject | Judged) -> Found:
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
            subject.teacher.distribution.describe(),
            subject.teacher.describe(),
            coherence=found.coherence,
        )

    @property
    def curve(self) -> tuple[Point, ...]:
        """The frontier as rules, literals and disagreement."""
        return tuple(
            point if isinstance(point, Point) else Point(point.rules, point.literals, _rest(point.fidelity))
            for point in self.frontier
        )


@dataclass(frozen=True)
class Faithfulness:
    """How rules and model compare on fresh samples.

    Attributes
    ----------
    agreement
        The share on which they say the same, the default included.
    derived
        The share on which the rules themselves say so.
    undetermined
        The share on which the rules say nothing, and the default does.
    conflicts
        The share for which more than one class follows; part of the former.

    """

    agreement: Share
    derived: Share
    undetermined: Share
    conflicts: Share


@dataclass(frozen=True)
class Reading:
    """Rules about one label, or about several, and what is known of them.

    Attributes
    ----------
    answers
        The rules and the labels that they are about.
    rules
        What each rule is worth; none for a card.
    faithfulness
        Rules and model on fresh samples.
    found
        For each label what was read about it; for a judge the only one, under the empty name.
    seconds
        How long it took.

    """

    answers: Answers
    rules: tuple[RuleStatistics, ...]
    faithfulness: Faithfulness
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
        card = self.answers.card
        return sum(len(rule.body) for rule in self.answers.rules) if card is None else card.literals

    @property
    def queries(self) -> int:
        """How many answers the model gave in all."""
        return sum(found.queries for found in self.found.values())


def put_together(
    subjects: Sequence[Subject | Judged], found: Sequence[Found], size: int, seed: int, started: float
) -> Reading:
    """The rules about all labels as one theory, measured on fresh samples."""
    labels = tuple(subject.label for subject in subjects if isinstance(subject, Subject))
    answers = Answers(
        united([each.theory for each in found], labels),
        united([each.background for each in found], labels),
        labels,
        card=found[0].card if len(found) == 1 else None,
    )
    source = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(STREAM,)))
    answers, faithfulness = _measured(answers, subjects, size, source)
    return Reading(
        answers,
        tuple(_statistics(answers.theory.vocabulary, found)),
        faithfulness,
        dict(zip((subject.label for subject in subjects), found, strict=True)),
        time.perf_counter() - started,
    )


def _measured(
    answers: Answers, subjects: Sequence[Subject | Judged], size: int, rng: np.random.Generator
) -> tuple[Answers, Faithfulness]:
    """The rules with the best default, and how faithful they are on fresh samples.

    The default is chosen on one half of the samples and everything is measured on the other.
    """
    items = subjects[0].sample(2 * size, rng)
    model, ours = said(subjects, items), answers.of(items)
    conflicts = np.zeros(len(items), np.bool_)
    if answers.labels:
        conflicts = answers.following(items).sum(axis=1) > 1
        told = model[:size][model[:size] != FREE]
        left = model[:size][(ours[:size] == FREE) & (model[:size] != FREE)]
        default = int(np.bincount(left if len(left) else told, minlength=1).argmax())
        answers = replace(answers, default=default)
    told = (model != FREE) & (np.arange(len(items)) >= size)
    filled = np.where(ours == FREE, answers.default, ours)
    shares = (filled == model, ours == model, ours == FREE, conflicts)
    return answers, Faithfulness(*(Share.of(int(share[told].sum()), int(told.sum())) for share in shares))


def _statistics(vocabulary: Vocabulary, found: Sequence[Found]) -> Iterator[RuleStatistics]:
    """What every rule is worth, over the common vocabulary."""
    for each in found:
        for statistics in each.statistics:
            rule = read_rule(vocabulary, rule_object(each.background.vocabulary, statistics.rule))
            yield replace(statistics, rule=rule)


def _rest(share: Share) -> Share:
    return Share.of(share.size - share.hits, share.size)
