"""Columns of a wide table that an explanation is sought in."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from hornbook.extraction import explain
from hornbook.models import Subject
from hornbook.surrogates import SearchSettings
from hornbook.surrogates import samples as samples_module
from hornbook.surrogates.grid import Grid
from hornbook.surrogates.samples import ExchangeTest, choose_columns, score_columns


@given(st.integers(0, 2**32 - 1))
def test_score_columns_is_the_standardised_statistic_of_scipy(seed):
    rng = np.random.default_rng(seed)
    size, classes = int(rng.integers(4, 40)), int(rng.integers(2, 4))
    frame = pd.DataFrame({"x": rng.normal(size=size), "c": rng.choice(list("abc"), size)})
    frame = frame.mask(rng.random(frame.shape) < 0.2)
    labels = rng.integers(classes, size=size)
    rows = Grid.of(frame, 4).encode(frame)
    for codes, score in zip(rows.codes, score_columns(rows, labels), strict=True):
        counts = np.array(
            [
                [((codes == code) & (labels == label)).sum() for label in np.unique(labels)]
                for code in np.unique(codes)
            ]
        )
        if min(counts.shape) < 2:
            assert score == 0
        else:
            found = chi2_contingency(counts, correction=False)
            assert score == pytest.approx((found.statistic - found.dof) / np.sqrt(2 * found.dof))


def test_choose_columns_finds_the_columns_that_matter_alone_or_beside_the_strongest(monkeypatch):
    monkeypatch.setattr(samples_module, "MAX_SEARCHED_COLUMNS", 3)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 40))).add_prefix("x").assign(word=rng.choice(["a", "b"], 600))
    strong, weak = frame.x30 > 0.8, frame.word == "a"
    beside = np.where(frame.x30 > -0.8, frame.x5 > 0, frame.x5 < 0)  # tells nothing by itself
    labels = np.asarray(strong | (weak & beside), np.intp)
    assert choose_columns(frame, frame, labels) == ["x5", "x30", "word"]


def test_explain_says_in_how_many_columns_it_looked(monkeypatch):
    monkeypatch.setattr(samples_module, "MAX_SEARCHED_COLUMNS", 2)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 6))).add_prefix("x")

    class Model:
        classes_ = np.array(["no", "yes"])

        def predict(self, rows):
            return np.where(rows[:, 4] > 0, "yes", "no")

    found = explain(Subject.bind(Model(), frame, target="y"), SearchSettings("tree", 2, 300))
    assert found.explanation.columns == ("x4",)
    assert any("of 6 columns the explanation was sought in the 2 whose" in note for note in found.notes)


@given(st.integers(0, 2**32 - 1), st.sets(st.integers(0, 4)), st.sampled_from([0.5, 0.99]))
def test_exchange_test_leaves_out_the_columns_that_a_model_does_not_read(seed, read, tail):
    """One that is read in a rare class alone is found too; without answers to spend, none is left out."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.random((3000, 5))).add_prefix("x")
    names = [f"x{number}" for number in sorted(read)]
    asked = []

    def label(rows):
        asked.append(len(rows))
        return np.asarray((rows[names] > 1 - (1 - tail) ** (1 / max(len(names), 1))).all(axis=1), np.intp)

    found = ExchangeTest.run(label, frame, label(frame), 10_000, rng)
    assert found.unread == tuple(name for name in frame if name not in names)
    assert found.answers == sum(asked[1:]) <= 10_000
    assert ExchangeTest.run(label, frame, label(frame), 100, rng).unread == ()
