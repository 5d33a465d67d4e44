"""One extraction from a model: the learner, its oracles, its budget and its trace."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions import Distribution
from hornbook.distributions.literals import Groups
from hornbook.intervals import Share
from hornbook.learners.pool import Pool
from hornbook.learners.prime import Margin, Reviser, prime
from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.bits import Bools
from hornbook.logic.errors import HornbookError
from hornbook.logic.rule import Head, Rule
from hornbook.logic.theory import HornTheory
from hornbook.oracles.chain import Chain, Link
from hornbook.oracles.filters import Budgeted, Checked
from hornbook.oracles.rules import RuleByRule
from hornbook.oracles.sampling import CHUNK, Sampling
from hornbook.oracles.stored import Stored
from hornbook.queries import (
    Budget,
    BudgetExhausted,
    Change,
    Counterexample,
    Estimated,
    Guarantee,
    Membership,
    Step,
    TeacherFailed,
    Trace,
    Unknown,
    read_step,
)

PATIENCE = 30
"""Counterexamples in a row that change nothing before a run counts as stalled."""

INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Settings:
    """How an extraction is run.

    Parameters
    ----------
    budget
        What the run may spend.
    size, epsilon, delta
        How many samples an equivalence query draws, see `hornbook.intervals.sample_size`.
    min_precision
        The share of what a rule newly rejects that the model must reject too. It trades the
        number and the length of rules for fidelity.
    pool
        How many labelled samples rules are weighed by from the start.
    tries
        How many rules are tried for each counterexample.
    evaluation
        How many labelled samples are held out: every hypothesis is measured on them, and no
        rule is ever weighed by them.
    seed
        Makes the run repeatable.

    """

    budget: Budget = Budget(equivalence_queries=100)  # noqa: RUF009 (frozen)
    size: str | int = "paper"
    epsilon: float = 0.1
    delta: float = 0.1
    min_precision: float = 0.9
    pool: int = 1 << 17
    tries: int = 8
    evaluation: int = 1 << 16
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.min_precision <= 1:
            raise HornbookError(f"min_precision is above 0 and at most 1; got {self.min_precision}")
        for name, least in (("pool", 1), ("tries", 1), ("evaluation", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise HornbookError(f"{name} is at least {least}; got {getattr(self, name)}")


@dataclass(frozen=True)
class Point:
    """One hypothesis on the way: what a reader has to read, and how faithful it is."""

    rules: int
    literals: int
    disagreement: Share


@dataclass(frozen=True)
class Extraction:
    """What was read out of a model."""

    theory: HornTheory
    background: HornTheory
    guarantee: Guarantee
    disagreement: Share
    stop_reason: str
    frontier: tuple[Point, ...]
    refuted: dict[Rule, Interpretation]
    membership_queries: int
    trace: Trace

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules found, without the background."""
        known = set(self.background)
        return tuple(rule for rule in self.theory if rule not in known)


def extract(
    member: Membership,
    distribution: Distribution,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    *,
    margin: Margin | None = None,
    background: HornTheory | None = None,
    heads: Sequence[Head] | None = None,
    groups: Groups = (),
    guided: Callable[[Membership, Margin | None], Link] | None = None,
    trace: Path | None = None,
    watch: Callable[[Step, Trace], None] | None = None,
) -> Extraction:
    """Read a Horn theory out of a teacher that need be neither Horn nor coherent.

    The run ends by equivalence, which may be but for counterexamples of which no rule that is
    precise enough can be made, by its budget, by a stall, when it is interrupted or when the
    teacher fails, and says which; what was learned until then is kept. With a trace file a
    run that was killed goes on from where it was, to the same result.

    Parameters
    ----------
    member
        The teacher.
    distribution
        Where samples come from; faithfulness is measured on it.
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
        Sets of variables of which at most one is true; no question breaks them if the
        distribution does not.
    guided
        Makes a further equivalence oracle, asked after sampling, from the teacher and its
        margin, both under the budget.
    trace
        A file that gets a line for each equivalence query, as it happens. A run with the same
        teacher and settings takes up what it holds.
    watch
        Is called after each equivalence query.

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> truth = HornTheory.parse("horse & wings -> pegasus")
    >>> found = extract(truth.satisfied_by, Random(truth.vocabulary), Settings(pool=1000, size=5000))
    >>> print(found.theory)
    horse ∧ wings → pegasus
    >>> found.stop_reason, found.disagreement.hits
    ('equivalent', 0)

    """
    run = _Run(member, distribution, settings, margin, background, heads, groups, guided, trace)
    return run.result(run.learn(watch))


class _Run:
    """The parts of one extraction, put together."""

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
    ) -> None:
        vocabulary = distribution.vocabulary
        budget, seed = settings.budget, settings.seed
        answers: Callable[[Batch], NDArray[Any]] = (
            Checked(member) if margin is None else Checked(margin, np.floating)
        )
        self.asked = asked = Budgeted(answers, budget.membership_queries, budget.seconds)
        self.member: Membership = asked if margin is None else lambda batch: asked(batch) >= 0
        margin = None if margin is None else asked
        self.distribution, self.settings = distribution, settings
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
        )
        rules = RuleByRule(self.member, self.background.rules)
        links: list[Link] = [Stored(self.pool.first_missed), rules, sampling]
        self.chain = Chain(links if guided is None else [*links, guided(self.member, margin)])
        earlier = _recorded(path)
        self.earlier = iter(earlier)
        self.entry: dict[str, Any] | None = None
        self.trace = Trace(path, written=len(earlier))
        self.theory = self.background
        self.guarantee: Guarantee | None = None
        self.frontier: list[Point] = []
        self.given_up: list[Counterexample] = []

    def learn(self, watch: Callable[[Step, Trace], None] | None) -> str:
        """Learn until something ends the run; says what it was."""
        try:
            seen, labels = self._labelled(self.settings.evaluation, stream=0)
            self.pool.add(*self._labelled(self.settings.pool, stream=1))
            idle = 0
            for step in prime(self._equivalent, self._revise, self.background):
                self.trace.record(step, self.asked.asked)
                self.theory = (
                    step.hypothesis if step.change is None else step.change.applied_to(step.hypothesis)
                )
                self.frontier.append(self._point(seen, labels))
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
                if limit := self.settings.budget.exhausted_by(self.trace):
                    return limit
        except BudgetExhausted as limit:
            return str(limit)
        except KeyboardInterrupt:
            return INTERRUPTED
        except TeacherFailed as error:
            return f"the model failed: {error}"
        raise AssertionError("a learner ends with a guarantee")

    def result(self, stop_reason: str) -> Extraction:
        """Everything learned, with what is known of its faithfulness."""
        disagreement = self.frontier[-1].disagreement if self.frontier else Share.of(0, 0)
        if self.guarantee is None and disagreement.size:
            self.guarantee = Estimated(disagreement, self.distribution.describe())
        return Extraction(
            self.theory,
            self.background,
            self.guarantee or Unknown(f"nothing was measured ({stop_reason})"),
            disagreement,
            stop_reason,
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

    def _labelled(self, size: int, stream: int) -> tuple[Batch, Bools]:
        # a spawn key: a plain tuple could be the seed of another source, whose draws would be the same
        source = np.random.SeedSequence(self.settings.seed, spawn_key=(stream,))
        batch = self.distribution.draw(size, np.random.default_rng(source))
        parts = [self.member(block) for block in batch.blocks(CHUNK)]
        return batch, np.concatenate(parts)

    def _point(self, seen: Batch, labels: Bools) -> Point:
        wrong = int((self.theory.satisfied_by(seen) != labels).sum())
        found = [rule for rule in self.theory if rule not in self.reviser.background]
        return Point(len(found), sum(len(rule.body) + 1 for rule in found), Share.of(wrong, len(seen)))


def _recorded(path: Path | None) -> list[dict[str, Any]]:
    """The counterexamples of an earlier run; the file keeps them, and nothing after them."""
    if path is None:
        return []
    lines = path.read_text("utf-8", errors="replace").split("\n") if path.exists() else []
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            entries.append(json.loads(line))
        except json.JSONDecodeError:
            if number < len(lines):  # the last line may have been cut off when the run was killed
                raise HornbookError(
                    f"{path}, line {number}: not a trace; remove the file to begin anew"
                ) from None
    entries = [entry for entry in entries if "change" in entry]
    text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    path.write_text(text, "utf-8")
    return entries
