"""Samples in the model's own space: rows of the table with columns exchanged between rows.

A sample is a child of two rows: most columns come from the first row, the others from a second one.
How many are exchanged differs from sample to sample, so that some samples stay close to a row and
others stray far. Every value is a value of the table, in its own type; a missing value is
exchanged like any other. Samples that stray far show what the model does; samples whose two rows
are alike are more like rows that nobody has seen yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import refuse_beyond_memory
from hornbook.models.answers import afford

BYTES_A_VALUE = 48
"""What a value of a sample takes in memory, about: itself, what the model is given, and its conditions."""

MAX_SAMPLE_VALUES = 1 << 26
"""Most values of samples that are drawn at once, unless a number of samples is given."""

SAMPLES_SHARE = 0.3
"""The share of a budget of answers that samples take which are drawn at once."""

SAMPLED_ROWS = 100_000
"""Rows of a larger table that samples are made of."""

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
"""Shares of the columns that are exchanged: the same number of samples is drawn with each."""

MAX_WHOLE = 0.75
"""The largest share of samples that are rows as they are, which only a large table has enough of."""

ROWS_PER_WHOLE = 2
"""Rows of the table for each sample that is a row as it is."""

NEAR_SHARE = 0.5
"""The share of the columns that two rows exchange that are alike."""

NEAREST_OF = 64
"""Random rows of which the nearest one is taken as the second row of a near sample."""


@dataclass(frozen=True)
class RowSampler:
    """Draws samples from the rows of a table.

    Parameters
    ----------
    frame
        The rows.
    shares
        Shares of columns exchanged with another row; each is used for equally many samples.
    weights
        How many cases of the population each row stands for: rows are drawn in proportion to it. By default
        all rows are drawn alike.

    Examples
    --------
    >>> rows = pd.DataFrame({"age": [30, 50, 70], "sex": ["f", "m", "f"]})
    >>> samples = RowSampler(rows).draw(1000, np.random.default_rng(0))
    >>> len(samples), sorted(samples.age.unique().tolist())
    (1000, [30, 50, 70])

    """

    frame: pd.DataFrame
    shares: tuple[float, ...] = SHARES
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls, frame: pd.DataFrame, rng: np.random.Generator, weights: NDArray[np.float64] | None = None
    ) -> RowSampler:
        """The sampler of a table; of a very large one, of some of its rows."""
        if len(frame) > SAMPLED_ROWS:
            chosen = np.sort(rng.choice(len(frame), SAMPLED_ROWS, replace=False))
            frame, weights = frame.iloc[chosen], None if weights is None else weights[chosen]
        return cls(frame.reset_index(drop=True), weights=weights)

    @cached_property
    def row_weights(self) -> NDArray[np.float64]:
        """How many cases each row stands for, 1 each by default; shape (rows,)."""
        return np.ones(len(self.frame)) if self.weights is None else self.weights

    def _draw_rows(self, shape: int | tuple[int, int], rng: np.random.Generator) -> NDArray[np.intp]:
        """Numbers of rows, drawn with replacement."""
        if self.weights is None:
            return rng.integers(len(self.frame), size=shape)
        bounds = np.cumsum(self.weights)
        return np.searchsorted(bounds[:-1] / bounds[-1], rng.random(shape), side="right")

    @property
    def max_samples(self) -> int:
        """The most samples that are drawn at once where no number is given: of many columns fewer.

        The answers that the model may still give allow for this number.
        """
        return afford(max(1, MAX_SAMPLE_VALUES // max(1, self.frame.shape[1])), SAMPLES_SHARE)

    def draw(self, size: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw `size` samples, as rows of the table's columns."""
        return self._take(self._draw_sources(size, rng))

    def draw_sources(self, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw `size` samples, as the row that each value comes from: shape (columns, samples)."""
        return np.stack(list(self._draw_sources(size, rng)))

    def _draw_sources(self, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
        refuse_beyond_memory(size, BYTES_A_VALUE * (self.frame.shape[1] + 3), "samples")
        first, second = self._draw_rows((2, size), rng)
        share = np.asarray(self.shares)[rng.integers(len(self.shares), size=size)]
        return self._exchange(first, second, share, rng)

    def draw_near(self, size: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw `size` samples of two rows that are alike: the second is the nearest of some random ones."""
        first = self._draw_rows(size, rng)
        second = self._find_near(first, rng)
        return self._take(self._exchange(first, second, np.full(size, NEAR_SHARE), rng))

    def draw_guided(
        self, size: int, chances: NDArray[np.float64], rng: np.random.Generator, near: bool = False
    ) -> tuple[pd.DataFrame, NDArray[np.intp]]:
        """Draw `size` samples whose first rows are drawn with given chances, and the numbers of these rows.

        All else is drawn as for other samples, or for those of rows that are alike, if `near`. So a
        sample that counts as the share of its first row, over the chance of it, counts as if it had been
        drawn among all.
        """
        refuse_beyond_memory(size, BYTES_A_VALUE * (self.frame.shape[1] + 3), "samples")
        first = rng.choice(len(self.frame), size=size, p=chances)
        if near:
            second, share = self._find_near(first, rng), np.full(size, NEAR_SHARE)
        else:
            second = self._draw_rows(size, rng)
            share = np.asarray(self.shares)[rng.integers(len(self.shares), size=size)]
        share[rng.random(size) < self._count_whole(size) / size] = 0.0
        return self._take(self._mix(first, second, share, rng)), first

    def _find_near(self, first: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
        """For each row the nearest of some random ones."""
        rivals = self._draw_rows((NEAREST_OF, len(first)), rng)
        distances = np.where(rivals == first, np.float32(np.inf), np.float32(0))
        for positions in self._positions:
            distances += np.minimum(np.abs(positions[rivals] - positions[first]), 1)
        nearest: NDArray[np.intp] = rivals[distances.argmin(axis=0), np.arange(len(first))]
        return nearest

    def _count_whole(self, size: int) -> int:
        """The number of samples, of `size`, that are rows of the table as they are."""
        return min(int(MAX_WHOLE * size), len(self.frame) // ROWS_PER_WHOLE)

    def _exchange(
        self, first: NDArray[np.intp], second: NDArray[np.intp], share: Any, rng: np.random.Generator
    ) -> Iterator[NDArray[np.intp]]:
        """For each column, the rows that children of two rows have its values from.

        Of a large table some samples are rows as they are.
        """
        at = rng.permutation(len(first))[: self._count_whole(len(first))]
        if self.weights is None:  # each row at most once
            first[at] = rng.permutation(len(self.frame))[: len(at)]
        share[at] = 0.0
        yield from self._mix(first, second, share, rng)

    def _mix(
        self, first: NDArray[np.intp], second: NDArray[np.intp], share: Any, rng: np.random.Generator
    ) -> Iterator[NDArray[np.intp]]:
        """For each column, the second row with a chance of so much, else the first."""
        for _ in self.frame.columns:
            yield np.where(rng.random(len(first)) < share, second, first)

    def _take(self, sources: Iterable[NDArray[np.intp]]) -> pd.DataFrame:
        """Samples with the values of each column from some rows."""
        values = zip(self.frame.columns, sources, strict=True)
        return pd.DataFrame(
            {name: self.frame[name].iloc[source].reset_index(drop=True) for name, source in values}
        )

    @cached_property
    def _positions(self) -> list[NDArray[np.float32]]:
        """A number for each row in each column: differences of 1 or more count as 1.

        Numbers are ranked from 0 to 1; categories and missing values are far from all others.
        """
        positions = []
        for name in self.frame.columns:
            column = self.frame[name]
            if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
                ranks = column.rank(pct=True).fillna(-2)
            else:
                ranks = pd.Series(2 * pd.factorize(column)[0])
            positions.append(ranks.to_numpy(np.float32))
        return positions

    def describe(self) -> str:
        """Where samples come from, in words."""
        exchanged = f"{100 * min(self.shares):g} to {100 * max(self.shares):g} %"
        rows = f"{len(self.frame):,} {'rows' if self.weights is None else 'weighted rows'} of the table"
        return f"{rows}, with {exchanged} of the columns exchanged between rows"
