"""Where two models are proved to say the same: held against every row of small domains."""

import itertools

import numpy as np
import pandas as pd
import pytest
from questions import diff
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from hornbook.code_book import EMPTY_BOOK
from hornbook.conditions import meet_conditions
from hornbook.diff.agreement import AgreementProver, prove_agreement
from hornbook.diff.samples import pair_models
from hornbook.errors import HornbookError
from hornbook.models import Subject


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    monkeypatch.setattr("hornbook.diff.agreement.PROOF_SAMPLES", 200)
    monkeypatch.setattr("hornbook.models.teacher.DONORS", 4)


def draw_grid(seed, size=150):
    """Rows of a small domain: two whole numbers and a word as a number."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"a": rng.integers(0, 8, size), "b": rng.integers(0, 8, size), "c": rng.integers(0, 2, size)}
    )


def list_rows(missing=()):
    values = {"a": range(8), "b": range(8), "c": range(2)}
    lists = [[*own, np.nan] if name in missing else own for name, own in values.items()]
    return pd.DataFrame(itertools.product(*lists), columns=[*values]).astype(float)


def prove(old, new, table):
    pair = pair_models(Subject.bind(old, table, target="y", hold_out=False), new)
    prover = AgreementProver.of(pair, table)
    return prove_agreement(pair, prover, pair.answer(table), EMPTY_BOOK, 10.0, np.random.default_rng(0))


def test_models_say_the_same_on_every_row_of_a_proved_region():
    table = draw_grid(1)
    noise = np.random.default_rng(1).random(len(table)) < 0.05
    y = ((table.a + table.b > 8) & (table.c == 1)) ^ noise
    old = DecisionTreeClassifier(max_depth=4, random_state=0).fit(table, y)
    new = RandomForestClassifier(3, max_depth=4, random_state=1).fit(table[["a", "b"]], y)
    regions = prove(old, new, table)
    rows = list_rows()
    says = [model.predict(rows[list(model.feature_names_in_)]) for model in (old, new)]
    assert {region.outcome for region in regions} == {"y", "not y"} and (says[0] != says[1]).any()
    for region in regions:
        inside = meet_conditions(region.body, rows)
        assert inside.any()
        assert all((each[inside] == (region.outcome == "y")).all() for each in says)
        assert region.rows == meet_conditions(region.body, table).sum()


def test_a_region_says_which_values_have_to_be_known():
    """A logistic regression takes no missing values, and a tree does."""
    table = draw_grid(0).astype(float)
    y = table.a > 3
    table.loc[::9, "b"] = np.nan
    old = DecisionTreeClassifier(max_depth=1).fit(table, y)
    new = LogisticRegression().fit(table.fillna(0), y)
    regions = prove(old, new, table)
    assert regions
    assert all("b is present" in region.words for region in regions)
    rows = list_rows(missing=["b"])
    for region in regions:
        inside = rows[meet_conditions(region.body, rows)]
        assert (old.predict(inside) == new.predict(inside)).all()


def test_proofs_are_refused_where_a_model_cannot_be_read():
    class Opaque:
        classes_ = np.array([0, 1])

        def predict(self, rows):
            return np.zeros(len(rows), int)

    table = draw_grid(0)
    with pytest.raises(HornbookError, match="Opaque"):
        diff(Opaque(), Opaque(), table, n_samples=100, proof=True)
    with pytest.raises(HornbookError, match="two models"):
        diff(Opaque(), [0] * len(table), table, proof=True)
