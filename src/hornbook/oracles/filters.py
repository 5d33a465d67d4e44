"""Filters: a membership oracle around another, adding one thing.

`Cached(Counted(teacher.member))` counts the questions that reach the teacher. Where the teacher
has margins, counted, cached, logged and budgeted ones have them too; margins are questions as well.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import bits
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.errors import HornbookError
from hornbook.queries import BudgetExhausted, Membership, margin_of


class Counted:
    """Counts questions and batches."""

    def __init__(self, member: Membership) -> None:
        self.member = member
        self.questions = 0
        self.batches = 0

    def __call__(self, batch: Batch) -> Bools:
        """Ask, and count."""
        self._count(batch)
        return self.member(batch)

    def margin(self, batch: Batch) -> NDArray[np.float32]:
        """Ask for margins, and count."""
        self._count(batch)
        return margin_of(self.member, batch)

    def _count(self, batch: Batch) -> None:
        self.questions += len(batch)
        self.batches += 1


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

    def margin(self, batch: Batch) -> NDArray[np.float32]:
        """Margins are not remembered: a search hardly asks for one twice."""
        return margin_of(self.member, batch)


class Logged:
    """Writes a line for every batch to a logger, at level DEBUG."""

    def __init__(self, member: Membership, logger: logging.Logger | None = None) -> None:
        self.member = member
        self.logger = logger or logging.getLogger("hornbook.queries")

    def __call__(self, batch: Batch) -> Bools:
        """Ask, and log how many were accepted."""
        answers = self.member(batch)
        self._log(answers)
        return answers

    def margin(self, batch: Batch) -> NDArray[np.float32]:
        """Ask for margins, and log how many were accepted."""
        margins = margin_of(self.member, batch)
        self._log(margins >= 0)
        return margins

    def _log(self, answers: Bools) -> None:
        self.logger.debug("%d membership queries, %d accepted", len(answers), int(answers.sum()))


class Voted:
    """Asks a noisy teacher several times and goes with the majority.

    A question is asked again only while its majority is open. A cache goes outside,
    `Cached(Voted(member, 5))`: inside, it would repeat one answer.

    Examples
    --------
    >>> from hornbook.logic.vocabulary import Vocabulary
    >>> answers = iter([[True, False], [True, True], [False]])
    >>> voted = Voted(lambda batch: np.array(next(answers)), times=3)
    >>> voted(Batch.from_array([[1], [0]], Vocabulary(["v"])))
    array([ True, False])

    """

    def __init__(self, member: Membership, times: int) -> None:
        if times < 1 or times % 2 == 0:
            raise HornbookError(f"a vote needs an odd number of answers, or it can end in a tie; got {times}")
        self.member = member
        self.times = times

    def __call__(self, batch: Batch) -> Bools:
        """The majority's answers."""
        majority = self.times // 2 + 1
        votes = np.zeros((2, len(batch)), np.intp)
        open_still = np.arange(len(batch))
        while len(open_still):
            asked = batch if len(open_still) == len(batch) else batch[open_still]
            votes[self.member(asked).astype(np.intp), open_still] += 1
            open_still = np.flatnonzero(votes.max(axis=0) < majority)
        accepted: Bools = votes[1] >= majority
        return accepted


class Budgeted:
    """Asks no more than so many questions, and none after so many seconds.

    A batch that would pass the limit is not asked at all: it raises `BudgetExhausted`.

    Parameters
    ----------
    member
        The teacher.
    questions
        How many may be asked; None is no limit.
    seconds
        How long from now on questions may be asked; None is no limit.

    """

    def __init__(
        self, member: Membership, questions: int | None = None, seconds: float | None = None
    ) -> None:
        self.member = member
        self.limit = questions
        self.seconds = seconds
        self.questions = 0
        self._started = time.monotonic()

    def __call__(self, batch: Batch) -> Bools:
        """Ask, if the budget allows."""
        self._spend(batch)
        return self.member(batch)

    def margin(self, batch: Batch) -> NDArray[np.float32]:
        """Ask for margins, if the budget allows."""
        self._spend(batch)
        return margin_of(self.member, batch)

    def _spend(self, batch: Batch) -> None:
        if self.seconds is not None and time.monotonic() - self._started >= self.seconds:
            raise BudgetExhausted(f"budget of {self.seconds:g} seconds")
        if self.limit is not None and self.questions + len(batch) > self.limit:
            raise BudgetExhausted(
                f"budget of {self.limit} membership queries: {self.questions} are spent, "
                f"and {len(batch)} more were to be asked at once"
            )
        self.questions += len(batch)


def _keys(batch: Batch) -> list[bytes]:
    """The values of each interpretation, as bytes."""
    rows = np.concatenate([bits.unpack(batch.true, len(batch)), bits.unpack(batch.false, len(batch))], axis=1)
    return [row.tobytes() for row in np.packbits(rows, axis=1)]
