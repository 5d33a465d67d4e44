"""Interpretations per second: drawn, judged by the paper's network, closed under rules, and all of it.

    OMP_NUM_THREADS=1 python benchmarks/throughput.py --growth
    OMP_NUM_THREADS=2 python benchmarks/throughput.py --from mixture

204 paired variables, a third of the values unknown, the network 204-32-16-8-16-32-1 in float32, 100
rules with bodies of 18. The network accepts everything and no rule can fire, so that an equivalence
query draws, asks and judges every sample. `--from mixture` draws as the paper's examples are: half
violations of 165 rules with bodies of about 90, the rest random but for rows and near misses, a 40th
each. `--growth` changes one of variables, rules and samples at a time, and counts the time that
processors worked, which other programs do not lengthen. It needs NumPy and PyTorch alone, so it runs
where nothing is installed: PYTHONPATH=src.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch

from hornbook.logic import BOTTOM, Batch, HornTheory, Rule, Vocabulary
from hornbook.paper import NearMisses
from hornbook.queries import MLP, Distribution, Estimated, Mixture, Random, Rows, Violations
from hornbook.queries.oracles import SAMPLING_CHUNK, Sampling

PAIRS, RULES, BODY, PATIENTS, REPEATS = 102, 100, 18, 165, 5
HIDDEN = (32, 16, 8, 16, 32, 1)
VARIABLES = (50, 102, 204, 408, 816, 1632)
RULE_COUNTS = (10, 30, 100, 300, 1000)
SAMPLES = (10**5, 10**6, 10**7)


class Case:
    """A network, rules and a distribution over some pairs of variables."""

    def __init__(self, pairs: int = PAIRS, rules: int = RULES, mixed: bool = False) -> None:
        rng = np.random.default_rng(0)
        self.vocabulary = Vocabulary.with_duals(f"v{i}" for i in range(pairs))
        self.distribution = mixture(self.vocabulary, rng) if mixed else Random(self.vocabulary)
        layers = [
            (rng.normal(0, 0.1, (out, into)), np.zeros(out)) for into, out in pairwise((2 * pairs, *HIDDEN))
        ]
        layers[-1] = (layers[-1][0], np.full(1, 1e6))
        self.model = MLP.of(layers, self.vocabulary)
        self.rules = idle_rules(self.vocabulary, rules, rng)

    def draw(self) -> Batch:
        """A part of a query's samples."""
        return self.distribution.draw(SAMPLING_CHUNK, np.random.default_rng(0))

    def query(self, size: int) -> None:
        """A whole equivalence query."""
        found = Sampling(self.model, self.distribution, size, seed=0)(self.rules)
        if not isinstance(found, Estimated) or found.disagreement.size != size:
            raise SystemExit(f"the query ended early: {found}")

    def rates(self, samples: int) -> dict[str, float]:
        """Interpretations per second of each step and of a query, medians of several runs."""
        batch = self.draw()
        jobs: dict[str, tuple[Callable[[], object], int]] = {
            "draw": (self.draw, SAMPLING_CHUNK),
            "judge": (lambda: self.model(batch), SAMPLING_CHUNK),
            "close": (lambda: self.rules.satisfied_by(batch), SAMPLING_CHUNK),
            "query": (lambda: self.query(samples), samples),
        }
        for job, _ in jobs.values():
            job()
        return {
            name: done / statistics.median(seconds_of(job) for _ in range(REPEATS))
            for name, (job, done) in jobs.items()
        }


def seconds_of(job: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of one run."""
    start = clock()
    job()
    return clock() - start


def idle_rules(vocabulary: Vocabulary, count: int, rng: np.random.Generator) -> HornTheory:
    """Rules with bodies of 18 that never fire, since each holds a variable and its dual."""
    pairs = len(vocabulary) // 2
    chosen = (rng.permutation(pairs)[: BODY - 1] for _ in range(count))
    return HornTheory(vocabulary, (Rule([*body.tolist(), int(body[0]) + pairs], BOTTOM) for body in chosen))


def mixture(vocabulary: Vocabulary, rng: np.random.Generator) -> Distribution:
    """The shares and kinds of the paper's examples, from as many random rows as it has patients."""
    rows, last = Random(vocabulary, 0.1).draw(PATIENTS, rng), len(vocabulary) // 2 - 1
    heads = last, len(vocabulary) - 1
    rules = [Rule(row.true - set(heads), heads[number % 3 == 0]) for number, row in enumerate(rows)]
    theory = HornTheory(vocabulary, rules)
    kinds = Violations(theory), Random(vocabulary), Rows(rows), NearMisses(theory)
    return Mixture(kinds, (0.5, 0.45, 0.025, 0.025))


def growth() -> dict[str, dict[int, float]]:
    """CPU-microseconds an interpretation costs in a query, as one thing grows."""
    samples = 2**20

    def cost(case: Case, size: int = samples) -> float:
        case.query(min(size, samples))
        return 1e6 * min(seconds_of(lambda: case.query(size), time.process_time) for _ in range(2)) / size

    return {
        "variables": {2 * n: cost(Case(pairs=n), samples * PAIRS // max(n, PAIRS)) for n in VARIABLES},
        "rules": {n: cost(Case(rules=n)) for n in RULE_COUNTS},
        "samples": {n: cost(Case(), n) for n in SAMPLES},
    }


def main() -> None:
    """Print the rates, and what was asked for beside."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--from", dest="source", choices=["random", "mixture"], default="random")
    parser.add_argument("--samples", type=int, default=708_344, help="of the query that is timed")
    parser.add_argument("--growth", action="store_true", help="as variables, rules and samples grow")
    args = parser.parse_args()
    threads = torch.get_num_threads()
    where = f"CPU, {threads} thread{'s' * (threads > 1)}"
    rates = Case(mixed=args.source == "mixture").rates(args.samples)
    print(f"{where}, {args.source}: million interpretations a second")
    for name, rate in rates.items():
        print(f"  {name:6} {rate / 1e6:9.2f}")
    grown = growth() if args.growth else {}
    for name, costs in grown.items():
        print(f"  µs by {name}: " + ", ".join(f"{n:,}: {cost:.4f}" for n, cost in costs.items()))


if __name__ == "__main__":
    main()
