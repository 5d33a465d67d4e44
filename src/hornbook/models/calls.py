"""Calls of a model: with a time limit, so that one that never returns is given up, about rows alone, anew.

Nothing can end a function that runs. So under a limit the model is called by a thread of its own, and
the caller waits no longer than the limit; what stalls is left behind, and ends with the process.

Models that are elsewhere keep their answers. Whether a model changes its answers is seen by asking it anew.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import TYPE_CHECKING, Any, TypeAlias

from numpy.typing import NDArray

from hornbook.errors import HornbookError, ModelTimeout
from hornbook.statistics import Share

if TYPE_CHECKING:
    from hornbook.models.outputs import Output
    from hornbook.models.predictor import Predictor

SCORE_ROUNDING = 1e-5
"""Maximum rounding error of a score beyond 0 and 1."""

_limit: ContextVar[float | None] = ContextVar("model_seconds", default=None)

_Call: TypeAlias = tuple[Context, Callable[[Any], Any], Any, "Future[Any]"]

ANSWERS_ASKED_AGAIN = 256
"""Questions that a model is asked a second time at the end of a run, to see whether it answers alike."""

_anew: ContextVar[bool] = ContextVar("ask_anew", default=False)


@contextmanager
def limit_model_seconds(seconds: float) -> Iterator[None]:
    """Give up models that take longer than so many seconds to answer one call, inside this context.

    Examples
    --------
    >>> from time import sleep
    >>> from hornbook.models.adapters import as_predictor
    >>> stalling = as_predictor(lambda rows: sleep(60), name="stalling")
    >>> with limit_model_seconds(0.01):
    ...     stalling.score_rows([[1.0], [2.0]])
    Traceback (most recent call last):
    hornbook.errors.ModelTimeout: stalling did not answer about 2 rows within 0.01 seconds

    """
    if not seconds > 0:
        raise HornbookError(f"a model gets more than 0 seconds to answer, not {seconds}")
    token = _limit.set(seconds)
    try:
        yield
    finally:
        _limit.reset(token)


def call_in_time(ask: Callable[[Any], Any], rows: Any, name: str) -> Any:
    """What a function of a model answers about rows; raise `ModelTimeout` if it takes too long."""
    global _caller
    seconds = _limit.get()
    if seconds is None or (_caller is not None and current_thread() is _caller.thread):
        return ask(rows)  # a model that asks another one has its limit already
    if _caller is None:
        _caller = _Caller()
    answer: Future[Any] = Future()
    _caller.calls.put((copy_context(), ask, rows, answer))
    if not wait([answer], seconds).done:
        _caller = None
        rows_asked = "one row" if len(rows) == 1 else f"{len(rows):,} rows"
        unit = "second" if seconds == 1 else "seconds"
        raise ModelTimeout(f"{name} did not answer about {rows_asked} within {seconds:g} {unit}")
    return answer.result()


class _Caller:
    """A thread that calls models, one call after another: libraries keep memory and threads for each."""

    def __init__(self) -> None:
        self.calls: SimpleQueue[_Call] = SimpleQueue()
        self.thread = Thread(target=self._serve, name="hornbook model", daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while True:
            _answer(*self.calls.get())


def _answer(context: Context, ask: Callable[[Any], Any], rows: Any, answer: Future[Any]) -> None:
    try:
        answer.set_result(context.run(ask, rows))
    except BaseException as error:  # as if the caller had called it: also SystemExit
        answer.set_exception(error)


_caller: _Caller | None = None


def name_words(reason: str, rows: Any) -> str:
    """Which column of words a model wanted numbers in, by the reason why it failed."""
    columns = rows.items() if hasattr(rows, "iloc") else ()
    words = {name: values.dropna().unique() for name, values in columns if values.dtype.kind not in "biufcM"}
    for name, values in words.items():
        word = next((each for each in values if repr(each) in reason), None)
        if word is not None:
            return (
                f"; column {name!r} has words, such as {word!r}: if the model was trained on numbers "
                "there, leave out their signs, or name the words for missing values (--missing)"
            )
    is_about_types = any(part in reason for part in ("categor", "float", "numeric", "string", "dtype"))
    return f"; columns of words are {', '.join(map(str, words))}" if words and is_about_types else ""


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

    def read_numbers(self, rows: Any) -> NDArray[Any] | None:
        """The one number for each row that a class is made of from ½ on; None if it answers otherwise."""
        return None

    def propose(self, rules: Sequence[str]) -> list[Mapping[str, Any]]:
        """Rows that the model expects to break rules about it; none from one that does not speak."""
        return []

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
    from hornbook.models.answers import afford

    return getattr(questions, "iloc", questions)[: afford(ANSWERS_ASKED_AGAIN, 0.5)]
