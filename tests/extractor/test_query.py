"""QueryExtractor: theories by queries, from judges and classifiers, with a guarantee."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from hornbook import Binariser, Extraction, HornTheory, QueryExtractor, as_predictor
from hornbook.errors import HornbookError
from hornbook.extractor import query
from hornbook.logic import Interpretation
from hornbook.statistics import Share
from hornbook.tables import split_rows

FRAME = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (200, 4)), columns=list("abcd")).astype(float)
LABELS = (FRAME.a == 1) & ((FRAME.b == 1) | (FRAME.c == 0))
TREE = DecisionTreeClassifier(random_state=0).fit(FRAME, LABELS)
SMALL = {"epsilon": 0.2, "max_queries": 6, "random_state": 0}


@pytest.fixture(autouse=True, scope="module")
def few_samples():
    patch = pytest.MonkeyPatch()
    patch.setattr(query, "POOL_SAMPLES", 400)
    patch.setattr(query, "FRESH_SAMPLES", 200)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Where the fitted extractor wrote its trace."""
    return tmp_path_factory.mktemp("fitted") / "trace.jsonl"


@pytest.fixture(scope="module")
def fitted(trace):
    return QueryExtractor(TREE, "ill", **SMALL).fit(FRAME, trace=trace)


@pytest.fixture(scope="module")
def fitted_to_one_rule():
    return QueryExtractor(TREE, "ill", max_rules=1, **SMALL).fit(FRAME)


def judge(array):
    return ~((array[:, 0] == 1) & (array[:, 1] == 1) & (array[:, 2] == 0))


def waves(array):
    """A model with more to say than a few rules can."""
    return np.sin(3 * np.nan_to_num(array)).sum(axis=1) > 0.3


def test_judge_is_learned_by_queries():
    theory = HornTheory.parse("a & b -> c")
    frame = FRAME[list("abc")]
    extractor = QueryExtractor(as_predictor(judge, encoding="half"), judge=True, **SMALL).fit(frame)
    assert extractor.theory_.over(theory.vocabulary).equivalent(theory)
    assert extractor.score(frame) == 1 and extractor.predict(frame).dtype == bool
    assert extractor.fidelity_.population == "samples"
    assert extractor.result_.coherence is not None
    assert extractor.result_.trace.entries[-1]["guarantee"] == "pac" == extractor.guarantee_.kind
    assert [each.entailed_by_model for each in extractor.result_.statistics] == [True]
    assert "The model confirms 1 of 1 rules" in " ".join(extractor.extraction_.notes)
    assert extractor.explanation_.classes == ("rejected", "accepted")
    again = Extraction.from_json(extractor.extraction_.to_json())
    assert again.to_json() == extractor.extraction_.to_json() and again.theory == extractor.theory_


def test_queries_find_the_rules_of_a_tree_and_resume(fitted, trace, fitted_to_one_rule, tmp_path):
    assert fitted.score(FRAME) == 1 and fitted.theory_.entails("a & b -> ill")
    cut = trace.read_text().splitlines(keepends=True)[:2]
    (tmp_path / "cut.jsonl").write_text("".join(cut))
    again = QueryExtractor(TREE, "ill", **SMALL).fit(FRAME, trace=tmp_path / "cut.jsonl")
    assert again.theory_ == fitted.theory_
    assert len(fitted.theory_) > 1 == len(fitted_to_one_rule.theory_)
    lines, statistics = fitted.explanation_.lines(), fitted.extraction_.lines
    assert len(lines) == len(statistics) == len(fitted.theory_) + 1
    assert lines[-1].text == "otherwise"


def test_rows_that_rules_leave_open_get_the_default(fitted_to_one_rule):
    rules = fitted_to_one_rule.explanation_
    left = rules.derive(rules.reader.batch(FRAME)) == -1
    decided = fitted_to_one_rule.predict(FRAME)
    assert left.any() and (decided[left] == bool(rules.default)).all()
    assert fitted_to_one_rule.score(FRAME) == np.mean(decided == TREE.predict(FRAME))
    assert "undetermined" in fitted_to_one_rule.extraction_.notes[0]


@pytest.mark.parametrize("table", ["numbers", "variables"])
def test_nothing_is_made_from_the_rows_held_out(table):
    """Whatever stands in them, all is the same but for the figure that is measured on them."""
    numbers = pd.DataFrame(np.random.default_rng(2).standard_normal((150, 3)), columns=list("xyz"))
    frame, other = {"numbers": (numbers, 9.0), "variables": (FRAME.iloc[:150], 1.0)}[table]
    model = as_predictor(waves, encoding="nan")
    each = range(150)  # every row is its own group, whatever stands in it
    first = QueryExtractor(model, "ill", **SMALL | {"max_queries": 2}).fit(frame, groups=each)
    _, held_out = split_rows(frame, 0, groups=each)
    changed = frame.copy()
    changed.iloc[held_out] = other
    again = QueryExtractor(model, "ill", **SMALL | {"max_queries": 2}).fit(changed, groups=each)
    assert len(first.theory_) and again.theory_ == first.theory_
    assert again.result_.statistics == first.result_.statistics
    assert again.fidelity_.samples == first.fidelity_.samples
    assert again.fidelity_.used_rows == first.fidelity_.used_rows
    assert again.explanation_.default == first.explanation_.default
    assert again.fidelity_.share == Share.of(30 if again.score(changed.iloc[held_out]) else 0, 30)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FRAME.to_numpy(),
        lambda: FRAME.astype(bool),
        lambda: Binariser(dual=True).fit_transform(FRAME),
        lambda: Binariser(dual=True).fit_transform(FRAME).to_numpy(),
    ],
)
def test_tables_of_all_kinds_give_the_same_variables(make):
    table = make()
    model = DecisionTreeClassifier(random_state=0).fit(np.asarray(table, float), LABELS)
    other = QueryExtractor(model, "ill", **SMALL).fit(table)
    names = [f"x{v}" for v in range(4)] if isinstance(table, np.ndarray) else list("abcd")
    assert other.explanation_.reader.vocabulary.names == (*names, *(f"not_{name}" for name in names))
    assert other.n_features_in_ == np.shape(table)[1] and other.score(table) == 1


def test_model_of_raw_columns_is_asked_about_observed_values():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y == 2)
    extractor = QueryExtractor(model, "virginica", **SMALL).fit(X)
    assert extractor.score(X) == np.mean(extractor.predict(X) == model.predict(X)) > 0.9
    assert any("several values observed" in note for note in extractor.extraction_.notes)
    explained = extractor.explain({"petal width (cm)": 2.4, "petal length (cm)": 6.0})
    assert str(explained).startswith("virginica\n")


def test_explain_takes_rows_of_every_kind_and_shows_itself(fitted):
    row = {"a": 1, "b": 1, "c": 1, "d": 0}
    told = [row, pd.Series(row), list(row.values()), pd.DataFrame([row]), np.array([[1, 1, 1, 0]])]
    texts = {str(fitted.explain(each)) for each in told}
    assert len(texts) == 1 and texts.pop().startswith("ill\n")
    with pytest.raises(HornbookError, match="the table has no column 'e'; it has a, b, c, d"):
        fitted.explain({"e": 1})
    found = fitted.explanation_.reader.interpretation({"a": 1})
    assert found == Interpretation(frozenset({0}), frozenset({4}))
    assert "ill" in fitted._repr_html_()


def test_clones_share_the_model_and_parameters_are_plain(fitted):
    copy = clone(fitted)
    assert copy.model is TREE and len(copy.get_params()) <= 13
    again = copy.fit(FRAME)
    assert again.extraction_.to_json() == fitted.extraction_.to_json()
    assert pickle.loads(pickle.dumps(fitted)).theory_ == fitted.theory_


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: QueryExtractor(TREE, epsilon=0).fit(FRAME), "epsilon is between 0 and 1"),
        (lambda: QueryExtractor(TREE).fit(FRAME, FRAME.a + 0.25 * FRAME.b), "needs classes: e.g. y > "),
        (lambda: QueryExtractor(LinearRegression().fit(FRAME, LABELS)).fit(FRAME), "threshold="),
        (lambda: QueryExtractor(TREE, "a", **SMALL).fit(FRAME), "'a' is among the features already"),
        (lambda: QueryExtractor(TREE, **SMALL).fit(FRAME.assign(not_a=FRAME.a)), "opposite values"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(HornbookError, match=message):
        call()


class Width(BaseEstimator):
    """A model that reads tables of any width, as scikit-learn's checks give them."""

    def __call__(self, array):
        return np.asarray(array, float)[:, 0] > 0


@parametrize_with_checks([QueryExtractor(Width(), epsilon=0.5, max_queries=1, max_rules=3)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_bind_before_fit_is_the_model_that_fit_learns_about():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y == 2)
    extractor = QueryExtractor(model, "virginica", max_queries=1, random_state=0)
    before = extractor.bind(X)
    assert not hasattr(extractor, "extraction_")
    with pytest.raises(HornbookError, match="reads the columns of the table"):
        before.prover()
    after = extractor.fit(X).bound_
    pd.testing.assert_frame_equal(before.frame, after.frame)
    assert before.reader.vocabulary == after.reader.vocabulary
