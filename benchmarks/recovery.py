"""Recovery where the truth is known: random Horn theories as the black box, rule learners beside each other.

    pip install "hornbook[peers,torch]"
    python benchmarks/recovery.py [--seeds 3] [--networks 1] [--only hornbook RIPPER]

Every learner is shown total assignments only, and whether the theory accepts them. It answers
with patterns that it holds to be rejected; a pattern is sound if the theory rejects whatever
fits it. A learner has recovered the theory if its patterns are sound and say together all that
the theory says. Then networks are trained on such theories, as black boxes that are almost right.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import re
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from horn_networks import network_inputs, trained_network
from rich.console import Console
from rich.table import Table

from hornbook.baselines import convert_tree, rejecting_branches
from hornbook.logic import BOTTOM, Batch, HornTheory, random_theory, violation
from hornbook.queries import Budget, Counted, Random, Settings, extract
from hornbook.queries.completions import Completions
from hornbook.statistics import Share

NETWORK_SETTINGS = Settings(Budget(equivalence_queries=100), min_precision=0.97, tries=2)
"""How rules are read out of networks that are almost right."""

FRESH = 100_000
"""Fresh assignments on which agreement with the theory is measured."""


@dataclass(frozen=True)
class Setting:
    """Random theories of one size, and how many labels those get who learn from labels."""

    variables: int
    rules: int
    body: tuple[int, int]
    labels: int


SETTINGS = (Setting(30, 15, (2, 4), 5_000), Setting(30, 15, (2, 4), 20_000), Setting(60, 30, (3, 8), 20_000))


@dataclass(frozen=True)
class Pattern:
    """What is held to be rejected: any assignment with these variables true and those false."""

    true: frozenset[int]
    false: frozenset[int]


@dataclass(frozen=True)
class Result:
    """How one learner did on one theory."""

    equivalent: bool
    found: int
    rules: int
    unsound: int
    agreement: float
    labels: int
    cpu_seconds: float

    @classmethod
    def of(
        cls,
        theory: HornTheory,
        patterns: Sequence[Pattern],
        labels: int,
        cpu_seconds: float,
        rng: np.random.Generator,
    ) -> "Result":
        """Judge the patterns that a learner answered with."""
        sound = [pattern for pattern in patterns if is_sound(pattern, theory)]
        unsound = len(patterns) - len(sound)
        found = len(theory) - len(missed_rules(sound, theory))
        drawn = Random(theory.vocabulary, missing=0.0).draw(FRESH, rng)
        agreed = Share.where(accepted(patterns, drawn) == theory.satisfied_by(drawn))
        equivalent = found == len(theory) and not unsound
        return cls(equivalent, found, len(patterns), unsound, agreed.estimate, labels, cpu_seconds)


Competitor: TypeAlias = Callable[[HornTheory, np.random.Generator], Result]


def patterns_of(theory: HornTheory) -> list[Pattern]:
    """The rules of a theory as what they reject."""
    broken = map(violation, theory)
    return [Pattern(item.true, item.false) for item in broken]


def is_sound(pattern: Pattern, theory: HornTheory) -> bool:
    """Whether the theory rejects every assignment that fits the pattern."""
    closed = theory.closure(pattern.true)
    return BOTTOM in closed or bool(pattern.false & closed)


def missed_rules(patterns: Iterable[Pattern], theory: HornTheory) -> list[int]:
    """The rules, by number, that some assignment breaks without fitting any pattern."""
    from pysat.solvers import Minisat22

    clauses = [[*(-v - 1 for v in p.true), *(v + 1 for v in p.false)] for p in patterns]
    if [] in clauses:
        return []
    with Minisat22(bootstrap_with=clauses) as solver:
        broken = ([*(v + 1 for v in p.true), *(-v - 1 for v in p.false)] for p in patterns_of(theory))
        return [number for number, literals in enumerate(broken) if solver.solve(assumptions=literals)]


def accepted(patterns: Sequence[Pattern], batch: Batch) -> np.ndarray:
    """For each assignment, whether it fits none of the patterns."""
    fits = np.zeros(len(batch), np.bool_)
    values = batch.to_array(0, np.int8)
    for pattern in patterns:
        fits |= values[:, sorted(pattern.true)].all(axis=1) & ~values[:, sorted(pattern.false)].any(axis=1)
    return ~fits


def competitors(setting: Setting) -> dict[str, Competitor]:
    """Who takes part, by name."""
    return {
        "hornbook": extracted,
        "RIPPER (wittgenstein)": partial(taught, fit=ripper, labels=setting.labels),
        "skope-rules (imodels)": partial(taught, fit=skope_rules, labels=setting.labels),
        "full tree (scikit-learn)": partial(taught, fit=full_tree, labels=setting.labels),
    }


def extracted(theory: HornTheory, rng: np.random.Generator) -> Result:
    """Our learner: it asks about total assignments alone, and has no exact oracle."""
    seed = int(rng.integers(2**31))
    labels = Counted(theory.satisfied_by)
    teacher = Completions(labels, theory.vocabulary, 64, rng=np.random.default_rng(seed))
    settings = Settings(
        Budget(equivalence_queries=1000),
        size=100_000,
        min_precision=1.0,
        pool=2000 * len(theory),
        tries=1,
        evaluation=1000,
        shares={},
        seed=seed,
    )
    start = time.process_time()
    found = extract(teacher, Random(theory.vocabulary, missing=0.0), settings)
    seconds = time.process_time() - start
    return Result.of(theory, patterns_of(found.theory.minimise()), labels.questions, seconds, rng)


def taught(
    theory: HornTheory,
    rng: np.random.Generator,
    *,
    fit: Callable[[np.ndarray, np.ndarray, int], list[Pattern]],
    labels: int,
) -> Result:
    """A learner that is given labelled assignments, all at once."""
    batch = Random(theory.vocabulary, missing=0.0).draw(labels, rng)
    values, rejected = batch.to_array(0, np.int8), ~theory.satisfied_by(batch)
    start = time.process_time()
    patterns = fit(values, rejected, int(rng.integers(2**31)))
    return Result.of(theory, patterns, labels, time.process_time() - start, rng)


def ripper(values: np.ndarray, rejected: np.ndarray, seed: int) -> list[Pattern]:
    """RIPPER's rules for the rejected class."""
    import pandas as pd
    from wittgenstein import RIPPER

    model = RIPPER(random_state=seed)
    model.fit(pd.DataFrame(values), pd.Series(rejected, name="rejected"), pos_class=True)
    return [
        Pattern(
            frozenset(int(cond.feature) for cond in rule.conds if int(cond.val) == 1),
            frozenset(int(cond.feature) for cond in rule.conds if int(cond.val) == 0),
        )
        for rule in model.ruleset_.rules
    ]


def skope_rules(values: np.ndarray, rejected: np.ndarray, seed: int) -> list[Pattern]:
    """The rules of high precision that skope-rules keeps of a forest's branches."""
    from imodels import SkopeRulesClassifier

    model = SkopeRulesClassifier(
        n_estimators=100, max_depth=5, precision_min=0.99, recall_min=0.005, random_state=seed
    )
    names = [f"x{v}" for v in range(values.shape[1])]
    model.fit(values.astype(np.float32), rejected.astype(int), feature_names=names)
    return [
        Pattern(
            frozenset(map(int, re.findall(r"x(\d+) >", str(rule)))),
            frozenset(map(int, re.findall(r"x(\d+) <=", str(rule)))),
        )
        for rule in model.rules_
    ]


def full_tree(values: np.ndarray, rejected: np.ndarray, seed: int) -> list[Pattern]:
    """The branches to rejecting leaves of a tree grown until every leaf is pure."""
    from sklearn.tree import DecisionTreeClassifier

    fitted = DecisionTreeClassifier(random_state=seed).fit(values.astype(np.float32), ~rejected)
    return [
        Pattern(
            frozenset(v for v, allowed in demands.items() if 1.0 in allowed),
            frozenset(v for v, allowed in demands.items() if 0.0 in allowed),
        )
        for demands in rejecting_branches(convert_tree(fitted, np.arange(values.shape[1])))
    ]


def recovery_table(setting: Setting, seeds: Iterable[int], only: Sequence[str]) -> Table:
    """One row a competitor: medians over the seeds, and how often the theory was recovered."""
    low, high = setting.body
    table = Table(
        title=f"{setting.variables} variables, {setting.rules} rules with bodies of {low} to {high}, "
        f"samples of {setting.labels:,}",
    )
    for column in ("learner", "equivalent", "rules of the theory", "patterns", "unsound", "agreement"):
        table.add_column(column)
    table.add_column("labels", justify="right")
    table.add_column("CPU-seconds", justify="right")
    seeds = list(seeds)
    for name, competitor in competitors(setting).items():
        if only and not name.startswith(tuple(only)):
            continue
        results = []
        for seed in seeds:
            rng = np.random.default_rng(seed)
            theory = random_theory(setting.variables, setting.rules, setting.body, rng)
            results.append(competitor(theory, rng))
        median = {
            column: statistics.median(getattr(result, column) for result in results)
            for column in ("found", "rules", "unsound", "agreement", "labels", "cpu_seconds")
        }
        table.add_row(
            name,
            f"{sum(result.equivalent for result in results)}/{len(results)}",
            f"{median['found']:g} of {setting.rules}",
            f"{median['rules']:g}",
            f"{median['unsound']:g}",
            f"{median['agreement']:.2%}",
            f"{median['labels']:,.0f}",
            f"{median['cpu_seconds']:.1f}",
        )
    return table


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3, help="theories of each size, 0 for none")
    parser.add_argument("--networks", type=int, default=1, help="networks to train, 0 for none")
    parser.add_argument(
        "--only", nargs="+", default=(), help="the learners to show, by how their names begin"
    )
    arguments = parser.parse_args()
    console = Console(width=130)
    for setting in SETTINGS if arguments.seeds else ():
        console.print(recovery_table(setting, range(arguments.seeds), arguments.only))
    for seed in range(arguments.networks):
        rng = np.random.default_rng(seed)
        theory = random_theory(30, 15, (2, 4), rng)
        network = trained_network(theory, rng)
        found = extract(network.member, inputs := network_inputs(theory), NETWORK_SETTINGS)
        drawn = inputs.draw(FRESH, rng)
        read = Share.where(found.theory.satisfied_by(drawn) == theory.satisfied_by(drawn))
        console.print(
            f"network {seed} agrees with its theory on {network.agreement}; the {len(found.rules)} rules "
            f"read out of it on {read}, {sum(map(theory.entails, found.rules))} of them entailed by it"
        )


if __name__ == "__main__":
    main()
