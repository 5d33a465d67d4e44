"""Evaluation: disagreement of judges, fidelity of explanations, statistics of rules."""

from hornbook.evaluate.fidelity import Disagreement, Fidelity, ask_judge, disagreement, fidelity
from hornbook.evaluate.rules import RuleStatistics, find_redundant_rules, measure_rules

__all__ = [
    "Disagreement",
    "Fidelity",
    "RuleStatistics",
    "ask_judge",
    "disagreement",
    "fidelity",
    "find_redundant_rules",
    "measure_rules",
]
