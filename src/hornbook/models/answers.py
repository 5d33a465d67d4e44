"""What a model is asked within one question: each different row once, and no more than there is a budget for.

A question, such as `extract` or `why`, has a number of answers and a time. Whoever draws samples asks
`afford` how many there may be; what is asked beyond that is refused.

Whether a model changes its answers is seen by asking it anew, also one that is elsewhere and keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornbook.deadline import NO_DEADLINE, Deadline, Stopwatch
from hornbook.errors import BudgetExhausted
from hornbook.statistics import Share

if TYPE_CHECKING:
    import pandas as pd  # which takes a second to import

MAX_KEPT_ANSWERS = 1 << 18
"""Answers that are kept at a time."""

LEAST_AFFORDED = 32
"""The fewest samples that are drawn of a budget that is nearly spent."""

USED_TIME = 0.8
"""The share of the time that is left in which a model may be asked."""

MAX_ROWS_SHARE = 0.2
"""The share of a budget that the rows of a table take."""

ANSWERS_ASKED_AGAIN = 256
"""Questions that a model is asked a second time at the end of a run, to see whether it answers alike."""

AnswersT = TypeVar("AnswersT")

_anew: ContextVar[bool] = ContextVar("ask_anew", default=False)

Watch: TypeAlias = Callable[[int, float], None]
"""Is told how many answers were asked, and how many seconds one takes."""


class OutOfAnswersError(BudgetExhausted):
    """A question needs more answers of the model than it may ask for."""


@dataclass(eq=False)
class AnswerBudget:
    """How many answers a question may ask for, and until when; what it has asked so far.

    Parameters
    ----------
    max_answers
        The most answers.
    deadline
        When they have to be there.
    watch
        Is told of every call.
    planned
        After how many answers samples are drawn no more, so that some are left for what comes then.

    """

    max_answers: float = math.inf
    deadline: Deadline = NO_DEADLINE
    watch: Watch | None = None
    planned: float = math.inf
    answers: int = 0
    is_asking: bool = False
    pace: float = math.inf
    kept: dict[tuple[Any, ...], dict[int, Any]] = field(default_factory=dict)

    @property
    def left(self) -> float:
        """How many answers may still be asked for: by their number, and by the time that they take."""
        by_number = min(self.max_answers, self.planned) - self.answers
        if self.deadline.limit == math.inf or self.pace == math.inf:
            return by_number
        return min(by_number, USED_TIME * self.deadline.left / self.pace)

    def ask(self, size: int, ask: Callable[[], AnswersT]) -> AnswersT:
        """Ask for `size` answers, perhaps by several calls; refuse more than there may be."""
        if self.is_asking or not size:
            return ask()
        if self.answers + size > self.max_answers:
            raise OutOfAnswersError(
                f"this takes more than {self.max_answers:,.0f} answers of the model; raise max_answers "
                "(--max-answers), or ask for less"
            )
        clock = Stopwatch()
        self.is_asking = True
        try:
            answers = ask()
        finally:
            self.is_asking = False
        self.answers += size
        if size >= LEAST_AFFORDED or self.pace == math.inf:  # a call takes time too
            self.pace = min(self.pace, max(clock.elapsed, 1e-9) / max(size, 1))
        if self.watch is not None:
            self.watch(self.answers, self.pace)
        return answers


_budget: ContextVar[AnswerBudget | None] = ContextVar("answers", default=None)


@contextmanager
def limit_answers(
    max_answers: int | None = None,
    seconds: float | None = None,
    share: float | None = None,
    watch: Watch | None = None,
) -> Iterator[AnswerBudget]:
    """Ask models for no more answers than these inside this context, and about each different row once.

    Inside of another such context answers count there too, and samples are drawn for a `share` of the rest.

    Examples
    --------
    >>> with limit_answers(100) as budget:
    ...     afford(1000, share=0.5)
    50

    """
    outer = _budget.get()
    most = math.inf if max_answers is None else max_answers
    if outer is None:
        budget = AnswerBudget(most, Deadline.after(seconds), watch)
    else:
        most = min(outer.answers + most, outer.max_answers)
        left = min(math.inf if seconds is None else seconds, outer.deadline.left)
        budget = replace(outer, max_answers=most, deadline=Deadline.after(left))
        if share is not None:
            budget.planned = budget.answers + share * budget.left
    token = _budget.set(budget)
    try:
        yield budget
    finally:
        _budget.reset(token)
        if outer is not None:
            outer.answers, outer.pace = budget.answers, budget.pace


def afford(rows: int, share: float = 1.0) -> int:
    """The number of rows, of `rows`, that a model may be asked about for at most a share of the answers left.

    Where little is left it is a few, as long as they may be asked about at all.
    """
    budget = _budget.get()
    if budget is None or budget.left == math.inf:
        return rows
    return int(min(rows, max(share * budget.left, LEAST_AFFORDED), budget.max_answers - budget.answers))


def describe_scarcity() -> Iterator[str]:
    """Say that answers or time did not suffice, and what an answer takes."""
    budget = _budget.get()
    if budget is not None:
        limits = "seconds (--seconds)" if budget.max_answers == math.inf else "max_answers (--max-answers)"
        yield f"an answer takes {budget.pace:.2g} seconds; with more {limits} there are better reasons"


def is_spent() -> bool:
    """Whether next to nothing is left of a budget, in answers or time."""
    budget = _budget.get()
    return budget is not None and (budget.left < LEAST_AFFORDED or budget.deadline.passed)


def spend(size: int, ask: Callable[[], AnswersT]) -> AnswersT:
    """Ask a model a question that takes `size` answers."""
    budget = _budget.get()
    return ask() if budget is None else budget.ask(size, ask)


def ask_once(
    kind: tuple[Any, ...], rows: pd.DataFrame, ask: Callable[[pd.DataFrame], NDArray[Any]]
) -> NDArray[Any]:
    """What a model answers about each row; equal rows are asked about once in a question.

    `kind` says what is asked, and of which model.
    """
    budget = _budget.get()
    if budget is None:
        return ask(rows)
    if is_asked_anew():
        return budget.ask(len(rows), lambda: ask(rows))
    keys = hash_rows(rows)
    known = budget.kept.setdefault(kind, {})
    different, first, place = np.unique(keys, return_index=True, return_inverse=True)
    lacking = np.array([key not in known for key in different.tolist()], np.bool_)
    if len(known) + lacking.sum() > MAX_KEPT_ANSWERS:
        known.clear()
        lacking[:] = True
    if lacking.any():
        at = np.sort(first[lacking])
        part = rows if len(at) == len(rows) else rows.iloc[at]
        answers = budget.ask(len(part), lambda: ask(part))
        known.update(zip(keys[at].tolist(), answers.tolist(), strict=True))
    return np.array([known[key] for key in different.tolist()])[place]


def hash_rows(rows: pd.DataFrame) -> NDArray[np.uint64]:
    """A number of 64 bits for each row; those of different rows differ, but for a chance of 1 in 10¹⁹."""
    import pandas as pd

    total: Any = np.zeros(len(rows), np.uint64)
    for place, (_, values) in enumerate(rows.items()):
        if values.dtype == object:  # in which 1 is another value than "1", and None than NaN
            missing = {None: 1, pd.NA: 2}
            named = [missing.get(each, 3) if pd.isna(each) else hash((type(each), each)) for each in values]
            values = pd.Series(np.array(named, np.int64))
        codes = pd.util.hash_pandas_object(values, index=False).to_numpy(np.uint64)
        total = (total ^ codes) * np.uint64(0x9E3779B97F4A7C15 + 2 * place)
        total ^= total >> np.uint64(29)
    numbers: NDArray[np.uint64] = total
    return numbers


@contextmanager
def ask_anew() -> Iterator[None]:
    """Ask models anew inside this context, although their answers are kept, to see whether they change.

    Examples
    --------
    >>> with ask_anew():
    ...     print(is_asked_anew())
    True

    """
    token = _anew.set(True)
    try:
        yield
    finally:
        _anew.reset(token)


def is_asked_anew() -> bool:
    """Whether kept answers are to be left aside."""
    return _anew.get()


@dataclass(frozen=True, eq=False)
class AnswerCheck:
    """Some questions and a model's answers to them, to be compared with its answers at the end of a run.

    A model behind an endpoint is sent these questions again, although their answers are kept.

    Parameters
    ----------
    ask
        The model: an answer for each question.
    questions
        Rows of a table, or interpretations; the first 256 are asked again.
    answers
        The answers that the model gave.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> check = AnswerCheck.start(lambda rows: rng.random(len(rows)) < 0.5, np.zeros((1000, 3)))
    >>> print(*check.describe_changes())  # doctest: +ELLIPSIS
    asked 256 questions again, the model gave another answer to 118: ...

    """

    ask: Callable[[Any], NDArray[Any]]
    questions: Any
    answers: NDArray[Any]

    @classmethod
    def start(cls, ask: Callable[[Any], NDArray[Any]], questions: Any) -> AnswerCheck:
        """Ask the questions for the first time."""
        first = _take_first(questions)
        return cls(ask, first, ask(first))

    def ask_again(self) -> Share:
        """The share of the questions to which the model gives another answer now."""
        with ask_anew():
            again = self.ask(_take_first(self.questions)[: len(self.answers)])
        return Share.where(again != self.answers[: len(again)])

    def describe_changes(self, name: str = "the model") -> Iterator[str]:
        """Ask again, and say how many answers have changed, if any have."""
        yield from note_changed_answers(self.ask_again(), name)


def note_changed_answers(changed: Share, name: str = "the model") -> Iterator[str]:
    """Say how many answers of a model have changed, if any have.

    Examples
    --------
    >>> list(note_changed_answers(Share.of(0, 256)))
    []

    """
    if changed.hits:
        yield (
            f"asked {changed.size:,} questions again, {name} gave another answer to {changed.hits:,}: "
            "no explanation agrees with answers that change, and the figures are about the answers it gave"
        )


def _take_first(questions: Any) -> Any:
    """The questions that are asked again: fewer where few may be asked."""
    return getattr(questions, "iloc", questions)[: afford(ANSWERS_ASKED_AGAIN, 0.5)]
