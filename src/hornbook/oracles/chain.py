"""Equivalence on stored examples: what is known already is checked before anything is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol

from hornbook.logic import Batch, HornTheory, Interpretation, Rule
from hornbook.logic.theory import violation
from hornbook.queries import Counterexample, Equivalence, Guarantee, Membership, Unknown, interpretation


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


class RuleByRule:
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
        """A breach of a rule that the teacher accepts."""
        questions = self._new(hypothesis)
        accepted = self.member(Batch.from_interpretations(questions, hypothesis.vocabulary))
        if accepted.any():
            return Counterexample(questions[int(accepted.argmax())], True, self.name)
        return Unknown("the teacher rejects the breach of every rule, all else unknown")

    def recall(self, hypothesis: HornTheory, found: Counterexample) -> None:
        """Take note that an earlier run asked about a hypothesis."""
        self._new(hypothesis)

    def _new(self, hypothesis: HornTheory) -> list[Interpretation]:
        questions = [item for item in self._breaches(hypothesis) if item not in self._asked]
        self._asked.update(questions)
        return questions

    def _breaches(self, hypothesis: HornTheory) -> Iterator[Interpretation]:
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
