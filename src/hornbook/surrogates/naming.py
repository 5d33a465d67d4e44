"""What is found over literals of a grid, as explanations in conditions, with short thresholds.

Each threshold of the chosen explanation is written with as few digits as decide all rows and samples as
before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TypeAlias

import pandas as pd

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Condition, Threshold, read_numbers, write_value
from hornbook.explanations import CardLine, ConditionRule, DecisionTree, Explanation, RuleSet, ScoreCard
from hornbook.explanations.tree import Node, map_questions
from hornbook.surrogates.grid import Grid
from hornbook.surrogates.points import PointCard
from hornbook.surrogates.rules import LiteralRules
from hornbook.times import Scale, list_rounder_days

Change: TypeAlias = Callable[[Condition], Condition]
"""Changes a condition."""

Build: TypeAlias = Callable[[Change], Explanation]
"""Makes an explanation, each of whose conditions is changed by a function."""


def name_tree(root: Node[int], grid: Grid, classes: tuple[str, ...], change: Change) -> DecisionTree:
    """The tree in conditions."""
    return DecisionTree(classes, map_questions(root, lambda literal: change(grid.literals[literal])))


def name_card(card: PointCard, grid: Grid, classes: tuple[str, ...], change: Change) -> ScoreCard:
    """The card in conditions."""
    lines = []
    for body, (points, unknown) in zip(card.bodies, card.points.tolist(), strict=True):
        conditions = tuple(change(grid.literals[literal]) for literal in body)
        lines.append(CardLine(conditions, tuple(points), tuple(unknown)))
    return ScoreCard(classes, tuple(lines), tuple(card.base.tolist()))


def name_rules(rules: LiteralRules, grid: Grid, classes: tuple[str, ...], change: Change) -> RuleSet:
    """The rules in conditions, without those that others of a rule imply."""
    named = []
    for literals, outcome in rules.rules:
        body = tuple(dict.fromkeys(change(grid.literals[literal]) for literal in literals))
        implied = [each for each in body if any(one != each and one.implies(each) for one in body)]
        named.append(ConditionRule(tuple(each for each in body if each not in implied), outcome))
    return RuleSet(classes, tuple(named), rules.default)


def keep_condition(condition: Condition) -> Condition:
    """The condition as it is."""
    return condition


def round_thresholds(build: Build, frame: pd.DataFrame, code_book: CodeBook = EMPTY_BOOK) -> Explanation:
    """The explanation with shorter thresholds, which decides all rows of the frame as before.

    Thresholds are shortened one after the other; those of a column stay in their order. What counts
    is how they read: of whole numbers, above 43 reads as at least 44. The words are the code book's.

    Examples
    --------
    >>> from hornbook.explanations import ConditionRule, RuleSet
    >>> rows = pd.DataFrame({"age": [38.2, 43.7]})
    >>> build = lambda change: RuleSet(
    ...     ("no", "yes"), (ConditionRule((change(Threshold("age", 41.372)),), 1),), 0)
    >>> print(round_thresholds(build, rows))
    if age > 40: yes
    otherwise: no

    """
    cuts: dict[tuple[str, float], float] = {}

    def change(condition: Condition) -> Condition:
        if not isinstance(condition, Threshold):
            return condition
        return replace(condition, cut=cuts.get((condition.column, condition.cut), condition.cut))

    explanation = build(keep_condition)
    shift: dict[tuple[str, float], bool] = {}
    for condition in explanation.conditions:
        if isinstance(condition, Threshold):
            key = condition.column, condition.cut
            cuts[key] = condition.cut
            shift.setdefault(key, condition.above and code_book.words(condition.column).whole)
    for column, cut in tuple(cuts):
        values = read_numbers(frame, column)
        others = [other for key, other in cuts.items() if key[0] == column and key[1] != cut]
        scale = code_book.words(column).scale
        for shorter in list_shorter_cuts(cut, shift[column, cut], scale):
            if any(min(cut, shorter) <= other <= max(cut, shorter) for other in others):
                continue
            cuts[column, cut] = shorter
            changed, moved = build(change), frame[(values > cut) != (values > shorter)]
            if not len(moved) or (changed.decide(moved) == explanation.decide(moved)).all():
                explanation = changed
                break
            cuts[column, cut] = cut
    return explanation.with_code_book(code_book)


def list_shorter_cuts(cut: float, reads_one_more: bool, scale: Scale = "") -> Iterator[float]:
    """Cuts near a cut that read shorter; above a whole number, 1000 say, reads as one more, at least 1001.

    Days of a scale are dates, times or durations.

    Examples
    --------
    >>> list(list_shorter_cuts(1000, True)), list(list_shorter_cuts(107, False))
    ([999], [])

    """
    if scale:
        yield from (days - reads_one_more for days in list_rounder_days(cut + reads_one_more, scale))
        return
    for number in list_shorter(cut + reads_one_more):
        yield number - reads_one_more
    if reads_one_more and cut % 10 == 0:
        yield cut - 1


def list_shorter(number: float) -> Iterator[float]:
    """Numbers near a number that are shorter when written: those with the fewest digits first.

    Examples
    --------
    >>> list(list_shorter(16.765)), list(list_shorter(91))
    ([20.0, 10.0, 17.0, 16.0, 16.8, 16.7, 16.76, 16.77], [])

    """
    exact = Decimal(write_value(number))
    for digits in range(1, len(exact.as_tuple().digits)):
        step = Decimal(1).scaleb(exact.adjusted() + 1 - digits)
        nearby = [float(exact.quantize(step, rounding)) for rounding in (ROUND_FLOOR, ROUND_CEILING)]
        for near in sorted(nearby, key=lambda near: abs(near - number)):
            if len(write_value(near)) < len(write_value(number)):
                yield near
