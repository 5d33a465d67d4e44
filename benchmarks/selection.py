"""The paper's architecture search on its task: 12,240 trainings, and the choice of a network.

    python benchmarks/selection.py [--data hcc-survival.csv] [--seed 0] [--folder parts/]

Prints the ten best nets by cross-validation, the choice among the fifty best scored again, and
how the chosen network does on each kind of fresh example. Without --data the synthetic cohort
is used. With --folder an interrupted search goes on where it was.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from hornbook.paper import (
    HARD_PROTOCOL,
    ModelSelection,
    SelectionResult,
    Task,
    draw_training_set,
    select_network,
)
from hornbook.queries import Net, split_examples
from hornbook.tables import load_dataset

FRESH = (1000, 1000)


def shape(net: Net) -> str:
    """The widths of a net."""
    return "-".join(map(str, net.widths))


def show(console: Console, found: SelectionResult) -> None:
    """Print what the search found."""
    best = Table("net", "rate", "cross-validated accuracy", title="the ten best nets")
    for score in found.scores.best(10):
        best.add_row(shape(score.net), str(score.net.rate), f"{score.mean:.4f} ± {score.spread:.4f}")
    chosen = found.chosen
    table = Table("kind", "right", "of", title="the chosen network on fresh examples")
    for kind, tally in found.fresh.items():
        table.add_row(kind, str(tally.right), str(tally.total))
    console.print(best)
    for failures in found.scores.failures():
        console.print(failures)
    console.print(
        f"chosen: {shape(chosen.net)} at {chosen.net.rate}; cross-validated {chosen.found.mean:.4f}, "
        f"scored again {chosen.mean:.4f} ± {chosen.spread:.4f}, fresh {np.mean(chosen.fresh):.4f}"
    )
    console.print(table)


def main() -> None:
    """Run the search."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="the HCC file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where finished parts are kept")
    arguments = parser.parse_args()
    table = load_dataset("hcc", path=arguments.data) if arguments.data else load_dataset()
    task = Task.of(table, HARD_PROTOCOL)
    rng = np.random.default_rng(arguments.seed)
    examples, _ = split_examples(task.examples(rng), rng)
    fresh = draw_training_set(task.theory, replace(task.recipe, sizes=FRESH), rng)
    start = time.perf_counter()
    found = select_network(examples, fresh, ModelSelection(seed=arguments.seed), folder=arguments.folder)
    console = Console(width=110)
    console.print(f"{task.table.name}: {task.recipe.describe()}")
    show(console, found)
    console.print(f"{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
