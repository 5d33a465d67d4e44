"""Agreement with the model on unseen rows, by the size of the explanation: ours and its peers'.

Each model is fitted to 60 % of a table's rows; explanations see only these rows, and samples made of
them that the model labels. They are judged by the other rows as they are. Peers are fitted to the very
samples that ours are fitted to, with thresholds of their own and categories as ordinal codes.

    TABLES=/tmp/tables python benchmarks/frontier_raw.py --tables pbc,heart --seeds 2 --json figures.json
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict

import numpy as np
import pandas as pd
from raw_models import MODELS, fit_model
from raw_tables import DEVELOPMENT, HELD_OUT, read_raw_table
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from hornbook.distributions import RowSampler
from hornbook.surrogates import choose_candidate, search_explanations
from hornbook.teacher import bind_classifier

SIZES = (2, 4, 8, 13, 20, 32)
SAMPLES = 16_000
FORMS = ("tree", "card", "rules")


def code_columns(train: pd.DataFrame, frames: list[pd.DataFrame]) -> list[np.ndarray]:
    """Numbers as they are, categories as ordinal codes, NaN where a value is missing."""
    coded: list[list[np.ndarray]] = [[] for _ in frames]
    for name in train.columns:
        for frame, columns in zip(frames, coded, strict=True):
            if pd.api.types.is_numeric_dtype(train[name]):
                columns.append(frame[name].to_numpy(float))
            else:
                codes = pd.Index(sorted(train[name].dropna().unique())).get_indexer(frame[name]).astype(float)
                columns.append(np.where(codes < 0, np.nan, codes))
    return [np.column_stack(columns) for columns in coded]


def judge_peers(
    samples: np.ndarray, labels: np.ndarray, test: np.ndarray, truth: np.ndarray, with_figs: bool
):
    """The share of test rows that each peer decides as the model does, by size."""
    right = defaultdict(dict)
    filled = np.where(np.isnan(samples), np.nanmedian(samples, axis=0), samples)
    filled_test = np.where(np.isnan(test), np.nanmedian(samples, axis=0), test)
    for size in SIZES:
        tree = DecisionTreeClassifier(max_leaf_nodes=size + 1, random_state=0).fit(samples, labels)
        right["sklearn tree"][size] = np.mean(tree.predict(test) == truth)
        rounds = (
            size if len(np.unique(labels)) == 2 else max(1, size // len(np.unique(labels)))
        )  # a stump a class
        stumps = HistGradientBoostingClassifier(
            learning_rate=0.3, max_leaf_nodes=2, max_iter=rounds, min_samples_leaf=5, early_stopping=False
        )
        right["boosted stumps"][size] = np.mean(stumps.fit(samples, labels).predict(test) == truth)
        if with_figs and len(np.unique(labels)) == 2 and size <= 20:
            from imodels import FIGSClassifier

            numbers = (labels == np.unique(labels)[1]).astype(int)
            figs = FIGSClassifier(max_rules=size).fit(filled, numbers)
            right["FIGS"][size] = np.mean(np.unique(labels)[figs.predict(filled_test).astype(int)] == truth)
    return right


def judge_task(table: str, kind: str, seed: int, with_figs: bool):
    """Figures of one table, model and seed: {who: {size: share}}, and the default explanation's."""
    frame, classes = read_raw_table(table)
    train, test, known, _ = train_test_split(
        frame, classes, test_size=0.4, random_state=seed, stratify=classes
    )
    model = fit_model(kind, train, known, seed)
    truth = model.predict(test)
    started = time.process_time()
    teacher = bind_classifier(model, train, seed)
    names = np.array(teacher.classes)
    words = tuple(map(str, teacher.classes))
    result = search_explanations(
        teacher.labels, teacher.sampler, words, max_literals=max(SIZES), n_samples=SAMPLES, seed=seed
    )
    seconds = time.process_time() - started
    judged = [(one, np.mean(names[one.explanation.decide(test)] == truth)) for one in result.candidates]
    right: dict[str, dict[int, float]] = defaultdict(dict)
    for size in SIZES:
        for who in ("ours", *FORMS):
            short = [pair for pair in judged if pair[0].literals <= size and who in ("ours", pair[0].form)]
            right[who][size] = max(short, key=lambda pair: pair[0].fidelity.hits, default=(None, np.nan))[1]
    rng = np.random.default_rng(seed)
    samples = RowSampler.of(train, rng).draw(SAMPLES, rng)
    right |= judge_peers(*_code(train, samples, model, test), truth, with_figs)
    chosen = choose_candidate(result.candidates, 20)
    default = {
        "literals": chosen.literals,
        "form": chosen.form,
        "right": float(np.mean(names[chosen.explanation.decide(test)] == truth)),
    }
    return (
        {who: {str(k): float(v) for k, v in sizes.items()} for who, sizes in right.items()},
        seconds,
        default,
    )


def _code(train, samples, model, test):
    coded, coded_test = code_columns(train, [samples, test])
    return coded, model.predict(samples), coded_test


def main() -> None:
    """Print the mean figures, and write all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", default=",".join(DEVELOPMENT), help="names, or `held-out`")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--seeds", default="0", help="numbers, with commas")
    parser.add_argument("--figs", action="store_true", help="with FIGS of imodels")
    parser.add_argument("--json", help="a file for all figures")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = HELD_OUT if options.tables == "held-out" else options.tables.split(",")
    figures = []
    for table in tables:
        for kind in options.models.split(","):
            for seed in map(int, options.seeds.split(",")):
                right, seconds, default = judge_task(table, kind, seed, options.figs)
                figures.append(
                    {"table": table, "model": kind, "seed": seed, "right": right, "default": default}
                )
                ours = " ".join(f"{100 * right['ours'][str(size)]:.1f}" for size in SIZES)
                tree = " ".join(f"{100 * right['sklearn tree'][str(size)]:.1f}" for size in SIZES)
                print(
                    f"{table} {kind} {seed}: ours {ours} | tree {tree} | {seconds:.1f} s "
                    f"| default {default['form']} {default['literals']}: {100 * default['right']:.1f}",
                    flush=True,
                )
                if options.json:
                    with open(options.json, "w") as file:
                        json.dump(figures, file)
    print_means(figures)


def print_means(figures: list[dict]) -> None:
    """The mean share of each learner, and how ours compare with the best peer at each point."""
    points = defaultdict(list)
    for one in figures:
        for who, sizes in one["right"].items():
            for size, value in sizes.items():
                points[who, one["table"], one["model"], size].append(value)
    means = {key: np.mean(values) for key, values in points.items()}
    who_all = list(dict.fromkeys(key[0] for key in means))
    print("literals".ljust(16), *(f"{size:6d}" for size in SIZES))
    for who in who_all:
        row = [
            np.mean([v for key, v in means.items() if key[0] == who and key[3] == str(size)] or [np.nan])
            for size in SIZES
        ]
        print(who.ljust(16), *(f"{100 * value:6.2f}" for value in row))
    peers = [who for who in who_all if who not in ("ours", *FORMS)]
    gaps = [
        means["ours", *key[1:]] - max(means.get((peer, *key[1:]), 0) for peer in peers)
        for key in means
        if key[0] == "ours"
    ]
    print(
        f"at or above the best peer at {100 * np.mean(np.array(gaps) >= 0):.0f} % of {len(gaps)} points, "
        f"within a point at {100 * np.mean(np.array(gaps) >= -0.01):.0f} %, worst gap {100 * min(gaps):.1f}"
    )


if __name__ == "__main__":
    main()
