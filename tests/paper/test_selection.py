"""Choosing a net: finalists are scored again, and fresh examples play no part in the choice."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hornbook.errors import HornbookError
from hornbook.paper import (
    HARD_PROTOCOL,
    ModelSelection,
    Task,
    draw_training_set,
    grid,
    score_nets,
    select_network,
)
from hornbook.queries import Examples, Net, Training, binarise_table, train
from hornbook.tables import load_dataset

NETS = grid(depths=(1, 2), widths=(4, 16), rates=(0.01, 0.1))
CONTEST = ModelSelection(NETS, Training(epochs=25), finalists=4, seeds=2, seed=3)


@pytest.fixture(scope="module")
def patients():
    table = load_dataset("hcc-synthetic")
    _, rows = binarise_table(table, dual=True)
    theory = Task.of(table).theory
    recipe = replace(HARD_PROTOCOL, sizes=(60, 60)).recipe(theory, rows)
    return [draw_training_set(theory, recipe, np.random.default_rng(seed)) for seed in (0, 1)]


@pytest.fixture(scope="module")
def selection(patients):
    return select_network(*patients, CONTEST, n_jobs=1)


def test_select_network_scores_the_best_of_the_search_again_and_orders_them_by_that(patients, selection):
    assert len(selection.scores) == len(NETS)
    assert {score.net for score in selection.finalists} == {score.net for score in selection.scores.best(4)}
    assert list(selection.again) == sorted(selection.again, reverse=True)
    chosen = selection.finalists[0]
    settings = [CONTEST.validation(patients[0], CONTEST.seed + number) for number in (1, 2)]
    again = [score_nets([chosen.net], each, n_jobs=1)[0] for each in settings]
    assert selection.again[0] == pytest.approx(np.mean([score.mean for score in again]), abs=0.02)
    assert len({chosen.accuracies, *(score.accuracies for score in again)}) > 1, "other folds and weights"


def test_fresh_examples_do_not_change_the_choice(patients, selection):
    examples, fresh = patients
    opposite = Examples(fresh.batch, ~fresh.accepted, fresh.kinds)
    again = select_network(examples, opposite, CONTEST, n_jobs=1)
    assert again.finalists == selection.finalists and again.again == selection.again
    assert again.network.provenance == selection.network.provenance


def test_the_network_is_the_chosen_net_trained_on_all_examples(patients, selection):
    examples, fresh = patients
    chosen, network = selection.finalists[0].net, selection.network
    losses = {
        seed: float(score_nets([chosen], CONTEST.test(*patients, seed), n_jobs=1).loss[0, 0])
        for seed in (CONTEST.seed + 1, CONTEST.seed + 2)
    }
    assert network.provenance["seed"] == min(losses, key=losses.get)
    alone = train(examples, chosen, training=CONTEST.training, seed=network.provenance["seed"])
    np.testing.assert_array_equal(network.log_odds(fresh.batch), alone.log_odds(fresh.batch))
    accuracy = np.mean(network(fresh.batch) == fresh.accepted)
    right = sum(share.hits for share in selection.fresh.values())
    assert right / len(fresh) == pytest.approx(accuracy)
    assert accuracy > 0.8


@pytest.mark.parametrize("wrong", [{"finalists": 0}, {"seeds": 0}], ids=str)
def test_model_selection_contest_needs_finalists_and_seeds(wrong):
    with pytest.raises(HornbookError, match="a finalist and a seed"):
        ModelSelection((Net((4,), 0.1),), **wrong)


def test_a_contest_that_no_net_survives_says_so(patients):
    selection = ModelSelection((Net((4, 4), 1e30),), Training(epochs=2), finalists=1, seeds=1)
    with pytest.raises(HornbookError, match="training diverged"):
        select_network(*patients, selection, n_jobs=1)


REAL = Path(
    os.environ.get("HORNBOOK_HCC") or Path(__file__).parents[3] / "shared" / "data" / "hcc-survival.csv"
)


@pytest.mark.skipif(not REAL.is_file(), reason="the HCC file is not here; set HORNBOOK_HCC to a copy of it")
def test_on_hcc_the_hard_examples_are_what_accuracy_lacks():
    """Random ones and violations are told apart; real patients with their class are not."""
    table = load_dataset("hcc", path=REAL)
    _, rows = binarise_table(table, dual=True)
    theory = Task.of(table).theory
    recipe = HARD_PROTOCOL.recipe(theory, rows)
    examples, fresh = (draw_training_set(theory, recipe, np.random.default_rng(seed)) for seed in (0, 1))
    selection = select_network(
        examples, fresh, ModelSelection(grid((2,), (8, 32), (0.01,)), finalists=1, seeds=1), n_jobs=1
    )
    assert 0.9 < selection.scores.best(1)[0].mean < 0.97
    assert selection.fresh["random, accepted"].estimate > 0.95
    assert selection.fresh["violation, rejected"].estimate > 0.85
    assert selection.fresh["row, accepted"].estimate < 0.5
    assert selection.network(rows).mean() < 0.5
