"""Labelled samples that an explanation is learned from, and the columns that it is sought in.

Samples begin at rows of the table, more of them at rows of rare classes; weights make all shares natural.

What a model reads that names no columns is told by exchanging them: a column whose exchange between
samples never changes an answer gets no condition. It is asked about samples of all classes in turn,
for where a class is rare, an exchange seldom changes anything elsewhere.

An explanation names a few columns, and to look at all literals of all columns at every step would take
hours. So columns are ranked first by how much their values tell about the model's answers: by Pearson's
chi-squared statistic, on all samples, and on the samples of each bin of the column that tells most. A
column that tells something only together with two others, and nothing alone, is not noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.logic import Bools
from hornbook.models import RowSampler
from hornbook.randomness import Purpose, generator
from hornbook.surrogates.grid import EXCHANGE_SAMPLES, CodedRows, Floats, Grid, Ints
from hornbook.tables import replace_columns

RARE_SHARE = 0.1
"""The share of the rows below which a class is rare: samples are drawn near its rows."""

GUIDED_SHARE = 0.3
"""The share of all samples that begin at rows of rare classes."""

MIN_SAMPLES, MAX_SAMPLES = 16_000, EXCHANGE_SAMPLES
"""Samples that explanations are fitted to, of a small table and of a large one."""

MAX_SEARCHED_COLUMNS = 256
"""Columns that an explanation is sought in; of more, those that tell most about the answers."""

EXCHANGES = (32, 256, 2048)
"""Numbers of samples in which a column is exchanged; the next one is used if no answer has changed."""

MIN_EXCHANGES = 256
"""Samples in which a column has to be exchanged without effect before it is left out."""

SCREENING_CUTS = 4
"""Thresholds of a numeric column by which it is ranked."""


@dataclass(frozen=True, eq=False)
class WeighedSamples:
    """Samples, the model's class for each, and what each counts, so that shares are natural ones."""

    frame: pd.DataFrame
    labels: Ints
    weights: Floats


@dataclass(frozen=True, eq=False)
class SampleSource:
    """A model bound to rows, as an explanation is learned from it: draws samples, labels them, names columns.

    Parameters
    ----------
    label_rows
        The model: the number of the class of each row of a frame.
    sampler
        Where samples come from. None of its rows should be used to judge the result.
    classes
        What the classes are called.
    labels
        The number of the model's class for each of the sampler's rows.
    code_book
        Which columns are categories, which have an order, and the words of the explanations.
    columns_read
        The columns that the model reads, as far as it is known: there are conditions on these alone. If it
        is not, columns whose exchange between samples never changes an answer get no conditions.
    left_out
        Columns of which no conditions are made.

    """

    label_rows: Callable[[pd.DataFrame], Ints]
    sampler: RowSampler
    classes: tuple[str, ...]
    labels: Ints
    code_book: CodeBook = EMPTY_BOOK
    columns_read: Collection[str] | None = None
    left_out: Collection[str] = ()

    @classmethod
    def of(
        cls,
        label_rows: Callable[[pd.DataFrame], Ints],
        sampler: RowSampler,
        classes: tuple[str, ...],
        code_book: CodeBook = EMPTY_BOOK,
    ) -> SampleSource:
        """The source of samples of a model, once it has been asked about the sampler's rows."""
        return cls(label_rows, sampler, classes, label_rows(sampler.frame), code_book)

    @cached_property
    def chances(self) -> Floats | None:
        """The probability of each row to be the first one of a sample; None if all are alike."""
        counted = self.sampler.row_weights
        sizes = np.bincount(self.labels, counted, len(self.classes))
        rare = find_rare(sizes)
        if not rare.any():
            return None
        more = np.where(rare, GUIDED_SHARE / rare.sum() / np.where(sizes > 0, sizes, 1.0), 0.0)[self.labels]
        chances: Floats = more * counted + (1 - GUIDED_SHARE) * counted / counted.sum()
        return chances

    def draw_both(self, size: int | None, seed: int) -> tuple[WeighedSamples, WeighedSamples]:
        """Draw the samples that explanations are fitted to, and half as many that choose among them."""
        if size is None:
            least = MIN_SAMPLES if self.chances is None else MAX_SAMPLES
            size = min(max(least, len(self.sampler.frame) // 2), MAX_SAMPLES, self.sampler.max_samples)
        half = size // 2
        learning = self.draw(size - half, half, generator(seed, Purpose.LEARNING_SAMPLES))
        return learning, self.draw(0, max(half, 1), generator(seed, Purpose.CANDIDATE_CHOICE))

    def draw(self, far: int, near: int, rng: np.random.Generator) -> WeighedSamples:
        """Draw samples of any two rows, which stray far, and of two rows that are alike; in random order."""
        parts, weights = [], []
        for size, alike in ((far, False), (near, True)):
            if not size:
                continue
            if self.chances is None:
                parts.append(self.sampler.draw_near(size, rng) if alike else self.sampler.draw(size, rng))
                weights.append(np.ones(size))
            else:
                frame, first = self.sampler.draw_guided(size, self.chances, rng, alike)
                parts.append(frame)
                counted = self.sampler.row_weights
                weights.append(counted[first] / (counted.sum() * self.chances[first]))
        order = rng.permutation(far + near) if far else np.arange(near)
        frame = pd.concat(parts).iloc[order].reset_index(drop=True)
        return WeighedSamples(frame, self.label_rows(frame), np.concatenate(weights)[order])

    def find_columns(self, learning: WeighedSamples, seed: int) -> tuple[list[str], ExchangeTest]:
        """The columns that an explanation is sought in, and what exchanges told of the others."""
        exchanges, read = ExchangeTest(), self.columns_read
        if read is None:
            rng, most = generator(seed, Purpose.COLUMN_EXCHANGES), len(learning.frame) // 2
            exchanges = ExchangeTest.run(self.label_rows, learning.frame, learning.labels, most, rng)
            read = set(learning.frame.columns) - set(exchanges.unread)
        names = [name for name in learning.frame.columns if name in read and name not in self.left_out]
        observed = self.sampler.frame[names]
        return choose_columns(observed, learning.frame[names], learning.labels, self.code_book), exchanges


def find_rare(sizes: Floats | Ints) -> Bools:
    """The classes that occur, but seldom; shape (classes,)."""
    rare: Bools = (sizes > 0) & (sizes < RARE_SHARE * sizes.sum())
    return rare


@dataclass(frozen=True)
class ExchangeTest:
    """The columns whose exchange changed no answer, in how many samples, and the answers that this took."""

    unread: tuple[str, ...] = ()
    samples: int = 0
    answers: int = 0

    @classmethod
    def run(
        cls,
        label_rows: Callable[[pd.DataFrame], Ints],
        samples: pd.DataFrame,
        labels: Ints,
        max_answers: int,
        rng: np.random.Generator,
    ) -> ExchangeTest:
        """Exchange each column of labelled samples between them, while there are answers left.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> rows = pd.DataFrame(rng.normal(size=(500, 3)), columns=list("abc"))
        >>> model = lambda rows: np.asarray(rows.a > rows.c, np.intp)
        >>> ExchangeTest.run(model, rows, model(rows), 2000, rng)
        ExchangeTest(unread=('b',), samples=500, answers=564)

        """
        order = _alternate_classes(labels)
        unread, tried, answers = list(samples.columns), 0, 0
        for goal in EXCHANGES:
            affordable = (max_answers - answers) // max(len(unread), 1)
            part = order[tried : min(goal, tried + affordable)]
            if not unread or not len(part):
                break
            others = samples.iloc[rng.integers(len(samples), size=len(part))]
            own = samples.iloc[part].reset_index(drop=True)
            exchanged = [replace_columns(own, {name: others[name].set_axis(own.index)}) for name in unread]
            new_labels = label_rows(pd.concat(exchanged, ignore_index=True)).reshape(len(unread), len(part))
            answers, tried = answers + new_labels.size, tried + len(part)
            changed = (new_labels != labels[part]).any(axis=1)
            unread = [name for name, read in zip(unread, changed.tolist(), strict=True) if not read]
        left_out = tuple(unread) if tried >= min(MIN_EXCHANGES, len(samples)) else ()
        return cls(left_out, tried, answers)


def _alternate_classes(labels: Ints) -> Ints:
    """The numbers of the samples, one of each class in turn as long as there are any."""
    by_class = np.argsort(labels, kind="stable")
    _, starts, counts = np.unique(labels[by_class], return_index=True, return_counts=True)
    turns = np.arange(len(labels)) - np.repeat(starts, counts)
    order: Ints = by_class[np.argsort(turns, kind="stable")]
    return order


def choose_columns(
    frame: pd.DataFrame, samples: pd.DataFrame, labels: Ints, code_book: CodeBook = EMPTY_BOOK
) -> list[str]:
    """The columns that an explanation is sought in, in the order of the table: all, unless there are many.

    Parameters
    ----------
    frame
        The rows of the table, from which columns are cut into bins.
    samples, labels
        Samples with the same columns, and the number of the model's class for each.
    code_book
        Which numbers are categories.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = pd.DataFrame(rng.normal(size=(200, 600))).rename(columns=str)
    >>> chosen = choose_columns(rows, rows, np.asarray(rows["7"] > 0, np.intp))
    >>> len(chosen), "7" in chosen
    (256, True)

    """
    if frame.shape[1] <= MAX_SEARCHED_COLUMNS:
        return list(frame.columns)
    rows = Grid.of(frame, SCREENING_CUTS, code_book).encode(samples)
    scores = score_columns(rows, labels)
    best = rows.column(int(scores.argmax()))
    for code in np.unique(best):
        at = np.flatnonzero(best == code)
        scores = np.maximum(scores, score_columns(rows.take(at), labels[at]))
    chosen = np.sort(np.argsort(-scores, kind="stable")[:MAX_SEARCHED_COLUMNS])
    return [rows.grid.columns[position].name for position in chosen]


def score_columns(rows: CodedRows, labels: Ints) -> Floats:
    """How much the bins of each column tell about the labels, shape (columns,).

    It is the chi-squared statistic, less what is expected by chance, in units of its standard deviation.
    """
    present, numbers = np.unique(labels, return_inverse=True)
    scores = np.zeros(len(rows.grid.columns))
    if len(present) < 2:
        return scores
    shares = np.bincount(numbers) / len(numbers)  # (classes,)
    for position in range(len(scores)):
        counts = np.bincount(rows.column(position).astype(np.intp) * len(present) + numbers)
        counts = np.pad(counts, (0, -len(counts) % len(present))).reshape(-1, len(present))  # (bins, classes)
        counts = counts[counts.any(axis=1)]
        expected = counts.sum(axis=1)[:, None] * shares
        freedom = (len(counts) - 1) * (len(present) - 1)
        if freedom:
            statistic = ((counts - expected) ** 2 / expected).sum()
            scores[position] = (statistic - freedom) / np.sqrt(2 * freedom)
    return scores
