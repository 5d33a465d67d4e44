"""One map, whoever does the work: the same results in order, after losses too, and little work in vain.

Every law holds in this process, on its cores and on clusters. A cluster's laws are one test,
since it takes seconds to start, and are run by `-m cluster`.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import joblib
import pytest
from parallel_work import Model, Note, die_once, fail, judge, slow_at_first

from hornbook.errors import HornbookError
from hornbook.parallel import parallel_map

CHUNKS = 12


def obeys_the_laws(folder: Path, n_jobs: int | None, ready: Callable[[], object] = lambda: None) -> None:
    """Check all laws on what joblib has active; `ready` returns when all workers are there."""
    unpickled = Note(folder / "unpickled")
    model = Model(unpickled)
    answers, pids, workers = zip(*parallel_map(partial(judge, model), range(CHUNKS), n_jobs), strict=True)
    assert list(answers) == [model(item) for item in range(CHUNKS)]
    by_process = Counter(map(int, unpickled.lines))
    assert set(pids) == set(by_process) and set(by_process.values()) == {1}  # once a worker, not once a chunk
    assert os.getpid() not in by_process
    assert set(workers) == {1}  # work inside of work has no workers of its own

    begun = Note(folder / "killed")
    found = list(parallel_map(partial(die_once, begun, 4), range(CHUNKS), n_jobs))
    assert found == [item * item for item in range(CHUNKS)]
    times = Counter(map(int, begun.lines))
    assert set(times) == set(range(CHUNKS))
    assert times[4] == 2 and max(times.values()) == 2  # nothing is done more than once again

    ready()
    begun = Note(folder / "closed")
    results = parallel_map(partial(slow_at_first, begun), range(500), n_jobs)
    assert [next(results), next(results)] == [0, 1]
    results.close()
    lines = len(begun.lines)
    assert lines < 500  # not all began, however busy the machine is
    time.sleep(0.1)
    assert len(begun.lines) == lines  # and nothing goes on

    results = parallel_map(fail, range(CHUNKS), n_jobs)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(HornbookError, match="chunk 3 makes no sense") as told:
        next(results)
    assert "in fail" in "".join(told.value.__notes__)  # where it was raised, over there


def test_parallel_map_one_process_needs_no_pickling_and_begins_nothing_it_does_not_need() -> None:
    begun = []
    lock = threading.Lock()

    def work(item: int) -> int:
        with lock:
            begun.append(item)
        return item

    results = parallel_map(work, range(9))
    assert next(results) == 0 and begun == [0]
    assert next(results) == 1 and begun == [0, 1]


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky", "multiprocessing"])
def test_parallel_map_gives_the_same_on_every_backend(backend: str) -> None:
    with joblib.parallel_config(backend, n_jobs=2):
        for count in (0, 1, 5):
            assert list(parallel_map(partial(pow, 3), range(count))) == [3**item for item in range(count)]


def test_parallel_map_threads_share_what_they_need() -> None:
    lock = threading.Lock()
    with joblib.parallel_config("threading", n_jobs=3):
        assert list(parallel_map(lambda item: (lock.locked(), item), range(3))) == [
            (False, item) for item in range(3)
        ]


@pytest.fixture
def one_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hornbook.parallel.MAX_RETRIES", 1)


@pytest.mark.usefixtures("one_retry")
def test_parallel_map_what_cannot_be_sent_is_told() -> None:
    with pytest.raises(HornbookError, match=r"cannot be sent to other processes .*lock.* use n_jobs=1"):
        list(parallel_map(partial(judge, threading.Lock()), range(3), n_jobs=2))
    with pytest.raises(HornbookError, match=r"workers failed .* at item 0 of 2 .*lock"):
        list(parallel_map(lambda item: threading.Lock(), range(2), n_jobs=2))
    assert list(parallel_map(abs, [-1, -2], n_jobs=2)) == [1, 2]  # and the next call works


def test_parallel_map_error_that_cannot_be_sent_is_told_by_its_text() -> None:
    class Odd(Exception):
        def __init__(self, first: int, second: int) -> None:
            super().__init__(f"{first} and {second}")

    def work(item: int) -> int:
        raise Odd(item, 2)

    with pytest.raises(RuntimeError, match="Odd: 0 and 2"):
        list(parallel_map(work, range(3), n_jobs=2))


@pytest.mark.usefixtures("one_retry")
def test_parallel_map_work_that_kills_its_workers_is_given_up() -> None:
    def work(item: int) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return item

    with pytest.raises(HornbookError, match=r"workers failed 2 times in a row at item 0 of 12"):
        list(parallel_map(work, range(CHUNKS), n_jobs=2))


def test_parallel_map_interrupt_does_not_wait_for_workers() -> None:
    def work(item: int) -> int:
        time.sleep(60 * item)
        return item

    results = parallel_map(work, range(4), n_jobs=2)
    assert next(results) == 0
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        next(results)
    assert time.perf_counter() - start < 20
    assert list(parallel_map(abs, [-1, -2], n_jobs=2)) == [1, 2]


def test_parallel_map_workers_live_on_with_what_they_know(tmp_path: Path) -> None:
    unpickled = Note(tmp_path / "unpickled")
    model = Model(unpickled)
    for _ in range(3):
        results = parallel_map(partial(judge, model), range(1000), n_jobs=2)
        assert [next(results)[0] for _ in range(100)] == [model(item) for item in range(100)]
        results.close()
    by_process = Counter(map(int, unpickled.lines))
    assert len(by_process) in (1, 2) and set(by_process.values()) == {1}
    for pid in by_process:
        os.kill(pid, 0)  # would raise if there were no such process


def test_parallel_map_cores(tmp_path: Path) -> None:
    obeys_the_laws(tmp_path, n_jobs=2)


@pytest.mark.cluster
def test_parallel_map_dask_cluster(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):
        obeys_the_laws(tmp_path, n_jobs=None, ready=lambda: client.wait_for_workers(2))


@pytest.mark.cluster
def test_parallel_map_ray_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    register_ray()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # so that workers find this module
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="critical")
    try:
        with joblib.parallel_config("ray", n_jobs=2):
            obeys_the_laws(tmp_path, n_jobs=None)
    finally:
        ray.shutdown()
