"""Rules from queries as an explanation of rows."""

import numpy as np
import pandas as pd
import pytest

from hornbook.data import Binariser, Reader
from hornbook.errors import HornbookError
from hornbook.explain import HornRules, explain_row
from hornbook.explanations import CardLine, ScoreCard, Threshold
from hornbook.logic import HornTheory


@pytest.fixture
def rules():
    frame = pd.DataFrame({"age": [20.0, 30.0, 50.0, 70.0, 80.0], "ascites": [0, 1, 0, 1, np.nan]})
    reader = Reader.of(frame, Binariser(dual=True).fit(frame))
    theory = HornTheory.parse('"not_age=middle" & ascites -> ill', reader.vocabulary.with_label("ill"))
    return HornRules(theory, HornTheory.background(theory.vocabulary), reader, "ill")


def test_horn_rules_take_rows_with_further_columns_in_any_order(rules):
    rows = pd.DataFrame({"age": [20.0, 50.0, np.nan, 90.0], "ascites": [1, 1, 1, 0]})
    wide = rows.assign(name="x")[["name", "ascites", "age"]]
    assert (rules.decide(wide) == rules.decide(rows)).all()
    assert (rules.match_lines(wide) == rules.match_lines(rows)).all()
    assert (rules.compile().decide(wide) == rules.decide(rows)).all()
    assert rules.explain(wide[:1]) == rules.explain(rows[:1])
    with pytest.raises(HornbookError, match="the rows have no column 'age'; they have ascites"):
        rules.decide(rows[["ascites"]])


def test_horn_rules_put_alternatives_of_a_condition_in_brackets(rules):
    low, high = rules.describe("age=low"), rules.describe("age=high")
    assert rules.lines()[0].text == f"if ascites is true and ({low} or {high})"


def test_explain_row_says_that_no_line_of_a_card_gives_points():
    card = ScoreCard(("lives", "dies"), (CardLine((Threshold("bili", 2),), (3,), (0,)),), (-2,))
    assert str(explain_row(card, {"bili": 1.0})).startswith("lives, because\n  no line gives points\n")
