"""The fast way from bits to numbers equals the readable one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary, bits
from hornbook.logic.bits import Values, as_numbers

DTYPES = ["f2", "f4", "f8", "i1", "i8"]


def readable(true, false, values, dtype):
    size = true.shape[1] * bits.WORD
    ones, zeros = bits.unpack(true, size), bits.unpack(false, size)
    return np.where(ones, values.true, np.where(zeros, values.false, values.unknown)).astype(dtype)


@st.composite
def words(draw):
    width, count = draw(st.integers(0, 21)), draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    true, false = rng.integers(0, 2**64, (2, width, count), dtype=np.uint64)
    return true, false & ~true


@given(words(), st.sampled_from(DTYPES), st.sampled_from("CF"), st.tuples(*[st.integers(-2, 2)] * 3))
def test_as_numbers_fast_equals_readable(pair, dtype, order, numbers):
    values = Values(*numbers)
    fast = as_numbers(*pair, values, dtype, order)
    assert fast.dtype == np.dtype(dtype)
    assert fast.size == 0 or fast.strides["FC".index(order)] == fast.itemsize
    np.testing.assert_array_equal(fast, readable(*pair, values, dtype))


@given(words(), st.sampled_from("CF"), st.sampled_from([np.nan, 0.5, -1, 0]))
def test_as_numbers_strided_words_and_any_unknown(pair, order, unknown):
    true, false = (matrix[:, ::-2] for matrix in pair)
    values = Values(1, 0, unknown)
    np.testing.assert_array_equal(
        as_numbers(true, false, values, "f4", order), readable(true, false, values, "f4")
    )


@given(st.integers(0, 200), st.integers(0, 9), st.integers(0, 2**32), st.sampled_from("CF"))
def test_as_numbers_arrays_come_back(size, width, seed, order):
    array = np.random.default_rng(seed).choice([0, 1, np.nan], (size, width))
    batch = Batch.from_array(array, Vocabulary(f"v{i}" for i in range(width)))
    np.testing.assert_array_equal(batch.to_array(order=order), array)


def test_as_numbers_what_is_given_can_be_written_to():
    batch = Batch.from_array([[1, 0]], Vocabulary("ab"[i] for i in range(2)))
    array = batch.to_array()
    array[0, 1] = 7
    assert batch.to_array()[0, 1] == 0


@pytest.mark.parametrize("unknown", [np.nan, 0.5])
def test_as_numbers_unknown_that_the_type_cannot_hold_is_refused(unknown):
    batch = Batch.from_array([[1]], Vocabulary(["a"]))
    with pytest.raises(HornbookError, match=r"int8 cannot hold \(1, 0, .*\) for true, false and unknown"):
        batch.to_array(unknown, np.int8)
