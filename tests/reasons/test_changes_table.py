"""A few actions that turn most rows: their shares are those of brute force, within the limits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples
from sklearn.ensemble import HistGradientBoostingClassifier

from hornbook import Explainer
from hornbook.errors import HornbookError
from hornbook.reasons import ChangeLimits
from hornbook.schema import write_object

BOOK = {"columns": {"size": {"order": ["S", "M", "L", "XL"]}}}
COLUMNS = ("income", "debt", "size", "town", "owner")


def make_table(rng, rows=200):
    """Numbers, whole numbers, ordered words, other words and a pair; values are missing in two columns."""
    table = pd.DataFrame(
        {
            "income": rng.lognormal(3, 1, rows).round(2),
            "debt": rng.integers(0, 40, rows),
            "size": rng.choice(["S", "M", "L", "XL"], rows),
            "town": rng.choice(["here", "there", "away"], rows),
            "owner": rng.choice([0.0, 1.0], rows),
        }
    )
    table.loc[rng.random(rows) < 0.1, "income"] = np.nan
    table.loc[rng.random(rows) < 0.1, "owner"] = np.nan
    return table


class Lender:
    """Says yes to a weighed sum of the columns; missing values count nothing."""

    classes_ = np.array(["no", "yes"])
    feature_names_in_ = np.array(COLUMNS, dtype=object)

    def __init__(self, weights):
        self.weights = weights

    def predict(self, rows):
        parts = [
            rows["income"].fillna(0) / 20,
            rows["debt"] / 20,
            rows["size"].map({"S": 0, "M": 1, "L": 2, "XL": 3}).astype(float),
            (rows["town"] == "here").astype(float),
            rows["owner"].fillna(0),
        ]
        return np.where(np.column_stack(parts) @ self.weights > 1.5, "yes", "no")


def count_moves(before, after, column):
    """How many rows go up in a column, and down."""
    ranks = {"S": 0, "M": 1, "L": 2, "XL": 3}
    old, new = (each[column].map(ranks) if column == "size" else each[column] for each in (before, after))
    return (new > old).sum(), (new < old).sum()


@draw_examples(0.15)
@given(st.integers(0, 10_000), st.permutations(COLUMNS), st.sampled_from(["yes", "no"]), st.integers(1, 3))
def test_shares_are_those_of_brute_force_and_limits_are_kept(seed, order, wished, max_columns):
    rng = np.random.default_rng(seed)
    table, model = make_table(rng), Lender(rng.normal(size=5))
    directed = [name for name in order[1:] if name not in ("town", "owner")]
    limits = ChangeLimits(fixed=tuple(order[:1]), up=tuple(directed[:1]), down=tuple(directed[1:2]))
    explainer = Explainer(model, table, code_book=BOOK, seed=seed)
    result = explainer.changes_table(wished=wished, max_columns=max_columns, limits=limits, max_rows=5_000)
    held_out = explainer.subject.hold_out().held_out
    refused = held_out[model.predict(held_out) != wished]
    assert result.refused == (model.predict(table) != wished).sum()
    turned = np.zeros((len(result.actions), len(refused)), bool)
    for number, action in enumerate(result.actions):
        changed = action.change(refused)
        turned[number] = model.predict(changed) == wished
        assert (action.share.hits, action.share.size) == (turned[number].sum(), len(refused))
        assert {step.column for step in action.steps}.isdisjoint(limits.fixed)
        assert 1 <= len({step.column for step in action.steps}) == len(action.steps) <= max_columns
        for column in (*limits.up, *limits.down):
            up, down = count_moves(refused, changed, column)
            assert not (down if column in limits.up else up)
            assert (changed[column].isna() == refused[column].isna()).all()
    assert (result.together.hits, result.together.size) == (turned.any(axis=0).sum(), len(refused))
    assert max(map(len, str(result).splitlines())) <= 80
    assert write_object(result)["actions"] == [write_object(action) for action in result.actions]


def test_two_columns_that_only_turn_rows_together_are_found():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(300, 6)).round(2), columns=[f"c{n}" for n in range(6)])
    label = ((table.c3 > 1) & (table.c5 < -0.5)).to_numpy()
    model = HistGradientBoostingClassifier(max_iter=20).fit(table, label)
    result = Explainer(model, table, target="good").changes_table(count=1, max_rows=30_000)
    assert {step.column for step in result.actions[0].steps} == {"c3", "c5"}
    assert result.actions[0].share.estimate > 0.95


def test_what_cannot_be_asked_is_refused():
    table = make_table(np.random.default_rng(0))
    explainer = Explainer(Lender(np.ones(5)), table, code_book=BOOK)
    with pytest.raises(HornbookError, match="no class 'maybe'"):
        explainer.changes_table(wished="maybe")
    with pytest.raises(HornbookError, match="no order"):
        explainer.changes_table(limits=ChangeLimits(up=("town",)))
    nothing = explainer.changes_table(limits=ChangeLimits(fixed=COLUMNS))
    assert not nothing.actions and "no action was found" in str(nothing)
