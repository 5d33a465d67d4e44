"""Explanations of classifiers in their own columns: trees, score cards and rules out of labelled samples."""

from hornbook.surrogates.compile import CompiledExplanation
from hornbook.surrogates.conditions import Category, Condition, Missing, Threshold, background_rules
from hornbook.surrogates.explanation import Explanation, Line, Reason
from hornbook.surrogates.grid import CodedRows, Grid
from hornbook.surrogates.rules import ConditionRule, RuleSet
from hornbook.surrogates.samples import RowSampler
from hornbook.surrogates.score_card import CardLine, ScoreCard
from hornbook.surrogates.search import (
    Candidate,
    Form,
    SearchResult,
    choose_candidate,
    read_explanation,
    search_explanations,
)
from hornbook.surrogates.tree import DecisionTree, Split

__all__ = [
    "Candidate",
    "CardLine",
    "Category",
    "CodedRows",
    "CompiledExplanation",
    "Condition",
    "ConditionRule",
    "DecisionTree",
    "Explanation",
    "Form",
    "Grid",
    "Line",
    "Missing",
    "Reason",
    "RowSampler",
    "RuleSet",
    "ScoreCard",
    "SearchResult",
    "Split",
    "Threshold",
    "background_rules",
    "choose_candidate",
    "read_explanation",
    "search_explanations",
]
