"""One run on a model: learner and oracles put together, until something ends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions import Distribution
from hornbook.distributions.literals import Groups
from hornbook.evaluate.fidelity import Agreement
from hornbook.evaluate.rules import RuleStatistics, statistics_on
from hornbook.extraction.result import Extraction, Point
from hornbook.extraction.samples import Samples
from hornbook.extraction.settings import Settings, identity
from hornbook.intervals import Share
from hornbook.learners.pool import Pool
from hornbook.learners.prime import Margin, Reviser, prime
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.rule import Head, Rule
from hornbook.logic.theory import HornTheory, violation
from hornbook.oracles.chain import Chain, Link
from hornbook.oracles.coherence import CoherenceReport
from hornbook.oracles.filters import Budgeted, Checked
from hornbook.oracles.rules import RuleByRule
from hornbook.oracles.sampling import Remote, Sampling
from hornbook.oracles.stored import Stored
from hornbook.queries import (
    BudgetExhausted,
    Change,
    Counterexample,
    Estimated,
    Guarantee,
    Membership,
    Step,
    TeacherFailed,
    Unknown,
    interpretation,
)
from hornbook.randomness import Purpose
from hornbook.traces import Trace, read_step

PATIENCE = 30
"""Counterexamples in a row that change nothing before a run counts as stalled."""

FRESH = 8
"""Samples that rules are chosen by in the end, for each that they are weighed by on the way."""

INTERRUPTED = "interrupted"


class Run:
    """The parts of one extraction, put together; see `extract` for what they are."""

    def __init__(
        self,
        member: Membership,
        distribution: Distribution,
        settings: Settings,
        margin: Margin | None,
        background: HornTheory | None,
        heads: Sequence[Head] | None,
        groups: Groups,
        guided: Callable[[Membership, Margin | None], Link] | None,
        path: Path | None,
        n_jobs: int | None,
        device: str | None,
    ) -> None:
        vocabulary = distribution.vocabulary
        budget, seed = settings.budget, settings.seed
        answers: Callable[[Batch], NDArray[Any]] = (
            Checked(member) if margin is None else Checked(margin, np.floating)
        )
        self.trace = Trace.resumed(path, identity(settings, distribution, background, heads, guided))
        self.asked = asked = Budgeted(
            answers, budget.membership_queries, budget.seconds, self.trace.seconds_before
        )
        self.member: Membership = asked if margin is None else lambda batch: asked(batch) >= 0
        uncounted: Membership = answers if margin is None else lambda batch: answers(batch) >= 0
        margin = None if margin is None else asked
        self.settings, self.samples = settings, Samples(self.member, distribution, seed)
        self.background = HornTheory.background(vocabulary) | (background or HornTheory(vocabulary))
        self.pool = Pool(vocabulary, groups)
        self.reviser = Reviser(
            self.member,
            self.pool,
            margin=margin,
            background=self.background,
            heads=heads,
            min_precision=settings.min_precision,
            tries=settings.tries,
            max_rules=settings.max_rules,
            seed=seed,
        )
        sampling = Sampling(
            self.member,
            distribution,
            settings.size,
            epsilon=settings.epsilon,
            delta=settings.delta,
            seed=seed,
            remember=self.pool.add,
            device=device,
            n_jobs=n_jobs,
            remote=Remote(uncounted, asked),
        )
        rules = RuleByRule(self.member, self.background.rules)
        links: list[Link] = [Stored(self.pool.first_missed), rules, sampling]
        if guided is not None:
            links.append(guided(self.member, margin))
        self.chain = Chain(links, settings.shares)
        self.earlier = iter(self.trace.earlier)
        self.entry: dict[str, Any] | None = None
        self.held_out: tuple[Batch, Bools] | None = None
        self.coherence: CoherenceReport | None = None
        self.theory = self.background
        self.found_by: dict[Rule, str] = {}
        self.said: dict[Rule, bool] = {}
        self.guarantee: Guarantee | None = None
        self.frontier: list[Point] = []
        self.given_up: list[Counterexample] = []

    def learn(self, watch: Callable[[Step, Trace], None] | None) -> str:
        """Learn until something ends the run, and make the best of it; says what it was."""
        try:
            reason = self._steps(watch)
            if self.guarantee is not None:
                self._measure(self._irredundant())
            elif self.found_by:
                self._finish()
            self._ask_rules()
            return reason
        except BudgetExhausted as limit:
            return str(limit)
        except KeyboardInterrupt:
            return INTERRUPTED
        except TeacherFailed as error:
            return f"the model failed: {error}"

    def _steps(self, watch: Callable[[Step, Trace], None] | None) -> str:
        """Learn until no counterexample is found, or too many are of no use, or queries are used up."""
        self.held_out = self.samples.labelled(self.settings.evaluation, Purpose.RULE_STATISTICS)
        self.pool.add(*self.samples.labelled(self.settings.pool, Purpose.POOL))
        self.coherence = self.samples.coherence(self.settings.coherence, self.pool.groups)
        idle = 0
        for step in prime(self._equivalent, self._revise, self.background):
            self.trace.record(step, self.asked.asked)
            self._take(step)
            if watch is not None:
                watch(step, self.trace)
            if not isinstance(step.answer, Counterexample):
                self.guarantee = step.answer
                return self._equivalent_but()
            if step.change is not None and step.change.is_idle:
                self.given_up.append(step.answer)
                idle += 1
            else:
                idle = 0
            if idle == PATIENCE:
                return f"stalled: the last {PATIENCE} counterexamples gave no rule that is precise enough"
            if limit := self._limit():
                return limit
        raise AssertionError("a learner ends with a guarantee")

    def result(self, stop_reason: str) -> Extraction:
        """Everything learned, with what is known of its faithfulness."""
        disagreement = self.frontier[-1].disagreement if self.frontier else Share.of(0, 0)
        if disagreement.size and (self.guarantee is None or isinstance(self.guarantee, Estimated)):
            # the last query was passed, but so many were asked: its own interval would be too narrow
            self.guarantee = Estimated(disagreement, self.samples.distribution.describe())
        return Extraction(
            self.theory,
            self.background,
            self.guarantee or Unknown(f"nothing was measured ({stop_reason})"),
            disagreement,
            stop_reason,
            self._statistics(),
            self.coherence,
            tuple(self.frontier),
            self.reviser.refuted,
            self.asked.asked,
            self.trace,
        )

    def _equivalent(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """The recorded answer, if an earlier run got this far, or else a new one."""
        self.entry = next(self.earlier, None)
        if self.entry is None:
            return self.chain(hypothesis)
        found = read_step(hypothesis, self.entry).answer
        assert isinstance(found, Counterexample)
        self.chain.recall(hypothesis, found)
        return found

    def _revise(self, hypothesis: HornTheory, found: Counterexample) -> Change:
        """The recorded change, or else a new one."""
        if self.entry is None:
            return self.reviser(hypothesis, found)
        change = read_step(hypothesis, self.entry).change
        assert change is not None
        self.reviser.recall(found, change)
        self.asked.asked = self.entry["membership_queries"]  # what is asked again counts once
        return change

    def _equivalent_but(self) -> str:
        """How a run ended that found no further counterexample, but may have given up some."""
        items = Batch.from_interpretations(
            [found.interpretation for found in self.given_up], self.pool.vocabulary
        )
        positive = np.array([found.positive for found in self.given_up], np.bool_)
        left = int((self.theory.satisfied_by(items) != positive).sum())
        return f"equivalent but for {left} counterexamples given up" if left else "equivalent"

    def _take(self, step: Step) -> None:
        """Make the outcome of a step the theory, and measure it if it is new."""
        if step.change is not None and isinstance(step.answer, Counterexample):
            self.found_by |= dict.fromkeys(step.change.added, step.answer.found_by)
            self.found_by |= {after: self.found_by[before] for before, after in step.change.refined}
        theory = step.hypothesis if step.change is None else step.change.applied_to(step.hypothesis)
        self._measure(theory)

    def _measure(self, theory: HornTheory) -> None:
        """Make this the theory, and a point of the frontier if it is new."""
        if not self.frontier or theory.rules != self.theory.rules:
            self.theory = theory
            point = self._point()
            if self.frontier[-1:] != [point]:
                self.frontier.append(point)

    def _irredundant(self) -> HornTheory:
        """The theory without the rules found that follow from the others."""
        theory = self.theory
        for rule in sorted(self._rules(), key=lambda rule: -len(rule.body)):  # of two ways the shorter stays
            others = HornTheory(theory.vocabulary, (other for other in theory if other != rule))
            if others.entails(rule):
                theory = others
        return theory

    def _finish(self) -> None:
        """Choose and refine rules by fresh samples, once queries are used up."""
        batch, labels = self.samples.labelled(FRESH * self.settings.pool, Purpose.RULE_CHOICE)
        possible = self.background.satisfied_by(batch)
        pool = Pool(self.pool.vocabulary, self.pool.groups, limit=len(batch))
        pool.add(batch[possible], labels[possible])
        pairs = self.reviser.finished(self.theory, list(self.found_by), pool)
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
            self.said = dict(zip(rules, rejected.tolist(), strict=True))

    def _limit(self) -> str | None:
        trace = self.trace
        return self.settings.budget.exhausted_by(len(trace.entries), trace.membership_queries, trace.seconds)

    def _rules(self) -> HornTheory:
        """The rules found, without the background."""
        found = (rule for rule in self.theory if rule not in self.reviser.background)
        return HornTheory(self.theory.vocabulary, found)

    def _point(self) -> Point:
        assert self.held_out is not None
        seen, labels = self.held_out
        agreement, found = Agreement.of(self.theory.satisfied_by(seen), labels), self._rules()
        return Point(len(found), sum(len(rule.body) + 1 for rule in found), agreement.disagreed)

    def _statistics(self) -> tuple[RuleStatistics, ...]:
        if self.held_out is None:
            return ()
        measured = statistics_on([self.held_out], self._rules(), background=self.background)
        return tuple(
            replace(found, found_by=self.found_by[found.rule], said=self.said.get(found.rule))
            for found in measured
        )
