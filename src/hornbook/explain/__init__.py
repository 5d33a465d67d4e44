"""Why an explanation decides as it does, what would change that, and whether a model keeps to claims."""

from __future__ import annotations

from hornbook.explain.claim_check import ClaimCheck, Violation, check
from hornbook.explain.decision import MAX_SHOWN_CODES, Decision, explain_row
from hornbook.explain.theory_check import RuleCheck, check_theory

__all__ = [
    "MAX_SHOWN_CODES",
    "ClaimCheck",
    "Decision",
    "RuleCheck",
    "Violation",
    "check",
    "check_theory",
    "explain_row",
]
