"""Proofs about columns of words: against all levels and grids."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from hornbook.conditions import Category, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import ConditionRule, RuleSet
from hornbook.models import as_predictor
from hornbook.models.training import train_pipeline
from hornbook.proof import Domain, Interval
from hornbook.runs.proving import prove_explanation
from tests.shared.column_zoo import bind_prover

COLOURS = ["blue", "green", "red", "white"]
CUTS = [-0.5, 0.3, 0.7, 1.2]


def table(seed, size=90):
    """A column of numbers, one of whole numbers and one of words, with missing values, and labels."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "x": rng.normal(size=size).round(2),
            "colour": rng.choice(COLOURS, size),
            "n": rng.integers(0, 3, size).astype(float),
        }
    )
    labels = (rows.x > rows.colour.isin(["red", "blue"])) ^ (rows.n == 1) ^ (rng.random(size) < 0.1)
    for name in rows:
        rows[name] = rows[name].where(rng.random(size) > 0.12)
    return rows, labels.astype(int)


def random_body(rng):
    """Up to three random conditions, one of them on words; or one on every column, which few rows meet."""
    if rng.random() < 0.4:
        low = int(rng.integers(len(CUTS) - 1))
        return [
            Category("colour", str(rng.choice(COLOURS))),
            Threshold("x", CUTS[low]),
            Threshold("x", CUTS[low + 1], above=False),
            Category("n", float(rng.integers(3))),
        ]
    body = []
    if rng.random() < 0.8:
        colours = tuple(rng.choice([*COLOURS, "pink"], rng.integers(1, 3), replace=False).tolist())
        sign = bool(rng.random() < 0.6)
        word = [
            Category("colour", colours[0], sign),
            Category("colour", colours, sign),
            Missing("colour", sign),
        ]
        body.append(word[rng.integers(3)])
    if rng.random() < 0.7:
        body.append(Threshold("x", float(rng.choice(CUTS)), bool(rng.random() < 0.5)))
    if rng.random() < 0.7:
        body.append(Category("n", float(rng.integers(3)), bool(rng.random() < 0.6)))
    return body


def meets(rows, body):
    return np.logical_and.reduce([np.ones(len(rows), bool), *(each.evaluate(rows)[0] for each in body)])


def list_rows(domain, numbers, words):
    """All rows of a domain whose numbers in column x are given, with these words."""
    values = {"x": numbers, "colour": words, "n": [0.0, 1.0, 2.0]}
    for name, own in values.items():
        if domain.ranges[name].missing:
            values[name] = [*own, np.nan]
    return pd.DataFrame(list(product(*values.values())), columns=list(values))


def in_question(rows, body):
    """Which rows meet a body; those with a word that no row of the table has only if the body names it."""
    named = [value for each in body if each.column == "colour" for value in each.allowed_values]
    return meets(rows, body) & rows["colour"].isin([*COLOURS, *named, np.nan])


IGNORING = OneHotEncoder(handle_unknown="ignore")


def encode_columns(encoder=IGNORING, **imputer):
    words = [SimpleImputer(**imputer)] if imputer else []
    return ColumnTransformer(
        [("numbers", SimpleImputer(add_indicator=True), ["n", "x"]),
         ("words", make_pipeline(*words, clone(encoder)), ["colour"])]
    )  # fmt: skip


TREES = {
    "tree": lambda seed: make_pipeline(
        encode_columns(), DecisionTreeClassifier(max_leaf_nodes=9, random_state=seed)
    ),
    "forest": lambda seed: make_pipeline(
        encode_columns(strategy="most_frequent"),
        RandomForestClassifier(4, max_leaf_nodes=6, random_state=seed),
    ),
    "full forest": lambda seed: make_pipeline(
        encode_columns(strategy="most_frequent"), RandomForestClassifier(2, random_state=seed + 1)
    ),
    "tree of known levels alone": lambda seed: make_pipeline(
        encode_columns(OneHotEncoder()), DecisionTreeClassifier(max_leaf_nodes=9, random_state=seed)
    ),
    "tree of all levels but one": lambda seed: make_pipeline(
        encode_columns(OneHotEncoder(drop="first"), strategy="most_frequent"),
        DecisionTreeClassifier(max_leaf_nodes=9, random_state=seed),
    ),
    "boosting": lambda seed: make_pipeline(
        encode_columns(strategy="constant", fill_value="none"),
        GradientBoostingClassifier(n_estimators=4, max_depth=3, random_state=seed),
    ),
}  # fmt: skip


TRAINED = {"trained": lambda rows, labels: train_pipeline(rows, labels).pipeline}


def draw_claim(rng, grid, decided):
    """A random body, which of the rows of a grid it is about, and what the model says of most of these."""
    body = random_body(rng)
    asked = in_question(grid, body)
    return body, asked, bool(decided[asked].mean() > 0.5) if asked.any() else True


@pytest.mark.parametrize("kind", [*TREES, *TRAINED])
def test_verdicts_about_trees_of_levels_equal_brute_force(kind):
    seed = 1
    rows, labels = table(seed)
    model = TREES[kind](seed).fit(rows, labels) if kind in TREES else TRAINED[kind](rows, labels)
    prover = bind_prover(model, Domain.of(rows))
    trees = prover.reading.contests[0][0].trees
    cuts = {cut for tree in trees for cut in tree.cut.tolist() if np.isfinite(cut)}
    own = prover.domain.ranges["x"]
    ends = np.array(sorted({*cuts, *CUTS, own.low, own.high}))
    numbers = np.unique(np.concatenate([ends, np.nextafter(ends, np.inf)]))
    numbers = numbers[(numbers >= own.low) & (numbers <= own.high)].tolist()
    others = [] if prover.preprocessing.known_levels else ["pink"]  # the model fails on others
    grid = list_rows(prover.domain, numbers, [*COLOURS, *others])
    decided, witnesses, seen = model.predict(grid) == 1, [], {"proved": 0, "refuted": 0}
    rng = np.random.default_rng(seed)
    for _ in range(8):
        body, asked, positive = draw_claim(rng, grid, decided)
        verdict = prover.prove(body, positive)
        broken = asked & (decided != positive)
        assert verdict.status == ("refuted" if broken.any() else "proved"), (body, positive)
        if verdict.witness is not None:
            assert meets(verdict.witness, body).all()
            witnesses.append(verdict.witness.assign(positive=positive))
        seen[verdict.status] += 1
    together = pd.concat(witnesses)
    assert ((model.predict(together[list(rows)]) == 1) != together.positive).all()
    assert min(seen.values()) > 1, seen


def pipeline_network(rng, last):
    seed = int(rng.integers(100))
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    before = ColumnTransformer(
        [("words", OneHotEncoder(handle_unknown="ignore"), ["colour"]), ("x", numbers, ["x"])],
        remainder=SimpleImputer(),
    )
    return make_pipeline(before, last).fit(*table(seed))


NETWORKS = {
    "perceptron": lambda rng: pipeline_network(
        rng, MLPClassifier((6, 4), max_iter=60, random_state=0, learning_rate_init=0.03)
    ),
    "logistic regression": lambda rng: pipeline_network(rng, LogisticRegression()),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", NETWORKS)
def test_verdicts_about_networks_over_columns_agree_with_a_dense_grid(kind):
    seed = 1
    rng = np.random.default_rng(seed)
    model = NETWORKS[kind](rng)
    prover = bind_prover(model, Domain.of(table(seed)[0]), seconds=20)
    own = prover.domain.ranges["x"]
    numbers = [*np.linspace(own.low, own.high, 60), *np.linspace(-0.6, 0.8, 60)]
    grid = list_rows(prover.domain, numbers, [*COLOURS, "pink"])
    decided, seen = model.predict(grid) == 1, {"proved": 0, "refuted": 0, "undecided": 0}
    for _ in range(8):
        body, asked, positive = draw_claim(rng, grid, decided)
        verdict = prover.prove(body, positive)
        if (asked & (decided != positive)).any():
            assert verdict.status == "refuted", (body, positive)
        if verdict.witness is not None:
            assert meets(verdict.witness, body).all()
            assert (model.predict(verdict.witness) == 1) != positive
            assert verdict.witness.n.isna().all() or float(verdict.witness.n.iloc[0]).is_integer()
        seen[verdict.status] += 1
    assert seen["undecided"] == 0 and seen["refuted"] > 1 and seen["proved"] > 1, seen


def test_boxes_of_levels_share_no_row_and_miss_none():
    rng = np.random.default_rng(1)
    rows, _ = table(1, 200)
    domain = Domain.of(rows)
    for _ in range(30):
        body, excluded = random_body(rng), [random_body(rng) for _ in range(2)]
        inside = np.zeros(len(rows), int)
        for box in domain.list_boxes(body, excluded):
            within = np.ones(len(rows), bool)
            for name, own in box.items():
                if isinstance(own, Interval):
                    known = (rows[name] >= own.low) & (rows[name] <= own.high)
                else:
                    known = rows[name].isin(own.values)
                within &= np.where(rows[name].isna(), own.missing, known)
            inside += within
        expected = meets(rows, body)
        for other in excluded:
            expected &= ~meets(rows, other)
        assert (inside == expected).all()


def test_a_rule_about_words_is_proved_line_by_line():
    rows = pd.DataFrame({"age": [20.0, 30, 60, 70], "sex": ["f", "f", "m", "m"]})
    before = ColumnTransformer([("sex", OneHotEncoder(), ["sex"]), ("age", "passthrough", ["age"])])
    model = make_pipeline(before, LogisticRegression()).fit(rows, ["yes", "yes", "no", "no"])
    rules = RuleSet(("no", "yes"), (ConditionRule((Category("sex", "f"),), 1),), 0)
    model[-1].coef_, model[-1].intercept_ = np.array([[9, -9, 0.05]]), np.array([-2.25])
    assert [each.status for each in prove_explanation(rules, bind_prover(model, Domain.of(rows)))] == [
        "proved"
    ] * 2
    model[-1].coef_ = np.array([[1, -9, 0.05]])
    assert [each.status for each in prove_explanation(rules, bind_prover(model, Domain.of(rows)))] == [
        "refuted",
        "proved",
    ]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_pipeline_of_levels_that_computes_something_else_is_refused():
    honest = as_predictor(NETWORKS["perceptron"](np.random.default_rng(0)))
    liar = replace(honest, outputs=lambda X: honest.outputs(X) ** [[1.0, 1.01]])
    with pytest.raises(HornbookError, match=r"does not compute what was read of it.*colour="):
        bind_prover(liar, Domain.of(table(0)[0]))


ENCODERS = {
    "rare levels": OneHotEncoder(min_frequency=10, handle_unknown="infrequent_if_exist"),
    "few levels": OneHotEncoder(max_categories=2, handle_unknown="ignore"),
}


@pytest.mark.parametrize("kind", ENCODERS)
def test_encoders_that_are_not_understood_are_refused_by_name(kind):
    rows, labels = table(0)
    before = ColumnTransformer([("words", ENCODERS[kind], ["colour"])])
    model = make_pipeline(before, DecisionTreeClassifier(max_depth=2)).fit(rows, labels)
    with pytest.raises(HornbookError, match=r"its step words \(OneHotEncoder\)"):
        bind_prover(model, Domain.of(rows))
    twice = [(str(n), OneHotEncoder(handle_unknown="ignore"), ["colour"]) for n in range(2)]
    model = make_pipeline(ColumnTransformer(twice), DecisionTreeClassifier(max_depth=2)).fit(rows, labels)
    with pytest.raises(HornbookError, match="reads a column twice"):
        bind_prover(model, Domain.of(rows))
