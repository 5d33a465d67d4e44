"""The same architecture search by one process, two, a Dask and a Ray cluster.

    python benchmarks/workers.py [--nets 240] [--only one cores dask ray]

It trains nets of the paper's grid on the synthetic cohort, twice: the second time workers have their
imports, except for Ray's, which joblib starts anew. The scores must equal those of one process.
"""

import argparse
import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import joblib
import numpy as np
from rich.console import Console
from rich.table import Table

from hornbook.paper import ModelSelection, Task, grid, score_nets
from hornbook.tables import load_dataset

WORKERS = 2


@contextlib.contextmanager
def one() -> Iterator[int | None]:
    """The process that asks."""
    yield 1


@contextlib.contextmanager
def cores() -> Iterator[int | None]:
    """Processes of this machine."""
    yield WORKERS


@contextlib.contextmanager
def dask() -> Iterator[int | None]:
    """A cluster of Dask's on this machine."""
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
    cluster = LocalCluster(n_workers=WORKERS, **options)
    with cluster, Client(cluster), joblib.parallel_config("dask"):
        yield None


@contextlib.contextmanager
def ray() -> Iterator[int | None]:
    """A cluster of Ray's on this machine."""
    import ray
    from ray.util.joblib import register_ray

    register_ray()
    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, logging_level="critical")
    try:
        with joblib.parallel_config("ray", n_jobs=WORKERS):
            yield None
    finally:
        ray.shutdown()


def search(nets: int) -> Callable[[int | None], Any]:
    """Trainings of nets of the paper's grid."""
    task = Task.of(load_dataset())
    setting = ModelSelection().validation(task.examples(np.random.default_rng(0)), 0)
    chosen = grid()[:: len(grid()) // nets][:nets]

    def scores(n_jobs: int | None) -> Any:
        scores = score_nets(chosen, setting, n_jobs=n_jobs)
        return [values.tolist() for values in (scores.accuracy, scores.loss)]

    return scores


def main() -> None:
    """Run all, compare, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nets", type=int, default=240)
    parser.add_argument("--only", nargs="+", default=["one", "cores", "dask", "ray"])
    arguments = parser.parse_args()
    who = {"one": "1 process", "cores": f"{WORKERS} processes"}
    who |= {name: f"{name.title()}, {WORKERS} workers" for name in ("dask", "ray")}
    run, expected = search(arguments.nets), None
    shown = Table("who", "seconds", "trainings a second", "first time, s", "equal")
    for name in arguments.only:
        with globals()[name]() as n_jobs:
            seconds = []
            for _ in range(2):
                start = time.perf_counter()
                found = run(n_jobs)
                seconds.append(time.perf_counter() - start)
        expected = found if expected is None else expected
        print(f"{who[name]}: {seconds[1]:.2f} s", file=sys.stderr)
        rate = f"{3 * arguments.nets / seconds[1]:,.0f}"
        shown.add_row(who[name], f"{seconds[1]:.2f}", rate, f"{seconds[0]:.2f}", str(found == expected))
    console = Console(width=120)
    console.print(shown)
    console.print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
