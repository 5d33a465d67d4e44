"""LRN*: exact learning of Horn theories from partial interpretations.

Legend, as in the paper's Algorithms 1 and 2:

    h       the hypothesis
    S       the sequence of antecedents A with their heads R
    (P, N)  a question or counterexample: P true, N false, all else unknown
    V       the variables

References
----------
C. Persia, A. Ozaki. Extracting Rules from Neural Networks with Partial Interpretations. NLDL 2022.
M. Frazier, L. Pitt. Learning from entailment: an application to propositional Horn sentences. ICML 1993.

"""

from __future__ import annotations

from collections.abc import Iterator

from hornbook.learners.heads import Closed, Rhs, one_by_one, total_query
from hornbook.learners.shrink import Shrink
from hornbook.logic.rule import Head, Rule
from hornbook.logic.theory import HornTheory
from hornbook.logic.vocabulary import Vocabulary
from hornbook.queries import Counterexample, Equivalence, IncoherentTeacher, Membership, Step


def lrn_star(
    vocabulary: Vocabulary,
    member: Membership,
    equivalent: Equivalence,
    *,
    background: HornTheory | None = None,
    rhs: Rhs = one_by_one,
    closed: Closed | None = total_query,
    shrink: Shrink | None = None,
    strict: bool = True,
) -> Iterator[Step]:
    """Learn a Horn theory, yielding each hypothesis with the answer to it.

    The last answer is the guarantee. For a Horn teacher the bodies learned are those of the
    canonical basis. For any other coherent teacher pass `closed=None`, and counterexamples
    with at most one zero: what is learned is then the Horn envelope of its formula.

    Parameters
    ----------
    vocabulary
        The variables of the theory.
    member, equivalent
        The teacher.
    background
        Rules known to hold: the first hypothesis, and part of every later one.
    rhs
        How the heads of an antecedent are found, see `hornbook.learners.heads`.
    closed
        How a meet is tested before its heads are sought; None: by its heads alone.
    shrink
        How a counterexample is made smaller before use, see `hornbook.learners.shrink`.
    strict
        Refuse a teacher whose answers fit no Horn theory. If not, every counterexample is taken
        for a negative one, as in the paper, and it is for the caller to end the run.

    Examples
    --------
    >>> from hornbook.oracles.teacher import PerfectTeacher
    >>> teacher = PerfectTeacher(HornTheory.parse("horse & wings -> pegasus"))
    >>> *_, last = lrn_star(teacher.theory.vocabulary, teacher.member, teacher.equivalent)
    >>> print(last.hypothesis, "|", last.answer)
    horse ∧ wings → pegasus | exact: hypothesis and teacher agree on every interpretation

    """
    V = frozenset(range(len(vocabulary)))
    if vocabulary.has_duals:
        closed = None  # a total question could not make both of a pair false

    def heads(A: frozenset[int], candidates: frozenset[int]) -> frozenset[Head]:
        if closed and closed(member, vocabulary, A):
            return frozenset()
        return rhs(member, vocabulary, A, candidates)

    S: list[tuple[frozenset[int], frozenset[Head]]] = []
    h = background = background or HornTheory(vocabulary)
    while isinstance(answer := equivalent(h), Counterexample):  # Algorithm 1, line 6
        yield Step(h, answer)
        if strict and answer.positive:
            raise IncoherentTeacher("the teacher accepts what its own answers ruled out: it is not Horn")
        P, N = answer.interpretation.true, answer.interpretation.false
        if shrink:
            P, N = shrink(member, vocabulary, P, N)
        A = V & h.closure(P)
        for i, (A_i, R_i) in enumerate(S):
            M = A_i & A
            candidates = (A_i | V & R_i if V & R_i else V) - M  # all, if R_i is {⊥}
            if A_i > M and (R := heads(M, candidates)):  # line 7
                S[i] = (M, R)  # line 8
                break
        else:
            S.append((A, rhs(member, vocabulary, A, V - A)))  # line 10
            if strict and not S[-1][1]:
                raise IncoherentTeacher("a rejected interpretation has no head: the teacher is not Horn")
        h = background | HornTheory(vocabulary, (Rule(A, u) for A, R in S for u in R))  # line 12
    yield Step(h, answer)
