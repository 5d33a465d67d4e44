"""Which rule is to blame when a hypothesis rejects what the teacher accepts."""

from __future__ import annotations

from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.chaining import derive
from hornbook.logic.rule import BOTTOM, Bottom, Rule
from hornbook.logic.theory import HornTheory
from hornbook.queries import Membership, interpretation


def blame(member: Membership, hypothesis: HornTheory, witness: Interpretation) -> Rule:
    """The rule that a positive counterexample refutes.

    The derivation of the conflict is walked, adding derived facts one at a time and asking
    the teacher: the first rule whose head flips the answer is refuted, and if none does, the
    rule that closed the conflict.

    Examples
    --------
    >>> from hornbook.logic.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary(["a", "b", "c"])
    >>> truth = HornTheory(vocabulary, [Rule({0}, 1)])
    >>> wrong = truth | HornTheory(vocabulary, [Rule({1}, 2)])
    >>> blame(truth.satisfied_by, wrong, Interpretation(frozenset({0}), frozenset({2})))
    Rule(body=frozenset({1}), head=2)

    """
    vocabulary = hypothesis.vocabulary
    steps: list[Rule] = []
    for rule in derive(hypothesis.rules, witness.true):
        steps.append(rule)
        if rule.head is BOTTOM or rule.head in witness.false:
            break
    true, questions = witness.true, []
    for rule in steps[:-1]:
        assert not isinstance(rule.head, Bottom)
        true = true | {rule.head}
        questions.append(interpretation(vocabulary, true, witness.false))
    possible = [item for item in questions if not item.true & item.false]
    accepted = member(Batch.from_interpretations(possible, vocabulary))
    for rule, yes in zip(steps, accepted.tolist(), strict=False):
        if not yes:
            return rule
    return steps[len(possible)]
