"""The sweep over missing values: what varies, what does not, and what comes out."""

from dataclasses import replace

import numpy as np
import pytest

from hornbook.errors import HornbookError
from hornbook.logic import Batch, HornTheory, Vocabulary
from hornbook.paper import HARD_PROTOCOL, Sweep
from hornbook.paper.missing import accuracy
from hornbook.queries import MLP, Examples, Net

VOCABULARY = Vocabulary.with_duals([f"v{v}" for v in range(12)])
THEORY = HornTheory.parse(
    "v0 & v1 & v2 -> v3\nv4 & not_v5 & v6 -> not_v7\nv8 & v9 -> v10", VOCABULARY
) | HornTheory.background(VOCABULARY)
SWEEP = Sweep(shares=(0.0, 0.5), net=Net((16, 8), 0.1), tested=100, seeds=(0, 1))
PROTOCOL = replace(HARD_PROTOCOL, epochs=30)


@pytest.fixture(scope="module")
def points():
    return SWEEP.run(THEORY, PROTOCOL)


def test_a_point_for_each_share_and_an_accuracy_for_each_seed(points):
    assert [point.missing for point in points] == [0.0, 0.5]
    for point in points:
        assert len(point.own) == len(point.common) == 2
        assert all(0.6 < accuracy <= 1 for accuracy in (*point.own, *point.common))


def test_sweep_only_what_a_rule_leaves_open_is_unknown(points):
    """Of 12 pairs a violated rule fixes 3 or 4; half of the others are unknown."""
    assert points[0].unknown == 0
    assert points[1].unknown == pytest.approx(0.5 * (12 - 11 / 3) / 12, abs=0.03)


def test_the_sweep_is_decided_by_its_seeds(points):
    assert SWEEP.run(THEORY, PROTOCOL) == points


def test_accuracy_counts_right_answers():
    vocabulary = Vocabulary(["v"])
    network = MLP.of([(np.array([[2.0]]), np.array([-1.0]))], vocabulary)
    batch = Batch.from_array([[1], [0], [1], [0]], vocabulary)
    examples = Examples(batch, np.array([True, True, True, False]), np.full(4, "row"))
    assert accuracy(network, examples) == 0.75


@pytest.mark.parametrize("wrong", [{"shares": ()}, {"seeds": ()}, {"tested": 0}], ids=str)
def test_a_sweep_over_nothing(wrong):
    with pytest.raises(HornbookError, match="a sweep needs"):
        Sweep(**wrong)


def test_sweep_share_that_is_none():
    with pytest.raises(HornbookError, match="between 0 and 1"):
        Sweep(shares=(1.5,)).run(THEORY, PROTOCOL)
