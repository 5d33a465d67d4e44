"""Extract a Horn theory from a teacher by queries: one run, from the first samples to the final rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import BudgetExhausted, HornbookError, ModelError
from hornbook.logic import Batch, Bools, Head, HornTheory, Rule, violation
from hornbook.models import AnswerCheck
from hornbook.queries.distributions import Complete, Distribution
from hornbook.queries.horn1 import horn1
from hornbook.queries.literals import Groups
from hornbook.queries.lrn_star import lrn_star
from hornbook.queries.membership import Budgeted, Checked
from hornbook.queries.oracles import (
    SAMPLING_CHUNK,
    Chain,
    NegativeSampling,
    PoolOracle,
    ResumableOracle,
    RuleOracle,
    Sampling,
)
from hornbook.queries.pool import Pool
from hornbook.queries.prime import HypothesisUpdater, Margin, prime
from hornbook.queries.protocol import (
    Change,
    Counterexample,
    Equivalence,
    Estimated,
    Guarantee,
    IncoherentTeacher,
    Membership,
    Step,
    Unknown,
    interpretation,
)
from hornbook.queries.result import (
    CoherenceReport,
    DisagreementPoint,
    QueryResult,
    RuleStatistics,
    Settings,
    measure_coherence,
    measure_rules,
    run_identity,
)
from hornbook.queries.trace import Trace, read_step
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.storage import lock_folder

COHERENCE_COMPLETIONS = 16
"""Number of completions of each interpretation in the coherence measurement."""


MAX_IDLE_COUNTEREXAMPLES = 30
"""Number of successive counterexamples without effect after which a run counts as stalled."""

FINAL_SAMPLE_FACTOR = 8
"""Size of the sample by which rules are finally chosen, in multiples of the pool."""

MODEL_FAILED = "the model failed"
"""The beginning of the stop reason of a run whose model failed."""

INTERRUPTED = "interrupted"


class QueryRun:
    """The state of one run; see `extract` for the parameters."""

    def __init__(
        self,
        member: Membership,
        distribution: Distribution,
        settings: Settings,
        margin: Margin | None,
        background: HornTheory | None,
        heads: Sequence[Head] | None,
        groups: Groups,
        path: Path | None,
    ) -> None:
        vocabulary = distribution.vocabulary
        budget, seed = settings.budget, settings.seed
        answers: Callable[[Batch], NDArray[Any]] = (
            Checked(member) if margin is None else Checked(margin, np.floating)
        )
        self.trace = Trace.resume(path, run_identity(settings, distribution, background, heads))
        self.budgeted = budgeted = Budgeted(
            answers, budget.membership_queries, budget.seconds, self.trace.seconds_before + budget.reserve
        )
        self.member: Membership = budgeted if margin is None else lambda batch: budgeted(batch) >= 0
        self.uncounted: Membership = answers if margin is None else lambda batch: answers(batch) >= 0
        margin = None if margin is None else budgeted
        self.settings, self.distribution = settings, distribution
        self.background = HornTheory.background(vocabulary) | (background or HornTheory(vocabulary))
        self.pool = Pool(vocabulary, groups)
        self.updater = HypothesisUpdater(
            self.member, self.pool, settings, margin=margin, background=self.background, heads=heads
        )
        self.sampling = Sampling(
            self.member,
            distribution,
            settings.size,
            epsilon=settings.epsilon,
            delta=settings.delta,
            seed=seed,
            remember=self.pool.add,
        )
        rules = RuleOracle(self.member, self.background.rules)
        links: list[ResumableOracle] = [PoolOracle(self.pool.first_missed), rules, self.sampling]
        self.chain = Chain(links, settings.shares)
        self.earlier = iter(self.trace.earlier)
        self.entry: dict[str, Any] | None = None
        self.held_out: tuple[Batch, Bools] | None = None
        self.coherence: CoherenceReport | None = None
        self.changed_answers = Share.of(0, 0)
        self.theory = self.background
        self.found_by: dict[Rule, str] = {}
        self.entailed_by_model: dict[Rule, bool] = {}
        self.guarantee: Guarantee | None = None
        self.frontier: list[DisagreementPoint] = []
        self.given_up: list[Counterexample] = []

    def learn(self, watch: Callable[[Step, Trace], None] | None) -> str:
        """Learn until something ends the run, choose the final rules, and return the stop reason."""
        if limit := self._exhausted_limit():
            return limit
        try:
            reason = self._run_steps(watch)
            if self.guarantee is None and self.found_by:
                self._choose_final_rules()
            self._minimise()
            self._ask_rules()
            self._ask_again()
            return reason
        except BudgetExhausted as limit:
            return str(limit)
        except IncoherentTeacher as contradiction:
            return f"stopped: {contradiction}"
        except KeyboardInterrupt:
            return INTERRUPTED
        except ModelError as error:
            return f"{MODEL_FAILED}: {error}"

    def _run_steps(self, watch: Callable[[Step, Trace], None] | None) -> str:
        """Learn until no counterexample is found, the run stalls or the budget is used up."""
        self.held_out = self._draw_labelled(self.settings.evaluation, Purpose.RULE_STATISTICS)
        self.pool.add(*self._draw_labelled(self.settings.pool, Purpose.POOL))
        self._measure_coherence()
        idle = 0
        for step in prime(self._equivalent, self._revise, self.background):
            self.trace.record(step, self.budgeted.questions_asked)
            self._record_outcome(step)
            if watch is not None:
                watch(step, self.trace)
            if not isinstance(step.answer, Counterexample):
                self.guarantee = step.answer
                return self._describe_equivalence()
            if step.change is not None and step.change.is_idle:
                self.given_up.append(step.answer)
                idle += 1
            else:
                idle = 0
            if idle == MAX_IDLE_COUNTEREXAMPLES:
                return f"stalled: the last {idle} counterexamples gave no rule that is precise enough"
            if limit := self._exhausted_limit():
                return limit
        raise AssertionError("a learner ends with a guarantee")

    def _draw_labelled(self, size: int, purpose: Purpose) -> tuple[Batch, Bools]:
        """Fresh samples for a purpose, and whether the teacher accepts each."""
        batch = self.distribution.draw(size, generator(self.settings.seed, purpose))
        return batch, np.concatenate([self.member(block) for block in batch.blocks(SAMPLING_CHUNK)])

    def _measure_coherence(self) -> None:
        """Measure how often the teacher contradicts itself about unknown values."""
        if size := self.settings.coherence:
            rng, groups = generator(self.settings.seed, Purpose.COHERENCE), self.pool.groups
            self.coherence = measure_coherence(
                self.member, self.distribution, size, COHERENCE_COMPLETIONS, rng=rng, groups=groups
            )

    def result(self, stop_reason: str) -> QueryResult:
        """The result, with its guarantee and statistics."""
        disagreement = self.frontier[-1].disagreement if self.frontier else Share.of(0, 0)
        if disagreement.size and (self.guarantee is None or isinstance(self.guarantee, Estimated)):
            # the last query was passed, but others were asked before: its own interval would be too narrow
            self.guarantee = Estimated(disagreement, self.distribution.describe())
        return QueryResult(
            self.theory,
            self.background,
            self.guarantee or Unknown(f"nothing was measured ({stop_reason})"),
            disagreement,
            stop_reason,
            self._statistics(),
            self.held_out,
            self.coherence,
            self.changed_answers,
            tuple(self.frontier),
            self.updater.refuted,
            self.budgeted.questions_asked,
            self.trace,
        )

    def _equivalent(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """The recorded answer if an earlier run has one, otherwise a new one."""
        self.entry = next(self.earlier, None)
        if self.entry is None:
            return self.chain(hypothesis)
        counterexample = read_step(hypothesis, self.entry).answer
        assert isinstance(counterexample, Counterexample)
        self.chain.replay(hypothesis, counterexample)
        return counterexample

    def _revise(self, hypothesis: HornTheory, counterexample: Counterexample) -> Change:
        """The recorded change if an earlier run has one, otherwise a new one."""
        if self.entry is None:
            return self.updater(hypothesis, counterexample)
        change = read_step(hypothesis, self.entry).change
        assert change is not None
        self.updater.replay(counterexample, change)
        self.budgeted.questions_asked = self.entry["membership_queries"]  # what is asked again counts once
        return change

    def _describe_equivalence(self) -> str:
        """The stop reason of a run without further counterexamples; some may have been given up."""
        items = Batch.from_interpretations(
            [counterexample.interpretation for counterexample in self.given_up], self.pool.vocabulary
        )
        positive = np.array([counterexample.positive for counterexample in self.given_up], np.bool_)
        left = int((self.theory.satisfied_by(items) != positive).sum())
        return f"equivalent but for {left} counterexamples given up" if left else "equivalent"

    def _record_outcome(self, step: Step) -> None:
        """Take the outcome of a step as the theory, and measure it if it is new."""
        if step.change is not None and isinstance(step.answer, Counterexample):
            self.found_by |= dict.fromkeys(step.change.added, step.answer.found_by)
        theory = step.hypothesis if step.change is None else step.change.apply_to(step.hypothesis)
        self._measure(theory)

    def _measure(self, theory: HornTheory) -> None:
        """Take this theory, and add a point to the frontier if it is new."""
        if not self.frontier or theory.rules != self.theory.rules:
            self.theory = theory
            point = self._measure_point()
            if self.frontier[-1:] != [point]:
                self.frontier.append(point)

    def _minimise(self) -> None:
        """Take the minimal theory that says the same: no rule and no literal of it follows from the rest."""
        shorter = self.theory.minimise(self.background)
        for rule in shorter:
            longer = (each for each in self.found_by if each.head == rule.head and each.body >= rule.body)
            if rule not in self.found_by and (origin := next(longer, None)) is not None:
                self.found_by[rule] = self.found_by[origin]
        self._measure(shorter)

    def _choose_final_rules(self) -> None:
        """Choose and refine rules on fresh samples, after the last query."""
        batch, labels = self._draw_labelled(FINAL_SAMPLE_FACTOR * self.settings.pool, Purpose.RULE_CHOICE)
        possible = self.background.satisfied_by(batch)
        pool = Pool(self.pool.vocabulary, self.pool.groups, limit=len(batch))
        pool.add(batch[possible], labels[possible])
        pairs = self.updater.choose_final_rules(self.theory, list(self.found_by), pool)
        theory = HornTheory(self.theory.vocabulary, (*self.background, *(rule for _, rule in pairs)))
        before, after = (int((one.satisfied_by(batch) != labels).sum()) for one in (self.theory, theory))
        if after < before:
            self.found_by |= {rule: self.found_by[candidate] for candidate, rule in pairs}
            self._measure(theory)

    def _ask_rules(self) -> None:
        """Ask for each rule itself, with all else unknown, if the budget still allows for it."""
        rules = tuple(self._rules())
        vocabulary = self.theory.vocabulary
        breaches = [interpretation(vocabulary, each.true, each.false) for each in map(violation, rules)]
        with suppress(BudgetExhausted):
            rejected = ~self.member(Batch.from_interpretations(breaches, vocabulary))
            self.entailed_by_model = dict(zip(rules, rejected.tolist(), strict=True))

    def _ask_again(self) -> None:
        """Ask some questions a second time, uncounted, to see whether the teacher has changed its answers."""
        assert self.held_out is not None
        items, labels = self.held_out
        with suppress(BudgetExhausted):
            self.budgeted.charge(0)
            self.changed_answers = AnswerCheck(self.uncounted, items, labels).ask_again()

    def _exhausted_limit(self) -> str | None:
        trace = self.trace
        return self.settings.budget.exhausted_by(len(trace.entries), trace.membership_queries, trace.seconds)

    def _rules(self) -> HornTheory:
        """The rules found, without the background."""
        rules = (rule for rule in self.theory if rule not in self.updater.background)
        return HornTheory(self.theory.vocabulary, rules)

    def _measure_point(self) -> DisagreementPoint:
        assert self.held_out is not None
        seen, labels = self.held_out
        disagreed, rules = Share.where(self.theory.satisfied_by(seen) != labels), self._rules()
        return DisagreementPoint(len(rules), sum(len(rule.body) for rule in rules), disagreed)

    def _statistics(self) -> tuple[RuleStatistics, ...]:
        if self.held_out is None:
            return ()
        measured = measure_rules(self._rules(), *self.held_out)
        return tuple(
            replace(
                statistics,
                found_by=self.found_by.get(statistics.rule),
                entailed_by_model=self.entailed_by_model.get(statistics.rule),
            )
            for statistics in measured
        )


class PrintedRun(QueryRun):
    """A run of LRN* or HORN1 as they are printed; a budget ends it after the last change.

    LRN* takes every counterexample for a negative one, for the teacher need not be Horn. HORN1 stops at the
    first answer that no Horn teacher gives.
    """

    def _run_steps(self, watch: Callable[[Step, Trace], None] | None) -> str:
        settings, distribution = self.settings, self.distribution
        vocabulary = distribution.vocabulary
        self.held_out = self._draw_labelled(settings.evaluation, Purpose.RULE_STATISTICS)
        if settings.learner == "horn1":
            self.search: Equivalence = self.sampling
            steps = horn1(vocabulary, self.member, self._equivalent, background=self.background)
        else:
            self._measure_coherence()
            self.search = NegativeSampling(
                self.member,
                distribution,
                self.sampling.size_of_query,
                generator(settings.seed, Purpose.EQUIVALENCE),
            )
            steps = lrn_star(
                vocabulary, self.member, self._equivalent, background=self.background, strict=False
            )
        answer: Counterexample | Guarantee = Unknown("nothing was asked")
        for step in steps:
            answer = step.answer
            self.trace.record(step, self.budgeted.questions_asked)
            self._record_outcome(step)
            if watch is not None:
                watch(step, self.trace)
        assert not isinstance(answer, Counterexample)
        if not isinstance(answer, Unknown):
            self.guarantee = answer
        return answer.reason if isinstance(answer, Unknown) else "equivalent"

    def _equivalent(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """A counterexample, or that there is none or no budget for another one."""
        limit = self._exhausted_limit()
        return self.search(hypothesis) if limit is None else Unknown(limit)


def extract(
    member: Membership,
    distribution: Distribution,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    *,
    margin: Margin | None = None,
    background: HornTheory | None = None,
    heads: Sequence[Head] | None = None,
    groups: Groups = (),
    trace: Path | None = None,
    watch: Callable[[Step, Trace], None] | None = None,
) -> QueryResult:
    """Extract a Horn theory from a teacher, which need be neither Horn nor coherent.

    The run stops when no counterexample is found (or only some that no sufficiently precise rule
    covers), when the budget is spent, after `MAX_IDLE_COUNTEREXAMPLES` idle counterexamples, on
    interrupt, or when the teacher fails; `stop_reason` says which, and what was learned is kept.
    With a trace file, a killed run resumes where it stopped, with the same result.

    Parameters
    ----------
    member
        The teacher.
    distribution
        The distribution of samples; fidelity is measured on it.
    settings
        Budget, sample sizes, precision and seed.
    margin
        The teacher's score, negative where it rejects; it guides the search for bodies.
    background
        Rules that always hold: the first hypothesis, never contradicted.
    heads
        The heads that rules may have, the preferred first; None for ⊥ and every variable
        without a dual.
    groups
        Sets of variables that exclude each other; no question breaks them if the
        distribution does not.
    trace
        A file that gets a line for each equivalence query. A run with the same teacher and
        settings resumes from it, perhaps with a larger budget; other settings are refused.
    watch
        Called after each equivalence query.

    Examples
    --------
    >>> from hornbook.queries.distributions import Random
    >>> truth = HornTheory.parse("horse & wings -> pegasus")
    >>> found = extract(truth.satisfied_by, Random(truth.vocabulary), Settings(pool=1000, size=5000))
    >>> print(found.theory)
    horse ∧ wings → pegasus
    >>> found.stop_reason, found.disagreement.hits
    ('equivalent', 0)

    """
    if settings.learner == "horn1":
        if distribution.vocabulary.has_duals:
            raise HornbookError(
                "HORN1 learns from complete interpretations of variables without duals: give it a judge, and "
                "no columns of negations"
            )
        distribution = Complete(distribution, groups)
    kind = QueryRun if settings.learner == "prime" else PrintedRun
    with nullcontext() if trace is None else lock_folder(trace.parent):
        run = kind(
            member,
            distribution,
            settings,
            margin,
            background,
            heads,
            groups,
            trace,
        )
        return run.result(run.learn(watch))
