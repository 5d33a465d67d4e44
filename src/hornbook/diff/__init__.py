"""What changed between two models, or between a model and the truth, in rules."""

from __future__ import annotations

from hornbook.diff.diff import diff
from hornbook.diff.result import DiffLine, DiffRow, ModelDiff, ModelSide

__all__ = [
    "DiffLine",
    "DiffRow",
    "ModelDiff",
    "ModelSide",
    "diff",
]
