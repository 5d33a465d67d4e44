"""One network, many ways to read it: the paper's LRN*, ours, and trees.

    python benchmarks/extraction.py [--data hcc-survival.csv] [--seeds 0 1 2]

The network is 32-16-8-16-32, trained under the protocol `hard` with early stopping.
Every method gets 100 equivalence queries, the trees as many labels as ours learned from, and all are
judged on the same fresh sample. Without --data the synthetic cohort is used. Of a tree `rules` counts
the leaves.
"""

import argparse
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.tree import DecisionTreeClassifier

from hornbook.logic import Batch
from hornbook.paper import HARD_PROTOCOL, Task
from hornbook.paper.claims import NETS, QUERIES
from hornbook.paper.hoeffding import UNKNOWN_INPUT, HoeffdingSettings, ask_in_blocks, hoeffding_tree
from hornbook.paper.task import run_lrn_star
from hornbook.queries import (
    MLP,
    Budget,
    Literals,
    Membership,
    Settings,
    measure_disagreement,
    run_learner,
)
from hornbook.statistics import Share
from hornbook.tables import load_dataset

NET = NETS[0][0]
SAMPLE, FRESH = 708_344, 1 << 18
OURS = "prime bodies"


@dataclass
class Row:
    """What a method ended with."""

    name: str
    rules: int
    mean_body: float | None
    equivalence_queries: int
    membership_queries: int
    seconds: float
    answered: str = ""
    differs: Share | None = None


Read = tuple[Row, Membership]
"""What a method ended with, and what it says of interpretations."""


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


def paper(task: Task, network: Timed, name: str, seed: int) -> Read:
    """LRN* as printed."""
    start = time.perf_counter()
    found = run_lrn_star(network, task.mixed, SAMPLE, np.random.default_rng(seed))
    row = Row(
        name,
        len(found.rules),
        float(np.mean([len(rule.body) for rule in found.rules])),
        found.equivalence_queries,
        found.membership_queries,
        time.perf_counter() - start,
    )
    return row, found.theory.satisfied_by


def ours(task: Task, network: Timed, name: str, seed: int) -> Read:
    """Prime bodies weighed by a pool."""
    start = time.perf_counter()
    found = run_learner(
        network,
        task.mixed,
        Settings(budget=Budget(equivalence_queries=QUERIES), size=SAMPLE, seed=seed),
        heads=task.heads,
    )
    row = Row(
        name,
        len(found.rules),
        float(np.mean([len(rule.body) for rule in found.rules])),
        len(found.entries),
        found.membership_queries,
        time.perf_counter() - start,
        ", ".join(f"{name} {times}" for name, times in count_answers(found.entries).items()),
    )
    return row, found.theory.satisfied_by


def count_answers(entries: tuple[dict, ...]) -> Counter[str]:
    """How many equivalence queries each oracle answered."""
    found = (entry["counterexample"] for entry in entries if "counterexample" in entry)
    return Counter(counterexample["found_by"] for counterexample in found)


def trees(task: Task, network: Timed, labels: int, seed: int) -> list[Read]:
    """The trees, fitted to as many labels."""
    found = [
        fit_tree(task, network, labels, seed, 200, "scikit-learn's tree, 200 leaves"),
        fit_tree(task, network, labels, seed, None, "scikit-learn's tree, full"),
    ]
    start = time.perf_counter()
    grown = hoeffding_tree(
        network,
        task.mixed,
        100_000,
        np.random.default_rng(seed),
        settings=HoeffdingSettings(50, 0.5),
        samples=labels // 100_000,
    )
    seconds = time.perf_counter() - start
    row = Row("Hoeffding tree", grown.tree.splits + 1, None, 0, 100_000 * grown.samples, seconds)
    return [*found, (row, grown.tree.member)]


def fit_tree(
    task: Task, network: Timed, labels: int, seed: int, max_leaf_nodes: int | None, name: str
) -> Read:
    """A tree of scikit-learn over one variable of each pair."""
    start, rng = time.perf_counter(), np.random.default_rng(seed)
    batch, drawn = task.mixed.draw(labels, rng), Literals.of(task.mixed.vocabulary).drawn
    tree = DecisionTreeClassifier(max_leaf_nodes=max_leaf_nodes, random_state=seed)

    def encode(batch: Batch) -> np.ndarray:
        return batch.to_array(UNKNOWN_INPUT, np.float32)[:, drawn]

    tree.fit(encode(batch), ask_in_blocks(network, batch))
    row = Row(name, int(tree.get_n_leaves()), None, 0, labels, time.perf_counter() - start)
    return row, lambda batch: tree.predict(encode(batch))


def read(task: Task, seed: int) -> tuple[list[Row], str]:
    """The network of a seed, read in every way: the rows of its table, and what to say above them."""
    network = Timed(task.network(NET, seed))
    found = [paper(task, network, "LRN*, as in the paper", seed)]
    network.seconds, start = 0.0, time.process_time()
    found.append(ours(task, network, OURS, seed))
    cpu_seconds = time.process_time() - start
    learned = found[-1][0]
    share = network.seconds / learned.seconds
    found += trees(task, network, learned.membership_queries - learned.rules, seed)
    judges = {"nn": network, "t": task.theory.satisfied_by, **{row.name: member for row, member in found}}
    shares = measure_disagreement(judges, task.mixed, FRESH, np.random.default_rng(seed + 20_000)).shares
    title = (
        f"network of seed {seed} on {task.table.name}; '{OURS}' took "
        f"{cpu_seconds:.1f} CPU-seconds, {100 * share:.0f} % of its time in the network; "
        f"the network differs from T on {shares['nn_t']}"
    )
    return [replace(row, differs=shares[f"nn_{row.name}"]) for row, _ in found], title


def main() -> None:
    """Print one table a seed of the network's training."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="the HCC file")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    arguments = parser.parse_args()
    table = load_dataset("hcc", path=arguments.data) if arguments.data else load_dataset()
    task = Task.of(table, HARD_PROTOCOL)
    for seed in arguments.seeds:
        show(*read(task, seed))


def show(rows: list[Row], title: str) -> None:
    """Print the rows."""
    console, printed = Console(width=220), Table()
    columns = (
        "method", "disagreement", "rules", "mean body", "equivalence", "answered by",
        "membership", "seconds",
    )  # fmt: skip
    for column in columns:
        printed.add_column(column)
    for row in rows:
        share = row.differs
        printed.add_row(
            row.name,
            f"{100 * share.estimate:.2f} % ({100 * share.low:.2f}–{100 * share.high:.2f})",
            f"{row.rules:,}",
            "" if row.mean_body is None else f"{row.mean_body:.1f}",
            str(row.equivalence_queries),
            row.answered,
            f"{row.membership_queries:,}",
            f"{row.seconds:.1f}",
        )
    console.print(title, soft_wrap=True)
    console.print(printed)


if __name__ == "__main__":
    main()
