"""A whole extraction of a torch model by queries: seconds and shares of its stages.

    python benchmarks/stages.py [--device cuda] [--pool 131072] [--queries 100] [--rules 60]

The model is a `torch.nn.Sequential` over 102 pairs of variables that rejects what breaks one of some rules
with bodies of 5, but for random units beside them, so that it is not Horn. Stages are timed one after
another: nothing is drawn ahead, and a GPU is waited for where a stage ends. With a device there are three
runs more: with the pool on the CPU, with the pool there, and as `extract` chooses by the size of a pool.
Seconds are a clock's where a GPU takes part, and else the processor's. It needs NumPy and PyTorch alone,
so it runs where nothing is installed: PYTHONPATH=src.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import wraps
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from hornbook.distributions import Random
from hornbook.learners import Settings, extract
from hornbook.learners.extract import MIN_DEVICE_POOL
from hornbook.logic import BOTTOM, Vocabulary
from hornbook.models import as_predictor
from hornbook.oracles import Judge
from hornbook.queries import Budget

PAIRS, BODY, NOISE, NOISE_UNITS = 102, 5, 0.02, 32
VOCABULARY = Vocabulary.with_duals(f"v{i}" for i in range(PAIRS))

STAGES = {
    "drawing": (
        "oracles.sampling.draw_on",
        "learners.extract.draw_on",
        "distributions.protocol.draw_keyed",
    ),
    "closing": ("logic.HornTheory.satisfied_by",),
    "counting": (
        "learners.pool.Pool.add",
        "learners.pool.Pool.missed_positions",
        *(f"learners.items.LabelledItems.{name}" for name in ("meeting", "open_items", "set_closed")),
        *(
            f"learners.items.OpenItems.{name}"
            for name in ("counts", "counts_without", "neighbours", "having", "lacking_at_most")
        ),
        *(
            f"learners.coverage.{name}"
            for name in ("count_sole", "count_in_rows", "_in_any_row", "_find_meeting", "_drop_unmet")
        ),
    ),
    "searching": (
        "learners.prime.HypothesisUpdater.__call__",
        "learners.prime.HypothesisUpdater.choose_final_rules",
    ),
}
"""The functions of each stage; a stage within another one is charged for itself."""


def make_model(rules: int, rng: np.random.Generator) -> torch.nn.Sequential:
    """A network with a hidden unit for each rule, positive where all variables of the body are true.

    An unknown value is 0.5, so half of the weights of a random unit is what it gets from unknown values.
    """
    bodies = np.zeros((rules, 2 * PAIRS), np.float32)
    for row in bodies:
        row[rng.permutation(PAIRS)[:BODY] + PAIRS * rng.integers(0, 2, BODY)] = 1
    noise = rng.normal(0, NOISE, (NOISE_UNITS, 2 * PAIRS))
    hidden = torch.nn.Linear(2 * PAIRS, rules + NOISE_UNITS)
    output = torch.nn.Linear(rules + NOISE_UNITS, 1)
    with torch.no_grad():
        hidden.weight[:] = torch.from_numpy(np.concatenate([bodies, noise]))
        hidden.bias[:rules], hidden.bias[rules:] = 0.25 - BODY, -hidden.weight[rules:].sum(1) / 2
        output.weight[0, :rules], output.weight[0, rules::2], output.weight[0, rules + 1 :: 2] = -8, 1, -1
        output.bias[:] = 1
    return torch.nn.Sequential(hidden, torch.nn.ReLU(), output)


@dataclass
class Stopwatch:
    """Seconds of each stage, without those of the stages within it."""

    clock: Callable[[], float]
    seconds: Counter[str] = field(default_factory=Counter)
    current: list[str] = field(default_factory=lambda: ["the rest"])
    since: float = 0.0

    def charge(self) -> None:
        """Charge the seconds since the last time to the current stage."""
        if self.clock is time.perf_counter:
            torch.cuda.synchronize()
        now = self.clock()
        self.seconds[self.current[-1]] += now - self.since
        self.since = now

    def timed(self, stage: str, job: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose calls are charged to a stage."""

        @wraps(job)
        def run(*args: Any, **kwargs: Any) -> Any:
            self.charge()
            self.current.append(stage)
            try:
                return job(*args, **kwargs)
            finally:
                self.charge()
                self.current.pop()

        return run


def run_in_order(job: Callable[[Any], Any], items: Iterable[Any], pays: object = None) -> Iterator[Any]:
    """The results of a job, each computed when it is wanted, in the place of `prefetch`."""
    yield from map(job, items)


def find_owner(path: str) -> tuple[Any, str]:
    """The module or class that a dotted path below `hornbook` leads to, and the name of its attribute."""
    *modules, name = path.split(".")
    classes = [part for part in modules if part[0].isupper()]
    owner: Any = import_module(".".join(["hornbook", *modules[: len(modules) - len(classes)]]))
    for part in classes:
        owner = getattr(owner, part)
    return owner, name


def time_stages(
    model: torch.nn.Module,
    settings: Settings,
    clock: Callable[[], float],
    device: str | None,
    min_device_pool: int,
) -> Counter[str]:
    """Seconds of each stage of one extraction, whose result is printed."""
    watch, judge = Stopwatch(clock), Judge(as_predictor(model, encoding="half"))
    with ExitStack() as patches:
        patches.enter_context(patch("hornbook.oracles.sampling.prefetch", run_in_order))
        owner, name = find_owner("learners.extract.MIN_DEVICE_POOL")
        patches.enter_context(patch.object(owner, name, min_device_pool))
        for stage, paths in STAGES.items():
            for owner, name in map(find_owner, paths):
                patches.enter_context(patch.object(owner, name, watch.timed(stage, getattr(owner, name))))
        watch.since = clock()
        found = extract(
            watch.timed("model", judge),
            Random(VOCABULARY),
            settings,
            margin=watch.timed("model", judge.margin),
            heads=(BOTTOM,),
            device=device,
        )
        watch.charge()
    print(
        f"  {len(found.theory) - PAIRS} rules, {found.stop_reason}, {found.membership_queries:,} labels;",
        end=" ",
    )
    print(f"differs from the model on {found.disagreement}")
    return watch.seconds


def main() -> None:
    """Print a column of seconds and shares for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", help="a device of PyTorch's; without one, the CPU through NumPy")
    parser.add_argument("--pool", type=int, default=1 << 17, help="samples of the pool")
    parser.add_argument("--samples", type=int, default=1 << 20, help="the most samples of a query")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--rules", type=int, default=60)
    args = parser.parse_args()
    settings = Settings(
        budget=Budget(equivalence_queries=args.queries), size=args.samples, pool=args.pool, coherence=0
    )
    cuda = args.device == "cuda"
    name = torch.cuda.get_device_name() if cuda else f"CPU, {torch.get_num_threads()} threads"
    print(f"{name}, PyTorch {torch.__version__}: pool of {args.pool:,}, {args.samples:,} samples a query")
    clock = time.perf_counter if cuda else time.process_time
    ways = {"CPU": (None, MIN_DEVICE_POOL)}
    if args.device is not None:
        ways |= {
            "pool on the CPU": (args.device, sys.maxsize),
            "pool there": (args.device, 0),
            "by its size": (args.device, MIN_DEVICE_POOL),
        }
    few = replace(settings, budget=Budget(equivalence_queries=2), pool=1 << 15)
    for devices in ways.values():  # warms up
        time_stages(make_model(3, np.random.default_rng(1)), few, clock, *devices)
    columns = {}
    for way, devices in ways.items():
        print(f"{way}:")
        columns[way] = time_stages(
            make_model(args.rules, np.random.default_rng(0)), settings, clock, *devices
        )
    print(f"{'seconds (share)':16}" + "".join(f"{way:>20}" for way in columns))
    for stage in (*STAGES, "model", "the rest"):
        cells = (
            f"{each[stage]:9.2f} ({100 * each[stage] / each.total():4.1f} %)" for each in columns.values()
        )
        print(f"{stage:16}" + "".join(f"{cell:>20}" for cell in cells))
    print(f"{'all':16}" + "".join(f"{each.total():20.2f}" for each in columns.values()))


if __name__ == "__main__":
    main()
