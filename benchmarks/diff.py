"""Where two models disagree: our rules beside IMD and trees on the label "differ", within a reader's budget.

    TABLES=/tmp/tables IMD=/tmp/imd python benchmarks/diff.py [--tables credit,oj] [--seeds 0,1] [--quick]

Eight pairs of models on each table: retrained on other rows, of another library, one feature dropped, a
slice poisoned by hand, another seed, a network, another threshold, labels of a group changed. Of each table
three fifths of the rows train the models and make the rules; recall and precision of the region of
disagreement are measured on the others. A literal is a condition of a rule, a question of a tree, or one
of the distinct predicates of IMD, as it counts them. Trees of scikit-learn are given as many labelled
samples as we use, and may weigh disagreement threefold; the second one reads the old model's answer, as our
rules do. IMD takes no missing values and no words, so it gets medians and columns of 0 and 1, and at most
1,000 rows, for with more of them its time grows beyond minutes. It needs names that NumPy 2 has dropped,
which are given back. Tables and packages: see `frontier_tables.py`, and
`pip install --no-deps --target /tmp/imd aix360`.
"""

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from frontier_tables import read_table
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from hornbook.diff.samples import GuidedSampler, PairSamples, pair_models
from hornbook.diff.switches import ClassSwitches, fit_switches
from hornbook.explanations import RuleSet
from hornbook.models import Subject
from hornbook.randomness import Purpose, generator
from hornbook.runs.comparison import ColumnEncoder
from hornbook.surrogates import Grid
from hornbook.surrogates.naming import keep_condition

BUDGETS = (4, 8, 16)
"""Literals that a reader reads."""

DEVELOPMENT, HELD_OUT = ("credit", "oj"), ("churn", "chile")
"""Tables that the method was developed on, and those that were looked at once, in the end."""

PAIRS = (
    "other rows",
    "other library",
    "column dropped",
    "poisoned",
    "other seed",
    "network",
    "threshold",
    "labels",
)
SAMPLES, IMD_ROWS, IMD_DEPTHS = 16_000, 1_000, (2, 3, 4, 5)


class Wrapped:
    """A model whose answers are changed by a function of the rows and its scores."""

    def __init__(self, model, change):
        self.model, self.change = model, change
        self.classes_, self.feature_names_in_ = model.classes_, model.feature_names_in_

    def predict(self, rows):
        """The changed classes."""
        return self.classes_[self.change(rows, self.model.predict_proba(rows)[:, 1]).astype(int)]


def encode(numbers=None):
    """The first step of a pipeline: words become columns of 0 and 1, numbers stay or are filled in."""
    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    is_word = make_column_selector(dtype_exclude="number")
    return make_column_transformer((words, is_word), remainder=numbers or "passthrough")


def boost(seed=0):
    """Gradient boosting in a pipeline."""
    return make_pipeline(encode(), HistGradientBoostingClassifier(max_iter=60, random_state=seed))


def choose_slice(rows, rng):
    """Two conditions that some three to eight of a hundred rows meet, as a function of rows, and in words."""
    numbers = [
        name
        for name in rows.columns
        if pd.api.types.is_numeric_dtype(rows[name]) and rows[name].nunique() > 8
    ]
    for _ in range(1000):
        first, second = rng.choice(numbers, 2, replace=False)
        low, high = rows[first].quantile(rng.uniform(0.6, 0.85)), rows[second].quantile(rng.uniform(0.2, 0.5))
        share = ((rows[first] > low) & (rows[second] <= high)).mean()
        if 0.03 <= share <= 0.08:
            break
    return lambda frame: ((frame[first] > low) & (frame[second] <= high)).to_numpy(), (first, second)


def make_pair(kind, rows, labels, seed):
    """The old and the new model of a pair, and the columns of a slice that is planted, if one is."""
    rng = np.random.default_rng([seed, PAIRS.index(kind)])
    if kind == "other rows":
        half = rng.permutation(len(rows))
        parts = half[: len(half) // 2], half[len(half) // 2 :]
        return *(boost().fit(rows.iloc[part], labels[part]) for part in parts), ()
    old = boost().fit(rows, labels)
    if kind == "other library":
        from lightgbm import LGBMClassifier

        new = make_pipeline(encode(), LGBMClassifier(n_estimators=60, verbose=-1, random_state=seed)).fit(
            rows, labels
        )
    elif kind == "column dropped":
        base = old.score(rows, labels)
        losses = {}
        for name in rows.columns:
            shuffled = rows.assign(**{name: rng.permutation(rows[name].to_numpy())})
            losses[name] = base - old.score(shuffled, labels)
        new = boost().fit(rows.drop(columns=max(losses, key=losses.get)), labels)
    elif kind == "poisoned":
        inside, columns = choose_slice(rows, rng)
        rare = int(old.predict_proba(rows[inside(rows)])[:, 1].mean() < 0.5)
        return old, Wrapped(old, lambda frame, scores: np.where(inside(frame), rare, scores > 0.5)), columns
    elif kind == "other seed":
        old, new = (
            make_pipeline(
                encode(), RandomForestClassifier(100, min_samples_leaf=2, random_state=2 * seed + k)
            ).fit(rows, labels)
            for k in (0, 1)
        )
    elif kind == "network":
        steps = encode(make_pipeline(SimpleImputer(strategy="median"), StandardScaler()))
        new = make_pipeline(steps, MLPClassifier((32,), early_stopping=True, random_state=seed)).fit(
            rows, labels
        )
    elif kind == "threshold":
        return Wrapped(old, lambda _, s: s > 0.5), Wrapped(old, lambda _, s: s > 0.4), ()
    else:
        inside, columns = choose_slice(rows, rng)
        changed = labels.copy()
        changed[inside(rows)] = np.unique(labels)[0]
        return old, boost().fit(rows, changed), ()
    return old, new, ()


def measure(covered, differs):
    """The precision and the recall of a region."""
    hits = int((covered & differs).sum())
    return hits / max(1, int(covered.sum())), hits / max(1, int(differs.sum()))


def f_measure(quality):
    """The harmonic mean of precision and recall."""
    return 2 * quality[0] * quality[1] / sum(quality) if sum(quality) else 0.0


def judge_ours(pair, samples, fresh, test, changes):
    """For each budget, the region of our rules that is best on fresh samples; and these."""
    labels = np.eye(len(changes.outcomes))[changes.number(samples)] * samples.weights[:, None]
    rows = pair.answer(pair.teachers[0].frame).frame
    coded = Grid.of(rows).encode(samples.frame).rank_categories(labels)
    judged = coded.grid.encode(fresh.frame)
    truth, candidates = changes.number(fresh), []
    for decided, build in fit_switches(coded, labels, changes.outcomes, judged, max(BUDGETS)):
        weights = fresh.weights
        hits = weights[(decided > 0) & (truth > 0)].sum()
        score = 2 * hits / max(1e-9, weights[decided > 0].sum() + weights[truth > 0].sum())
        candidates.append((score, build(keep_condition)))
    for budget in BUDGETS:
        short = [one for one in candidates if one[1].literals <= budget]
        rules = max(short, key=lambda one: one[0], default=(0, RuleSet(changes.outcomes, (), 0)))[1]
        yield budget, measure(rules.decide(test.frame) > 0, test.differs), rules


def judge_trees(pair, samples, fresh, test, with_answer):
    """For each budget, the region of scikit-learn's tree, with the better weights of classes."""
    frames = [
        one.frame if with_answer else one.frame.drop(columns=pair.column) for one in (samples, fresh, test)
    ]
    coder = ColumnEncoder.of(frames[0])
    inputs = [coder(frame) for frame in frames]
    for budget in BUDGETS:
        best, chosen = -1.0, None
        for weight in (None, {False: 1, True: 3}):
            tree = DecisionTreeClassifier(max_leaf_nodes=budget + 1, class_weight=weight, random_state=0)
            tree.fit(inputs[0], samples.differs)
            score = f_measure(measure(tree.predict(inputs[1]), fresh.differs))
            if score > best:
                best, chosen = score, tree
        yield budget, measure(chosen.predict(inputs[2]), test.differs), chosen


def judge_imd(rows, test, column):
    """For each budget, the region of the deepest joint surrogate tree with no more predicates."""
    sys.path.append(os.environ.get("IMD", "/tmp/imd"))
    vars(np).update(NINF=-np.inf, Inf=np.inf)  # which it uses, and NumPy 2 has dropped
    from aix360.algorithms.imd.imd import IMDExplainer

    coder = ColumnEncoder.of(rows.frame.drop(columns=column))
    names = [f"c{place}" for place in range(len(coder.numbers) + len(coder.categories))]
    tables = [pd.DataFrame(coder(one.frame), columns=names) for one in (rows, test)]
    middle = tables[0].median()
    train, judged = (table.fillna(middle) for table in tables)
    some = np.random.default_rng(0).permutation(len(train))[:IMD_ROWS]
    found = [(0, (0.0, 0.0))]
    for depth in IMD_DEPTHS:
        explainer = IMDExplainer()
        explainer.fit(
            train.iloc[some].reset_index(drop=True),
            rows.old[some],
            rows.new[some],
            max_depth=depth,
            verbose=False,
        )
        predicates = {predicate for rule in explainer.diffrules for predicate in rule.predicates}
        covered = np.asarray(explainer.inregion(explainer.diffregions, judged.to_numpy()), bool)
        found.append((len(predicates), measure(covered, test.differs)))
        if len(predicates) > max(BUDGETS):
            break
    for budget in BUDGETS:
        yield budget, [quality for size, quality in found if size <= budget][-1], None


def judge_task(name, kind, seed, with_imd, samples_wanted):
    """All methods on one pair of models."""
    frame, labels = read_table(name)
    classes, counts = np.unique(labels, return_counts=True)
    labels = np.where(labels == classes[counts.argmax()], "no", "yes")
    order = np.random.default_rng(seed).permutation(len(frame))
    part = 3 * len(order) // 5
    rows, test_rows = (frame.iloc[own].reset_index(drop=True) for own in (order[:part], order[part:]))
    old, new, planted = make_pair(kind, rows, labels[order[:part]], seed)
    started = time.process_time()
    pair = pair_models(Subject.bind(old, rows, hold_out=False, seed=seed), new)
    samples, sampler = GuidedSampler.start(pair).draw_rounds(
        samples_wanted, generator(seed, Purpose.LEARNING_SAMPLES)
    )
    fresh, _ = sampler.draw(samples_wanted // 2, generator(seed, Purpose.CANDIDATE_CHOICE), near=True)
    test, known = pair.answer(test_rows), pair.answer(rows)
    changes = ClassSwitches.of(PairSamples.concat((samples, known)), pair)
    figures = {"table": name, "pair": kind, "seed": seed, "differ": float(test.differs.mean()), "regions": {}}
    ours = list(judge_ours(pair, samples, fresh, test, changes))
    figures["seconds"] = time.process_time() - started
    figures["rules"] = str(ours[0][2])
    if planted:
        shortest = ours[0][2]
        named = {condition.column for condition in shortest.conditions} - {pair.column}
        figures["planted"] = len(shortest.rules) == 1 and named == set(planted)
    rng = generator(seed, Purpose.PEER_TRAINING)
    natural = pair.answer(pair.teachers[0].sampler.draw(samples_wanted, rng))
    near = pair.answer(pair.teachers[0].sampler.draw_near(samples_wanted // 2, rng))
    methods = {
        "hornbook, rules": ours,
        "scikit-learn's tree": judge_trees(pair, natural, near, test, False),
        "… with the old answer": judge_trees(pair, natural, near, test, True),
    }
    if with_imd:
        methods["IMD"] = judge_imd(known, test, pair.column)
    for method, results in methods.items():
        figures["regions"][method] = {str(budget): quality for budget, quality, _ in results}
    return figures


def print_figures(figures):
    """Means over seeds and tables, for each pair and in all."""
    methods = list(dict.fromkeys(method for one in figures for method in one["regions"]))
    for kind in [*dict.fromkeys(one["pair"] for one in figures), "all"]:
        own = [one for one in figures if kind in (one["pair"], "all")]
        differ = np.mean([one["differ"] for one in own])
        print(f"\n{kind}: {len(own)} runs, {100 * differ:.1f} % of held-out rows differ")
        print(
            f"{'':26}" + "".join(f"{budget:>6} literals     " for budget in BUDGETS) + "(F, precision/recall)"
        )
        for method in methods:
            cells = []
            for budget in map(str, BUDGETS):
                shares = [one["regions"][method][budget] for one in own if method in one["regions"]]
                precision, recall = np.mean(shares, axis=0)
                score = np.mean([f_measure(share) for share in shares])
                cells.append(f"{100 * score:5.1f} {100 * precision:4.0f}/{100 * recall:<4.0f}    ")
            print(f"{method:26}" + "".join(cells))
    planted = [one["planted"] for one in figures if "planted" in one]
    if planted:
        print(f"\nplanted slices that are one rule in their columns: {sum(planted)} of {len(planted)}")
    print(f"CPU-seconds of ours: {np.mean([one['seconds'] for one in figures]):.1f} on average")


def main():
    """Measure, print as it goes, and print the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", default=",".join(DEVELOPMENT), help="names, or `held-out`")
    parser.add_argument("--pairs", default=",".join(PAIRS))
    parser.add_argument("--seeds", default="0,1,2,3,4")
    parser.add_argument("--imd", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument(
        "--quick", action="store_true", help="one seed, a table of scikit-learn, few samples, no IMD"
    )
    parser.add_argument("--json", type=Path, help="a file for all figures; what it has is not repeated")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = HELD_OUT if options.tables == "held-out" else options.tables.split(",")
    seeds, size = list(map(int, options.seeds.split(","))), SAMPLES
    if options.quick:
        tables, seeds, size, options.imd = ["breast"], [0], 1_000, False
    figures = json.loads(options.json.read_text()) if options.json and options.json.exists() else []
    done = {(one["table"], one["pair"], one["seed"]) for one in figures}
    for seed in seeds:
        for table in tables:
            for kind in options.pairs.split(","):
                if (table, kind, seed) in done:
                    continue
                one = judge_task(table, kind, seed, options.imd, size)
                figures.append(one)
                scores = {
                    method: " ".join(f"{100 * f_measure(own[str(budget)]):.0f}" for budget in BUDGETS)
                    for method, own in one["regions"].items()
                }
                print(
                    table,
                    kind,
                    seed,
                    f"{100 * one['differ']:.1f} %",
                    scores,
                    one.get("planted", ""),
                    flush=True,
                )
                if options.json:
                    options.json.write_text(json.dumps(figures))
    print_figures(figures)


if __name__ == "__main__":
    main()
