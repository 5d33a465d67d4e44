"""Delta debugging: what is left keeps the property, and no single item of it can go."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.deadline import Deadline
from hornbook.delta import drop_provable, minimise

NEEDED = st.lists(st.sets(st.integers(0, 30)), min_size=1, max_size=5)


def holds_in(needed):
    return lambda lists: np.array([needed[number] <= set(own) for number, own in lists])


@given(needed=NEEDED)
def test_lists_side_by_side_keep_exactly_the_needed_items(needed):
    left = minimise([range(31)] * len(needed), holds_in(needed))
    assert left == [sorted(own) for own in needed]


@given(clauses=st.lists(st.sets(st.integers(0, 8), min_size=1), min_size=1))
def test_no_single_item_of_what_is_left_can_go(clauses):
    def keeps(lists):
        return [all(clause & set(own) for clause in clauses) for _, own in lists]

    (left,) = minimise([range(9)], keeps)
    assert keeps([(0, left)]) == [True]
    assert not any(keeps([(0, [other for other in left if other != item]) for item in left]))


def test_nothing_is_asked_without_items_or_time():
    assert minimise([], pytest.fail) == []
    assert minimise([[], []], pytest.fail) == [[], []]
    assert minimise([[1, 2]], pytest.fail, Deadline.after(0)) == [[1, 2]]


@given(needed=st.sets(st.integers(0, 12)), hard=st.integers(1, 13), open_items=st.sets(st.integers(0, 12)))
def test_provable_items_go_and_undecided_ones_stay(needed, hard, open_items):
    refuted = set()

    def list_spare(body, undecided):
        return sorted(body - refuted - set(undecided))

    def prove(body):
        gone = frozenset(range(13)) - body
        if open_items & gone or len(gone) > hard:
            return "undecided", body
        if needed & gone:
            refuted.update(needed & gone)
            return "refuted", body
        return "proved", body

    body, undecided = drop_provable(frozenset(range(13)), list_spare, prove)
    assert needed | open_items <= body
    assert body - needed <= {*undecided}
