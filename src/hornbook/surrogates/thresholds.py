"""The thresholds of conditions: which ones a column is cut at, and shorter ones that decide the same.

A column of numbers is cut between neighbouring values, evenly over its rows, and where answers change.
Each threshold of the chosen explanation is then written with as few digits as decide all rows and samples
as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Condition, Threshold, read_numbers, shorten_cut, write_value
from hornbook.explanations import Explanation
from hornbook.times import Scale, list_rounder_days

Change: TypeAlias = Callable[[Condition], Condition]
"""Changes a condition."""

Build: TypeAlias = Callable[[Change], Explanation]
"""Makes an explanation, each of whose conditions is changed by a function."""


TELLING_CUTS = 12
"""Thresholds of a column that are chosen by what they tell about a model's answers."""


def choose_cuts(
    distinct: NDArray[np.float64],
    counts: NDArray[np.integer[Any]],
    max_cuts: int,
    telling: NDArray[np.float64] | None = None,
) -> tuple[float, ...]:
    """Thresholds between neighbouring values: about `max_cuts` spread evenly over the rows, and telling ones.

    Examples
    --------
    >>> choose_cuts(np.array([1.0, 2.0, 4.0]), np.array([5, 1, 5]), 32)
    (1.0, 3.0)
    >>> choose_cuts(np.arange(100.0), np.ones(100, int), 1, np.array([97.2]))
    (49.0, 97.0)

    """
    gaps = np.arange(len(distinct) - 1)
    if len(gaps) > max_cuts:
        below = np.cumsum(counts)[:-1] / counts.sum()
        gaps = np.searchsorted(below, np.arange(1, max_cuts + 1) / (max_cuts + 1))
        if telling is not None:
            gaps = np.concatenate([gaps, np.searchsorted(distinct, telling, side="right") - 1])
        gaps = np.unique(gaps.clip(0, len(distinct) - 2))
    return tuple(shorten_cut(float(distinct[gap]), float(distinct[gap + 1])) for gap in gaps)


def find_telling_cuts(values: NDArray[np.float64], labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """The values of a column above which answers change most, where all classes weigh alike.

    A rare class is often decided by values that few rows have, between which an even spread has no threshold.

    Examples
    --------
    >>> values = np.arange(1000.0)
    >>> find_telling_cuts(values, np.asarray(values > 996, np.intp))
    array([996.])

    """
    from sklearn.tree import DecisionTreeClassifier

    known = ~np.isnan(values)
    if not known.any():
        return np.zeros(0)
    distinct, places = np.unique(values[known], return_inverse=True)
    tree = DecisionTreeClassifier(max_leaf_nodes=TELLING_CUTS + 1, class_weight="balanced", random_state=0)
    tree.fit(places[:, None], labels[known])
    cuts: NDArray[np.float64] = distinct[tree.tree_.threshold[tree.tree_.feature == 0].astype(np.intp)]
    return cuts


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
