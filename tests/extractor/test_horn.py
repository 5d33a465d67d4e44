"""HornExtractor: scikit-learn's conventions, all kinds of tables and models, honest figures."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from hornbook import HornExtractor, as_predictor
from hornbook.errors import HornbookError
from hornbook.queries import Estimated
from hornbook.statistics import Share

FRAME = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (200, 4)), columns=list("abcd")).astype(float)
LABELS = (FRAME.a == 1) & ((FRAME.b == 1) | (FRAME.c == 0))
TREE = DecisionTreeClassifier(random_state=0).fit(FRAME, LABELS)
SMALL = {"n_samples": 1000, "max_literals": 6, "random_state": 0}
NUMBERS = pd.DataFrame(np.random.default_rng(2).standard_normal((150, 3)), columns=list("xyz"))
NUMBERS["kind"] = np.random.default_rng(3).choice(["red", "green", "blue"], 150)


def waves(array):
    """A model with more to say than a few conditions can."""
    return np.sin(3 * np.nan_to_num(array)).sum(axis=1) > 0.3


@pytest.fixture(scope="module")
def fitted():
    return HornExtractor(TREE, "ill", form="rules", **SMALL).fit(FRAME, groups=range(200))


def test_documented_lines_work_as_written():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :4].mask(np.random.default_rng(0).random((len(X), 4)) < 0.1)
    model = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(X, y)
    extractor = HornExtractor(model, target="benign", n_samples=500, random_state=0).fit(X)
    fidelity = extractor.fidelity_
    assert fidelity.population == "unseen rows" and fidelity.share.size == 114
    assert 0.85 < fidelity.estimate <= 1 and fidelity.low < fidelity.estimate <= fidelity.high
    assert str(fidelity).startswith("on 114 unseen rows ") and "95 % interval" in str(fidelity)
    assert 0.85 < extractor.score(X) <= 1 and extractor.explanation_.literals <= 20
    assert extractor.explain(X.iloc[0]).outcome in ("benign", "not benign")
    assert fidelity.samples.size >= 738 and isinstance(extractor.extraction_.guarantee, Estimated)


def test_unseen_rows_of_the_user_are_measured_on_and_nothing_is_held_out():
    rng = np.random.default_rng(5)
    unseen = pd.DataFrame(rng.integers(0, 2, (70, 4)), columns=list("dcba")).assign(e=1)
    extractor = HornExtractor(TREE, "ill", form="rules", **SMALL).fit(FRAME, unseen=unseen)
    assert str(extractor.fidelity_).startswith("on 70 test rows (which count as 12) ")
    assert len(extractor.teacher_.frame) == len(FRAME)
    same = extractor.predict(unseen[list("abcd")]) == TREE.predict(unseen[list("abcd")])
    assert extractor.fidelity_.share.hits == same.sum()
    known = set(map(tuple, FRAME.to_numpy()))
    shared = sum(tuple(row) in known for row in unseen[list("abcd")].to_numpy(float))
    assert extractor.extraction_.notes[0].startswith(f"{shared} of the 70 test rows also occur in the table")
    with pytest.raises(HornbookError, match="test has no column 'a'"):
        extractor.fit(FRAME, unseen=unseen[["b", "c", "d"]])
    arrays = HornExtractor(waves, **SMALL).fit(FRAME.to_numpy(), unseen=FRAME.to_numpy()[:5])
    assert arrays.fidelity_.share.size == 5


def test_attributes_are_those_of_the_extraction(fitted):
    assert fitted.score(FRAME) == 1 and fitted.fidelity_.estimate == 1
    assert (fitted.predict(FRAME) == TREE.predict(FRAME)).all()
    assert fitted.classes_.tolist() == [False, True]
    assert list(fitted.feature_names_in_) == list("abcd") and fitted.n_features_in_ == 4
    assert fitted.fidelity_.unseen_rows == Share.of(40, 40)
    assert fitted.fidelity_.used_rows == 1 and type(fitted.score(FRAME)) is float
    assert fitted.explanation_ == fitted.extraction_.explanation and fitted.frontier_
    assert (fitted.background_ | fitted.theory_).is_satisfiable()


@pytest.mark.parametrize(
    ("form", "table"), [("tree", "numbers"), ("card", "variables"), ("rules", "numbers")]
)
def test_nothing_is_made_from_the_rows_held_out(form, table):
    """Whatever stands in them, all is the same but for the figures that are measured on them."""
    from hornbook.tables import split_rows

    frame, other = {"numbers": (NUMBERS[list("xyz")], 9.0), "variables": (FRAME.iloc[:150], 1.0)}[table]
    model = as_predictor(waves, encoding="nan")
    each = range(150)  # every row is its own group, whatever stands in it
    first = HornExtractor(model, "ill", form=form, **SMALL).fit(frame, groups=each)
    _, held_out = split_rows(frame, 0, groups=each)
    assert len(held_out) == 30 and len(set(held_out)) == 30
    changed = frame.copy()
    changed.iloc[held_out] = other
    again = HornExtractor(model, "ill", form=form, **SMALL).fit(changed, groups=each)
    assert again.explanation_ == first.explanation_
    assert again.fidelity_.samples == first.fidelity_.samples
    assert again.fidelity_.used_rows == first.fidelity_.used_rows
    for one, two in zip(first.frontier_, again.frontier_, strict=True):
        assert one.explanation == two.explanation and one.fidelity.samples == two.fidelity.samples
    assert again.fidelity_.share == Share.of(30 if again.score(changed.iloc[held_out]) else 0, 30)


def test_few_rows_are_all_used_and_the_fidelity_says_so():
    few = HornExtractor(TREE, "ill", **SMALL | {"max_literals": 1}).fit(FRAME[:99])
    assert few.fidelity_.unseen_rows is None and few.fidelity_.population == "samples"
    assert str(few.fidelity_).startswith("on 8,192 samples ")
    assert few.fidelity_.used_rows == few.score(FRAME[:99])


def test_score_is_the_share_of_rows_that_predict_and_the_model_decide_alike():
    extractor = HornExtractor(TREE, "ill", **SMALL | {"max_literals": 1}).fit(FRAME)
    assert extractor.score(FRAME) == np.mean(extractor.predict(FRAME) == TREE.predict(FRAME)) < 1
    weights = np.arange(len(FRAME))
    same = extractor.predict(FRAME) == TREE.predict(FRAME)
    assert extractor.score(FRAME, sample_weight=weights) == np.average(same, weights=weights)


@pytest.mark.parametrize(
    "make",
    [lambda: FRAME.to_numpy(), lambda: FRAME.astype(bool), lambda: pl.DataFrame(FRAME.to_dict("list"))],
)
def test_tables_of_all_kinds_give_the_same_decisions(fitted, make):
    table = make()
    model = DecisionTreeClassifier(random_state=0).fit(np.asarray(table, float), LABELS)
    other = HornExtractor(model, "ill", form="rules", **SMALL).fit(table)
    assert other.score(table) == 1 and other.n_features_in_ == 4
    assert (other.predict(table) == fitted.predict(FRAME)).all()


def test_model_of_raw_columns_is_asked_in_its_own_terms():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X["colour"] = np.where(X["petal width (cm)"] > 1.7, "dark", "light")
    encoder = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    model = make_pipeline(encoder, LogisticRegression(max_iter=2000)).fit(X, y == 2)
    extractor = HornExtractor(model, "virginica", form="tree", **SMALL).fit(X)
    agreed = np.mean(extractor.predict(X) == model.predict(X))
    assert extractor.score(X) == agreed > 0.9
    assert extractor.explain({"colour": "dark", "petal length (cm)": 6.0}).outcome == "virginica"


def test_columns_without_names_are_asked_by_position():
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y == 2)
    extractor = HornExtractor(model, "virginica", form="tree", **SMALL).fit(X)
    assert extractor.score(X) > 0.9 and set(extractor.explanation_.columns) <= {"x2", "x3"}


def test_columns_that_hardly_any_row_knows_can_be_explained():
    words = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    for seed in range(2):
        frame = NUMBERS.assign(rare=np.where(np.arange(150) == seed, 1.5, np.nan))
        frame.loc[seed + 20, "kind"] = "violet"
        model = make_pipeline(words, DecisionTreeClassifier(max_depth=3)).fit(frame, frame["x"] > frame["y"])
        extractor = HornExtractor(model, "ill", n_samples=500, max_literals=3, random_state=seed).fit(frame)
        assert extractor.fidelity_.unseen_rows.size in (29, 30)


def test_missing_values_are_kept_and_shown_to_models_that_take_them():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.mask(np.random.default_rng(1).random(X.shape) < 0.2)
    for model in (HistGradientBoostingClassifier(max_iter=10), DecisionTreeClassifier(max_depth=3)):
        extractor = HornExtractor(model.fit(X, y == 2), "virginica", form="tree", **SMALL).fit(X)
        assert extractor.score(X) > 0.85
        assert extractor.extraction_.missing_values == "the model's own answer"


def test_several_classes_are_one_explanation():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, names)
    for form in ("tree", "card", "rules"):
        extractor = HornExtractor(model, "iris", form=form, **SMALL).fit(X)
        assert extractor.explanation_.classes == ("setosa", "versicolor", "virginica")
        assert set(extractor.predict(X)) <= set(names) and extractor.score(X) > 0.9
        assert extractor.explanation_.literals <= 6
    one = HornExtractor(as_predictor(model, positive="virginica"), "virginica", form="tree", **SMALL).fit(X)
    assert one.classes_.tolist() == [0, 1]


def test_clones_share_the_model_and_parameters_are_plain(fitted):
    copy = clone(fitted)
    assert copy.model is TREE and not hasattr(copy, "extraction_")
    assert copy.get_params() == fitted.get_params() and len(copy.get_params()) <= 12
    assert not any("__" in name for name in copy.get_params(deep=True))
    again = copy.set_params(max_literals=3).set_params(max_literals=6).fit(FRAME, groups=range(200))
    assert again.extraction_ == fitted.extraction_
    assert pickle.loads(pickle.dumps(fitted)).extraction_ == fitted.extraction_


def test_extractor_shows_itself_in_a_notebook(fitted):
    html = fitted._repr_html_()
    assert "ill" in html and fitted._repr_mimebundle_()["text/html"] == html
    hostile = FRAME.rename(columns={"a": "<script>alert(1)</script>"})
    model = DecisionTreeClassifier(random_state=0).fit(hostile, LABELS)
    html = HornExtractor(model, "<b>ill", **SMALL).fit(hostile)._repr_html_()
    assert "<script>" not in html and "<b>ill" not in html
    assert "HornExtractor" in HornExtractor(TREE)._repr_html_()


def test_verbose_prints_candidates(capsys):
    HornExtractor(TREE, "ill", verbose=1, **SMALL | {"max_literals": 2}).fit(FRAME)
    assert "literals: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: HornExtractor(TREE, form="magic").fit(FRAME), "form is auto, tree, card, rules"),
        (lambda: HornExtractor(TREE, max_literals=0).fit(FRAME), "max_literals at least 1"),
        (lambda: HornExtractor(TREE).fit(FRAME, FRAME.a + 0.25 * FRAME.b), "needs classes: e.g. y > "),
        (lambda: HornExtractor(LinearRegression().fit(FRAME, LABELS)).fit(FRAME), "threshold="),
        (lambda: HornExtractor(DecisionTreeClassifier()).fit(FRAME), "is not fitted yet"),
        (lambda: HornExtractor(TREE, **SMALL).fit(FRAME.assign(a=np.inf)), "infinity"),
        (lambda: HornExtractor("none.onnx").fit(FRAME), "there is no file none.onnx"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(HornbookError, match=message):
        call()


def test_explain_takes_rows_of_every_kind(fitted):
    row = {"a": 1, "b": 1, "c": 1, "d": 0}
    told = [row, pd.Series(row), list(row.values()), pd.DataFrame([row]), np.array([[1, 1, 1, 0]])]
    texts = {str(fitted.explain(each)) for each in told}
    assert len(texts) == 1 and texts.pop().startswith("ill, because\n")
    assert {fitted.explain({name: 1}).outcome for name in "abcd"} <= {"ill", "not ill"}
    for wrong, message in (
        ({"a": 1, "e": 1}, "the table has no column 'e'; it has a, b, c, d"),
        ([1, 0], "a row has 4 values"),
        (FRAME, "one row"),
    ):
        with pytest.raises(HornbookError, match=message):
            fitted.explain(wrong)
    with pytest.raises(NotFittedError):
        clone(fitted).explain(row)


def test_forests_with_ties_are_explained_as_they_predict():
    model = RandomForestClassifier(10, max_depth=2, random_state=0).fit(FRAME, LABELS)
    extractor = HornExtractor(model, "ill", form="tree", **SMALL).fit(FRAME)
    assert extractor.score(FRAME) == np.mean(extractor.predict(FRAME) == model.predict(FRAME))


class Width(BaseEstimator):
    """A model that reads tables of any width, as scikit-learn's checks give them."""

    def __call__(self, array):
        return np.asarray(array, float)[:, 0] > 0


@parametrize_with_checks([HornExtractor(Width(), n_samples=64, max_literals=3, form="rules")])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)
