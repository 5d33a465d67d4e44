"""Learn a Horn theory about a model by queries, and measure it on rows and samples that chose nothing."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.deadline import Deadline, Stopwatch
from hornbook.errors import BudgetExhausted, ModelError
from hornbook.extraction.columns import ColumnSummary
from hornbook.extraction.explaining import list_differences
from hornbook.extraction.fidelity import AnswerPairs, measure_fidelity
from hornbook.extraction.result import Extraction, FrontierPoint, LineStatistics
from hornbook.logic import Batch, Bools, HornTheory, Rule
from hornbook.models import AnswerCheck
from hornbook.models.answers import afford, limit_answers
from hornbook.queries import (
    MODEL_FAILED,
    UNDETERMINED,
    Estimated,
    Guarantee,
    HornRules,
    Literals,
    QueryResult,
    QuerySubject,
    Settings,
    Unknown,
    measure_disagreement,
    run_learner,
)
from hornbook.queries.completions import DRAWS
from hornbook.queries.membership import TIMED_BLOCK, Checked
from hornbook.queries.teacher import QueryTeacher
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share, check_tolerances, sample_size

POOL_SAMPLES = 1 << 16
"""Labelled samples that rules are compared on during a run."""

FRESH_SAMPLES = 1 << 13
"""Fresh samples that fidelity is measured on."""

MEASURING_SHARE = 0.2
"""Share of a limit of time or answers that is kept for measuring what was learned."""

POOL_SHARE, FRESH_SHARE, NO_LIMIT = 0.05, 0.05, 1 << 62
"""Share of a limit of answers that stored and fresh samples take, and as good as no limit."""

PARTIAL_SAMPLES = 500
"""Interpretations with unknown values on which it is measured how often a model contradicts itself."""

CHECKED_QUESTIONS = 256
"""Questions that are asked before a run and after it, to see whether the model gives other answers."""

READABLE_LITERALS = 20
"""The most literals of rules about a classifier, unless the user says another number."""

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
    """Ask a model until rules say what it says, or a limit is reached; then choose and measure rules.

    A model that fails ends the run: what was learned is returned, and its stop reason says so.

    Parameters
    ----------
    subject
        The model, bound to the variables of a table; fidelity is measured on the rows that are held out.
    settings
        The learner and its limits. A fifth of a limit on seconds is kept for measuring; where that does not
        suffice, the notes say what was not measured. The sizes of samples, and the seed, are set here.
    trace
        A file that gets a line for each equivalence query; beside it are the answers from which a killed run
        resumes.
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
    teacher = subject.teacher
    check = _start_check(teacher, subject.seed)
    most = afford(NO_LIMIT, 1 - MEASURING_SHARE)
    with limit_answers(None if most == NO_LIMIT else most):
        result = run_learner(
            teacher,
            teacher.distribution,
            replace(
                settings,
                budget=replace(settings.budget, reserve=reserve),
                pool=afford(POOL_SAMPLES, POOL_SHARE),
                seed=subject.seed,
            ),
            background=teacher.background,
            heads=teacher.heads,
            groups=teacher.binariser.groups,
            trace=trace,
            watch=watch,
        )
    answers = Answers.of(result, limit, clock)
    measurement = TheoryMeasurement(subject, settings, result, answers, check)
    return replace(measurement.measure(), provenance=describe_learning(subject, settings))


def _start_check(teacher: QueryTeacher, seed: int) -> AnswerCheck | None:
    """Some questions that are asked before the run and after it; none about a model that fails at once."""
    questions = teacher.distribution.draw(CHECKED_QUESTIONS, generator(seed, Purpose.ANSWER_CHECK))
    try:
        return AnswerCheck.start(Checked(teacher), questions)
    except (ModelError, BudgetExhausted):
        return None


def describe_learning(subject: QuerySubject, settings: Settings) -> dict[str, Any]:
    """What a theory was made from, ready for JSON."""
    return {
        "model": {"name": subject.predictor.name},
        "settings": {
            "target": subject.teacher.label,
            "learner": settings.learner,
            "max_queries": settings.budget.equivalence_queries,
            "max_rules": settings.max_rules,
            "max_literals": settings.max_literals,
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
    """Chooses among the rules that were learned about a model, and measures them as far as it answers.

    Parameters
    ----------
    subject, settings, result
        The model, how it was asked, and what was learned.
    answers
        The answers that it still gives.
    check
        Its answers before the run, if it gave any.

    """

    subject: QuerySubject
    settings: Settings
    result: QueryResult
    answers: Answers
    check: AnswerCheck | None

    @property
    def max_literals(self) -> int | None:
        """The most literals of the rules that are chosen; None for all rules."""
        given = self.settings.max_literals
        readable = self.settings.learner == "prime" and self.subject.teacher.label is not None
        return READABLE_LITERALS if given is None and readable else given

    def measure(self) -> Extraction:
        """The whole result: rules with their default, and how faithful they are."""
        subject, teacher, result, answers = self.subject, self.subject.teacher, self.result, self.answers
        rng = generator(subject.seed, Purpose.EVALUATION_ORDER)
        held_out = answers.label_rows(
            teacher.decide_rows, subject.held_out.reset_index(drop=True), "held-out rows", rng
        )
        choice = self._label_samples(Purpose.DEFAULT_CHOICE, "samples that rules are chosen by")
        samples = self._label_samples(Purpose.EVALUATION, "samples")

        points = [
            self._measure_point(self._name_rules(rules, *choice), samples, held_out)
            for rules in self._list_choices(*choice)
        ]
        most = math.inf if self.max_literals is None else self.max_literals
        point = next((each for each in reversed(points) if each.literals <= most), points[0])
        rules, failure = cast(HornRules, point.explanation), answers.failure
        return Extraction(
            target=subject.target,
            classes=teacher.classes,
            explanation=rules,
            fidelity=point.fidelity,
            guarantee=self._find_guarantee(point),
            frontier=tuple(points),
            lines=point.lines,
            columns=tuple(ColumnSummary.of(subject.frame[name], subject.words) for name in rules.columns),
            differences=tuple(list_differences(rules, held_out[0], held_out[1].astype(np.intp))),
            answers=result.membership_queries,
            stop_reason=result.stop_reason if failure is None else f"{MODEL_FAILED}: {failure}",
            distribution=teacher.describe_samples(),
            missing_values=teacher.describe(),
            notes=(
                *subject.describe_units(),
                *self._note_choice(point, points[-1]),
                *self._list_notes(rules, rules.derive(samples[0])),
                *self._note_incoherence(),
                *self._compare_with_target(rules.theory),
                *self._note_changed_answers(),
                *answers.list_notes(),
            ),
        )

    def _list_choices(self, items: Batch, labels: Bools) -> Iterator[tuple[Rule, ...]]:
        """The most useful rules of 5 literals, of 10, 20, 40, …, and all rules, the most useful first."""
        whole = self._name_rules(self._name_rules(self.result.rules).list_distinct())
        ranked = rank_rules(whole, items, labels)
        sizes = np.cumsum([whole.count_literals(rule) for rule in ranked]).tolist()
        limits = {5 * 2**step for step in range(30)} | {self.max_literals or 0}
        counts = dict.fromkeys(bisect_right(sizes, limit) for limit in sorted(limits))
        yield from (tuple(ranked[:count]) for count in counts if 0 < count < len(ranked))
        yield tuple(ranked)

    def _name_rules(
        self, rules: tuple[Rule, ...], items: Batch | None = None, labels: Bools | None = None
    ) -> HornRules:
        """Rules as an explanation; labelled samples decide what is assumed where they decide nothing."""
        teacher = self.subject.teacher
        named = HornRules(
            teacher.binariser,
            rules,
            teacher.label,
            classes=() if teacher.label is None else self.subject.classes,
            code_book=self.subject.words,
        )
        if teacher.label is None or items is None or labels is None:
            return named
        return replace(named, default=choose_default(named, items, labels))

    def _measure_point(
        self,
        rules: HornRules,
        samples: tuple[Batch, Bools],
        held_out: tuple[pd.DataFrame, Bools],
    ) -> FrontierPoint:
        """How faithful rules are on samples and rows, and how often each of their lines is right."""
        units = self.subject.held_out_units[held_out[0].index]
        fidelity = measure_fidelity(
            rules.classes,
            samples=AnswerPairs(rules.decide_items(samples[0]), samples[1]),
            rows=AnswerPairs(rules.decide(held_out[0]), held_out[1], units),
        )
        return FrontierPoint(rules.literals, fidelity, rules, tuple(self._measure_lines(rules, *samples)))

    def _find_guarantee(self, point: FrontierPoint) -> Guarantee:
        """What is known of rules: of all that were learned what the run says, else what samples say."""
        guarantee, samples = self.result.guarantee, point.fidelity.samples
        is_whole = set(cast(HornRules, point.explanation).theory) == set(self.result.theory)
        if not samples.size or (is_whole and not isinstance(guarantee, Unknown | Estimated)):
            return guarantee
        # the last query was passed, but others were asked before: its own interval would be too narrow
        return Estimated(samples.complement(), self.subject.teacher.describe_samples())

    def _label_samples(self, purpose: Purpose, name: str) -> tuple[Batch, Bools]:
        """Fresh samples, and the model's answers: about rows as it reads them, if it reads the columns.

        Of a column that is known to be in one bin it is known that it is in no other.
        """
        teacher, rng = self.subject.teacher, generator(self.subject.seed, purpose)
        size = afford(FRESH_SAMPLES, FRESH_SHARE)
        if teacher.reads_columns:
            rows, labels = self.answers.label(teacher.decide_rows, teacher.sample_rows(size, rng), name)
            return teacher.binariser.batch(rows), labels
        drawn = teacher.feature_distribution.draw(size, rng)
        items = Literals.of(drawn.vocabulary, teacher.binariser.groups).propagate(drawn)
        return self.answers.label(teacher.decide_items, items, name)

    def _measure_lines(self, rules: HornRules, items: Batch, labels: Bools) -> Iterator[LineStatistics]:
        """The statistics of each rule, and of the default on the samples that it decides."""
        counts = rules.match_lines(self.subject.frame).sum(axis=1).tolist()
        hits, outcomes = rules.match_rules(items)
        for count, hit, outcome in zip(counts, hits, outcomes, strict=False):
            yield LineStatistics(count, Share.where(hit), Share.where(labels[hit] == outcome))
        if rules.label is not None:
            left = rules.derive(items) == UNDETERMINED
            yield LineStatistics(counts[-1], Share.where(left), Share.where(labels[left] == rules.default))

    def _compare_with_target(self, theory: HornTheory) -> Iterator[str]:
        """How often a judge, its rules and its target T differ, on twice the samples of a query."""
        teacher, settings, answers = self.subject.teacher, self.settings, self.answers
        if teacher.theory is None or answers.are_over:
            return
        width = len(teacher.theory.vocabulary)
        size = 2 * sample_size(settings.size, width, settings.epsilon, settings.delta, 1)
        judges = {"t": teacher.theory.satisfied_by, "h": theory.satisfied_by, "nn": teacher.decide_items}
        rng = generator(self.subject.seed, Purpose.RULE_JUDGEMENT)
        shares = measure_disagreement(judges, teacher.distribution, size, rng).shares
        rows = len(teacher.theory) - len(teacher.theory.vocabulary.pairs)
        yield (
            f"T is {rows} rules of rows and the disjointness of duals. Of {size:,} fresh "
            f"interpretations, half of which violate T, rules and T differ on {shares['t_h']} (t_h), "
            f"model and T on {shares['t_nn']} (t_nn), rules and model on {shares['h_nn']} (h_nn)."
        )

    def _note_choice(self, chosen: FrontierPoint, whole: FrontierPoint) -> Iterator[str]:
        """How many other rules there are."""
        if chosen is not whole:
            count = len(whole.lines) - len(chosen.lines)
            less = "one further rule is" if count == 1 else f"{count} further rules are"
            yield (
                f"{less} less useful: with all there are {whole.literals} literals to "
                f"read, and the fidelity is {whole.fidelity.share}."
            )

    def _list_notes(self, rules: HornRules, derived: NDArray[np.int8]) -> Iterator[str]:
        """What else a reader should know about rules from queries."""
        teacher = self.subject.teacher
        if teacher.label is not None and len(derived):
            left = Share.where(derived == UNDETERMINED)
            yield f"The rules leave {left} of the samples undetermined, and the default decides them."
        if teacher.reads_columns:
            yield "The model reads columns: each bin is asked about by several values observed in it."

    def _note_incoherence(self) -> list[str]:
        """How often the model's answers about unknown values come from no formula."""
        if self.answers.are_over:
            return []
        size = afford(DRAWS * PARTIAL_SAMPLES, FRESH_SHARE) // DRAWS
        try:
            rate = self.subject.teacher.measure_incoherence(size)
        except (ModelError, BudgetExhausted):
            return []
        if rate is None or not rate.size:
            return []
        return [f"The model contradicts itself about unknown values on {rate} of the samples."]

    def _note_changed_answers(self) -> list[str]:
        """What answers are others than before the run."""
        if self.check is None or self.answers.are_over:
            return []
        try:
            return list(self.check.describe_changes())
        except (ModelError, BudgetExhausted):
            return []


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
        return cls(Deadline.after(max_seconds - clock.elapsed), failure)

    @property
    def are_over(self) -> bool:
        """Whether the model has failed, or the time is up."""
        return self.failure is not None or (self.deadline is not None and self.deadline.passed)

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
            if self.are_over:
                break
            try:
                parts.append(decide(by_place[start : start + step]))
            except (ModelError, BudgetExhausted) as error:
                self.failure = str(error)
        labels = np.concatenate(parts)
        if len(labels) < len(items):
            self.gaps.append(f"{len(labels):,} of {len(items):,} {name}")
        return by_place[: len(labels)], labels

    def list_notes(self) -> list[str]:
        """What could not be measured, as a note; none if everything was."""
        reason = "The time was up" if self.failure is None else "The model failed"
        return [f"{reason}: figures are from {', '.join(self.gaps)}."] if self.gaps else []


def rank_rules(rules: HornRules, items: Batch, labels: Bools) -> list[Rule]:
    """The rules, each next one with the most further agreement with a model per literal; the useless last.

    Parameters
    ----------
    rules
        All rules.
    items, labels
        Interpretations of the features, and the model's class of each.

    """
    hits, outcomes = rules.match_rules(items)
    costs = np.array([max(1, rules.count_literals(rule)) for rule in rules.rules])
    default = True if rules.label is None else bool(2 * labels.sum() >= len(labels))
    says = np.zeros((2, len(labels)), np.bool_)  # which classes the chosen rules derive, (classes, items)
    chosen: list[int] = []
    left = list(range(len(rules.rules)))

    def count_agreeing(added: int | None = None) -> int:
        no, yes = says if added is None else (says | (np.arange(2)[:, None] == outcomes[added]) & hits[added])
        return int((np.where(no == yes, default, yes) == labels).sum())

    while left:
        now = count_agreeing()
        gains = [(count_agreeing(number) - now) / costs[number] for number in left]
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        chosen.append(left.pop(best))
        says[outcomes[chosen[-1]]] |= hits[chosen[-1]]
    return [rules.rules[number] for number in (*chosen, *left)]


def choose_default(rules: HornRules, items: Batch, labels: Bools) -> int:
    """The class that the model decides for most often where the rules decide nothing."""
    left = labels[rules.derive(items) == UNDETERMINED]
    return int(2 * (left if len(left) else labels).sum() >= (len(left) or len(labels)))
