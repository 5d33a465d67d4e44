"""The columns that an explanation is sought in: those that the model reads, of thousands of them some.

What a model reads that names no columns is told by exchanging them: a column whose exchange between
samples never changes an answer gets no condition. It is asked about samples of all classes in turn,
for where a class is rare, an exchange seldom changes anything elsewhere.

An explanation names a few columns, and to look at all literals of all columns at every step would take
hours. So columns are ranked first by how much their values tell about the model's answers: by Pearson's
chi-squared statistic, on all samples, and on the samples of each bin of the column that tells most. A
column that tells something only together with two others, and nothing alone, is not noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.surrogates.grid import CodedRows, Floats, Grid, Ints
from hornbook.tables import replace_columns

MAX_SEARCHED_COLUMNS = 256
"""Columns that an explanation is sought in; of more, those that tell most about the answers."""

EXCHANGES = (32, 256, 2048)
"""Numbers of samples in which a column is exchanged; the next one is used if no answer has changed."""

MIN_EXCHANGES = 256
"""Samples in which a column has to be exchanged without effect before it is left out."""

SCREENING_CUTS = 4
"""Thresholds of a numeric column by which it is ranked."""


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
