"""What was read out of a model, and how faithful it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hornbook.answers import FREE, Answers, united
from hornbook.evaluate.rules import RuleStatistics
from hornbook.extraction import Extraction, Point, Settings
from hornbook.intervals import Share
from hornbook.logic.formats import read_rule, rule_object
from hornbook.logic.vocabulary import Vocabulary
from hornbook.queries import Guarantee
from hornbook.subject import Judged, Subject, Watch, said

STREAM = 3
"""The stream of randomness that fresh samples come from; those before it are the extraction's own."""


@dataclass(frozen=True)
class Faithfulness:
    """How rules and model compare on fresh samples.

    Attributes
    ----------
    agreement
        The share on which they say the same.
    undetermined
        The share on which the rules say nothing, which is no agreement.
    conflicts
        The share for which more than one class follows; part of the former.
    left_out
        How many samples were not counted, because unknown values leave open what the model says.

    """

    agreement: Share
    undetermined: Share
    conflicts: Share
    left_out: int


@dataclass(frozen=True)
class Reading:
    """Rules, what they are worth, and the runs in which they were found.

    Attributes
    ----------
    answers
        The rules and the labels that they are about.
    rules
        What each rule is worth on held-out samples.
    faithfulness
        Rules and model on fresh samples.
    results
        For each label its own extraction; for a judge the only one, under the empty name.

    """

    answers: Answers
    rules: tuple[RuleStatistics, ...]
    faithfulness: Faithfulness
    results: dict[str, Extraction]

    @property
    def worst(self) -> Extraction:
        """The extraction that differs most from the model: what holds for it holds for all."""
        return max(self.results.values(), key=lambda found: found.disagreement.high)

    @property
    def guarantee(self) -> Guarantee:
        """What is known of the faithfulness, for every label."""
        return self.worst.guarantee

    @property
    def stop_reason(self) -> str:
        """How the run ended; with several labels, how each did."""
        reasons = {label: found.stop_reason for label, found in self.results.items()}
        if len(set(reasons.values())) == 1:
            return next(iter(reasons.values()))
        return "; ".join(f"{label}: {reason}" for label, reason in reasons.items())

    @property
    def frontier(self) -> tuple[Point, ...]:
        """The hypotheses on the way, of the label that did worst."""
        return self.worst.frontier

    @property
    def membership_queries(self) -> int:
        """How many questions the model was asked in all."""
        return sum(found.membership_queries for found in self.results.values())


def read(
    subjects: Sequence[Subject | Judged],
    settings: Settings,
    trace: Path | None = None,
    watch: Watch | None = None,
) -> Reading:
    """Read rules about one label, or about several classes, each against the rest.

    With several, each has a trace of its own, numbered from 0: `trace-0.jsonl`.
    """
    labels = tuple(subject.label for subject in subjects if isinstance(subject, Subject))
    results = {
        subject.label: subject.read(settings, _own(trace, number, len(subjects)), watch)
        for number, subject in enumerate(subjects)
    }
    found = list(results.values())
    answers = Answers(
        united([result.theory for result in found], labels),
        united([result.background for result in found], labels),
        labels,
    )
    answers, faithfulness = _measured(answers, subjects, settings)
    return Reading(answers, tuple(_statistics(answers.theory.vocabulary, found)), faithfulness, results)


def _measured(
    answers: Answers, subjects: Sequence[Subject | Judged], settings: Settings
) -> tuple[Answers, Faithfulness]:
    """The rules with the best default, and how faithful they are on fresh samples."""
    source = np.random.SeedSequence(settings.seed, spawn_key=(STREAM,))
    items = subjects[0].sample(settings.evaluation, np.random.default_rng(source))
    model = said(subjects, items)
    told = model != FREE
    ours, model = answers.of(items)[told], model[told]
    size, conflicts = len(model), 0
    if answers.labels:
        conflicts = int((answers.following(items)[told].sum(axis=1) > 1).sum())
        left = model[ours == FREE] if (ours == FREE).any() else model
        answers = replace(answers, default=int(np.bincount(left, minlength=1).argmax()))
    return answers, Faithfulness(
        Share.of(int((ours == model).sum()), size),
        Share.of(int((ours == FREE).sum()), size),
        Share.of(conflicts, size),
        len(told) - size,
    )


def _statistics(vocabulary: Vocabulary, found: Sequence[Extraction]) -> Iterator[RuleStatistics]:
    """What every rule is worth, over the common vocabulary."""
    for result in found:
        for statistics in result.statistics:
            rule = read_rule(vocabulary, rule_object(result.theory.vocabulary, statistics.rule))
            yield replace(statistics, rule=rule)


def _own(trace: Path | None, number: int, count: int) -> Path | None:
    return trace if trace is None or count == 1 else trace.with_stem(f"{trace.stem}-{number}")
