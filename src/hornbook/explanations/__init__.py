"""What a person reads: trees, score cards and rules about the columns of a table."""

from hornbook.explanations.card_points import CardLine, Characteristic, PointsCase
from hornbook.explanations.claims import (
    Claim,
    MonotoneClaim,
    RuleClaim,
    name_outcome,
    parse_claims,
    write_condition,
)
from hornbook.explanations.code_book import EMPTY_BOOK, CodeBook, ColumnWords, describe_unknown
from hornbook.explanations.code_book_source import CodeBookSource, read_code_book
from hornbook.explanations.compile import CompiledExplanation
from hornbook.explanations.conclusion import Conclusion, Undo, explain_facts, smallest_undo
from hornbook.explanations.conditions import (
    Category,
    CategorySet,
    Condition,
    Missing,
    Threshold,
    background_rules,
    shorten_cut,
    write_value,
)
from hornbook.explanations.dialects import write_source
from hornbook.explanations.explanation import (
    Box,
    Explanation,
    Line,
    PointsGroup,
    Reason,
    ReasonCode,
    read_explanation,
)
from hornbook.explanations.groups import GroupFidelity, list_groups, measure_groups
from hornbook.explanations.horn_rules import UNDETERMINED, HornRules
from hornbook.explanations.pmml import write_pmml
from hornbook.explanations.rules import ConditionRule, RuleSet
from hornbook.explanations.score_card import ScoreCard
from hornbook.explanations.spreadsheet import write_workbook
from hornbook.explanations.tree import DecisionTree, Split

__all__ = [
    "EMPTY_BOOK",
    "UNDETERMINED",
    "Box",
    "CardLine",
    "Category",
    "CategorySet",
    "Characteristic",
    "Claim",
    "CodeBook",
    "CodeBookSource",
    "ColumnWords",
    "CompiledExplanation",
    "Conclusion",
    "Condition",
    "ConditionRule",
    "DecisionTree",
    "Explanation",
    "GroupFidelity",
    "HornRules",
    "Line",
    "Missing",
    "MonotoneClaim",
    "PointsCase",
    "PointsGroup",
    "Reason",
    "ReasonCode",
    "RuleClaim",
    "RuleSet",
    "ScoreCard",
    "Split",
    "Threshold",
    "Undo",
    "background_rules",
    "describe_unknown",
    "explain_facts",
    "list_groups",
    "measure_groups",
    "name_outcome",
    "parse_claims",
    "read_code_book",
    "read_explanation",
    "shorten_cut",
    "smallest_undo",
    "write_condition",
    "write_pmml",
    "write_source",
    "write_value",
    "write_workbook",
]
