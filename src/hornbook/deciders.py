"""What decides every case, in place of rules that leave some open: a card, or a tree."""

from __future__ import annotations

from typing import TypeAlias

from hornbook import cards, trees
from hornbook.cards import Card
from hornbook.logic.theory import HornTheory
from hornbook.trees import Tree

Decider: TypeAlias = Card | Tree
"""Both say how many `lines` and `literals` there are to read, `decide`, and give `reasons`."""


def compiled(decider: Decider) -> HornTheory:
    """The Horn rules that decide the same, over features, label, its dual, and concepts in between."""
    return cards.compiled(decider) if isinstance(decider, Card) else trees.compiled(decider)
