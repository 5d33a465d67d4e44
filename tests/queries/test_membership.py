"""Judges and classifiers: every answer is what the model's score says, row by row."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from logic_strategies import batches, random_values
from sklearn.linear_model import LogisticRegression

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary
from hornbook.models import as_predictor
from hornbook.queries import Judge

PLAIN = Vocabulary(["fever", "ill", "cough", "rash"])
PAIRED = Vocabulary.with_duals(["fever", "ill", "cough"])
WEIGHTS = np.array([0.5, 0.25, 0.25])
nan = np.nan


def model(weights=WEIGHTS, threshold=0.5, **settings):
    """A weighted mean, whose scores often are the threshold itself."""
    predictor = as_predictor(lambda array: array @ weights, encoding="half", threshold=threshold)
    return predictor if not settings else type(predictor)(**{**vars(predictor), **settings})


def consistent(vocabulary, size, seed):
    """Random interpretations in which duals have opposite values."""
    values = random_values(size, seed, len(vocabulary))
    for v, w in vocabulary.pairs:
        values[:, w] = 1 - values[:, v]
    return Batch.from_array(values, vocabulary)


@given(batches(Vocabulary(["a", "b", "c"])))
def test_a_judge_accepts_what_the_model_decides_for(batch):
    judge = Judge(model(), batch.vocabulary)
    assert judge(batch).tolist() == judge.predictor.decide(batch).tolist()


def test_a_judge_asks_about_a_batch_once_and_takes_the_answers_of_that_batch():
    asked = []

    def answer(array):
        """Scores at the threshold, which are rounded down where a row is alone."""
        asked.append(len(array))
        return np.full(len(array), 0.5 if len(array) > 1 else 0.5 - 1e-6)

    batch = Batch.from_array(np.tile([[1, 0], [0, 0], [1, 1]], (20, 1)), Vocabulary(["a", "b"]))
    judge = Judge(as_predictor(answer, threshold=0.5), batch.vocabulary)
    assert judge(batch).all() and asked == [60]


@pytest.mark.parametrize("threshold", [0.25, 0.5, 0.625])
@pytest.mark.parametrize("vocabulary", [PLAIN, PAIRED])
def test_a_classifier_rejects_a_known_label_that_contradicts_the_prediction(vocabulary, threshold):
    features = [v for v, name in enumerate(vocabulary) if name not in ("ill", "not_ill")]
    weights = np.arange(1, len(features) + 1) / sum(range(1, len(features) + 1))
    classifier = Judge(model(weights, threshold), vocabulary, "ill")
    batch = consistent(vocabulary, 500, seed=1)
    values = batch.to_array(0.5)
    predictions = values[:, features] @ weights >= np.float32(threshold)
    label = values[:, vocabulary.index("ill")]
    expected = (label == 0.5) | (predictions == (label == 1))
    assert classifier(batch).tolist() == expected.tolist()
    assert classifier.predict(batch).tolist() == predictions.tolist()


def test_classifier_label_and_its_dual_are_the_heads():
    assert Judge(model(np.ones(4)), PAIRED, "ill").heads == PAIRED.variables(["ill", "not_ill"])
    assert Judge(model(), PLAIN, "ill").heads == {1}


def test_classifier_model_is_not_asked_where_the_label_is_unknown():
    asked = []

    def counting(array):
        asked.append(len(array))
        return array.mean(axis=1)

    classifier = Judge(as_predictor(counting, encoding="half"), PLAIN, "ill")
    assert classifier(Batch.from_array([[1, nan, 1, 0], [1, 1, 1, 0]], PLAIN)).tolist() == [True, True]
    assert sum(asked) == 1


def test_classifier_model_that_knows_its_columns_reads_them_by_name():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (80, 2)).astype(float), columns=["rash", "fever"])
    estimator = LogisticRegression().fit(frame, frame["rash"])
    classifier = Judge(as_predictor(estimator), PLAIN, "ill")
    assert classifier.features.names == ("rash", "fever")
    batch = Batch.from_array([[0, nan, nan, 1], [1, nan, nan, 0]], PLAIN)
    assert classifier.predict(batch).tolist() == [True, False]


def test_classifier_model_may_read_some_of_the_variables():
    classifier = Judge(model(np.ones(2)), PAIRED, "ill", features=["cough", "not_fever"])
    batch = Batch.from_array([[1, nan, 0, 0, nan, 1], [0, nan, 1, 1, nan, 0]], PAIRED)
    assert classifier.predict(batch).tolist() == [False, True]
    paired = Judge(model(np.ones(2)), PAIRED, "ill", features=["not_fever", "fever"])
    assert paired.features.dual(0) == 1


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({"inputs": 7}, None, r"takes 7 inputs, but 3 variables give 3"),
        ({"names": ("fever", "age")}, None, r"reads 'age', which is not among the 4 variables"),
        ({}, ["fever", "ill"], r"would read its own label"),
        ({}, ["fever", "fever"], r"'fever' appears twice"),
    ],
)
def test_classifier_models_that_do_not_fit_are_refused(settings, given, message):
    with pytest.raises(HornbookError, match=message):
        Judge(model(**settings), PLAIN, "ill", given)


def test_classifier_unknown_labels_and_other_vocabularies_are_refused():
    with pytest.raises(HornbookError, match="did you mean 'ill'"):
        Judge(model(), PLAIN, "il")
    with pytest.raises(HornbookError, match="different vocabularies"):
        Judge(model(), PLAIN, "ill")(Batch.from_array([[1, 1, 1]], Vocabulary(["a", "b", "c"])))
