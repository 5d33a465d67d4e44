"""HORN1: exact learning of Horn theories from total interpretations, the classic.

Legend: S, the sequence of negative examples as sets of true variables; H, the hypothesis.

References
----------
D. Angluin, M. Frazier, L. Pitt. Learning conjunctions of Horn clauses. Machine Learning 9, 1992.

"""

from __future__ import annotations

from collections.abc import Iterator

from hornbook.logic import BOTTOM, HornTheory, Rule, Vocabulary
from hornbook.queries import Counterexample, Equivalence, Membership, Step, rejected


def horn1(
    vocabulary: Vocabulary,
    member: Membership,
    equivalent: Equivalence,
    *,
    background: HornTheory | None = None,
) -> Iterator[Step]:
    """Learn a Horn theory, yielding each hypothesis with the answer to it.

    Every counterexample must be total. A clause that a positive counterexample refuted stays
    refuted.

    Examples
    --------
    >>> from hornbook.oracles import PerfectTeacher
    >>> teacher = PerfectTeacher(HornTheory.parse("horse & wings -> pegasus"), "total")
    >>> *_, last = horn1(teacher.theory.vocabulary, teacher.member, teacher.equivalent)
    >>> print(last.hypothesis)
    horse ∧ wings → pegasus

    """
    V = frozenset(range(len(vocabulary)))
    S: list[frozenset[int]] = []
    positives: list[frozenset[int]] = []

    def clauses(s: frozenset[int]) -> Iterator[Rule]:
        if any(s <= x for x in positives):
            allowed = V.intersection(*(x for x in positives if s <= x)) - s
            yield from (Rule(s, b) for b in sorted(allowed))
        else:
            yield Rule(s, BOTTOM)

    H = background = background or HornTheory(vocabulary)
    while isinstance(answer := equivalent(H), Counterexample):
        yield Step(H, answer)
        x = answer.interpretation.true
        if answer.positive:
            positives.append(x)
        else:
            for i, s in enumerate(S):
                if s & x < s and rejected(member, vocabulary, [(s & x, V - (s & x))])[0]:
                    S[i] = s & x
                    break
            else:
                S.append(x)
        H = background | HornTheory(vocabulary, (clause for s in S for clause in clauses(s)))
    yield Step(H, answer)
