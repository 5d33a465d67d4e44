"""Distinct counterexamples per second: guided search beside sampling, on a network as the paper's.

    OMP_NUM_THREADS=1 python benchmarks/guided.py [--data hcc-survival.csv] [--seconds 5]

A network (32-16-8-16-32) is trained on the default training set. The hypotheses are the
background alone, the rules extracted from the network with 40 equivalence queries, and the
theory that labelled the training set. Each is compared with the network by the paper's 708,344
samples and by guided search: with the network's margins, and with decisions only.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from hornbook.data import binarise_table, load_dataset
from hornbook.distributions import Distribution, Random
from hornbook.learners import Settings, extract
from hornbook.logic import Batch, Bools, HornTheory, bits
from hornbook.models import Net, as_predictor, train
from hornbook.oracles import SAMPLING_CHUNK, Counted, Judge, LocalSearch
from hornbook.paper import HARD_PROTOCOL, draw_training_set, target_theory
from hornbook.queries import Budget

SAMPLES = 708_344
"""The paper's sample size for 204 variables and ε = δ = 0.1."""

Found = Iterator[tuple[Batch, Bools]]
"""Batches of counterexamples, and which are positive."""


@dataclass
class Tally:
    """What a search found in which time."""

    negative: int
    positive: int
    seconds: float
    first: float | None


def tally(found: Found, seconds: float) -> Tally:
    """Count distinct counterexamples until the time or the search ends."""
    seen: tuple[set[bytes], set[bytes]] = (set(), set())
    first = None
    start = time.perf_counter()
    for batch, positive in found:
        if len(batch) and first is None:
            first = time.perf_counter() - start
        keys = bits.transpose(np.concatenate([batch.true, batch.false]), len(batch))
        for key, side in zip(keys, positive.tolist(), strict=True):
            seen[side].add(key.tobytes())
        if time.perf_counter() - start > seconds:
            break
    return Tally(len(seen[False]), len(seen[True]), time.perf_counter() - start, first)


def sampled(judge: Callable[[Batch], Bools], distribution: Distribution, hypothesis: HornTheory) -> Found:
    """The counterexamples among fresh samples."""
    rng = np.random.default_rng(1)
    for start in range(0, SAMPLES, SAMPLING_CHUNK):
        batch = distribution.draw(min(SAMPLING_CHUNK, SAMPLES - start), rng)
        accepted = judge(batch)
        differs = accepted != hypothesis.satisfied_by(batch)
        yield batch[differs], accepted[differs]


def guided(search: LocalSearch, hypothesis: HornTheory) -> Found:
    """The counterexamples of query after query."""
    while True:
        yield from search.search(hypothesis)


def main() -> None:
    """Train, extract, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", help="a copy of the HCC dataset; synthetic patients without")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each guided search")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    table = load_dataset("hcc", path=arguments.data) if arguments.data else load_dataset()
    _, rows = binarise_table(table, dual=True)
    theory = target_theory(rows, table.label)
    recipe = HARD_PROTOCOL.recipe(theory, rows)
    examples = draw_training_set(theory, recipe, np.random.default_rng(arguments.seed))
    network = train(examples, Net((32, 16, 8, 16, 32), 0.1), seed=arguments.seed)
    predictor = as_predictor(network.module, encoding="half")
    judge = Judge(predictor)
    distribution = Random(theory.vocabulary)
    settings = Settings(Budget(equivalence_queries=40), seed=arguments.seed)
    extracted = extract(judge, distribution, settings, margin=judge.margin)

    report = Table(
        "hypothesis", "search", "questions", "negative", "positive", "distinct a second", "first after",
        title=f"{table.name}, network of seed {arguments.seed}",
    )  # fmt: skip
    hypotheses = {
        "background": HornTheory.background(theory.vocabulary),
        f"{len(extracted.rules)} extracted rules": extracted.theory,
        f"the {len(rows)} rows' rules": theory,
    }
    ways = {"margins": judge.margin, "decisions": None}
    for name, hypothesis in hypotheses.items():
        searches: dict[str, tuple[Counted, Found]] = {}
        counted = Counted(judge)
        searches["sampling"] = counted, sampled(counted, distribution, hypothesis)
        for way, margin in ways.items():
            counted = Counted(margin or judge)
            member = (lambda batch, ask=counted: ask(batch) >= 0) if margin else counted
            oracle = LocalSearch(member, counted if margin else None, distribution, seed=0, walkers=1024)
            searches[f"guided, {way}"] = counted, guided(oracle, hypothesis)
        for search, (counted, found) in searches.items():
            result = tally(found, np.inf if search == "sampling" else arguments.seconds)
            report.add_row(
                name,
                search,
                f"{counted.questions:,}",
                f"{result.negative:,}",
                f"{result.positive:,}",
                f"{(result.negative + result.positive) / result.seconds:,.0f}",
                "never" if result.first is None else f"{1000 * result.first:.0f} ms",
            )
    Console(width=120).print(report)


if __name__ == "__main__":
    main()
