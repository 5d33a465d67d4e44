"""Equivalence oracles one after another, the cheapest first, each with its share of the queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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

    An oracle that has answered its share of the queries so far lets the others go first, so
    that none of them answers everything. If none finds a counterexample, the answer is the
    first guarantee, in the order of the chain, that says more than `Unknown`.

    Parameters
    ----------
    oracles
        The oracles, in order.
    shares
        By name, the share of the queries that an oracle may answer before the others; 1 for
        those that are not named.

    """

    def __init__(self, oracles: Sequence[Link], shares: Mapping[str, float] | None = None) -> None:
        self.oracles = oracles
        self.shares = shares or {}
        self._answered: Counter[str] = Counter()

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """The first counterexample found, or what its absence guarantees."""
        guarantees: dict[str, Guarantee] = {}
        for oracle in self._in_turn():
            answer = oracle(hypothesis)
            if isinstance(answer, Counterexample):
                self._answered[oracle.name] += 1
                return answer
            guarantees[oracle.name] = answer
        in_order = [guarantees[oracle.name] for oracle in self.oracles]
        nothing = in_order[0] if in_order else Unknown("no equivalence oracle was asked")
        return next((one for one in in_order if not isinstance(one, Unknown)), nothing)

    def recall(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Take up a counterexample of an earlier run: its oracle was asked, and those before it."""
        for oracle in self._in_turn():
            oracle.recall(hypothesis, found)
            if oracle.name == found.found_by:
                self._answered[oracle.name] += 1
                return

    def _in_turn(self) -> list[Link]:
        """Those within their share, in order, and then the others."""
        queries = self._answered.total() + 1
        return sorted(
            self.oracles,
            key=lambda oracle: self._answered[oracle.name] + 1 > self.shares.get(oracle.name, 1.0) * queries,
        )
