"""One function over many chunks: in this process, on its cores, or on a cluster, with one result.

joblib does the work. `n_jobs` says how many processes share it; inside
`joblib.parallel_config("dask")` or `joblib.parallel_config("ray", n_jobs=…)` the workers of that
cluster do. A chunk carries what decides its result, a seed above all, so it does not matter who
computes it, when, or how often.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from itertools import islice
from typing import Any, Generic, TypeVar

from hornbook.broadcast import fetched, placed
from hornbook.logic.errors import HornbookError

Item = TypeVar("Item")
Result = TypeVar("Result")

RETRIES = 3
"""So many times in a row may workers be lost before any chunk is finished."""

WAVE = 4
"""Chunks a worker is given at a time where a backend hands over results only all together."""


def mapped(
    work: Callable[..., Result],
    items: Iterable[Item],
    *,
    shared: tuple[Any, ...] = (),
    n_jobs: int | None = None,
    until: Callable[[Result], bool] | None = None,
    abandon: bool = False,
) -> Generator[Result]:
    """The results `work(*shared, item)` in the order of the items, as they become known.

    They do not depend on the number of workers. What a lost worker was doing is done again.

    Parameters
    ----------
    work
        A function that gives the same result whenever and wherever it is called.
    items
        What differs from chunk to chunk; small, since it travels with each.
    shared
        What all chunks need, such as a model. Each of these travels to a worker once, and
        stays there for later calls. A worker must not change it.
    n_jobs
        How many processes, -1 for as many as there are cores. None is one, or what
        `joblib.parallel_config` says. Where one is enough, nothing is started or pickled.
    until
        The first result for which this holds is the last one; chunks that have not begun by
        then never do.
    abandon
        Whether chunks that still run then are killed with their workers. Otherwise they
        finish first, which is better where they are short: workers live on.

    Examples
    --------
    >>> list(mapped(pow, [1, 2, 3, 4], shared=(2,)))
    [2, 4, 8, 16]
    >>> list(mapped(pow, [1, 2, 3, 4], shared=(2,), until=lambda power: power > 5))
    [2, 4, 8]

    """
    last = until or (lambda result: False)
    if workers(n_jobs) == 1:
        return _one_by_one(work, items, shared, last)
    return _side_by_side(work, items, shared, n_jobs, last, abandon)


def workers(n_jobs: int | None) -> int:
    """How many workers `mapped` would give work to; one is this process."""
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def _one_by_one(
    work: Callable[..., Result],
    items: Iterable[Item],
    shared: tuple[Any, ...],
    last: Callable[[Result], bool],
) -> Generator[Result]:
    for item in items:
        result = work(*shared, item)
        yield result
        if last(result):
            return


def _side_by_side(
    work: Callable[..., Result],
    items: Iterable[Item],
    shared: tuple[Any, ...],
    n_jobs: int | None,
    last: Callable[[Result], bool],
    abandon: bool,
) -> Generator[Result]:
    chunks = _Chunks(items)
    results: dict[int, Result] = {}
    wanted, end, losses = 0, math.inf, 0
    while True:
        finished = _finished(work, chunks, shared, n_jobs)
        try:
            for number, result in finished:
                losses = 0
                chunks.finish(number)
                results[number] = result
                if last(result):
                    end = min(end, number)
                    chunks.stopped = True
                while wanted in results and wanted < end:
                    yield results.pop(wanted)
                    wanted += 1
                if abandon and wanted == end:
                    break
            break
        except _losses() as error:
            losses += 1
            if losses > RETRIES:
                raise HornbookError(
                    f"workers were lost {losses} times in a row, with chunk {wanted} not yet computed; "
                    "do chunks need more memory than there is?"
                ) from error
            chunks.begin_again()
        finally:
            with warnings.catch_warnings():  # joblib warns of results that nobody wants any more
                warnings.simplefilter("ignore")
                finished.close()
    if wanted == end:
        yield results[wanted]


class _Chunks(Generic[Item]):
    """Numbered items, for as long as anyone wants more of them; after a loss, unfinished ones first."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.fresh = enumerate(items)
        self.pending: dict[int, Item] = {}
        self.again: deque[tuple[int, Item]] = deque()
        self.stopped = False

    def __iter__(self) -> Iterator[tuple[int, Item]]:
        while self.again or not self.stopped:
            try:
                number, item = self.again.popleft() if self.again else next(self.fresh)
            except StopIteration:
                return
            self.pending[number] = item
            yield number, item

    def finish(self, number: int) -> None:
        del self.pending[number]

    def begin_again(self) -> None:
        self.again = deque(sorted(self.pending.items(), key=lambda chunk: chunk[0]))


def _finished(
    work: Callable[..., Result], chunks: _Chunks[Item], shared: tuple[Any, ...], n_jobs: int | None
) -> Generator[tuple[int, Result]]:
    """Numbers and results of chunks, in the order in which they are finished."""
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    checksums, places = (
        zip(*(placed(value, backend) for value in shared), strict=True) if shared else ((), ())
    )
    tasks = (delayed(_on_worker)(work, checksums, number, item, *places) for number, item in chunks)
    if backend.supports_return_generator:
        yield from Parallel(n_jobs, return_as="generator_unordered", batch_size=1)(tasks)
        return
    with Parallel(n_jobs, batch_size=1, **_options(backend)) as pool:
        while wave := list(islice(tasks, WAVE * workers(n_jobs))):
            yield from pool(wave)


def _on_worker(
    work: Callable[..., Result], checksums: tuple[str, ...], number: int, item: Any, *places: Any
) -> tuple[int, Result]:
    return number, work(*map(fetched, checksums, places), item)


def _options(backend: Any) -> dict[str, Any]:
    """Let Ray replace a lost worker and repeat what it was doing; others know no options."""
    if not type(backend).__module__.startswith("ray."):
        return {}
    again = {"max_restarts": RETRIES, "max_task_retries": RETRIES}
    return {"ray_remote_args": again | (backend.ray_remote_args or {})}


def _losses() -> tuple[type[BaseException], ...]:
    """The errors that say that a worker is gone; none of them comes from the work itself."""
    lost: list[type[BaseException]] = [BrokenExecutor]
    if "distributed" in sys.modules:
        from distributed.client import FutureCancelledError

        lost.append(FutureCancelledError)
    if "ray" in sys.modules:
        from ray.exceptions import ObjectLostError, RayActorError, WorkerCrashedError

        lost += [ObjectLostError, RayActorError, WorkerCrashedError]
    return tuple(lost)
