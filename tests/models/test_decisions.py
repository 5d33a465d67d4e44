"""A model's answer is what its own `predict` says: ties, thresholds, several classes, missing values."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from hornbook import Explainer
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary
from hornbook.models import as_predictor, columns_with_missing
from hornbook.models.outputs import positive_leads, positive_scores
from hornbook.queries import QuerySubject

WIDTH = 7
VOCABULARY = Vocabulary(f"x{i}" for i in range(WIDTH))
FAST = {"n_samples": 1 << 8, "max_literals": 2, "form": "tree"}


def measure_score(explainer, extraction, rows):
    """The share of rows on which the explanation decides as the teacher answers."""
    return (extraction.explanation.decide(rows) == explainer.subject.teacher.labels(rows)).mean()


def agreement(extraction, model, rows):
    """The share of rows on which both say the same, in the model's own labels."""
    return (extraction.predict(rows) == model.predict(rows)).mean()


@pytest.fixture(autouse=True)
def _few_samples(monkeypatch):
    """Explanations are found and measured on few samples."""
    monkeypatch.setattr("hornbook.extraction.explaining.EVALUATION_SAMPLES", 500)
    for name in ("POOL_SAMPLES", "FRESH_SAMPLES"):
        monkeypatch.setattr(f"hornbook.extraction.learning.{name}", 500)


class Stubborn(ClassifierMixin, BaseEstimator):
    """Predicts by a threshold of its own, which its probabilities do not tell."""

    def fit(self, inputs, labels):
        self.classes_, self.n_features_in_ = np.unique(labels), inputs.shape[1]
        return self

    def predict_proba(self, inputs):
        share = np.asarray(inputs).mean(axis=1)
        return np.stack([1 - share, share], axis=1)

    def predict(self, inputs):
        return self.classes_[(np.asarray(inputs).mean(axis=1) > 0.3).astype(int)]


def boosted_trees():
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=2, max_depth=2, learning_rate=1, n_jobs=1)


def light_trees():
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=2, min_child_samples=2, n_jobs=1, verbose=-1)


MODELS = {
    **{f"forest of {n}": RandomForestClassifier(n, random_state=0) for n in (2, 10, 20)},
    "pruned forest": RandomForestClassifier(4, max_depth=2, random_state=0),
    "tree": DecisionTreeClassifier(max_depth=3),
    "bagging": BaggingClassifier(n_estimators=4, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=4),
    "exponential boosting": GradientBoostingClassifier(n_estimators=4, loss="exponential"),
    "histogram boosting": HistGradientBoostingClassifier(max_iter=4),
    "xgboost": boosted_trees(),
    "lightgbm": light_trees(),
    "logistic": LogisticRegression(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "forest in a pipeline": make_pipeline(StandardScaler(), RandomForestClassifier(4, random_state=0)),
    "ridge": RidgeClassifier(),
    "support vectors": SVC(),
    "neighbours": KNeighborsClassifier(4),
    "bayes": BernoulliNB(),
    "discriminant": LinearDiscriminantAnalysis(),
    "perceptron": MLPClassifier((3,), solver="lbfgs", max_iter=200, tol=0.1, random_state=0),
    "calibrated": CalibratedClassifierCV(GaussianNB(), cv=2),
    "own threshold": FixedThresholdClassifier(LogisticRegression(), threshold=0.2),
    "hard votes": VotingClassifier([("a", BernoulliNB()), ("b", DecisionTreeClassifier())]),
    "search": GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
    "stubborn": Stubborn(),
}


def rng(seed=0):
    return np.random.default_rng(seed)


def examples(seed=0, size=120):
    """Variables and two classes that trees do not learn by heart, so that their votes tie."""
    inputs = rng(seed).integers(0, 2, (size, WIDTH)).astype(float)
    noise = rng(seed + 1).random(size) < 0.2
    return inputs, np.array(["no", "yes"])[
        ((inputs[:, 0] + inputs[:, 1] * inputs[:, 2] > 0) ^ noise).astype(int)
    ]


def children(inputs, seed=5, size=400):
    """Rows that have each column from one of two rows."""
    parents = inputs[rng(seed).integers(0, len(inputs), (2, size))]
    return np.where(rng(seed + 1).random((size, inputs.shape[1])) < 0.5, *parents)


@pytest.mark.parametrize("name", MODELS)
def test_predictor_decisions_are_what_predict_says(name):
    inputs, labels = examples()
    if name == "xgboost":
        labels = (labels == "yes").astype(int)
    model = MODELS[name].fit(inputs, labels)
    tested = np.concatenate([examples(9)[0], children(inputs)])
    expected = model.predict(tested)
    for positive in model.classes_:
        predictor = as_predictor(model, positive=positive)
        batch = Batch.from_array(tested, VOCABULARY)
        assert predictor.threshold is None
        assert (predictor.decide(batch) == (expected == positive)).all()
        assert ((predictor.margin(batch) >= 0) == (expected == positive)).all()


@pytest.mark.parametrize("trees", [2, 10, 20])
def test_predictor_votes_of_forests_do_tie_and_the_first_class_is_said(trees):
    inputs, labels = examples()
    model = RandomForestClassifier(trees, random_state=0).fit(inputs, labels)
    tested = children(inputs)
    ties = model.predict_proba(tested)[:, 1] == 0.5
    assert ties.any()
    assert not as_predictor(model).decide(Batch.from_array(tested, VOCABULARY))[ties].any()
    given = as_predictor(model, threshold=0.5)
    assert given.decide(Batch.from_array(tested, VOCABULARY))[ties].all()


COLUMN_MODELS = {
    **{f"forest of {n}": RandomForestClassifier(n, random_state=0) for n in (2, 10)},
    "boosting": GradientBoostingClassifier(n_estimators=4),
    "xgboost": boosted_trees(),
    "lightgbm": light_trees(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "imputing": make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
    "own threshold": FixedThresholdClassifier(GaussianNB(), threshold=0.2),
}


@pytest.fixture(scope="module")
def tumours():
    """Measurements of tumours, and whether they are benign."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[:300, :5], y[:300]


@pytest.mark.parametrize("name", COLUMN_MODELS)
def test_score_is_the_share_on_which_the_two_predicts_agree(name, tumours):
    X, y = tumours
    model = COLUMN_MODELS[name].fit(X[:150], y[:150])
    explainer = Explainer(model, X[:150], target="benign")
    extraction, teacher = explainer.extract(**FAST), explainer.subject.teacher
    mixed = pd.DataFrame(children(X.to_numpy()), columns=X.columns)
    for rows in (X[:150], X[150:], mixed):
        assert measure_score(explainer, extraction, rows) == agreement(extraction, model, rows)
    said = np.array(teacher.classes)[teacher.labels(mixed)]
    assert (said == model.predict(mixed)).all()


@pytest.mark.parametrize("name", ["imputing", "forest of 10", "xgboost", "lightgbm"])
def test_score_shows_rows_with_missing_values_to_a_model_that_takes_them(name, tumours):
    X, y = tumours
    X = X.mask(rng().random(X.shape) < 0.2)
    model = COLUMN_MODELS[name].fit(X, y)
    explainer = Explainer(model, X, target="benign")
    extraction = explainer.extract(**FAST)
    assert explainer.subject.teacher.donors is None
    hidden = X.assign(**{X.columns[3]: np.nan})
    for rows in (X, hidden):
        assert measure_score(explainer, extraction, rows) == agreement(extraction, model, rows)


def test_score_shows_variables_to_the_model_as_they_are():
    """That one bin is true says that the others are false, but the model is not told so."""
    inputs = pd.DataFrame({"age=low": [1, 0, np.nan, 1] * 30, "age=high": [np.nan, 1, 0, 0] * 30})
    model = HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=1).fit(
        inputs, inputs["age=high"].isna()
    )
    explainer = Explainer(model, inputs, target="odd")
    by_queries = QuerySubject.bind(model, inputs, target="odd")
    expected = model.predict(inputs)
    assert explainer.subject.teacher.labels(inputs).tolist() == expected.astype(int).tolist()
    assert by_queries.teacher.decide_rows(inputs).tolist() == expected.tolist()
    extraction = explainer.extract(**FAST)
    assert measure_score(explainer, extraction, inputs) == agreement(extraction, model, inputs)


def test_rows_that_the_model_cannot_read_are_answered_by_completions(tumours):
    X, y = (values[:100] for values in tumours)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    teacher = Explainer(model, X, target="benign").subject.hold_out().teacher
    holes = X.copy()
    holes.iloc[::2, 1] = np.nan
    said = teacher.labels(holes)
    assert teacher.donors.columns == set(X.columns)
    assert (said[1::2] == model.predict(X[1::2])).all()
    completed = [
        model.predict(teacher.donors.complete(holes[::2], k)) for k in range(len(teacher.donors.rows))
    ]
    votes = np.mean(completed, axis=0)
    np.testing.assert_array_equal(said[::2], votes > 0.5)


def test_several_classes_are_those_of_predict():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = RandomForestClassifier(4, random_state=0).fit(X, y)
    explainer = Explainer(model, X, target="iris")
    extraction, teacher = explainer.extract(**FAST), explainer.subject.teacher
    mixed = pd.DataFrame(children(X.to_numpy()), columns=X.columns)
    expected = model.predict(mixed)
    assert (np.array(teacher.classes)[teacher.labels(mixed)] == expected).all()
    assert measure_score(explainer, extraction, mixed) == (extraction.predict(mixed) == expected).mean()


def test_columns_with_missing_are_found_by_asking():
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [4.0, 3, 2, 1], "c": ["x", "y", "x", "y"]})
    parts = (
        (SimpleImputer(), ["a"]),
        (StandardScaler(), ["b"]),
        (OneHotEncoder(handle_unknown="ignore"), ["c"]),
    )
    half = make_pipeline(make_column_transformer(*parts), LogisticRegression()).fit(frame, [0, 1, 0, 1])
    assert columns_with_missing(as_predictor(half), frame) == {"a", "c"}
    forest = make_pipeline(make_column_transformer(*parts), RandomForestClassifier(3)).fit(
        frame, [0, 1, 0, 1]
    )
    assert columns_with_missing(as_predictor(forest), frame) == {"a", "b", "c"}


def test_predictor_model_of_variables_is_asked_whether_it_takes_missing_values():
    inputs, labels = examples()
    for model, native in (
        (make_pipeline(SimpleImputer(), LogisticRegression()), True),
        (RandomForestClassifier(3), True),
        (KNeighborsClassifier(metric="nan_euclidean"), True),
        (LogisticRegression(), False),
        (GradientBoostingClassifier(n_estimators=2), False),
    ):
        assert as_predictor(model.fit(inputs, labels)).encoding.native == native


@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 20), st.integers(2, 4)), elements=st.sampled_from([0, 0.25, 0.5])
    ),
    st.sampled_from(["probability", "logit", "score"]),
)
def test_positive_leads_of_several_outputs_the_first_of_the_largest_decides(raw, output):
    for column in range(raw.shape[1]):
        leads = positive_leads(raw, column, output, positive_scores(raw, column, output, "model"))
        assert ((leads >= 0) == (raw.argmax(axis=1) == column)).all()


@given(arrays(np.float64, st.integers(1, 20), elements=st.floats(-1, 1)), st.sampled_from([0.0, 0.5]))
def test_positive_leads_single_number_decides_for_one_of_two_classes(raw, boundary):
    raw[0], output = boundary, "logit" if boundary == 0 else "score"
    leads = [positive_leads(raw, c, output, positive_scores(raw, c, output, "model")) for c in (0, 1)]
    assert ((leads[1] >= 0) == (raw >= boundary)).all()
    assert ((leads[0] >= 0) == (raw < boundary)).all()


def test_predictor_network_says_the_first_of_equal_outputs():
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, 2))
    torch.nn.init.zeros_(model[0].weight)
    torch.nn.init.zeros_(model[0].bias)
    batch = Batch.from_array(examples()[0], VOCABULARY)
    assert as_predictor(model, positive=0).decide(batch).all()
    assert not as_predictor(model).decide(batch).any()
    assert as_predictor(model, threshold=0.5).decide(batch).all()


def test_predictor_several_labels_a_row_are_refused():
    inputs, _ = examples()
    model = MLPClassifier((2,), solver="lbfgs", max_iter=5, tol=1e3).fit(inputs, inputs[:, :2].astype(int))
    with pytest.raises(HornbookError, match="predicts several labels a row"):
        as_predictor(model).decide(Batch.from_array(inputs, VOCABULARY))


@pytest.mark.parametrize("zipmap", [True, False])
def test_predictor_onnx_classifier_decides_by_its_label(zipmap):
    import onnxruntime
    from skl2onnx import to_onnx

    inputs, labels = examples()
    model = RandomForestClassifier(4, max_depth=2, random_state=0).fit(inputs, labels)
    exported = to_onnx(model, inputs[:1].astype(np.float32), options={"zipmap": zipmap})
    session = onnxruntime.InferenceSession(exported.SerializeToString(), providers=["CPUExecutionProvider"])
    tested = children(inputs)
    name = session.get_outputs()[0].name
    expected = session.run([name], {"X": tested.astype(np.float32)})[0]
    for label in model.classes_:
        predictor = as_predictor(session, positive=label)
        assert (predictor.decide(Batch.from_array(tested, VOCABULARY)) == (expected == label)).all()
