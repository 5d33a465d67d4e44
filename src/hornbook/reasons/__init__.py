"""Why a model decides a row as it does, and what would change that."""

from __future__ import annotations

from hornbook.reasons.change_space import ChangeLimits
from hornbook.reasons.changes import ChangedValue, ChangeFinder, Changes, RowChange
from hornbook.reasons.changes_table import Action, ActionStep, ChangesTable, find_actions
from hornbook.reasons.prover import ReasonLevel
from hornbook.reasons.radius import Radius, Reach
from hornbook.reasons.reasoner import Coverage, Reasoner, SufficientReason, Why
from hornbook.reasons.table import CoveringReason, TableReasons, cover_table

__all__ = [
    "Action",
    "ActionStep",
    "ChangeFinder",
    "ChangeLimits",
    "ChangedValue",
    "Changes",
    "ChangesTable",
    "Coverage",
    "CoveringReason",
    "Radius",
    "Reach",
    "ReasonLevel",
    "Reasoner",
    "RowChange",
    "SufficientReason",
    "TableReasons",
    "Why",
    "cover_table",
    "find_actions",
]
