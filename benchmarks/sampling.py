"""A whole sampling equivalence query, beside the network's own inference on the same samples.

    python benchmarks/sampling.py
    python benchmarks/sampling.py --samples 100_000_000     one query in constant memory

The paper's network in torch, 708,344 interpretations of 204 paired variables, a hypothesis of 100
rules with bodies of 18. The network accepts everything and no rule can fire, so the query draws,
asks and judges every sample. Inference alone is given dense blocks that are ready beforehand.
"""

import argparse
import resource
import statistics
import time
from itertools import pairwise

import numpy as np
import torch
from throughput import idle_rules

from hornbook.distributions import Random
from hornbook.experiments.network import MLP
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.sampling import Sampling

PAIRS, RULES, BODY, SIZE, REPEATS = 102, 100, 18, 708_344, 15
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--samples", type=int, help="one query over so many, and the peak of memory")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    vocabulary = Vocabulary.with_duals(f"v{i}" for i in range(PAIRS))
    model = network(vocabulary, rng)
    rules = idle_rules(vocabulary, RULES, rng)
    block = Random(vocabulary).draw(BLOCK, rng).to_array(0.5, np.float32)
    ready = torch.from_numpy(np.ascontiguousarray(block.T)).T

    def inference() -> None:
        with torch.inference_mode():
            for _ in range(-(-SIZE // BLOCK)):
                model.module(ready)

    def query(size: int = SIZE) -> None:
        answer = Sampling(model, Random(vocabulary), size, seed=0)(rules)
        assert answer.disagreement.size == size

    def seconds(job) -> float:
        start = time.perf_counter()
        job()
        return time.perf_counter() - start

    if args.samples:
        elapsed = seconds(lambda: query(args.samples))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{args.samples:,} interpretations in one query: {elapsed:.1f} s, peak memory {peak:.0f} MB")
        return
    pairs = [(seconds(query), seconds(inference)) for _ in range(REPEATS)]
    asked, inferred = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{SIZE:,} interpretations, {RULES} rules with bodies of {BODY}, {torch.get_num_threads()} threads")
    print(f"equivalence query   {asked:8.3f} s")
    print(f"inference alone     {inferred:8.3f} s")
    print(f"ratio               {statistics.median(a / b for a, b in pairs):8.2f}")


if __name__ == "__main__":
    main()
