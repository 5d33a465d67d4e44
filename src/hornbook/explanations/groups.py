"""Fidelity on groups of samples: where explanation and model differ most often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import floor, inf
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Category, Condition, Missing, Threshold, make_range
from hornbook.explanations.explanation import Explanation
from hornbook.statistics import Share

MAX_GROUPS = 8
"""Groups that are kept, the worst first."""

MIN_GROUP_SAMPLES = 50
"""Samples that a group needs to have a fidelity of its own."""

MAX_GROUP_CATEGORIES = 20
"""Categories of a column that make groups, the commonest first."""


@dataclass(frozen=True)
class GroupFidelity:
    """How often explanation and model say the same on the samples that meet a condition.

    `condition` is in words, `fidelity` is the share of these samples; the group was chosen by others.
    """

    condition: str
    fidelity: Share


def measure_groups(
    explanation: Explanation, samples: pd.DataFrame, labels: NDArray[np.intp]
) -> list[GroupFidelity]:
    """The groups of samples on which explanation and model differ most often, the worst first.

    Every other sample chooses the groups and their order, and the samples between measure them: the
    worst of many groups looks worse than it is on the samples that it was chosen by. The groups are
    those of the explanation's columns; `labels` are the model's classes.
    """
    same = explanation.decide(samples) == labels
    chooses = np.arange(len(samples)) % 2 == 0
    candidates = []
    for name in explanation.columns:
        for words, body in list_groups(samples[chooses], name, explanation.code_book):
            inside = np.logical_and.reduce([condition.evaluate(samples)[0] for condition in body])
            chosen, measured = inside & chooses, inside & ~chooses
            if min(chosen.sum(), measured.sum()) >= MIN_GROUP_SAMPLES:
                candidates.append((same[chosen].mean(), GroupFidelity(words, Share.where(same[measured]))))
    candidates.sort(key=lambda candidate: candidate[0])
    return [group for _, group in candidates[:MAX_GROUPS]]


def list_groups(
    samples: pd.DataFrame, column: str, code_book: CodeBook = EMPTY_BOOK
) -> Iterator[tuple[str, tuple[Condition, ...]]]:
    """Quarters of a column's numbers, its categories, and missing values: in words and as conditions.

    Every sample is in one at most.

    Examples
    --------
    >>> for words, _ in list_groups(pd.DataFrame({"age": [1, 2, 3, 4, None]}), "age"):
    ...     print(words)
    age is missing
    age ≤ 1.75
    1.75 < age ≤ 2.5
    2.5 < age ≤ 3.25
    age > 3.25

    """
    values = samples[column]
    yield code_book.describe(Missing(column)), (Missing(column),)
    if code_book.are_quantities(values):
        yield from _list_ranges(samples, column, code_book)
    else:
        for value in values.value_counts().index[:MAX_GROUP_CATEGORIES]:
            yield code_book.describe(Category(column, value)), (Category(column, value),)


def _list_ranges(
    samples: pd.DataFrame, column: str, code_book: CodeBook
) -> Iterator[tuple[str, tuple[Condition, ...]]]:
    numbers: NDArray[Any] = samples[column].dropna().to_numpy(np.float64)
    quarters = np.quantile(numbers, [0.25, 0.5, 0.75]) if len(numbers) else []
    whole = code_book.words(column).whole
    cuts = {float(floor(cut) if whole else f"{cut:.4g}") for cut in quarters if np.isfinite(cut)}
    if not cuts:
        return
    for low, high in pairwise([-inf, *sorted(cuts), inf]):
        ends = [Threshold(column, low)] if low > -inf else []
        ends += [Threshold(column, high, above=False)] if high < inf else []
        yield code_book.describe(make_range(column, low, high)), tuple(ends)
