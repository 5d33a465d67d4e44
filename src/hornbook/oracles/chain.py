"""Equivalence oracles one after another, the cheapest first."""

from __future__ import annotations

from collections.abc import Sequence

from hornbook.logic.theory import HornTheory
from hornbook.queries import Counterexample, Equivalence, Guarantee, Unknown


class Chain:
    """Asks each oracle in turn until one finds a counterexample.

    If none does, the answer is the guarantee of the strongest: that of the first oracle that
    gives one.
    """

    def __init__(self, oracles: Sequence[Equivalence]) -> None:
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
