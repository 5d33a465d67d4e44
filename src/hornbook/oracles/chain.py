"""Equivalence oracles one after another, the cheapest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hornbook.logic.theory import HornTheory
from hornbook.queries import Counterexample, Equivalence, Guarantee, Unknown


class Link(Equivalence, Protocol):
    """An equivalence oracle that signs what it finds, and can take up an earlier run."""

    @property
    def name(self) -> str:
        """What `found_by` says of its counterexamples."""
        ...

    def recall(self, hypothesis: HornTheory, found: Counterexample, /) -> None:
        """Be as if asked about the hypothesis once more, at the end of which the chain had `found`."""
        ...


class Chain:
    """Asks each oracle in turn until one finds a counterexample.

    If none does, the answer is the first guarantee that says more than `Unknown`.
    """

    def __init__(self, oracles: Sequence[Link]) -> None:
        self.oracles = oracles

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """The first counterexample found, or what its absence guarantees."""
        guarantee: Guarantee = Unknown("no equivalence oracle was asked")
        for oracle in self.oracles:
            answer = oracle(hypothesis)
            if isinstance(answer, Counterexample):
                return answer
            if isinstance(guarantee, Unknown):
                guarantee = answer
        return guarantee

    def recall(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Take up a counterexample of an earlier run: its oracle was asked, and those before it."""
        for oracle in self.oracles:
            oracle.recall(hypothesis, found)
            if oracle.name == found.found_by:
                return
