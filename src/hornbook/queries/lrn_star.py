"""LRN*: exact learning of Horn theories from partial interpretations.

Legend, as in the paper's Algorithms 1 and 2:

    h       the hypothesis
    S       the sequence of antecedents A with their heads R
    (P, N)  a question or counterexample: P true, N false, all else unknown
    V       the variables

`lrn_star` is as printed, but for one step: a counterexample is closed under the hypothesis before
it meets S, without which some targets never converge.

References
----------
C. Persia, A. Ozaki. Extracting Rules from Neural Networks with Partial Interpretations. NLDL 2022.
M. Frazier, L. Pitt. Learning from entailment: an application to propositional Horn sentences. ICML 1993.
U. Junker. QuickXplain: preferred explanations and relaxations for over-constrained problems. AAAI 2004.

"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from hornbook.logic import BOTTOM, Head, HornTheory, Rule, Vocabulary
from hornbook.queries.protocol import (
    Counterexample,
    Equivalence,
    IncoherentTeacher,
    Membership,
    Step,
    rejected,
)

Variables: TypeAlias = frozenset[int]


Shrink: TypeAlias = Callable[[Membership, Vocabulary, Variables, Variables], tuple[Variables, Variables]]
"""Turns a rejected (P, N) into a rejected (P', N') with P' ⊆ P, N' ⊆ N and at most one zero."""

FindHeads: TypeAlias = Callable[[Membership, Vocabulary, Variables], frozenset[Head]]
"""Finds the heads of an antecedent A: {⊥} alone if A is contradictory."""


def shrink_by_halves(
    member: Membership, vocabulary: Vocabulary, P: Variables, N: Variables
) -> tuple[Variables, Variables]:
    """Find one head by halving N, then a minimal body; for Horn teachers."""
    rest: Sequence[int] = sorted(N)
    if rejected(member, vocabulary, [(P, ())])[0]:
        rest = ()
    while len(rest) > 1:
        half = rest[: len(rest) // 2]
        rest = half if rejected(member, vocabulary, [(P, half)])[0] else rest[len(rest) // 2 :]
    zero = frozenset(rest)
    return quickxplain(lambda body: bool(rejected(member, vocabulary, [(body, zero)])[0]), P), zero


def quickxplain(holds: Callable[[Variables], bool], items: Variables) -> Variables:
    """A minimal subset of `items` that holds, for a monotone property that `items` has.

    Examples
    --------
    >>> sorted(quickxplain(lambda chosen: {3, 7} <= chosen, frozenset(range(10))))
    [3, 7]

    """

    def explain(base: Variables, rest: Sequence[int], base_grew: bool) -> Variables:
        """A minimal part of `rest` that holds together with `base`."""
        if base_grew and holds(base):
            return frozenset()
        if len(rest) == 1:
            return frozenset(rest)
        left, right = rest[: len(rest) // 2], rest[len(rest) // 2 :]
        from_right = explain(base.union(left), right, True)
        from_left = explain(base | from_right, left, bool(from_right))
        return from_left | from_right

    return explain(frozenset(), sorted(items), True) if items else items


def one_by_one(member: Membership, vocabulary: Vocabulary, A: Variables) -> frozenset[Head]:
    """Ask for ⊥ and every other variable in one batch; right for every coherent teacher."""
    # where the dual of u is in A, asking for u is asking for ⊥
    heads = [u for u in range(len(vocabulary)) if u not in A and vocabulary.dual(u) not in A]
    bottom, *entailed = rejected(member, vocabulary, [(A, ()), *((A, (u,)) for u in heads)]).tolist()
    if bottom:
        return frozenset({BOTTOM})
    return frozenset(u for u, is_head in zip(heads, entailed, strict=True) if is_head)


def by_groups(member: Membership, vocabulary: Vocabulary, A: Variables) -> frozenset[Head]:
    """Ask about many variables in one question and halve the rejected groups; for Horn teachers."""
    if rejected(member, vocabulary, [(A, ())])[0]:
        return frozenset({BOTTOM})
    heads: set[Head] = set()
    groups = [[u for u in range(len(vocabulary)) if u not in A]]
    while groups := [group for group in groups if group]:
        guilty = rejected(member, vocabulary, [(A, group) for group in groups])
        groups = [group for group, is_guilty in zip(groups, guilty, strict=True) if is_guilty]
        heads.update(group[0] for group in groups if len(group) == 1)
        halves = ((group[: len(group) // 2], group[len(group) // 2 :]) for group in groups if len(group) > 1)
        groups = [half for pair in halves for half in pair]
    return frozenset(heads)


def meet_query(member: Membership, vocabulary: Vocabulary, A: Variables) -> bool:
    """Ask A itself: A true, all else false; a pair of duals of which A has neither stays unknown.

    Right for Horn teachers without duals. With duals it only tells whether A is contradictory.
    """
    return not rejected(member, vocabulary, [(A, vocabulary.unpaired - A)])[0]


def lrn_star(
    vocabulary: Vocabulary,
    member: Membership,
    equivalent: Equivalence,
    *,
    background: HornTheory | None = None,
    rhs: FindHeads = one_by_one,
    close: bool = True,
    shrink: Shrink | None = None,
    strict: bool = True,
) -> Iterator[Step]:
    """Learn a Horn theory as the paper prints it, yielding each hypothesis with the answer to it.

    Line 7 is one question about a meet, and Algorithm 2 asks about all variables. The last answer
    is the guarantee. For a Horn teacher without duals the bodies learned are those of the
    canonical basis.

    Parameters
    ----------
    vocabulary
        The variables of the theory.
    member, equivalent
        The teacher.
    background
        Rules known to hold: the first hypothesis, and part of every later one.
    rhs
        How the heads of an antecedent are found: `one_by_one` or `by_groups`.
    close
        Whether a counterexample is closed under the hypothesis before it meets S; the paper does
        not print this step.
    shrink
        How a counterexample is made smaller before use; see `Shrink`.
    strict
        Refuse a teacher whose answers fit no Horn theory. If not, every counterexample is taken
        for a negative one, as in the paper, and it is for the caller to end the run.

    Examples
    --------
    >>> from hornbook.queries.oracles import PerfectTeacher
    >>> teacher = PerfectTeacher(HornTheory.parse("horse & wings -> pegasus"))
    >>> *_, last = lrn_star(teacher.theory.vocabulary, teacher.member, teacher.equivalent)
    >>> print(last.hypothesis, "|", last.answer)
    horse ∧ wings → pegasus | exact: rules and teacher agree on every interpretation

    """
    V = frozenset(range(len(vocabulary)))
    S: list[tuple[Variables, frozenset[Head]]] = []
    h = background = background or HornTheory(vocabulary)
    while isinstance(answer := equivalent(h), Counterexample):  # Algorithm 1, line 6
        yield Step(h, answer)
        if strict and answer.positive:
            raise IncoherentTeacher(
                "the teacher accepts what its own answers ruled out: it is not Horn, or no interpretation "
                "that makes one of each pair of duals true satisfies its theory"
            )
        P, N = answer.interpretation.true, answer.interpretation.false
        if shrink:
            P, N = shrink(member, vocabulary, P, N)
        A = V & h.closure(P) if close else P
        for i, (A_i, _) in enumerate(S):
            M = A_i & A
            if A_i > M and not meet_query(member, vocabulary, M):  # line 7
                R = rhs(member, vocabulary, M)
                S[i] = (M, R)  # line 8
                break
        else:
            R = rhs(member, vocabulary, A)
            S.append((A, R))  # line 10
        if strict and not R:
            raise IncoherentTeacher("a rejected interpretation has no head: the teacher is not Horn")
        h = background | HornTheory(vocabulary, (Rule(A, u) for A, R in S for u in R))  # line 12
    yield Step(h, answer)
