"""One function over many items, by the processes of this machine or a cluster, through joblib.

`n_jobs` and `joblib.parallel_config` say who does the work, as they do for scikit-learn. Results do
not depend on it, and losing a worker costs time alone.
"""

from __future__ import annotations

import contextlib
import pickle
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from itertools import takewhile
from threading import Event
from typing import Any, TypeVar

import numpy as np

from hornbook.errors import HornbookError

Item = TypeVar("Item")
Result = TypeVar("Result")

Outcome = tuple[Any, Exception | None]
"""A result, or the error that came instead of it."""

RETRIES = 2
"""How many times in a row remaining items are tried again after workers failed."""

ROUND = 4
"""Items for each worker at a time, where joblib hands over results only all together."""


def parallel_map(
    function: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None = None
) -> Generator[Result]:
    """Yield `function(item)` of each item, in order, as results become known.

    Results are those of one process. An error of the function is raised in its place in that order,
    and ends the workers. Closing the generator begins no further item, and waits for those that have
    begun, so that workers live on for the next call.

    Parameters
    ----------
    function
        A function that gives the same result whenever and wherever it is called. It travels with its
        arguments, such as the model in `partial(judge, model)`; a worker unpickles it once a call.
    items
        What differs from call to call.
    n_jobs
        The number of processes, -1 for as many as there are cores. None is one, or what
        `joblib.parallel_config` says. With one, nothing is started or pickled.

    Examples
    --------
    >>> from functools import partial
    >>> list(parallel_map(partial(pow, 2), [1, 2, 3, 4]))
    [2, 4, 8, 16]

    """
    if count_workers(n_jobs) == 1:
        yield from map(function, items)
        return
    task, enough = _pack(function), Event()
    done, losses = 0, 0
    outcomes = _run(task, items, n_jobs, enough)
    while done < len(items):
        try:
            result, error = next(outcomes)
        except Exception as loss:  # errors of the function are outcomes: this one is of the workers
            losses += 1
            if losses > RETRIES:
                raise HornbookError(
                    f"workers failed {losses} times in a row at item {done} of {len(items)} "
                    f"({type(loss).__name__}: {loss}); if memory is short use fewer workers, or n_jobs=1"
                ) from loss
            outcomes = _run(task, items[done:], n_jobs, enough)
            continue
        if error is not None:
            _abort(outcomes)
            raise error
        done, losses = done + 1, 0
        try:
            yield result
        except GeneratorExit:
            enough.set()
            with contextlib.suppress(Exception):  # nobody asks for these results
                deque(outcomes, maxlen=0)
            raise


def count_workers(n_jobs: int | None) -> int:
    """The number of workers that `parallel_map` gives work to; one is this process."""
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def _run(task: Any, items: Sequence[Any], n_jobs: int | None, enough: Event) -> Generator[Outcome]:
    """The outcomes of the items in order, until there are enough or a worker fails."""
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    streams = get_active_backend()[0].supports_return_generator
    size = len(items) if streams else ROUND * count_workers(n_jobs)
    with Parallel(n_jobs, return_as="generator" if streams else "list", batch_size=1) as parallel:
        for start in range(0, len(items), size):
            wanted = takewhile(lambda _: not enough.is_set(), items[start : start + size])
            yield from parallel(delayed(_attempt)(task, item) for item in wanted)
            if enough.is_set():
                return


def _abort(outcomes: Generator[Outcome]) -> None:
    """End what is running, with its workers."""
    with warnings.catch_warnings():  # joblib warns of results that nobody asks for
        warnings.simplefilter("ignore")
        outcomes.close()


def _attempt(task: Any, item: Any) -> Outcome:
    """Call the function on a worker, which gives no work to workers of its own."""
    from joblib import parallel_config

    try:
        with parallel_config("sequential"):
            return _unpack(task)(item), None
    except Exception as error:
        return None, _make_portable(error)


def _pack(function: Callable[..., Any]) -> Any:
    """The function as workers of the active backend get it: as it is for threads, else pickled.

    It is pickled into an array, which joblib shares between processes when it is large.
    """
    import cloudpickle
    from joblib.parallel import get_active_backend

    if getattr(get_active_backend()[0], "supports_sharedmem", False):
        return function
    try:
        return np.frombuffer(cloudpickle.dumps(function), np.uint8)
    except Exception as error:  # whatever an object raises when it is not meant to travel
        raise HornbookError(f"the work cannot be sent to other processes ({error}); use n_jobs=1") from error


def _unpack(task: Any) -> Callable[..., Any]:
    return _load(task.tobytes()) if isinstance(task, np.ndarray) else task  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _load(pickled: bytes) -> Any:
    return pickle.loads(pickled)


def _make_portable(error: Exception) -> Exception:
    """The error with a note of where it was raised; its text alone if it cannot be pickled."""
    import cloudpickle

    note = traceback.format_exc()
    try:
        pickle.loads(cloudpickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(note)
    return error
