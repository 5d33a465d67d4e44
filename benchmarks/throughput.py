"""Interpretations per second: drawn, judged by the paper's network, closed under rules, and all of it.

    OMP_NUM_THREADS=1 python benchmarks/throughput.py --growth --save benchmarks/measured/growth-cpu.json
    OMP_NUM_THREADS=2 python benchmarks/throughput.py
    python benchmarks/throughput.py --device cuda --growth --query 10_000_000_000 --save growth-h200.json
    python benchmarks/throughput.py --device cuda --from mixture --own
    python benchmarks/throughput.py --plot docs/growth.svg benchmarks/measured/growth-*.json

204 paired variables, a third of the values unknown, the network 204-32-16-8-16-32-1 in float32, 100
rules with bodies of 18. The network accepts everything and no rule can fire, so that an equivalence
query draws, asks and judges every sample. `--from mixture` draws as the paper's examples are: half
violations of 165 rules with bodies of about 90, the rest random but for rows and near misses, a 40th
each. `--own` asks a plain `torch.nn.Sequential` through its adapter, here and on the device, with the
same seeds. `--growth` changes one of variables, rules and samples at a time; on the CPU it counts the
time that processors worked, which other programs do not lengthen. It needs NumPy and PyTorch alone, so
it runs where nothing is installed: PYTHONPATH=src.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from hornbook.distributions import Distribution, Mixture, NearMisses, Random, Rows, Violations, draw_on
from hornbook.distributions.words import keys_from_seeds
from hornbook.logic import BOTTOM, Batch, HornTheory, Rule, Vocabulary
from hornbook.models import MLP, as_predictor
from hornbook.oracles import SAMPLING_CHUNK, Judge, Sampling
from hornbook.queries import Counterexample, Estimated, Membership

PAIRS, RULES, BODY, PATIENTS, REPEATS = 102, 100, 18, 165, 5
HIDDEN = (32, 16, 8, 16, 32, 1)
VARIABLES = (50, 102, 204, 408, 816, 1632)
RULE_COUNTS = (10, 30, 100, 300, 1000)
SAMPLES = {None: (10**5, 10**6, 10**7), "cuda": (10**6, 10**7, 10**8, 10**9)}


class Case:
    """A network, rules and a distribution over some pairs of variables, on a device or on the CPU."""

    def __init__(
        self, device: str | None, pairs: int = PAIRS, rules: int = RULES, mixed: bool = False
    ) -> None:
        rng = np.random.default_rng(0)
        self.device = device
        self.vocabulary = Vocabulary.with_duals(f"v{i}" for i in range(pairs))
        self.distribution = mixture(self.vocabulary, rng) if mixed else Random(self.vocabulary)
        layers = [
            (rng.normal(0, 0.1, (out, into)), np.zeros(out)) for into, out in pairwise((2 * pairs, *HIDDEN))
        ]
        layers[-1] = (layers[-1][0], np.full(1, 1e6))
        network = MLP.of(layers, self.vocabulary)
        self.model: Membership = network if device is None else network.to(device)
        self.rules = idle_rules(self.vocabulary, rules, rng)

    @property
    def size(self) -> int:
        """Interpretations handled at a time."""
        return (
            SAMPLING_CHUNK
            if self.device is None
            else SAMPLING_CHUNK * self.asked(1)._chunks_per_device_batch(self.device)
        )

    def asked(self, size: int, seed: int = 0) -> Sampling:
        """The equivalence oracle."""
        return Sampling(self.model, self.distribution, size, seed=seed, device=self.device)

    def draw(self, seed: int = 0) -> Batch:
        """A part of a query's samples."""
        if self.device is None:
            return self.distribution.draw(self.size, np.random.default_rng(seed))
        keys = keys_from_seeds(
            np.random.SeedSequence([seed, chunk]) for chunk in range(self.size // SAMPLING_CHUNK)
        )
        return draw_on(self.device, self.distribution, keys, self.size)

    def query(self, size: int) -> None:
        """A whole equivalence query."""
        found = self.asked(size)(self.rules)
        if not isinstance(found, Estimated) or found.disagreement.size != size:
            raise SystemExit(f"the query ended early: {found}")

    def seconds(self, job: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
        """Of one run, with what it started on a device."""
        start = clock()
        job()
        if self.device == "cuda":
            torch.cuda.synchronize()
        return clock() - start

    def rates(self, samples: int) -> dict[str, float]:
        """Interpretations per second of each step and of a query, medians of several runs."""
        batch = self.draw()
        count = self.size
        jobs: dict[str, tuple[Callable[[], object], int]] = {
            "draw": (self.draw, count),
            "judge": (lambda: self.model(batch), count),
            "close": (lambda: self.rules.satisfied_by(batch), count),
            "query": (lambda: self.query(samples), samples),
        }
        for job, _ in jobs.values():
            job()
        return {
            name: done / statistics.median(self.seconds(job) for _ in range(REPEATS))
            for name, (job, done) in jobs.items()
        }


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


def own(case: Case) -> None:
    """A network that knows nothing of hornbook, asked here and on a device: the answers, and the speed."""
    torch.manual_seed(0)
    widths = pairwise((len(case.vocabulary), *HIDDEN))
    layers = [part for into, out in widths for part in (torch.nn.Linear(into, out), torch.nn.ReLU())][:-1]
    module = torch.nn.Sequential(*layers)
    logits = as_predictor(module, encoding="half", output="score")
    samples = logits(case.distribution.draw(1 << 20, np.random.default_rng(0)))
    with torch.no_grad():  # it rejects ten samples in a million, so that counterexamples are far apart
        layers[-1].bias -= float(np.partition(samples, 10)[10])
    here = Case(None)
    here.distribution = case.distribution
    here.model = case.model = Judge(as_predictor(module, encoding="half"))
    answers = [[each.asked(1 << 21, seed)(here.rules) for seed in range(8)] for each in (here, case)]
    chunks = [answer.at[1] for answer in answers[0] if isinstance(answer, Counterexample)]
    print(f"  a Sequential of one's own: 8 queries, counterexamples in chunks {chunks}")
    print(f"    equal here and on {case.device}: {answers[0] == answers[1]}")
    with torch.no_grad():
        layers[-1].bias += 1e6
    rate = case.rates(1 << 28 if case.device == "cuda" else 1 << 20)["query"]
    print(f"    {rate / 1e6:.2f} million a second")


def growth(device: str | None) -> dict[str, dict[int, float]]:
    """Microseconds an interpretation costs in a query, as one thing grows."""
    samples = 2**20 if device is None else 2**26
    clock = time.process_time if device is None else time.perf_counter

    def cost(case: Case, size: int = samples) -> float:
        case.query(min(size, samples))
        return 1e6 * min(case.seconds(lambda: case.query(size), clock) for _ in range(2)) / size

    return {
        "variables": {
            2 * n: cost(Case(device, pairs=n), samples * PAIRS // max(n, PAIRS)) for n in VARIABLES
        },
        "rules": {n: cost(Case(device, rules=n)) for n in RULE_COUNTS},
        "samples": {n: cost(Case(device), n) for n in SAMPLES[device]},
    }


def plot(files: list[Path], path: Path) -> None:
    """Draw the cost of an interpretation against variables, rules and samples."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "hornbook"
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
    for run in (json.loads(file.read_text()) for file in files):
        for panel, (name, costs) in zip(panels, run["growth"].items(), strict=True):
            panel.loglog([int(n) for n in costs], list(costs.values()), marker="o", label=run["where"])
            panel.set_xlabel(name)
            panel.grid(alpha=0.3)
    panels[0].set_ylabel("µs an interpretation")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(files))
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Print the rates, and what was asked for beside."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", nargs="*", type=Path, help="saved runs, for --plot")
    parser.add_argument("--device", help="a device of PyTorch's; without one, the CPU through NumPy")
    parser.add_argument("--from", dest="source", choices=["random", "mixture"], default="random")
    parser.add_argument("--own", action="store_true", help="a torch model of one's own, here and there")
    parser.add_argument("--samples", type=int, help="of the query that is timed")
    parser.add_argument("--growth", action="store_true", help="as variables, rules and samples grow")
    parser.add_argument("--query", type=int, help="one equivalence query over so many interpretations")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--plot", type=Path)
    args = parser.parse_args()
    if args.plot:
        return plot(args.runs, args.plot)
    cuda = args.device == "cuda"
    threads = torch.get_num_threads()
    where = torch.cuda.get_device_name() if cuda else f"CPU, {threads} thread{'s' * (threads > 1)}"
    case = Case(args.device, mixed=args.source == "mixture")
    rates = case.rates(args.samples or (2**28 if cuda else 708_344))
    print(f"{where}, {args.source}: million interpretations a second")
    for name, rate in rates.items():
        print(f"  {name:6} {rate / 1e6:9.2f}")
    if cuda:
        print(f"  at most {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB, {case.size:,} at a time")
    if args.own:
        own(case)
    grown = growth(args.device) if args.growth else {}
    for name, costs in grown.items():
        print(f"  µs by {name}: " + ", ".join(f"{n:,}: {cost:.4f}" for n, cost in costs.items()))
    if args.query:
        seconds = case.seconds(lambda: case.query(args.query))
        print(f"  one query over {args.query:,} interpretations: {seconds:.1f} s")
    if args.save:
        args.save.write_text(json.dumps({"where": where, "rates": rates, "growth": grown}, indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
