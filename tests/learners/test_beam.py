"""The search for terms, against looking at every term."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook.learners import cover as covering
from hornbook.learners.beam import OFFERS, Stakes, offered
from hornbook.learners.cover import Cover, Worth
from hornbook.learners.pool import true_bits_by_item
from hornbook.logic import Batch, Vocabulary

WIDTH = 70
"""More than one word of variables."""


def stakes(seed, sizes=(40, 90), worths=(1.0, -1.0), width=WIDTH):
    """Random samples of some worths, as the search has them and as an array."""
    rng = np.random.default_rng(seed)
    values = [rng.integers(0, 2, (size, width)) for size in sizes]
    vocabulary = Vocabulary([f"v{i}" for i in range(width)])
    samples = tuple(true_bits_by_item(Batch.from_array(part, vocabulary)) for part in values)
    return Stakes(samples, np.array(worths), width), values


def gain_of(term, values, worths, cost):
    met = (
        worth * (part[:, sorted(term)] == 1).all(axis=1).sum()
        for part, worth in zip(values, worths, strict=True)
    )
    return sum(met) - cost * len(term)


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(0, WIDTH - 1), st.integers(0, 20_000))
def test_samples_are_counted_by_variable(seed, literal, size):
    found, values = stakes(seed, (size, 3))
    met = [part[part[:, literal] == 1] for part in values]
    np.testing.assert_array_equal(found.counts(), [part.sum(axis=0) for part in values])
    np.testing.assert_array_equal(found.meeting(literal).sizes, [len(part) for part in met])
    np.testing.assert_array_equal(found.meeting(literal).counts(), [part.sum(axis=0) for part in met])


@settings(max_examples=50)
@given(
    st.integers(0, 1000),
    st.lists(st.sampled_from([1.05, 1.0, -0.05, -1.0, -4.0]), min_size=1, max_size=4),
    st.sampled_from([0.0, 0.5, 3.0]),
)
def test_offers_gain_and_the_best_come_first(seed, worths, cost):
    found, values = stakes(seed, [30] * len(worths), worths, 8)
    gains = [gain_of(term, values, worths, cost) for term in offered(found, cost)]
    assert gains == pytest.approx(sorted(gains, reverse=True))
    assert len(gains) <= OFFERS
    assert all(gain > 0 for gain in gains)
    singles = max(gain_of({v}, values, worths, cost) for v in range(8))
    assert not gains or gains[0] >= singles - 1e-9
    assert gains or singles <= 1e-9


@settings(max_examples=50)
@given(st.integers(0, 1000), st.sets(st.integers(0, 7), min_size=1, max_size=4))
def test_no_term_one_literal_away_is_better_than_the_best_offer(seed, near):
    worths, cost = (1.0, -1.0), 0.1
    found, values = stakes(seed, (60, 60), worths, 8)
    dropped = [near - {v} for v in near if len(near) > 1]
    exchanged = [near - {v} | {w} for v in near for w in range(8)]
    best = max(gain_of(term, values, worths, cost) for term in [*dropped, *exchanged] if term)
    gains = [gain_of(term, values, worths, cost) for term in offered(found, cost, frozenset(near))]
    assert best <= 0 or gains[0] >= best - 1e-9


def test_a_conjunction_that_no_part_of_gives_away_is_found():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, (4000, 12))
    label = values[:, :3].all(axis=1)
    vocabulary = Vocabulary([f"v{i}" for i in range(12)])
    samples = tuple(
        true_bits_by_item(Batch.from_array(values[label == head], vocabulary)) for head in (True, False)
    )
    best, *_ = offered(Stakes(samples, np.array([1.0, -1.0]), 12), 0.1)
    assert best == frozenset({0, 1, 2})
    gains = {
        pair: gain_of(pair, (values[label], values[~label]), (1, -1), 0.1)
        for pair in combinations(range(12), 2)
    }
    assert max(gains.values()) < gain_of(best, (values[label], values[~label]), (1, -1), 0.1)


@pytest.mark.parametrize("part", [64, 200, 1 << 17])
def test_rules_found_on_a_part_are_judged_by_all_samples(monkeypatch, part):
    monkeypatch.setattr(covering, "PART", part)
    rng = np.random.default_rng(1)
    values = rng.integers(0, 2, (500, 6))
    labels = (values[:, :2].all(axis=1) | values[:, 2:4].all(axis=1)) ^ (rng.random(500) < 0.1)
    cover = Cover(
        Batch.from_array(values, Vocabulary([f"v{i}" for i in range(6)])), labels, Worth(False, 1.05, -0.05)
    )
    for _ in range(4):
        gain, found = cover.best()
        if found is not None:
            assert gain == pytest.approx(cover.gain(found))
            assert gain > 0
            cover.add(found)
    bodies = {body for body, head in cover.rules if head}
    assert {frozenset({0, 1}), frozenset({2, 3})} <= bodies


def test_another_part_is_searched_after_every_rule_and_every_sweep(monkeypatch):
    monkeypatch.setattr(covering, "PART", 100)
    values = np.random.default_rng(0).integers(0, 2, (640, 3))
    cover = Cover(
        Batch.from_array(values, Vocabulary(["a", "b", "c"])), values[:, 0] == 1, Worth(None, 1, -1)
    )
    seen = []
    for _ in range(3):
        seen.append(cover._part())
        cover.add((frozenset({0}), True))
        seen.append(cover._part())
        cover.sweep()
    assert [(part.start, part.stop) for part in seen] == [(0, 1), (1, 3), (3, 5), (5, 6), (6, 8), (8, 10)]
