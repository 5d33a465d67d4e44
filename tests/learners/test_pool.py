"""The pool that weighs terms, against a dense table."""

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pools import PLAIN, VOCABULARIES, draw_arguments, filled_pool, has, met, rng, some_terms

from hornbook.distributions import Random
from hornbook.learners import coverage, items
from hornbook.learners.items import add_rows, all_but_one, count_bits, find_at_least, positions
from hornbook.learners.pool import Pool, impose_term, interpretation_of, term_of
from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, arrays, bits
from hornbook.queries import batch_from_terms, interpretation

ON_TENSORS = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
DEVICES = [None, pytest.param("cpu", marks=[pytest.mark.device, ON_TENSORS])]
"""NumPy's arrays, and tensors of the CPU, which run the same code as those of a GPU."""


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("size", [0, 1, 63, 64, 300])
def test_labelled_items_side_counts_what_a_dense_table_counts(vocabulary, size, device):
    pool = filled_pool(vocabulary, size, size, device=device)
    hypothesis = HornTheory(vocabulary, [Rule({0, 1}, BOTTOM), Rule({2}, 3)])
    pool.judge(hypothesis)
    for side in (pool.rejected, pool.accepted):
        batch = side.batch.to_host()
        is_open = hypothesis.satisfied_by(batch)
        assert (arrays.to_host(bits.flat(side.open, len(batch))) == is_open).all()
        for term in some_terms(vocabulary, size):
            expected = met(batch, term)
            assert (arrays.to_host(bits.flat(side.meeting(term), len(batch))) == expected).all()
            assert count_bits(side.meeting(term)) == expected.sum()
    missed = hypothesis.satisfied_by(pool.rejected.batch.to_host())
    assert pool.missed_positions().tolist() == np.flatnonzero(missed).tolist()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("most_packed", [0, 100, 3000], ids=["never", "some", "always"])
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_open_items_count_what_a_dense_table_counts(vocabulary, most_packed, device, monkeypatch):
    monkeypatch.setattr(items, "MAX_PACKED_ITEMS", most_packed)
    pool, width = filled_pool(vocabulary, 3000, device=device), len(vocabulary)
    pool.judge(HornTheory(vocabulary, [Rule({0}, BOTTOM)]))
    for number, fixed in enumerate(some_terms(vocabulary, 3)):
        side, variables = pool.accepted, rng(number).permutation(width)[: number % 5]
        batch = side.batch.to_host()
        is_open = met(batch, fixed) & arrays.to_host(bits.flat(side.open, len(batch)))
        found, dense = side.open_items(fixed), has(batch)[is_open, :width]
        lacking = ~dense[:, variables]
        assert found.size == len(dense)
        assert found.counts(np.arange(width)).tolist() == dense.sum(axis=0).tolist()
        assert found.counts_without(variables).tolist() == [
            (~np.delete(lacking, slice(at, at + 1), axis=1)).all(axis=1).sum()
            for at in range(len(variables) + 1)
        ]
        for at, row in enumerate(found.neighbours(variables)):
            lacked = np.arange(len(variables)) == at
            near = dense[(lacking == lacked).all(axis=1)]
            assert row.tolist() == [*near.sum(axis=0), len(near)]
        assert found.having(variables).size == (~lacking).all(axis=1).sum()
        for most in range(len(variables) + 2):
            chosen = dense[lacking.sum(axis=1) <= most]
            few = found.lacking_at_most(most, variables)
            assert few.size == len(chosen)
            assert few.counts(np.arange(width)).tolist() == chosen.sum(axis=0).tolist()


@pytest.mark.parametrize("device", DEVICES)
def test_a_pool_forgets_the_oldest(device):
    pool = Pool(PLAIN, limit=100, device=device)
    batch = Random(PLAIN).draw(250, rng())
    for part in batch.blocks(64):
        pool.add(part, np.ones(len(part), np.bool_))
    kept, width = pool.accepted, len(PLAIN)
    assert sorted(kept.batch.to_host(), key=repr) == sorted(batch[150:], key=repr)
    assert len(pool.rejected.batch) == 0
    by_item = bits.unpack_rows(arrays.to_host(kept.items), width)
    np.testing.assert_array_equal(by_item, bits.unpack(arrays.to_host(kept.rows[:width]), 100))


def test_pool_what_was_given_up_is_not_offered_again():
    pool = Pool(PLAIN)
    narrow, wide = Interpretation(frozenset({0}), frozenset({1})), Interpretation(frozenset({0}))
    pool.add(Batch.from_interpretations([narrow, wide], PLAIN), np.zeros(2, np.bool_))
    nothing = HornTheory(PLAIN)
    assert pool.first_missed(nothing) == narrow
    pool.give_up(narrow)
    assert pool.first_missed(nothing) == wide
    pool.give_up(wide)
    assert pool.first_missed(nothing) is None


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_impose_term_makes_items_meet_the_term_and_changes_nothing_else(vocabulary):
    batch = Random(vocabulary).draw(130, rng())
    for term in ([], [0], [1, len(vocabulary) + 2]):
        term = np.array(term, np.intp)
        made = impose_term(batch, term)
        assert met(made, term).all()
        assert not (made.true & made.false).any()
        touched = {v for literal in term.tolist() for v in (literal % len(vocabulary),)}
        touched |= {vocabulary.dual(v) for v in touched}
        same = [v for v in range(len(vocabulary)) if v not in touched]
        assert (made.true[same] == batch.true[same]).all() and (made.false[same] == batch.false[same]).all()
        for v, w in vocabulary.pairs:
            assert (made.true[v] == made.false[w]).all() and (made.true[w] == made.false[v]).all()


@pytest.mark.parametrize("device", DEVICES)
def test_impose_term_nearest_accepted_items_lack_the_least(device):
    pool = filled_pool(PLAIN, device=device)
    term = np.array([0, 1, 8 + 2, 8 + 5])
    near = pool.accepted_nearest(term, 20)
    batch = pool.accepted.batch.to_host()
    lacking = (~has(batch)[:, term]).sum(axis=1)
    expected = impose_term(batch[np.argsort(lacking, kind="stable")[:20]], term)
    assert near == expected and met(near, term).all()
    assert len(pool.accepted_nearest(term, 10_000)) == len(pool.accepted.batch)


@given(st.integers(0, 8), st.integers(0, 2**32 - 1))
def test_all_but_one(rows, seed):
    words = rng(seed).integers(0, 2**64, (rows, 3), np.uint64)
    start = rng(seed + 1).integers(0, 2**64, 3, np.uint64)
    found = all_but_one(words, start)
    assert len(found) == rows + 1
    for at, row in enumerate(found):
        others = np.delete(words, slice(at, at + 1), axis=0)
        assert (row == np.bitwise_and.reduce(np.concatenate([others, start[None]]), axis=0)).all()


@given(st.integers(0, 20), st.integers(0, 2**32 - 1))
def test_add_rows_and_find_at_least_count_the_rows_of_each_item(rows, seed):
    words = rng(seed).integers(0, 2**64, (rows, 2), np.uint64)
    times = bits.unpack_rows(words, 128).sum(axis=0)
    digits = [bits.flat(digit, 128) for digit in add_rows(words)]
    assert (sum((digit * 2**place for place, digit in enumerate(digits)), np.zeros(128)) == times).all()
    for least in range(-1, rows + 3):
        found = find_at_least(words, least)
        assert (bits.flat(found, 128) == (times >= least)).all()
        assert positions(found).tolist() == np.flatnonzero(times >= least).tolist()


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_asked_equals_interpretation_item_by_item(vocabulary):
    width = len(vocabulary)
    terms = np.zeros((2 * width, 200), np.bool_)
    generator, items = rng(), []
    for column in terms.T:
        values = generator.choice(3, width, p=[0.2, 0.2, 0.6])
        for v, w in vocabulary.pairs:
            values[generator.choice([v, w])] = 2  # one of a pair at most, so that nothing conflicts
        column[:width], column[width:] = values == 1, values == 0
        items.append(
            interpretation(vocabulary, np.flatnonzero(values == 1).tolist(), np.flatnonzero(values == 0))
        )
    assert batch_from_terms(vocabulary, terms) == Batch.from_interpretations(items, vocabulary)
    assert len(batch_from_terms(vocabulary, terms[:, :0])) == 0


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_term_of_is_the_inverse_of_interpretation_of(vocabulary):
    for item in Random(vocabulary).draw(20, rng()):
        term = term_of(item, len(vocabulary))
        assert interpretation_of(term, len(vocabulary)) == item
        assert met(Batch.from_interpretations([item], vocabulary), term).all()


ON_DEVICE = {
    "intersect_rows": items.intersect_rows,
    "count_in_rows": items.count_in_rows,
    "count_all_but_one": items.count_all_but_one,
    "find_lacking_at_most": items.find_lacking_at_most,
    "count_neighbours": items.count_neighbours,
    "take_items": items.take_items,
    "count_sole": coverage.count_sole,
}


@ON_TENSORS
@pytest.mark.device
@pytest.mark.parametrize("name", ON_DEVICE)
@given(
    seed=st.integers(0, 2**32 - 1),
    width=st.sampled_from([1, 2, 17, 64, 130]),
    size=st.sampled_from([1, 63, 64, 700]),
    density=st.sampled_from([0.1, 0.6, 0.97]),
)
def test_pooled_items_are_counted_on_a_device_as_on_the_cpu(name, seed, width, size, density):
    count = ON_DEVICE[name].__wrapped__
    arguments = draw_arguments(name, rng(seed), width, size, density)
    there = [
        arrays.on_device(each, "cpu") if getattr(each, "dtype", None) == np.uint64 else each
        for each in arguments
    ]
    here = count(*arguments)
    found = arrays.to_host(count(*there))
    assert found.dtype == here.dtype
    np.testing.assert_array_equal(found, here)
