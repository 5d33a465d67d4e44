"""One network, many ways to read it: the paper's LRN*, ours step by step, and the trees.

    python benchmarks/extraction.py [--data hcc-survival.csv] [--seeds 0 1 2]
    python benchmarks/extraction.py --data hcc-survival.csv --seeds 0-19 --brief --n-jobs 2

The network is 32-16-8-16-32, trained under the protocol `hard` with early stopping.
Every method gets 100 equivalence queries, the trees as many labels as ours learned from, and all are
judged on the same fresh sample. Without --data the synthetic cohort is used. Of our rules the table
has the mean precision on held-out samples, and counts those that the network entails, asked with all
else unknown. For several networks the medians are given too, and on how many of them a method is ahead
of our rules. `--brief` gives medians alone, without LRN*, the full and the Hoeffding tree; with `--n-jobs`
networks are read side by side, and seconds are those of a shared machine.
"""

import argparse
import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from hornbook.baselines import HoeffdingSettings, decision_tree, hoeffding_tree
from hornbook.paper import HARD_PROTOCOL, Task, run_lrn_star
from hornbook.paper.claims import NETS, QUERIES
from hornbook.paper.stages import parallel_map
from hornbook.paper.task import Line7
from hornbook.queries import MLP, Budget, Membership, Settings, Trace, extract, measure_disagreement
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
    mean_body: float
    equivalence_queries: int
    membership_queries: int
    seconds: float
    answered: str = ""
    precision: str = ""
    entailed: str = ""
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


def paper(
    task: Task,
    network: Timed,
    name: str,
    seed: int,
    *,
    line_7: Line7 = "printed",
) -> Read:
    """LRN* as printed, with smaller counterexamples, or with line 7 decided by heads."""
    start = time.perf_counter()
    rng = np.random.default_rng(seed)
    found = run_lrn_star(network, task.mixed, SAMPLE, rng, line_7=line_7)
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
    found = extract(
        network,
        task.mixed,
        Settings(budget=Budget(equivalence_queries=QUERIES), size=SAMPLE, seed=seed),
        margin=network.log_odds,
        heads=task.heads,
    )
    row = Row(
        name,
        len(found.rules),
        float(np.mean([len(rule.body) for rule in found.rules])),
        len(found.trace.entries),
        found.membership_queries,
        time.perf_counter() - start,
        ", ".join(f"{name} {times}" for name, times in answerers(found.trace).items()),
        f"{np.mean([each.precision.estimate for each in found.statistics if each.precision.size]):.1%}",
        str(sum(bool(each.entailed_by_model) for each in found.statistics)),
    )
    return row, found.theory.satisfied_by


def answerers(trace: Trace) -> Counter[str]:
    """How many equivalence queries each oracle answered."""
    found = (entry["counterexample"] for entry in trace.entries if "counterexample" in entry)
    return Counter(counterexample["found_by"] for counterexample in found)


def trees(task: Task, network: Timed, labels: int, brief: bool, seed: int) -> list[Read]:
    """The trees, fitted to as many labels."""
    growers = {"scikit-learn's tree, 200 leaves": partial(decision_tree, size=labels, max_leaf_nodes=200)}
    if not brief:
        growers["scikit-learn's tree, full"] = partial(decision_tree, size=labels)
        growers["Hoeffding tree"] = partial(
            hoeffding_tree,
            size=100_000,
            settings=HoeffdingSettings(50, 0.5),
            samples=labels // 100_000,
            seconds=90,
        )
    found = []
    for name, grow in growers.items():
        start = time.perf_counter()
        tree = grow(network, task.mixed, rng=np.random.default_rng(seed))
        seconds, length = time.perf_counter() - start, np.mean([len(rule.body) for rule in tree.theory])
        found.append((Row(name, len(tree.theory), length, 0, tree.labels_used, seconds), tree.member))
    return found


def read(task: Task, brief: bool, seed: int) -> tuple[list[Row], str]:
    """The network of a seed, read in every way: the rows of its table, and what to say above them."""
    network = Timed(task.network(NET, seed))
    found = [] if brief else [
        paper(task, network, "LRN*, as in the paper", seed),
        paper(task, network, "LRN* by heads", seed, line_7="heads"),
    ]  # fmt: skip
    network.seconds, start = 0.0, time.process_time()
    found.append(ours(task, network, OURS, seed))
    cpu_seconds = time.process_time() - start
    learned = found[-1][0]
    share = network.seconds / learned.seconds
    found += trees(task, network, learned.membership_queries - learned.rules, brief, seed)
    judges = {"nn": network, "t": task.theory.satisfied_by, **{row.name: member for row, member in found}}
    shares = measure_disagreement(judges, task.mixed, FRESH, np.random.default_rng(seed + 20_000)).shares
    title = (
        f"network of seed {seed} on {task.table.name}; '{OURS}' took "
        f"{cpu_seconds:.1f} CPU-seconds, {100 * share:.0f} % of its time in the network; "
        f"the network differs from T on {shares['nn_t']}"
    )
    return [replace(row, differs=shares[f"nn_{row.name}"]) for row, _ in found], title


def main() -> None:
    """Print one table a seed of the network's training, and one of them all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="the HCC file")
    parser.add_argument("--seeds", type=seeds, nargs="+", default=[range(1)], help="such as 0 1 2, or 0-19")
    parser.add_argument("--brief", action="store_true", help="medians of ours and of a tree alone")
    parser.add_argument("--n-jobs", type=int, default=1, help="networks that are read side by side")
    arguments = parser.parse_args()
    table = load_dataset("hcc", path=arguments.data) if arguments.data else load_dataset()
    task = Task.of(table, HARD_PROTOCOL)
    chosen = [seed for several in arguments.seeds for seed in several]
    tables = []
    for rows, title in parallel_map(partial(read, task, arguments.brief), chosen, arguments.n_jobs):
        tables.append(rows)
        if not arguments.brief:
            show(rows, title)
    if len(tables) > 1:
        compare(tables)


def seeds(text: str) -> range:
    """A seed, or the seeds from one to another."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def compare(tables: list[list[Row]]) -> None:
    """Print the medians over several networks."""
    methods = list(zip(*tables, strict=True))
    differ = {rows[0].name: np.array([row.differs.estimate for row in rows]) for rows in methods}
    printed = Table(title=f"{len(tables)} networks: medians, and the range")
    for column in ("method", "disagreement", "at most 1 %", f"ahead of '{OURS}'", "rules", "seconds"):
        printed.add_column(column)
    for (name, shares), rows in zip(differ.items(), methods, strict=True):
        printed.add_row(
            name,
            f"{100 * np.median(shares):.2f} % ({100 * shares.min():.2f}–{100 * shares.max():.2f})",
            f"{(shares <= 0.01).sum()} of {len(rows)}",
            "" if name == OURS else f"{(shares < differ[OURS]).sum()} of {len(rows)}",
            f"{np.median([row.rules for row in rows]):,.0f}",
            f"{np.median([row.seconds for row in rows]):.1f}",
        )
    Console(width=220).print(printed)


def show(rows: list[Row], title: str) -> None:
    """Print the rows."""
    printed = Table(title=title)
    columns = (
        "method", "disagreement", "rules", "precision", "entailed", "mean body", "equivalence", "answered by",
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
            row.precision,
            row.entailed,
            f"{row.mean_body:.1f}",
            str(row.equivalence_queries),
            row.answered,
            f"{row.membership_queries:,}",
            f"{row.seconds:.1f}",
        )
    Console(width=220).print(printed)


if __name__ == "__main__":
    main()
