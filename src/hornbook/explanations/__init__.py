"""What a person reads: trees, score cards and rules about the columns of a table."""

from hornbook.explanations.compile import CompiledExplanation
from hornbook.explanations.conditions import Category, Condition, Missing, Threshold, background_rules
from hornbook.explanations.explanation import Explanation, Line, Reason, read_explanation
from hornbook.explanations.rules import ConditionRule, RuleSet
from hornbook.explanations.score_card import CardLine, ScoreCard
from hornbook.explanations.tree import DecisionTree, Split

__all__ = [
    "CardLine",
    "Category",
    "CompiledExplanation",
    "Condition",
    "ConditionRule",
    "DecisionTree",
    "Explanation",
    "Line",
    "Missing",
    "Reason",
    "RuleSet",
    "ScoreCard",
    "Split",
    "Threshold",
    "background_rules",
    "read_explanation",
]
