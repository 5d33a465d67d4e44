"""Exact learning of the same random theories and envelopes: hornbook, conexp-clj 3.0.0, and Blum's HORN1.

    python benchmarks/horn_learners.py [--conexp PATH --classpath JARS]

PATH is a clone of conexp-clj, whose `learn-implications-by-queries` is HORN1 (its PAC exploration is the same
with sampled counterexamples); JARS are those of Clojure, its spec, math.combinatorics and math.numeric-tower.
Every learner gets total counterexamples, from an oracle that decides equivalence by chaining or, for
envelopes of random functions, by looking at every case. A theory is learned once before the clock starts.
"""

import argparse
import json
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator

import numpy as np
from rich.console import Console
from rich.table import Table

from hornbook.logic import BOTTOM, Batch, HornTheory, Rule, Vocabulary, random_theory
from hornbook.queries import (
    Cached,
    Counted,
    PerfectTeacher,
    World,
    by_groups,
    horn1,
    learn_envelope,
    lrn_star,
)

THEORIES = [(20, 10, (2, 4)), (50, 25, (2, 4)), (60, 60, (2, 8))]
FUNCTIONS = [(8, 0.7), (10, 0.9)]
SEEDS = range(3)
CONEXP = """
(require '[conexp.fca.implications :as i] '[clojure.string :as s])
(defn now [] (.getCurrentThreadCpuTime (java.lang.management.ManagementFactory/getThreadMXBean)))
(defn read-theory [line] (map (fn [rule] (let [[body head] rule] (i/make-implication (set body) #{head})))
                              (read-string line)))
(doseq [line (line-seq (java.io.BufferedReader. *in*))]
  (let [[n theory] (s/split line #"\\t") rules (read-theory theory) base (set (range (read-string n)))
        asked (atom 0) steps (atom 0)
        member (i/membership-oracle-by-implications rules) equal (i/equivalence-oracle-by-implications rules)
        spent (atom 0)
        clocked (fn [oracle counter] (fn [x] (let [t (now) answer (oracle x)]
                                               (swap! counter inc) (swap! spent + (- (now) t)) answer)))
        start (now)
        found (doall (i/learn-implications-by-queries base (clocked member asked) (clocked equal steps)))]
    (println (str "[" @steps "," @asked "," (/ (- (now) start @spent) 1e9) "," (/ @spent 1e9) ","
                  (count found) "]"))))
"""


class Clock:
    """Sums up the CPU-seconds of an oracle, which are not the learner's."""

    def __init__(self) -> None:
        self.spent = 0.0

    def __call__(self, oracle: Callable) -> Callable:
        def ask(question):
            start = time.process_time()
            answer = oracle(question)
            self.spent += time.process_time() - start
            return answer

        return ask


def learn_theory(name: str, theory: HornTheory) -> tuple[int, int, float]:
    """Equivalence and membership queries, and CPU-seconds of the learner without its oracles."""
    clock = Clock()
    teacher = PerfectTeacher(theory, "violated" if name == "LRN*" else "total")
    counted = Counted(clock(teacher.member))
    equivalent = clock(teacher.equivalent)
    start = time.process_time()
    if name == "LRN*":
        steps = list(lrn_star(theory.vocabulary, Cached(counted), equivalent, rhs=by_groups))
    else:
        steps = list(horn1(theory.vocabulary, counted, equivalent))
    seconds = time.process_time() - start - clock.spent
    assert steps[-1].hypothesis.equivalent(theory)
    return len(steps), counted.questions, seconds


def horn1_of_blum(n: int, accepts: np.ndarray) -> tuple[int, int, list[tuple[int, int]]]:
    """HORN1 for targets that are not Horn, by our reading of Blum and others (2024), on bit masks.

    A negative counterexample whose every clause some accepted case refutes lies in the envelope: it is set
    aside, and the equivalence oracle leaves such cases out. Returns both kinds of queries, and clauses
    (body, heads); no heads but bit n stand for a contradiction.
    """
    everything, aside = (1 << n) - 1, np.zeros(1 << n, np.bool_)
    cases = np.arange(1 << n)
    S: list[int] = []
    positives: list[int] = []
    equivalences = memberships = 0
    while True:
        clauses = []
        for s in S:
            above = [x for x in positives if s & x == s]
            heads = everything
            for x in above:
                heads &= x
            clauses.append((s, (heads & ~s) if above else 1 << n))
        allowed = np.ones(1 << n, np.bool_)
        for body, heads in clauses:
            allowed &= (cases & body != body) | (cases & heads == heads)
        equivalences += 1
        wrong = np.flatnonzero((allowed != accepts) & ~aside)
        if not len(wrong):
            return equivalences, memberships, clauses
        x = int(wrong[0])
        if accepts[x]:
            positives.append(x)
            kept = [s for s in S if not any(s == x for x in positives)]
        else:
            kept = S
            for i, s in enumerate(S):
                if s & x != s:
                    memberships += 1
                    if not accepts[s & x] and not aside[s & x]:
                        S[i] = s & x
                        break
            else:
                S.append(x)
        S = []
        for s in kept:  # what accepted cases meet in is in the envelope
            above = [p for p in positives if s & p == s]
            meet = everything
            for p in above:
                meet &= p
            if above and meet == s:
                aside[s] = True
            elif s not in S:
                S.append(s)


def learn_function(n: int, share: float, seed: int) -> Iterator[tuple[str, int, int, float]]:
    """The envelope of a random function by each learner, held equal."""
    rng = np.random.default_rng(seed)
    accepts = rng.random(1 << n) < share
    vocabulary = Vocabulary([f"v{v}" for v in range(n)])
    powers = 1 << np.arange(n)

    def member(batch: Batch) -> np.ndarray:
        return accepts[(batch.to_array() == 1) @ powers]

    counted = Counted(member)
    start = time.process_time()
    envelope = learn_envelope(counted, World(vocabulary, ()))
    yield "hornbook, every case", 0, counted.questions, time.process_time() - start
    start = time.process_time()
    equivalences, memberships, clauses = horn1_of_blum(n, accepts)
    seconds = time.process_time() - start
    rules = [
        Rule([v for v in range(n) if body >> v & 1], BOTTOM if v == n else v)
        for body, heads in clauses
        for v in range(n + 1)
        if heads >> v & 1
    ]
    assert HornTheory(vocabulary, rules).equivalent(envelope.theory)
    yield "HORN1 as changed by Blum", equivalences, memberships, seconds


def ask_conexp(path: str, classpath: str, theories: list[HornTheory]) -> list[list[float]]:
    """Equivalence and membership queries, and seconds without oracles, of conexp-clj, warmed up."""
    lines = []
    for theory in [theories[0], *theories]:
        rules = " ".join(f"[[{' '.join(map(str, sorted(r.body)))}] {r.head}]" for r in theory)
        lines.append(f"{len(theory.vocabulary)}\t[{rules}]")
    command = ["java", "-Dconexp-clj.version=3.0.0", "-cp", f"{classpath}:{path}/src/main/clojure"]
    command += ["clojure.main", "-e", CONEXP]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")][1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--conexp", help="a clone of conexp-clj")
    parser.add_argument("--classpath", default="", help="the jars and folders that it needs")
    given = parser.parse_args()
    rows = []
    learn_theory("LRN*", random_theory(8, 4, (1, 2), np.random.default_rng(0), bottom=0))
    for variables, count, body in THEORIES:
        theories = [
            random_theory(variables, count, body, np.random.default_rng(seed), bottom=0) for seed in SEEDS
        ]
        measured = {
            f"hornbook, {name}": [learn_theory(name, t) for t in theories] for name in ("LRN*", "HORN1")
        }
        if given.conexp:
            measured["conexp-clj 3.0.0, HORN1"] = ask_conexp(given.conexp, given.classpath, theories)
        for name, costs in measured.items():
            equivalences, members, seconds = (statistics.median(cost[k] for cost in costs) for k in range(3))
            rows.append(
                (f"theory, {variables} variables, {count} rules", name, equivalences, members, seconds)
            )
    for n, share in FUNCTIONS:
        runs = [list(learn_function(n, share, seed)) for seed in SEEDS]
        for several in zip(*runs, strict=True):
            equivalences, members, seconds = (statistics.median(run[k] for run in several) for k in (1, 2, 3))
            target = f"envelope, {n} variables, {100 * share:.0f} % accepted"
            rows.append((target, several[0][0], equivalences, members, seconds))
    table = Table("target", "learner", "equivalence", "membership", "CPU-seconds")
    for target, name, equivalences, members, seconds in rows:
        table.add_row(target, name, f"{equivalences:,g}", f"{members:,g}", f"{seconds:.3f}")
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
