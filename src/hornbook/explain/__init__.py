"""Why an explanation decides as it does, what would change that, and what follows from facts."""

from __future__ import annotations

from hornbook.explain.conclusion import Conclusion, Undo, explain_facts, smallest_undo
from hornbook.explain.decision import Decision, explain_row
from hornbook.explain.horn_rules import UNDETERMINED, HornRules

__all__ = [
    "UNDETERMINED",
    "Conclusion",
    "Decision",
    "HornRules",
    "Undo",
    "explain_facts",
    "explain_row",
    "smallest_undo",
]
