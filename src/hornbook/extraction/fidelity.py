"""Fidelity: how often an explanation says what its model says, of each population and of groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import floor, inf
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Category, Condition, Missing, Threshold, make_range
from hornbook.explanations.explanation import Explanation
from hornbook.schema import also_writes
from hornbook.statistics import Share

UnseenPopulation: TypeAlias = Literal["unseen rows", "test rows", "cases"]
"""Rows that nothing was made from, held out of the table or given apart from it; or all cases there are."""

Population: TypeAlias = UnseenPopulation | Literal["samples"]
"""The population of a fidelity: rows that nothing was made from, or samples drawn near the others."""

MAX_GROUPS = 8
"""Groups that are kept, the worst first."""

MIN_GROUP_SAMPLES = 50
"""Samples that a group needs to have a fidelity of its own."""

MAX_GROUP_CATEGORIES = 20
"""Categories of a column that make groups, the commonest first."""


@dataclass(frozen=True)
class CommonestClass:
    """The class that a model gives most cases of a population, and the share of these cases.

    This is what an explanation reaches that always names the class: agreement is worth what it has beyond.

    Examples
    --------
    >>> print(CommonestClass.of(np.array([0, 0, 1, 0]), ("benign", "malignant")))
    always "benign": 75.00 %

    """

    name: str
    share: float

    @classmethod
    def of(cls, labels: NDArray[np.integer[Any] | np.bool_], classes: Sequence[str]) -> CommonestClass:
        """The commonest of a model's labels, of which there are some; the first of equals."""
        counts = np.bincount(labels)
        return cls(classes[int(counts.argmax())], float(counts.max() / len(labels)))

    def __str__(self) -> str:
        return f'always "{self.name}": {100 * self.share:.2f} %'


@also_writes("population")
@dataclass(frozen=True)
class Fidelity:
    """The share of cases of a population on which explanation and model agree.

    The headline is about rows that were held out, if any were: nothing was drawn from them, fitted
    to them or chosen by them. Where there were too few rows for that, it is about samples.

    Attributes
    ----------
    samples
        The share of fresh samples, drawn near the rows that the explanation was made from.
    unseen_rows
        The share of the rows that were held out, or given as test rows; None where none were. Equal
        rows, or the rows of a group, count as one in its interval.
    used_rows
        The share of the rows that the explanation was made from. They say nothing sure about
        others, so it has no interval.
    unseen_population
        What the unseen rows are called: `test rows` if they were given apart from the table, `cases` if there
        are no others.
    commonest
        The commonest class of each population, by the names in `populations` and `used rows`; those
        that are not known are left out.

    Examples
    --------
    >>> found = Fidelity(samples=Share.of(970, 1000), unseen_rows=Share.of(108, 114), used_rows=0.96)
    >>> print(found)
    on 114 unseen rows 94.74 % (95 % interval 88.90 % to 98.04 %)
    >>> found.population, round(found.estimate, 3), found.samples.estimate
    ('unseen rows', 0.947, 0.97)
    >>> print(Fidelity(Share.of(970, 1000), commonest={"samples": CommonestClass("no", 0.965)}))
    on 1,000 samples 97.00 % (95 % interval 95.74 % to 97.97 %); always "no": 96.50 %

    """

    samples: Share
    unseen_rows: Share | None = None
    used_rows: float = math.nan
    unseen_population: UnseenPopulation = "unseen rows"
    commonest: Mapping[str, CommonestClass] = field(default_factory=dict, hash=False)

    @property
    def population(self) -> Population:
        """The population of the headline."""
        return "samples" if self.unseen_rows is None else self.unseen_population

    @property
    def share(self) -> Share:
        """The headline, with its interval."""
        return self.samples if self.unseen_rows is None else self.unseen_rows

    @property
    def estimate(self) -> float:
        """The observed share."""
        return self.share.estimate

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.share.low

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.share.high

    @property
    def populations(self) -> dict[Population, Share]:
        """Every share with an interval by its population, the headline first."""
        return {self.population: self.share, "samples": self.samples}

    def describe(self) -> list[str]:
        """The shares in words, each beside what the commonest class alone reaches, one line a population."""
        lines = []
        for population, share in self.populations.items():
            if not share.size and population != self.population:
                continue
            words = (
                f"on {share.describe_size(population)} {share}" if share.size else f"on {population}: {share}"
            )
            commonest = self.commonest.get(population)
            lines.append(words if commonest is None else f"{words}; {commonest}")
        return lines

    def __str__(self) -> str:
        return self.describe()[0]


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
