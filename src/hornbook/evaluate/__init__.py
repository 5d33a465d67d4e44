"""Evaluation: disagreement of judges, fidelity of explanations, statistics of rules."""

from hornbook.evaluate.fidelity import (
    CommonestClass,
    Disagreement,
    Fidelity,
    UnseenPopulation,
    ask_judge,
    disagreement,
    fidelity,
)
from hornbook.evaluate.rules import RuleStatistics, measure_rules

__all__ = [
    "CommonestClass",
    "Disagreement",
    "Fidelity",
    "RuleStatistics",
    "UnseenPopulation",
    "ask_judge",
    "disagreement",
    "fidelity",
    "measure_rules",
]
