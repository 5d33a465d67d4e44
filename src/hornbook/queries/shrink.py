"""Smaller counterexamples: one head, and a body from which nothing can be left out.

References
----------
U. Junker. QuickXplain: preferred explanations and relaxations for over-constrained problems. AAAI 2004.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from hornbook.logic import Vocabulary
from hornbook.queries.protocol import IncoherentTeacher, Membership, rejected

Variables = frozenset[int]


class Shrink(Protocol):
    """Turns a rejected (P, N) into a rejected (P', N') with P' ⊆ P, N' ⊆ N and at most one zero."""

    def __call__(
        self, member: Membership, vocabulary: Vocabulary, P: Variables, N: Variables, /
    ) -> tuple[Variables, Variables]: ...


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
    return _minimal_body(member, vocabulary, P, frozenset(rest))


def shrink_one_zero(
    member: Membership, vocabulary: Vocabulary, P: Variables, N: Variables
) -> tuple[Variables, Variables]:
    """Find one head by asking for ⊥ and each of N alone, then a minimal body; for coherent teachers."""
    zeros: list[tuple[int, ...]] = [(), *((u,) for u in sorted(N))]
    answers = rejected(member, vocabulary, [(P, zero) for zero in zeros])
    if not answers.any():
        raise IncoherentTeacher("a rejected interpretation has no head: the teacher is not Horn")
    return _minimal_body(member, vocabulary, P, frozenset(zeros[int(answers.argmax())]))


def _minimal_body(
    member: Membership, vocabulary: Vocabulary, P: Variables, zero: Variables
) -> tuple[Variables, Variables]:
    def entailed(body: Variables) -> bool:
        return bool(rejected(member, vocabulary, [(body, zero)])[0])

    return quickxplain(entailed, P), zero


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
