"""Evaluation: agreement of judges, fidelity of explanations, statistics of rules."""

from hornbook.evaluate.fidelity import (
    Agreement,
    Disagreement,
    Fidelity,
    ask_judge,
    disagreement,
    fidelity,
)
from hornbook.evaluate.rules import RuleStatistics, find_redundant_rules, rule_statistics, statistics_on

__all__ = [
    "Agreement",
    "Disagreement",
    "Fidelity",
    "RuleStatistics",
    "ask_judge",
    "disagreement",
    "fidelity",
    "find_redundant_rules",
    "rule_statistics",
    "statistics_on",
]
