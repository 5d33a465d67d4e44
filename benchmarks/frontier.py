"""The frontier: how faithful an explanation of a classifier is, by how many literals there are to read.

    pip install "hornbook[torch,river,peers]"
    python benchmarks/frontier.py                       # three tables, one seed: four CPU-minutes
    python benchmarks/frontier.py --full                # eight tables, five seeds: about two CPU-hours
    python benchmarks/frontier.py --job                 # an MLP on 101 inputs, columns drawn independently
    python benchmarks/frontier.py --unknowns            # scores that treat what is unknown in different ways
    python benchmarks/frontier.py --data hcc-survival.csv   # the patients, in place of synthetic ones

Models are trained on two thirds of the rows, with copies in which values are missing. Explanations
are learned from these rows, perturbed (`hornbook.teachers.augmented_rows`), and measured on the last
third, spoiled a little: samples of rows that neither model nor explanation has seen. Peers get
labels of the same distribution, ½ or `?` for what is unknown: as many as hornbook asks for, or as
many as they get through in about the time of our whole curve (`PEERS` says which).

Literals read are conditions: those in the bodies of rules, the splits of trees, the lines of a
card. Ours is what `Explanation.within` says for a number of literals: chosen by hornbook's own
samples, before it is measured. A peer is above our curve where it is more faithful than that with
no more literals.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from dataclasses import asdict
from itertools import product

import numpy as np
import pandas as pd
from classifiers.job import goals, unknowns
from classifiers.measuring import measured
from classifiers.models import MODELS, job_network
from classifiers.peers import PEERS
from classifiers.printing import above, costs, curves, overview
from classifiers.tasks import Task, tables
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table as Printed

from hornbook.paper.stages import show_progress

SUBSET = ("wine", "diabetes", "phishing")
"""Tables that are measured unless others are asked for: those with few columns."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="a copy of the HCC survival data, in place of synthetic patients")
    parser.add_argument("--full", action="store_true", help="all tables, five seeds")
    parser.add_argument("--job", action="store_true", help="the MLP on independent columns only")
    parser.add_argument(
        "--unknowns", action="store_true", help="what a score may make of unknown values, only"
    )
    parser.add_argument("--tables", nargs="+", help="some tables only")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--peers", nargs="*", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--seeds", type=int, help="how many")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--csv", help="write every measurement to this file")
    arguments = parser.parse_args()
    known = tables(arguments.data)
    names = arguments.tables or (list(known) if arguments.full else SUBSET)
    first = arguments.first_seed
    seeds = range(first, first + (arguments.seeds or (5 if arguments.full else 1)))
    console = Console(width=170)
    if arguments.unknowns:
        task = Task.of_columns(known[next(iter(known))]())
        found = pd.DataFrame([unknowns(task, seed) for seed in seeds])
        printed = Printed("scores", f"fidelity, mean over {len(seeds)} seeds")
        for name, share in found.mean().items():
            printed.add_row(str(name), f"{share:.1%}")
        console.print(printed)
        return
    if arguments.job:
        task = Task.of_columns(known[next(iter(known))]())
        printed = Printed(
            title="MLP 32-16 on binarised inputs, each column drawn by itself, 10 to 30 % missing"
        )
        for column in (
            "seed",
            "majority",
            "logistic regression",
            "gradient boosting",
            "rules alone",
            "rules/literals",
        ):
            printed.add_column(column)
        for column in ("CPU-seconds", "card", "lines/literals", "CPU-seconds"):
            printed.add_column(column)
        for row in Parallel(n_jobs=arguments.jobs)(delayed(goals)(task, seed) for seed in seeds):
            printed.add_row(*row)
        console.print(printed)
        jobs = [(task, "MLP 32-16", job_network, seed) for seed in seeds]
    else:
        jobs = [
            (Task.of(known[name](), np.random.default_rng(seed)), model, MODELS[model], seed)
            for name, model, seed in product(names, arguments.models, seeds)
        ]
    warnings.simplefilter("ignore")  # of peers about what comes with later versions of what they use
    running = Parallel(n_jobs=arguments.jobs, return_as="generator")(
        delayed(measured)(*job, arguments.peers) for job in jobs
    )
    parts = list(show_progress(running, len(jobs), "models"))
    frame = pd.DataFrame([asdict(result) for part in parts for result in part])
    if arguments.csv:
        frame.to_csv(arguments.csv, index=False)
    for printed in (overview(frame), curves(frame), above(frame), costs(frame)):
        console.print(printed)


if __name__ == "__main__":
    main()
