"""Proofs about boosting that reads numbers in a way of its own: zeros, starts, ties and early stops."""

import json
from itertools import product

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from hornbook.conditions import Category, Threshold
from hornbook.errors import HornbookError
from hornbook.proof import Domain
from tests.shared.column_zoo import bind_prover

LEVELS = [f"l{number}" for number in range(12)]
NEAR_ZERO = [-1e-3, -1e-35, -1e-50, -5e-324, 0.0, 5e-324, 1e-50, 1e-35, 2e-35, 1e-3]


def xgb(**settings):
    return xgboost.XGBClassifier(**{"n_estimators": 4, "max_depth": 3, "n_jobs": 1, **settings})


def lgbm(**settings):
    return lightgbm.LGBMClassifier(
        **{"n_estimators": 6, "min_child_samples": 3, "n_jobs": 1, "verbose": -1, **settings}
    )


def encode(*before, **settings):
    """One-hot columns of many levels beside a number: sparse with default settings."""
    words = make_pipeline(OneHotEncoder(), *before)
    return ColumnTransformer([("words", words, ["w"])], remainder="passthrough", **settings)


def sparse_table(seed=0, size=160):
    """A column of numbers, none of them zero, and one of many levels."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"x": rng.normal(size=size), "w": rng.choice(LEVELS, size)})
    return rows, ((np.abs(rows.x) < 0.6) ^ rows.w.isin(LEVELS[:3])).astype(int)


SPARSE = {
    "XGBoost": lambda: make_pipeline(encode(), xgb()),
    "XGBoost, nested and scaled": lambda: make_pipeline(
        ColumnTransformer([("all", encode(MaxAbsScaler()), ["x", "w"])]), xgb()
    ),
    "XGBoost, dense": lambda: make_pipeline(encode(sparse_threshold=0), xgb()),
    "LightGBM": lambda: make_pipeline(encode(), lgbm()),
    "LightGBM, dense": lambda: make_pipeline(encode(sparse_threshold=0), lgbm()),
    "tree": lambda: make_pipeline(encode(), DecisionTreeClassifier(max_depth=5, random_state=0)),
}


@pytest.mark.parametrize("kind", SPARSE)
def test_verdicts_about_numbers_near_zero_are_the_models_own(kind):
    """What a sparse matrix leaves out is missing to XGBoost, and zero to the others."""
    rows, labels = sparse_table()
    model = SPARSE[kind]().fit(rows, labels)
    prover = bind_prover(model, Domain.of(rows))
    assert prover.preprocessing.is_sparse == ("dense" not in kind)
    grid = pd.DataFrame(list(product(NEAR_ZERO, LEVELS)), columns=["x", "w"])
    decided = model.predict(grid)
    if kind in ("XGBoost", "XGBoost, nested and scaled"):
        assert (decided[grid.x == 0] != decided[grid.x == 1e-50]).any()
    seen = set()
    for low, high, word in product((-1e-3, -1e-40, 0.0), (0.0, 1e-3), LEVELS[:5]):
        body = [Threshold("x", low), Threshold("x", high, above=False), Category("w", word)]
        met = np.logical_and.reduce([each.evaluate(grid)[0] for each in body])
        if not met.any():
            continue
        outcome = int(decided[met][0])
        verdict = prover.prove(body, outcome)
        assert verdict.status == ("refuted" if (decided[met] != outcome).any() else "proved"), body
        if verdict.witness is not None:
            assert model.predict(verdict.witness)[0] != outcome
            assert all(each.evaluate(verdict.witness)[0].all() for each in body)
        seen.add(verdict.status)
    assert "proved" in seen


def test_one_row_is_as_sparse_as_the_table_was():
    rows, labels = sparse_table()
    transformer = encode().fit(rows, labels)
    assert transformer.sparse_output_
    assert all(hasattr(transformer.transform(rows.iloc[:size]), "tocsr") for size in (1, 2, 160))


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob"])
@pytest.mark.parametrize("share", [None, 1e-7, 1e-3, 0.5, 0.9, 1 - 1e-6, 1 - 1e-7])
def test_read_sums_of_xgboost_are_its_own_within_the_rounding_that_is_allowed(objective, share):
    """The logit of `base_score` is taken in single precision, and bounded by some versions."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60)})
    labels = np.digitize(rows.x + rows.y, [0.3] if objective == "binary:logistic" else [-0.5, 0.5])
    model = xgb(base_score=share, objective=objective).fit(rows, labels)
    prover = bind_prover(model, Domain.of(rows))
    sums = model.predict(rows, output_margin=True).astype(np.float64).reshape(len(rows), -1)
    read, off = prover.reading.side(0, 0).evaluate(prover.reading.grid.locate(rows)[0])
    own = sums[:, -1] if sums.shape[1] == 1 else sums[:, 1] - sums[:, 0]
    assert (np.abs(read - own) <= off).all()
    assert off.max() < 1e-4 * (1 + np.abs(sums).max())


def boost_by_hand(first, second, third):
    """XGBoost of three classes: two with the same number everywhere, and one with some numbers in turn."""
    rows = pd.DataFrame(np.repeat(list(product(range(4), repeat=3)), 4, axis=0), columns=["a", "b", "c"])
    labels = np.random.default_rng(0).integers(0, 3, len(rows))
    settings = {"base_score": 0.0, "min_child_weight": 0, "reg_lambda": 0}
    model = xgb(n_estimators=1, max_depth=7, **settings).fit(rows.astype(float), labels)
    content = json.loads(model.get_booster().save_raw("json"))
    trees = content["learner"]["gradient_booster"]["model"]["trees"]
    for tree, numbers in zip(trees, (first, second, third), strict=True):
        leaf = np.array(tree["left_children"]) < 0
        assert leaf.sum() > 40
        cuts = np.array(tree["split_conditions"])
        cuts[leaf] = np.resize(numbers, leaf.sum())
        tree["split_conditions"] = cuts.tolist()
    model._Booster = xgboost.Booster(model_file=bytearray(json.dumps(content).encode()))
    return model, rows.drop_duplicates().astype(float)


def test_classes_within_one_ulp_are_decided_where_a_third_class_rounds_their_shares():
    model, rows = boost_by_hand(-0.3482132, -0.34821314, [-3.0] * 20 + [-0.83] + [-3.0] * 20)
    sums = model.predict(rows, output_margin=True)
    decided = model.predict(rows)
    assert len(np.unique(sums[:, :2], axis=0)) == 1
    assert 0 < (decided == 0).mean() < 0.1  # where the shares of both sums are equal
    prover = bind_prover(model, Domain.of(rows))
    for outcome, (name, cut, above) in product((0, 1), product("abc", (0.5, 2.5), (True, False))):
        body = [Threshold(name, cut, above)]
        met = body[0].evaluate(rows)[0]
        expected = "refuted" if (decided[met] != outcome).any() else "proved"
        assert prover.prove(body, outcome).status == expected, (body, outcome)


def test_classes_with_the_same_numbers_are_decided_whatever_a_third_class_does():
    model, rows = boost_by_hand(0.25, 0.25, np.linspace(-3, -0.4, 40))
    prover = bind_prover(model, Domain.of(rows))
    assert [prover.prove([], outcome).status for outcome in range(3)] == ["proved", "refuted", "refuted"]


EARLY = {"pred_early_stop": True, "pred_early_stop_freq": 1, "pred_early_stop_margin": 0.2}


def test_lightgbm_that_stops_adding_trees_is_refused_and_only_where_it_does():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.normal(size=200), "y": rng.normal(size=200)})
    labels = (rows.x + 0.3 * rows.y > 0).astype(int)
    model = lgbm(**EARLY).fit(rows, labels)
    plain = model.booster_.predict(rows)
    assert np.abs(model.predict_proba(rows)[:, 1] - plain).max() > 0.01
    with pytest.raises(HornbookError, match="pred_early_stop"):
        bind_prover(model, Domain.of(rows))
    changed = lgbm().fit(rows, labels)
    bind_prover(changed, Domain.of(rows))
    with pytest.raises(HornbookError, match="pred_early_stop"):
        bind_prover(changed.set_params(**EARLY), Domain.of(rows))
    # a booster has the setting, and its predict does not know it
    prover = bind_prover(model.booster_, Domain.of(rows))
    body = [Threshold("x", 1.0)]
    decided = plain[body[0].evaluate(rows)[0]] >= 0.5
    assert prover.prove(body, 1).status == ("proved" if decided.all() else "refuted")
