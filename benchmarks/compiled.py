"""The paper's network read by 100 queries: NumPy beside loops compiled by numba, with the same rules.

    python benchmarks/compiled.py [--data hcc-survival.csv] [--seeds 0 1 2] [--protocols paper hard]

The network is 32-16-8-16-32, trained under a protocol of the reproduction. Both ways take turns on each
network; CPU-seconds of compiling, which happens once on a machine, are printed on standard error.
"""

import argparse
import sys
import time
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.table import Table

from hornbook.data import load_dataset
from hornbook.learners import QueryResult, Settings, extract
from hornbook.logic import compiled
from hornbook.models import MLP
from hornbook.paper import PROTOCOLS, Task
from hornbook.paper.published import NETS
from hornbook.paper.settings import PAPER


@dataclass
class Reading:
    """One way to read a network."""

    result: QueryResult
    cpu_seconds: float


def read(task: Task, network: MLP, settings: Settings, by_numba: bool) -> Reading:
    """Rules with prime bodies, by compiled loops or by NumPy."""
    compiled.CompiledLoops.on = by_numba
    worth, compiled.WORTH_COMPILING = compiled.WORTH_COMPILING, 0 if by_numba else 1 << 62
    start = time.process_time()
    found = extract(network, task.mixed, settings, margin=network.log_odds, heads=task.heads)
    compiled.WORTH_COMPILING = worth
    return Reading(found, time.process_time() - start)


def compare(task: Task, seed: int) -> tuple[Reading, Reading | None]:
    """The network of a seed read both ways; None where numba is not installed."""
    network, settings = task.network(NETS[0][0], seed), replace(PAPER.ours, seed=seed)
    by_numpy = read(task, network, settings, by_numba=False)
    if find_spec("numba") is None:
        return by_numpy, None
    by_numba = read(task, network, settings, by_numba=True)
    if by_numba.result.theory.rules != by_numpy.result.theory.rules:
        raise SystemExit(f"seed {seed}: compiled loops found other rules")
    return by_numpy, by_numba


def warm_up(task: Task) -> float:
    """CPU-seconds until all loops are compiled, or loaded."""
    if find_spec("numba") is None:
        return 0.0
    network, few = task.network(NETS[0][0], 0), replace(PAPER.ours, pool=1 << 12, evaluation=1 << 12)
    budget = replace(few.budget, equivalence_queries=3)
    return read(task, network, replace(few, budget=budget), by_numba=True).cpu_seconds


def main() -> None:
    """Print a line a network."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="the HCC file; the synthetic cohort without it")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--protocols", nargs="+", choices=[*PROTOCOLS], default=[*PROTOCOLS])
    arguments = parser.parse_args()
    table = load_dataset("hcc", path=arguments.data) if arguments.data else load_dataset()
    lines = Table(
        "protocol", "network", "rules", "disagreement", "NumPy, CPU-s", "numba, CPU-s", "same rules"
    )
    for protocol in arguments.protocols:
        task = Task.of(table, PROTOCOLS[protocol])
        print(f"compiling or loading the loops: {warm_up(task):.1f} CPU-s", file=sys.stderr)
        for seed in arguments.seeds:
            by_numpy, by_numba = compare(task, seed)
            numba = ("–", "–") if by_numba is None else (f"{by_numba.cpu_seconds:.1f}", "yes")
            found = by_numpy.result
            lines.add_row(
                protocol,
                str(seed),
                str(len(found.rules)),
                f"{100 * found.disagreement.estimate:.2f} %",
                f"{by_numpy.cpu_seconds:.1f}",
                *numba,
            )
    Console().print(lines)


if __name__ == "__main__":
    main()
