"""Models that misbehave: a run ends, and what it says is true of the answers that it got."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from hornbook import HornExtractor, QueryExtractor
from hornbook.errors import ModelError
from hornbook.testing import FAULTS, FaultyClassifier

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame({"age": RNG.integers(20, 90, 300).astype(float), "bili": RNG.gamma(2, 1, 300).round(1)})
TREE = DecisionTreeClassifier(max_depth=2, random_state=0).fit(ROWS, (ROWS.age > 50) & (ROWS.bili > 1.5))

MESSAGES = {
    "raise": "failed on row .* RuntimeError: the model broke",
    "exit": "failed on row .* SystemExit: the model left",
    "shape": "answered .* instead of",
}


@pytest.mark.parametrize("fault", MESSAGES)
def test_horn_extractor_names_what_a_model_did_that_fails(fault):
    extractor = HornExtractor(FaultyClassifier(TREE, fault), "ill", n_samples=2000, max_literals=4)
    with pytest.raises(ModelError, match=MESSAGES[fault]):
        extractor.fit(ROWS)


@pytest.mark.parametrize("fault", MESSAGES)
def test_query_extractor_keeps_what_was_learned_of_a_model_that_fails(fault):
    model = FaultyClassifier(TREE, fault, after=500_000)
    extractor = QueryExtractor(model, "ill", max_queries=20, random_state=0)
    with pytest.raises(ModelError, match=MESSAGES[fault]):  # fidelity cannot be measured any more
        extractor.fit(ROWS)
    assert extractor.result_.stop_reason.startswith("the model failed: ") and extractor.result_.rules


@pytest.mark.parametrize("fault", ["flip", "drift"])
def test_horn_extractor_tells_of_answers_that_change(fault):
    extractor = HornExtractor(FaultyClassifier(TREE, fault), "ill", n_samples=2000, max_literals=4)
    extraction = extractor.fit(ROWS).extraction_
    assert any("the model gave another answer for" in note for note in extraction.notes)
    assert extraction.fidelity.samples.estimate < 0.95  # of the answers that it got


def test_horn_extractor_a_model_that_behaves_has_no_such_note():
    assert not HornExtractor(TREE, "ill", n_samples=2000, max_literals=4).fit(ROWS).extraction_.notes


def test_query_extractor_a_model_that_stalls_ends_in_time():
    model = FaultyClassifier(TREE, "stall", after=0, seconds=0.05)
    extractor = QueryExtractor(model, "ill", max_seconds=1, random_state=0).fit(ROWS)
    assert extractor.extraction_.stop_reason == "budget of 1 seconds"


def test_faults_are_all_tried():
    assert {*FAULTS} == {*MESSAGES, "flip", "drift", "stall"}
