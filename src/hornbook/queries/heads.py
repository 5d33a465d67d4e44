"""The heads of an antecedent A (Algorithm 2 of the paper), and whether A has any."""

from __future__ import annotations

from typing import Protocol

from hornbook.logic import BOTTOM, Head, Vocabulary
from hornbook.queries.protocol import Membership, rejected


class Rhs(Protocol):
    """Finds the heads of A among candidates: {⊥} alone if A is contradictory."""

    def __call__(
        self, member: Membership, vocabulary: Vocabulary, A: frozenset[int], candidates: frozenset[int], /
    ) -> frozenset[Head]: ...


class Closed(Protocol):
    """Tells whether no rule of the teacher adds anything to A."""

    def __call__(self, member: Membership, vocabulary: Vocabulary, A: frozenset[int], /) -> bool: ...


def one_by_one(
    member: Membership, vocabulary: Vocabulary, A: frozenset[int], candidates: frozenset[int]
) -> frozenset[Head]:
    """Ask for ⊥ and every candidate in one batch; right for every coherent teacher."""
    # where the dual of u is in A, asking for u is asking for ⊥
    asked = [u for u in sorted(candidates) if vocabulary.dual(u) not in A]
    bottom, *entailed = rejected(member, vocabulary, [(A, ()), *((A, (u,)) for u in asked)]).tolist()
    if bottom:
        return frozenset({BOTTOM})
    return frozenset(u for u, is_head in zip(asked, entailed, strict=True) if is_head)


def by_groups(
    member: Membership, vocabulary: Vocabulary, A: frozenset[int], candidates: frozenset[int]
) -> frozenset[Head]:
    """Ask about many candidates in one question and halve the rejected groups; for Horn teachers."""
    if rejected(member, vocabulary, [(A, ())])[0]:
        return frozenset({BOTTOM})
    heads: set[Head] = set()
    groups = [sorted(candidates)] if candidates else []
    while groups:
        guilty = rejected(member, vocabulary, [(A, group) for group in groups])
        groups = [group for group, is_guilty in zip(groups, guilty, strict=True) if is_guilty]
        heads.update(group[0] for group in groups if len(group) == 1)
        halves = ((group[: len(group) // 2], group[len(group) // 2 :]) for group in groups if len(group) > 1)
        groups = [half for pair in halves for half in pair]
    return frozenset(heads)


def meet_query(member: Membership, vocabulary: Vocabulary, A: frozenset[int]) -> bool:
    """Ask A itself: A true, all else false; a pair of duals of which A has neither stays unknown.

    Right for Horn teachers without duals. With duals it only tells whether A is contradictory.
    """
    return not rejected(member, vocabulary, [(A, vocabulary.unpaired - A)])[0]
