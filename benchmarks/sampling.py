"""A whole sampling equivalence query, beside the network's own inference on the same samples.

    python benchmarks/sampling.py                           and with OMP_NUM_THREADS=1
    python benchmarks/sampling.py --samples 100_000_000     one query in constant memory

The paper's network in torch, 708,344 interpretations of 204 paired variables, a hypothesis of 100
rules with bodies of 18. The network accepts everything and no rule can fire, so the query draws,
asks and judges every sample: random ones, and ones drawn as the paper's examples are. It is asked as
hornbook's own network, which reads one variable of each pair, and as a plain module of anybody's. Inference
alone is given as many samples in dense blocks that are ready beforehand (600 MB).
"""

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from throughput import idle_rules, mixture

from hornbook.logic import Vocabulary
from hornbook.models import as_predictor
from hornbook.queries import MLP, Distribution, Judge, Membership, Random
from hornbook.queries.oracles import Sampling

PAIRS, RULES, BODY, SIZE, REPEATS = 102, 100, 18, 708_344, 9
LAYERS = (2 * PAIRS, 32, 16, 8, 16, 32, 1)
BLOCK = 63 * 64


def network(vocabulary: Vocabulary, rng: np.random.Generator) -> MLP:
    """Random weights, and a last bias that makes it accept everything."""
    sizes = pairwise(LAYERS)
    layers = [(rng.normal(0, 0.1, (out, into)), np.zeros(out)) for into, out in sizes]
    layers[-1] = (layers[-1][0], np.full(1, 1e6))
    return MLP.of(layers, vocabulary)


def main() -> None:
    """Print both times and their ratio, medians of several interleaved runs, and the least ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--samples", type=int, help="one query over so many, and the peak of memory")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    vocabulary = Vocabulary.with_duals(f"v{i}" for i in range(PAIRS))
    model = network(vocabulary, rng)
    rules = idle_rules(vocabulary, RULES, rng)
    sources = {"random": Random(vocabulary), "mixture": mixture(vocabulary, rng)}
    models = {"network": model, "module": Judge(as_predictor(model.module, encoding="half"))}

    def dense(source: Distribution) -> list[torch.Tensor]:
        blocks = source.draw(SIZE, rng).blocks(BLOCK)
        return [torch.from_numpy(block.to_array(0.5, np.float32, "F")) for block in blocks]

    def inference(ready: list[torch.Tensor]) -> None:
        with torch.inference_mode():
            for block in ready:
                model.module(block)

    def query(asked: Membership, source: Distribution, size: int = SIZE) -> None:
        answer = Sampling(asked, source, size, seed=0)(rules)
        assert answer.disagreement.size == size

    def cost(job: Callable[[], object]) -> tuple[float, float]:
        """Seconds, and CPU-seconds."""
        start, used = time.perf_counter(), time.process_time()
        job()
        return time.perf_counter() - start, time.process_time() - used

    if args.samples:
        elapsed, _ = cost(lambda: query(model, sources["random"], args.samples))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{args.samples:,} interpretations in one query: {elapsed:.1f} s, peak memory {peak:.0f} MB")
        return
    threads = torch.get_num_threads()
    print(f"{SIZE:,} interpretations, {RULES} rules with bodies of {BODY}, {threads} threads")
    columns = f"{'query, s':>9} {'inference, s':>13} {'ratio':>6} {'least':>6} {'of CPU-s':>9}"
    print(f"{'samples':8} {'asked':8} {columns}")
    for name, source in sources.items():
        alone = partial(inference, dense(source))
        for kind, asked in models.items():
            job = partial(query, asked, source)
            job()
            pairs = np.array([(cost(job), cost(alone)) for _ in range(REPEATS)])
            whole, inferred = np.median(pairs[:, :, 0], axis=0)
            ratios = pairs[:, 0] / pairs[:, 1]
            least, (_, used) = ratios[:, 0].min(), np.median(ratios, axis=0)
            times = f"{whole:9.3f} {inferred:13.3f} {whole / inferred:6.2f} {least:6.2f} {used:9.2f}"
            print(f"{name:8} {kind:8} {times}", flush=True)


if __name__ == "__main__":
    main()
