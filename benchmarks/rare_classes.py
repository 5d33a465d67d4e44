r"""Explanations of models that seldom say yes: κ with the model on new rows, beside scikit-learn's tree.

A rule that holds for 0.5, 1 or 2 % of the rows of a table is planted, a model is fitted to it, and the
default explanation of the model is compared with the model on rows that nobody has seen. The tree of
scikit-learn has as many conditions, and is fitted to as many labelled samples.

    pip install lightgbm xgboost catboost
    python benchmarks/rare_classes.py [--seeds 0,1,2] [--shares 0.5,1,2] [--models boosting,forest]
    python benchmarks/rare_classes.py --shares 0.1 --rows 200000 --models boosting,lightgbm,forest,catboost

Prints a line for each model and share of rows: means over the seeds, and the worst κ of a seed. Beside
them stand κ of the best candidate with at most 20 literals, and κ of the model with the planted rule. The
last line is about the models that have learned the rule.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import cohen_kappa_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from hornbook.models import bind_classifier
from hornbook.randomness import Purpose, generator
from hornbook.surrogates import SampleSource, search_explanations

NEW_ROWS = 40_000
SAMPLES = 16_000
"""Samples that scikit-learn's tree is fitted to."""

LEARNED = 0.9
"""The least κ of a model with the planted rule, if it has learned it."""

NOISE = 0.1
"""The share of the rule's rows whose label is wrong in every second table; as many others get it instead."""


def draw_table(size: int, rng: np.random.Generator, columns: int) -> pd.DataFrame:
    """Numbers of several shapes, whole numbers and categories; some values are missing."""
    draws: tuple[Callable[[], Any], ...] = (
        lambda: rng.normal(50, 12, size).round(2),
        lambda: rng.lognormal(3, 1, size).round(2),
        lambda: rng.integers(18, 90, size).astype(float),
        lambda: rng.choice(["home", "work", "web", "shop", "post"], size, p=[0.4, 0.25, 0.2, 0.1, 0.05]),
        lambda: rng.uniform(size=size),
        lambda: rng.poisson(3, size).astype(float),
        lambda: rng.choice([f"c{number}" for number in range(9)], size),
        lambda: rng.choice([0.0, 1.0], size, p=[0.7, 0.3]),
    )
    frame = pd.DataFrame({f"x{number}": draws[number % len(draws)]() for number in range(columns)})
    for number in range(0, columns, 3):
        frame.loc[rng.random(size) < 0.06, f"x{number}"] = None
    words = frame.select_dtypes(exclude="number").columns
    return frame.astype(dict.fromkeys(words, "category"))


def plant_rule(frame: pd.DataFrame, share: float, rng: np.random.Generator) -> Callable[[Any], Any]:
    """A rule of two or three conditions that holds for about such a share of the rows."""
    numbers = [
        name for name in frame if isinstance(frame[name].dtype, np.dtype) and frame[name].nunique() > 8
    ]
    words = [name for name in frame if frame[name].dtype == "category"]
    count = int(rng.integers(2, 4))
    used = rng.choice(numbers, count, replace=False).tolist()
    category = str(rng.choice(words)) if rng.random() < 0.5 else None
    level = None if category is None else rng.choice(frame[category].cat.categories)
    above = rng.random(count) < 0.6

    def decide(rows: pd.DataFrame, tail: float) -> Any:
        yes = np.ones(len(rows), np.bool_)
        for name, is_above in zip(used, above, strict=True):
            cut = frame[name].quantile(1 - tail if is_above else tail)
            yes &= (rows[name] > cut if is_above else rows[name] <= cut).to_numpy()
        return yes if category is None else yes & (rows[category] == level).to_numpy()

    tails = np.linspace(0.02, 0.9, 300)
    shares = np.array([decide(frame, tail).mean() for tail in tails])
    best = float(tails[abs(shares - share).argmin()])
    return lambda rows: decide(rows, best)


def fit_model(kind: str, frame: pd.DataFrame, labels: Any, seed: int) -> Any:
    """A model of the kind with its default settings."""
    if kind == "boosting":
        return HistGradientBoostingClassifier(random_state=seed).fit(frame, labels)
    if kind == "xgboost":
        from xgboost import XGBClassifier

        return XGBClassifier(enable_categorical=True, random_state=seed, n_jobs=1).fit(frame, labels)
    if kind == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(random_state=seed, verbose=-1, n_jobs=1).fit(frame, labels)
    if kind == "catboost":
        from catboost import CatBoostClassifier

        words = list(frame.select_dtypes("category").columns)
        model = CatBoostClassifier(
            cat_features=words, random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False
        )
        return make_pipeline(FunctionTransformer(fill_words), model).fit(frame, labels)
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
        remainder=SimpleImputer(strategy="median"),
    )
    forest = RandomForestClassifier(random_state=seed)
    return make_pipeline(encoder, forest).fit(frame, labels)


def fill_words(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with a word where a category is missing."""
    words = frame.select_dtypes("category").columns
    return frame.assign(**{name: frame[name].astype(object).fillna("none") for name in words})


def fit_peer(samples: pd.DataFrame, labels: Any, conditions: int) -> Callable[[Any], Any]:
    """scikit-learn's tree with as many questions, by labelled samples."""

    def encode(rows: pd.DataFrame) -> Any:
        return pd.get_dummies(rows, columns=list(rows.select_dtypes("category").columns)).to_numpy(float)

    tree = DecisionTreeClassifier(max_leaf_nodes=max(2, conditions + 1), random_state=0)
    tree.fit(encode(samples), labels)
    return lambda rows: tree.predict(encode(rows))


def judge(kind: str, share: float, seed: int, rows: int | None) -> dict[str, float]:
    """The figures of one model; none if it says yes to hardly any new row."""
    rng = np.random.default_rng([seed, round(1000 * share)])
    size, columns = int(rng.choice([5000, 10_000, 20_000])), int(rng.choice([6, 10, 16, 24]))
    size = rows or size
    frame = draw_table(size, rng, columns)
    rule = plant_rule(frame, share, rng)
    labels = rule(frame)
    if seed % 2:
        wrong = rng.random(size) < np.where(labels, NOISE, NOISE * labels.mean())
        labels = labels ^ wrong
    model = fit_model(kind, frame, labels.astype(int), seed)
    new = draw_table(max(NEW_ROWS, size // 2), rng, columns)
    teacher = bind_classifier(model, frame, seed)
    start = time.process_time()
    found = search_explanations(SampleSource.of(teacher.labels, teacher.sampler, ("no", "yes")), seed=seed)
    seconds = time.process_time() - start
    truth = teacher.labels(new)
    chosen = found.chosen.explanation
    decided = chosen.decide(new)
    samples = teacher.sample(SAMPLES, generator(seed, Purpose.LEARNING_SAMPLES))
    peer = fit_peer(samples, teacher.labels(samples), chosen.literals)(new)
    best = max(
        cohen_kappa_score(one.explanation.decide(new), truth)
        for one in found.candidates
        if one.literals <= 20
    )
    if truth.mean() < share / 5:
        return {}
    return {
        "yes": truth.mean(),
        "kappa": float(cohen_kappa_score(decided, truth)) if decided.any() or truth.any() else 1.0,
        "agreement": float((decided == truth).mean()),
        "commonest": max(truth.mean(), 1 - truth.mean()),
        "literals": chosen.literals,
        "peer": float(cohen_kappa_score(peer, truth)),
        "best": best,
        "rule": float(cohen_kappa_score(rule(new), truth)),
        "seconds": seconds,
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--shares", default="0.5,1,2", help="percent of the rows that the rule holds for")
    parser.add_argument("--models", default="boosting,xgboost,lightgbm,forest")
    parser.add_argument("--rows", type=int, help="rows of a table; 5,000 to 20,000 by default")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    every, left_out = defaultdict(list), 0
    for kind in arguments.models.split(","):
        for share in map(float, arguments.shares.split(",")):
            for seed in map(int, arguments.seeds.split(",")):
                one = judge(kind, share / 100, seed, arguments.rows)
                left_out += not one
                if one:
                    print(
                        f"{kind} {share:g} % {seed}: κ {one['kappa']:.3f}, model and rule {one['rule']:.3f}",
                        flush=True,
                    )
                for key in (f"{kind} {share:g} %", kind, "all") if one else ():
                    every[key].append(one)
    every["learned"] = [one for one in every["all"] if one["rule"] >= LEARNED]
    print(
        "model, planted  runs  κ mean  worst  best candidate  sklearn's tree  model and rule  "
        "agreement  commonest class  literals  CPU-seconds"
    )
    for key, runs in every.items():
        if not runs:
            continue
        mean = {name: float(np.mean([one[name] for one in runs])) for name in runs[0]}
        print(
            f"{key:15s} {len(runs):3d} {mean['kappa']:7.3f} {min(one['kappa'] for one in runs):6.3f}"
            f" {mean['best']:15.3f} {mean['peer']:15.3f} {mean['rule']:15.3f}"
            f" {mean['agreement']:10.2%} {mean['commonest']:16.2%} {mean['literals']:9.1f}"
            f" {mean['seconds']:8.1f}"
        )
    if left_out:
        print(f"left out: {left_out} models that hardly ever say yes")


if __name__ == "__main__":
    main()
