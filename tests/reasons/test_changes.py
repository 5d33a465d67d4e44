"""What would change a model's decision: held against brute force over small tables."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples
from questions import find_changes
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from hornbook.errors import HornbookError
from hornbook.models import Subject, as_predictor
from hornbook.reasons import ChangeLimits
from hornbook.reasons.changes import ChangeFinder

COLUMNS = ["a", "b", "c", "d"]


def random_case(seed, classes=2, missing=True):
    """A tree that takes missing values, and a table of some rows of a grid."""
    rng = np.random.default_rng(seed)
    values = [0.0, 1.0, 2.5, np.nan] if missing else [0.0, 1.0, 2.5]
    grid = pd.DataFrame(list(product(values, repeat=4)), columns=COLUMNS)
    model = DecisionTreeClassifier(max_leaf_nodes=9, random_state=seed)
    model.fit(grid, rng.integers(classes, size=len(grid)))
    table = grid.iloc[rng.choice(len(grid), 12, replace=False)].reset_index(drop=True)
    return model, table, table.iloc[int(rng.integers(12))]


def same(one, other):
    return one == other or (np.isnan(one) and np.isnan(other))


def distance(values, one, other):
    """The share of known values between two, the ends counted half; by counting."""
    if same(one, other):
        return 0.0
    known = values.dropna()
    if np.isnan(one) or np.isnan(other) or known.nunique() == 2:
        return 1.0
    low, high = min(one, other), max(one, other)
    between = ((known > low) & (known < high)).sum() + ((known == low).sum() + (known == high).sum()) / 2
    return between / len(known)


def allowed(table, row, limits):
    """All rows that changes within the limits to values of the table make, with columns and distance."""
    choices = []
    for name in table:
        own = row[name]
        values = [value for value in pd.unique(table[name]) if not same(value, own)]
        if name in limits.fixed:
            values = []
        if name in limits.up:
            values = [value for value in values if value > own]
        if name in limits.down:
            values = [value for value in values if value < own]
        choices.append([own, *values])
    lengths = [
        [distance(table[name], own[0], value) for value in own]
        for name, own in zip(table, choices, strict=True)
    ]
    rows = pd.DataFrame(list(product(*choices)), columns=list(table))
    steps = np.array(list(product(*lengths)))
    return rows, steps > 0, steps.sum(axis=1)


limit_choices = st.builds(
    lambda kinds: ChangeLimits(
        *(tuple(c for c, own in zip(COLUMNS, kinds, strict=True) if own == kind) for kind in "fud")
    ),
    st.lists(st.sampled_from("fud---"), min_size=4, max_size=4),
)


@draw_examples(0.38)
@given(st.integers(0, 10_000), limit_choices, st.sampled_from([2, 3]), st.booleans())
def test_find_changes_has_the_fewest_columns_and_the_smallest_distance(seed, limits, classes, wish):
    model, table, row = random_case(seed, classes)
    own = model.predict(row.to_frame().T)[0]
    wished = (own + 1) % classes if wish else None
    result = find_changes(model, row, table, limits=limits, wished=wished, proof_seconds=0)
    rows, changed, lengths = allowed(table, row, limits)
    labels = model.predict(rows)
    flips = labels == wished if wish else labels != own
    if not flips.any():
        assert not result.changes and set(result.fewer) <= {"exhausted"}
        return
    fewest = changed[flips].sum(axis=1).min()
    nearest = lengths[flips & (changed.sum(axis=1) == fewest)].min()
    (change,) = result.changes
    assert len(change.values) == fewest and change.distance == pytest.approx(nearest)
    assert change.nearest == "exhausted" and result.fewer == ("exhausted",) * (fewest - 1)
    after = {name: row[name] for name in table} | {each.column: each.after for each in change.values}
    (at,) = np.flatnonzero(rows.fillna(-1).eq(pd.Series(after).astype(float).fillna(-1)).all(axis=1))
    assert flips[at] and {*change.columns} == {*np.array(COLUMNS)[changed[at]]}
    assert change.outcome == (f"label {labels[at]}" if classes == 3 else ["not label", "label"][labels[at]])


@draw_examples(0.2)
@given(st.integers(0, 10_000))
def test_find_changes_gives_all_sets_of_columns_of_which_none_is_superfluous(seed):
    model, table, row = random_case(seed)
    result = find_changes(model, row, table, count=16, proof_seconds=0)
    rows, changed, _ = allowed(table, row, ChangeLimits())
    flips = model.predict(rows) != model.predict(row.to_frame().T)[0]
    sets = {frozenset(np.array(COLUMNS)[own]) for own in changed[flips]}
    minimal = {own for own in sets if not any(other < own for other in sets)}
    assert {frozenset(change.columns) for change in result.changes} == minimal
    ranks = [(len(change.values), change.distance) for change in result.changes]
    assert ranks == sorted(ranks)


@draw_examples(0.3)
@given(st.integers(0, 10_000), limit_choices)
def test_no_fewer_columns_is_proved_only_where_no_value_of_a_grid_flips(seed, limits):
    model, table, row = random_case(seed)
    result = find_changes(model, row, table, limits=limits)
    own = model.predict(row.to_frame().T)[0]
    proved = result.fewer.count("proved")
    assert result.fewer == ("proved",) * proved + ("exhausted",) * (len(result.fewer) - proved)
    if not proved:
        return
    choices = []
    for name in COLUMNS:
        known, here = table[name].dropna(), row[name]
        fine = [
            here,
            *np.linspace(known.min(), known.max(), 9),
            *([np.nan] if table[name].isna().any() else []),
        ]
        if name in limits.fixed or (np.isnan(here) and limits.direction(name)):
            fine = [here]
        direction = limits.direction(name)
        choices.append(
            [value for value in fine if same(value, here) or not direction or (value - here) * direction > 0]
        )
    rows = pd.DataFrame(list(product(*choices)), columns=COLUMNS)
    changed = sum(
        ~((rows[name] == row[name]) | (rows[name].isna() & np.isnan(row[name]))) for name in COLUMNS
    )
    assert (model.predict(rows[changed <= proved]) == own).all()


def test_no_change_of_one_column_is_proved_of_a_forest_and_of_a_network_of_columns():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(0, 1, (60, 3)).round(2), columns=list("abc"))
    both = (table.a > 0.5) & (table.b > 0.5)
    model = RandomForestClassifier(3, max_depth=2, random_state=0).fit(table, both)
    linear = LogisticRegression(C=100).fit(table, both)
    for each in (model, linear):
        result = find_changes(each, {"a": 0.02, "b": 0.02, "c": 0.02}, table)
        assert result.fewer == ("proved",) and len(result.changes[0].values) == 2


def test_find_changes_within_a_budget_changes_few_columns_of_many():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 20)), columns=[f"x{n}" for n in range(20)])
    weights = rng.normal(size=20)
    asked = []

    def score(array):
        asked.append(len(array))
        return 1 / (1 + np.exp(-array @ weights - 2))

    row = table.iloc[int((table @ weights).argmax())]
    model = as_predictor(score, threshold=0.5)
    result = find_changes(model, row, table, max_rows=6_000, proof_seconds=0)
    assert sum(asked) < 3 * 6_000  # each answer may take a score besides
    gains = np.sort([max(0, ((row - table)[name] * weights[n]).max()) for n, name in enumerate(table)])[::-1]
    needed = int((np.cumsum(gains) <= row @ weights + 2).sum()) + 1
    assert len(result.changes[0].values) == needed > 1
    assert result.fewer[0] == "exhausted" and result.changes[0].nearest == "sampled"
    again = find_changes(model, row, table, max_rows=6_000, proof_seconds=0)
    assert again == result


def test_a_change_of_many_columns_comes_from_a_row_of_the_table():
    table = pd.DataFrame(
        np.vstack([np.zeros((3, 7)), [1, 1, 1, 1, 1, 0, 0], np.eye(7)]), columns=list("abcdefg")
    )
    model = as_predictor(lambda array: array[:, :5].min(axis=1), threshold=0.5)
    result = find_changes(model, table.iloc[0], table)
    assert result.changes[0].columns == ("a", "b", "c", "d", "e") and result.changes[0].nearest == "exhausted"
    assert result.fewer == ("exhausted",) * 4 and result.changes[0].distance == 5.0


def test_a_model_that_takes_no_missing_values_is_never_asked_to_lose_one(monkeypatch):
    monkeypatch.setattr("hornbook.models.teacher.DONORS", 4)
    table = pd.DataFrame({"a": [0.0, 1, 2, np.nan, 4], "b": [0.0, 1, 0, 1, np.nan]})
    model = LogisticRegression().fit(table.dropna(), [0, 1, 1])
    result = find_changes(model, table.iloc[3], table, count=2, proof_seconds=0)
    assert result.changes and all(each.after is not None for own in result.changes for each in own.values)
    assert "completions" in result.checked


def test_a_missing_value_becomes_the_commonest_one_that_does():
    table = pd.DataFrame({"a": [9.0, 1, 2, 3, 4, 5, 6, 7, 8, np.nan], "s": [*"zxyyyxxzy", None]})

    class Model:
        classes_, feature_names_in_ = np.array([0, 1]), np.array(["a", "s"])

        def predict(self, rows):
            return ((rows["a"] > 2) | rows["s"].isin(["x", "z"])).to_numpy().astype(int)

        def predict_proba(self, rows):
            return np.eye(2)[self.predict(rows)]

    number, word = find_changes(Model(), {"a": None, "s": "y"}, table, count=2).changes
    assert [(each.before, each.after) for each in number.values] == [(None, 5.0)]
    assert [each.after for each in word.values] == ["x"]


def test_words_of_a_change_are_those_of_the_code_book():
    table = pd.DataFrame({"bili": [0.5, 1.0, 3.0, 4.0], "stage": ["I", "II", "III", "I"]})
    model = as_predictor(lambda array: array[:, 0] / 4, threshold=0.5)
    book = {
        "columns": {"bili": {"label": "Bilirubin", "unit": "mg/dl"}},
        "classes": {"1": "dead", "0": "alive"},
    }
    result = find_changes(model, table.assign(stage=0.0).iloc[3], table.assign(stage=0.0), code_book=book)
    assert str(result) == "with Bilirubin 4 mg/dl → 1 mg/dl it would be alive"


def test_an_ordered_column_of_words_goes_up_only():
    table = pd.DataFrame({"stage": ["I", "II", "III", "IV"] * 3})
    numbers = {"I": 0, "II": 1, "III": 2, "IV": 3}

    class Stages:
        classes_ = np.array([0, 1])
        feature_names_in_ = np.array(["stage"])

        def predict(self, rows):
            return (rows["stage"].map(numbers) == 1).to_numpy().astype(int)

        def predict_proba(self, rows):
            positive = self.predict(rows).astype(float)
            return np.column_stack([1 - positive, positive])

    book = {"columns": {"stage": {"order": ["I", "II", "III", "IV"]}}}
    rise = find_changes(Stages(), {"stage": "II"}, table, limits=ChangeLimits(up=("stage",)), code_book=book)
    assert rise.changes[0].values[0].after == "III" and rise.changes[0].distance == pytest.approx(0.25)
    none = find_changes(Stages(), {"stage": "III"}, table, limits=ChangeLimits(up=("stage",)), code_book=book)
    assert not none.changes and none.fewer == ("exhausted",)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (ChangeLimits(fixed=("A",)), "no column 'A'; did you mean 'a'"),
        (ChangeLimits(fixed=("a",), up=("a",)), "limited twice"),
        (ChangeLimits(up=("s",)), "have no order"),
    ],
)
def test_limits_that_do_not_fit_are_refused(limits, message):
    table = pd.DataFrame({"a": [0.0, 1.0], "s": ["x", "y"]})
    model = as_predictor(lambda array: array[:, 0], threshold=0.5)
    with pytest.raises(HornbookError, match=message):
        find_changes(model, table.iloc[0], table, limits=limits)


def test_a_class_that_there_is_not_or_that_is_decided_for_is_no_wish():
    model, table, row = random_case(3)
    own = model.predict(row.to_frame().T)[0]
    with pytest.raises(HornbookError, match="has no class 'gone'"):
        find_changes(model, row, table, wished="gone")
    with pytest.raises(HornbookError, match="already"):
        find_changes(model, row, table, wished=own)


def test_change_finder_that_has_no_time_asks_nothing_and_claims_nothing():
    model, table, row = random_case(3)
    finder = ChangeFinder(Subject.bind(model, table))
    found = finder.find(row, proof_seconds=0, search_seconds=-1)
    assert not found.changes and set(found.fewer) == {"sampled"}
