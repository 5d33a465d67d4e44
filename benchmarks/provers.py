"""Boxes of trees, proved by Veritas and by ours: the same models, boxes and classes, one run.

    pip install --target peers dtai-veritas
    PYTHONPATH=peers python benchmarks/provers.py [--boxes 12] [--seconds 10] [--trees 100 400] [--largest]

Each question is whether the model decides a box of rows around a row as it decides that row. Veritas is
asked with three settings, and its quickest one counts: its plain search, one that ignores what cannot
change the class, and that one by a focal list. A verdict of either side that the other contradicts is put
to the model itself: a row of the box with another class, or none among 100,000 random ones. CPU-seconds.
`--largest` doubles the trees of XGBoost on the noisy ring (rate 0.05, half of the rows a tree) until a box
takes a minute, or to 6,400.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from collections import Counter

import numpy as np
import pandas as pd
import veritas
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from xgboost import XGBClassifier

from hornbook.conditions import Threshold
from hornbook.models import find_predictor
from hornbook.proof import ColumnProver, Domain, make

WIDTHS = (0.03, 0.1, 0.3)
"""The shares of the table's rows between the ends of a box, in each column."""

SETTINGS = ("plain", "ignoring", "focal")
STEPS, CHECKED, MINUTE, MOST_TREES = 200, 100_000, 60.0, 6400

TIE = 1e-9
"""At an output of 0 the models decide for class 0; sums of doubles may be off by less than this."""


def noisy_ring(size: int = 2000, columns: int = 20) -> tuple[pd.DataFrame, np.ndarray]:
    """Two overlapping normal classes, a tenth of the labels exchanged."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, size)
    near, wide = rng.normal(2 / np.sqrt(columns), 1, (size, columns)), rng.normal(0, 2, (size, columns))
    rows = pd.DataFrame(np.where(labels[:, None] == 1, near, wide)).add_prefix("x")
    return rows, np.where(rng.random(size) < 0.1, 1 - labels, labels)


def breast_cancer() -> tuple[pd.DataFrame, np.ndarray]:
    """569 rows of 30 columns."""
    rows, labels = load_breast_cancer(as_frame=True, return_X_y=True)
    return rows.set_axis([f"x{number}" for number in range(30)], axis=1), labels.to_numpy()


def list_boxes(rows: pd.DataFrame, count: int) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Boxes around rows: the row's number, and both ends in single precision, so that all read them alike."""
    rng, boxes = np.random.default_rng(0), []
    shares = rows.rank(pct=True)
    for number in rng.permutation(len(rows))[:count].tolist():
        width = WIDTHS[len(boxes) % len(WIDTHS)]
        ends = [
            [rows[name].quantile(min(max(shares[name][number] + side * width / 2, 0), 1)) for name in rows]
            for side in (-1, 1)
        ]
        low, high = np.array(ends, np.float32)
        own = rows.iloc[number].to_numpy(np.float32)
        boxes.append((number, np.minimum(low, np.nextafter(own, np.float32(-np.inf))), np.maximum(high, own)))
    return boxes


def ask_hornbook(prover: ColumnProver, names: list[str], box: tuple, outcome: int) -> tuple[str, float]:
    """Our verdict and CPU-seconds; a box is above its lower end and up to its upper one."""
    _, low, high = box
    body = [Threshold(name, float(cut)) for name, cut in zip(names, low, strict=True)]
    body += [Threshold(name, float(cut), above=False) for name, cut in zip(names, high, strict=True)]
    start = time.process_time()
    verdict = prover.prove(body, outcome)
    return verdict.status, time.process_time() - start


def ask_veritas(trees, box: tuple, outcome: int, setting: str, seconds: float) -> tuple[str, float]:
    """The verdict of Veritas and CPU-seconds."""
    _, low, high = box
    kind = veritas.HeuristicType.MIN_OUTPUT if outcome else veritas.HeuristicType.MAX_OUTPUT
    config, above = veritas.Config(kind), np.nextafter
    config.stop_when_num_solutions_exceeds = 1
    config.stop_when_optimal = True
    config.stop_when_atleast_bound_better_than = TIE
    if setting != "plain":
        config.ignore_state_when_worse_than = TIE
    if setting == "focal":
        config.focal_eps = 0.5
    ends = zip(low, high, strict=True)
    infinite = np.float32(np.inf)
    prune = [veritas.Interval(float(above(a, infinite)), float(above(b, infinite))) for a, b in ends]
    start = time.process_time()
    search = config.get_search(trees, prune)
    reason = veritas.StopReason.NONE
    while reason == veritas.StopReason.NONE and time.process_time() - start < seconds:
        reason = search.step_for(1.0, STEPS)
        if search.num_solutions():
            break
        if reason == veritas.StopReason.OUT_OF_TIME:
            reason = veritas.StopReason.NONE
    spent = time.process_time() - start
    if search.num_solutions():
        output = search.get_solution(0).output
        return ("refuted" if (output <= TIE if outcome else output > TIE) else "proved"), spent
    if reason == veritas.StopReason.NO_MORE_OPEN:
        return "proved", spent
    return "undecided", spent


def referee(model, rows: pd.DataFrame, box: tuple, outcome: int) -> str:
    """Whether random rows of the box have another class."""
    _, low, high = box
    drawn = np.random.default_rng(1).uniform(np.nextafter(low, np.float32(np.inf)), high, (CHECKED, len(low)))
    other = model.predict(pd.DataFrame(drawn.astype(np.float32), columns=rows.columns)) != outcome
    return "refuted" if other.any() else "not refuted"


def compare(name: str, model, rows: pd.DataFrame, arguments: argparse.Namespace, table: Table) -> None:
    """Ask all about one model, and add two lines to a table."""
    start = time.process_time()
    prover = make(find_predictor(model, rows)[0], Domain.of(rows), arguments.seconds)
    ours_ready = time.process_time() - start
    start = time.process_time()
    trees = veritas.get_addtree(model, silent=True)
    theirs_ready = time.process_time() - start
    ours, theirs, differ = [], [], []
    for box in list_boxes(rows, arguments.boxes):
        outcome = int(model.predict(rows.iloc[[box[0]]])[0])
        ours.append(ask_hornbook(prover, list(rows.columns), box, outcome))
        asked = [ask_veritas(trees, box, outcome, setting, arguments.seconds) for setting in SETTINGS]
        decided = [each for each in asked if each[0] != "undecided"] or asked
        theirs.append(min(decided, key=lambda each: each[1]))
        if len({ours[-1][0], theirs[-1][0]} - {"undecided"}) == 2:
            differ.append(
                f"box {len(ours)}: {ours[-1][0]} here, by rows {referee(model, rows, box, outcome)}"
            )
    progress = Console(stderr=True, width=150)
    for who, found, ready in (("hornbook", ours, ours_ready), ("Veritas", theirs, theirs_ready)):
        times = [spent for _, spent in found]
        kinds = Counter(status for status, _ in found)
        counts = [str(kinds[status]) for status in ("proved", "refuted", "undecided")]
        line = [name, who, *counts, f"{ready:.2f}", f"{np.median(times):.3f}", f"{sum(times):.1f}"]
        table.add_row(*line, "; ".join(differ) if who == "hornbook" else "")
        progress.print(*line)


def find_largest(boxes: int) -> None:
    """Print how long the slowest box takes, of ensembles that double until it is a minute."""
    rows, labels = noisy_ring()
    rows = rows.astype(np.float32).astype(np.float64)
    for who in ("hornbook", "Veritas"):
        count, slowest = 50, 0.0
        while slowest < MINUTE and count < MOST_TREES:
            count *= 2
            model = XGBClassifier(n_estimators=count, learning_rate=0.05, subsample=0.5, n_jobs=1)
            model.fit(rows, labels)
            chosen = list_boxes(rows, boxes)
            outcomes = model.predict(rows.iloc[[box[0] for box in chosen]]).tolist()
            start, ended = time.process_time(), []
            if who == "hornbook":
                prover = make(find_predictor(model, rows)[0], Domain.of(rows), MINUTE)
                for box, outcome in zip(chosen, outcomes, strict=True):
                    ended.append(ask_hornbook(prover, list(rows.columns), box, outcome))
            else:
                trees = veritas.get_addtree(model, silent=True)
                for box, outcome in zip(chosen, outcomes, strict=True):
                    asked = [ask_veritas(trees, box, outcome, setting, MINUTE) for setting in SETTINGS]
                    decided = [each for each in asked if each[0] != "undecided"] or asked
                    ended.append(min(decided, key=lambda each: each[1]))
            spent = time.process_time() - start
            slowest = max(MINUTE if status == "undecided" else seconds for status, seconds in ended)
            print(f"| {count} | {who} | {Counter(status for status, _ in ended)} "
                  f"| slowest {slowest:.1f} | all {spent:.1f} |", flush=True)  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boxes", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--trees", type=int, nargs="+", default=[100, 400])
    parser.add_argument("--largest", action="store_true")
    arguments = parser.parse_args()
    if arguments.largest:
        find_largest(arguments.boxes)
        return
    table = Table(title=f"{arguments.boxes} boxes, {arguments.seconds:g} s each")
    for title in ("model", "by", "proved", "refuted", "undecided", "set-up s", "median s", "all s", "differ"):
        table.add_column(title)
    for data, (rows, labels) in {"breast cancer": breast_cancer(), "noisy ring": noisy_ring()}.items():
        rows = rows.astype(np.float32).astype(np.float64)
        for count in arguments.trees:
            forest = RandomForestClassifier(count, random_state=0).fit(rows, labels)
            compare(f"{data}, forest {count}", forest, rows, arguments, table)
            boosting = XGBClassifier(n_estimators=count, max_depth=6, n_jobs=1).fit(rows, labels)
            compare(f"{data}, XGBoost {count}", boosting, rows, arguments, table)
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
