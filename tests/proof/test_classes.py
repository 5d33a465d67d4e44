"""Proofs about one class of several: against all cells of trees, and against grids for networks."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from questions import check
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from hornbook.conditions import Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import ConditionRule, RuleSet
from hornbook.models import train_pipeline
from hornbook.proof import Domain
from hornbook.proof.readings import Wall
from hornbook.runs.proving import prove_explanation
from tests.shared.column_zoo import bind_prover

CUTS = {"x": [-0.5, 0.25, 0.45, 1.0], "n": [0.5, 1.0, 1.5]}


def table(seed, size=90):
    """A column of numbers and one of whole numbers, with missing values, and three classes."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"x": rng.normal(size=size).round(2), "n": rng.integers(0, 3, size).astype(float)})
    labels = np.array(["a", "b", "c"])[np.clip(np.round(rows.x + rows.n), 0, 2).astype(int)]
    return rows.mask(rng.random(rows.shape) < 0.1), labels


def random_body(rng):
    """Up to two random conditions, or both columns between two numbers."""
    if rng.random() < 0.5:
        low = {name: int(rng.integers(len(cuts) - 1)) for name, cuts in CUTS.items()}
        return [Threshold(name, CUTS[name][at + end], above=not end)
                for name, at in low.items() for end in (0, 1)]  # fmt: skip
    return [Threshold(name, float(rng.choice(CUTS[name])), bool(rng.random() < 0.5))
            for name in rng.permutation(["x", "n"])[: rng.integers(0, 3)]]  # fmt: skip


def meets(rows, body):
    return np.logical_and.reduce([np.ones(len(rows), bool), *(each.evaluate(rows)[0] for each in body)])


def list_rows(domain, numbers):
    values = {"x": numbers, "n": [0.0, 1.0, 2.0]}
    values = [[*own, np.nan] if domain.ranges[name].missing else own for name, own in values.items()]
    return pd.DataFrame(list(product(*values)), columns=["x", "n"])


def fitted(*steps):
    return lambda seed: make_pipeline(SimpleImputer(), *(step(seed) for step in steps)).fit(*table(seed))


NETWORKS = {
    "perceptron": fitted(
        lambda seed: StandardScaler(),
        lambda seed: MLPClassifier((5, 4), max_iter=60, random_state=seed, learning_rate_init=0.03),
    ),
    "logistic regression": fitted(lambda seed: LogisticRegression()),
}

TREES = {
    "tree": fitted(lambda seed: DecisionTreeClassifier(max_leaf_nodes=8, random_state=seed)),
    "forest": fitted(lambda seed: RandomForestClassifier(4, max_leaf_nodes=5, random_state=seed)),
    "full forest": fitted(lambda seed: RandomForestClassifier(6, random_state=seed)),
    "boosting": fitted(
        lambda seed: GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=seed)
    ),
    "boosting from zero": fitted(
        lambda seed: GradientBoostingClassifier(n_estimators=3, max_depth=2, init="zero", random_state=seed)
    ),
    "histogram boosting": lambda seed: HistGradientBoostingClassifier(
        max_iter=3, max_leaf_nodes=4, min_samples_leaf=3, random_state=seed
    ).fit(*table(seed)),
    "trained": lambda seed: train_pipeline(*table(seed)).pipeline,
    "XGBoost": lambda seed: fit_numbers("xgboost", seed, base_score=0.3 + seed),
    "XGBoost with parallel trees": lambda seed: fit_numbers(
        "xgboost", seed, num_parallel_tree=2, subsample=0.6
    ),
    "LightGBM": lambda seed: fit_numbers("lightgbm", seed, min_child_samples=3, num_leaves=4, verbose=-1),
}


def fit_numbers(library, seed, **options):
    """A boosting classifier of another library; its classes are 0, 1 and 2."""
    module = pytest.importorskip(library)
    kind = module.XGBClassifier if library == "xgboost" else module.LGBMClassifier
    rows, labels = table(seed)
    model = kind(n_estimators=3, max_depth=2, n_jobs=1, random_state=seed, **options)
    return model.fit(rows, pd.Series(labels).map({"a": 0, "b": 1, "c": 2}))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [*NETWORKS, *TREES])
def test_verdicts_about_one_class_of_three_agree_with_all_rows(kind):
    model = {**NETWORKS, **TREES}[kind](1)
    prover = bind_prover(model, Domain.of(table(1)[0]), seconds=20)
    own = prover.domain.ranges["x"]
    numbers = np.linspace(own.low, own.high, 80)
    if kind in TREES:
        trees = [tree for each in prover.reading.contests[0] for tree in each.trees]
        cuts = {cut for tree in trees for cut in tree.cut.tolist() if np.isfinite(cut)}
        numbers = np.array(sorted({*cuts, *CUTS["x"], own.low, own.high}))
        numbers = np.concatenate([numbers, np.nextafter(numbers, np.inf)])
    grid = list_rows(prover.domain, [x for x in numbers.tolist() if own.low <= x <= own.high])
    decided, seen = model.predict(grid), {"proved": 0, "refuted": 0, "undecided": 0}
    rng = np.random.default_rng(1)
    for _ in range(8):
        body = random_body(rng)
        met = meets(grid, body)
        outcome = int(np.argmax([(decided[met] == name).sum() for name in model.classes_]))  # the commonest
        broken = met & (decided != model.classes_[outcome])
        verdict = prover.prove(body, outcome)
        if broken.any() or kind in TREES:
            assert verdict.status == ("refuted" if broken.any() else "proved")
        if verdict.witness is not None:
            assert meets(verdict.witness, body).all()
            assert model.predict(verdict.witness)[0] != model.classes_[outcome]
        seen[verdict.status] += 1
    assert seen["undecided"] == 0 and seen["refuted"] > 1 and seen["proved"] > 1, seen


def test_lines_and_claims_about_three_classes_are_proved():
    rows = pd.DataFrame({"x": np.linspace(0, 3, 61)})
    labels = np.array(["a", "b", "c"])[np.minimum(rows.x.astype(int), 2)]
    model = DecisionTreeClassifier().fit(rows, labels)
    high = float(model.tree_.threshold.max())
    body = (Threshold("x", 0.95, above=False),)
    rules = RuleSet(("a", "b", "c"), (ConditionRule(body, 0), ConditionRule((Threshold("x", 2.5),), 2)), 1)
    verdicts = list(prove_explanation(rules, bind_prover(model, Domain.of(rows))))
    assert [verdict.status for verdict in verdicts] == ["proved", "proved", "refuted"]
    witness = verdicts[2].witness
    assert high < witness.x[0] <= 2.5 and model.predict(witness)[0] == "c"
    results = check("x > 2.5 -> c\nx > 1.5 -> b\nx > 2.5 -> not a", model, rows, "class", proof=True)
    assert [each.broken for each in results] == [False, True, False]
    assert results[0].guarantee.kind == "proved" and "one class" in results[2].undecided


def test_boosting_of_one_class_against_the_others_is_refused_by_name():
    rows, labels = table(0)
    model = pytest.importorskip("lightgbm").LGBMClassifier(
        n_estimators=2, verbose=-1, n_jobs=1, objective="multiclassova"
    )
    with pytest.raises(HornbookError, match="3 classes by multiclassova"):
        bind_prover(model.fit(rows, labels), Domain.of(rows))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_of_three_classes_that_computes_something_else_is_refused():
    model = NETWORKS["perceptron"](0)
    rows, _ = table(0)
    prover = bind_prover(model, Domain.of(rows))
    honest = prover.predictor
    prover.wall.predictor = replace(honest, outputs=lambda X: honest.outputs(X) ** [1, 1.001, 1])
    with pytest.raises(HornbookError, match=r"does not compute what was read of it: class 1 .*x="):
        prover.reading.compare(prover.domain)
    order = [1, 0, 2]
    swapped = replace(
        honest,
        outputs=lambda X: honest.outputs(X)[:, order],
        labels=lambda X: np.array(order)[honest.labels(X)],
    )
    known = rows.dropna()
    equal = np.zeros(len(known))
    wall = Wall(swapped, prover.columns, rows)
    with pytest.raises(HornbookError, match="does not compute what was read of it"):
        wall.compare(known, [(equal, equal)] * 2, prover.reading.contests[0][0].link)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_equal_sums_of_boosting_are_decided_as_its_predict_decides(library):
    module = pytest.importorskip(library)
    kind = module.XGBClassifier if library == "xgboost" else module.LGBMClassifier
    rows = pd.DataFrame({"x": np.tile([0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0], 6)})
    labels = np.tile([0, 1, 2, 2, 2, 0, 1, 2], 6)  # 0 and 1 are alike
    options = {"verbose": -1, "min_child_samples": 1} if library == "lightgbm" else {"base_score": 0.5}
    model = kind(n_estimators=20, n_jobs=1, **options).fit(rows, labels)
    odds = model.predict_proba(rows.head(1))[0]
    assert odds[0] == odds[1] > odds[2]
    prover = bind_prover(model, Domain.of(rows))
    body = [Threshold("x", 0.1, above=False)]
    first = int(model.predict(rows.head(1))[0])
    assert [prover.prove(body, outcome).status == "proved" for outcome in range(3)] == [
        outcome == first for outcome in range(3)
    ]
    assert prover.prove([Threshold("x", 0.9), Threshold("x", 1.1, above=False)], 2).status == "proved"
