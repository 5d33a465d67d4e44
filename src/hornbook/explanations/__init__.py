"""What a person reads: trees, score cards and rules about the columns of a table."""

from typing import Any

from hornbook.errors import HornbookError
from hornbook.explanations.compile import CompiledExplanation
from hornbook.explanations.conditions import Category, Condition, Missing, Threshold, background_rules
from hornbook.explanations.explanation import Explanation, Line, PointsGroup, Reason
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
    "PointsGroup",
    "Reason",
    "RuleSet",
    "ScoreCard",
    "Split",
    "Threshold",
    "background_rules",
    "read_explanation",
]

FORMS: dict[str, type[DecisionTree] | type[ScoreCard] | type[RuleSet]] = {
    kind.form: kind for kind in (DecisionTree, ScoreCard, RuleSet)
}
"""What each form of an explanation is called."""


def read_explanation(content: Any) -> Explanation:
    """The explanation that `to_object` wrote, or a message that says what is wrong."""
    if not isinstance(content, dict) or content.get("form") not in FORMS:
        raise HornbookError(f"an explanation has one of the forms {', '.join(FORMS)}")
    classes = content.get("classes")
    if not isinstance(classes, list) or {*map(type, classes)} != {str}:
        raise HornbookError("an explanation has the names of its classes")
    try:
        return FORMS[content["form"]].from_object(content)
    except (AttributeError, KeyError, RecursionError, TypeError) as error:
        raise HornbookError(f"it is no {content['form']}: {error!r}") from None
