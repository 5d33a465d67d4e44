"""Processes of this machine, each apart from the others: one that dies takes nobody's work with it.

joblib's own pool breaks as a whole when one of its processes is lost. How processes are started is
left to it: they are new ones, which run neither the user's script nor a copy of this process.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import math
import os
import pickle
import shutil
import sys
import tempfile
import threading
import traceback
import warnings
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Hashable, Iterable
from concurrent.futures import BrokenExecutor
from functools import cache, partial
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Generic, TypeVar

from hornbook.errors import HornbookError

THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"
"""Where libraries look how many threads they may start."""

IDLE = 300.0
"""Seconds without work after which a process ends."""


class Lost(Exception):
    """A process ended before its work did."""


class Process:
    """A process that is given work, one piece after another, and keeps what it has imported."""

    def __init__(self, environment: dict[str, str]) -> None:
        from joblib.externals.loky.backend import get_context

        context = get_context("loky")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), env=environment)
        self._process.start()
        theirs.close()

    @property
    def lives(self) -> bool:
        """Whether it can be given work."""
        return bool(self._process.is_alive())

    def begin(self, work: Callable[..., Any], *arguments: Any) -> None:
        """Give it work. Its connection is ready when that is done, or the process is lost."""
        import cloudpickle

        with contextlib.suppress(OSError):  # lost already, as `result` will tell
            self.connection.send_bytes(cloudpickle.dumps((work, arguments)))

    def result(self) -> Any:
        """What came of the work; raises what it raised, or `Lost`."""
        try:
            answer = self.connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise Lost(f"process {self._process.pid} is gone") from error
        value, failure = pickle.loads(answer)
        if failure is not None:
            raise failure
        return value

    def kill(self) -> None:
        """End it, whatever it is doing."""
        self._process.terminate()
        self._process.join()
        self.connection.close()


class Processes:
    """So many processes side by side, started when they are first needed and kept for later calls.

    Parameters
    ----------
    count
        How many.
    threads
        How many threads each may start. By default what the environment says, or its share of the
        cores.

    """

    def __init__(self, count: int, threads: int | None = None) -> None:
        share = str(threads or max(1, (os.cpu_count() or 1) // count))
        self.environment = {name: share if threads else os.environ.get(name, share) for name in THREADS}
        self._started: dict[int, Process] = {}
        atexit.register(self.end)

    def __getitem__(self, number: int) -> Process:
        """One of them, alive."""
        if number not in self._started or not self._started[number].lives:
            self._started[number] = Process(self.environment)
        return self._started[number]

    def end(self) -> None:
        """Kill all."""
        while self._started:
            self._started.popitem()[1].kill()


_KEPT: dict[tuple[int, int | None], Processes] = {}


def kept(count: int, threads: int | None = None) -> Processes:
    """The processes of earlier calls, with what they have imported and been given, or new ones."""
    if (count, threads) not in _KEPT:
        _KEPT[count, threads] = Processes(count, threads)
    return _KEPT[count, threads]


def _serve(connection: Any) -> None:
    """Do what comes, until nothing does or nobody is there to ask for it."""
    import cloudpickle

    with contextlib.suppress(EOFError, OSError):
        while connection.poll(IDLE):
            asked = connection.recv_bytes()
            value, failure = None, None
            try:
                work, arguments = pickle.loads(asked)
                value = work(*arguments)
            except Exception as error:
                error.add_note(traceback.format_exc())
                failure = error
            connection.send_bytes(_packed(cloudpickle.dumps, value, failure))


def _packed(dumps: Callable[[Any], bytes], value: Any, failure: Exception | None) -> bytes:
    try:
        return dumps((value, failure))
    except Exception as error:  # what cannot travel is at least named
        return dumps((None, RuntimeError(f"{failure or type(value)!r} cannot be sent back: {error}")))


KEEP = 16
"""So many objects are kept, here and in each worker; the one used longest ago goes first."""

_LOCK = threading.RLock()
_FILES: OrderedDict[str, Path] = OrderedDict()
_REFERENCES: OrderedDict[Hashable, Any] = OrderedDict()
_FETCHED: OrderedDict[str, Any] = OrderedDict()


def placed(value: Any, backend: Any) -> tuple[str, Any]:
    """The checksum of an object, and where workers of a joblib backend find it.

    The place is bytes, a function that returns them, or a Dask future, which becomes bytes on
    its way to a worker. An object that was placed before, and is still there, is not placed
    again. Threads have no need of a place.
    """
    import cloudpickle

    if getattr(backend, "supports_sharedmem", False):
        return "", value
    try:
        pickled = cloudpickle.dumps(value)
    except Exception as error:  # whatever an object raises when it is not meant to travel
        raise HornbookError(
            f"{type(value).__name__} cannot be sent to other processes ({error}); use n_jobs=1"
        ) from error
    checksum = hashlib.sha256(pickled).hexdigest()
    if hasattr(backend, "client"):
        return checksum, _in_dask(backend.client, checksum, pickled)
    if type(backend).__module__.startswith("ray."):
        return checksum, _in_ray(checksum, pickled)
    if type(backend).__module__.startswith("joblib."):
        return checksum, _in_file(checksum, pickled)
    return checksum, pickled


def fetched(checksum: str, place: Any) -> Any:
    """The object with this checksum, unpickled in this process only once."""
    import cloudpickle

    if not checksum:
        return place
    with _LOCK:
        if checksum not in _FETCHED:
            # joblib does the work here if a cluster has but one worker left, with futures as they are
            fetch = getattr(place, "result", place)
            _FETCHED[checksum] = cloudpickle.loads(fetch() if callable(fetch) else fetch)
        return _used(_FETCHED, checksum)


def _in_file(checksum: str, pickled: bytes) -> Callable[[], bytes]:
    """A file on this machine."""
    path = _folder() / checksum
    with _LOCK:
        if checksum not in _FILES:
            path.write_bytes(pickled)
            _FILES[checksum] = path
        _used(_FILES, checksum, evict=lambda file: file.unlink(missing_ok=True))
    return path.read_bytes


def _in_dask(client: Any, checksum: str, pickled: bytes) -> Any:
    """The memory of every worker of a Dask cluster."""
    key = (client.id, checksum)
    with _LOCK:
        if key not in _REFERENCES or _REFERENCES[key].status != "finished":
            # by name a lost value would be taken for one that is there
            _REFERENCES[key] = client.scatter(pickled, broadcast=True, hash=False)
        return _used(_REFERENCES, key)


def _in_ray(checksum: str, pickled: bytes) -> Callable[[], Any]:
    """The object store of a Ray cluster, which a machine of it reads from once."""
    import ray

    key = (ray.get_runtime_context().get_job_id(), checksum)
    with _LOCK:
        if key not in _REFERENCES:
            _REFERENCES[key] = ray.put(pickled)
        return partial(ray.get, _used(_REFERENCES, key))


def _used(kept: OrderedDict[Any, Any], key: Hashable, evict: Callable[[Any], object] | None = None) -> Any:
    """The value of a key, which becomes the last to go; the first goes if there are too many."""
    kept.move_to_end(key)
    while len(kept) > KEEP:
        _, gone = kept.popitem(last=False)
        if evict is not None:
            evict(gone)
    return kept[key]


@cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="hornbook-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


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
