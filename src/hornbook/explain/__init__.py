"""Theories that answer: which class follows from what is known, why, and what would undo it."""

from __future__ import annotations

from hornbook.explain.answers import FREE, Answers, united
from hornbook.explain.claim_check import ClaimCheck, Violation, check
from hornbook.explain.decision import Decision, explain_row
from hornbook.explain.explanation import Explanation, Undo, explain, smallest_undo

__all__ = [
    "FREE",
    "Answers",
    "ClaimCheck",
    "Decision",
    "Explanation",
    "Undo",
    "Violation",
    "check",
    "explain",
    "explain_row",
    "smallest_undo",
    "united",
]
