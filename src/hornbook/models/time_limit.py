"""A time limit on each call of a model, so that one that never returns is given up.

Nothing can end a function that runs. So under a limit the model is called by a thread of its own, and
the caller waits no longer than the limit; what stalls is left behind, and ends with the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import Any, TypeAlias

from hornbook.errors import HornbookError, ModelTimeout

_limit: ContextVar[float | None] = ContextVar("model_seconds", default=None)

_Call: TypeAlias = tuple[Context, Callable[[Any], Any], Any, "Future[Any]"]


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
