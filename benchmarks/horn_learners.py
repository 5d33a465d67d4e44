"""Exact learning of the same random theories and envelopes: hornbook, conexp-clj 3.0.0, and Blum's HORN1.

    python benchmarks/horn_learners.py [--conexp PATH --classpath JARS]

PATH is a clone of conexp-clj, whose `learn-implications-by-queries` is HORN1; JARS are those of Clojure, its
spec, math.combinatorics and math.numeric-tower. Its `approx-canonical-base-long`, the same on machine words
with sampled counterexamples, learns random tables (ε and δ 1 %); samples are part of its time.
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
    Random,
    Sampling,
    World,
    by_groups,
    find_envelope,
    horn1,
    lrn_star,
)

THEORIES = [(20, 10, (2, 4)), (50, 25, (2, 4)), (60, 60, (2, 8))]
FUNCTIONS = [(8, 0.7), (10, 0.9)]
CONTEXTS = [(10, 12, 0.5), (20, 30, 0.6)]
"""Objects, attributes, and the share of attributes that an object has."""
SEEDS = range(3)
TOLERANCE, PAC_CHUNK = 0.01, 256
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

PAC = """
(require 'conexp.fca.contexts 'conexp.fca.implications '[clojure.string :as s])
(ns pac (:require [clojure.string :as s]) (:import [clojure.lang PersistentVector PersistentHashSet])
        (:require [conexp.fca.contexts :refer :all] [conexp.fca.implications :refer :all]))
(def wanted '#{to-binary-matrix to-binary-context with-binary-context long->hashset long-attribute-rows
               long-adprime approx-canonical-base-long})
(with-open [file (java.io.PushbackReader. (clojure.java.io/reader "FAST"))]
  (doseq [form (take-while some? (repeatedly #(read file false nil)))]
    (when (wanted (second form)) (eval form))))
(defn now [] (.getCurrentThreadCpuTime (java.lang.management.ManagementFactory/getThreadMXBean)))
(defn write-rule [r] (str ",[[" (s/join "," (premise r)) "],[" (s/join "," (conclusion r)) "]]"))
(defn run [line] (let [rows (vec (map set (read-string line))) n (inc (reduce max (mapcat seq rows)))
      ctx (make-context-nc (set (range (count rows))) (set (range n)) (fn [[g m]] (contains? (rows g) m)))
      start (now) found (doall (@(resolve 'pac/approx-canonical-base-long) ctx TOLERANCE TOLERANCE))]
  (println (str "[[" (/ (- (now) start) 1e9) "]" (s/join (map write-rule found)) "]"))))
(doseq [line (line-seq (java.io.BufferedReader. *in*))] (run line))
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
    envelope = find_envelope(world := World(vocabulary), counted(world.batch))
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


def learn_context(rows: np.ndarray, seed: int) -> tuple[HornTheory, float]:
    """The implications of a table by HORN1 and sampling, and CPU-seconds with both kinds of queries."""
    vocabulary = Vocabulary([f"v{v}" for v in range(rows.shape[1])])
    lacks = (~rows).astype(np.float32)

    def member(batch: Batch) -> np.ndarray:
        given = batch.to_array() == 1
        owners = (given.astype(np.float32) @ lacks.T == 0).astype(np.float32)
        return ((owners @ lacks == 0) == given).all(axis=1)

    sampling = Sampling(
        member,
        Random(vocabulary, 0.0),
        "angluin",
        epsilon=TOLERANCE,
        delta=TOLERANCE,
        seed=seed,
        chunk=PAC_CHUNK,
    )
    start = time.process_time()
    *_, last = horn1(vocabulary, member, sampling)
    return last.hypothesis, time.process_time() - start


def disagreement(theory: HornTheory, rows: np.ndarray) -> float:
    """The share of random sets of attributes that are closed in only one of theory and table."""
    given = np.random.default_rng(9).random((100_000, rows.shape[1])) < 0.5
    lacks = (~rows).astype(np.float32)
    owners = (given.astype(np.float32) @ lacks.T == 0).astype(np.float32)
    closed = ((owners @ lacks == 0) == given).all(axis=1)
    return float(
        np.mean(closed != theory.satisfied_by(Batch.from_array(given.astype(float), theory.vocabulary)))
    )


def run_conexp(path: str, classpath: str, script: str, lines: list[str]) -> list[list]:
    """What conexp-clj answers to each line, the first twice to warm up."""
    command = ["java", "-Dconexp-clj.version=3.0.0", "-cp", f"{classpath}:{path}/src/main/clojure"]
    command += ["clojure.main", "-e", script]
    text = "\n".join([lines[0], *lines])
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")][1:]


def ask_conexp(path: str, classpath: str, theories: list[HornTheory]) -> list[list[float]]:
    """Equivalence and membership queries, and seconds without oracles, of conexp-clj, warmed up."""
    lines = []
    for theory in theories:
        rules = " ".join(f"[[{' '.join(map(str, sorted(r.body)))}] {r.head}]" for r in theory)
        lines.append(f"{len(theory.vocabulary)}\t[{rules}]")
    return run_conexp(path, classpath, CONEXP, lines)


def compare_contexts(path: str, classpath: str) -> Iterator[tuple]:
    """PAC exploration of random tables, by both: one row of the table each."""
    script = PAC.replace("FAST", f"{path}/src/main/clojure/conexp/fca/fast.clj")
    script = script.replace("TOLERANCE", str(TOLERANCE))
    for objects, attributes, share in CONTEXTS:
        tables = [np.random.default_rng(seed).random((objects, attributes)) < share for seed in SEEDS]
        ours = [learn_context(rows, seed) for seed, rows in enumerate(tables)]
        lines = ["[" + " ".join(f"[{' '.join(map(str, np.flatnonzero(row)))}]" for row in rows) + "]"
                 for rows in tables]  # fmt: skip
        theirs = []
        for (seconds,), *rules in run_conexp(path, classpath, script, lines):
            heads = [Rule(body, head) for body, all_heads in rules for head in all_heads]
            theirs.append((HornTheory(ours[0][0].vocabulary, heads), seconds))
        for name, found in (("hornbook, HORN1", ours), ("conexp-clj 3.0.0, machine words", theirs)):
            seconds = statistics.median(spent for _, spent in found)
            wrong = max(disagreement(theory, rows) for (theory, _), rows in zip(found, tables, strict=True))
            target = f"table, {objects} × {attributes}"
            yield target, name, f"{100 * wrong:.2f} % wrong", "", seconds


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
    if given.conexp:
        rows += compare_contexts(given.conexp, given.classpath)
    table = Table("target", "learner", "equivalence", "membership", "CPU-seconds")
    for target, name, equivalences, members, seconds in rows:
        table.add_row(
            target,
            name,
            *(n if isinstance(n, str) else f"{n:,g}" for n in (equivalences, members)),
            f"{seconds:.3f}",
        )
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
