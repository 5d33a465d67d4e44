"""Batches: the bit-sliced layout behaves as the array it stands for."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logic_strategies import batches, random_values

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Interpretation, Vocabulary, bits

V3 = Vocabulary(["a", "b", "c"])
sizes = st.integers(0, 300)


@given(sizes, st.integers(0, 1000), st.integers(1, 9))
def test_batch_array_comes_back_as_it_was(size, seed, width):
    values = random_values(size, seed, width)
    batch = Batch.from_array(values, Vocabulary(map(str, range(width))))
    np.testing.assert_array_equal(batch.to_array(), values)
    assert len(batch) == size


@given(batches(V3), st.slices(200))
def test_batch_slices_are_slices_of_the_array(batch, key):
    np.testing.assert_array_equal(batch[key].to_array(), batch.to_array()[key])


@given(batches(V3), st.data())
def test_batch_any_choice_of_items_can_be_taken(batch, data):
    chosen = data.draw(st.lists(st.integers(0, len(batch) - 1), max_size=150)) if len(batch) else []
    taken = batch[np.array(chosen, int)]
    np.testing.assert_array_equal(taken.to_array(), batch.to_array()[np.array(chosen, int)])
    mask = np.zeros(len(batch), bool)
    mask[chosen] = True
    np.testing.assert_array_equal(batch[mask].to_array(), batch.to_array()[mask])


@given(st.lists(batches(V3, 150), min_size=1, max_size=5))
def test_batch_concatenating_is_concatenating_arrays(parts):
    whole = Batch.concatenate(parts)
    np.testing.assert_array_equal(whole.to_array(), np.concatenate([part.to_array() for part in parts]))


@given(batches(V3))
def test_batch_iterating_and_indexing_give_sets(batch):
    items = list(batch)
    assert items == [batch[i] for i in range(len(batch))]
    again = Batch.from_interpretations(items, V3)
    assert pickle.loads(pickle.dumps(again)) == again == batch
    assert again.masks == batch.masks == [(bits.mask(item.true), bits.mask(item.false)) for item in items]


@given(batches(V3))
def test_equal_batches_have_equal_words(batch):
    """Spare bits are zero however a batch was made."""
    rebuilt = Batch.concatenate([batch[: len(batch) // 3], batch[len(batch) // 3 :]])
    assert rebuilt == batch == Batch.from_array(batch.to_array(), V3)


def test_batch_last_item_can_be_counted_from_the_end():
    batch = Batch.from_array([[1, 0, np.nan], [0, 0, 1]], V3)
    assert batch[-1] == Interpretation(frozenset({2}), frozenset({0, 1}))
    with pytest.raises(IndexError):
        batch[2]


def test_batch_two_bits_a_value():
    batch = Batch.from_array(np.zeros((6400, 3)), V3)
    assert batch.true.nbytes + batch.false.nbytes == 6400 * 3 * 2 / 8


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ([[1, 0, 0.5]], r"row 0, variable 'c': 0.5 is not 0, 1, NaN"),
        ([[1, 0, 0], [0, np.inf, 1]], r"row 1, variable 'b': inf"),
        ([[1, 0]], r"expected an array of shape \(k, 3\), one column a variable; got \(1, 2\)"),
        ([1, 0, 0], r"got \(3,\)"),
        ([["yes", "no", "no"]], r"expected numbers 0, 1 and NaN"),
        ([[1, 0], [1]], r"expected numbers 0, 1 and NaN"),
    ],
)
def test_batch_bad_arrays_are_refused(array, message):
    with pytest.raises(HornbookError, match=message):
        Batch.from_array(array, V3)


def test_batch_bad_rows_are_named_beyond_the_first_block():
    values = np.zeros((40_000, 3))
    values[33_333, 1] = 7
    with pytest.raises(HornbookError, match=r"row 33333, variable 'b': 7.0"):
        Batch.from_array(values, V3)


def test_an_interpretation_cannot_be_both_true_and_false():
    with pytest.raises(HornbookError, match=r"interpretation 0 makes \('b',\) both true and false"):
        Batch.from_interpretations([Interpretation(frozenset({1}), frozenset({1}))], V3)


def test_an_interpretation_has_no_variable_outside_its_vocabulary():
    with pytest.raises(HornbookError, match="interpretation 0 has a variable outside the 3 names"):
        Batch.from_interpretations([Interpretation(frozenset({3}))], V3)


@given(st.lists(st.integers(0, 2**70 - 1), max_size=70))
def test_from_masks_is_undone_by_to_masks(masks):
    words = bits.from_masks(masks, 70)
    assert words.shape == (70, bits.words_for(len(masks)))
    assert bits.to_masks(words, len(masks)) == masks


def test_batches_over_other_vocabularies_do_not_mix():
    other = Batch.from_array([[1.0]], Vocabulary(["x"]))
    with pytest.raises(HornbookError, match="different vocabularies"):
        Batch.concatenate([Batch.from_array([[1, 0, 0]], V3), other])
    with pytest.raises(HornbookError, match="nothing to concatenate"):
        Batch.concatenate([])
