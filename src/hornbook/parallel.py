"""Apply one function to many items, in processes of this machine or on a cluster, through joblib.

`n_jobs` and `joblib.parallel_config` choose the workers, as for scikit-learn. Results do not depend
on them, and a lost worker costs time only.
"""

from __future__ import annotations

import contextlib
import pickle
import traceback
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

ItemOutcome = tuple[Any, Exception | None]
"""A result and None, or None and the error that was raised."""

MAX_RETRIES = 2
"""Maximum number of retries in a row after workers failed."""

ITEMS_PER_ROUND = 4
"""Number of items for each worker at a time, for backends of joblib that return all results at once."""


def parallel_map(
    function: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None = None
) -> Generator[Result]:
    """Yield `function(item)` for each item, in order, as soon as results are known.

    The results equal those of one process. An error of the function is raised in its place in the
    order, and ends the workers. After the generator is closed no further item is started; those that
    are running are completed, so that the workers stay for the next call.

    Parameters
    ----------
    function
        A function that always gives the same result for an item. It is pickled with its bound
        arguments, such as the model in `partial(judge, model)`, and unpickled once per worker.
    items
        The arguments.
    n_jobs
        The number of processes; -1 is one per core. None is one process, or the workers of
        `joblib.parallel_config`. One process does the work itself, without pickling.

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
            if losses > MAX_RETRIES:
                raise HornbookError(
                    f"workers failed {losses} times in a row at item {done} of {len(items)} "
                    f"({type(loss).__name__}: {loss}); if memory is short use fewer workers, or n_jobs=1"
                ) from loss
            outcomes = _run(task, items[done:], n_jobs, enough)
            continue
        if error is not None:
            _finish(outcomes, enough)
            raise error
        done, losses = done + 1, 0
        try:
            yield result
        except GeneratorExit:
            _finish(outcomes, enough)
            raise


def count_workers(n_jobs: int | None) -> int:
    """The number of workers that `parallel_map` uses; one means this process alone."""
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def _run(task: Any, items: Sequence[Any], n_jobs: int | None, enough: Event) -> Generator[ItemOutcome]:
    """Yield the outcomes of the items in order, until `enough` is set or a worker fails."""
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    streams = get_active_backend()[0].supports_return_generator
    size = len(items) if streams else ITEMS_PER_ROUND * count_workers(n_jobs)
    with Parallel(n_jobs, return_as="generator" if streams else "list", batch_size=1) as parallel:
        for start in range(0, len(items), size):
            wanted = takewhile(lambda _: not enough.is_set(), items[start : start + size])
            yield from parallel(delayed(_attempt)(task, item) for item in wanted)
            if enough.is_set():
                return


def _finish(outcomes: Generator[ItemOutcome], enough: Event) -> None:
    """Begin no further items, and wait for those that have begun: nobody asks for their results."""
    enough.set()
    with contextlib.suppress(Exception):
        deque(outcomes, maxlen=0)


def _attempt(task: Any, item: Any) -> ItemOutcome:
    """Call the function on a worker, without further parallelism inside it."""
    from joblib import parallel_config

    try:
        with parallel_config("sequential"):
            return _unpack(task)(item), None
    except Exception as error:
        return None, _make_portable(error)


def _pack(function: Callable[..., Any]) -> Any:
    """Prepare the function for the active backend: unchanged for threads, pickled for processes.

    It is pickled into an array, which joblib shares between processes if it is large.
    """
    import cloudpickle
    from joblib.parallel import get_active_backend

    if getattr(get_active_backend()[0], "supports_sharedmem", False):
        return function
    try:
        return np.frombuffer(cloudpickle.dumps(function), np.uint8)
    except Exception as error:  # whatever an object raises that cannot be pickled
        raise HornbookError(f"the work cannot be sent to other processes ({error}); use n_jobs=1") from error


def _unpack(task: Any) -> Callable[..., Any]:
    return _load(task.tobytes()) if isinstance(task, np.ndarray) else task  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _load(pickled: bytes) -> Any:
    return pickle.loads(pickled)


def _make_portable(error: Exception) -> Exception:
    """Add the traceback to the error as a note; replace an error that cannot be pickled by its text."""
    import cloudpickle

    note = traceback.format_exc()
    try:
        pickle.loads(cloudpickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(note)
    return error
