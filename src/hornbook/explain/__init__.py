"""Why an explanation decides as it does, what would change that, and whether a model keeps to claims."""

from __future__ import annotations

from hornbook.explain.claim_check import ClaimCheck, Violation, check
from hornbook.explain.decision import Decision, explain_row

__all__ = ["ClaimCheck", "Decision", "Violation", "check", "explain_row"]
