"""Measuring: how often two judges agree, how faithful an explanation is, what each rule is worth."""

from hornbook.evaluate.fidelity import (
    Agreement,
    Disagreement,
    Fidelity,
    class_fidelity,
    class_fidelity_on,
    disagreement,
    fidelity,
    fidelity_on,
    predicted_labels,
)
from hornbook.evaluate.rules import RuleStatistics, rule_statistics

__all__ = [
    "Agreement",
    "Disagreement",
    "Fidelity",
    "RuleStatistics",
    "class_fidelity",
    "class_fidelity_on",
    "disagreement",
    "fidelity",
    "fidelity_on",
    "predicted_labels",
    "rule_statistics",
]
