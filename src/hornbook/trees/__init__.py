"""Trees of questions, and the Horn rules that come to the same answers."""

from hornbook.trees.compiled import compiled
from hornbook.trees.tree import Node, Split, Step, Tree

__all__ = ["Node", "Split", "Step", "Tree", "compiled"]
