"""How near can any Horn theory come to a network? A floor under the disagreement.

    python benchmarks/floor.py [--data hcc-survival.csv] [--seeds 0 1 2] [--run run/]

The networks are 32-16-8-16-32, or those that `hornbook reproduce -o run/` found.

What a Horn theory rejects, it rejects as well when an unknown value becomes known. A network need
not: it may reject an interpretation and accept it once a value is filled in, and then a theory is
wrong about one of the two, whatever its rules. Here a violation or a random interpretation is
drawn, and its FREE most influential open values take all 3^FREE combinations of true, false and
unknown, which are equally likely. The fewest of them that any theory gets wrong is a minimum cut
of that lattice. Each cut is exact; their mean over draws is an estimate of a bound from below that
holds for any number of rules of any length. More open values would only raise the bound.

A hundred rules reach less. The network rejects a few random interpretations too, and a body has to be
long to be right about more of them than it is wrong about. So many literals are chosen greedily, and
of the random interpretations at most RULES / 3^literals are covered by such bodies.
"""

import argparse
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from hornbook.logic import Batch
from hornbook.paper import HARD_PROTOCOL, Task
from hornbook.paper.claims import NETS
from hornbook.queries import MLP, Random, Violations
from hornbook.tables import load_dataset

FALSE, TRUE, UNKNOWN = range(3)
FREE = 8
"""Open values that take all combinations."""

RULES = 100
"""Rules that a reader of the network may write."""


class Asked:
    """A network asked about values of the base variables, as a (k, n) array of FALSE, TRUE, UNKNOWN."""

    def __init__(self, network: MLP, task: Task) -> None:
        self.network, self.vocabulary = network, task.rows.vocabulary
        self.base, self.dual = np.array(self.vocabulary.pairs).T

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """The log-odds of each."""
        known = np.where(values == UNKNOWN, np.nan, values)
        dense = np.full((len(values), len(self.vocabulary)), np.nan)
        dense[:, self.base], dense[:, self.dual] = known, 1 - known
        return self.network.log_odds(Batch.from_array(dense, self.vocabulary))


@cache
def lattice(free: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All values of so many variables, and from which to which one unknown value becomes known."""
    values = np.array(list(product((FALSE, TRUE, UNKNOWN), repeat=free)), np.int8)
    power = 3 ** np.arange(free)[::-1]
    at, variable = np.nonzero(values == UNKNOWN)
    steps = [at - (UNKNOWN - value) * power[variable] for value in (FALSE, TRUE)]
    return values, np.concatenate([at, at]), np.concatenate(steps)


def least_wrong(rejected: np.ndarray, free: int) -> float:
    """The least share of a lattice that a theory, which stays with its rejections, gets wrong."""
    if rejected.all() or not rejected.any():
        return 0.0
    _, origin, reached = lattice(free)
    size, source, sink = len(rejected), len(rejected), len(rejected) + 1
    no, yes = np.flatnonzero(rejected), np.flatnonzero(~rejected)
    start = np.concatenate([origin, np.full(len(no), source), yes])
    end = np.concatenate([reached, no, np.full(len(yes), sink)])
    room = np.concatenate([np.full(len(origin), size), np.ones(len(no) + len(yes), np.int64)])
    graph = coo_array((room.astype(np.int32), (start, end)), shape=(size + 2, size + 2)).tocsr()
    return maximum_flow(graph, source, sink).flow_value / size


def floors(asked: Asked, drawn: np.ndarray, is_open: np.ndarray, draws: int) -> Iterator[float]:
    """For some of the items drawn, the least share of what their open values lead to."""
    rejected = asked(drawn) < 0
    if rejected.all() or not rejected.any():
        yield from np.zeros(draws)
        return
    ends = np.empty((2, len(drawn), drawn.shape[1]))
    for v in np.flatnonzero(is_open):
        for value in (FALSE, TRUE):
            changed = drawn.copy()
            changed[:, v] = value
            ends[value, :, v] = asked(changed)
    influence = np.abs(ends[TRUE] - ends[FALSE]).mean(axis=0)
    order = sorted(np.flatnonzero(is_open), key=lambda v: -influence[v])[:FREE]
    for item in drawn[:draws]:
        values = np.repeat(item[None], 3 ** len(order), axis=0)
        values[:, order] = lattice(len(order))[0]
        yield least_wrong(asked(values) < 0, len(order))


def of_violations(asked: Asked, violations: Violations, rng: np.random.Generator) -> list[float]:
    """One figure a rule of T: its body true, its head false, the rest open."""
    found = []
    for rule in violations.rules:
        literals = {*rule.body, asked.vocabulary.dual(rule.head)}
        demanded = np.where(np.isin(asked.base, list(literals)), TRUE, FALSE)
        is_open = ~(np.isin(asked.base, list(literals)) | np.isin(asked.dual, list(literals)))
        drawn = np.where(is_open, rng.integers(0, 3, (64, len(demanded))), demanded).astype(np.int8)
        found.append(float(np.mean(list(floors(asked, drawn, is_open, 16)))))
    return found


def of_random(asked: Asked, rng: np.random.Generator) -> list[float]:
    """One figure a random interpretation."""
    drawn = rng.integers(0, 3, (1024, len(asked.base))).astype(np.int8)
    return list(floors(asked, drawn, np.ones(len(asked.base), np.bool_), 512))


def count_literals_needed(asked: Asked, rng: np.random.Generator) -> int:
    """The number of literals, chosen greedily, with which most random interpretations are rejected."""
    drawn = rng.integers(0, 3, (2048, len(asked.base))).astype(np.int8)
    fixed: list[int] = []
    while (asked(drawn) < 0).mean() <= 0.5:
        means = np.full((2, drawn.shape[1]), np.inf)  # log-odds with one more value fixed
        for v in set(range(drawn.shape[1])) - set(fixed):
            for value in (FALSE, TRUE):
                changed = drawn[:256].copy()
                changed[:, v] = value
                means[value, v] = asked(changed).mean()
        value, v = np.unravel_index(means.argmin(), means.shape)
        drawn[:, v] = value
        fixed.append(int(v))
    return len(fixed)


def network_of(task: Task, seed: int, run: Path | None) -> MLP:
    """The paper's network, or the one that a reproduction found with this seed."""
    if run is None:
        return task.network(NETS[0][0], seed)
    return MLP.load(run / task.protocol.name / f"seed-{seed}" / "search" / "network.safetensors")


def main() -> None:
    """Print one row a seed of the network's training."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="the HCC file")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--run", type=Path, help="the folder of a reproduction with these seeds")
    arguments = parser.parse_args()
    table = load_dataset("hcc", path=arguments.data) if arguments.data else load_dataset()
    task = Task.of(table, HARD_PROTOCOL)
    shares = {type(part): share for part, share in zip(task.mixed.components, task.mixed.shares, strict=True)}
    violations = next(part for part in task.mixed.components if isinstance(part, Violations))
    said = Table(
        title=f"no Horn theory comes nearer to a network on {task.table.name} (± standard error of the draws)"
    )
    columns = ("seed", "violations", "random", "of all, at least", "random, rejected", "literals needed")
    for column in (*columns, f"{RULES} rules, at least"):
        said.add_column(column)
    for seed in arguments.seeds:
        network = network_of(task, seed, arguments.run)
        asked, rng = Asked(network, task), np.random.default_rng(seed)
        parts = {Violations: of_violations(asked, violations, rng), Random: of_random(asked, rng)}
        all_in_all = sum(shares[part] * np.mean(found) for part, found in parts.items())
        spread = np.std(parts[Random]) / np.sqrt(len(parts[Random]))
        random = Random(task.rows.vocabulary, task.protocol.random_unknown)
        rejected = 1 - network(random.draw(1 << 17, rng)).mean()
        literals = count_literals_needed(asked, rng)
        beyond = max(0.0, rejected - RULES / 3**literals)
        by_rules = shares[Violations] * np.mean(parts[Violations]) + shares[Random] * beyond
        said.add_row(
            str(seed),
            f"{100 * np.mean(parts[Violations]):.2f} %",
            f"{100 * np.mean(parts[Random]):.2f} ± {100 * spread:.2f} %",
            f"{100 * all_in_all:.2f} %",
            f"{100 * rejected:.2f} %",
            str(literals),
            f"{100 * by_rules:.2f} %",
        )
    Console().print(said)


if __name__ == "__main__":
    main()
