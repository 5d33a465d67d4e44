"""Proofs about columns: against all cells of trees, against grids for networks, and what is refused."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from hornbook.conditions import Category, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import ConditionRule, DecisionTree, RuleSet, Split
from hornbook.models import as_predictor
from hornbook.proof import Domain, Interval
from hornbook.proof.ensembles import single_cut
from hornbook.runs.proving import prove_explanation
from tests.shared.column_zoo import bind_prover


def table(seed, size=80, missing=True):
    """Two columns of numbers and one of whole numbers, with missing values, and labels that follow them."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "x": rng.normal(size=size).round(2),
            "y": rng.uniform(0, 9, size).round(1),
            "n": rng.integers(0, 4, size),
        }
    ).astype(float)
    labels = (rows.x + rows.y / 5 > 1) ^ (rows.n == 2) ^ (rng.random(size) < 0.1)
    if missing:
        rows = rows.mask(rng.random(rows.shape) < 0.15)
    return rows, labels.astype(int)


def xgboost(seed, **settings):
    return pytest.importorskip("xgboost").XGBClassifier(
        n_estimators=4, max_depth=2, random_state=seed, n_jobs=1, **settings
    )


def lightgbm(seed, **settings):
    return pytest.importorskip("lightgbm").LGBMClassifier(
        n_estimators=4, num_leaves=4, min_child_samples=3, n_jobs=1, verbose=-1, random_state=seed, **settings
    )


TREES = {
    "tree": lambda seed: DecisionTreeClassifier(max_leaf_nodes=8, random_state=seed),
    "forest": lambda seed: RandomForestClassifier(4, max_leaf_nodes=5, random_state=seed),
    "full forest": lambda seed: RandomForestClassifier(4, random_state=seed),
    "nearly full forest": lambda seed: RandomForestClassifier(5, min_samples_leaf=2, random_state=seed + 1),
    "histogram boosting": lambda seed: HistGradientBoostingClassifier(
        max_iter=4, max_leaf_nodes=4, min_samples_leaf=3, random_state=seed
    ),
    "extra trees with an imputer": lambda seed: make_pipeline(
        SimpleImputer(add_indicator=True), ExtraTreesClassifier(4, max_leaf_nodes=5, random_state=seed)
    ),
    "boosting with an imputer": lambda seed: make_pipeline(
        SimpleImputer(strategy="median"),
        GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=seed),
    ),
    "XGBoost": xgboost,
    "LightGBM": lightgbm,
    "XGBoost file": lambda seed: xgboost(seed),
    "LightGBM file": lambda seed: lightgbm(seed),
}

CUTS = {"x": [-0.5, 0.25, 1.0], "y": [2.0, 4.55], "n": [0.5, 2.0]}


def random_body(rng):
    """Up to two random conditions, or all columns close to a random point."""
    if rng.random() < 0.4:
        least, most = {"x": -1.5, "y": 1.0, "n": 0.0}, {"x": 1.5, "y": 8.0, "n": 3.0}
        at = {
            name: float(rng.choice([cut for cut in CUTS[name] if least[name] < cut < most[name]]))
            for name in CUTS
        }
        far = {"x": 0.3, "y": 0.5, "n": 1.0}
        ends = ((name, cut, cut + far[name]) for name, cut in at.items())
        return [part for name, low, high in ends
                for part in (Threshold(name, low), Threshold(name, high, above=False))]  # fmt: skip
    body = []
    for name in rng.permutation(["x", "y", "n"])[: rng.integers(0, 3)]:
        if rng.random() < 0.2:
            body.append(Missing(name, bool(rng.random() < 0.5)))
        elif name == "n" and rng.random() < 0.5:
            body.append(Category(name, float(rng.integers(0, 4)), bool(rng.random() < 0.5)))
        else:
            body.append(Threshold(name, float(rng.choice(CUTS[name])), bool(rng.random() < 0.5)))
    return body


def cell_values(prover, name):
    """Numbers of every cell of a column, found without its grid: between and at all cuts, and NaN."""
    own = prover.domain.ranges[name]
    place = prover.columns.index(name)
    trees = prover.reading.contests[0][0].trees
    cuts = {cut for tree in trees for cut in tree.cut[tree.column == place].tolist()}
    cuts |= {*CUTS[name], *(cut + far for cut in CUTS[name] for far in (0.3, 0.5)), own.low, own.high}
    ordered = np.array(sorted(cut for cut in cuts if np.isfinite(cut)))
    numbers = np.concatenate([ordered, np.nextafter(ordered, np.inf), (ordered[1:] + ordered[:-1]) / 2])
    numbers = np.arange(own.low, own.high + 1) if own.whole else numbers
    numbers = np.unique(numbers[(numbers >= own.low) & (numbers <= own.high)])
    return [*numbers, np.nan] if own.missing else list(numbers)


def draw_claim(rng, grid, decided):
    """A random body, which rows of a grid meet it, and what the model says of most of these."""
    body = random_body(rng)
    met = np.logical_and.reduce([np.ones(len(grid), bool), *(each.evaluate(grid)[0] for each in body)])
    return body, met, bool(decided[met].mean() > 0.5) if met.any() else True


@pytest.mark.parametrize("kind", TREES)
def test_verdicts_about_trees_equal_brute_force_over_all_cells(kind, tmp_path):
    seen = {"proved": 0, "refuted": 0}
    rows, labels = table(0)
    model = TREES[kind](0).fit(rows, labels)
    predict = model.predict
    if "file" in kind:
        suffix = ".json" if kind.startswith("XGB") else ".txt"
        (model if suffix == ".json" else model.booster_).save_model(tmp_path / f"model{suffix}")
        model = str(tmp_path / f"model{suffix}")
    prover = bind_prover(model, Domain.of(rows))
    grid = pd.DataFrame(list(product(*(cell_values(prover, name) for name in rows))), columns=rows.columns)
    decided = predict(grid) == 1
    rng = np.random.default_rng(0)
    for _ in range(10):
        body, met, positive = draw_claim(rng, grid, decided)
        verdict = prover.prove(body, positive)
        assert verdict.status == ("refuted" if (met & (decided != positive)).any() else "proved")
        if verdict.witness is not None:
            assert (predict(verdict.witness) == 1) != positive
            assert all(each.evaluate(verdict.witness)[0].all() for each in body)
        seen[verdict.status] += 1
    assert min(seen.values()) > 1, seen


def relu(seed, before=(), size=(6, 4)):
    return make_pipeline(
        *before, MLPClassifier(size, max_iter=60, random_state=seed, learning_rate_init=0.03)
    )


def torch_network(seed):
    import torch

    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.ReLU(), torch.nn.Linear(6, 5), torch.nn.ReLU(),
                               torch.nn.Linear(5, 1))  # fmt: skip


NETWORKS = {
    "scaled": lambda seed: relu(seed, [SimpleImputer(), StandardScaler()]),
    "with indicators": lambda seed: relu(seed, [SimpleImputer(add_indicator=True), MinMaxScaler()]),
    "constant fills": lambda seed: relu(
        seed, [SimpleImputer(strategy="constant", fill_value=-7), RobustScaler()]
    ),
    "logistic regression": lambda seed: make_pipeline(
        SimpleImputer(), StandardScaler(), LogisticRegression()
    ),
    "torch": torch_network,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", NETWORKS)
def test_verdicts_about_networks_agree_with_a_dense_grid(kind):
    seen = {"proved": 0, "refuted": 0, "undecided": 0}
    rows, labels = table(0, missing=kind != "torch")
    model = NETWORKS[kind](0)
    predictor = as_predictor(model if kind == "torch" else model.fit(rows, labels))
    prover = bind_prover(predictor, Domain.of(rows), seconds=20)
    values = []
    for name in rows:
        own = prover.domain.ranges[name]
        numbers = np.arange(own.low, own.high + 1) if own.whole else np.linspace(own.low, own.high, 25)
        values.append([*numbers, *CUTS[name], np.nan] if own.missing else [*numbers])
    grid = pd.DataFrame(list(product(*values)), columns=rows.columns)
    grid = grid[grid.n.isna() | (grid.n == grid.n.round())]
    decided = predictor.decide_rows(predictor.read(grid))
    rng = np.random.default_rng(0)
    for _ in range(10):
        body, met, positive = draw_claim(rng, grid, decided)
        verdict = prover.prove(body, positive)
        if (met & (decided != positive)).any():
            assert verdict.status == "refuted"
        if verdict.witness is not None:
            assert predictor.decide_rows(predictor.read(verdict.witness))[0] != positive
            assert all(each.evaluate(verdict.witness)[0].all() for each in body)
            whole = verdict.witness.n
            assert (whole.isna() | (whole == whole.round())).all()
        seen[verdict.status] += 1
    assert seen["undecided"] == 0 and seen["refuted"] > 1 and seen["proved"] > 1, seen


def test_a_network_is_refuted_by_a_point_inside_a_box_that_no_corner_shows():
    import torch

    tent = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    with torch.no_grad():  # 1 - |x - 0.3| · 20 - |y - 0.7| · 20
        tent[0].weight.copy_(torch.tensor([[1.0, 0], [-1, 0], [0, 1], [0, -1]]))
        tent[0].bias.copy_(torch.tensor([-0.3, 0.3, -0.7, 0.7]))
        tent[2].weight.copy_(torch.full((1, 4), -20.0))
        tent[2].bias.fill_(1.0)
    rows = pd.DataFrame({"x": [0.0, 1.0], "y": [0.0, 1.0]})
    prover = bind_prover(as_predictor(tent), Domain.of(rows.astype(float) * 0.999))
    verdict = prover.prove([], outcome=0)
    assert verdict.status == "refuted"
    assert abs(verdict.witness.x[0] - 0.3) + abs(verdict.witness.y[0] - 0.7) < 0.05
    assert prover.prove([Threshold("x", 0.36)], outcome=0).status == "proved"
    assert prover.prove([Threshold("y", 0.6, above=False)], outcome=0).status == "proved"


def test_whole_numbers_have_no_witness_between_them():
    import torch

    tent = torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    with torch.no_grad():  # 1 - 4 · |x - 2.5|
        tent[0].weight.copy_(torch.tensor([[1.0], [-1.0]]))
        tent[0].bias.copy_(torch.tensor([-2.5, 2.5]))
        tent[2].weight.fill_(-4.0)
        tent[2].bias.fill_(1.0)
    whole, real = pd.DataFrame({"x": [0.0, 5.0]}), pd.DataFrame({"x": [0.0, 4.9]})
    assert bind_prover(as_predictor(tent), Domain.of(whole)).prove([], outcome=0).status == "proved"
    assert bind_prover(as_predictor(tent), Domain.of(real)).prove([], outcome=0).status == "refuted"


@draw_examples(2)
@given(st.floats(-1e30, 1e30), st.booleans(), st.integers(-3, 3))
def test_single_cut_divides_doubles_as_single_precision_does(threshold, strict, steps):
    cut = single_cut(threshold, strict)
    number = cut
    for _ in range(abs(steps)):
        number = np.nextafter(number, np.inf if steps > 0 else -np.inf)
    rounded = float(np.float32(number))
    assert (number <= cut) == (rounded < threshold if strict else rounded <= threshold)


def test_lightgbm_takes_the_tiniest_numbers_for_zero():
    rows = pd.DataFrame({"x": np.r_[-np.arange(1.0, 31), np.zeros(30), np.arange(1.0, 31)]})
    model = lightgbm(0).fit(rows, np.repeat([0, 1, 0], 30))
    tiny = float(np.float32(1e-35))
    at = [-np.nextafter(tiny, 1), -tiny, -1e-40, 0.0, 1e-40, tiny, np.nextafter(tiny, 1)]
    prover = bind_prover(
        model, Domain.of(rows.assign(x=rows.x + 0.5)).widen([Threshold("x", -40.0, above=False)])
    )
    for number, decided in zip(at, model.predict(pd.DataFrame({"x": at})) == 1, strict=True):
        assert prover.prove([Category("x", number)], bool(decided)).status == "proved"


def test_boxes_of_a_domain_share_no_row_and_miss_none():
    rng = np.random.default_rng(0)
    rows, _ = table(1, 200)
    domain = Domain.of(rows)
    for _ in range(30):
        body, excluded = random_body(rng), [random_body(rng) for _ in range(2)]
        met = [np.logical_and.reduce([np.ones(len(rows), bool), *(c.evaluate(rows)[0] for c in each)])
               for each in (body, *excluded)]  # fmt: skip
        boxes = domain.list_boxes(body, excluded)
        inside = np.zeros(len(rows), int)
        for box in boxes:
            within = np.ones(len(rows), bool)
            for name, own in box.items():
                numbers = rows[name].to_numpy()
                within &= np.where(
                    np.isnan(numbers), own.missing, (numbers >= own.low) & (numbers <= own.high)
                )
            inside += within
        assert (inside == (met[0] & ~met[1] & ~met[2])).all()


def test_prove_explanation_gives_every_line_with_a_class_a_verdict():
    rows, labels = table(0)
    model = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=4, min_samples_leaf=3).fit(rows, labels)
    first, second = Threshold("x", 0.25), Category("n", 2.0)
    tree = DecisionTree(("no", "yes"), Split(first, Split(second, 0, 1), 0))
    rules = RuleSet(("no", "yes"), (ConditionRule((first, second), 0), ConditionRule((first,), 1)), 0)
    verdicts = list(prove_explanation(tree, bind_prover(model, Domain.of(rows))))
    assert [verdict is not None for verdict in verdicts] == [bool(line.outcome) for line in tree.lines()]
    proved = prove_explanation(rules, bind_prover(model, Domain.of(rows)))
    assert [each.status for each in proved] == [each.status for each in verdicts if each is not None]
    for explanation, several in ((tree, verdicts), (rules, proved)):
        for verdict in several:
            if verdict is not None and verdict.witness is not None:
                assert explanation.decide(verdict.witness)[0] != model.predict(verdict.witness)[0]


def test_an_explanation_that_is_the_model_is_proved_line_by_line():
    rows, labels = table(2, missing=False)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, labels)

    def read(node):
        fitted = model.tree_
        if fitted.children_left[node] < 0:
            return int(fitted.value[node, 0].argmax())
        condition = Threshold(
            rows.columns[fitted.feature[node]], single_cut(fitted.threshold[node]), above=False
        )
        return Split(condition, read(fitted.children_left[node]), read(fitted.children_right[node]))

    verdicts = prove_explanation(DecisionTree(("no", "yes"), read(0)), bind_prover(model, Domain.of(rows)))
    assert {each.status for each in verdicts if each is not None} == {"proved"}


class Doubling(TransformerMixin, BaseEstimator):
    """A step that nobody knows."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return 2 * X


class Skewed(StandardScaler):
    """A scaler that does something else."""


def patched(model):
    """A forest whose predict was put in its place."""
    original = model.predict_proba
    model.predict_proba = lambda X: original(X)[:, ::-1]
    return model


TRAPS = {
    "unknown step": lambda: make_pipeline(SimpleImputer(), Doubling(), LogisticRegression()),
    "subclass of a scaler": lambda: make_pipeline(SimpleImputer(), Skewed(), LogisticRegression()),
    "quantiles": lambda: make_pipeline(
        SimpleImputer(), QuantileTransformer(n_quantiles=10), LogisticRegression()
    ),
    "clipped": lambda: make_pipeline(SimpleImputer(), MinMaxScaler(clip=True), LogisticRegression()),
    "scaled twice": lambda: make_pipeline(
        SimpleImputer(), MinMaxScaler(), StandardScaler(), LogisticRegression()
    ),
    "scaled trees": lambda: make_pipeline(
        SimpleImputer(), StandardScaler(), DecisionTreeClassifier(max_depth=2)
    ),
    "tanh": lambda: make_pipeline(SimpleImputer(), MLPClassifier((3,), activation="tanh", max_iter=5)),
    "missing by a number": lambda: xgboost(0, missing=-1.0),
    "dart": lambda: xgboost(0, booster="dart"),
    "zero as missing": lambda: lightgbm(0, zero_as_missing=True),
    "averaged trees": lambda: lightgbm(0, boosting_type="rf", bagging_freq=1, bagging_fraction=0.5),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", TRAPS)
def test_models_that_are_not_understood_are_refused_by_name(name):
    rows, labels = table(0)
    if name == "missing by a number":
        rows = rows.fillna(0.0)
    with pytest.raises(HornbookError, match="nothing can be proved about"):
        bind_prover(TRAPS[name]().fit(rows, labels), Domain.of(rows))


def test_a_model_that_computes_something_else_is_refused_with_the_row_that_shows_it():
    rows, labels = table(0)
    honest = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()).fit(rows, labels)
    reading = as_predictor(honest)
    changed = as_predictor(honest).outputs
    liar = replace(reading, outputs=lambda X: changed(X) * [[0.999, 1.001]])
    with pytest.raises(HornbookError, match=r"does not compute what was read of it.*for x="):
        bind_prover(liar, Domain.of(rows))
    with pytest.raises(HornbookError, match="put in the place of its class's"):
        bind_prover(patched(RandomForestClassifier(3).fit(rows, labels)), Domain.of(rows))


def test_one_of_three_classes_against_the_others_and_columns_without_numbers_are_refused():
    rows, labels = table(0)
    three = DecisionTreeClassifier(max_depth=2).fit(rows, rows.n.fillna(0).clip(0, 2))
    with pytest.raises(HornbookError, match="two classes"):
        bind_prover(as_predictor(three, positive=1.0), Domain.of(rows))
    empty = Domain({name: Interval(0, 1) for name in "xy"}, rows)
    with pytest.raises(HornbookError, match="'n' has no numbers"):
        bind_prover(DecisionTreeClassifier(max_depth=2).fit(rows, labels), empty)


def test_a_domain_reaches_beyond_its_table_where_a_body_asks_for_it():
    rows, labels = table(0, missing=False)
    prover = bind_prover(DecisionTreeClassifier(max_depth=2).fit(rows, labels), Domain.of(rows))
    beyond = prover.prove([Threshold("x", 100.0)], outcome=1)
    assert (
        beyond.status in ("proved", "refuted") and np.isfinite(beyond.bound)
    ) or beyond.witness is not None
    contradiction = prover.prove([Threshold("x", 1.0), Threshold("x", 0.0, above=False)], outcome=1)
    assert contradiction.status == "proved" and contradiction.bound == -np.inf


MONOTONE = {
    "tree": TREES["tree"],
    "forest": TREES["forest"],
    "constrained boosting": lambda seed: HistGradientBoostingClassifier(
        max_iter=8, max_leaf_nodes=5, min_samples_leaf=3, monotonic_cst={"x": 1}, random_state=seed
    ),
    "constrained XGBoost": lambda seed: xgboost(seed, monotone_constraints={"x": 1}),
    "boosting with an imputer": TREES["boosting with an imputer"],
}


@pytest.mark.parametrize("kind", MONOTONE)
def test_monotonicity_of_trees_is_decided_as_by_all_pairs_of_cells(kind):
    seen = set()
    rows, labels = table(0)
    model = MONOTONE[kind](0).fit(rows, labels)
    prover = bind_prover(model, Domain.of(rows))
    values = {name: cell_values(prover, name) for name in rows}
    for column, outcome in [("x", 0), ("x", 1)]:
        others = [name for name in rows if name != column]
        numbers = [value for value in values[column] if not np.isnan(value)]
        grid = pd.DataFrame(list(product(*(values[name] for name in others), numbers)),
                            columns=[*others, column])[list(rows)]  # fmt: skip
        kept = (model.predict(grid) == outcome).reshape(-1, len(numbers))  # the column rises along a row
        lost = (kept[:, :-1] & ~kept[:, 1:]).any()
        verdict = prover.prove_monotone(column, outcome)
        assert verdict.status == ("refuted" if lost else "proved")
        if verdict.witness is not None:
            low, high = verdict.witness[column]
            assert low < high and (model.predict(verdict.witness) == outcome).tolist() == [True, False]
            assert all(verdict.witness[name].nunique(dropna=False) == 1 for name in others)
        if "constrained" in kind and (column, outcome) == ("x", 1):
            assert verdict.status == "proved"
        seen.add(verdict.status)
    assert "refuted" in seen


def test_a_class_that_only_the_last_of_many_cells_loses_is_not_monotone():
    rows = pd.DataFrame(list(product(range(7), range(2))), columns=["x", "y"], dtype=float)
    labels = (rows.x > np.where(rows.y, 1.5, 3.5)) & (rows.x < 5.5)  # of x, 1.5, 3.5 and 5.5 tell cells apart
    model = DecisionTreeClassifier(random_state=0).fit(rows, labels)
    verdict = bind_prover(model, Domain.of(rows)).prove_monotone("x", outcome=1)
    assert verdict.status == "refuted" and verdict.witness.x[0] <= 5.5 < verdict.witness.x[1]


@pytest.mark.parametrize("above", [True, False])
def test_a_threshold_that_no_number_or_every_number_meets_is_no_other_question(above):
    rows, labels = table(0)
    prover = bind_prover(DecisionTreeClassifier(max_depth=3).fit(rows, labels), Domain.of(rows))
    for make in (lambda cut: Threshold("x", cut, above), lambda cut: Category("x", cut, above)):
        with pytest.raises(HornbookError, match="compares 'x' with NaN"):
            make(np.nan)
    unmet = Threshold("x", np.inf if above else -np.inf, above)
    assert [prover.prove([unmet], outcome).status for outcome in (0, 1)] == ["proved"] * 2
    for outcome in (0, 1):
        assert prover.prove([unmet.negate()], outcome).status == prover.prove([], outcome).status
