"""Why a model decides the rows of a table so: counts of the cover, and the greedy choice."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from hornbook.errors import HornbookError
from hornbook.explain import why_table
from hornbook.explain.body_sampler import meet_conditions


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.integers(0, 5, (150, 4)), columns=list("abcd")).astype(float)
    rows.loc[::7, "b"] = np.nan
    model = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0)
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
        assert own[each.row] and each.rows == (own & left).sum() > 0
        left &= ~own
    assert result.uncovered == tuple(np.flatnonzero(left)) and result.rows == len(rows)
    assert dict(result.outcomes) == {
        f"grade {label}": count for label, count in enumerate(np.bincount(model.predict(rows)))
    }
    assert len(result.reasons) <= result.found and len(result.uncovered) < 15


def test_reasons_of_a_table_are_chosen_greedily(case):
    model, rows, result = case
    gains = [each.rows for each in result.reasons]
    assert gains == sorted(gains, reverse=True)
    few = why_table(model, rows, "grade", max_reasons=2, proof=False)
    assert few.reasons == result.reasons[:2] and few.found == result.found
    assert len(few.uncovered) == len(rows) - sum(gains[:2])
    assert f"2 of {few.found} reasons cover {sum(gains[:2])} of 150 rows" in str(few)
    assert few.to_object()["uncovered"] == list(few.uncovered)


def test_a_table_needs_time_and_a_reason(case):
    model, rows, _ = case
    with pytest.raises(HornbookError, match="at least one reason"):
        why_table(model, rows, max_reasons=0)
