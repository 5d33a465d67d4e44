"""What was read out of a model: rules about each label, put together, and how faithful they are."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.answers import FREE, Answers, united
from hornbook.classify import Explanation
from hornbook.classify import Point as Weighed
from hornbook.deciders import Decider
from hornbook.distributions import Distribution
from hornbook.evaluate.rules import RuleStatistics
from hornbook.extraction import Extraction, Point
from hornbook.extractor.subject import Judged, Subject, said
from hornbook.intervals import Share
from hornbook.logic.batch import Batch
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
    frontier: tuple[Weighed, ...] | tuple[Point, ...]
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
            subject.asked_from,
            subject.teacher.describe(),
            coherence=found.coherence,
        )

    @property
    def distribution(self) -> str:
        """Where samples came from, in words."""
        return self.drawn_from.describe()

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
    rows
        The share of the user's rows, as they are, on which they say the same.

    """

    agreement: Share
    derived: Share
    undetermined: Share
    conflicts: Share
    rows: Share


@dataclass(frozen=True)
class Reading:
    """Rules about one label, or about several, and what is known of them.

    Attributes
    ----------
    answers
        The rules and the labels that they are about.
    rules
        What each rule is worth; none for a card or tree.
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
        return self.answers.to_read

    @property
    def queries(self) -> int:
        """How many answers the model gave in all."""
        return sum(found.queries for found in self.found.values())


def put_together(
    subjects: Sequence[Subject | Judged], found: Sequence[Found], size: int, started: float
) -> Reading:
    """The rules about all labels as one theory, measured on fresh samples."""
    source = np.random.default_rng(np.random.SeedSequence(subjects[0].seed, spawn_key=(STREAM,)))
    chosen_by, measured_on = (found[0].drawn_from.draw(size, source) for _ in range(2))
    parts = [_answers(subject, each, chosen_by) for subject, each in zip(subjects, found, strict=True)]
    answers = parts[0]
    if len(parts) > 1:
        labels = tuple(subject.label for subject in subjects)
        theory, background = (
            united([getattr(part, name) for part in parts], labels) for name in ("theory", "background")
        )
        answers = Answers(theory, background, labels, parts=tuple(parts))
        answers = replace(answers, default=_default(answers, said(subjects, chosen_by), chosen_by))
    return Reading(
        answers,
        tuple(_statistics(answers.theory.vocabulary, found)),
        _faithfulness(answers, subjects, measured_on),
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


def _faithfulness(answers: Answers, subjects: Sequence[Subject | Judged], items: Batch) -> Faithfulness:
    model, rows = said(subjects, items), said(subjects, subjects[0].frame)
    told = model != FREE
    ours, filled = answers.of(items), answers.filled(items)
    conflicts = answers.following(items).sum(axis=1) > 1 if answers.labels else np.zeros_like(told)
    shares = [(filled == model)[told], (ours == model)[told], (ours == FREE)[told], conflicts[told]]
    shares.append(answers.filled(subjects[0].rows) == rows)
    return Faithfulness(*(Share.of(int(share.sum()), len(share)) for share in shares))


def _statistics(vocabulary: Vocabulary, found: Sequence[Found]) -> Iterator[RuleStatistics]:
    """What every rule is worth, over the common vocabulary."""
    for each in found:
        for statistics in each.statistics:
            rule = read_rule(vocabulary, rule_object(each.background.vocabulary, statistics.rule))
            yield replace(statistics, rule=rule)


def _rest(share: Share) -> Share:
    return Share.of(share.size - share.hits, share.size)
