"""One map, whoever does the work: the same results in order, after losses too, and no work in vain.

Every law holds in this process, on its cores and on clusters. A cluster's laws are one test,
since it takes seconds to start.
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
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joblib
import numpy as np
import pytest
from joblib.parallel import get_active_backend

from hornbook.distributions import Random
from hornbook.errors import HornbookError
from hornbook.logic import HornTheory, Rule, random_theory
from hornbook.oracles import Sampling, sampling
from hornbook.parallel import KEEP, RETRIES, mapped, placed, workers

CHUNKS = 12


class Note:
    """Lines that any process can add and this one reads."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, line: object) -> None:
        with self.path.open("a") as file:
            file.write(f"{line}\n")

    @property
    def lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []


class Model:
    """An object that notes in which process it is unpickled."""

    def __init__(self, note: Note) -> None:
        self.note = note
        self.weights = bytes(1 << 20)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.note.add(os.getpid())

    def __call__(self, item: int) -> int:
        return item * item + len(self.weights)


def judge(model: Model, item: int) -> tuple[int, int]:
    return model(item), os.getpid()


def die_once(note: Note, victim: int, item: int) -> int:
    note.add(item)
    time.sleep(0.02)
    if item == victim and note.lines.count(str(item)) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return item * item


def slow_at_first(note: Note, item: int) -> int:
    note.add(item)
    time.sleep(0.3 if item == 1 else 0.01)
    return item


def fail(item: int) -> int:
    if item == 3:
        raise HornbookError("chunk 3 makes no sense")
    return item


def obeys_the_laws(
    folder: Path, n_jobs: int | None, ready: Callable[[], object] = lambda: None, beside: int = 0
) -> None:
    """Check all laws on what joblib has active.

    `ready` returns when all workers are there; `beside` says how many finished chunks may be lost with
    a worker that still had their results.
    """
    unpickled = Note(folder / "unpickled")
    model = Model(unpickled)
    pids = set()
    for _ in range(2):  # workers outlive a call
        found = list(mapped(judge, range(CHUNKS), shared=(model,), n_jobs=n_jobs))
        assert [answer for answer, _ in found] == [model(item) for item in range(CHUNKS)]
        pids |= {pid for _, pid in found}
    by_process = Counter(map(int, unpickled.lines))
    assert pids <= set(by_process) and set(by_process.values()) == {1}  # once a worker, not once a chunk
    assert os.getpid() not in by_process

    begun = Note(folder / "killed")
    found = list(mapped(die_once, range(CHUNKS), shared=(begun, 4), n_jobs=n_jobs))
    assert found == [item * item for item in range(CHUNKS)]
    again = Counter(map(int, begun.lines))
    assert again[4] == 2 and set(again) == set(range(CHUNKS))
    assert again.total() <= CHUNKS + 1 + beside

    ready()
    begun = Note(folder / "until")
    until = {1, 7}.__contains__
    found = list(mapped(slow_at_first, range(500), shared=(begun,), n_jobs=n_jobs, until=until))
    assert found == [0, 1]  # the seventh is found earlier, the first counts
    assert len(begun.lines) < 60  # it was known long before the rest began

    with pytest.raises(HornbookError, match="chunk 3 makes no sense"):
        list(mapped(fail, range(CHUNKS), n_jobs=n_jobs))

    assert list(mapped(lambda item: workers(2), range(4), n_jobs=n_jobs)) == 4 * [1]

    with joblib.parallel_config("sequential"):
        alone = query(n_jobs=1)
    assert query(n_jobs) == alone and alone.at[1] > 2


def query(n_jobs: int | None) -> Any:
    """A sampling query whose counterexample is in one of the later chunks."""
    theory = random_theory(12, 5, (2, 3), np.random.default_rng(4))
    wrong = theory | HornTheory(theory.vocabulary, [Rule({0, 1, 2, 3, 4, 6}, 5)])
    return Sampling(theory.satisfied_by, Random(theory.vocabulary), 1 << 14, seed=7, n_jobs=n_jobs)(wrong)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "SAMPLING_CHUNK", 256)


def test_one_process_needs_no_pickling_and_begins_nothing_it_does_not_need() -> None:
    asked = []

    def work(lock: Any, item: int) -> int:
        with lock:
            asked.append(item)
        return item

    results = mapped(work, iter(range(9)), shared=(threading.Lock(),), until=lambda item: item == 3)
    assert next(results) == 0 and asked == [0]
    assert list(results) == [1, 2, 3] and asked == [0, 1, 2, 3]
    assert list(mapped(work, [], shared=(threading.Lock(),))) == []


def test_threads_share_what_they_need() -> None:
    with joblib.parallel_config("threading", n_jobs=3):
        lock = threading.Lock()
        found = list(mapped(lambda shared, item: (shared is lock, item), range(CHUNKS), shared=(lock,)))
    assert found == [(True, item) for item in range(CHUNKS)]


def test_what_cannot_travel_is_named() -> None:
    with pytest.raises(HornbookError, match=r"lock cannot be sent to other processes .* use n_jobs=1"):
        list(mapped(judge, range(3), shared=(threading.Lock(),), n_jobs=2))


def test_many_objects_come_and_go_on_one_machine_beside_a_cluster() -> None:
    class Client:
        id = "a cluster"

        def scatter(self, value: bytes, **options: Any) -> object:
            return object()

    placed("in the cluster", SimpleNamespace(client=Client()))
    backend, _ = get_active_backend(prefer="processes")
    places = [placed(number, backend)[1] for number in range(KEEP + 1)]
    with pytest.raises(FileNotFoundError):
        places[0]()
    assert all(place() for place in places[1:])


def test_what_goes_wrong_elsewhere_is_told_here() -> None:
    with pytest.raises(HornbookError, match="chunk 3 makes no sense") as told:
        list(mapped(fail, range(CHUNKS), n_jobs=2))
    assert "in fail" in "".join(told.value.__notes__)  # where it was raised, over there
    with pytest.raises(RuntimeError, match=r"cannot be sent back: .*lock"):
        list(mapped(lambda item: threading.Lock(), range(3), n_jobs=2))
    assert list(mapped(abs, [-1, -2], n_jobs=2)) == [1, 2]  # and the processes go on


def test_work_that_kills_its_workers_is_given_up() -> None:
    def work(item: int) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return item

    with pytest.raises(HornbookError, match=rf"workers were lost {RETRIES + 1} times in a row, with chunk 0"):
        list(mapped(work, range(CHUNKS), n_jobs=2))


def test_abandoned_chunks_are_not_waited_for() -> None:
    def work(item: int) -> int:
        time.sleep(30 * item)
        return item

    start = time.perf_counter()
    assert list(mapped(work, range(4), n_jobs=2, until=lambda item: True, abandon=True)) == [0]
    assert time.perf_counter() - start < 20


def test_results_nobody_asks_for_stop_the_work() -> None:
    results = mapped(judge, range(1000), shared=(abs,), n_jobs=2)
    assert next(results)[0] == 0
    results.close()
    assert [answer for answer, _ in mapped(judge, range(3), shared=(abs,), n_jobs=2)] == [0, 1, 2]


def test_cores(tmp_path: Path) -> None:
    obeys_the_laws(tmp_path, n_jobs=2)


def test_a_dask_cluster(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):
        obeys_the_laws(tmp_path, n_jobs=None, ready=lambda: client.wait_for_workers(2), beside=3)


def test_a_ray_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
