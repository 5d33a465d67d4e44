"""How often intervals and guarantees cover the truth, over many runs of each kind.

    python benchmarks/calibration.py                 # 100 runs of each kind: about ten CPU-minutes
    python benchmarks/calibration.py --runs 30 --kinds classifier

Each run has a model and a population of its own, see `hornbook.testing.calibration`. The truth is
what a huge fresh sample shows. A figure with 95 % intervals has to cover it in 95 % of the runs, or
more; a PAC guarantee has to hold in 1 - δ of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from hornbook import explain_model
from hornbook.models import as_predictor
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.teacher import bind_classifier
from hornbook.testing.calibration import Coverage, Trial, Waves, draw_rows, try_judge

MISSING = 0.1
"""The share of values that are missing in the rows of classifiers."""


def draw_table(size: int, rng: np.random.Generator) -> Any:
    """Rows of the population of classifiers, some of whose values are missing."""
    rows = draw_rows(size, rng)
    return rows.mask(rng.random(rows.shape) < MISSING)


def try_explanation(seed: int, rows: int, fresh: int, **settings: Any) -> Iterator[Trial]:
    """One explanation of a classifier, whose figures are held against so many fresh rows and samples."""
    model = as_predictor(Waves.draw(generator(seed, Purpose.TEST_CASES, 0)), encoding="nan")
    table = draw_table(rows, generator(seed, Purpose.TEST_CASES, 1))
    extraction = explain_model(model, table, "high", seed=seed, **settings)
    teacher = bind_classifier(model, table, seed)
    population = draw_table(fresh, generator(seed, Purpose.TEST_CASES, 2))

    def covers(share: Share, cases: Any) -> bool:
        truth = float((extraction.explanation.decide(cases) == teacher.labels(cases)).mean())
        return share.low <= truth <= share.high

    yield Trial("classifier: fidelity on unseen rows", covers(extraction.fidelity.unseen_rows, population))


QUERIES = {"max_equivalence_queries": 30, "epsilon": 0.1, "delta": 0.1}
KINDS = {
    "classifier": partial(try_explanation, rows=500, n_samples=4000),
    "classifier, few rows": partial(try_explanation, rows=100, n_samples=2000),
    "judge": partial(try_judge, rows=150, samples=1000, evaluation=400, **QUERIES),
    # by default samples that rules are chosen by come in several blocks, and there is much to choose
    "judge, large samples": partial(
        try_judge,
        rows=400,
        samples=8192,
        evaluation=8192,
        sample_size=30_000,
        max_equivalence_queries=60,
        max_rules=400,
        min_precision=0.5,
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--fresh", type=int, default=100_000, help="samples that show the truth")
    arguments = parser.parse_args()
    print("| kind and figure | covered | of | at least | |\n|---|---:|---:|---:|---|")
    for kind in arguments.kinds:
        coverage, start = Coverage(), time.process_time()
        for seed in range(arguments.runs):
            coverage.add(KINDS[kind](seed, fresh=arguments.fresh))
        for figure, runs in coverage.runs.items():
            covered, fewest = coverage.covered[figure], coverage.fewest(figure)
            verdict = "" if covered >= fewest else "too rarely"
            print(f"| {kind}: {figure.partition(': ')[2]} | {covered} | {runs} | {fewest} | {verdict} |")
        print(f"| {kind}: CPU-seconds | {time.process_time() - start:.0f} | | | |", flush=True)


if __name__ == "__main__":
    main()
