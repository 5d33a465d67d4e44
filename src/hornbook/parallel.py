"""Apply one function to many items, in processes of this machine or on a cluster, through joblib."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from threading import Thread
from typing import TypeVar

from hornbook.errors import HornbookError

Item = TypeVar("Item")
Result = TypeVar("Result")

WATCH_INTERVAL = 0.5
"""Seconds between a worker's looks at its parent."""


def parallel_map(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None
) -> Generator[Result]:
    """Yield `function(item)` for each item, in order, as soon as results are known.

    Parameters
    ----------
    function
        The function. It is pickled with its bound arguments, such as the model in `partial(judge, model)`.
    items
        The arguments.
    n_jobs
        The number of processes; -1 is one per core. None is one process, or the workers of
        `joblib.parallel_config`, whose Ray backend gives all results at the end.

    Examples
    --------
    >>> from functools import partial
    >>> list(parallel_map(partial(pow, 2), [1, 2, 3, 4]))
    [2, 4, 8, 16]

    """
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    streams = get_active_backend()[0].supports_return_generator
    parallel = Parallel(n_jobs, return_as="generator" if streams else "list")
    try:
        yield from parallel(delayed(_work)(function, item, os.getpid()) for item in items)
    except BrokenProcessPool as loss:
        raise HornbookError(
            "a worker process was killed; run the same again, which goes on with what is saved, and if "
            "memory is short with fewer workers"
        ) from loss


def _work(function: Callable[[Item], Result], item: Item, parent: int) -> Result:
    """Apply the function, in a worker that ends with its parent."""
    if os.getppid() == parent:
        _end_with(parent)
    return function(item)


@cache
def _end_with(parent: int) -> None:
    """End this process within a second of its parent, however that ends: a killed one tells nobody."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_INTERVAL)
        os._exit(1)

    Thread(target=watch, daemon=True).start()
