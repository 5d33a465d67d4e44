"""A whole sampling equivalence query, beside the network's own inference on the same samples.

    python benchmarks/sampling.py

The paper's network in torch, 708,344 interpretations of 204 paired variables, a hypothesis of 100
rules with bodies of 18. The network accepts everything and no rule fires, so the query draws,
asks and judges every sample. Inference alone is given dense blocks that are ready beforehand.
"""

import statistics
import time
from itertools import pairwise

import numpy as np
import torch

from hornbook.distributions import Random
from hornbook.experiments.network import MLP
from hornbook.logic.rule import BOTTOM, Rule
from hornbook.logic.theory import HornTheory
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.sampling import Sampling

PAIRS, RULES, BODY, SIZE, REPEATS = 102, 100, 18, 708_344, 7
LAYERS = (2 * PAIRS, 32, 16, 8, 16, 32, 1)
BLOCK = 63 * 64


def network(vocabulary: Vocabulary, rng: np.random.Generator) -> MLP:
    """Random weights, and a last bias that makes it accept everything."""
    sizes = pairwise(LAYERS)
    layers = [(rng.normal(0, 0.1, (out, into)), np.zeros(out)) for into, out in sizes]
    layers[-1] = (layers[-1][0], np.full(1, 1e6))
    return MLP.of(layers, vocabulary)


def main() -> None:
    """Print both times and their ratio, the median of several interleaved runs."""
    rng = np.random.default_rng(0)
    vocabulary = Vocabulary.with_duals(f"v{i}" for i in range(PAIRS))
    model = network(vocabulary, rng)
    choose = lambda: rng.choice(PAIRS, BODY, replace=False) + PAIRS * rng.integers(0, 2, BODY)  # noqa: E731
    rules = HornTheory(vocabulary, (Rule(choose().tolist(), BOTTOM) for _ in range(RULES)))
    block = Random(vocabulary).draw(BLOCK, rng).to_array(0.5, np.float32)
    ready = torch.from_numpy(np.ascontiguousarray(block.T)).T

    def inference() -> None:
        with torch.inference_mode():
            for _ in range(-(-SIZE // BLOCK)):
                model.module(ready)

    def query() -> None:
        answer = Sampling(model, Random(vocabulary), SIZE, seed=0)(rules)
        assert answer.disagreement.size == SIZE

    def seconds(job) -> float:
        start = time.perf_counter()
        job()
        return time.perf_counter() - start

    pairs = [(seconds(query), seconds(inference)) for _ in range(REPEATS)]
    asked, inferred = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{SIZE:,} interpretations, {RULES} rules with bodies of {BODY}, {torch.get_num_threads()} threads")
    print(f"equivalence query   {asked:8.3f} s")
    print(f"inference alone     {inferred:8.3f} s")
    print(f"ratio               {statistics.median(a / b for a, b in pairs):8.2f}")


if __name__ == "__main__":
    main()
