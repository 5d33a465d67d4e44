"""The pool that weighs terms, against a dense table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pools import PLAIN, VOCABULARIES, filled_pool, has, met, rng, some_terms

from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, bits
from hornbook.queries import Random, interpretation
from hornbook.queries.pool import (
    Pool,
    all_but_one,
    count_bits,
    impose_term,
    interpretation_of,
    positions,
    term_of,
)
from hornbook.queries.protocol import batch_from_terms


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("size", [0, 1, 63, 64, 300])
def test_labelled_items_side_counts_what_a_dense_table_counts(vocabulary, size):
    pool = filled_pool(vocabulary, size, size)
    hypothesis = HornTheory(vocabulary, [Rule({0, 1}, BOTTOM), Rule({2}, 3)])
    pool.judge(hypothesis)
    for side in (pool.rejected, pool.accepted):
        batch = side.batch
        is_open = hypothesis.satisfied_by(batch)
        assert (bits.flat(side.open, len(batch)) == is_open).all()
        for term in some_terms(vocabulary, size):
            expected = met(batch, term)
            assert (bits.flat(side.meeting(term), len(batch)) == expected).all()
            assert count_bits(side.meeting(term)) == expected.sum()
    missed = hypothesis.satisfied_by(pool.rejected.batch)
    assert pool.missed_positions().tolist() == np.flatnonzero(missed).tolist()


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_open_items_count_what_a_dense_table_counts(vocabulary):
    pool, width = filled_pool(vocabulary, 3000), len(vocabulary)
    pool.judge(HornTheory(vocabulary, [Rule({0}, BOTTOM)]))
    for number, fixed in enumerate(some_terms(vocabulary, 3)):
        side, variables = pool.accepted, rng(number).permutation(width)[: number % 5]
        batch = side.batch
        is_open = met(batch, fixed) & bits.flat(side.open, len(batch))
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


def test_a_pool_forgets_the_oldest():
    pool = Pool(PLAIN, limit=100)
    batch = Random(PLAIN).draw(250, rng())
    for part in batch.blocks(64):
        pool.add(part, np.ones(len(part), np.bool_))
    kept, width = pool.accepted, len(PLAIN)
    assert sorted(kept.batch, key=repr) == sorted(batch[150:], key=repr)
    assert len(pool.rejected.batch) == 0
    by_item = bits.unpack_rows(kept.items, width)
    np.testing.assert_array_equal(by_item, bits.unpack(kept.rows[:width], 100))


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


def test_impose_term_nearest_accepted_items_lack_the_least():
    pool = filled_pool(PLAIN)
    term = np.array([0, 1, 8 + 2, 8 + 5])
    near = pool.accepted_nearest(term, 20)
    batch = pool.accepted.batch
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


@given(st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_positions_are_those_of_the_set_bits(words, seed):
    mask = rng(seed).integers(0, 2**64, words, np.uint64)
    assert positions(mask).tolist() == np.flatnonzero(bits.flat(mask, 64 * words)).tolist()


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
