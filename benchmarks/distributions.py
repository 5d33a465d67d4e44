"""Interpretations drawn per second, beside a small network's inference on the same ones.

Run with OMP_NUM_THREADS=1 to compare on one thread.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import numpy as np

from hornbook.logic import HornTheory, Rule, Vocabulary
from hornbook.paper import NearMisses
from hornbook.queries import Distribution, Mixture, Random, Rows, Violations

SIZE = 1 << 20
LAYERS = (204, 32, 16, 8, 16, 32, 1)


def distributions(rng: np.random.Generator) -> dict[str, Distribution]:
    """Each kind over 102 pairs and 165 rules with bodies of about 90 literals."""
    vocabulary = Vocabulary.with_duals([f"x{i}" for i in range(102)])
    rows = Random(vocabulary, 0.1).draw(165, rng)
    rules = [Rule(row.true - {101, 203}, 101 if number % 3 else 203) for number, row in enumerate(rows)]
    theory = HornTheory(vocabulary, rules)
    groups = tuple((v, v + 1, v + 2) for v in range(0, 78, 3))
    kinds: dict[str, Distribution] = {
        "random, 1/3 missing": Random(vocabulary),
        "random, 26 groups": Random(vocabulary, groups=groups),
        "violations": Violations(theory),
        "near misses": NearMisses(theory),
        "rows": Rows(rows),
        "rows, spoiled": Rows(rows, missing=0.1, flips=0.05),
    }
    chosen = ("random, 1/3 missing", "violations", "near misses", "rows")
    return {**kinds, "mixture of four": Mixture(tuple(kinds[kind] for kind in chosen), (4, 3, 2, 1))}


def per_second(work: Callable[[], object], size: int) -> float:
    """The best of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return size / min(times)


def main() -> None:
    """Print millions per second."""
    rng = np.random.default_rng(0)
    for name, distribution in distributions(rng).items():
        rate = per_second(lambda source=distribution: source.draw(SIZE, rng), SIZE)
        print(f"{name:24} {rate / 1e6:6.2f} million a second")
    weights = [rng.standard_normal(shape).astype(np.float32) for shape in itertools.pairwise(LAYERS)]
    dense = rng.random((1 << 14, 204)).astype(np.float32)

    def infer() -> None:
        values = dense
        for weight in weights:
            values = np.maximum(values @ weight, 0)

    print(f"{'network, dense input':24} {per_second(infer, len(dense)) / 1e6:6.2f} million a second")


if __name__ == "__main__":
    main()
