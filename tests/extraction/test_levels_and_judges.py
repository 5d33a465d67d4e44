"""Envelopes of classifiers of levels and of judges: rules that decide every case as their definition says."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hornbook as hb
from hornbook.errors import HornbookError
from hornbook.extraction import learn_levels
from hornbook.models import Subject

ROWS = pd.DataFrame(
    {"job": ["nurse", "boxer", "clerk"] * 8, "place": ["here", "there"] * 12, "grade": [1, 2, 3, 4] * 6}
)


def answer(frame: pd.DataFrame) -> np.ndarray:
    """A pronoun for each row, by a function that no Horn theory is."""
    number = frame["job"].astype(object).map({"nurse": 3, "boxer": 1, "clerk": 2}).fillna(0).astype(int)
    number += frame["place"].astype(object).map({"here": 1, "there": 5}).fillna(0).astype(int)
    number += pd.to_numeric(frame["grade"]).fillna(7).astype(int)
    return np.array(["she", "he", "they"])[number % 3]


def every_case(*levels: tuple[object, ...]) -> pd.DataFrame:
    cases = product(*((None, *each) for each in levels))
    return pd.DataFrame(list(cases), columns=["job", "place", "grade", "pronoun"], dtype=object)


@pytest.mark.parametrize("kind", ["object", "category", "nullable"])
def test_rules_accept_what_is_accepted_and_only_intersections_of_it(kind: str) -> None:
    rows = ROWS
    if kind == "category":
        rows = ROWS.astype({"job": "category", "place": "category"})
    if kind == "nullable":
        rows = ROWS.astype({"grade": "Int64"})
    extraction = learn_levels(Subject.bind(answer, rows, target="pronoun"))
    cases = every_case(("nurse", "boxer", "clerk"), ("here", "there"), (1, 2, 3, 4), ("she", "he", "they"))
    truth = cases["pronoun"].isna() | (answer(cases) == cases["pronoun"])
    decided = extraction.explanation.decide(cases.astype({"grade": float})) == 1
    assert decided[truth].all()
    accepted = [dict(row) for row, yes in zip(cases.to_dict("records"), truth, strict=True) if yes]
    for row, yes in zip(cases.to_dict("records"), decided, strict=True):
        above = [case for case in accepted if all(row[name] in (None, case[name]) for name in row)]
        meet = (
            {name: above[0][name] if len({case[name] for case in above}) == 1 else None for name in row}
            if above
            else None
        )
        assert yes == (meet == row)
    assert extraction.beyond_horn is not None
    assert extraction.beyond_horn.cases == int((decided & ~truth).sum()) > 0
    assert extraction.guarantee.kind == "exact" and extraction.answers == 4 * 3 * 5
    assert extraction.fidelity.share.hits == int((decided == truth).sum())


def test_a_horn_model_is_learned_exactly() -> None:
    """Who is nobody known is anybody: each job has a pronoun of its own, and none is asked for two things."""

    def by_job(frame: pd.DataFrame) -> np.ndarray:
        return np.where(frame["job"] == "nurse", "she", "he")

    extraction = hb.Explainer(by_job, ROWS[["job"]], target="pronoun").learn(learner="envelope")
    assert extraction.beyond_horn is not None and extraction.beyond_horn.cases == 0
    assert "agree on every interpretation" in str(extraction.guarantee)
    assert json.loads(extraction.to_json())["beyond_horn"]["cases"] == 0


@given(st.integers(0, 255))
def test_a_judge_of_variables_has_its_envelope(truth_table: int) -> None:
    def judge(array: np.ndarray) -> np.ndarray:
        numbers = (array @ np.array([1, 2, 4])).astype(int)
        return np.array([truth_table >> number & 1 for number in numbers], np.bool_)

    extraction = hb.learn(judge, hb.Vocabulary(["a", "b", "c"]), learner="envelope")
    cases = np.array(list(product([0, 1], repeat=3)))
    accepted = {tuple(case) for case in cases[judge(cases)].tolist()}
    closed = set(accepted)
    while new := {tuple(map(min, one, other)) for one in closed for other in closed} - closed:
        closed |= new
    frame = pd.DataFrame(cases, columns=["a", "b", "c"])
    assert {tuple(case) for case in cases[extraction.explanation.decide(frame) == 1].tolist()} == closed


def test_proofs_of_what_every_case_shows_are_refused() -> None:
    for learn in (
        hb.Explainer(answer, ROWS, target="pronoun").learn,
        lambda **options: hb.learn(answer, ROWS, target="pronoun", **options),
    ):
        with pytest.raises(HornbookError, match="exact by every case"):
            learn(learner="envelope", proof=True)


def test_a_margin_makes_more_classes_possible() -> None:
    class Scores:
        classes_ = np.array(["he", "she"])

        def predict_proba(self, frame: pd.DataFrame) -> np.ndarray:
            she = frame["job"].map({"nurse": 0.9, "boxer": 0.2}).fillna(0.55).to_numpy(float)
            return np.stack([1 - she, she], 1)

        def predict(self, frame: pd.DataFrame) -> np.ndarray:
            return self.classes_[self.predict_proba(frame).argmax(axis=1)]

    rules = [
        str(learn_levels(Subject.bind(Scores(), ROWS[["job"]], target="pronoun"), margin).explanation)
        for margin in (0.0, 0.15, 0.9)
    ]
    assert rules[0] != rules[1] and "clerk" not in rules[1] and rules[2] == ""


def test_columns_of_many_values_are_named() -> None:
    rows = pd.DataFrame({"number": np.arange(700.0), "other": np.arange(700.0)})
    with pytest.raises(HornbookError, match=r"at most 200,000 are all asked about; column 'number' has 700"):
        learn_levels(Subject.bind(lambda frame: frame["number"] > 3, rows, target="large"))
