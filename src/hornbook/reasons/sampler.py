"""Samples that meet a reason: rows of a table with columns exchanged, and the reason's columns held.

A sample is kept as the rows that its values come from, and so as the bins of those rows. Only what the
model is asked about becomes rows of values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.logic import Bools
from hornbook.models import ClassifierTeacher
from hornbook.reasons.row_conditions import Body, Codes, RowConditions

Sources: TypeAlias = NDArray[np.intp]
"""The rows that the values of samples come from, shape (columns of the table, samples)."""

NEAR_SHARES = (0.25, 0.5, 0.75, 0.9)
"""Shares of the row's own values that samples near it have."""


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Samples as bins, and which of them get the row's class."""

    codes: Codes  # (columns, samples)
    alike: Bools  # (samples,)


@dataclass(frozen=True, eq=False)
class ReasonSampler:
    """Draws samples that meet bodies, and asks the model about them.

    In a column of the body, values that do not meet it are exchanged for values of the table that do.

    Parameters
    ----------
    teacher
        The model, bound to a table.
    conditions
        The conditions of the row.
    outcome
        The number of the model's class for the row.

    """

    teacher: ClassifierTeacher
    conditions: RowConditions
    outcome: int

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows that values come from: those of the table, and as the last one the row itself."""
        return pd.concat([self.teacher.sampler.frame, self.conditions.row], ignore_index=True)

    @cached_property
    def codes(self) -> Codes:
        """These rows as bins, (columns of the conditions, rows)."""
        return self.conditions.encode(self.rows)

    @cached_property
    def places(self) -> list[int]:
        """Where the columns of the conditions are among those of the table."""
        names = list(self.rows.columns)
        return [names.index(name) for name in self.conditions.columns]

    def draw(self, body: Body, size: int, rng: np.random.Generator) -> Sources:
        """So many samples that meet a body."""
        sources = self.teacher.sampler.draw_sources(size, rng)
        for place, bins in self.conditions.find_bins(body).items():
            own = sources[self.places[place]]
            met = bins[self.codes[place]]  # (rows,)
            pool = np.flatnonzero(met[:-1])
            if not len(pool):
                pool = np.array([len(met) - 1])  # the row itself meets it
            fails = ~met[own]
            own[fails] = pool[rng.integers(len(pool), size=size)][fails]
        return sources

    def draw_near(self, body: Body, size: int, rng: np.random.Generator) -> Sources:
        """So many samples that meet a body and have some of the row's own values."""
        sources = self.draw(body, size, rng)
        share = np.asarray(NEAR_SHARES)[rng.integers(len(NEAR_SHARES), size=size)]
        sources[rng.random(sources.shape) < share] = len(self.rows) - 1
        return sources

    def build_rows(self, sources: Sources) -> pd.DataFrame:
        """Samples as rows of values."""
        values = zip(self.rows.columns, sources, strict=True)
        return pd.DataFrame({name: self.rows[name].array.take(own) for name, own in values})

    def label(self, parts: Sequence[Sources]) -> list[LabelledRows]:
        """The bins of samples and the model's answers, of which all are asked for in one call."""
        sources = np.concatenate(parts, axis=1)
        alike: Bools = self.teacher.labels(self.build_rows(sources)) == self.outcome
        codes = np.take_along_axis(self.codes, sources[self.places], axis=1)
        ends = np.cumsum([part.shape[1] for part in parts])[:-1]
        return [
            LabelledRows(own, same)
            for own, same in zip(np.split(codes, ends, axis=1), np.split(alike, ends), strict=True)
        ]
