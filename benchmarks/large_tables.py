"""Explanations of a model on large tables: agreement on held-out rows, CPU-seconds and memory.

    python benchmarks/large_tables.py                                # 100,000 rows × 60 columns, LightGBM
    python benchmarks/large_tables.py --rows 100000 1000000 --columns 60 100

Beside ours stands scikit-learn's tree with as many questions, fitted to the model's labels of the very
samples, and of all rows that are not held out. Memory is the most that the process has had once the table
is made and the model trained, and in the end.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from hornbook import Explainer
from hornbook.models import bind_classifier
from hornbook.randomness import Purpose, generator
from hornbook.surrogates import search
from hornbook.tables import split_rows

TRAINING_ROWS = 100_000


def main() -> None:
    """Print a line a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[60])
    parser.add_argument("--max-literals", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    longest = f"with {options.max_literals} literals"
    printed = Table(
        "table",
        "default",
        "on held-out rows",
        f"best {longest}",
        f"scikit-learn's tree {longest}, same samples",
        "the same, all rows",
        "CPU-seconds",
        "memory before, in the end",
    )
    for rows, columns in zip(options.rows, options.columns, strict=True):
        printed.add_row(*measure(rows, columns, options.max_literals, options.seed))
    Console(width=200).print(printed)


def measure(rows: int, columns: int, max_literals: int, seed: int) -> list[str]:
    """The cells of a table's line."""
    values, classes = make_classification(
        rows, columns, n_informative=8, n_redundant=4, n_clusters_per_class=4, random_state=seed
    )
    frame = pd.DataFrame(values, columns=[f"c{column}" for column in range(columns)])
    del values
    model = LGBMClassifier(n_jobs=1, random_state=seed, verbose=-1)
    model.fit(frame[:TRAINING_ROWS], classes[:TRAINING_ROWS])
    memory, started = peak_memory(), time.process_time()
    extraction = Explainer(model, frame, target="high", seed=seed).extract(max_literals=max_literals)
    seconds = time.process_time() - started
    memory = f"{memory}, {peak_memory()}"
    used, held_out = split_rows(frame, seed)
    unseen = frame.iloc[held_out]
    truth = model.predict(unseen)
    longest = extraction.frontier[-1]
    best = np.mean(longest.explanation.decide(unseen) == truth)
    teacher = bind_classifier(model, frame.iloc[used], seed)
    size = min(max(search.MIN_SAMPLES, len(teacher.sampler.frame) // 2), search.MAX_SAMPLES)
    samples = teacher.sampler.draw(size, generator(seed, Purpose.LEARNING_SAMPLES))
    peers = []
    for fitted_to in (samples, frame.iloc[used]):
        tree = DecisionTreeClassifier(max_leaf_nodes=longest.literals + 1, random_state=0)
        tree.fit(fitted_to, model.predict(fitted_to))
        peers.append(np.mean(tree.predict(unseen) == truth))
    explanation, on_unseen = extraction.explanation, extraction.fidelity.rows
    return [
        f"{rows:,} × {columns}",
        f"{explanation.form}, {explanation.literals} literals",
        *(f"{100 * share:.1f} %" for share in (on_unseen.estimate, best, *peers)),
        f"{seconds:.0f}",
        memory,
    ]


def peak_memory() -> str:
    """The most memory that this process has had."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2:.1f} GB"


if __name__ == "__main__":
    main()
