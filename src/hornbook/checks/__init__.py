"""Claims about a model, and whether they hold."""

from __future__ import annotations

from hornbook.checks.cases import Violation
from hornbook.checks.claim_check import ClaimCheck, check, read_claims
from hornbook.checks.claims import (
    Claim,
    MonotoneClaim,
    RuleClaim,
    name_outcome,
    parse_claims,
    write_condition,
)
from hornbook.checks.theory_check import RuleCheck, check_theory

__all__ = [
    "Claim",
    "ClaimCheck",
    "MonotoneClaim",
    "RuleCheck",
    "RuleClaim",
    "Violation",
    "check",
    "check_theory",
    "name_outcome",
    "parse_claims",
    "read_claims",
    "write_condition",
]
