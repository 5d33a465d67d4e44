"""Extractions: the whole result of a run as one value, and `explain`, which makes one."""

from __future__ import annotations

from hornbook.extraction.columns import (
    ColumnSummary,
    UnknownLevels,
    find_column,
    name_values,
    read_given_row,
    read_given_rows,
    read_value,
    read_values,
)
from hornbook.extraction.envelope import learn_judged_cases, learn_levels
from hornbook.extraction.explaining import explain, list_differences
from hornbook.extraction.fidelity import (
    AnswerPairs,
    AnswerTable,
    ClassAgreement,
    CommonestClass,
    Fidelity,
    measure_fidelity,
)
from hornbook.extraction.learning import describe_learning, learn_theory
from hornbook.extraction.result import (
    BeyondHorn,
    ColumnImportance,
    Difference,
    Extraction,
    FrontierPoint,
    LineStatistics,
    RiskRow,
)

__all__ = [
    "AnswerPairs",
    "AnswerTable",
    "BeyondHorn",
    "ClassAgreement",
    "ColumnImportance",
    "ColumnSummary",
    "CommonestClass",
    "Difference",
    "Extraction",
    "Fidelity",
    "FrontierPoint",
    "LineStatistics",
    "RiskRow",
    "UnknownLevels",
    "describe_learning",
    "explain",
    "find_column",
    "learn_judged_cases",
    "learn_levels",
    "learn_theory",
    "list_differences",
    "measure_fidelity",
    "name_values",
    "read_given_row",
    "read_given_rows",
    "read_value",
    "read_values",
]
