"""Counterexamples to a reason: rows that meet its conditions and get another class, close to the row.

They come from samples, from random rows of the domain, and from a prover. A counterexample is brought
close to the row: it gets as many of the row's own values as leave it one. The columns in which it still
differs are those of which the reason has to speak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.deadline import NO_DEADLINE, Deadline
from hornbook.delta import RunSearch, minimise
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

        The columns are tried in an order of its own.
        """
        count, columns = len(rows), list(self.conditions.columns)
        values = pd.concat([rows, self.conditions.row], ignore_index=True)
        orders = np.argsort(self.rng.random((count, len(columns))), axis=1)  # (rows, columns)

        def mark_own(lists: Sequence[list[int]]) -> Bools:
            """Where the row's own values are, if only some columns keep others, (lists, columns)."""
            own = np.ones((len(lists), len(columns)), np.bool_)
            for number, places in enumerate(lists):
                own[number, places] = False
            return own

        def stay_wrong(lists: list[tuple[int, list[int]]]) -> Bools:
            numbers = np.array([number for number, _ in lists])
            mixed = self._mix(values, numbers, mark_own([places for _, places in lists]))
            wrong: Bools = self.sampler.teacher.labels(mixed) != self.sampler.outcome
            return wrong

        searches = [RunSearch(order) for order in orders.tolist()]
        left = minimise(searches, stay_wrong, self.deadline)
        return self.conditions.encode(self._mix(values, np.arange(count), mark_own(left)))

    def _mix(self, values: pd.DataFrame, numbers: NDArray[np.intp], own: Bools) -> pd.DataFrame:
        """Some of the rows with the last one's values where `own` is true, (rows, columns)."""
        mixed = {}
        for name in values.columns:
            source = numbers
            if name in self.conditions.columns:
                source = np.where(own[:, self.conditions.columns.index(name)], len(values) - 1, numbers)
            mixed[name] = values[name].array.take(source)
        return pd.DataFrame(mixed)
