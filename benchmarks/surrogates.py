"""The surrogate search by itself: CPU-seconds for trees, cards and rules of every size.

    python benchmarks/surrogates.py [--samples 65536 262144 1000000] [--literals 1000 10000] [--form auto]

Samples are rows of random numbers, labelled by a hidden score with some noise, already coded as bins:
the model's own time is not in it. Each line is a search of all forms and sizes up to 20 literals, judged
on half as many fresh samples; the share of the samples that the best of each form gets right is beside it.
"""

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from hornbook.surrogates.grid import CodedRows, Grid, NumericColumn
from hornbook.surrogates.search import fit_explanations

CUTS = 32
CLASSES = ("no", "yes")
MAX_LITERALS = 20


def make_grid(literals: int) -> Grid:
    """A grid of numeric columns with about so many literals."""
    columns = max(1, round(literals / (2 * CUTS + 2)))
    cuts = tuple(np.arange(1, CUTS + 1) / (CUTS + 1))
    return Grid(tuple(NumericColumn(f"x{number}", cuts) for number in range(columns)))


def draw(grid: Grid, samples: int, seed: int) -> tuple[CodedRows, np.ndarray]:
    """Coded rows, and the number of the class of each."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, CUTS + 1, (len(grid.columns), samples))
    codes[rng.random(codes.shape) < 0.05] = CUTS + 1  # missing
    hidden = np.random.default_rng(0).normal(size=(6, len(grid.columns)))
    score = sum(np.maximum(hidden[k, :6] @ (codes[:6] / CUTS - 0.5) + 0.1, 0) for k in range(6))
    labels = (score > np.median(score)) ^ (rng.random(samples) < 0.02)
    return CodedRows(grid, codes.astype(grid.code_type)), labels


def search(samples: int, literals: int, form: str) -> tuple[float, float, int]:
    """CPU-seconds, the best share that is decided rightly, and the number of explanations."""
    grid = make_grid(literals)
    rows, labels = draw(grid, samples, 1)
    judged, truth = draw(grid, samples // 2, 2)
    weights = np.eye(2)[labels.astype(np.intp)]
    start, best, count = time.process_time(), 0.0, 0
    for decided, _ in fit_explanations(rows, weights, CLASSES, judged, MAX_LITERALS, form):
        best, count = max(best, float((decided == truth).mean())), count + 1
    return time.process_time() - start, best, count


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, nargs="+", default=[65_536])
    parser.add_argument("--literals", type=int, nargs="+", default=[1000])
    parser.add_argument("--form", choices=["auto", "tree", "card", "rules"], nargs="+", default=["auto"])
    arguments = parser.parse_args()
    table = Table(
        "samples", "literals", "form", "CPU-seconds", "ns a sample and column", "best", "explanations"
    )
    for samples in arguments.samples:
        for literals in arguments.literals:
            for form in arguments.form:
                seconds, best, count = search(samples, literals, form)
                cells = samples * len(make_grid(literals).columns)
                table.add_row(
                    f"{samples:,}",
                    f"{len(make_grid(literals).literals):,}",
                    form,
                    f"{seconds:.1f}",
                    f"{1e9 * seconds / cells:,.0f}",
                    f"{100 * best:.2f} %",
                    str(count),
                )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
