"""What a model reads for 1, 0 and ?."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Interpretation, Vocabulary
from hornbook.models import ENCODINGS, Encoding
from hornbook.queries.protocol import interpretation

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


@given(st.integers(0, 2**32), st.integers(1, 200), st.sampled_from("CF"))
def test_encoding_zero_is_the_vector_of_what_is_true_and_a_false_variable_has_a_true_dual(seed, size, order):
    """The vector of a paper: 1 where a variable is in the interpretation, 0 otherwise."""
    vocabulary = Vocabulary(["a", "not_a", "b", "lone", "not_b"], {"a": "not_a", "b": "not_b"})
    array = np.random.default_rng(seed).choice([0, 1, np.nan], (size, 5))
    dual = [1, 0, 4, 3, 2]
    expected = np.where((array[:, dual] == 0) & (np.arange(5) != 3), 1.0, array == 1)
    encoded = ENCODINGS["zero"].encode(Batch.from_array(array, vocabulary), order=order)
    np.testing.assert_array_equal(encoded, expected)


@pytest.mark.parametrize("name", ["zero", "half", "signed", "two-channel", "nan"])
def test_encodings_tell_the_question_whether_a_entails_u_from_whether_it_is_contradictory(name):
    """(A, {u}) and (A, ∅) differ as vectors, though a false u and an unknown one are both 0 by `zero`."""
    vocabulary = Vocabulary.with_duals(["a", "b", "u"])
    for u in vocabulary.variables(["u", "not_u"]):
        for A in ({0}, {0, 1}, {0, 4}):
            questions = [
                interpretation(vocabulary, A, {u}),
                interpretation(vocabulary, A),
                Interpretation(frozenset(A), frozenset({u})),
            ]
            entails, contradicts, bare = ENCODINGS[name].encode(
                Batch.from_interpretations(questions, vocabulary)
            )
            assert not np.array_equal(entails, contradicts, equal_nan=True)
            assert not np.array_equal(bare, contradicts, equal_nan=True)


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
        (lambda: Encoding.named("quarter"), "choose one of zero, half, signed, two-channel, nan, complete"),
    ],
)
def test_bad_encodings(make, message):
    with pytest.raises(HornbookError, match=message):
        make()
