"""Conditions mean what they say: by brute force over every row of a small table."""

import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.conditions import AGES, EVERY_ROW, RANGES, conditions, rows_of, value_of

from hornbook import HornbookError
from hornbook.code_book import CodeBook
from hornbook.conditions import (
    Between,
    Category,
    Condition,
    Threshold,
    background_rules,
    find_range,
    meet_conditions,
    merge_conditions,
    shorten_cut,
)
from hornbook.schema import read_object, write_object


@given(conditions)
def test_condition_has_three_values(condition):
    true, false = condition.evaluate(EVERY_ROW)
    values = [value_of(condition, row) for row in rows_of(EVERY_ROW)]
    assert true.tolist() == [value is True for value in values]
    assert false.tolist() == [value is False for value in values]
    assert [a.tolist() for a in condition.negate().evaluate(EVERY_ROW)] == [false.tolist(), true.tolist()]
    known = [
        row
        for row in rows_of(EVERY_ROW)
        if row[condition.column] not in (None,) and row[condition.column] == row[condition.column]
    ]
    assert all(condition.accepts(row[condition.column]) is value_of(condition, row) for row in known)


@given(conditions, conditions)
def test_condition_implications_and_exclusions_hold_in_every_row(first, second):
    a, b = first.evaluate(EVERY_ROW)[0], second.evaluate(EVERY_ROW)[0]
    if first.implies(second):
        assert (~a | b).all()
    if first.excludes(second):
        assert not (a & b).any()


ranges = st.builds(lambda ends: Between("age", *ends), st.sampled_from(RANGES))


@given(st.lists(st.one_of(conditions, ranges), max_size=6))
def test_merged_conditions_are_true_where_all_are_and_none_is_superfluous(chosen):
    merged = merge_conditions(chosen)
    met = meet_conditions(chosen, EVERY_ROW)
    assert (meet_conditions(merged, EVERY_ROW) == met).all()
    if met.any():
        assert not any(one.implies(two) for one, two in permutations(merged, 2))
        assert len(merged) == len({each.column for each in merged}), "of each column there is one"
    assert not any("not (" in text for text in CodeBook().describe_all(chosen))


@given(st.lists(conditions, max_size=6))
def test_background_rules_entail_all_that_two_conditions_imply(chosen):
    rules = list(background_rules(chosen))
    for body, head in rules:
        met = np.logical_and.reduce([condition.evaluate(EVERY_ROW)[0] for condition in body])
        assert not met.any() if head is None else (~met | head.evaluate(EVERY_ROW)[0]).all()
    for start in chosen:
        closure = {start}
        while True:
            derived = {head for body, head in rules if head is not None and set(body) <= closure} - closure
            if not derived:
                break
            closure |= derived
        assert {other for other in chosen if start.implies(other)} <= closure


@given(conditions)
def test_condition_is_read_as_it_was_written(condition):
    assert read_object(Condition, json.loads(json.dumps(write_object(condition)))) == condition


@given(st.lists(conditions, max_size=4))
def test_range_of_conditions_has_the_numbers_that_meet_them(chosen):
    own = [each for each in chosen if isinstance(each, Threshold | Between) and getattr(each, "inside", True)]
    low, high = find_range(own)
    for age in AGES[1:]:
        assert (low < age <= high) == all(each.accepts(age) for each in own)


def test_sets_of_one_value_are_that_value():
    assert Category("sex", ("f",)) == Category("sex", "f")
    assert Category("sex", ("m", "f", "m")) == Category("sex", ("f", "m"))
    with pytest.raises(HornbookError, match="empty"):
        Category("sex", ())
    with pytest.raises(HornbookError, match="no range"):
        Between("age", 40, 40)


def test_condition_names_the_columns_there_are():
    with pytest.raises(HornbookError, match="no column 'weight'; they have age, sex, smokes"):
        Threshold("weight", 3).evaluate(EVERY_ROW)


@given(
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 6)),
    st.floats(1e-6, 1e6).map(lambda x: round(x, 6)),
)
def test_shorten_cut_parts_its_neighbours(low, width):
    high = low + width
    if high > low:
        cut = shorten_cut(low, high)
        assert low <= cut < high
        assert len(f"{cut:.15g}") <= len(f"{low + width / 2:.15g}") + 2
