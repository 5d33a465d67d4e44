"""Filters: membership oracles that wrap another one and add one behaviour.

`Cached(Counted(teacher.member))` counts the questions that reach the teacher.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from hornbook.deadline import Deadline
from hornbook.errors import HornbookError, ModelError
from hornbook.logic import Batch, Bools
from hornbook.queries.protocol import BudgetExhausted, Membership

AnswersT = TypeVar("AnswersT", bound=NDArray[Any])
"""An array of answers: booleans, or margins."""

TIMED_BLOCK = 1 << 10
"""Maximum number of questions asked at a time under a time limit."""


class Counted(Generic[AnswersT]):
    """Counts questions and batches."""

    def __init__(self, member: Callable[[Batch], AnswersT]) -> None:
        self.member = member
        self.questions = 0
        self.batches = 0

    def __call__(self, batch: Batch) -> AnswersT:
        """Ask, and count."""
        self.questions += len(batch)
        self.batches += 1
        return self.member(batch)


class Checked(Generic[AnswersT]):
    """Raises `ModelError` for every error and malformed answer of a teacher; skips empty batches.

    Parameters
    ----------
    member
        The teacher, or its margins.
    kind
        The type of a proper answer: `np.bool_`, or `np.floating` for margins.

    """

    def __init__(self, member: Callable[[Batch], AnswersT], kind: type[np.generic] = np.bool_) -> None:
        self.member = member
        self.kind = kind

    def __call__(self, batch: Batch) -> AnswersT:
        """Ask, and look at the answers before passing them on."""
        if not len(batch):
            return cast(AnswersT, np.zeros(0, np.bool_ if self.kind is np.bool_ else np.float32))
        try:
            answers: Any = np.asarray(self.member(batch))
        except HornbookError as error:
            raise ModelError(str(error)) from error
        except (Exception, SystemExit) as error:
            raise ModelError(f"{type(error).__name__}: {error}") from error
        if answers.shape != (len(batch),) or not np.issubdtype(answers.dtype, self.kind):
            wanted = "booleans" if self.kind is np.bool_ else "numbers, negative where it rejects"
            raise ModelError(
                f"{len(batch)} questions were answered by {answers.dtype} of shape {answers.shape}; "
                f"expected as many {wanted}"
            )
        wrong = np.isnan(answers)
        if wrong.any():
            raise ModelError(f"{int(wrong.sum())} of {len(batch)} answers are NaN")
        return cast(AnswersT, answers)


class Cached:
    """Caches the last `size` answers and asks only for those it does not have."""

    def __init__(self, member: Membership, size: int = 1 << 18) -> None:
        self.member = member
        self.size = size
        self._answers: OrderedDict[tuple[int, int], bool] = OrderedDict()

    def __call__(self, batch: Batch) -> Bools:
        """Answer from memory where possible, the rest in one batch."""
        keys = batch.masks
        new = {key: position for position, key in enumerate(keys) if key not in self._answers}
        if new:
            asked = batch if len(new) == len(batch) else batch[list(new.values())]
            self._answers.update(zip(new, self.member(asked).tolist(), strict=True))
        for key in keys:
            self._answers.move_to_end(key)
        answers = np.array([self._answers[key] for key in keys], np.bool_)
        while len(self._answers) > self.size:
            self._answers.popitem(last=False)
        return answers


class Budgeted(Generic[AnswersT]):
    """Raises `BudgetExhausted` when the limit on questions or on time is reached.

    With a time limit, large batches are split so that the limit is noticed. `asked` counts the
    questions passed on; `spent` is the number of seconds used before.
    """

    def __init__(
        self,
        member: Callable[[Batch], AnswersT],
        questions: int | None,
        seconds: float | None,
        spent: float = 0.0,
    ) -> None:
        self.member = member
        self.questions = questions
        self.seconds = seconds
        self.asked = 0
        self.deadline = None if seconds is None else Deadline.after(seconds - spent)

    def __call__(self, batch: Batch) -> AnswersT:
        """Ask, if the budget allows it."""
        self._refuse_beyond(len(batch))
        parts = []
        whole = self.deadline is None or not len(batch)
        for part in [batch] if whole else batch.blocks(TIMED_BLOCK):
            self.charge(len(part))
            parts.append(self.member(part))
        return cast(AnswersT, np.concatenate(parts))

    def charge(self, questions: int) -> None:
        """Charge questions to the budget."""
        self._refuse_beyond(questions)
        if self.deadline is not None and self.deadline.passed:
            raise BudgetExhausted(f"budget of {self.seconds} seconds")
        self.asked += questions

    @property
    def left(self) -> float:
        """The number of questions left."""
        return math.inf if self.questions is None else self.questions - self.asked

    def _refuse_beyond(self, questions: int) -> None:
        if questions > self.left:
            raise BudgetExhausted(f"budget of {self.questions} membership queries")
