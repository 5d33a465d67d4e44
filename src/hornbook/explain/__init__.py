"""Theories that answer: which class follows from what is known, why, and what would undo it."""

from __future__ import annotations

from hornbook.explain.answers import FREE, Answers, united
from hornbook.explain.explanation import Explanation, Undo, explain, smallest_undo

__all__ = ["FREE", "Answers", "Explanation", "Undo", "explain", "smallest_undo", "united"]
