"""How often intervals and guarantees cover the truth, over many runs of each kind.

    python benchmarks/calibration.py                 # 200 runs of each kind: about ten CPU-minutes
    python benchmarks/calibration.py --runs 30 --kinds judge

Each run has a model and a population of its own, see `tests/shared/coverage_trials.py`. The truth is
what a huge fresh sample shows. A figure with 95 % intervals has to cover it in 95 % of the runs, or
more; a PAC guarantee has to hold in 1 - δ of them.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "shared"))

from coverage_trials import Coverage, try_classifier, try_diff, try_judge, try_queries

QUERIES = {"max_queries": 30, "epsilon": 0.1, "delta": 0.1}
KINDS = {
    "explanation": partial(try_classifier, rows=300, n_samples=4000),
    "explanation, rules": partial(try_classifier, rows=300, form="rules", n_samples=4000),
    "explanation, few rows": partial(try_classifier, rows=100, n_samples=2000),
    "explanation, every row twice": partial(
        try_classifier, rows=300, repeats=2, form="rules", n_samples=1000
    ),
    "explanation, every row ten times": partial(
        try_classifier, rows=200, repeats=10, form="rules", n_samples=1000
    ),
    "explanation, patients of ten rows": partial(
        try_classifier, rows=150, visits=10, form="rules", n_samples=1000
    ),
    "diff": partial(try_diff, rows=1500),
    "diff, every row ten times": partial(try_diff, rows=600, repeats=10),
    "queries": partial(try_queries, rows=300, **QUERIES),
    "judge": partial(try_judge, rows=150, **QUERIES),
    # samples that rules are chosen by come in several blocks, and there is much to choose
    "judge, large samples": partial(
        try_judge, rows=400, sample_size=30_000, max_queries=60, max_rules=400, min_precision=0.5
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
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
