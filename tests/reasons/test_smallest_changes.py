"""The smallest change, held against all changes to values that occur, over models and columns of kinds."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from laws import draw_examples
from questions import find_changes
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from hornbook.models import as_predictor

LEVELS = {"x": 0, "y": 1, "z": 2, "w": 3}


def encode(frame):
    """Words as numbers, missing values as −1."""
    return np.column_stack(
        [frame[name].map(lambda v: -1.0 if pd.isna(v) else float(LEVELS.get(v, v))) for name in frame]
    )


class WeighedSum:
    """A model that is a plain sum of its columns, without a score that guides."""

    classes_ = np.array([0, 1])

    def __init__(self, table, weights):
        self.feature_names_in_, self.weights = np.array(table.columns), weights
        self.cut = np.median(self.add(table)) + 1e-6

    def add(self, frame):
        return (encode(frame) * self.weights).sum(axis=1)

    def predict(self, frame):
        return (self.add(frame) > self.cut).astype(int)

    def predict_proba(self, frame):
        return np.eye(2)[self.predict(frame)]


def make_column(kind, rows, rng):
    if kind == "words":
        return pd.Series(rng.choice(list(LEVELS), rows), dtype=object)
    values = pd.Series(rng.integers(0, 6, rows) if kind == "whole" else rng.normal(size=rows).round(2))
    return values.mask(rng.random(rows) < 0.3) if kind == "missing" else values


def make_case(seed, kinds, family):
    """A model, and a table of so many columns."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(6, 13))
    table = pd.DataFrame({f"c{n}": make_column(kind, rows, rng) for n, kind in enumerate(kinds)})
    if family == "function":
        return WeighedSum(table, rng.normal(size=len(kinds))), table
    models = {
        "tree": DecisionTreeClassifier(random_state=seed),
        "forest": RandomForestClassifier(5, random_state=seed),
        "linear": LogisticRegression(C=100),
    }
    model = make_pipeline(FunctionTransformer(encode), models[family])
    return model.fit(table, rng.permutation(np.arange(rows) % 2)), table


def is_same(one, other):
    return one == other or (pd.isna(one) and pd.isna(other))


def measure(values, one, other):
    """The stated distance of two values of a column."""
    known = values.dropna()
    if is_same(one, other):
        return 0.0
    if pd.isna(one) or pd.isna(other) or isinstance(one, str) or known.nunique() == 2:
        return 1.0
    low, high = min(one, other), max(one, other)
    return (((known > low) & (known < high)).sum() + ((known == low) | (known == high)).sum() / 2) / len(
        known
    )


def list_changes(table, row):
    """All rows of values that occur, the number of columns that each changes, and its distance."""
    choices = [[row[n], *(v for v in pd.unique(table[n]) if not is_same(v, row[n]))] for n in table]
    steps = [[measure(table[n], own[0], v) for v in own] for n, own in zip(table, choices, strict=True)]
    rows = pd.DataFrame(list(product(*choices)), columns=list(table))
    lengths = np.array(list(product(*steps)))
    return rows.astype(table.dtypes), (lengths > 0).sum(axis=1), lengths.sum(axis=1)


KINDS = st.lists(st.sampled_from(["numbers", "whole", "words", "missing"]), min_size=2, max_size=4)
FAMILIES = st.sampled_from(["tree", "forest", "linear", "function"])


@draw_examples(0.5)
@given(st.integers(0, 10_000), KINDS, FAMILIES, st.sampled_from([60, 400, 50_000]))
def test_changes_say_no_more_than_holds_of_all_values_that_occur(seed, kinds, family, max_rows):
    model, table = make_case(seed, kinds, family)
    row = table.iloc[seed % len(table)]
    assume(row.notna().any())
    result = find_changes(model, row, table, max_rows=max_rows, proof_seconds=0)
    rows, sizes, lengths = list_changes(table, row)
    labels = model.predict(rows)
    flips = labels != labels[0]
    assert result.asked <= max_rows
    for size, grade in enumerate(result.fewer, start=1):
        assert grade == "sampled" or not (flips & (sizes == size)).any()
    for change in result.changes:
        own = (len(change.values), change.distance)
        values = row.to_dict() | {each.column: each.after for each in change.values}
        after = pd.DataFrame({n: pd.Series([values[n]]).astype(table[n].dtype) for n in table})
        assert model.predict(after)[0] != labels[0], "the change is one of the model"
        assert all(
            is_same(each.after, None) or each.after in set(table[each.column]) for each in change.values
        )
        if change.nearest == "exhausted":
            assert own[1] == pytest.approx(lengths[flips & (sizes == own[0])].min())
    if max_rows == 50_000:
        assert bool(result.changes) == bool(flips.any())
        if flips.any():
            assert len(result.changes[0].values) == sizes[flips].min()
            assert result.changes[0].nearest == "exhausted"
    elif "sampled" in result.fewer:
        assert f"found among {result.asked:,} rows asked" in str(result)


@pytest.mark.parametrize("shift", [3.0, 9.0, 20.0])
def test_the_fewest_columns_of_a_sum_are_found_though_its_score_is_saturated(shift):
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.normal(size=(150, 13)).round(3), columns=[f"c{n}" for n in range(13)])
    weights = rng.normal(size=13)

    def score(array):
        return (1 / (1 + np.exp(-(np.asarray(array) @ weights + shift)))).astype(np.float32)

    for number in range(0, 150, 30):
        row = table.iloc[number]
        total = row.to_numpy() @ weights + shift
        gains = np.sort(((row - table) * weights * np.sign(total)).max().to_numpy())[::-1]
        fewest = int((np.cumsum(gains) <= abs(total)).sum()) + 1
        result = find_changes(as_predictor(score, threshold=0.5), row, table, proof_seconds=0)
        assert len(result.changes[0].values) == fewest
