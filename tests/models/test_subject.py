"""The subject: one model bound once to one table, asked about each row once, whatever its classes are."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from hornbook.errors import HornbookError
from hornbook.extraction import explain
from hornbook.models import Subject, as_predictor, note_levels
from hornbook.surrogates import SearchSettings
from hornbook.tables import split_rows

ROWS = pd.DataFrame(np.random.default_rng(0).normal(size=(150, 3)), columns=list("abc"))


class Bands:
    """Tells bands of a column apart, and counts the rows that each of its methods is asked about."""

    def __init__(self, classes):
        self.classes_ = np.array([f"band {number}" for number in range(classes)])
        self.asked = {"predict": 0, "predict_proba": 0}

    def _number(self, rows, method):
        self.asked[method] += len(rows)
        share = np.searchsorted(np.sort(ROWS["a"]), np.asarray(rows)[:, 0]) / (len(ROWS) + 1)
        return (share * len(self.classes_)).astype(int)

    def predict(self, rows):
        return self.classes_[self._number(rows, "predict")]

    def predict_proba(self, rows):
        return np.eye(len(self.classes_))[self._number(rows, "predict_proba")]


@pytest.mark.parametrize("classes", [3, 10])
def test_a_model_of_many_classes_is_asked_once_about_each_row(classes):
    model = Bands(classes)
    subject = Subject.bind(model, ROWS)
    assert len(subject.classes) == classes
    for ask, method in (
        (subject.teacher.labels, "predict"),
        (subject.predictor.score_classes, "predict_proba"),
        (lambda rows: subject.teacher.measure_support(rows, 1), "predict_proba"),
    ):
        before = dict(model.asked)
        ask(ROWS)
        assert {name: count - before[name] for name, count in model.asked.items()} == {
            "predict": 0,
            "predict_proba": 0,
            method: len(ROWS),
        }
    before = model.asked["predict"]
    extraction = explain(subject, SearchSettings("tree", n_samples=500))
    asked_again = model.asked["predict"] - before - extraction.answers
    assert asked_again == len(subject.teacher.frame)  # to notice answers that change


def test_binding_other_rows_asks_the_model_nothing():
    model = Bands(3)
    subject = Subject.bind(model, ROWS, hold_out=False)
    before = dict(model.asked)
    assert len(subject.hold_out().held_out) == 30 and len(subject.with_test_rows(ROWS[:9]).held_out) == 9
    assert model.asked == before


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_rows_are_held_out_once_and_all_others_are_the_teachers(seed, hold_out, grouped):
    groups = np.arange(150) // 3 if grouped else None
    model = as_predictor(lambda rows: rows[:, 0] > 0, encoding="nan")
    subject = Subject.bind(model, ROWS, groups=groups, hold_out=hold_out, seed=seed)
    used, kept_back = split_rows(ROWS, seed, hold_out, groups)
    assert subject.kept_back.tolist() == kept_back.tolist()
    assert subject.teacher.frame.equals(ROWS.iloc[used]) and subject.held_out.equals(ROWS.iloc[kept_back])
    assert len(subject.held_out_units) == len(kept_back)
    again = subject.hold_out()
    assert again.kept_back.tolist() == split_rows(ROWS, seed, True, groups)[1].tolist()
    assert len(again.teacher.frame) + len(again.held_out) == 150 and again.predictor is subject.predictor
    given = again.with_test_rows(ROWS.iloc[:20, ::-1])
    assert given.teacher.frame.equals(ROWS) and given.held_out.equals(ROWS.iloc[:20])
    assert given.predictor is subject.predictor and not len(given.kept_back)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, LogisticRegression])
def test_support_and_leads_are_those_of_the_models_probabilities(kind, classes):
    labels = np.digitize(ROWS["a"], np.quantile(ROWS["a"], np.arange(1, classes) / classes))
    model = kind().fit(ROWS, labels)
    subject = Subject.bind(model, ROWS)
    shares = model.predict_proba(ROWS)
    two_best = np.sort(shares, axis=1)[:, -2:]
    for number in range(classes):
        support = subject.teacher.measure_support(ROWS, number)
        shift = 1.0 if classes == 2 and number == 0 else 0.0
        np.testing.assert_allclose(support + shift, shares[:, number], atol=1e-6)
    np.testing.assert_allclose(
        subject.teacher.measure_leads(ROWS), (two_best[:, 1] - two_best[:, 0]) / 2, atol=1e-6
    )


def test_a_regressor_has_bands_as_classes_in_order():
    rows = pd.DataFrame({"size": np.arange(0.0, 30, 0.25)})
    model = LinearRegression().fit(rows, rows["size"])
    for regressor in (model, lambda frame: frame["size"].to_numpy()):
        subject = Subject.bind(as_predictor(regressor, bands=[10, 20]), rows)
        assert subject.classes == ("≤ 10", "10–20", "> 20")
        expected = np.digitize(rows["size"], [10, 20], right=True)
        assert subject.teacher.labels(rows).tolist() == expected.tolist()
        assert subject.measure_accuracy(rows["size"]).hits == len(rows)
    for bands in ([], [3, 1], [np.nan]):
        with pytest.raises(HornbookError, match="bands are numbers in ascending order"):
            as_predictor(model, bands=bands)
    with pytest.raises(HornbookError, match=r"bands=\[10, 20\]"):
        Subject.bind(model, rows)


def test_a_subject_about_one_class_calls_all_others_not_that():
    rows = pd.DataFrame({"size": np.arange(30.0)})
    labels = np.array(["small", "middle", "large"])[np.arange(30) // 10]
    model = DecisionTreeClassifier().fit(rows, labels)
    subject = Subject.bind(model, rows, positive="large")
    assert subject.classes == ("not large", "large")
    assert subject.teacher.labels(rows).tolist() == (labels == "large").astype(int).tolist()
    assert subject.measure_accuracy(labels).hits == 30
    two = DecisionTreeClassifier().fit(rows, labels == "large")
    assert Subject.bind(two, rows, target="large", positive=0).classes == ("large", "not large")
    with pytest.raises(HornbookError, match="no class 'huge'; its classes are large, middle, small"):
        Subject.bind(model, rows, positive="huge")


def test_a_column_that_the_model_writes_otherwise_is_read():
    rows = ROWS.rename(columns={"a": "a column"})
    predictor = as_predictor(LogisticRegression().fit(ROWS, ROWS["a"] > 0))
    renamed = replace(predictor, names=("a_column", "b", "c"), source=None)
    assert Subject.bind(renamed, rows).teacher.columns_read == {"a column", "b", "c"}


def test_levels_that_encoders_were_never_shown_are_said():
    rows = pd.DataFrame(
        {"age": np.arange(60), "job": ["fixed", "free", np.nan] * 20, "owner": ["yes", "no"] * 30}
    )
    encode = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer(
        [("words", make_pipeline(SimpleImputer(strategy="most_frequent"), encode), [1, 2])]
    )
    model = make_pipeline(columns, DecisionTreeClassifier()).fit(rows, rows.owner == "yes")
    assert not list(note_levels(Subject.bind(model, rows)))
    others = rows.assign(owner=rows.owner.str.upper())
    says = "the model was never shown `owner` = YES, NO, in 60 rows; it knows no, yes"
    assert list(note_levels(Subject.bind(model, others))) == [says]
