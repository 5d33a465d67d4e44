"""Choosing a net: finalists are scored again, and fresh examples play no part in the choice."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hornbook.errors import HornbookError
from hornbook.paper import HARD_PROTOCOL, Task
from hornbook.paper.networks import Net, Training
from hornbook.paper.search import ModelSelection, find_best, grid, score_nets, select_network, train
from hornbook.paper.task import draw_training_set
from hornbook.tables import load_dataset

NETS = grid(depths=(1, 2), widths=(4, 16), rates=(0.01, 0.1))
CONTEST = ModelSelection(NETS, Training(epochs=25), finalists=4, seeds=2, seed=3)


@pytest.fixture(scope="module")
def patients():
    table = load_dataset("hcc-synthetic")
    task = Task.of(table)
    theory, rows = task.theory, task.rows
    recipe = replace(HARD_PROTOCOL, sizes=(60, 60)).recipe(theory, rows)
    return [draw_training_set(theory, recipe, np.random.default_rng(seed)) for seed in (0, 1)]


@pytest.fixture(scope="module")
def selection(patients):
    return select_network(patients[0], CONTEST)


def test_select_network_scores_the_best_of_the_search_again(patients, selection):
    """With other folds and weights; the best of the finalists is chosen by that."""
    examples = patients[0]
    first = score_nets(NETS, CONTEST.validation(examples, CONTEST.seed), 1).accuracy
    finalists = [NETS[at] for at in find_best(NETS, first, CONTEST.finalists)]
    again = [score_nets(finalists, CONTEST.validation(examples, CONTEST.seed + each), 1) for each in (1, 2)]
    means = np.mean([each.accuracy.mean(axis=1) for each in again], axis=0)
    assert selection.again == pytest.approx(means.max(), abs=1e-6)
    assert selection.net == finalists[int(means.round(6).argmax())]
    assert selection.cross_validated == pytest.approx(first[NETS.index(selection.net)].mean(), abs=1e-6)


def test_the_network_is_the_chosen_net_trained_on_all_examples(patients, selection):
    (examples, fresh), network = patients, selection.network
    losses = {
        seed: float(score_nets([selection.net], CONTEST.whole(examples, seed), 1).loss[0, 0])
        for seed in (CONTEST.seed + 1, CONTEST.seed + 2)
    }
    assert network.provenance["seed"] == min(losses, key=losses.get)
    alone = train(examples, selection.net, training=CONTEST.training, seed=network.provenance["seed"])
    np.testing.assert_array_equal(network.log_odds(fresh.batch), alone.log_odds(fresh.batch))
    assert np.mean(network(fresh.batch) == fresh.accepted) > 0.8


@pytest.mark.parametrize("wrong", [{"finalists": 0}, {"seeds": 0}], ids=str)
def test_model_selection_contest_needs_finalists_and_seeds(wrong):
    with pytest.raises(HornbookError, match="a finalist and a seed"):
        ModelSelection((Net((4,), 0.1),), **wrong)


def test_a_contest_that_no_net_survives_says_so(patients):
    selection = ModelSelection((Net((4, 4), 1e30),), Training(epochs=2), finalists=1, seeds=1)
    with pytest.raises(HornbookError, match="training diverged"):
        select_network(patients[0], selection)


REAL = Path(
    os.environ.get("HORNBOOK_HCC") or Path(__file__).parents[3] / "shared" / "data" / "hcc-survival.csv"
)


@pytest.mark.skipif(not REAL.is_file(), reason="the HCC file is not here; set HORNBOOK_HCC to a copy of it")
def test_on_hcc_the_hard_examples_are_what_accuracy_lacks():
    """Random ones and violations are told apart; real patients with their class are not."""
    table = load_dataset("hcc", path=REAL)
    task = Task.of(table)
    theory, rows = task.theory, task.rows
    recipe = HARD_PROTOCOL.recipe(theory, rows)
    examples, fresh = (draw_training_set(theory, recipe, np.random.default_rng(seed)) for seed in (0, 1))
    selection = select_network(examples, ModelSelection(grid((2,), (8, 32), (0.01,)), finalists=1, seeds=1))
    assert 0.9 < selection.cross_validated < 0.97
    right = selection.network(fresh.batch) == fresh.accepted
    shares = {kind: right[fresh.kinds == kind].mean() for kind in set(fresh.kinds.tolist())}
    assert shares["random"] > 0.95 and shares["violation"] > 0.85 and shares["row"] < 0.5
    assert selection.network(rows).mean() < 0.5
