"""Theories that answer: which class follows from what is known, why, and what would undo it."""

from hornbook.answers.answers import FREE, Answers, united
from hornbook.answers.explanation import Explanation, explain
from hornbook.answers.undo import Undo, smallest_undo

__all__ = ["FREE", "Answers", "Explanation", "Undo", "explain", "smallest_undo", "united"]
