"""Explanations of a model on a large table: agreement on unseen rows, CPU-seconds and peak memory.

    python benchmarks/large_tables.py                             # 100,000 rows × 60 columns, LightGBM
    python benchmarks/large_tables.py --rows 1000000 --columns 100

Beside ours stands scikit-learn's tree with as many questions, fitted to the model's labels of the very
samples, and of all rows that are not held out.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from hornbook import HornExtractor
from hornbook.data import split_rows
from hornbook.randomness import Purpose, generator
from hornbook.surrogates import search
from hornbook.teacher import bind_classifier

TRAINING_ROWS = 100_000


def main() -> None:
    """Measure one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=60)
    parser.add_argument("--max-literals", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    values, classes = make_classification(
        options.rows,
        options.columns,
        n_informative=8,
        n_redundant=4,
        n_clusters_per_class=4,
        random_state=options.seed,
    )
    frame = pd.DataFrame(values, columns=[f"c{column}" for column in range(options.columns)])
    del values
    model = LGBMClassifier(n_jobs=1, random_state=options.seed, verbose=-1)
    model.fit(frame[:TRAINING_ROWS], classes[:TRAINING_ROWS])
    print(f"peak memory before: {_peak():,.0f} MB", flush=True)
    started = time.process_time()
    extractor = HornExtractor(
        model, "high", max_literals=options.max_literals, random_state=options.seed
    ).fit(frame)
    extraction = extractor.extraction_
    seconds = time.process_time() - started
    print(f"peak memory after: {_peak():,.0f} MB")
    explanation = extraction.explanation
    print(f"ours: {explanation.form} of {explanation.literals} literals in {seconds:.1f} CPU-s")
    for line in extraction.fidelity.describe():
        print(f"  {line}")
    longest = extraction.frontier[-1]
    used, held_out = split_rows(frame, options.seed)
    unseen = frame.iloc[held_out]
    truth = model.predict(unseen)
    right = np.mean(longest.explanation.decide(unseen) == truth)
    print(
        f"the best candidate: {longest.explanation.form} of {longest.literals} literals: {100 * right:.2f} %"
    )
    teacher = bind_classifier(model, frame.iloc[used], options.seed)
    size = min(max(search.MIN_SAMPLES, len(teacher.sampler.frame) // 2), search.MAX_SAMPLES)
    samples = teacher.sampler.draw(size, generator(options.seed, Purpose.LEARNING_SAMPLES))
    for name, rows in (("the same samples", samples), ("all rows", frame.iloc[used])):
        tree = DecisionTreeClassifier(max_leaf_nodes=longest.literals + 1, random_state=0)
        tree.fit(rows, model.predict(rows))
        right = np.mean(tree.predict(unseen) == truth)
        print(f"scikit-learn's tree of {longest.literals}, {name}: {100 * right:.2f} %")


def _peak() -> float:
    """The most memory that this process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
