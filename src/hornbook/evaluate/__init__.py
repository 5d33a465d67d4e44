"""Evaluation: agreement of judges, fidelity of explanations, statistics of rules."""

from hornbook.evaluate.fidelity import (
    Agreement,
    Disagreement,
    Fidelity,
    class_fidelity,
    class_fidelity_on,
    derive_labels,
    disagreement,
    fidelity,
    fidelity_on,
)
from hornbook.evaluate.rules import RuleStatistics, rule_statistics

__all__ = [
    "Agreement",
    "Disagreement",
    "Fidelity",
    "RuleStatistics",
    "class_fidelity",
    "class_fidelity_on",
    "derive_labels",
    "disagreement",
    "fidelity",
    "fidelity_on",
    "rule_statistics",
]
