"""The sweep over missing values: what varies, what does not, and what comes out."""

from dataclasses import replace

import numpy as np
import pytest

from hornbook.errors import HornbookError
from hornbook.logic import HornTheory, Vocabulary
from hornbook.paper import HARD_PROTOCOL
from hornbook.paper.networks import Net
from hornbook.paper.settings import Sweep
from hornbook.paper.task import PAPER_PROTOCOL, draw_training_set

VOCABULARY = Vocabulary.with_duals([f"v{v}" for v in range(12)])
THEORY = HornTheory.parse(
    "v0 & v1 & v2 -> v3\nv4 & not_v5 & v6 -> not_v7\nv8 & v9 -> v10", VOCABULARY
) | HornTheory.background(VOCABULARY)
SWEEP = Sweep((0.0, 0.5), 1.0, Net((16, 8), 0.1), tested=100, queries=3, size=2000)
PROTOCOL = replace(HARD_PROTOCOL, epochs=30)


@pytest.fixture(scope="module")
def points():
    return SWEEP.run(THEORY, PROTOCOL, 0, 1000)


def test_a_point_for_each_share(points):
    assert [point["missing"] for point in points] == [0.0, 0.5]
    for point in points:
        assert 0.6 < point["common"] <= 1
        assert 0 <= point["t_h"] <= 1 and 0 <= point["h_nn"] <= 1


def test_sweep_only_what_a_rule_leaves_open_is_unknown(points):
    """Of 12 pairs a violated rule fixes 3 or 4; half of the others are unknown."""
    assert points[0]["unknown"] == 0
    assert points[1]["unknown"] == pytest.approx(0.5 * (12 - 11 / 3) / 12, abs=0.03)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_sweep_classes_are_balanced_in_number_and_in_unknown_values(share):
    recipe = SWEEP.recipe(THEORY, share)
    examples = draw_training_set(THEORY, recipe, np.random.default_rng(0))
    assert examples.accepted.sum() == len(examples) / 2
    unknown = np.isnan(examples.batch.to_array()).mean(axis=1)
    accepted, rejected = unknown[examples.accepted].mean(), unknown[~examples.accepted].mean()
    assert accepted == pytest.approx(rejected, abs=0.05)


def test_sweep_violates_the_rules_that_leave_most_open():
    recipe = replace(SWEEP, patients=0.3).recipe(THEORY, 0.5)
    assert [len(rule.body) for rule in recipe.rejected.rules] == [2]
    assert (
        draw_training_set(THEORY, replace(recipe, sizes=(5, 5)), np.random.default_rng(0)).accepted.sum() == 5
    )


def test_sweep_is_decided_by_its_seed(points):
    assert SWEEP.run(THEORY, PROTOCOL, 0, 1000) == points
    assert SWEEP.run(THEORY, replace(PAPER_PROTOCOL, epochs=30), 0, 1000) != points


@pytest.mark.parametrize("wrong", [{"shares": ()}, {"tested": 0}], ids=str)
def test_a_sweep_over_nothing(wrong):
    with pytest.raises(HornbookError, match="a sweep needs"):
        Sweep(**wrong)


def test_sweep_share_that_is_none():
    with pytest.raises(HornbookError, match="between 0 and 1"):
        Sweep(shares=(1.5,)).run(THEORY, PROTOCOL, 0, 1000)
