"""Models that misbehave: a run ends, and what it says is true of the answers that it got."""

import re
import time

import numpy as np
import pandas as pd
import pytest
from difficult_teachers import FAULTS, FaultyClassifier
from sklearn.tree import DecisionTreeClassifier

from hornbook import Explainer, learn
from hornbook.errors import ModelError

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame({"age": RNG.integers(20, 90, 300).astype(float), "bili": RNG.gamma(2, 1, 300).round(1)})
TREE = DecisionTreeClassifier(max_depth=2, random_state=0).fit(ROWS, (ROWS.age > 50) & (ROWS.bili > 1.5))

MESSAGES = {
    "raise": "failed on .* rows: RuntimeError: the model broke",
    "exit": "failed on .* rows: SystemExit: the model left",
    "shape": "answered .* instead of",
    "nan": "predicts nan, which is none of its classes",
    "label": "predicts 'no such class', which is none of its classes",
}


@pytest.mark.parametrize("fault", MESSAGES)
def test_extract_names_what_a_model_did_that_fails(fault):
    model = FaultyClassifier(TREE, fault)
    with pytest.raises(ModelError, match=MESSAGES[fault]):
        Explainer(model, ROWS, target="ill").extract(n_samples=2000, max_literals=4)


def test_learn_keeps_what_was_learned_of_a_model_that_fails():
    extraction = learn(FaultyClassifier(TREE, "raise", after=329_500), ROWS, target="ill", max_queries=5)
    assert re.match(f"the model failed: .*{MESSAGES['raise']}", extraction.stop_reason)
    assert len(extraction.theory)
    assert "The model failed: figures are from 0 of 62 held-out rows" in extraction.notes[-1]
    assert str(extraction.fidelity) == "on samples: not measured"


@pytest.mark.parametrize("fault", ["flip", "drift", "lie"])
def test_extract_tells_of_answers_that_change(fault):
    explainer = Explainer(FaultyClassifier(TREE, fault), ROWS, target="ill")
    extraction = explainer.extract(n_samples=2000, max_literals=4)
    assert any("questions again, the model gave another answer to" in note for note in extraction.notes)


def test_extract_a_model_that_behaves_has_no_such_note():
    for fault in ("stall", "leak"):
        model = FaultyClassifier(TREE, fault, after=0, seconds=0.001)
        notes = Explainer(model, ROWS, target="ill").extract(n_samples=2000, max_literals=4).notes
        assert not any("asked" in note for note in notes)


class SlowTree:
    """A model on a clock of its own, which moves only when it is asked: a busy machine changes nothing."""

    classes_, feature_names_in_ = TREE.classes_, TREE.feature_names_in_

    def __init__(self, seconds, monkeypatch):
        self.seconds, self.now = seconds, 0.0
        for name in ("perf_counter", "monotonic"):
            monkeypatch.setattr(time, name, lambda: self.now)

    def predict_proba(self, rows):
        self.now += self.seconds
        return TREE.predict_proba(rows)

    def predict(self, rows):
        self.now += self.seconds
        return TREE.predict(rows)


@pytest.mark.parametrize(("seconds", "measured"), [(0.05, True), (0.3, False)])
def test_learn_measures_within_the_time_limit(seconds, measured, monkeypatch):
    model = SlowTree(seconds, monkeypatch)
    extraction = learn(model, ROWS, target="ill", max_seconds=1)
    assert model.now < 2  # it took five times as long to measure it all
    assert extraction.stop_reason == "budget of 1 seconds"
    assert extraction.notes[-1].startswith("The time was up: figures are from ")
    assert (extraction.fidelity.share.size > 0) == measured


def test_faults_are_all_tried():
    assert {*FAULTS} == {*MESSAGES, "flip", "drift", "lie", "stall", "leak"}
