"""HornExtractor: scikit-learn's conventions, all kinds of tables and models, honest figures."""

import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from rich.console import Console
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from hornbook.cards.card import Card
from hornbook.classify.reading import Reading
from hornbook.data.binarise import Binariser
from hornbook.errors import HornbookError
from hornbook.extractor.estimator import HornExtractor
from hornbook.extractor.reading import draw_samples
from hornbook.logic import HornTheory, Interpretation
from hornbook.queries import Estimated
from hornbook.runs.reporting import make_report
from hornbook.statistics import Share

FRAME = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (200, 4)), columns=list("abcd")).astype(float)
LABELS = (FRAME.a == 1) & ((FRAME.b == 1) | (FRAME.c == 0))
TREE = DecisionTreeClassifier(random_state=0).fit(FRAME, LABELS)
SMALL = {"samples": 1000, "evaluation": 500, "epsilon": 0.2, "random_state": 0}


@pytest.fixture(scope="module")
def fitted():
    return HornExtractor(TREE, "ill", form="rules", **SMALL).fit(FRAME)


def test_the_documented_lines_work_as_written():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :6].mask(np.random.default_rng(0).random((len(X), 6)) < 0.1)
    model = RandomForestClassifier(10, max_depth=4, random_state=0)

    binariser = Binariser(dual=True).fit(X)
    model.fit(binariser.transform(X), y)
    extractor = HornExtractor(model, target="benign", epsilon=0.05, delta=0.05,
                              max_equivalence_queries=100, random_state=0)  # fmt: skip
    extractor = extractor.fit(binariser.transform(X))
    assert "→ benign" in str(extractor.theory_) or extractor.decider_ is not None
    fidelity = extractor.fidelity_
    assert fidelity.population == "unseen rows" and fidelity.share.size == len(extractor.held_out_) == 114
    assert 0.85 < fidelity.estimate <= 1 and fidelity.low < fidelity.estimate <= fidelity.high
    assert str(fidelity).startswith("on 114 unseen rows ") and "95 % interval" in str(fidelity)
    assert 0.85 < extractor.score(binariser.transform(X)) <= 1
    assert extractor.explain(binariser.transform(X).iloc[0]).conclusion is not None
    assert fidelity.samples.size >= 738 and isinstance(extractor.guarantee_, Estimated)


def test_every_attribute_is_there_and_rules_say_what_the_model_says(fitted):
    assert fitted.score(FRAME) == 1 and fitted.fidelity_.estimate > 0.97
    assert (fitted.predict(FRAME) == TREE.predict(FRAME)).all()
    assert fitted.labels_ == ("ill",) and fitted.classes_.tolist() == [False, True]
    assert list(fitted.feature_names_in_) == list("abcd") and fitted.n_features_in_ == 4
    held_out, used = FRAME.iloc[fitted.held_out_], FRAME.drop(index=fitted.held_out_)
    assert fitted.fidelity_.unseen_rows == Share.of(40, 40) and fitted.score(held_out) == 1
    assert fitted.fidelity_.used_rows == fitted.score(used) and type(fitted.score(used)) is float
    assert len(fitted.rules_) == len(fitted.theory_) and fitted.decider_ is None
    assert all(0 <= found.precision.estimate <= 1 for found in fitted.rules_)
    assert fitted.stop_reason_ and fitted.trace_ and fitted.frontier_ and fitted.membership_queries_ > 1000
    assert fitted.incoherence_ is None  # measured by queries only
    assert fitted.default_ in (False, True) and fitted.undetermined_.size == fitted.fidelity_.samples.size
    assert (fitted.background_ | fitted.theory_).is_satisfiable()


NUMBERS = pd.DataFrame(np.random.default_rng(2).standard_normal((150, 3)), columns=list("xyz"))
NUMBERS["kind"] = np.random.default_rng(3).choice(["red", "green", "blue"], 150)


def waves(array):
    """A model with more to say than a few rules can."""
    return np.sin(3 * np.nan_to_num(array)).sum(axis=1) > 0.3


@pytest.mark.parametrize("method", ["reader", "queries"])
@pytest.mark.parametrize("table", ["numbers", "variables"])
def test_nothing_is_made_from_the_rows_held_out(method, table):
    """Whatever stands in them, all is the same but for the figure that is measured on them."""
    frame, other = {"numbers": (NUMBERS[list("xyz")], 9.0), "variables": (FRAME.iloc[:150], 1.0)}[table]
    arguments = {"method": method, "form": "rules", "max_equivalence_queries": 4, "encoding": "nan", **SMALL}
    first = HornExtractor(waves, "ill", **arguments).fit(frame)
    held_out = first.held_out_
    assert len(held_out) == 30 and len(set(held_out)) == 30
    changed = frame.copy()
    changed.iloc[held_out] = other
    again = HornExtractor(waves, "ill", **arguments).fit(changed)
    np.testing.assert_array_equal(again.held_out_, held_out)
    assert again.theory_ == first.theory_ and again.rules_ == first.rules_
    assert again.fidelity_.samples == first.fidelity_.samples
    assert again.fidelity_.used_rows == first.fidelity_.used_rows
    assert (again.default_, again.guarantee_) == (first.default_, first.guarantee_)
    assert again.fidelity_.share == Share.of(30 if again.score(changed.iloc[held_out]) else 0, 30)


def test_what_is_measured_is_what_is_predicted():
    """Of the samples that figures are about, candidates say what the whole theory says."""
    extractor = HornExtractor(waves, "ill", form="rules", encoding="nan", **SMALL).fit(NUMBERS[list("xyz")])
    (subject,), (found,) = extractor.subjects_, extractor.reading_.found.values()
    explained = subject.explain(Reading(form="rules", samples=1000, evaluation=500, seed=0))
    items = draw_samples(subject, found, 5000, np.random.default_rng(0))
    np.testing.assert_array_equal(explained.predict(items), extractor.reading_.answers.filled(items))
    assert explained.guarantee == extractor.guarantee_


def test_rows_held_out_are_others_for_another_seed():
    first, other = (
        HornExtractor(TREE, "ill", **SMALL | {"random_state": seed}).fit(FRAME).held_out_ for seed in (0, 1)
    )
    assert len(first) == len(other) == 40 and set(first) != set(other)


def test_few_rows_are_all_used_and_the_fidelity_says_so():
    few = HornExtractor(TREE, "ill", max_rules=1, form="rules", **SMALL).fit(FRAME[:99])
    assert len(few.held_out_) == 0 and few.fidelity_.unseen_rows is None
    assert few.fidelity_.population == "samples" and few.fidelity_.share == few.fidelity_.samples
    assert str(few.fidelity_).startswith(f"on {few.fidelity_.samples.size} samples ")
    assert few.fidelity_.used_rows == few.score(FRAME[:99])


def test_columns_that_hardly_any_row_knows_can_be_read():
    """A value that one row alone has is not held out, and a word that was is no surprise."""
    words = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    sizes = set()
    for seed in range(20):
        frame = NUMBERS.assign(rare=np.where(np.arange(150) == seed, 1.5, np.nan))
        frame.loc[seed + 20, "kind"] = "violet"
        model = make_pipeline(words, DecisionTreeClassifier(max_depth=3)).fit(frame, frame["x"] > frame["y"])
        extractor = HornExtractor(model, "ill", random_state=seed)
        (subject,) = extractor.subjects(frame)
        assert seed not in extractor.held_out_ and subject.reader.batch(frame.iloc[extractor.held_out_])
        sizes.add(len(extractor.held_out_))
    assert sizes == {29, 30}


def test_rows_that_rules_leave_open_are_told():
    extractor = HornExtractor(TREE, "ill", form="rules", max_rules=1, **SMALL).fit(FRAME)
    left = extractor.undetermined(FRAME)
    assert left.any() and (extractor.predict(FRAME)[left] == extractor.default_).all()
    # one rule and a default are not the model, and the score says so
    assert extractor.score(FRAME) == np.mean(extractor.predict(FRAME) == TREE.predict(FRAME))


@pytest.mark.parametrize(
    "make",
    [
        lambda: FRAME.to_numpy(),
        lambda: FRAME.astype(bool),
        lambda: pl.DataFrame(FRAME.to_dict("list")),
        lambda: Binariser(dual=True).fit_transform(FRAME),
        lambda: Binariser(dual=True).fit_transform(FRAME).to_numpy(),
    ],
)
def test_tables_of_all_kinds_give_the_same_rules(fitted, make):
    table = make()
    model = DecisionTreeClassifier(random_state=0).fit(np.asarray(table, float), LABELS)
    other = HornExtractor(model, "ill", form="rules", **SMALL).fit(table)
    assert other.score(table) == 1 and len(other.theory_) == len(fitted.theory_)
    width = np.shape(table)[1]
    names = [f"x{v}" for v in range(4)] if isinstance(table, np.ndarray) else list("abcd")
    assert other.reader_.vocabulary.names == (*names, *(f"not_{name}" for name in names))
    assert other.n_features_in_ == width


def test_a_model_of_raw_columns_is_asked_in_its_own_terms():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X["colour"] = np.where(X["petal width (cm)"] > 1.7, "dark", "light")
    encoder = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    model = make_pipeline(encoder, LogisticRegression(max_iter=2000)).fit(X, y == 2)
    extractor = HornExtractor(model, "virginica", **SMALL).fit(X)
    agreed = np.mean(extractor.predict(X) == model.predict(X))
    assert extractor.score(X) == agreed > 0.9
    assert extractor.explain({"colour": "dark", "petal length (cm)": 6.0}).conclusion is not None
    assert "colour" in extractor.reader_.columns


def test_columns_without_names_are_asked_by_position():
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y == 2)
    extractor = HornExtractor(model, "virginica", **SMALL).fit(X)
    assert extractor.score(X) > 0.9 and "x3=high" in str(extractor.theory_)


def test_missing_values_are_kept_and_shown_to_models_that_take_them():
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.mask(np.random.default_rng(1).random(X.shape) < 0.2)
    for model in (HistGradientBoostingClassifier(max_iter=10), DecisionTreeClassifier(max_depth=3)):
        extractor = HornExtractor(model.fit(X, y == 2), "virginica", **SMALL).fit(X)
        assert extractor.score(X) > 0.85
        assert extractor.explain({}).proof is None or extractor.decider_ is not None


def test_several_classes_are_read_against_the_rest_and_conflicts_reported():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, names)
    extractor = HornExtractor(model, "iris", **SMALL).fit(X)
    assert extractor.labels_ == ("iris=setosa", "iris=versicolor", "iris=virginica")
    assert set(extractor.predict(X)) <= set(names) and extractor.score(X) > 0.85
    assert extractor.conflicts_.hits <= extractor.undetermined_.hits
    assert extractor.background_.entails("iris=setosa -> not_iris=virginica")
    assert set(extractor.reading_.found) == set(extractor.labels_)
    one = HornExtractor(model, "virginica", positive="virginica", **SMALL).fit(X)
    assert one.labels_ == ("virginica",) and one.classes_.tolist() == [False, True]
    assert extractor.explain(X.iloc[0]).conclusion is not None


def test_outputs_of_a_network_can_be_named():
    def scores(array):
        return np.stack([array[:, 0], array[:, 1], 0.5 - 0 * array[:, 0]], axis=1)

    extractor = HornExtractor(scores, "kind", classes=["red", "green", "none"], **SMALL).fit(FRAME)
    rows = pd.DataFrame([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]], columns=list("abcd")).astype(float)
    assert extractor.predict(rows).tolist() == ["red", "green", "none"]


def test_a_judge_is_read_by_queries():
    theory = HornTheory.parse("a & b -> c")

    def judge(array):
        return ~((array[:, 0] == 1) & (array[:, 1] == 1) & (array[:, 2] == 0))

    frame = FRAME[list("abc")]
    extractor = HornExtractor(judge, judge=True, encoding="half", **SMALL).fit(frame)
    assert extractor.theory_.over(theory.vocabulary).equivalent(theory)
    assert extractor.labels_ == () and extractor.default_ is None and extractor.score(frame) == 1
    assert extractor.fidelity_.population == "samples" and len(extractor.held_out_) == 0
    assert extractor.incoherence_ is not None and extractor.trace_[-1]["guarantee"] == "pac"
    assert extractor.predict(frame).dtype == bool
    assert [found.entailed_by_model for found in extractor.reading_.rules] == [True]
    assert "The model confirms 1 of 1 rules" in " ".join(make_report(extractor, frame).caveats.notes)


def test_queries_find_the_rules_of_a_tree_and_resume(tmp_path):
    arguments = {"method": "queries", **SMALL}
    whole = HornExtractor(TREE, "ill", **arguments).fit(FRAME, trace=tmp_path / "trace.jsonl")
    assert whole.score(FRAME) == 1 and whole.theory_.entails("a & b -> ill")
    cut = (tmp_path / "trace.jsonl").read_text().splitlines(keepends=True)[:2]
    (tmp_path / "cut.jsonl").write_text("".join(cut))
    again = HornExtractor(TREE, "ill", **arguments).fit(FRAME, trace=tmp_path / "cut.jsonl")
    assert again.theory_ == whole.theory_
    few = HornExtractor(TREE, "ill", max_rules=2, **arguments).fit(FRAME)
    assert len(whole.rules_) > 2 == len(few.rules_)


def test_a_card_counts_and_explains_itself():
    weights = np.array([3, 2, -2, 1])
    model = LogisticRegression(C=100).fit(FRAME, FRAME @ weights >= 2)
    extractor = HornExtractor(model, "ill", form="card", **SMALL).fit(FRAME)
    assert isinstance(extractor.decider_, Card) and extractor.score(FRAME) > 0.9
    explained = extractor.explain({"a": 1, "b": 1, "c": 0, "d": 1})
    assert "in all" in str(explained) and "reaches" in str(explained)
    whole = extractor.reading_.answers
    assert whole.theory.explain(whole.explain(extractor.reader_.interpretation(
        {"a": 1, "b": 1, "c": 0, "d": 1})).proof.facts) is not None  # fmt: skip


def test_which_rules_fire_is_a_frame_where_it_is_wanted(fitted):
    plain = fitted.transform(FRAME)
    assert plain.shape == (200, len(fitted.rules_)) and set(np.unique(plain)) <= {0.0, 1.0}
    named = clone(fitted).set_output(transform="pandas").fit(FRAME).transform(FRAME)
    assert list(named.columns) == list(fitted.get_feature_names_out()) == str(fitted.theory_).splitlines()
    np.testing.assert_array_equal(named.to_numpy(), plain)
    pipeline = make_pipeline(fitted, LogisticRegression())
    assert pipeline.fit(FRAME, LABELS).score(FRAME, LABELS) > 0.9


def test_clones_share_the_model_and_parameters_are_plain(fitted):
    copy = clone(fitted)
    assert copy.model is TREE and not hasattr(copy, "theory_") and copy.get_params() == fitted.get_params()
    assert not any("__" in name for name in copy.get_params(deep=True))
    assert copy.set_params(max_rules=3).max_rules == 3
    again = copy.set_params(max_rules=20).fit(FRAME)
    assert again.theory_ == fitted.theory_ and again.fidelity_ == fitted.fidelity_
    assert pickle.loads(pickle.dumps(fitted)).theory_ == fitted.theory_
    assert pickle.loads(pickle.dumps(fitted)).fidelity_ == fitted.fidelity_


def test_it_shows_itself(fitted):
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(fitted)
    assert "applies to samples" in (shown := console.export_text()) and "otherwise" in shown
    console.print(fitted.explain(FRAME.iloc[0]))
    assert "would not follow" in console.export_text()
    html = fitted._repr_html_()
    assert "<table>" in html and "ill" in html and fitted._repr_mimebundle_()["text/html"] == html
    hostile = FRAME.rename(columns={"a": "<script>alert(1)</script>"})
    model = DecisionTreeClassifier(random_state=0).fit(hostile, LABELS)
    html = HornExtractor(model, "<b>ill", **SMALL).fit(hostile)._repr_html_()
    assert "<script>" not in html and "<b>ill" not in html
    assert "HornExtractor" in HornExtractor(TREE)._repr_html_()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: HornExtractor(TREE, epsilon=0).fit(FRAME), "epsilon is between 0 and 1"),
        (lambda: HornExtractor(TREE, method="magic").fit(FRAME), "'reader' or 'queries', not 'magic'"),
        (lambda: HornExtractor(TREE).fit(FRAME, FRAME.a + 0.25 * FRAME.b), "rules need classes: make it one"),
        (lambda: HornExtractor(LinearRegression().fit(FRAME, LABELS)).fit(FRAME), "threshold=, or train"),
        (lambda: HornExtractor(DecisionTreeClassifier()).fit(FRAME), "is not fitted yet"),
        (lambda: HornExtractor(TREE, "a", **SMALL).fit(FRAME), "'a' is among the features already"),
        (lambda: HornExtractor(TREE, **SMALL).fit(FRAME.assign(not_a=FRAME.a)), "opposite values"),
        (lambda: HornExtractor(TREE, **SMALL).fit(FRAME.assign(a=np.inf)), "infinity"),
        (lambda: HornExtractor("none.onnx").fit(FRAME), "there is no file none.onnx"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(HornbookError, match=message):
        call()


def test_explanations_take_rows_of_every_kind(fitted):
    row = {"a": 1, "b": 1, "c": 1, "d": 0}
    told = [row, pd.Series(row), list(row.values()), pd.DataFrame([row]), np.array([[1, 1, 1, 0]])]
    texts = {str(fitted.explain(each)) for each in told}
    assert len(texts) == 1 and texts.pop().startswith("ill\n")
    for wrong, message in (
        ({"e": 1}, "unknown name 'e'"),
        ([1, 0], "one row of 4 values"),
        (FRAME, "one row"),
    ):
        with pytest.raises(HornbookError, match=message):
            fitted.explain(wrong)
    with pytest.raises(NotFittedError):
        clone(fitted).explain(row)


class Width(BaseEstimator):
    """A model that reads tables of any width, as scikit-learn's checks give them."""

    def __call__(self, array):
        return np.asarray(array, float)[:, 0] > 0


@parametrize_with_checks(
    [HornExtractor(Width(), samples=64, evaluation=64, epsilon=0.3, draws=2, max_literals=6, form="rules")]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_facts_are_interpretations(fitted):
    found = fitted.reader_.interpretation({"a": 1})
    assert found == Interpretation(frozenset({0}), frozenset({4}))
