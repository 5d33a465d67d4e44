"""One map, whoever does the work: the same results in order, and errors in their place.

Clusters take seconds to start; their tests are run by `-m cluster`.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import joblib
import pytest
from parallel_work import die, fail, judge

from hornbook.errors import HornbookError
from hornbook.paper.stages import parallel_map


def obeys_the_laws(n_jobs: int | None) -> None:
    """Check that what joblib has active does the work elsewhere, with the results of one process."""
    weights = bytes(1 << 20)
    answers, pids = zip(*parallel_map(partial(judge, weights), range(12), n_jobs), strict=True)
    assert list(answers) == [judge(weights, item)[0] for item in range(12)]
    assert os.getpid() not in pids
    with pytest.raises(HornbookError, match="item 3 makes no sense"):
        list(parallel_map(fail, range(12), n_jobs))
    assert list(parallel_map(abs, [-1, -2], n_jobs)) == [1, 2]  # and the next call works


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


def test_parallel_map_cores() -> None:
    obeys_the_laws(n_jobs=2)


def test_parallel_map_a_lost_worker_is_told() -> None:
    with pytest.raises(HornbookError, match="a worker process was killed"):
        list(parallel_map(die, range(12), n_jobs=2))
    assert list(parallel_map(abs, [-1, -2], n_jobs=2)) == [1, 2]


KILLED = """
from parallel_work import wait_with_pid
from hornbook.paper.stages import parallel_map
list(parallel_map(wait_with_pid, [{folder!r}] * 2, n_jobs=2))
"""


@pytest.mark.skipif(os.name == "nt", reason="there a process does not learn that its parent is gone")
def test_parallel_map_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    path = os.pathsep.join([*sys.path, str(Path(__file__).parent / "shared")])
    environment = {**os.environ, "PYTHONPATH": path}
    code = KILLED.format(folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.DEVNULL) as parent:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
        workers = [int(path.name) for path in tmp_path.iterdir()]
        assert all(map(is_alive, workers))
        parent.kill()
    wait_until(lambda: not any(map(is_alive, workers)))


def wait_until(holds: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # one that nobody has waited for is no more than a number
    status = Path(f"/proc/{process}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.cluster
def test_parallel_map_dask_cluster() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        obeys_the_laws(n_jobs=None)


@pytest.mark.cluster
def test_parallel_map_ray_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    register_ray()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # so that workers find this module
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="critical")
    try:
        with joblib.parallel_config("ray", n_jobs=2):
            obeys_the_laws(n_jobs=None)
    finally:
        ray.shutdown()
