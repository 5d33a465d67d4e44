"""Thresholds with the fewest digits with which an explanation decides as before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TypeAlias

import pandas as pd

from hornbook.explanations import Condition, Explanation, Threshold, write_value
from hornbook.explanations.conditions import read_numbers

Build: TypeAlias = Callable[[Callable[[Condition], Condition]], Explanation]
"""Makes an explanation, each of whose conditions is changed by a function."""


def keep_condition(condition: Condition) -> Condition:
    """The condition as it is."""
    return condition


def round_thresholds(build: Build, frame: pd.DataFrame) -> Explanation:
    """The explanation with shorter thresholds, which decides all rows of the frame as before.

    Thresholds are shortened one after the other; those of a column stay in their order.

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
    for condition in explanation.conditions:
        if isinstance(condition, Threshold):
            cuts[condition.column, condition.cut] = condition.cut
    for column, cut in tuple(cuts):
        values = read_numbers(frame, column)
        others = [other for key, other in cuts.items() if key[0] == column and key[1] != cut]
        for shorter in list_shorter(cut):
            if any(min(cut, shorter) <= other <= max(cut, shorter) for other in others):
                continue
            cuts[column, cut] = shorter
            changed, moved = build(change), frame[(values > cut) != (values > shorter)]
            if not len(moved) or (changed.decide(moved) == explanation.decide(moved)).all():
                explanation = changed
                break
            cuts[column, cut] = cut
    return explanation


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
