"""Theories that answer: conclusions, proofs, and the fewest facts that undo them."""

import json

import numpy as np
import pandas as pd
import pytest

from hornbook.conditions import IsTrue, Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import CardLine, Explanation, ScoreCard, explain_row
from hornbook.logic import Batch, HornTheory, Rule
from hornbook.queries import UNDETERMINED, Binariser, HornRules
from hornbook.queries.variables import make_bins
from hornbook.schema import read_object

BINARISER = Binariser(("age", "fever"), (*make_bins("age", (50.0,)), ("fever", IsTrue("fever"))), dual=True)
RULES = HornTheory.parse(
    "age=high & fever -> ill \n age=low -> not_ill", BINARISER.vocabulary.with_label("ill")
)
LABELLED = HornRules(BINARISER, RULES.rules, "ill")


def test_horn_rules_derive_a_class_or_none():
    frame = pd.DataFrame({"age": [80, 20, 80], "fever": [1, 1, 0]})
    rows = BINARISER.batch(frame)
    assert LABELLED.derive(rows).tolist() == [1, 0, UNDETERMINED]
    assert LABELLED.decide(frame).tolist() == [1, 0, 0]
    assert LABELLED.match_lines(frame).T.tolist() == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]
    assert LABELLED.rules == RULES.rules and LABELLED.classes == ("not ill", "ill")
    assert str(LABELLED).splitlines()[-1] == "otherwise: not ill"


def test_horn_rules_are_read_back_from_their_object():
    again = read_object(Explanation, json.loads(json.dumps(LABELLED.to_object())))
    assert again.to_object() == LABELLED.to_object() and again.theory == LABELLED.theory
    frame = pd.DataFrame({"age": [80, 20], "fever": [None, 1]})
    assert again.decide(frame).tolist() == LABELLED.decide(frame).tolist()
    assert again.binariser.batch(frame) == BINARISER.batch(frame)
    for part, wrong in (("default", 2), ("label", "fun"), ("rules", [{"body": ["fun"], "head": "ill"}])):
        with pytest.raises(HornbookError):
            read_object(Explanation, {**LABELLED.to_object(), part: wrong})


@pytest.mark.parametrize("width", [0, 1, 70])
def test_batches_of_any_length(width):
    rows = Batch.from_array(np.tile([0.0, 1, 1, 1, 0, 0], (width, 1)), BINARISER.vocabulary)
    assert LABELLED.derive(rows).tolist() == [1] * width


def test_rules_that_say_the_same_of_columns_by_other_variables_are_listed_once():
    rows = pd.DataFrame({"age": np.arange(30.0), "bili": np.arange(30.0)[::-1]})
    binariser = Binariser.fit(rows, dual=True)
    vocabulary = binariser.vocabulary.with_label("ill")
    bodies = [
        ["age=middle", "not_bili=low", "not_bili=high"],
        ["not_age=low", "not_age=high", "bili=middle"],
        ["age=middle", "not_bili=low"],
    ]
    rules = [Rule.of(vocabulary, body, "ill") for body in bodies]
    told = HornRules(binariser, tuple(rules), "ill")
    assert told.list_distinct() == (rules[0], rules[2])


@pytest.fixture
def table_rules():
    frame = pd.DataFrame({"age": [20.0, 30.0, 50.0, 70.0, 80.0], "ascites": [0, 1, 0, 1, np.nan]})
    binariser = Binariser.fit(frame, dual=True)
    theory = HornTheory.parse('"not_age=middle" & ascites -> ill', binariser.vocabulary.with_label("ill"))
    return HornRules(binariser, theory.rules, "ill")


def test_horn_rules_take_rows_with_further_columns_in_any_order(table_rules):
    rows = pd.DataFrame({"age": [20.0, 50.0, np.nan, 90.0], "ascites": [1, 1, 1, 0]})
    wide = rows.assign(name="x")[["name", "ascites", "age"]]
    assert (table_rules.decide(wide) == table_rules.decide(rows)).all()
    assert (table_rules.match_lines(wide) == table_rules.match_lines(rows)).all()
    assert (table_rules.compile().decide(wide) == table_rules.decide(rows)).all()
    assert table_rules.explain(wide[:1]) == table_rules.explain(rows[:1])
    with pytest.raises(HornbookError, match="the rows have no column 'age'; they have ascites"):
        table_rules.decide(rows[["ascites"]])


def test_horn_rules_explain_a_row_by_the_facts_that_its_class_needs(table_rules):
    reason = table_rules.explain(pd.DataFrame({"age": [20.0], "ascites": [1]}))
    assert reason.outcome == 1
    assert set(reason.facts) == {table_rules.describe("ascites"), table_rules.describe("not_age=middle")}
    assert table_rules.explain(pd.DataFrame({"age": [20.0], "ascites": [0]})).facts == ("no rule decides",)


def test_horn_rules_say_what_would_change_a_decision(table_rules):
    decision = explain_row(table_rules, {"age": 20.0, "ascites": 1})
    assert (decision.outcome, decision.otherwise) == ("ill", "not ill")
    assert decision.change == ("33.3333 < age ≤ 75",)
    told = str(explain_row(table_rules, {"age": 20.0})).splitlines()
    assert told == ["not ill, because", "  no rule decides", "with ascites is true it would be ill"]


def test_horn_rules_that_contradict_each_other_about_a_row_say_so():
    rules = HornTheory.parse("fever -> ill \n age=high -> not_ill", RULES.vocabulary)
    told = str(explain_row(HornRules(BINARISER, rules.rules, "ill"), {"age": 80, "fever": 1})).splitlines()
    assert told[:2] == ["not ill, because", "  the rules contradict each other"]
    assert set(told[2:4]) == {"  fever is true", "  age > 50"} and told[-1].endswith("it would be ill")


def test_horn_rules_put_alternatives_of_a_condition_in_brackets(table_rules):
    low, high = table_rules.describe("age=low"), table_rules.describe("age=high")
    assert table_rules.lines()[0].text == f"if ascites is true and ({low} or {high})"


def test_explain_row_says_that_no_line_of_a_card_gives_points():
    card = ScoreCard(("lives", "dies"), (CardLine((Threshold("bili", 2),), (3,), (0,)),), (-2,))
    assert "by these points\n  no line gives points\n" in str(explain_row(card, {"bili": 1.0}))
