"""Coherence: formulas never contradict themselves, and networks do."""

import numpy as np
import pytest
from difficult_teachers import Constant, Network
from hypothesis import given
from laws import draw_examples
from logic_strategies import theories

from hornbook.errors import HornbookError
from hornbook.logic import HornTheory, Vocabulary
from hornbook.queries import Random, measure_coherence

VOCABULARY = Vocabulary.with_duals([f"x{i}" for i in range(10)])


def rng(seed=0):
    return np.random.default_rng(seed)


@draw_examples(0.75)
@given(theories(max_variables=4))
def test_measure_coherence_theory_does_not_contradict_itself(theory):
    report = measure_coherence(theory.satisfied_by, Random(theory.vocabulary), 100, 200, rng=rng())
    assert report.rejected.hits == report.accepted.hits == 0


def test_measure_coherence_network_contradicts_itself():
    network = Network(Random(VOCABULARY), rng(1), accepted=0.5)
    report = measure_coherence(network, Random(VOCABULARY, 0.8), 5000, 16, rng=rng())
    assert report.rejected.hits and report.accepted.hits
    assert 0 < report.rate.low < report.rate.estimate < report.rate.high


def test_measure_coherence_only_partial_interpretations_count():
    distribution = Random(VOCABULARY, 0.1)
    report = measure_coherence(Constant(True), distribution, 3000, 3, rng=rng())
    assert 0 < report.accepted.size < 3000 and report.rejected.size == 0
    assert report.rate.hits == 0
    none = measure_coherence(Constant(False), Random(VOCABULARY, 0.0), 100, 3, rng=rng())
    assert none.rate.size == 0


def test_measure_coherence_teacher_that_accepts_the_unknown_only_is_found_out():
    def member(batch):
        return np.isnan(batch.to_array()).any(axis=1)

    report = measure_coherence(member, Random(VOCABULARY), 500, 4, rng=rng())
    assert report.accepted.hits == report.accepted.size > 0
    assert "none of 4 completions is: 100.00 %" in str(report)


def test_measure_coherence_groups_are_respected():
    groups = ((0, 1, 2),)
    theory = HornTheory.parse("x0 & x1 -> false\nx0 & x2 -> false\nx1 & x2 -> false", VOCABULARY)

    def member(batch):
        assert theory.satisfied_by(batch).all()
        return np.ones(len(batch), np.bool_)

    measure_coherence(member, Random(VOCABULARY, 0.3, groups), 500, 10, rng=rng(), groups=groups)


def test_measure_coherence_no_completions_are_refused():
    with pytest.raises(HornbookError, match="at least one is tried; got 0"):
        measure_coherence(Constant(True), Random(VOCABULARY), 10, 0, rng=rng())
