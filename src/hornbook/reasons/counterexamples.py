"""Counterexamples to a reason: rows that meet its conditions and get another class, close to the row.

They come from samples, from random rows of the domain, and from a prover. A counterexample is brought
close to the row: it gets as many of the row's own values as leave it one. The columns in which it still
differs are those of which the reason has to speak.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.deadline import NO_DEADLINE, Deadline
from hornbook.logic import Bools
from hornbook.proof import Domain
from hornbook.reasons.row_conditions import Body, Codes, RowConditions
from hornbook.reasons.sampler import ReasonSampler

DRAWN_ROWS = 512
"""Rows of each kind that are drawn in search of counterexamples: samples, random ones, and corners."""

MAX_COUNTEREXAMPLES = 48
"""Counterexamples of one draw that are brought close to the row."""


@dataclass(frozen=True, eq=False)
class CounterexampleFinder:
    """Finds rows that meet a body and get another class than the row.

    Parameters
    ----------
    domain
        The rows in question.
    sampler
        Samples of the row's conditions.
    rng
        Where random rows come from.
    deadline
        When counterexamples are no longer brought closer.

    """

    domain: Domain
    sampler: ReasonSampler
    rng: np.random.Generator
    deadline: Deadline = NO_DEADLINE

    @property
    def conditions(self) -> RowConditions:
        """The conditions of the row."""
        return self.sampler.conditions

    def draw(self, body: Body) -> Codes:
        """Counterexamples among drawn rows that meet a body, as bins."""
        rows = [self.sampler.build_rows(self.sampler.draw(body, DRAWN_ROWS, self.rng))]
        conditions = self.conditions.describe(body)
        boxes = self.domain.widen(conditions).list_boxes(conditions)
        if boxes:
            box = boxes[int(self.rng.integers(len(boxes)))]
            rows.append(self.complete(self.domain.draw([box], list(box), 2 * DRAWN_ROWS, self.rng)))
        drawn = pd.concat(rows, ignore_index=True)
        wrong = np.flatnonzero(self.sampler.teacher.labels(drawn) != self.sampler.outcome)
        chosen = self.rng.permutation(wrong)[:MAX_COUNTEREXAMPLES]
        return self.bring_close(drawn.iloc[chosen].reset_index(drop=True))

    def complete(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows with all columns of the table; those that the model does not read are the row's."""
        own = self.conditions.row
        return pd.DataFrame(
            {
                name: rows[name].array if name in rows else own[name].array.take(np.zeros(len(rows), np.intp))
                for name in own.columns
            }
        )

    def bring_close(self, rows: pd.DataFrame) -> Codes:
        """Counterexamples as bins, each with as many of the row's own values as leave it one.

        In an order of its own, each gets the longest run of the row's values with which it stays a
        counterexample; the next column is left as it is, and the next run begins after it.
        """
        count, columns = len(rows), list(self.conditions.columns)
        values = pd.concat([rows, self.conditions.row], ignore_index=True)
        order = np.argsort(self.rng.random((count, len(columns))), axis=1)  # (rows, columns)
        own = np.zeros((count, len(columns)), np.bool_)  # which columns have the row's value
        start = np.zeros(count, np.intp)
        while (open_rows := np.flatnonzero(start < len(columns))).size and not self.deadline.passed:
            longest = int((len(columns) - start[open_rows]).max())
            # one variant for each length of a run, (open rows, lengths, columns)
            variants = np.repeat(own[open_rows, None], longest, axis=1)
            for length in range(1, longest + 1):
                for at, row in enumerate(open_rows.tolist()):
                    variants[at, length - 1, order[row, start[row] : start[row] + length]] = True
            still = self._stay_wrong(values, open_rows, variants)
            for at, row in enumerate(open_rows.tolist()):
                left = len(columns) - start[row]
                held = np.flatnonzero(still[at, :left])
                run = int(held[-1]) + 1 if len(held) else 0
                own[row, order[row, start[row] : start[row] + run]] = True
                start[row] += run + 1
        return self.conditions.encode(self._mix(values, np.arange(count), own[:, None, :]))

    def _stay_wrong(self, values: pd.DataFrame, rows: NDArray[np.intp], own: Bools) -> Bools:
        """Which variants of rows, with the row's own values in some columns, get another class."""
        labels = self.sampler.teacher.labels(self._mix(values, rows, own))
        wrong: Bools = (labels != self.sampler.outcome).reshape(own.shape[:2])
        return wrong

    def _mix(self, values: pd.DataFrame, rows: NDArray[np.intp], own: Bools) -> pd.DataFrame:
        """Variants of rows, (rows, variants, columns): where `own` is true, the last row's values."""
        source = np.repeat(rows, own.shape[1])  # (rows * variants,)
        mixed = {}
        for name in values.columns:
            if name in self.conditions.columns:
                place = self.conditions.columns.index(name)
                chosen = np.where(own[:, :, place].reshape(-1), len(values) - 1, source)
            else:
                chosen = source
            mixed[name] = values[name].array.take(chosen)
        return pd.DataFrame(mixed)
