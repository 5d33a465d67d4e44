"""Equivalence rule by rule: the breach of each is asked about."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.rule import Rule
from hornbook.logic.theory import HornTheory, violation
from hornbook.queries import Counterexample, Membership, Unknown, interpretation


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
