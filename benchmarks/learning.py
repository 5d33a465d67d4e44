"""Exact learning of random theories, beside a SymPy reasoner answering the same equivalence questions.

    python benchmarks/learning.py [--sympy-seconds 20]

SymPy is what the paper's implementation reasoned with. It is given the hypotheses of the run
and asked for each, as an equivalence oracle must, which rules of the target do not follow; it
is stopped after a limit, and the time of the questions it did answer is compared with ours.
"""

import argparse
import statistics
import time
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from hornbook.logic import BOTTOM, HornTheory, random_theory
from hornbook.queries import Cached, Counted, PerfectTeacher, by_groups, lrn_star, shrink_by_halves

SETTINGS = [
    (20, 10, (2, 4), "violated"),
    (50, 25, (2, 4), "violated"),
    (100, 50, (2, 4), "violated"),
    (204, 165, (40, 40), "inflated"),
]
SEEDS = range(3)


@dataclass
class Run:
    """One extraction: its hypotheses and costs."""

    theory: HornTheory
    hypotheses: list[HornTheory]
    membership_queries: int
    seconds: float
    exact: bool


def learn(variables: int, rules: int, body: tuple[int, int], policy: str, seed: int) -> Run:
    """Learn one random theory."""
    theory = random_theory(variables, rules, body, np.random.default_rng(seed))
    teacher = PerfectTeacher(theory, policy, np.random.default_rng(seed))
    counted = Counted(teacher.member)
    shrink = shrink_by_halves if policy == "inflated" else None
    start = time.process_time()
    steps = list(
        lrn_star(theory.vocabulary, Cached(counted), teacher.equivalent, rhs=by_groups, shrink=shrink)
    )
    seconds = time.process_time() - start
    hypotheses = [step.hypothesis for step in steps]
    return Run(theory, hypotheses, counted.questions, seconds, hypotheses[-1].equivalent(theory))


def sympy_ratio(run: Run, limit: float) -> tuple[float, int]:
    """SymPy's time over ours for the equivalence questions it answers within the limit."""
    from sympy import And, Not, Symbol, false
    from sympy.logic.boolalg import Implies
    from sympy.logic.inference import satisfiable

    symbols = [Symbol(name) for name in run.theory.vocabulary]
    clause = lambda rule: Implies(  # noqa: E731
        And(*(symbols[v] for v in rule.body)), false if rule.head is BOTTOM else symbols[rule.head]
    )
    theirs = ours = 0.0
    answered = 0
    for hypothesis in run.hypotheses[1:]:
        start = time.process_time()
        missing = [rule for rule in run.theory if not hypothesis.entails(rule)]
        ours += time.process_time() - start
        start = time.process_time()
        formula = And(*map(clause, hypothesis))
        found = [rule for rule in run.theory if satisfiable(And(formula, Not(clause(rule))))]
        theirs += time.process_time() - start
        answered += 1
        if found != missing:
            raise SystemExit("SymPy and hornbook disagree")
        if theirs > limit:
            break
    return theirs / ours, answered


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sympy-seconds", type=float, default=20, help="limit for SymPy at each size")
    limit = parser.parse_args().sympy_seconds
    table = Table("variables", "rules", "bodies", "counterexamples", "exact")
    for column in ("equivalence", "membership", "CPU-seconds", "SymPy, same questions"):
        table.add_column(column)
    for setting in SETTINGS:
        runs = [learn(*setting, seed) for seed in SEEDS]
        ratio, answered = sympy_ratio(runs[0], limit)
        variables, rules, body, policy = setting
        table.add_row(
            str(variables),
            str(rules),
            f"{body[0]}–{body[1]}" if body[0] < body[1] else str(body[0]),
            policy,
            f"{sum(run.exact for run in runs)}/{len(runs)}",
            f"{statistics.median(len(run.hypotheses) for run in runs):,}",
            f"{statistics.median(run.membership_queries for run in runs):,}",
            f"{statistics.median(run.seconds for run in runs):.2f}",
            f"{ratio:,.0f} × ({answered} of {len(runs[0].hypotheses) - 1} answered)",
        )
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
