"""Equivalence oracles on stored examples and on single rules, and the chain that asks several in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol

from hornbook.logic import Batch, HornTheory, Interpretation, Rule, violation
from hornbook.queries.protocol import (
    Counterexample,
    Equivalence,
    Guarantee,
    Membership,
    Unknown,
    interpretation,
)


class PoolOracle:
    """Finds an item of a pool that the teacher rejects and the hypothesis accepts.

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

    def replay(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Do nothing: the pool is this oracle's only state."""


class RuleOracle:
    """Asks for each rule A → u whether the closure of A under the other rules, with u false, is rejected.

    If it is accepted, the rule is wrong. As the hypothesis comes close to the teacher this
    question becomes decisive: it completes A with just what follows from it. Each question is
    asked once, so that a rule that is kept for its precision is not brought up again.
    """

    name = "rules"

    def __init__(self, member: Membership, background: Collection[Rule]) -> None:
        self.member = member
        self.background = frozenset(background)
        self._asked: set[Interpretation] = set()

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Unknown:
        """A violation of some rule that the teacher accepts."""
        questions = self._take_new_questions(hypothesis)
        accepted = self.member(Batch.from_interpretations(questions, hypothesis.vocabulary))
        if accepted.any():
            return Counterexample(questions[int(accepted.argmax())], True, self.name)
        return Unknown("the teacher rejects the breach of every rule, all else unknown")

    def replay(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Replay a recorded query: mark the questions about its hypothesis as asked."""
        self._take_new_questions(hypothesis)

    def _take_new_questions(self, hypothesis: HornTheory) -> list[Interpretation]:
        questions = [item for item in self._violations(hypothesis) if item not in self._asked]
        self._asked.update(questions)
        return questions

    def _violations(self, hypothesis: HornTheory) -> Iterator[Interpretation]:
        vocabulary = hypothesis.vocabulary
        everything = frozenset(range(len(vocabulary)))
        for rule in hypothesis:
            others = HornTheory(vocabulary, (other for other in hypothesis if other != rule))
            closed = others.closure(rule.body)
            if rule not in self.background and rule.head not in closed and not closed - everything:
                breach = violation(rule)
                item = interpretation(vocabulary, everything & closed, breach.false)
                if not item.true & item.false:
                    yield item


class ResumableOracle(Equivalence, Protocol):
    """An equivalence oracle with a name that can replay the queries of an earlier run."""

    @property
    def name(self) -> str:
        """The value of `found_by` in its counterexamples."""
        ...

    def replay(self, hypothesis: HornTheory, found: Counterexample, /) -> None:
        """Replay a recorded query: restore the state after the chain answered `found`."""
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

    def __init__(self, oracles: Sequence[ResumableOracle], shares: Mapping[str, float] | None = None) -> None:
        self.oracles = oracles
        self.shares = shares or {}
        self._answered: Counter[str] = Counter()

    def __call__(self, hypothesis: HornTheory) -> Counterexample | Guarantee:
        """The first counterexample found, or what its absence guarantees."""
        guarantees: dict[str, Guarantee] = {}
        for oracle in self._order_oracles():
            answer = oracle(hypothesis)
            if isinstance(answer, Counterexample):
                self._answered[oracle.name] += 1
                return answer
            guarantees[oracle.name] = answer
        in_order = [guarantees[oracle.name] for oracle in self.oracles]
        nothing = in_order[0] if in_order else Unknown("no equivalence oracle was asked")
        return next((one for one in in_order if not isinstance(one, Unknown)), nothing)

    def replay(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Replay a recorded query with every oracle that was asked, up to the one that answered."""
        for oracle in self._order_oracles():
            oracle.replay(hypothesis, found)
            if oracle.name == found.found_by:
                self._answered[oracle.name] += 1
                return

    def _order_oracles(self) -> list[ResumableOracle]:
        """The oracles within their share, in order, and then the others."""
        queries = self._answered.total() + 1
        return sorted(
            self.oracles,
            key=lambda oracle: self._answered[oracle.name] + 1 > self.shares.get(oracle.name, 1.0) * queries,
        )
