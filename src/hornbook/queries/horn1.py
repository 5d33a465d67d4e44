"""HORN1: exact learning of Horn theories from total interpretations, the classic.

Legend: S, the sequence of negative examples as sets of true variables; H, the hypothesis.

References
----------
D. Angluin, M. Frazier, L. Pitt. Learning conjunctions of Horn clauses. Machine Learning 9, 1992.

"""

from __future__ import annotations

from collections.abc import Iterator

from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary
from hornbook.queries.protocol import (
    Counterexample,
    Equivalence,
    IncoherentTeacher,
    Membership,
    NotHorn,
    Step,
    describe_true,
)


def horn1(
    vocabulary: Vocabulary,
    member: Membership,
    equivalent: Equivalence,
    *,
    background: HornTheory | None = None,
) -> Iterator[Step]:
    """Learn a Horn theory, yielding each hypothesis with the answer to it.

    Every counterexample must be total. A clause that a positive counterexample refuted stays
    refuted. Of n variables and a theory of m bodies, there are at most m (n + 1) negative
    counterexamples, for each of them at most m questions, and at most m (n + 1)² positive ones.

    Raises
    ------
    NotHorn
        At the first answer that no Horn theory gives beside the answers before it.
    IncoherentTeacher
        At a counterexample on which teacher and hypothesis agree, or which the background rejects.

    Examples
    --------
    >>> from hornbook.queries.oracles import PerfectTeacher
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
    answers = _Answers(member, background)
    while isinstance(answer := equivalent(H), Counterexample):
        yield Step(H, answer)
        x = answer.interpretation.true
        answers.record_counterexample(H, x, answer.positive)
        if answer.positive:
            positives.append(x)
        else:
            for i, s in enumerate(S):
                if s & x < s and not answers.ask(s & x):
                    S[i] = s & x
                    break
            else:
                S.append(x)
        H = background | HornTheory(vocabulary, (clause for s in S for clause in clauses(s)))
    yield Step(H, answer)


class _Answers:
    """A teacher's answers about total interpretations, as sets of true variables, held against each other.

    Some Horn theory gives them all exactly if no rejected interpretation is a meet of accepted ones.
    """

    def __init__(self, member: Membership, background: HornTheory) -> None:
        self.member, self.background = member, background
        self.vocabulary = background.vocabulary
        self.accepted: dict[frozenset[int], None] = {}  # in the order of the answers
        self.meets: dict[frozenset[int], frozenset[int]] = {}  # of what is accepted above each rejected

    def ask(self, x: frozenset[int]) -> bool:
        """Whether the teacher accepts x."""
        accepted = bool(self.member(self._batch(x))[0])
        self.record(x, accepted)
        return accepted

    def record_counterexample(self, H: HornTheory, x: frozenset[int], positive: bool) -> None:
        """Keep a counterexample to H; raises `IncoherentTeacher` if it is none, or against the background."""
        if H.satisfied_by(self._batch(x))[0] == positive:
            raise IncoherentTeacher(
                f"the teacher and the hypothesis agree on {describe_true(self.vocabulary, x)}, "
                "which the teacher calls a counterexample"
            )
        if positive and not self.background.satisfied_by(self._batch(x))[0]:
            raise IncoherentTeacher(
                f"the teacher accepts {describe_true(self.vocabulary, x)}, which the background rejects"
            )
        self.record(x, positive)

    def record(self, x: frozenset[int], accepted: bool) -> None:
        """Keep an answer; raises `NotHorn` if no Horn theory gives it beside those before it."""
        if accepted:
            self.accepted[x] = None
            above = {below: meet & x for below, meet in self.meets.items() if below <= x}
        else:
            everything = frozenset(range(len(self.vocabulary)))
            above = {x: everything.intersection(*(other for other in self.accepted if x <= other))}
        self.meets |= above
        for below, meet in above.items():
            if below == meet and any(below <= other for other in self.accepted):
                raise self._find_contradiction(below)

    def _find_contradiction(self, x: frozenset[int]) -> NotHorn:
        """Two accepted interpretations whose meet is rejected, given that x is the meet of several."""
        if x in self.accepted:
            return NotHorn(self.vocabulary, (x,), x)
        above = [other for other in self.accepted if x <= other]
        meet = above[0]
        for other in above[1:]:
            both = meet & other
            if both in self.meets or (both not in self.accepted and not self.member(self._batch(both))[0]):
                return NotHorn(self.vocabulary, (meet, other), both)
            self.accepted[both] = None
            meet = both
        raise AssertionError("x is the last meet, and rejected")

    def _batch(self, x: frozenset[int]) -> Batch:
        everything = frozenset(range(len(self.vocabulary)))
        return Batch.from_interpretations([Interpretation(x, everything - x)], self.vocabulary)
