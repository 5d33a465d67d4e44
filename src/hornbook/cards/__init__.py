"""Point scores: cards that a person can add up, and the Horn rules that add up the same."""

from hornbook.cards.card import Card, Item
from hornbook.cards.compiled import compiled
from hornbook.cards.facts import observed

__all__ = ["Card", "Item", "compiled", "observed"]
