"""What a person reads: trees, score cards and rules about the columns of a table."""

from hornbook.explanations.claims import (
    Claim,
    MonotoneClaim,
    RuleClaim,
    name_outcome,
    parse_claims,
    write_claims,
    write_condition,
)
from hornbook.explanations.compile import CompiledExplanation
from hornbook.explanations.conditions import (
    Category,
    CategorySet,
    Condition,
    Missing,
    Threshold,
    background_rules,
)
from hornbook.explanations.explanation import Explanation, Line, PointsGroup, Reason, read_explanation
from hornbook.explanations.groups import GroupFidelity, measure_groups, split_groups
from hornbook.explanations.rules import ConditionRule, RuleSet
from hornbook.explanations.score_card import CardLine, ScoreCard
from hornbook.explanations.tree import DecisionTree, Split

__all__ = [
    "CardLine",
    "Category",
    "CategorySet",
    "Claim",
    "CompiledExplanation",
    "Condition",
    "ConditionRule",
    "DecisionTree",
    "Explanation",
    "GroupFidelity",
    "Line",
    "Missing",
    "MonotoneClaim",
    "PointsGroup",
    "Reason",
    "RuleClaim",
    "RuleSet",
    "ScoreCard",
    "Split",
    "Threshold",
    "background_rules",
    "measure_groups",
    "name_outcome",
    "parse_claims",
    "read_explanation",
    "split_groups",
    "write_claims",
    "write_condition",
]
