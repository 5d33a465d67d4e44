"""Duals and groups: the background knowledge that comes with binarised columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hornbook.distributions.literals import Groups
from hornbook.logic.rule import BOTTOM, Rule
from hornbook.logic.theory import HornTheory
from hornbook.logic.vocabulary import Vocabulary


def groups_of(columns: Sequence[str]) -> Groups:
    """The variables that come from one column, where there are several; `columns` has one entry each."""
    members: dict[str, list[int]] = {}
    for variable, column in enumerate(columns):
        members.setdefault(column, []).append(variable)
    return tuple(tuple(group) for group in members.values() if len(group) > 1)


def exclusivity(vocabulary: Vocabulary, groups: Groups) -> HornTheory:
    """At most one variable of a group is true.

    With duals a true variable makes the others' duals true, which says the same and lets a
    closure know it; without, two of them imply ⊥.

    Examples
    --------
    >>> print(exclusivity(Vocabulary(["age=low", "age=high"]), ((0, 1),)))
    age=low ∧ age=high → ⊥
    >>> print(exclusivity(Vocabulary.with_duals(["age=low", "age=high"]), ((0, 1),)))
    age=low → not_age=high
    age=high → not_age=low

    """
    rules = []
    for v, w in (pair for group in groups for pair in combinations(group, 2)):
        not_v, not_w = vocabulary.dual(v), vocabulary.dual(w)
        if not_v is None or not_w is None:
            rules.append(Rule({v, w}, BOTTOM))
        else:
            rules += [Rule({v}, not_w), Rule({w}, not_v)]
    return HornTheory(vocabulary, rules)
