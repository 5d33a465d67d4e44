"""Evaluation: disagreement of judges, fidelity of explanations, statistics of rules."""

from hornbook.evaluate.fidelity import (
    ANSWERS_ASKED_AGAIN,
    Disagreement,
    Fidelity,
    UnseenPopulation,
    ask_judge,
    disagreement,
    fidelity,
    note_changed_answers,
)
from hornbook.evaluate.rules import RuleStatistics, measure_rules

__all__ = [
    "ANSWERS_ASKED_AGAIN",
    "Disagreement",
    "Fidelity",
    "RuleStatistics",
    "UnseenPopulation",
    "ask_judge",
    "disagreement",
    "fidelity",
    "measure_rules",
    "note_changed_answers",
]
