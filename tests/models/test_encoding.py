"""What a model reads for 1, 0 and ?."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary
from hornbook.models import ENCODINGS, Encoding

VOCABULARY = Vocabulary(["sunny", "happy", "jogging", "tired", "hungry"])


def batch_of(seed, size, values=(0, 1, np.nan)):
    array = np.random.default_rng(seed).choice(np.array(values, float), (size, len(VOCABULARY)))
    return array, Batch.from_array(array, VOCABULARY)


def readable(encoding, array):
    if encoding.channels == 2:
        return np.where(np.hstack([array == 1, array == 0]), encoding.true, encoding.false)
    unknown = encoding.false if encoding.unknown is None else encoding.unknown
    return np.where(array == 1, encoding.true, np.where(array == 0, encoding.false, unknown))


@given(
    st.sampled_from(sorted(set(ENCODINGS) - {"complete"})),
    st.integers(0, 2**32),
    st.integers(0, 300),
    st.sampled_from([np.float16, np.float32, np.float64]),
    st.sampled_from("CF"),
)
def test_encoding_equals_the_readable_one(name, seed, size, dtype, order):
    array, batch = batch_of(seed, size)
    encoding = Encoding.named(name)
    encoded = encoding.encode(batch, dtype, order)
    assert encoded.dtype == dtype
    assert encoded.shape == (size, encoding.inputs(len(VOCABULARY)))
    np.testing.assert_array_equal(encoded, readable(encoding, array))


@given(st.integers(0, 2**32), st.integers(0, 300))
def test_encoding_complete_inputs_are_encoded(seed, size):
    array, batch = batch_of(seed, size, (0, 1))
    np.testing.assert_array_equal(ENCODINGS["complete"].encode(batch), array)


@given(st.integers(0, 2**32), st.integers(1, 300), st.data())
def test_encoding_complete_refuses_an_unknown_and_says_where(seed, size, data):
    array, _ = batch_of(seed, size, (0, 1))
    row = data.draw(st.integers(0, size - 1))
    array[row, 3] = np.nan
    with pytest.raises(HornbookError, match=f"row {row}, variable 'tired': .* completions"):
        ENCODINGS["complete"].encode(Batch.from_array(array, VOCABULARY))


def test_equal_encodings_compare_equal_even_with_nan():
    assert Encoding(unknown=np.nan) == Encoding(unknown=float("nan")) == ENCODINGS["nan"]
    assert hash(Encoding(unknown=np.float64("nan"))) == hash(ENCODINGS["nan"])


def test_encoding_only_complete_is_not_native():
    assert [name for name, encoding in ENCODINGS.items() if not encoding.native] == ["complete"]


def test_encoding_whole_numbers_fit_integer_inputs_and_others_do_not():
    array, batch = batch_of(0, 9)
    encoded = Encoding(unknown=-1).encode(batch, np.int64)
    np.testing.assert_array_equal(encoded, np.nan_to_num(array, nan=-1))
    for unknown in (0.5, np.nan):
        with pytest.raises(HornbookError, match="int64 cannot hold"):
            Encoding(unknown=unknown).encode(batch, np.int64)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Encoding(channels=3), "1 or 2 channels, not 3"),
        (lambda: Encoding(channels=2), "unknown is 0.0, not 0.5"),
        (lambda: Encoding(unknown=None, channels=2), "unknown is 0.0, not None"),
        (lambda: Encoding.named("quarter"), "choose one of half, signed, two-channel, nan, complete"),
    ],
)
def test_bad_encodings(make, message):
    with pytest.raises(HornbookError, match=message):
        make()
