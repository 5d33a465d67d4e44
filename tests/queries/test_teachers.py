"""The difficult teachers are difficult in the way they say."""

import time

import numpy as np
import pytest
from difficult_teachers import Coin, Constant, Failing, Mistaken, Network, Noisy, Slow

from hornbook.logic import HornTheory, Vocabulary
from hornbook.queries import Random
from hornbook.statistics import Share

THEORY = HornTheory.parse(
    "a & b -> c\nc & d -> false", Vocabulary([f"x{i}" for i in range(20)] + list("abcd"))
)
BATCH = Random(THEORY.vocabulary).draw(20_000, np.random.default_rng(0))


def rng(seed=0):
    return np.random.default_rng(seed)


def flipped(teacher):
    return teacher(BATCH) != THEORY.satisfied_by(BATCH)


def in_interval(hits, share):
    interval = Share.of(int(hits.sum()), len(hits), 0.999999)
    return interval.low < share < interval.high


@pytest.mark.parametrize("answer", [True, False])
def test_constant(answer):
    assert (Constant(answer)(BATCH) == answer).all()


def test_a_coin_forgets():
    coin = Coin(rng(), 0.3)
    first, second = coin(BATCH), coin(BATCH)
    assert in_interval(first, 0.3) and in_interval(second, 0.3)
    assert (first != second).any()


def test_noise_is_fresh_and_mistakes_are_fixed():
    noisy, mistaken = Noisy(THEORY.satisfied_by, rng()), Mistaken(THEORY.satisfied_by, seed=0)
    for teacher in (noisy, mistaken):
        assert in_interval(flipped(teacher), 0.01)
    assert (flipped(noisy) != flipped(noisy)).any()
    assert (flipped(mistaken) == flipped(mistaken)).all()
    order = rng(1).permutation(len(BATCH))
    assert (mistaken(BATCH[order]) == mistaken(BATCH)[order]).all()
    assert (flipped(Mistaken(THEORY.satisfied_by, seed=1)) != flipped(mistaken)).any()


def test_a_network_accepts_the_share_it_was_made_for():
    network = Network(Random(THEORY.vocabulary), rng(), accepted=0.8)
    assert abs(network(BATCH).mean() - 0.8) < 0.03


def test_a_failing_teacher_fails_at_its_question():
    failing = Failing(THEORY.satisfied_by, at=1000)
    for _ in range(9):
        assert (failing(BATCH[:111]) == THEORY.satisfied_by(BATCH[:111])).all()
    with pytest.raises(RuntimeError, match="broke at question 1000"):
        failing(BATCH[:1])


def test_a_slow_teacher_takes_its_time():
    start = time.perf_counter()
    assert (Slow(THEORY.satisfied_by, 0.05)(BATCH) == THEORY.satisfied_by(BATCH)).all()
    assert time.perf_counter() - start >= 0.05
