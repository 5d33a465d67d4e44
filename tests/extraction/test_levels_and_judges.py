"""Envelopes of classifiers of levels and of judges: rules that decide every case as their definition says."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from time import sleep

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hornbook as hb
from hornbook.errors import HornbookError
from hornbook.extraction import Extraction, learn_levels
from hornbook.extraction.envelope import ENVELOPE_SETTINGS
from hornbook.models import Subject
from hornbook.queries import Budget

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
    with pytest.raises(HornbookError, match=r"column 'number' has 700 values"):
        learn_levels(Subject.bind(lambda frame: frame["number"] > 3, rows, target="large"))


class Slow:
    """A model that takes a while for every row."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.rows = seconds, 0

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        sleep(self.seconds * len(frame))
        self.rows += len(frame)
        return np.where(frame["c0"] == "a", "she", "he")


def bind_columns(model: object, columns: int, levels: str) -> Subject:
    rows = pd.DataFrame({f"c{number}": list(levels) for number in range(columns)})
    return Subject.bind(model, rows, target="pronoun", hold_out=False)


def test_a_world_of_too_many_cases_is_learned_from_samples() -> None:
    extraction = learn_levels(bind_columns(Slow(0), 7, "abcdef"))
    assert extraction.guarantee.kind == "pac" and extraction.beyond_horn is None
    assert "if c0 = a and pronoun = he: impossible" in [
        f"{line.text}: {line.outcome}" for line in extraction.explanation.lines()
    ]
    assert extraction.notes[0].endswith("2,470,629 cases are more than 200,000")
    assert 0 < extraction.fidelity.low < extraction.fidelity.estimate <= 1 and extraction.answers < 4000
    assert Extraction.from_json(extraction.to_json()).to_json() == extraction.to_json()


def test_limits_decide_whether_every_case_is_asked_about() -> None:
    """A limit on answers and one on time are kept to; without any the envelope is exact."""
    whole = learn_levels(bind_columns(Slow(0), 3, "abcd"))
    assert whole.guarantee.kind == "exact" and whole.answers == 125
    assert str(whole.fidelity.share).count("interval") == 0
    for budget in (Budget(100, 60), Budget(100, None, 0.4), Budget(2)):
        model = Slow(0.01 if budget.seconds else 0)
        subject, before = bind_columns(model, 3, "abcd"), model.rows
        part = learn_levels(subject, settings=replace(ENVELOPE_SETTINGS, budget=budget))
        if budget.seconds:
            assert part.guarantee.kind != "exact" and part.answers < 125
            assert any(each in part.notes[0] for each in ("answers take about", "budget of 0.4 seconds"))
        elif budget.membership_queries:
            assert 0 < part.answers == model.rows - before <= 60
            assert part.guarantee.kind == "estimated" and "budget of 60 answers" in part.notes[0]
        else:  # every case is one look, and no equivalence query
            assert part.guarantee.kind == "exact"


def test_a_budget_without_answers_says_that_nothing_is_known() -> None:
    extraction = learn_levels(
        bind_columns(Slow(0), 3, "abcd"), settings=replace(ENVELOPE_SETTINGS, budget=Budget(100, 0))
    )
    assert extraction.answers == 0 and extraction.guarantee.kind == "none"
    assert str(extraction.fidelity) == "on samples: not measured"
