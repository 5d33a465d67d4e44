"""Why a model decides a row as it does, and what would change that."""

from __future__ import annotations

from hornbook.reasons.change_space import ChangeLimits
from hornbook.reasons.changes import ChangedValue, ChangeFinder, Changes, RowChange
from hornbook.reasons.prover import ReasonLevel
from hornbook.reasons.reasoner import Coverage, Reasoner, SufficientReason, Why
from hornbook.reasons.table import CoveringReason, TableReasons, cover_table

__all__ = [
    "ChangeFinder",
    "ChangeLimits",
    "ChangedValue",
    "Changes",
    "Coverage",
    "CoveringReason",
    "ReasonLevel",
    "Reasoner",
    "RowChange",
    "SufficientReason",
    "TableReasons",
    "Why",
    "cover_table",
]
