"""Explainer: all kinds of tables and models, honest figures, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import hornbook as hb
from hornbook import Explainer, as_predictor
from hornbook.errors import HornbookError
from hornbook.queries import Estimated
from hornbook.statistics import Share

FRAME = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (200, 4)), columns=list("abcd")).astype(float)
LABELS = (FRAME.a == 1) & ((FRAME.b == 1) | (FRAME.c == 0))
TREE = DecisionTreeClassifier(random_state=0).fit(FRAME, LABELS)
SMALL = {"n_samples": 1000, "max_literals": 6}
NUMBERS = pd.DataFrame(np.random.default_rng(2).standard_normal((150, 3)), columns=list("xyz"))
NUMBERS["kind"] = np.random.default_rng(3).choice(["red", "green", "blue"], 150)


def waves(array):
    """A model with more to say than a few conditions can."""
    return np.sin(3 * np.nan_to_num(array)).sum(axis=1) > 0.3


@pytest.fixture(scope="module")
def explainer():
    return Explainer(TREE, FRAME, target="ill", groups=range(200))


@pytest.fixture(scope="module")
def extraction(explainer):
    return explainer.extract(form="rules", **SMALL)


def agreement(extraction, model, rows):
    """The share of rows on which explanation and model say the same."""
    return np.mean(extraction.predict(rows) == model.predict(rows))


def test_documented_lines_work_as_written():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :4].mask(np.random.default_rng(0).random((len(X), 4)) < 0.1)
    model = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(X, y)
    extraction = Explainer(model, X, target="benign").extract(n_samples=500)
    fidelity = extraction.fidelity
    assert fidelity.population == "held-out rows" and fidelity.share.size == 114
    assert 0.85 < fidelity.estimate <= 1 and fidelity.low < fidelity.estimate <= fidelity.high
    assert str(fidelity).startswith("on 114 held-out rows ") and "95 % interval" in str(fidelity)
    assert 0.85 < agreement(extraction, model, X) <= 1 and extraction.explanation.literals <= 20
    assert extraction.explain(X.iloc[0]).outcome in ("benign", "not benign")
    assert fidelity.samples.size >= 738 and isinstance(extraction.guarantee, Estimated)
    assert str(extraction).startswith(f"{extraction.explanation}\n# fidelity to the model {fidelity}")


def test_test_rows_of_the_user_are_measured_on_and_nothing_is_held_out():
    rng = np.random.default_rng(5)
    test = pd.DataFrame(rng.integers(0, 2, (70, 4)), columns=list("dcba")).assign(e=1)
    explainer = Explainer(TREE, FRAME, target="ill")
    extraction = explainer.extract(form="rules", test=test, **SMALL)
    assert str(extraction.fidelity).startswith("on 70 test rows (which count as 12) ")
    rows = test[list("abcd")]
    assert extraction.fidelity.share.hits == (extraction.predict(rows) == TREE.predict(rows)).sum()
    known = set(map(tuple, FRAME.to_numpy()))
    shared = sum(tuple(row) in known for row in rows.to_numpy(float))
    assert extraction.notes[0].startswith(f"{shared} of the 70 test rows also occur in the table")
    with pytest.raises(HornbookError, match="test has no column 'a'"):
        explainer.extract(test=test[["b", "c", "d"]])
    arrays = Explainer(waves, FRAME.to_numpy()).extract(test=FRAME.to_numpy()[:5], **SMALL)
    assert arrays.fidelity.share.size == 5


def test_result_is_one_value(explainer, extraction):
    assert agreement(extraction, TREE, FRAME) == 1 and extraction.fidelity.estimate == 1
    assert extraction.classes == (False, True) and explainer.subject.classes == ("not ill", "ill")
    assert [column.name for column in extraction.columns] == list("abcd")
    assert extraction.fidelity.rows == Share.of(40, 40)
    assert extraction.frontier
    assert (extraction.background | extraction.theory).is_satisfiable()
    assert explainer.extract(form="rules", **SMALL) == extraction
    assert pickle.loads(pickle.dumps(extraction)) == extraction


def test_labels_only_say_how_often_the_model_is_right(extraction):
    truth = pd.Series(LABELS.to_numpy()).astype(object)
    truth[:20] = ~truth[:20].astype(bool)
    truth[20:30] = None
    explainer = Explainer(TREE, FRAME, truth, target="ill", groups=range(200))
    assert explainer.accuracy == Share.of(170, 190) and "right on 89.47 %" in repr(explainer)
    assert explainer.extract(form="rules", **SMALL) == extraction
    assert Explainer(TREE, FRAME).accuracy is None


def test_every_point_of_the_frontier_can_be_chosen():
    extraction = Explainer(waves, NUMBERS[list("xyz")].to_numpy()).extract(form="tree", n_samples=2000)
    assert len(extraction.frontier) > 2
    for point in extraction.frontier:
        chosen = extraction.choose(literals=point.literals)
        assert chosen.explanation == point.explanation and chosen.fidelity == point.fidelity
        assert len(chosen.lines) == len(chosen.explanation.lines())
        assert hb.Extraction.from_json(chosen.to_json()).to_json() == chosen.to_json()
    assert extraction.choose(1000).explanation == extraction.frontier[-1].explanation
    with pytest.raises(HornbookError, match="the shortest explanation has 0 literals"):
        extraction.choose(-1)
    with pytest.raises(HornbookError, match="literals is a whole number, such as 5; got 'a'"):
        extraction.choose("a")


def test_a_row_is_explained_with_its_label_as_it_is_predicted(extraction):
    row = FRAME.iloc[3]
    labelled = pd.concat([row, pd.Series({"ill": 1.0})])
    assert extraction.explain(labelled) == extraction.explain(row)
    with pytest.raises(HornbookError, match="'well'"):
        extraction.explain({**row, "well": 1})


def test_extraction_is_saved_exported_and_reported(extraction, tmp_path):
    extraction.save(tmp_path / "run")
    again = hb.load(tmp_path / "run")
    assert again.to_json() == extraction.to_json()
    assert (again.predict(FRAME) == extraction.predict(FRAME)).all()
    extraction.export("sql", tmp_path / "decision.sql")
    assert "CASE" in (tmp_path / "decision.sql").read_text()
    extraction.report(tmp_path / "report.html")
    assert "</html>" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("form", "table"), [("tree", "numbers"), ("card", "variables"), ("rules", "numbers")]
)
def test_nothing_is_made_from_the_rows_held_out(form, table):
    """Whatever stands in them, all is the same but for the figures that are measured on them."""
    from hornbook.tables import split_rows

    frame, other = {"numbers": (NUMBERS[list("xyz")], 9.0), "variables": (FRAME.iloc[:150], 1.0)}[table]
    model = as_predictor(waves, encoding="nan")
    each = range(150)  # every row is its own group, whatever stands in it
    first = Explainer(model, frame, target="ill", groups=each).extract(form=form, **SMALL)
    _, held_out = split_rows(frame, 0, groups=each)
    assert len(held_out) == 30 and len(set(held_out)) == 30
    changed = frame.copy()
    changed.iloc[held_out] = other
    explainer = Explainer(model, changed, target="ill", groups=each)
    again = explainer.extract(form=form, **SMALL)
    assert again.explanation == first.explanation
    assert again.fidelity.samples == first.fidelity.samples
    for one, two in zip(first.frontier, again.frontier, strict=True):
        assert one.explanation == two.explanation and one.fidelity.samples == two.fidelity.samples
    rows = changed.iloc[held_out]
    same = again.explanation.decide(rows) == explainer.subject.teacher.labels(rows)
    assert again.fidelity.share == Share.of(30 if same.all() else 0, 30)


def test_few_rows_are_all_used_and_the_fidelity_says_so():
    few = Explainer(TREE, FRAME[:99], target="ill").extract(**SMALL | {"max_literals": 1})
    assert few.fidelity.rows is None and few.fidelity.population == "samples"
    assert str(few.fidelity).startswith("on 8,192 samples ")
    assert agreement(few, TREE, FRAME[:99]) < 1


@pytest.mark.parametrize(
    "make",
    [lambda: FRAME.to_numpy(), lambda: FRAME.astype(bool), lambda: pl.DataFrame(FRAME.to_dict("list"))],
)
def test_tables_of_all_kinds_give_the_same_decisions(extraction, make):
    table = make()
    model = DecisionTreeClassifier(random_state=0).fit(np.asarray(table, float), LABELS)
    other = Explainer(model, table, target="ill").extract(form="rules", **SMALL)
    assert len(other.columns) == 4
    assert (other.predict(table) == extraction.predict(FRAME)).all()


def test_model_of_raw_columns_is_asked_in_its_own_terms():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X["colour"] = np.where(X["petal width (cm)"] > 1.7, "dark", "light")
    encoder = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    model = make_pipeline(encoder, LogisticRegression(max_iter=2000)).fit(X, y == 2)
    extraction = Explainer(model, X, target="virginica").extract(form="tree", **SMALL)
    assert agreement(extraction, model, X) > 0.9
    assert extraction.explain({"colour": "dark", "petal length (cm)": 6.0}).outcome == "virginica"


def test_columns_without_names_are_asked_by_position():
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y == 2)
    extraction = Explainer(model, X, target="virginica").extract(form="tree", **SMALL)
    assert agreement(extraction, model, X) > 0.9 and set(extraction.explanation.columns) <= {"x2", "x3"}
    with pytest.raises(HornbookError, match="a row has 4 values"):
        extraction.predict(X[:, :3])


def test_columns_that_hardly_any_row_knows_can_be_explained():
    words = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    for seed in range(2):
        frame = NUMBERS.assign(rare=np.where(np.arange(150) == seed, 1.5, np.nan))
        frame.loc[seed + 20, "kind"] = "violet"
        model = make_pipeline(words, DecisionTreeClassifier(max_depth=3)).fit(frame, frame["x"] > frame["y"])
        extraction = Explainer(model, frame, target="ill", seed=seed).extract(n_samples=500, max_literals=3)
        assert extraction.fidelity.rows.size in (29, 30)


def test_missing_values_are_kept_and_shown_to_models_that_take_them():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.mask(np.random.default_rng(1).random(X.shape) < 0.2)
    for model in (HistGradientBoostingClassifier(max_iter=10), DecisionTreeClassifier(max_depth=3)):
        extraction = Explainer(model.fit(X, y == 2), X, target="virginica").extract(form="tree", **SMALL)
        assert agreement(extraction, model, X) > 0.85
        assert extraction.missing_values == "the model's own answer"


def test_several_classes_are_one_explanation():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, names)
    for form in ("tree", "card", "rules"):
        extraction = Explainer(model, X, target="iris").extract(form=form, **SMALL)
        assert extraction.explanation.classes == ("setosa", "versicolor", "virginica")
        assert set(extraction.predict(X)) <= set(names) and agreement(extraction, model, X) > 0.9
        assert extraction.explanation.literals <= 6
    one = Explainer(as_predictor(model, positive="virginica"), X, target="virginica")
    assert one.extract(form="tree", **SMALL).classes == (0, 1)


def test_one_class_of_several_is_learned_by_queries():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, names)
    for given in (model, model.predict):
        learned = Explainer(given, X, target="iris", positive="setosa").learn(max_queries=10)
        assert "setosa" in str(learned.explanation)
        assert np.mean(learned.predict(X) == (names == "setosa")) > 0.9


def test_queries_show_a_booster_the_columns_that_it_was_trained_on():
    lightgbm = pytest.importorskip("lightgbm")
    frame = NUMBERS.assign(kind=NUMBERS["x"].round(1))
    booster = lightgbm.train(
        {"objective": "binary", "verbose": -1}, lightgbm.Dataset(NUMBERS[["x"]], NUMBERS.x > 0), 5
    )
    learned = Explainer(booster, frame[["kind", "x", "y"]], target="high").learn(max_queries=3)
    assert np.mean(learned.predict(frame[["kind", "x", "y"]]) == (NUMBERS["x"] > 0)) > 0.8


def test_extraction_shows_itself_in_a_notebook(extraction):
    assert "ill" in extraction._repr_html_()
    hostile = FRAME.rename(columns={"a": "<script>alert(1)</script>"})
    model = DecisionTreeClassifier(random_state=0).fit(hostile, LABELS)
    html = Explainer(model, hostile, target="<b>ill").extract(**SMALL)._repr_html_()
    assert "<script>" not in html and "<b>ill" not in html


def test_lines_are_proved(explainer):
    extraction = explainer.extract(form="tree", proof=True, **SMALL)
    assert {line.guarantee.kind for line in extraction.lines if line.guarantee} == {"proved"}
    with pytest.raises(HornbookError, match="the lines of a card hold only together"):
        explainer.extract(form="card", proof=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Explainer(TREE, FRAME).extract(form="magic"), "form is auto, tree, card, rules"),
        (lambda: Explainer(TREE, FRAME).extract(max_literals=0), "max_literals at least 1"),
        (lambda: Explainer(TREE, FRAME, FRAME.a + 0.25 * FRAME.b), "needs classes: e.g. y > "),
        (lambda: Explainer(TREE, FRAME, LABELS[:9]), "200 rows and 9 labels"),
        (lambda: Explainer(LinearRegression().fit(FRAME, LABELS), FRAME), "threshold="),
        (lambda: Explainer(DecisionTreeClassifier(), FRAME), "is not fitted yet"),
        (lambda: Explainer(TREE, FRAME.assign(a=np.inf)), "infinity"),
        (lambda: Explainer("none.onnx", FRAME), "there is no file none.onnx"),
        (lambda: Explainer(FRAME, TREE), r"Explainer\(model, X\)"),
        (lambda: Explainer(FRAME.to_numpy(), TREE), r"Explainer\(model, X\)"),
        (lambda: Explainer(FRAME, LABELS), r"Explainer\(model, X\)"),
        (lambda: Explainer(TREE, LABELS), r"Explainer\(model, X, y\)"),
        (lambda: Explainer(TREE, LABELS.tolist()), r"Explainer\(model, X, y\)"),
        (lambda: Explainer(TREE, LABELS.to_numpy(), FRAME), r"Explainer\(model, X, y\)"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(HornbookError, match=message):
        call()


def test_explain_takes_rows_of_every_kind(extraction):
    row = {"a": 1, "b": 1, "c": 1, "d": 0}
    told = [row, pd.Series(row), list(row.values()), pd.DataFrame([row]), np.array([[1, 1, 1, 0]])]
    texts = {str(extraction.explain(each)) for each in told}
    assert len(texts) == 1 and texts.pop().startswith("ill, because\n")
    assert {extraction.explain({name: 1}).outcome for name in "abcd"} <= {"ill", "not ill"}
    for wrong, message in (
        ({"a": 1, "e": 1}, "the table has no column 'e'; it has a, b, c, d"),
        ([1, 0], "a row has 4 values"),
        (FRAME, "one row"),
    ):
        with pytest.raises(HornbookError, match=message):
            extraction.explain(wrong)
    with pytest.raises(HornbookError, match="the rows have no column 'a'; they have d"):
        extraction.predict(FRAME[["d"]])


def test_forests_with_ties_are_explained_as_they_predict():
    model = RandomForestClassifier(10, max_depth=2, random_state=0).fit(FRAME, LABELS)
    explainer = Explainer(model, FRAME, target="ill")
    extraction, teacher = explainer.extract(form="tree", **SMALL), explainer.subject.teacher
    same = extraction.explanation.decide(FRAME) == teacher.labels(FRAME)
    assert same.mean() == agreement(extraction, model, FRAME)


def test_wide_table_of_a_function_is_read_as_it_was_given():
    """A function that reads tables of any width."""
    for rows in (NUMBERS[list("xyz")], NUMBERS[list("xyz")].to_numpy()):
        explainer = Explainer(lambda array: np.asarray(array, float)[:, 0] > 0, rows)
        extraction = explainer.extract(n_samples=64, max_literals=3, form="rules")
        assert (extraction.predict(rows) == (np.asarray(rows)[:, 0] > 0)).mean() > 0.8


def test_public_names_are_a_dozen():
    assert dir(hb) == sorted(hb.__all__) and len(hb.__all__) <= 14
