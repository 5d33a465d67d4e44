"""Claims checked on a classifier: against brute force, and what is shown of a violation."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples
from questions import check
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from hornbook.checks import MonotoneClaim, RuleClaim, read_claims
from hornbook.checks.cases import restore_values
from hornbook.conditions import Missing, Threshold, meet_conditions
from hornbook.errors import HornbookError
from hornbook.models import Subject, as_predictor
from hornbook.queries import Estimated, Exact

VALUES = [0.0, 1.0, 2.0]
GRID = pd.DataFrame(list(product(VALUES, repeat=3)), columns=["a", "b", "c"])


@pytest.fixture(autouse=True, scope="module")
def few_nearest_rows():
    """A violation is brought close to few rows of the table, which takes fewer questions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hornbook.checks.cases.NEAREST_ROWS", 4)
        yield


def random_tree(seed):
    """A tree with random classes on the grid, and a table of some of its rows."""
    rng = np.random.default_rng(seed)
    model = DecisionTreeClassifier(max_leaf_nodes=6, random_state=seed).fit(GRID, rng.random(27) < 0.5)
    rows = GRID.iloc[np.r_[0, 13, 26, rng.choice(27, 9, replace=False)]].reset_index(drop=True)
    return model, rows


bodies = st.lists(
    st.builds(Threshold, st.sampled_from("abc"), st.sampled_from([0.5, 1.5]), st.booleans()), max_size=2
)


@draw_examples(0.38)
@given(st.integers(0, 1000), bodies, st.sampled_from(["yes", "not yes"]))
def test_check_breaks_a_rule_exactly_where_some_row_of_the_grid_does(seed, body, outcome):
    model, rows = random_tree(seed)
    claim = RuleClaim(tuple(body), outcome)
    (result,) = check([claim], model, rows, "yes", samples=1000)
    met = meet_conditions(body, GRID)
    breaking = met & (model.predict(GRID) != (outcome == "yes"))
    assert result.broken == breaking.any()
    if not met.any():
        assert result.guarantee == Exact()
    if result.violation is not None:
        row = result.violation.rows
        assert meet_conditions(body, row).all() and (model.predict(row) != (outcome == "yes")).all()
        near = rows.iloc[[result.violation.row]].reset_index(drop=True)
        assert result.violation.changed == tuple(name for name in "abc" if (row[name] != near[name]).any())


@draw_examples(0.38)
@given(st.integers(0, 1000), st.sampled_from("abc"), st.sampled_from(["lowers", "raises"]))
def test_check_breaks_a_monotonicity_exactly_where_some_pair_of_the_grid_does(seed, column, never):
    model, rows = random_tree(seed)
    (result,) = check([MonotoneClaim(column, never, "yes")], model, rows, "yes", samples=1000)
    others = [name for name in "abc" if name != column]
    steps = GRID.assign(yes=model.predict(GRID)).sort_values([*others, column]).groupby(others).yes
    sign = -1 if never == "lowers" else 1
    assert result.broken == any((sign * np.diff(group.astype(int)) > 0).any() for _, group in steps)
    if result.violation is not None:
        low, high = result.violation.rows.iloc[0], result.violation.rows.iloc[1]
        assert low[column] < high[column] and (low[others] == high[others]).all()
        assert result.violation.outcomes == (("yes", "not yes") if never == "lowers" else ("not yes", "yes"))


def test_local_search_finds_the_violation_that_samples_miss():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.uniform(0, 1, (200, 8)).round(3), columns=list("abcdefgh"))
    model = as_predictor(lambda array: 7.0 - array.sum(axis=1), threshold=0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hornbook.checks.claim_check.SEARCH_STEPS", -1)
        (sampled,) = check("a > 0.5 -> yes", model, rows, "yes", samples=300)
    (searched,) = check("a > 0.5 -> yes", model, rows, "yes", samples=300)
    assert not sampled.broken and isinstance(sampled.guarantee, Estimated)
    assert searched.broken and searched.violation.rows.sum(axis=1).iloc[0] > 7.0


def test_a_monotonicity_that_hardly_any_pair_breaks_is_broken_along_the_values_of_the_column():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.uniform(0, 1, (400, 2)).round(3), columns=["a", "b"])
    model = as_predictor(lambda array: ~((array[:, 1] > 0.985) & (abs(array[:, 0] - 0.5) < 0.03)))
    (result,) = check("more a never lowers yes", model, rows, "yes", samples=100)
    assert result.guarantee.disagreement.hits == 0 and result.broken
    low, high = result.violation.rows.a
    assert low < high and abs(high - 0.5) < 0.03 and (result.violation.rows.b > 0.985).all()


def test_a_violation_changes_as_few_columns_of_a_row_as_can_be():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.uniform(0, 1, (50, 6)).round(3), columns=list("abcdef"))
    rows["a"] = rows.a / 2  # no row meets the body as it is
    model = as_predictor(lambda array: array[:, 1], threshold=0.3)
    (result,) = check("a > 0.7 -> yes", model, rows, "yes", samples=100)
    assert result.violation.changed == ("a",) and rows.b[result.violation.row] < 0.3


def test_restored_values_keep_the_property_and_no_further_one_can_be_given_back():
    rng = np.random.default_rng(0)
    witness = pd.DataFrame({"a": [1.0], "b": ["m"], "c": [np.nan], "d": [4], "e": [0.5]})
    rows = [
        pd.DataFrame({"a": [2.0], "b": ["f"], "c": [3.0], "d": [5], "e": [np.nan]}),
        pd.DataFrame({"a": [np.nan], "b": ["f"], "c": [np.nan], "d": [4], "e": [9.0]}),
        witness.copy(),
    ]

    def is_own(frame):
        """Whether each value is the witness's, shape (rows, columns)."""
        both = (frame[name].isna() & witness[name].isna().iloc[0] for name in witness)
        same = (frame[name] == witness[name].iloc[0] for name in witness)
        return np.stack([one | other for one, other in zip(same, both, strict=True)], axis=1)

    weights = 1 << np.arange(witness.shape[1])
    for _ in range(10):
        kept = rng.random(32) < 0.4  # by which values are the witness's own
        kept[-1] = True
        restored = restore_values(witness, rows, lambda frame, kept=kept: kept[is_own(frame) @ weights])
        for row, closer in zip(rows, restored, strict=True):
            own = is_own(closer)[0]
            back = pd.DataFrame(
                {name: (witness if at else row)[name] for name, at in zip(witness, own, strict=True)}
            )
            pd.testing.assert_frame_equal(closer, back, check_dtype=False)
            assert kept[own @ weights]
            differing = ~is_own(row)[0]
            assert not any(kept[own @ weights - weights[at]] for at in np.flatnonzero(own & differing))


def test_missing_values_and_categories_are_part_of_claims():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.normal(size=100), "z": rng.normal(size=100)})
    rows.loc[::7, "x"] = np.nan
    model = make_pipeline(SimpleImputer(), LogisticRegression()).fit(rows, rows.x.fillna(-5) > 0)
    missing, impossible = check(
        "x is missing -> yes\nx is missing & x > 0 -> yes", model, rows, "yes", samples=200
    )
    assert missing.broken and missing.violation.rows.x.isna().all()
    assert not impossible.broken and impossible.guarantee == Exact()
    assert meet_conditions([Missing("x")], rows).sum() == 15


def test_text_columns_are_claimed_about(monkeypatch):
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"status": rng.choice(["A11", "A12", "A13"], 60), "x": rng.normal(size=60)})
    encode = make_column_transformer((OneHotEncoder(), ["status"]), remainder="passthrough")
    model = make_pipeline(encode, DecisionTreeClassifier(max_depth=2)).fit(rows, rows.status == "A13")
    monkeypatch.setattr("hornbook.checks.claim_check.SEARCH_STEPS", 5)
    held, broken = check(
        "status in {A11, A12} -> not good\nstatus != A11 -> good", model, rows, "good", samples=200
    )
    assert not held.broken and broken.violation.rows.status.tolist() == ["A12"]


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        ("d > 1 -> yes", "the table has no column 'd'"),
        ("a > 1 -> maybe", "no class 'maybe'; its classes are not yes, yes"),
        ("more d never lowers yes", "no column 'd'"),
        ("# nothing", "there are no claims"),
    ],
)
def test_check_refuses_claims_about_what_there_is_not(claims, says):
    model, rows = random_tree(0)
    with pytest.raises(HornbookError, match=says):
        check(claims, model, rows, "yes")


def test_a_check_says_its_verdict_and_how_sure_it_is():
    model, rows = random_tree(0)
    claims = check("more a never lowers yes\nb > 1 -> yes", model, rows, target="yes", proof=True)
    verdicts = {True: "broken", False: "holds"}
    for claim in claims:
        known = "" if claim.guarantee.kind == "none" else f" ({claim.guarantee.kind})"
        assert str(claim) == f"{claim.claim}: {verdicts[claim.broken]}{known}" and "none" not in str(claim)


def test_claims_are_one_text_or_several():
    lines = ["a > 1 -> yes", "more b never lowers yes"]
    subject = Subject.bind(lambda rows: rows.a > 1, pd.DataFrame({"a": [0.0, 2.0] * 4, "b": range(8)}))
    assert list(map(str, read_claims(lines, subject))) == lines
    assert read_claims("\n".join(lines), subject) == read_claims(lines, subject)
