"""Rows that are held out: equal rows, and the rows of a group, stay together."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import HornbookError
from hornbook.statistics import count_independent
from hornbook.tables import note_units, number_units, shuffle_units, split_rows

cells = st.sampled_from([None, float("nan"), 0.0, -0.0, 1.5, "f", True])
tables = st.lists(st.tuples(cells, st.integers(0, 3)), min_size=1, max_size=30)


def spell(row):
    return tuple("missing" if pd.isna(value) else value for value in row)


@given(tables)
def test_rows_are_one_unit_exactly_if_they_have_the_same_values(rows):
    units = number_units(pd.DataFrame(rows, columns=["x", "y"]).astype({"x": object}))
    spelled = [spell(row) for row in rows]
    for first, own in enumerate(spelled):
        for second, other in enumerate(spelled):
            assert (units[first] == units[second]) == (own == other)


@pytest.mark.parametrize("dtype", ["category", "Int64", "string", "float32", "Sparse[float]"])
def test_equal_rows_are_one_unit_in_tables_of_every_type(dtype):
    values = pd.Series([1, 2, 1, 3, 2]).astype(str if dtype in ("category", "string") else float)
    units = number_units(pd.DataFrame({"x": values.astype(dtype), "same": 0}))
    assert units.tolist() == [0, 1, 0, 2, 1]


@given(st.lists(st.integers(0, 40), min_size=100, max_size=200), st.integers(0, 5), st.booleans())
def test_units_are_used_or_held_out_as_a_whole(labels, seed, by_groups):
    labels = np.array(labels)
    frame = pd.DataFrame({"x": np.arange(len(labels)) if by_groups else labels})
    groups = labels if by_groups else None
    if by_groups and len(set(labels.tolist())) < 3:
        return
    used, held_out = split_rows(frame, seed, groups=groups)
    assert sorted([*used, *held_out]) == list(range(len(labels)))
    assert not set(labels[used]) & set(labels[held_out])
    count = len(set(labels.tolist()))
    assert len(set(labels[held_out])) == (round(0.2 * count) if by_groups or count >= 25 else 0)
    again = split_rows(frame, seed, groups=groups)[1]
    assert (again == held_out).all()


def test_the_only_unit_with_a_known_value_is_used_with_all_its_rows():
    for seed in range(20):
        frame = pd.DataFrame({"x": np.arange(200) // 2, "rare": np.nan})
        frame.loc[6:7, "rare"] = 1.0
        used, _ = split_rows(frame, seed)
        assert {6, 7} <= set(used)


def test_every_unit_is_held_out_as_often_as_any_other():
    units = np.repeat(np.arange(10), [1, 1, 1, 1, 1, 1, 1, 1, 1, 30])
    first = np.array([shuffle_units(units, seed)[-1] < 2 for seed in range(300)])
    assert 35 <= first.sum() <= 90  # of a mean of 60: far beyond three standard deviations


def test_units_of_rows_that_belong_to_nothing_are_refused():
    frame = pd.DataFrame({"x": range(120)})
    with pytest.raises(HornbookError, match="3 labels for 120 rows"):
        split_rows(frame, 0, groups=["a", "b", "c"])
    with pytest.raises(HornbookError, match="row 5 has no group"):
        split_rows(frame, 0, groups=[1.0] * 5 + [np.nan] + [2.0] * 114)
    with pytest.raises(HornbookError, match="fewer than 3 different groups"):
        split_rows(frame, 0, groups=["a"] * 60 + ["b"] * 60)


def test_notes_count_repeated_rows_and_groups():
    frame = pd.DataFrame({"x": np.arange(200) // 2})
    held_out = split_rows(frame, 0)[1]
    assert list(note_units(frame, held_out, None)) == [
        "100 of 200 rows repeat another one; equal rows were held out together"
    ]
    assert list(note_units(frame, held_out[:0], None)) == []
    groups = np.arange(200) // 20
    (note,) = note_units(frame, split_rows(frame, 0, groups=groups)[1], groups)
    assert note == "2 of 10 groups were held out, each with all its rows"


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60))
def test_samples_of_units_count_as_no_more_than_their_units(units):
    units = np.array(units)
    count = count_independent(units)
    assert 1 <= count <= len(set(units.tolist()))
    assert count_independent(np.repeat(units, 3)) == count
    assert count_independent(np.arange(len(units))) == len(units)
