"""What a person reads: trees, score cards and rules about the columns of a table."""

from __future__ import annotations

from hornbook.explanations.card_points import CardLine, Characteristic, PointsCase
from hornbook.explanations.compile import CompiledExplanation
from hornbook.explanations.decision import MAX_SHOWN_CODES, Decision, explain_row
from hornbook.explanations.explanation import (
    Box,
    Explanation,
    Line,
    Reason,
    ReasonCode,
)
from hornbook.explanations.rules import ConditionRule, RuleSet
from hornbook.explanations.score_card import ScoreCard
from hornbook.explanations.tree import DecisionTree, Split

__all__ = [
    "MAX_SHOWN_CODES",
    "Box",
    "CardLine",
    "Characteristic",
    "CompiledExplanation",
    "ConditionRule",
    "Decision",
    "DecisionTree",
    "Explanation",
    "Line",
    "PointsCase",
    "Reason",
    "ReasonCode",
    "RuleSet",
    "ScoreCard",
    "Split",
    "explain_row",
]
