"""Two models bound to the same rows, and samples on which they are looked at where they disagree.

Disagreement is rare, so most random samples tell nothing. Samples are children of two rows, and the
children of some rows disagree far more often than those of others. Round after round the first row
is drawn more often among the rows whose children disagreed, or that are close to another decision of
either model. Half of the samples keep coming from all rows, so none is overlooked for good. A sample
counts by how often it would have been drawn without guidance: every share is one of all samples.

References
----------
O. Cappé, A. Guillin, J. Marin, C. Robert. Population Monte Carlo. Journal of Computational and
Graphical Statistics 13, 2004 (proposals that learn from earlier rounds).
T. Hesterberg. Weighted Average Importance Sampling and Defensive Mixture Distributions.
Technometrics 37, 1995 (a part of the samples from the natural distribution).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from hornbook.logic import Bools
from hornbook.models import ClassifierTeacher, Subject, bind_classifier, match_classes
from hornbook.statistics import Share
from hornbook.surrogates.grid import Floats, Ints
from hornbook.tables import replace_columns

NATURAL_SHARE = 0.5
"""The share of guided samples whose first row is any row of the table."""

CLOSE_SHARE = 0.1
"""The share of rows, those closest to another decision of a model, whose children are drawn more often."""

GUIDED_ROUNDS = 4
"""Rounds of samples; each draws more where the rounds before it found disagreement."""


@dataclass(frozen=True, eq=False)
class Compared:
    """A model and another one, or the truth, whose classes are numbered together.

    Parameters
    ----------
    sides
        What the two are called: `old` and `new`, or `model` and `truth`.
    teachers
        The models: two, or the one that is compared with the truth.
    classes
        The classes of both, in words.
    numbers
        For each model, the common number of each of its classes.

    """

    sides: tuple[str, str]
    teachers: tuple[ClassifierTeacher, ...]
    classes: tuple[str, ...]
    numbers: tuple[Ints, ...]

    @cached_property
    def column(self) -> str:
        """A name for the column of the first model's answers that no column of the table has."""
        name = f"{self.sides[0]} says"
        while name in self.teachers[0].frame.columns:
            name += " itself"
        return name

    def label(self, rows: pd.DataFrame, model: int = 0) -> Ints:
        """The common number of a model's class for each row."""
        return self.numbers[model][self.teachers[model].labels(rows)]

    def add_answers(self, rows: pd.DataFrame, numbers: Ints) -> pd.DataFrame:
        """The rows with a further column: the first model's class of each, in words."""
        return replace_columns(rows, {self.column: np.array(self.classes, object)[numbers]})

    def answer(self, rows: pd.DataFrame, units: Ints | None = None, truth: Ints | None = None) -> PairSamples:
        """The rows with the answers of both sides, each row counting 1."""
        old = self.label(rows)
        new = self.label(rows, 1) if truth is None else truth
        return PairSamples(self.add_answers(rows, old), old, new, np.ones(len(rows)), units)


def pair_models(subject: Subject, new: Any) -> Compared:
    """Bind another model to the rows of a subject. Each reads those columns that it was trained on."""
    old = subject.teacher
    teacher = bind_classifier(new, old.frame, subject.seed)
    classes, numbers = match_classes(old.classes, teacher.classes, subject.words)
    names = subject.words.name_classes(subject.target, classes)
    return Compared(("old", "new"), (old, teacher), names, numbers)


@dataclass(frozen=True, eq=False)
class PairSamples:
    """Samples, the class that each side gives them, and what each counts.

    The frame has a further column with the first model's answers. Without guidance every sample counts 1;
    a guided one counts by how often it would have been drawn then. Rows of a table have the number of
    their unit, such as that of all rows that equal it; other samples are independent.
    """

    frame: pd.DataFrame
    old: Ints
    new: Ints
    weights: Floats
    units: Ints | None = None

    @cached_property
    def differs(self) -> Bools:
        """On which samples the models disagree."""
        other: Bools = self.old != self.new
        return other

    @property
    def share(self) -> float:
        """The estimated share of all samples on which the models disagree."""
        return float(self.weights[self.differs].sum() / len(self.weights))

    def measure(self, hits: Bools, where: Bools | None = None) -> Share:
        """The share of hits among these samples, or some of them, with an interval that regards units."""
        if where is None:
            return Share.where(hits, self.units)
        return Share.where(hits[where], None if self.units is None else self.units[where])

    @classmethod
    def concat(cls, parts: Sequence[PairSamples]) -> PairSamples:
        """All samples together, each in its unit if all have units."""
        units = [each.units for each in parts if each.units is not None]
        return cls(
            pd.concat([each.frame for each in parts], ignore_index=True),
            np.concatenate([each.old for each in parts]),
            np.concatenate([each.new for each in parts]),
            np.concatenate([each.weights for each in parts]),
            np.concatenate(units) if len(units) == len(parts) else None,
        )


@dataclass(frozen=True, eq=False)
class GuidedSampler:
    """Draws samples where two models were seen to disagree.

    Parameters
    ----------
    pair
        The models.
    credit
        For each row of the sampler, how much disagreement was seen among its children.

    """

    pair: Compared
    credit: Floats

    @classmethod
    def start(cls, pair: Compared) -> GuidedSampler:
        """Begin with the rows on which the models disagree; without any, with those close to a decision."""
        rows = pair.teachers[0].sampler.frame
        credit = pair.label(rows) != pair.label(rows, 1)
        if not credit.any():
            for teacher in pair.teachers:
                nearest = np.argsort(teacher.measure_leads(rows), kind="stable")
                credit[nearest[: max(1, round(CLOSE_SHARE * len(rows)))]] = True
        return cls(pair, credit.astype(np.float64))

    @property
    def chances(self) -> Floats:
        """The probability of each row to be the first row of a sample, shape (rows,)."""
        natural = np.full(len(self.credit), 1 / len(self.credit))
        chances: Floats = NATURAL_SHARE * natural + (1 - NATURAL_SHARE) * self.credit / self.credit.sum()
        return chances

    def draw(
        self, size: int, rng: np.random.Generator, near: bool = False
    ) -> tuple[PairSamples, GuidedSampler]:
        """Draw samples; return them and the sampler that has learned from them."""
        chances = self.chances
        frame, first = self.pair.teachers[0].sampler.draw_guided(size, chances, rng, near)
        weights = 1 / (len(chances) * chances[first])
        samples = replace(self.pair.answer(frame), weights=weights)
        seen = np.bincount(first, samples.differs, len(chances))
        return samples, replace(self, credit=self.credit + seen) if seen.any() else self

    def draw_rounds(self, size: int, rng: np.random.Generator) -> tuple[PairSamples, GuidedSampler]:
        """Draw samples in rounds, each guided by those before it; return them and the last sampler."""
        sampler, rounds = self, []
        for number in range(GUIDED_ROUNDS):
            count = size * (number + 1) // GUIDED_ROUNDS - size * number // GUIDED_ROUNDS
            samples, sampler = sampler.draw(count, rng)
            rounds.append(samples)
        return PairSamples.concat(rounds), sampler
