"""Why a model decides the rows of a table so: counts of the cover, and the greedy choice."""

import numpy as np
import pandas as pd
import pytest
from questions import why_table
from sklearn.tree import DecisionTreeClassifier

import hornbook as hb
from hornbook.conditions import meet_conditions
from hornbook.errors import HornbookError
from hornbook.reasons import Coverage, SufficientReason, TableReasons
from hornbook.schema import write_object
from hornbook.statistics import Share


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(7)
    rows = pd.DataFrame(rng.integers(0, 5, (70, 4)), columns=list("abcd")).astype(float)
    rows.loc[::7, "b"] = np.nan
    rows.index += 1000
    model = DecisionTreeClassifier(max_leaf_nodes=5, random_state=0)
    model.fit(rows, (rows.a + rows.b.fillna(2) > 4).astype(int) + (rows.c > 3))
    return model, rows, why_table(model, rows, "grade", max_reasons=30, proof=False)


def covered_rows(model, rows, each):
    outcomes = np.array([f"grade {label}" for label in model.predict(rows)])
    return meet_conditions(each.reason.conditions, rows) & (outcomes == each.reason.outcome)


def test_reasons_of_a_table_cover_the_rows_that_they_count(case):
    model, rows, result = case
    left = np.ones(len(rows), bool)
    for each in result.reasons:
        own = covered_rows(model, rows, each)
        assert own[each.row - 1000] and each.rows == (own & left).sum() > 0
        left &= ~own
    assert result.uncovered == tuple(rows.index[left]) and result.rows == len(rows)
    assert dict(result.outcomes) == {
        f"grade {label}": count for label, count in enumerate(np.bincount(model.predict(rows)))
    }
    assert 5 < len(result.reasons) < result.found and len(result.uncovered) < 7


def test_reasons_of_a_table_are_chosen_greedily(case):
    model, rows, result = case
    gains = [each.rows for each in result.reasons]
    assert gains == sorted(gains, reverse=True)
    few = why_table(model, rows, "grade", max_reasons=2, proof=False)
    assert few.reasons == result.reasons[:2] and few.found == result.found
    assert len(few.uncovered) == len(rows) - sum(gains[:2])
    assert f"2 of {few.found} reasons cover {sum(gains[:2])} of 70 rows" in str(few)
    assert write_object(few)["uncovered"] == list(few.uncovered)


def test_a_table_needs_time_and_a_reason(case):
    model, rows, _ = case
    with pytest.raises(HornbookError, match="at least one reason"):
        why_table(model, rows, max_reasons=0)


def test_explainer_speaks_of_the_model_about_its_table(case):
    whole, rows, _ = case
    labels, rows = whole.predict(rows), rows[["a", "b", "c"]]
    model = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(rows, labels)
    view = hb.Explainer(model, rows, target="grade").why_table(max_reasons=2, proof=False)
    assert view.rows == len(rows) and len(view.reasons) == 2


def test_answers_that_do_not_suffice_for_rows_or_reasons_are_said_to():
    reason = SufficientReason((), "good", "sampled", Share.of(4, 4), 0.95, Coverage(0, 0, 0))
    assert "no answers were left to count the rows" in str(reason) and "0 of 0" not in str(reason)
    table = TableReasons((), 40, (("good", 40),), (1, 2), 0)
    assert "no reason was found within the limits" in str(table) and "0 of 0" not in str(table)
