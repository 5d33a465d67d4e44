"""What would change a decision: the guided search against every change, and how often fewer are ruled out.

    python benchmarks/changes.py [--rows 16] [--models boosting forest network …]

Models of the breast-cancer table, trained on every second row of its first ten columns, are asked what
would change their decisions about rows that they have not seen. Printed of each model: how many rows
need one, two or more columns; for how many of those that need more than one it is proved that one does
not do; and the median of CPU-seconds, with proofs. Where more than one column is needed, the same search
is given enough rows to try every pair: `missed` counts the rows for which a pair does and the search
found none, and the last column is how much farther its changes are, on average.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from statistics import mean, median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hornbook import Explainer
from hornbook.reasons import Changes

MODELS = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "network": lambda: make_pipeline(
        StandardScaler(), MLPClassifier((16, 16), max_iter=3000, random_state=0)
    ),
    "boosting": lambda: GradientBoostingClassifier(random_state=0),
    "histograms": lambda: HistGradientBoostingClassifier(random_state=0),
    "forest": lambda: RandomForestClassifier(30, random_state=0),
}
TABLE_ROWS = 100
EVERY_PAIR = 500_000
"""More rows than there are changes of two of ten columns with a hundred values each."""


def count_columns(result: Changes) -> int:
    """How many columns the first change has; more than any if there is none."""
    return len(result.changes[0].values) if result.changes else 99


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    options = parser.parse_args()
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :10]
    table, unseen = X[::2][:TABLE_ROWS], X[1::2].sample(options.rows, random_state=0)
    shown = Table("model", "1 column", "2", "more", "proved", "CPU-s", "missed", "farther")
    for name in options.models:
        model = MODELS[name]().fit(X[::2], y[::2])
        rows = [measure_row(model, row, table) for _, row in unseen.iterrows()]
        sizes = [count_columns(result) for result, _, _ in rows]
        several = [(result, every) for result, _, every in rows if every is not None]
        proved = sum(result.fewer[:1] == ("proved",) for result, _ in several)
        missed = sum(count_columns(every) < count_columns(result) for result, every in several)
        ratios = [
            result.changes[0].distance / every.changes[0].distance
            for result, every in several
            if count_columns(result) == count_columns(every) == 2
        ]
        shown.add_row(
            name,
            str(sizes.count(1)),
            str(sizes.count(2)),
            str(sum(size > 2 for size in sizes)),
            f"{proved} of {len(several)}",
            f"{median(seconds for _, seconds, _ in rows):.2f}",
            str(missed),
            f"{100 * (mean(ratios) - 1):.1f} %" if ratios else "–",
        )
    Console().print(shown)


def measure_row(model: Any, row: Any, table: Any) -> tuple[Changes, float, Changes | None]:
    """The changes of a row, CPU-seconds, and the changes by every pair if one column does not do."""
    started = time.process_time()
    explainer = Explainer(model, table)
    result = explainer.changes(row)
    seconds = time.process_time() - started
    if count_columns(result) == 1:
        return result, seconds, None
    return result, seconds, explainer.changes(row, max_rows=EVERY_PAIR, proof_seconds=0)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
