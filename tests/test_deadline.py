"""The clock: what is left and what has passed are one time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.deadline import NO_DEADLINE, Deadline

SECONDS = st.floats(0, 1e6)


@given(SECONDS, SECONDS, SECONDS)
def test_elapsed_and_left_add_up_to_the_limit_until_it_has_passed(start, limit, wait):
    clock = [start]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.monotonic", lambda: clock[0])
        deadline = Deadline.after(limit)
        clock[0] += wait
        assert deadline.passed == (deadline.elapsed >= limit) == (not deadline.left)
        assert deadline.left == max(0, limit - deadline.elapsed)
        assert Deadline.after(None).left == NO_DEADLINE.left == float("inf")
