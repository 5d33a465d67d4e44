"""Filters: a membership oracle around another, adding one thing.

`Cached(Counted(teacher.member))` counts the questions that reach the teacher.
"""

from __future__ import annotations

import logging
from collections import OrderedDict

import numpy as np

from hornbook.logic import bits
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.queries import Membership


class Counted:
    """Counts questions and batches."""

    def __init__(self, member: Membership) -> None:
        self.member = member
        self.questions = 0
        self.batches = 0

    def __call__(self, batch: Batch) -> Bools:
        """Ask, and count."""
        self.questions += len(batch)
        self.batches += 1
        return self.member(batch)


class Cached:
    """Remembers the last `size` answers and asks only what it does not know."""

    def __init__(self, member: Membership, size: int = 1 << 18) -> None:
        self.member = member
        self.size = size
        self._answers: OrderedDict[bytes, bool] = OrderedDict()

    def __call__(self, batch: Batch) -> Bools:
        """Answer from memory where possible, the rest in one batch."""
        keys = _keys(batch)
        first: dict[bytes, int] = {}
        for position, key in enumerate(keys):
            if key not in self._answers:
                first.setdefault(key, position)
        known = {key: self._answers[key] for key in keys if key in self._answers}
        if first:
            new = batch if len(first) == len(batch) else batch[list(first.values())]
            known |= zip(first, self.member(new).tolist(), strict=True)
        for key in keys:
            self._answers[key] = known[key]
            self._answers.move_to_end(key)
        while len(self._answers) > self.size:
            self._answers.popitem(last=False)
        return np.array([known[key] for key in keys], np.bool_)


class Logged:
    """Writes a line for every batch to a logger, at level DEBUG."""

    def __init__(self, member: Membership, logger: logging.Logger | None = None) -> None:
        self.member = member
        self.logger = logger or logging.getLogger("hornbook.queries")

    def __call__(self, batch: Batch) -> Bools:
        """Ask, and log how many were accepted."""
        answers = self.member(batch)
        self.logger.debug("%d membership queries, %d accepted", len(batch), int(answers.sum()))
        return answers


def _keys(batch: Batch) -> list[bytes]:
    """The values of each interpretation, as bytes."""
    rows = np.concatenate([bits.unpack(batch.true, len(batch)), bits.unpack(batch.false, len(batch))], axis=1)
    return [row.tobytes() for row in np.packbits(rows, axis=1)]
