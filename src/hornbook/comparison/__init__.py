"""What changed between two models, or between a model and the truth, in rules."""

from __future__ import annotations

from hornbook.comparison.diff import diff
from hornbook.comparison.model_diff import AgreementRegion, DiffGroup, DiffLine, DiffRow, ModelDiff, ModelSide

__all__ = [
    "AgreementRegion",
    "DiffGroup",
    "DiffLine",
    "DiffRow",
    "ModelDiff",
    "ModelSide",
    "diff",
]
