"""The settings of a run by queries, and its result."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hornbook.errors import HornbookError
from hornbook.logic import Bottom, Head, HornTheory, Interpretation, Rule, Vocabulary
from hornbook.logic.formats import to_json
from hornbook.queries.coherence import CoherenceReport
from hornbook.queries.distributions import Distribution
from hornbook.queries.protocol import Budget, Guarantee
from hornbook.queries.rule_statistics import RuleStatistics
from hornbook.queries.trace import Trace
from hornbook.statistics import Share

ORACLE_SHARES = {"stored": 0.5, "rules": 0.0, "sampling": 0.25}
"""Half of the queries are answered from the pool; fresh samples prevent overfitting to it.

The rule oracle is asked only when the pool has nothing: its questions are decisive late in a run.
"""


@dataclass(frozen=True)
class Settings:
    """Settings of a run of the query learner.

    Parameters
    ----------
    budget
        Limits on queries and time.
    size, epsilon, delta
        How many samples an equivalence query draws, see `hornbook.statistics.sample_size`.
    min_precision
        The share of what a rule newly rejects that the model must reject too. It trades the
        number and the length of rules for fidelity.
    shares
        By name, the share of the equivalence queries that an oracle may answer before the others
        are asked; see `hornbook.queries.chain`.
    pool
        Number of labelled samples in the initial pool, on which rules are evaluated.
    tries
        Number of candidate rules for each counterexample.
    max_rules
        Maximum number of rules besides the background; the least useful ones are dropped.
    evaluation
        Number of labelled samples held out to measure every hypothesis and rule; no rule is
        chosen by them.
    coherence
        Number of samples on which the teacher's answers are compared with its answers about
        completions; 0 to skip.
    seed
        Makes the run repeatable.

    """

    budget: Budget = Budget(equivalence_queries=100)  # noqa: RUF009 (frozen)
    size: str | int = "paper"
    epsilon: float = 0.1
    delta: float = 0.1
    min_precision: float = 0.9
    shares: Mapping[str, float] = field(default_factory=lambda: dict(ORACLE_SHARES))
    pool: int = 1 << 17
    tries: int = 4
    max_rules: int = 100
    evaluation: int = 1 << 16
    coherence: int = 512
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.min_precision <= 1:
            raise HornbookError(f"min_precision is above 0 and at most 1; got {self.min_precision}")
        for name, least in (
            ("pool", 1),
            ("tries", 1),
            ("max_rules", 1),
            ("evaluation", 1),
            ("coherence", 0),
            ("seed", 0),
        ):
            if getattr(self, name) < least:
                raise HornbookError(f"{name} is at least {least}; got {getattr(self, name)}")


def run_identity(
    settings: Settings,
    distribution: Distribution,
    background: HornTheory | None,
    heads: Sequence[Head] | None,
) -> dict[str, Any]:
    """The settings that determine the steps of a run, given the teacher; a trace is tied to them.

    The budget is not among them, so a run can be resumed with a larger one.
    """
    vocabulary = distribution.vocabulary
    decisive = {name: value for name, value in asdict(settings).items() if name != "budget"}
    return decisive | {
        "distribution": distribution.settings(),
        "vocabulary": _digest(to_json(vocabulary, ())),
        "background": _digest(to_json(vocabulary, background or ())),
        "heads": None if heads is None else [_head_name(vocabulary, head) for head in heads],
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _head_name(vocabulary: Vocabulary, head: Head) -> str | None:
    return None if isinstance(head, Bottom) else vocabulary.name(head)


@dataclass(frozen=True)
class DisagreementPoint:
    """The size of a hypothesis, in rules and literals of bodies, and its disagreement on held-out samples."""

    rules: int
    literals: int
    disagreement: Share


@dataclass(frozen=True)
class QueryResult:
    """The result of a query learner on a model.

    Attributes
    ----------
    theory, background
        The rules found with the background, and the background alone.
    guarantee
        Under what the theory is held to be equivalent to the model.
    disagreement
        The share of held-out samples on which the theory and the model differ.
    stop_reason
        What ended the run.
    statistics
        What each of the `rules` is worth on held-out samples, in their order, and which oracle's
        counterexample led to it; empty if the run ended before any were labelled.
    coherence
        How often the model's answers about unknown values contradict its other answers, with
        witnesses; None if it was not measured.
    changed_answers
        The share of questions to which the model gave another answer at the end of the run.
    frontier
        Each hypothesis on the way: how much there was to read, and how faithful it was.
    refuted
        Rules that were found and then removed, each with an item that the model accepts against it.
    membership_queries
        How many questions the model was asked.
    trace
        What happened, an entry for each equivalence query.

    """

    theory: HornTheory
    background: HornTheory
    guarantee: Guarantee
    disagreement: Share
    stop_reason: str
    statistics: tuple[RuleStatistics, ...]
    coherence: CoherenceReport | None
    changed_answers: Share
    frontier: tuple[DisagreementPoint, ...]
    refuted: dict[Rule, Interpretation]
    membership_queries: int
    trace: Trace

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules found, without the background."""
        known = set(self.background)
        return tuple(rule for rule in self.theory if rule not in known)
