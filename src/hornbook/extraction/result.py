"""What an extraction ends with."""

from __future__ import annotations

from dataclasses import dataclass

from hornbook.evaluate.rules import RuleStatistics
from hornbook.intervals import Share
from hornbook.logic.batch import Interpretation
from hornbook.logic.rule import Rule
from hornbook.logic.theory import HornTheory
from hornbook.oracles.coherence import CoherenceReport
from hornbook.queries import Guarantee
from hornbook.traces import Trace


@dataclass(frozen=True)
class Point:
    """One hypothesis on the way: what a reader has to read, and how faithful it is."""

    rules: int
    literals: int
    disagreement: Share


@dataclass(frozen=True)
class Extraction:
    """What was read out of a model.

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
    frontier: tuple[Point, ...]
    refuted: dict[Rule, Interpretation]
    membership_queries: int
    trace: Trace

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules found, without the background."""
        known = set(self.background)
        return tuple(rule for rule in self.theory if rule not in known)
