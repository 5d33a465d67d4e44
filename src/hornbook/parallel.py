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
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor
from functools import partial
from multiprocessing.connection import wait
from typing import Any, Generic, TypeVar

from hornbook.broadcast import fetched, placed
from hornbook.logic.errors import HornbookError
from hornbook.processes import Lost, Process, kept

Item = TypeVar("Item")
Result = TypeVar("Result")

Call = tuple[Callable[..., tuple[int, Result]], tuple[Any, ...]]
"""What is called with a chunk and further arguments, and these."""

RETRIES = 3
"""So many times in a row may workers be lost before any chunk is finished."""

AHEAD = 2
"""Chunks that a worker of a cluster has, so that it need not wait for the next one."""


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
    wanted, end = 0, math.inf
    while True:
        finished = _finished(work, chunks, shared, n_jobs)
        try:
            for number, result in finished:
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
            chunks.lose(list(chunks.pending), error)
        finally:
            with warnings.catch_warnings():  # joblib warns of results that nobody wants any more
                warnings.simplefilter("ignore")
                finished.close()
    if wanted == end:
        yield results[wanted]


class _Chunks(Generic[Item]):
    """Numbered items, for as long as anyone wants more of them; lost ones first."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.fresh = enumerate(items)
        self.pending: dict[int, Item] = {}
        self.again: deque[tuple[int, Item]] = deque()
        self.stopped = False
        self.losses = 0

    def next(self) -> tuple[int, Item] | None:
        """A chunk that somebody is to compute, or None if there is none now."""
        chunk = self.again.popleft() if self.again else None if self.stopped else next(self.fresh, None)
        if chunk is not None:
            self.pending[chunk[0]] = chunk[1]
        return chunk

    def finish(self, number: int) -> None:
        del self.pending[number]
        self.losses = 0

    def lose(self, numbers: Iterable[int], error: BaseException) -> None:
        """Give out these once more, unless too much was lost already."""
        self.losses += 1
        if self.losses > RETRIES:
            raise HornbookError(
                f"workers were lost {self.losses} times in a row, with chunk {min(self.pending)} not yet "
                "computed; do chunks need more memory than there is?"
            ) from error
        self.again.extend((number, self.pending[number]) for number in sorted(numbers))


def _finished(
    work: Callable[..., Result], chunks: _Chunks[Item], shared: tuple[Any, ...], n_jobs: int | None
) -> Generator[tuple[int, Result]]:
    """Numbers and results of chunks, in the order in which they are finished."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    checksums, places = (
        zip(*(placed(value, backend) for value in shared), strict=True) if shared else ((), ())
    )
    # places are arguments of their own: Dask looks for futures among these alone
    call = partial(_on_worker, work, checksums), places
    if type(backend).__name__ == "LokyBackend":
        threads = getattr(backend, "inner_max_num_threads", None)
        return _by_processes(call, chunks, workers(n_jobs), threads)
    if type(backend).__module__.startswith("ray."):
        return _by_ray(call, chunks, workers(n_jobs))
    return _by_joblib(call, chunks, n_jobs)


def _on_worker(
    work: Callable[..., Result], checksums: tuple[str, ...], chunk: tuple[int, Any], *places: Any
) -> tuple[int, Result]:
    from joblib import parallel_config

    number, item = chunk
    with parallel_config("sequential"):  # work inside of work has no workers of its own
        return number, work(*map(fetched, checksums, places), item)


def _named(function: Callable[..., Result], *arguments: Any) -> Result:
    """A function as one that Ray knows already."""
    return function(*arguments)


def _by_processes(
    call: Call[Result], chunks: _Chunks[Item], count: int, threads: int | None
) -> Generator[tuple[int, Result]]:
    """On processes of this machine; one that is lost costs its chunk only."""
    run, places = call
    processes = kept(count, threads)
    running: dict[Any, tuple[int, Process, int]] = {}

    def begin(slot: int) -> None:
        if (chunk := chunks.next()) is not None:
            process = processes[slot]
            process.begin(run, chunk, *places)
            running[process.connection] = slot, process, chunk[0]

    try:
        for slot in range(count):
            begin(slot)
        while running:
            for connection in wait(list(running)):
                slot, process, number = running.pop(connection)
                try:
                    result = process.result()
                except Lost as error:
                    process.kill()
                    chunks.lose([number], error)
                else:
                    yield result
                begin(slot)
    finally:
        for _, process, _ in running.values():
            process.kill()


def _by_ray(call: Call[Result], chunks: _Chunks[Item], count: int) -> Generator[tuple[int, Result]]:
    """On a Ray cluster, whose workers live on between calls, and which repeats what a lost one did."""
    import ray

    run, places = call
    task = ray.remote(_named).options(max_retries=RETRIES)
    running: list[Any] = []
    try:
        while True:
            while len(running) < AHEAD * count and (chunk := chunks.next()) is not None:
                running.append(task.remote(run, chunk, *places))
            if not running:
                return
            (done, *_), running = ray.wait(running)
            try:
                yield ray.get(done)
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
    finally:
        for reference in running:
            ray.cancel(reference, force=True)


def _by_joblib(
    call: Call[Result], chunks: _Chunks[Item], n_jobs: int | None
) -> Generator[tuple[int, Result]]:
    """On what else joblib knows: threads, or a Dask cluster, which repeats what a lost worker did."""
    from joblib import Parallel, delayed

    run, places = call
    tasks = (delayed(run)(chunk, *places) for chunk in iter(chunks.next, None))
    yield from Parallel(n_jobs, return_as="generator_unordered", batch_size=1)(tasks)


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
