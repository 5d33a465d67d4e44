"""One network, many ways to read it: the paper's LRN*, ours step by step, and the trees.

    python benchmarks/extraction.py [--data hcc-survival.csv] [--seeds 0 1 2]

The network is 32-16-8-16-32, trained on the default mixture of the paper's task with early stopping.
Every method gets 100 equivalence queries, the trees as many labels as ours learned from, and all are
judged on the same fresh sample. Without --data the synthetic cohort is used. Of our rules the table
has the mean precision on held-out samples, and counts those that the network says itself, asked with
all else unknown.
"""

import argparse
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from hornbook.baselines import HoeffdingSettings, decision_tree, hoeffding_tree
from hornbook.data import load_dataset
from hornbook.evaluate import disagreement
from hornbook.experiments.network import MLP
from hornbook.experiments.paper import NETS, QUERIES, read_by_lrn_star
from hornbook.experiments.task import Task
from hornbook.extraction import Settings, extract
from hornbook.intervals import Share
from hornbook.learners.shrink import Shrink, shrink_one_zero
from hornbook.oracles.guided import Guided
from hornbook.queries import Budget, Membership
from hornbook.traces import Trace

NET = NETS[0][0]
SAMPLE, FRESH = 708_344, 1 << 18


@dataclass
class Row:
    """What a method ended with."""

    name: str
    member: Membership
    rules: int
    mean_body: float
    equivalence_queries: int
    membership_queries: int
    seconds: float
    answered: str = ""
    precision: str = ""
    said: str = ""


class Timed:
    """A network that keeps the time spent inside it."""

    def __init__(self, network: MLP) -> None:
        self.network = network
        self.seconds = 0.0

    def log_odds(self, batch):
        """The network's answer."""
        start = time.perf_counter()
        answers = self.network.log_odds(batch)
        self.seconds += time.perf_counter() - start
        return answers

    def __call__(self, batch):
        """Whether it accepts."""
        return self.log_odds(batch) > 0


def paper(task: Task, network: Timed, name: str, shrink: Shrink | None, seed: int) -> Row:
    """LRN* as the paper writes it, with or without smaller counterexamples."""
    start = time.perf_counter()
    found = read_by_lrn_star(network, task.mixed, SAMPLE, np.random.default_rng(seed), shrink=shrink)
    return Row(
        name,
        found.theory.satisfied_by,
        len(found.rules),
        float(np.mean([len(rule.body) for rule in found.rules])),
        found.equivalence_queries,
        found.membership_queries,
        time.perf_counter() - start,
    )


def ours(task: Task, network: Timed, name: str, guided: bool, seed: int) -> Row:
    """Prime bodies weighed by a pool, with or without guided search."""
    start = time.perf_counter()

    def search(member, margin):
        return Guided(member, margin, task.mixed, seed=seed)

    found = extract(
        network,
        task.mixed,
        Settings(budget=Budget(equivalence_queries=QUERIES), size=SAMPLE, seed=seed),
        margin=network.log_odds,
        heads=task.heads,
        guided=search if guided else None,
    )
    return Row(
        name,
        found.theory.satisfied_by,
        len(found.rules),
        float(np.mean([len(rule.body) for rule in found.rules])),
        len(found.trace.entries),
        found.membership_queries,
        time.perf_counter() - start,
        ", ".join(f"{name} {times}" for name, times in answerers(found.trace).items()),
        f"{np.mean([each.precision.estimate for each in found.statistics if each.precision.size]):.1%}",
        str(sum(bool(each.said) for each in found.statistics)),
    )


def answerers(trace: Trace) -> Counter[str]:
    """How many equivalence queries each oracle answered."""
    found = (entry["counterexample"] for entry in trace.entries if "counterexample" in entry)
    return Counter(counterexample["found_by"] for counterexample in found)


def trees(task: Task, network: Timed, labels: int, seed: int) -> list[Row]:
    """The trees, fitted to as many labels."""
    grown = [
        decision_tree(network, task.mixed, labels, np.random.default_rng(seed), max_leaf_nodes=200),
        decision_tree(network, task.mixed, labels, np.random.default_rng(seed)),
        hoeffding_tree(
            network,
            task.mixed,
            100_000,
            np.random.default_rng(seed),
            settings=HoeffdingSettings(50, 0.5),
            budget=Budget(membership_queries=labels, seconds=90),
        ),
    ]
    names = ("scikit-learn's tree, 200 leaves", "scikit-learn's tree, full", "river's Hoeffding tree")
    return [
        Row(name, tree.member, len(tree.theory), tree.mean_body_length, 0, tree.labels_used, tree.seconds)
        for name, tree in zip(names, grown, strict=True)
    ]


def main() -> None:
    """Print one table a seed of the network's training."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="the HCC file")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    arguments = parser.parse_args()
    task = Task.of(load_dataset("hcc", path=arguments.data) if arguments.data else load_dataset())
    for seed in arguments.seeds:
        network = Timed(task.network(NET, seed))
        rows = [
            paper(task, network, "LRN*, as in the paper", None, seed),
            paper(task, network, "LRN*, counterexamples shrunk", shrink_one_zero, seed),
        ]
        network.seconds = 0.0
        rows.append(ours(task, network, "prime bodies", False, seed))
        share = network.seconds / rows[-1].seconds
        rows.append(ours(task, network, "prime bodies, guided search", True, seed))
        learned_from = rows[2].membership_queries - rows[2].rules
        rows += trees(task, network, learned_from, seed)
        judges = {"nn": network, "t": task.theory.satisfied_by, **{row.name: row.member for row in rows}}
        table = disagreement(judges, task.mixed, FRESH, np.random.default_rng(seed + 20_000))
        show(
            seed,
            rows,
            table.shares,
            f"{task.table.name}; {100 * share:.0f} % of 'prime bodies' in the network",
        )


def show(seed: int, rows: list[Row], shares: dict[str, Share], title: str) -> None:
    """Print the rows."""
    said = Table(title=f"network of seed {seed} on {title}; it differs from T on {shares['nn_t']}")
    columns = (
        "method", "disagreement", "rules", "precision", "said", "mean body", "equivalence", "answered by",
        "membership", "seconds",
    )  # fmt: skip
    for column in columns:
        said.add_column(column)
    for row in rows:
        share = shares[f"nn_{row.name}"]
        said.add_row(
            row.name,
            f"{100 * share.estimate:.2f} % ({100 * share.low:.2f}–{100 * share.high:.2f})",
            f"{row.rules:,}",
            row.precision,
            row.said,
            f"{row.mean_body:.1f}",
            str(row.equivalence_queries),
            row.answered,
            f"{row.membership_queries:,}",
            f"{row.seconds:.1f}",
        )
    Console(width=170).print(said)


if __name__ == "__main__":
    main()
