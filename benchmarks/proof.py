"""Proofs about networks trained on the paper's task: rules, scaling, and what sampling does not see.

    pip install "hornbook[torch]"
    python benchmarks/proof.py [--data hcc-survival.csv] [--part rules|scaling|sampling] [--seconds 60]

`rules`: rules read out of the paper's network by queries are proved or refuted, for a network trained
on 400 examples and for one trained on 5,000. `scaling`: questions in which a quarter of the values is
free, for three networks and four numbers of base variables. `sampling`: a property that 708,344 samples
report as fine and the prover refutes. Without --data the synthetic cohort is used. Of the three bins of a
column at most one is true in `rules`. Times are CPU-seconds.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from rich.console import Console
from rich.table import Table

from hornbook.logic import BOTTOM, Batch, HornTheory, Rule, Vocabulary
from hornbook.models import as_predictor
from hornbook.paper import HARD_PROTOCOL, Task
from hornbook.paper.networks import Net
from hornbook.proof import Interpretations, RuleProver, Verdict
from hornbook.proof.region import UNKNOWN, climb, random_states
from hornbook.queries import (
    MLP,
    Budget,
    Groups,
    Random,
    Settings,
    Violations,
    run_learner,
    target_theory,
)
from hornbook.tables import load_dataset

PAPER = Net((32, 16, 8, 16, 32), 0.1)
NETS = (PAPER, Net((32, 32, 32), 0.1), Net((16, 8), 0.1))
SIZES = (10, 25, 51, 102)
SAMPLE = 708_344
RULES = 20


class Timed(RuleProver):
    """A prover that keeps every verdict, and the CPU-seconds that it took."""

    asked: list[tuple[Verdict, float]]

    def prove_rule(self, rule: Rule, seconds: float | None = None) -> Verdict:
        """The verdict."""
        start = time.process_time()
        verdict = super().prove_rule(rule, seconds)
        self.asked = [*getattr(self, "asked", []), (verdict, time.process_time() - start)]
        return verdict


def prover_of(network: MLP, seconds: float, groups: Groups = ()) -> Timed:
    """A prover about a network that judges interpretations."""
    return Timed(as_predictor(network), Interpretations(network.vocabulary, groups), seconds)


def networks(task: Task) -> Iterator[tuple[str, MLP]]:
    """The paper's architecture trained on 400 examples, and on 5,000."""
    yield "400 examples", task.network(PAPER, seed=0)
    larger = replace(task, protocol=replace(task.protocol, sizes=(2500, 2500)))
    yield "5,000 examples", larger.network(PAPER, seed=0)


def extracted(task: Task, network: MLP) -> tuple[Rule, ...]:
    """Rules read out by equivalence queries."""
    settings = Settings(Budget(equivalence_queries=RULES + 10), pool=1 << 14, evaluation=1 << 12, tries=3)
    found = run_learner(network, task.mixed, settings, heads=task.heads)
    return found.rules[:RULES]


def times(asked: Sequence[tuple[Verdict, float]]) -> list[str]:
    """How many questions, how they ended, and the median and worst CPU-seconds."""
    kinds = Counter(verdict.status for verdict, _ in asked)
    spent = [seconds for _, seconds in asked]
    return [
        f"{len(asked):,}",
        *(str(kinds[kind]) for kind in ("proved", "refuted", "undecided")),
        f"{np.median(spent):.3f}",
        f"{max(spent):.1f}",
    ]


QUESTIONS = ("questions", "proved", "refuted", "undecided", "median s", "worst s")


def columns(title: str, *names: str) -> Table:
    """An empty table."""
    table = Table(title=title)
    for name in names:
        table.add_column(name, justify="left" if name == names[0] else "right")
    return table


def rules_table(task: Task, seconds: float) -> Table:
    """Extracted rules proved or refuted."""
    table = columns(f"extracted rules, {seconds:g} s a question", "network", "mean body", *QUESTIONS)
    for name, network in networks(task):
        rules = extracted(task, network)
        prover = prover_of(network, seconds, task.binariser.groups)
        body = np.mean([len(rule.body) for rule in rules])
        for rule in rules:
            prover.prove_rule(rule)
        table.add_row(name, f"{body:.1f}", *times(prover.asked))
    return table


def smaller(task: Task, variables: int, net: Net) -> MLP:
    """A network trained on the task over the class and the first other variables alone."""
    whole, label = task.rows.vocabulary, str(task.table.label)
    others = [whole.name(v) for v, _ in whole.pairs if whole.name(v) != label]
    names = [*others[: variables - 1], label]
    vocabulary = Vocabulary.with_duals(names)
    at = [whole.index(name) for name in vocabulary]
    rows = Batch(vocabulary, task.rows.true[at], task.rows.false[at], len(task.rows))
    theory = target_theory(rows, label, conflicts="drop")
    narrow = replace(task, rows=rows, theory=theory)
    return narrow.network(net, seed=0)


def scaling_table(task: Task, seconds: float) -> Table:
    """Questions about clearly rejected inputs of which a quarter of the values is left free."""
    table = columns(
        f"a quarter of the values free, {seconds:g} s a question", "network", "base variables", *QUESTIONS
    )
    for net in NETS:
        for size in SIZES:
            network = smaller(task, size, net)
            prover, rng = prover_of(network, seconds), np.random.default_rng(0)
            known = prover.space.whole()
            known[:, UNKNOWN] = False
            for _ in range(10):
                start = random_states(prover.space, known, 1, rng)
                (lowest,), _ = climb(prover.rejecting, known, start, np.inf)
                lowest[rng.permutation(size)[: size // 4]] = UNKNOWN
                (item,) = prover.space.batch(lowest[None])
                prover.prove_rule(Rule(item.true, BOTTOM))
            table.add_row("-".join(map(str, net.widths)), str(size), *times(prover.asked))
    return table


def sampling_table(task: Task, seconds: float) -> Table:
    """A rule of a patient with spare literals left out, until sampling and the prover disagree."""
    table = columns(
        f"{SAMPLE:,} violations sampled, then the prover", "property", "accepted", "verdict", "seconds"
    )
    network = task.network(PAPER, seed=0)
    prover = prover_of(network, seconds)
    for rule in (rule for rule in task.theory if rule.head is not BOTTOM):
        if prover.prove_rule(rule).status != "proved":
            continue
        for literal in sorted(rule.body):
            claim = Rule(rule.body - {literal}, rule.head)
            verdict = prover.prove_rule(claim)
            if verdict.status == "proved":
                rule = claim
            if verdict.status == "refuted" and not accepted_samples(task, network, claim):
                text = f"the rule of a patient with {len(claim.body)} literals left in its body"
                table.add_row(text, f"0 of {SAMPLE:,}", verdict.status, f"{prover.asked[-1][1]:.3f}")
                witness = verdict.witness
                assert witness is not None
                odds = network.log_odds(Batch.from_interpretations([witness], network.vocabulary))[0]
                known = ", ".join(network.vocabulary.named(witness.true - claim.body))
                table.add_row(f"witness, beside the body: {known}", "", f"log-odds {odds:+.3f}", "")
                return table
    return table


def accepted_samples(task: Task, network: MLP, claim: Rule) -> int:
    """How many of many samples that violate a rule the network accepts."""
    violated = Violations(HornTheory(network.vocabulary, [claim]), rest=Random(network.vocabulary))
    rng, hits = np.random.default_rng(0), 0
    for start in range(0, SAMPLE, 1 << 16):
        hits += int(network(violated.draw(min(1 << 16, SAMPLE - start), rng)).sum())
    return hits


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="a copy of the HCC survival data")
    parser.add_argument("--part", choices=("rules", "scaling", "sampling"))
    parser.add_argument("--seconds", type=float, default=60.0, help="what a question may take")
    arguments = parser.parse_args()
    data = load_dataset("hcc", path=arguments.data) if arguments.data else load_dataset("hcc-synthetic")
    task = Task.of(data, HARD_PROTOCOL)
    parts = {
        "rules": lambda: rules_table(task, arguments.seconds),
        "scaling": lambda: scaling_table(task, arguments.seconds),
        "sampling": lambda: sampling_table(task, arguments.seconds),
    }
    for name, part in parts.items():
        if arguments.part in (None, name):
            Console(width=200).print(part())


if __name__ == "__main__":
    main()
