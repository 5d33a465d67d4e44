"""Laws of the binariser."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import HornbookError
from hornbook.queries import Binariser, Random
from hornbook.queries.variables import cut_points, rounded_mean
from hornbook.schema import read_json, write_json
from hornbook.tables import infer_kind

FRAME = pd.DataFrame(
    {
        "age": [20.0, 30, 40, 50, 80, np.nan],
        "ascites": [1, 2, 3, np.nan, 1, 2],
        "obesity": [0, 1, np.nan, 0, 1, 0],
        "sex": ["male", "female", None, "male", "male", "female"],
        "smokes": ["no", "yes", "no", None, "yes", "no"],
        "stage": pd.Categorical(["II", "I", None, "III", "I", "II"], ["I", "II", "III", "IV"], ordered=True),
    }
)
NAMES = (
    *("age=low", "age=middle", "age=high"),
    *("ascites=1", "ascites=2", "ascites=3"),
    *("obesity", "sex=male", "smokes"),
    *("stage=I", "stage=II", "stage=III"),
)


def fitted(**parameters: Any) -> Binariser:
    return Binariser.fit(FRAME, kinds={"ascites": "categorical"}, **parameters)


def test_binariser_names_are_those_a_person_reads() -> None:
    binariser = fitted()
    assert binariser.vocabulary.names == NAMES
    assert binariser.names == NAMES
    assert binariser.groups == ((0, 1, 2), (3, 4, 5), (9, 10, 11))
    assert fitted(dual=True).vocabulary.names == (*NAMES, *(f"not_{name}" for name in NAMES))


def test_binariser_values_are_true_false_or_missing_as_the_column_is() -> None:
    values = fitted().transform(FRAME)
    assert tuple(values.columns) == NAMES
    for column in FRAME:
        mine = values[[name for name in NAMES if name.split("=")[0] == column]]
        assert (mine.isna().all(axis=1) == FRAME[column].isna()).all()
        assert (mine.isna().any(axis=1) == FRAME[column].isna()).all()
        if mine.shape[1] > 1:
            assert (mine.sum(axis=1)[FRAME[column].notna()] == 1).all()
    assert values["sex=male"].dropna().tolist() == [1, 0, 1, 1, 0]
    assert values["smokes"].dropna().tolist() == [0, 1, 0, 1, 0]
    assert values["ascites=2"].dropna().tolist() == [0, 1, 0, 0, 1]


def test_the_papers_cut_points_are_the_means_of_the_halves() -> None:
    # mean 44: the values up to it have mean 30, those above it have mean 65
    binariser = fitted()
    assert binariser.describe("age=low") == "age ≤ 30"
    assert binariser.describe("age=middle") == "30 < age ≤ 65"
    assert binariser.describe("age=high") == "age > 65"
    ends = binariser.transform(FRAME.assign(age=[30.0, 65, 65.1, -1, 1e9, 31])).to_numpy()[:, :3]
    assert ends.argmax(axis=1).tolist() == [0, 1, 2, 0, 2, 1]


def test_binariser_every_name_has_its_condition_and_its_negation() -> None:
    binariser = fitted(dual=True)
    assert [binariser.describe(f"not_{name}") for name in NAMES[:9]] == [
        "age > 30",
        "age ≤ 30 or age > 65",
        "age ≤ 65",
        "ascites ≠ 1",
        "ascites ≠ 2",
        "ascites ≠ 3",
        "obesity is false",
        "sex ≠ male",
        "smokes is false",
    ]
    assert binariser.describe("ascites=2") == "ascites = 2"
    with pytest.raises(HornbookError, match="unknown name 'age=hihg'; did you mean 'age=high'"):
        binariser.describe("age=hihg")


def test_binariser_duals_mirror_and_the_background_says_so() -> None:
    binariser = fitted(dual=True)
    values = binariser.transform(FRAME).to_numpy()
    assert np.array_equal(values[:, 12:], 1 - values[:, :12], equal_nan=True)
    for dual in (True, False):
        exclusive = fitted(dual=dual).background()
        assert exclusive.entails("age=low & age=middle -> false")
        assert not exclusive.entails("age=low & ascites=2 -> false")
        assert exclusive.satisfied_by(fitted(dual=dual).batch(FRAME)).all()
    assert binariser.background().entails("age=low -> not_age=high")


def test_the_groupsserve_random_interpretations() -> None:
    binariser = fitted(dual=True)
    drawn = Random(binariser.vocabulary, 0.1, binariser.groups).draw(500, np.random.default_rng(0))
    assert binariser.background().satisfied_by(drawn).all()


def test_cut_points_are_learned_in_fit_only() -> None:
    binariser = fitted()
    before = write_json(binariser)
    shifted = FRAME.assign(age=FRAME["age"] + 1000)
    assert binariser.transform(shifted).to_numpy()[:5, 2].all()
    assert write_json(binariser) == before


def test_a_fitted_binariser_survives_json() -> None:
    binariser = fitted(dual=True)
    again = read_json(Binariser, write_json(binariser), "table.json")
    assert again.vocabulary == binariser.vocabulary
    assert again.groups == binariser.groups
    assert again.conditions == binariser.conditions
    assert np.array_equal(again.transform(FRAME), binariser.transform(FRAME), equal_nan=True)
    for text in ("{", "{}", '{"columns": [], "dual": false, "variables": [["age", {"says": "Nothing"}]]}'):
        with pytest.raises(HornbookError, match="table"):
            read_json(Binariser, text, "table.json")


def test_binariser_polars_frames_are_pandas_frames() -> None:
    plain = FRAME.drop(columns="stage")
    polar = pl.DataFrame({name: [None if pd.isna(v) else v for v in plain[name]] for name in plain})
    for frame in (polar, polar.lazy()):
        binariser = Binariser.fit(frame)
        assert binariser.conditions == Binariser.fit(plain).conditions
        assert np.array_equal(binariser.transform(frame), binariser.transform(plain), equal_nan=True)


def test_binariser_nullable_and_object_columns_are_columns_too() -> None:
    plain = FRAME[["age", "obesity", "sex"]]
    for other in (plain.convert_dtypes(), plain.astype(object)):
        assert Binariser.fit(other).conditions == Binariser.fit(plain).conditions
        assert np.array_equal(
            Binariser.fit(plain).transform(other), Binariser.fit(plain).transform(plain), equal_nan=True
        )


def test_binariser_arrays_have_numbered_columns() -> None:
    binariser = Binariser.fit([[1.5, 0], [2, 1], [np.nan, np.nan], [9, 0]])
    assert binariser.vocabulary.names == ("x0=low", "x0=middle", "x0=high", "x1")


def test_binariser_level_never_seen_is_none_of_those_seen() -> None:
    binariser = fitted()
    other = FRAME.assign(sex="unknown", ascites=7)
    values = binariser.transform(other).to_numpy()
    assert (values[:, 3:6] == 0).all()
    assert (values[:, 7] == 0).all()
    with pytest.raises(HornbookError, match="'smokes' is true or false, and not 'sometimes'"):
        binariser.transform(FRAME.assign(smokes="sometimes"))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1, None], "binary"),
        ([1, 2], "binary"),
        ([7], "binary"),
        ([0.5, 1.5], "quantitative"),
        ([1, 2, 3], "quantitative"),
        ([True, False], "binary"),
        ([True, None, False], "binary"),
        (["Yes", "no"], "binary"),
        (["yes"], "binary"),
        (["a", "b", None], "binary"),
        (["a"], "categorical"),
        (["a", "b", "c"], "categorical"),
        (["yes", "no", "N"], "binary"),
        (["a", 1, 2.5], "categorical"),
    ],
)
def test_infer_kind_of_values(values: list[Any], kind: str) -> None:
    assert infer_kind(pd.Series(values)) == kind


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.booleans(), st.integers(0, 99))
def test_cut_points_ascend_and_bins_partition(values: list[float], by_tree: bool, seed: int) -> None:
    column = np.array(values)
    labels = np.random.default_rng(seed).integers(0, 2, len(column)) if by_tree else None
    cuts = cut_points(column, labels)
    assert 1 <= len(cuts) <= 2
    assert np.isfinite(cuts).all()
    assert list(cuts) == sorted(set(cuts))
    assert column.min() <= cuts[0]
    assert cuts[-1] <= column.max()
    frame = pd.DataFrame({"x": column})
    binariser = Binariser.fit(frame, kinds={"x": "quantitative"}, labels=labels)
    assert (binariser.transform(frame).sum(axis=1) == 1).all()


def test_cut_points_rounding_leaves_no_value_outside_its_half() -> None:
    value = 349526.153761285  # three of these have a mean that is not this
    assert cut_points(np.array([0, value, value, value])) == (0, value)
    assert cut_points(np.array([0, -value, -value, -value])) == (-value, 0)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_rounded_mean_is_near_the_exact_mean_in_any_order(values: list[float]) -> None:
    exact = sum(map(Fraction, values)) / len(values)
    mean = rounded_mean(np.array(values))
    assert mean == rounded_mean(np.array(values[::-1]))
    assert min(values) <= mean <= max(values)
    assert abs(Fraction(mean) - exact) <= Fraction(max(map(abs, values))) / 2**51 + Fraction(5e-324)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50))
def test_cut_points_do_not_depend_on_the_order_of_rows(values: list[float]) -> None:
    column = np.array(values)
    assert cut_points(column) == cut_points(column[::-1])


def test_cut_points_of_a_tree_are_where_the_label_changes() -> None:
    values = np.arange(100.0)
    assert cut_points(values, (values > 40) & (values <= 70)) == (40.5, 70.5)


@pytest.mark.parametrize(
    ("cuts", "names"),
    [
        ([10], ["low", "high"]),
        ([10, 20, 30], ["very_low", "low", "high", "very_high"]),
        ([10, 20, 30, 40], ["very_low", "low", "middle", "high", "very_high"]),
        ([10, 20, 30, 40, 50], ["bin1", "bin2", "bin3", "bin4", "bin5", "bin6"]),
    ],
)
def test_explicit_cut_points_decide_the_bins(cuts: list[float], names: list[str]) -> None:
    binariser = Binariser.fit(FRAME[["age"]], cuts={"age": cuts})
    assert list(binariser.vocabulary.names) == [f"age={name}" for name in names]
    assert binariser.describe(f"age={names[0]}") == "age ≤ 10"


def test_binariser_dual_is_called_otherwise_where_a_column_has_its_name() -> None:
    frame = pd.DataFrame({"obese": [1, 0, 1], "not_obese": [1, 1, 0]})
    binariser = Binariser.fit(frame, dual=True)
    assert binariser.vocabulary.names == ("obese", "not_obese", "not_obese_2", "not_not_obese")
    assert [binariser.describe(name) for name in binariser.vocabulary.names[1:3]] == [
        "not_obese is true",
        "obese is false",
    ]
    np.testing.assert_array_equal(
        binariser.batch(frame).to_array(), [[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]]
    )


@pytest.mark.parametrize(
    ("parameters", "frame", "message"),
    [
        ({"kinds": {"aeg": "binary"}}, FRAME, "kinds names 'aeg', which is not a column"),
        ({"kinds": {"age": "binary"}}, FRAME, "'age' has 5 distinct values, too many for a binary one"),
        ({"kinds": {"sex": "quantitative"}}, FRAME, "column 'sex' is to be quantitative, but: .*male"),
        ({"cuts": {"aeg": [1]}}, FRAME, "cuts names 'aeg', which is not a column"),
        ({"cuts": {"age": [60, 40]}}, FRAME, r"cut points of 'age' are not ascending numbers: \[60, 40\]"),
        ({"cuts": {"age": []}}, FRAME, "cut points of 'age'"),
        ({"max_levels": 2}, FRAME, "'stage' has 3 distinct values, more than 2; drop it"),
        ({}, FRAME.assign(age=np.nan), "column 'age' has no known value; drop it"),
        ({}, FRAME.assign(age=[np.inf, 1, 2, 3, 4, 5]), "row 0, column 'age' is infinity"),
        (
            {},
            FRAME.assign(age=[b"1", b"2", b"3", b"4", b"5", b"6"]),
            "'age' holds values that are not numbers",
        ),
        ({}, FRAME.assign(age=[{}, {}, {}, {}, {}, {}]), "'age' holds values that are not numbers or text"),
    ],
)
def test_binariser_refuses_bad_input_with_a_reason(
    parameters: dict[str, Any], frame: pd.DataFrame, message: str
) -> None:
    with pytest.raises(HornbookError, match=message):
        Binariser.fit(frame, **parameters)


def test_binariser_words_where_numbers_were_are_refused() -> None:
    with pytest.raises(HornbookError, match="column 'age' holds 'old'"):
        fitted().transform(FRAME.assign(age="old"))
