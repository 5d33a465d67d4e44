"""Do more missing values make better networks? Accuracy against their share in rejected examples.

    python benchmarks/missing.py [--data hcc-survival.csv] [--plot missing.png]

Each network is tested on its own distribution, with as many missing values as it was trained
with, and on one common test set. Without --data the synthetic cohort is used.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from hornbook.paper import Sweep, Task
from hornbook.paper.missing import SweepPoint
from hornbook.tables import load_dataset


def main() -> None:
    """Print the table, and draw it if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="the HCC file")
    parser.add_argument("--plot", type=Path, help="a file for the plot")
    arguments = parser.parse_args()
    task = Task.of(load_dataset("hcc", path=arguments.data) if arguments.data else load_dataset())
    points = Sweep().run(task.theory, task.protocol, task.rows)
    table = Table("open values unknown", "all values unknown", "own test set", "common test set")
    for point in points:
        accuracies = (f"{np.mean(values):.3f} ± {np.std(values):.3f}" for values in (point.own, point.common))
        table.add_row(f"{point.missing:.0%}", f"{point.unknown:.1%}", *accuracies)
    Console(width=100).print(table)
    if arguments.plot:
        plot_sweep(points).savefig(arguments.plot)


def plot_sweep(points: Sequence[SweepPoint]) -> Figure:
    """Plot accuracy against the share of missing values, with its spread over the seeds."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    missing = [100 * point.missing for point in points]
    for name, label in (("own", "drawn as in training"), ("common", "common to all shares")):
        accuracies = [getattr(point, name) for point in points]
        means, spreads = np.mean(accuracies, axis=1), np.std(accuracies, axis=1)
        axes.errorbar(missing, means, spreads, marker="o", capsize=3, label=label)
    axes.set_xlabel("unknown among the open values of rejected training examples, %")
    axes.set_ylabel("accuracy")
    axes.legend(title="test examples")
    return figure


if __name__ == "__main__":
    main()
