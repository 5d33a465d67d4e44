"""Why an explanation or a model decides as it does, what would change that, and whether claims hold."""

from __future__ import annotations

from hornbook.explain.change_space import ChangeLimits
from hornbook.explain.changes import Change, ChangedValue, ChangeFinder, Changes, find_changes
from hornbook.explain.claim_check import ClaimCheck, Violation, check
from hornbook.explain.decision import MAX_SHOWN_CODES, Decision, explain_row
from hornbook.explain.reasoner import Reasoner, why
from hornbook.explain.sufficient_reason import Coverage, ReasonLevel, SufficientReason, Why
from hornbook.explain.table_reasons import CoveringReason, TableReasons, cover_table, why_table
from hornbook.explain.theory_check import RuleCheck, check_theory

__all__ = [
    "MAX_SHOWN_CODES",
    "Change",
    "ChangeFinder",
    "ChangeLimits",
    "ChangedValue",
    "Changes",
    "ClaimCheck",
    "Coverage",
    "CoveringReason",
    "Decision",
    "ReasonLevel",
    "Reasoner",
    "RuleCheck",
    "SufficientReason",
    "TableReasons",
    "Violation",
    "Why",
    "check",
    "check_theory",
    "cover_table",
    "explain_row",
    "find_changes",
    "why",
    "why_table",
]
