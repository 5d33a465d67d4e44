"""How far judges differ, how faithful a theory is to a model, and what its rules are worth."""

from hornbook.evaluate.disagreement import Disagreement, disagreement
from hornbook.evaluate.fidelity import (
    Agreement,
    Fidelity,
    class_fidelity,
    class_fidelity_on,
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
