"""Of a table with thousands of columns, those that an explanation is sought in.

An explanation names a few columns, and to look at all literals of all columns at every step would take
hours. So columns are ranked first by how much their values tell about the model's answers: by Pearson's
chi-squared statistic, on all samples, and on the samples of each bin of the column that tells most. A
column that tells something only together with two others, and nothing alone, is not noticed.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from hornbook.explanations import EMPTY_BOOK, CodeBook
from hornbook.surrogates.grid import CodedRows, Floats, Grid, Ints

MAX_SEARCHED_COLUMNS = 256
"""Columns that an explanation is sought in; of more, those that tell most about the answers."""

SCREENING_CUTS = 4
"""Thresholds of a numeric column by which it is ranked."""


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
