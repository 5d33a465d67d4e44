"""Why a model or an explanation decides so, what would change it, whether claims hold, what changed."""

from __future__ import annotations

from hornbook.explain.changes.finder import ChangedValue, ChangeFinder, Changes, RowChange, find_changes
from hornbook.explain.changes.space import ChangeLimits
from hornbook.explain.claims.claim_check import ClaimCheck, Violation, check
from hornbook.explain.claims.theory_check import RuleCheck, check_theory
from hornbook.explain.comparison.diff import diff
from hornbook.explain.comparison.model_diff import (
    AgreementRegion,
    DiffGroup,
    DiffLine,
    DiffRow,
    ModelDiff,
    ModelSide,
)
from hornbook.explain.decision import MAX_SHOWN_CODES, Decision, explain_row
from hornbook.explain.reasons.reasoner import Reasoner, why
from hornbook.explain.reasons.sufficient_reason import Coverage, ReasonLevel, SufficientReason, Why
from hornbook.explain.reasons.table import CoveringReason, TableReasons, cover_table, why_table

__all__ = [
    "MAX_SHOWN_CODES",
    "AgreementRegion",
    "ChangeFinder",
    "ChangeLimits",
    "ChangedValue",
    "Changes",
    "ClaimCheck",
    "Coverage",
    "CoveringReason",
    "Decision",
    "DiffGroup",
    "DiffLine",
    "DiffRow",
    "ModelDiff",
    "ModelSide",
    "ReasonLevel",
    "Reasoner",
    "RowChange",
    "RuleCheck",
    "SufficientReason",
    "TableReasons",
    "Violation",
    "Why",
    "check",
    "check_theory",
    "cover_table",
    "diff",
    "explain_row",
    "find_changes",
    "why",
    "why_table",
]
