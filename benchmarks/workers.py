"""The same sampling query and architecture search by one process, two, a Dask and a Ray cluster.

    python benchmarks/workers.py [--samples 4194304] [--nets 240] [--only one cores dask ray]

The query is one of the paper's size and more: 204 paired variables, the paper's network in torch,
a hypothesis of 100 rules with bodies of 18. Network and hypothesis agree everywhere, so that every
chunk is judged. The search trains nets of the paper's grid on the synthetic cohort. Each runs
twice: the second time workers have their imports, except for Ray's, which joblib starts anew. The
answers must be equal to those of one process.
"""

import argparse
import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import joblib
import numpy as np
from rich.console import Console
from rich.table import Table

from hornbook.data import load_dataset
from hornbook.distributions import Random
from hornbook.logic import BOTTOM, HornTheory, Rule, Vocabulary
from hornbook.models import MLP
from hornbook.oracles import Sampling
from hornbook.paper import ModelSelection, Task, grid, score_nets

PAIRS, RULES, BODY = 102, 100, 18
LAYERS = (2 * PAIRS, 32, 16, 8, 16, 32, 1)
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


def sampling_query(samples: int) -> Callable[[int | None], Any]:
    """A query that judges every sample."""
    rng = np.random.default_rng(0)
    vocabulary = Vocabulary.with_duals(f"v{i}" for i in range(PAIRS))
    layers = [(rng.normal(0, 0.1, (out, into)), np.zeros(out)) for into, out in pairwise(LAYERS)]
    layers[-1] = (layers[-1][0], np.full(1, 1e6))
    model = MLP.of(layers, vocabulary)
    choose = lambda: rng.choice(PAIRS, BODY, replace=False) + PAIRS * rng.integers(0, 2, BODY)  # noqa: E731
    rules = HornTheory(vocabulary, (Rule(choose().tolist(), BOTTOM) for _ in range(RULES)))
    return lambda n_jobs: Sampling(model, Random(vocabulary), samples, seed=0, n_jobs=n_jobs)(rules)


def search(nets: int) -> Callable[[int | None], Any]:
    """Trainings of nets of the paper's grid."""
    task = Task.of(load_dataset())
    setting = ModelSelection().validation(task.examples(np.random.default_rng(0)), 0)
    chosen = grid()[:: len(grid()) // nets][:nets]

    def scores(n_jobs: int | None) -> Any:
        outcome = score_nets(chosen, setting, n_jobs=n_jobs).outcome
        return [np.asarray(values).tolist() for values in vars(outcome).values()]

    return scores


def main() -> None:
    """Run all, compare, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=1 << 22)
    parser.add_argument("--nets", type=int, default=240)
    parser.add_argument("--only", nargs="+", default=["one", "cores", "dask", "ray"])
    arguments = parser.parse_args()
    who = {"one": "1 process", "cores": f"{WORKERS} processes"}
    who |= {name: f"{name.title()}, {WORKERS} workers" for name in ("dask", "ray")}
    jobs = {
        "sampling query": (sampling_query(arguments.samples), arguments.samples, "interpretations"),
        "architecture search": (search(arguments.nets), 3 * arguments.nets, "trainings"),
    }
    expected: dict[str, Any] = {}
    shown = Table("job", "who", "seconds", "a second", "first time, s", "equal")
    for name in arguments.only:
        with globals()[name]() as n_jobs:
            for job, (run, count, unit) in jobs.items():
                seconds = []
                for _ in range(2):
                    start = time.perf_counter()
                    found = run(n_jobs)
                    seconds.append(time.perf_counter() - start)
                equal = found == expected.setdefault(job, found)
                rate = f"{count / seconds[1]:,.0f} {unit}"
                print(f"{job}, {who[name]}: {seconds[1]:.2f} s", file=sys.stderr)
                shown.add_row(job, who[name], f"{seconds[1]:.2f}", rate, f"{seconds[0]:.2f}", str(equal))
    console = Console(width=120)
    console.print(shown)
    console.print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
