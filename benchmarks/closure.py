"""Closing a million partial interpretations, beside running the paper's network on them.

    python benchmarks/closure.py

Single-threaded: set OMP_NUM_THREADS=1, as this script does before it imports NumPy.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import statistics
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from hornbook.logic import Batch, HornTheory, random_theory

VARIABLES, RULES, BODY, SIZE, REPEATS = 204, 100, 18, 1 << 20, 5
LAYERS = (VARIABLES, 32, 16, 8, 16, 32, 1)
BLOCK = 1 << 13


def random_batch(rng: np.random.Generator, theory: HornTheory) -> Batch:
    """A third of the values true, a third false, a third unknown."""
    words = rng.integers(0, 2**64, (4, VARIABLES, SIZE // 64), np.uint64)
    true = words[0] & words[1] | words[0] & words[2] & words[3]
    return Batch(theory.vocabulary, true, ~true & (words[1] | words[2]), SIZE)


def network(weights: list[np.ndarray], inputs: np.ndarray) -> np.ndarray:
    """The paper's network: ReLU layers as float32 matrix products."""
    for layer in weights[:-1]:
        inputs = np.maximum(inputs @ layer, 0)
    return inputs @ weights[-1]


def seconds(job: Callable[[], object]) -> float:
    """CPU-seconds of one run."""
    start = time.process_time()
    job()
    return time.process_time() - start


def measure() -> tuple[float, float, float, float]:
    """Seconds of closing and of the network, their ratio (medians of interleaved runs), and megabytes."""
    rng = np.random.default_rng(0)
    theory = random_theory(VARIABLES, RULES, (BODY, BODY), rng)
    batch = random_batch(rng, theory)
    weights = [rng.normal(size=shape).astype(np.float32) for shape in pairwise(LAYERS)]
    inputs = rng.random((BLOCK, VARIABLES), np.float32)

    def run_network() -> None:
        for _ in range(SIZE // BLOCK):
            network(weights, inputs)

    pairs = [(seconds(lambda: theory.satisfied_by(batch)), seconds(run_network)) for _ in range(REPEATS)]
    closing, running = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(close / run for close, run in pairs)
    return closing, running, ratio, (batch.true.nbytes + batch.false.nbytes) / 1e6


def main() -> None:
    """Print both times and their ratio."""
    closing, running, ratio, megabytes = measure()
    print(f"{SIZE:,} interpretations, {VARIABLES} variables, {RULES} rules with bodies of {BODY}")
    print(f"batch in memory      {megabytes:8.1f} MB ({8e6 * megabytes / SIZE / VARIABLES:.1f} bits a value)")
    print(f"closing and judging  {closing:8.3f} s")
    print(f"the paper's network  {running:8.3f} s")
    print(f"ratio                {ratio:8.2f}")


if __name__ == "__main__":
    main()
