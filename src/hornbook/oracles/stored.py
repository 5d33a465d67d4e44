"""Equivalence on stored examples: what is known already is checked before anything is asked."""

from __future__ import annotations

from collections.abc import Callable

from hornbook.logic.batch import Interpretation
from hornbook.logic.theory import HornTheory
from hornbook.queries import Counterexample, Unknown


class Stored:
    """Offers an item of a pool that the teacher rejects and the hypothesis accepts.

    `missed(hypothesis)` gives the first such item, or None.
    """

    name = "stored"

    def __init__(self, missed: Callable[[HornTheory], Interpretation | None]) -> None:
        self.missed = missed

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Unknown:
        """A stored counterexample; none stored says nothing about the rest."""
        item = self.missed(hypothesis)
        if item is None:
            return Unknown("no stored example contradicts the hypothesis")
        return Counterexample(item, found_by=self.name)

    def recall(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Nothing to take up: the pool is the memory."""
