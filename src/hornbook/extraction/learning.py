"""Learn a Horn theory about a model by queries, and measure it on rows and samples that chose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.deadline import Deadline, Stopwatch
from hornbook.errors import ModelError
from hornbook.extraction.explaining import list_differences, measure_fidelity
from hornbook.extraction.fidelity import Fidelity
from hornbook.extraction.result import ColumnSummary, Extraction, FrontierPoint, LineStatistics
from hornbook.logic import Batch, Bools
from hornbook.models import note_changed_answers
from hornbook.queries import (
    MODEL_FAILED,
    UNDETERMINED,
    GroupPropagation,
    HornRules,
    QueryResult,
    QuerySubject,
    Settings,
    extract,
    measure_disagreement,
)
from hornbook.queries.membership import TIMED_BLOCK
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share, check_tolerances, sample_size

POOL_SAMPLES = 1 << 14
"""Labelled samples that rules are compared on during a run."""

FRESH_SAMPLES = 1 << 13
"""Fresh samples that fidelity is measured on."""

MEASURING_SHARE = 0.2
"""Share of a time limit that is kept for measuring what was learned."""

Watch: TypeAlias = Callable[[dict[str, Any]], None]
"""Is called with the entry of the trace of each equivalence query."""


def learn_theory(
    subject: QuerySubject,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    *,
    trace: Path | None = None,
    watch: Watch | None = None,
    clock: Stopwatch | None = None,
) -> Extraction:
    """Ask a model until rules say what it says, or a limit is reached; then measure the rules.

    A model that fails ends the run: what was learned is returned, and its stop reason says so.

    Parameters
    ----------
    subject
        The model, bound to the variables of a table; fidelity is measured on the rows that are held out.
    settings
        The learner and its limits. A fifth of a limit on seconds is kept for measuring; where that does not
        suffice, the notes say what was not measured. The sizes of samples, and the seed, are set here.
    trace
        A file that gets a line for each equivalence query, and from which a killed run resumes.
    watch
        Is called with every such entry.
    clock
        Measures the time of the run, if it has begun before.

    Examples
    --------
    >>> frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (99, 3)), columns=list("abc"))
    >>> def judge(array):
    ...     return ~((array[:, 0] == 1) & (array[:, 1] == 1) & (array[:, 2] == 0))
    >>> from hornbook.models import as_predictor
    >>> subject = QuerySubject.bind(as_predictor(judge, encoding="half"), frame)
    >>> extraction = learn_theory(subject, Settings(size="angluin", epsilon=0.05, delta=0.05))
    >>> print(extraction.theory)
    a ∧ b → c
    >>> extraction.guarantee.kind
    'pac'

    """
    clock = clock or Stopwatch()
    check_tolerances(settings.epsilon, settings.delta)
    limit = settings.budget.seconds
    reserve = clock.elapsed + MEASURING_SHARE * (limit or 0.0)
    teacher = subject.teacher.queries
    result = extract(
        teacher,
        teacher.distribution,
        replace(
            settings,
            budget=replace(settings.budget, reserve=reserve),
            pool=POOL_SAMPLES,
            evaluation=FRESH_SAMPLES,
            seed=subject.seed,
        ),
        margin=teacher.margin,
        background=teacher.background,
        heads=teacher.heads,
        groups=teacher.groups,
        trace=trace,
        watch=watch and (lambda _, trace: watch(trace.entries[-1])),
    )
    answers = Answers.of(result, limit, clock)
    extraction = TheoryMeasurement(subject, settings, result, answers).measure()
    return replace(extraction, provenance=describe_learning(subject, settings))


def describe_learning(subject: QuerySubject, settings: Settings) -> dict[str, Any]:
    """What a theory was made from, ready for JSON."""
    return {
        "model": {"name": subject.predictor.name},
        "settings": {
            "target": subject.teacher.label,
            "learner": settings.learner,
            "max_queries": settings.budget.equivalence_queries,
            "max_rules": settings.max_rules,
            "sample_size": settings.size,
            "epsilon": settings.epsilon,
            "delta": settings.delta,
            "min_precision": settings.min_precision,
            "max_seconds": settings.budget.seconds,
            "seed": subject.seed,
        },
    }


@dataclass(frozen=True)
class TheoryMeasurement:
    """Measures what was learned about a model, as far as the model answers in time."""

    subject: QuerySubject
    settings: Settings
    result: QueryResult
    answers: Answers

    def measure(self) -> Extraction:
        """The whole result: rules with their default, and how faithful they are."""
        subject, teacher, result, answers = self.subject, self.subject.teacher, self.result, self.answers
        chosen_by, fresh = (
            self._draw(FRESH_SAMPLES, generator(subject.seed, purpose))
            for purpose in (Purpose.DEFAULT_CHOICE, Purpose.EVALUATION)
        )
        rules = HornRules(
            result.theory,
            result.background,
            teacher.reader,
            teacher.label,
            classes=() if teacher.label is None else subject.classes,
            code_book=subject.words,
        )
        rng = generator(subject.seed, Purpose.EVALUATION_ORDER)
        unseen, unseen_labels = answers.label_rows(
            teacher.decide_rows, subject.held_out.reset_index(drop=True), "unseen rows", rng
        )
        if teacher.label is not None:
            chosen_by, labels = answers.label(
                teacher.decide_items, chosen_by, "samples that the default is chosen by"
            )
            rules = replace(rules, default=choose_default(rules, chosen_by, labels))
        fresh, labels = answers.label(teacher.decide_items, fresh, "samples")
        used, used_labels = answers.label_rows(teacher.decide_rows, teacher.frame, "rows that were used", rng)
        derived = rules.derive(fresh)
        fidelity = measure_fidelity(
            rules,
            samples=(rules.decide_items(fresh), labels),
            unseen=(rules.decide(unseen), unseen_labels),
            used=(rules.decide(used), used_labels),
            units=subject.held_out_units[unseen.index],
        )
        failure = answers.failure
        return Extraction(
            target=subject.target,
            classes=teacher.classes,
            explanation=rules,
            fidelity=fidelity,
            guarantee=result.guarantee,
            frontier=tuple(
                FrontierPoint(point.literals, Fidelity(point.disagreement.complement()))
                for point in result.frontier
            ),
            lines=tuple(self._measure_lines(rules, derived, labels)),
            columns=tuple(ColumnSummary.of(subject.frame[name], subject.words) for name in rules.columns),
            differences=tuple(list_differences(rules, unseen, unseen_labels.astype(np.intp))),
            answers=result.membership_queries,
            stop_reason=result.stop_reason if failure is None else f"{MODEL_FAILED}: {failure}",
            distribution=teacher.feature_distribution.describe(),
            missing_values=teacher.queries.describe(),
            notes=(
                *subject.describe_units(),
                *self._list_notes(derived),
                *self._compare_with_target(),
                *note_changed_answers(result.changed_answers),
                *answers.list_notes(),
            ),
        )

    def _draw(self, size: int, rng: np.random.Generator) -> Batch:
        """Samples of the features; a column known to be in one bin is known to be in no other."""
        teacher = self.subject.teacher
        items = teacher.feature_distribution.draw(size, rng)
        return GroupPropagation(items.vocabulary, teacher.reader.groups)(items)

    def _measure_lines(
        self, rules: HornRules, derived: NDArray[np.int8], labels: Bools
    ) -> Iterator[LineStatistics]:
        """The statistics of each rule, and of the default on the samples that it decides."""
        counts = rules.match_lines(self.subject.frame).sum(axis=1).tolist()
        measured = {each.rule: each for each in self.result.statistics}
        for count, rule in zip(counts, rules.rules, strict=False):
            if rule in measured:
                yield LineStatistics(count, measured[rule].support, measured[rule].precision)
            else:
                yield LineStatistics(count, Share.of(0, 0), None)
        if rules.label is not None:
            left = derived == UNDETERMINED
            yield LineStatistics(counts[-1], Share.where(left), Share.where(labels[left] == rules.default))

    def _compare_with_target(self) -> Iterator[str]:
        """How often a judge, its rules and its target T differ, on twice the samples of a query."""
        teacher, settings, answers = self.subject.teacher, self.settings, self.answers
        late = answers.deadline is not None and answers.deadline.passed
        if teacher.theory is None or answers.failure is not None or late:
            return
        size, width = 2 * FRESH_SAMPLES, len(teacher.theory.vocabulary)
        if teacher.queries.completions is None:  # one answer a question
            size = max(size, 2 * sample_size(settings.size, width, settings.epsilon, settings.delta, 1))
        judges = {
            "t": teacher.theory.satisfied_by,
            "h": self.result.theory.satisfied_by,
            "nn": teacher.decide_items,
        }
        rng = generator(self.subject.seed, Purpose.RULE_JUDGEMENT)
        shares = measure_disagreement(judges, teacher.queries.distribution, size, rng).shares
        rows = len(teacher.theory) - len(teacher.theory.vocabulary.pairs)
        yield (
            f"T is {rows} rules of rows and the disjointness of duals. Of {size:,} fresh "
            f"interpretations, half of which violate T, rules and T differ on {shares['t_h']} (t_h), "
            f"model and T on {shares['t_nn']} (t_nn), rules and model on {shares['h_nn']} (h_nn)."
        )

    def _list_notes(self, derived: NDArray[np.int8]) -> Iterator[str]:
        """What else a reader should know about rules from queries."""
        teacher, result = self.subject.teacher, self.result
        if teacher.label is not None and len(derived):
            left = Share.where(derived == UNDETERMINED)
            yield f"The rules leave {left} of the samples undetermined, and the default decides them."
        asked = [each.entailed_by_model for each in result.statistics]
        answered = [answer for answer in asked if answer is not None]
        if answered:
            yield (
                f"The model confirms {sum(answered)} of {len(answered)} rules when only their conditions are "
                "known and all other values are unknown."
            )
        if not all(answered):
            yield "The other rules were right on the samples; no claim is made beyond those."
        if result.coherence is not None:
            rate = result.coherence.rate
            yield f"The model contradicts itself about unknown values on {rate} of the samples."
        if teacher.reads_columns:
            yield "The model reads columns: each bin is asked about by several values observed in it."


@dataclass
class Answers:
    """The model's answers while a run is measured: until the time is up, or the model fails.

    Parameters
    ----------
    deadline
        When the time is up; None for no limit.
    failure
        What the model did that failed, in words.
    gaps
        What the model was not asked about, in words.

    """

    deadline: Deadline | None = None
    failure: str | None = None
    gaps: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, result: QueryResult, max_seconds: float | None, clock: Stopwatch) -> Answers:
        """The answers after a run that was timed by `clock`; of a model that has failed there are none."""
        failed = result.stop_reason.startswith(MODEL_FAILED)
        failure = result.stop_reason.removeprefix(f"{MODEL_FAILED}: ") if failed else None
        if max_seconds is None:
            return cls(None, failure)
        return cls(Deadline.after(max_seconds - result.trace.seconds_before - clock.elapsed), failure)

    def label_rows(
        self, decide: Callable[[Any], Bools], rows: pd.DataFrame, name: str, rng: np.random.Generator
    ) -> tuple[pd.DataFrame, Bools]:
        """As `label`; under a time limit rows come in random order, so that any part is a fair sample."""
        if self.deadline is not None:
            rows = rows.iloc[rng.permutation(len(rows))]
        return self.label(decide, rows, name)

    def label(self, decide: Callable[[Any], Bools], items: Any, name: str) -> tuple[Any, Bools]:
        """As many of the first items as there is time for, and the model's answer about each."""
        by_place, parts = getattr(items, "iloc", items), [np.zeros(0, np.bool_)]
        step = len(items) if self.deadline is None else TIMED_BLOCK
        for start in range(0, len(items), max(1, step)):
            if self.failure is not None or (self.deadline is not None and self.deadline.passed):
                break
            try:
                parts.append(decide(by_place[start : start + step]))
            except ModelError as error:
                self.failure = str(error)
        labels = np.concatenate(parts)
        if len(labels) < len(items):
            self.gaps.append(f"{len(labels):,} of {len(items):,} {name}")
        return by_place[: len(labels)], labels

    def list_notes(self) -> list[str]:
        """What could not be measured, as a note; none if everything was."""
        reason = "The time was up" if self.failure is None else "The model failed"
        return [f"{reason}: figures are from {', '.join(self.gaps)}."] if self.gaps else []


def choose_default(rules: HornRules, items: Batch, labels: Bools) -> int:
    """The class that the model decides for most often where the rules decide nothing."""
    left = labels[rules.derive(items) == UNDETERMINED]
    return int(2 * (left if len(left) else labels).sum() >= (len(left) or len(labels)))
