"""Evaluation: agreement of judges, fidelity of explanations, statistics of rules."""

from hornbook.evaluate.fidelity import (
    Agreement,
    Disagreement,
    Fidelity,
    derive_labels,
    disagreement,
    fidelity,
)
from hornbook.evaluate.rules import RuleStatistics, rule_statistics, statistics_on

__all__ = [
    "Agreement",
    "Disagreement",
    "Fidelity",
    "RuleStatistics",
    "derive_labels",
    "disagreement",
    "fidelity",
    "rule_statistics",
    "statistics_on",
]
