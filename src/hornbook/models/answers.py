"""Models that keep their answers, as those that are elsewhere do, and whether a model changes its answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from hornbook.models.outputs import Output
from hornbook.models.predictor import Predictor
from hornbook.statistics import Share

ANSWERS_ASKED_AGAIN = 256
"""Questions that a model is asked a second time at the end of a run, to see whether it answers alike."""

_anew: ContextVar[bool] = ContextVar("ask_anew", default=False)


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


class RemoteModel(ABC):
    """A model that keeps its answers, such as one behind an endpoint.

    Attributes
    ----------
    name
        Its name in messages.
    classes_
        Its classes; None until they are given or found.

    """

    name: str
    classes_: tuple[Any, ...] | None

    @abstractmethod
    def find_classes(self, rows: Any) -> None:
        """Learn the classes from the answers about rows, unless they are known."""

    @abstractmethod
    def adapt(self, name: str, positive: Any, output: Output | None) -> Predictor:
        """The model as a predictor."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What decisions depend on besides rows, ready for JSON."""

    @abstractmethod
    def describe_requests(self) -> str:
        """What it was asked so far, in a line."""


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
            again = self.ask(_take_first(self.questions))
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
    """The questions that are asked again."""
    return getattr(questions, "iloc", questions)[:ANSWERS_ASKED_AGAIN]
