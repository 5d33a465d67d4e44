"""Why a model or an explanation decides so, what would change it, whether claims hold, what changed."""

from __future__ import annotations

from hornbook.explain.change_space import ChangeLimits
from hornbook.explain.changes import Change, ChangedValue, ChangeFinder, Changes, find_changes
from hornbook.explain.claim_check import ClaimCheck, Violation, check
from hornbook.explain.decision import MAX_SHOWN_CODES, Decision, explain_row
from hornbook.explain.model_comparison import diff
from hornbook.explain.model_diff import (
    AgreementRegion,
    DiffGroup,
    DiffLine,
    DiffRow,
    ModelDiff,
    ModelSide,
)
from hornbook.explain.reasoner import Reasoner, why
from hornbook.explain.sufficient_reason import Coverage, ReasonLevel, SufficientReason, Why
from hornbook.explain.table_reasons import CoveringReason, TableReasons, cover_table, why_table
from hornbook.explain.theory_check import RuleCheck, check_theory

__all__ = [
    "MAX_SHOWN_CODES",
    "AgreementRegion",
    "Change",
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
