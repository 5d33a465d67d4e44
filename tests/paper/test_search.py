"""The search: complete, the same however it is split up, honest about failures."""

import time

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.errors import HornbookError
from hornbook.paper import grid, score_nets, search
from hornbook.paper.search import Scores, Setting, group_nets, make_folds
from hornbook.queries import Net, Training

NETS = grid(depths=(1, 2, 3), widths=(2, 8), rates=(0.01, 0.3))


def setting(epochs=3, seed=0):
    rng = np.random.default_rng(5)
    inputs = rng.choice([0, 0.5, 1], (60, 10)).astype(np.float32)
    labels = inputs[:, 0] + inputs[:, 1] > 0.9
    folds = make_folds(rng.permutation(np.arange(60) % 3))
    return Setting(inputs, labels, folds, Training(epochs=epochs), seed)


def equal(one, other):
    return all(map(np.array_equal, vars(one).values(), vars(other).values()))


def test_the_papers_grid_is_complete():
    nets = grid()
    assert len(set(nets)) == len(nets) == 3 * (4**2 + 4**3 + 4**4 + 4**5) == 4080
    assert Net((32, 16, 8, 16, 32), 0.1) in nets


@given(
    st.lists(st.lists(st.sampled_from([4, 8, 16]), min_size=1, max_size=4), min_size=1, max_size=40),
    st.integers(1, 9),
)
@draw_examples(2.5)
def test_chunks_hold_every_net_once_and_one_depth_each(widths, size):
    nets = [Net(tuple(layers), 0.1) for layers in widths]
    parts = group_nets(nets, size)
    assert sorted(at for part in parts for at in part) == list(range(len(nets)))
    for part in parts:
        assert len(part) <= size
        assert len({len(nets[at].widths) for at in part}) == 1


def test_grid_papers_chunks_agree_in_their_first_layers():
    nets = grid()
    for chunk in group_nets(nets, search.NETS_PER_CHUNK["cpu"]):
        widths = [nets[at].widths for at in chunk]
        if len(widths[0]) == 5:
            assert len({layers[:3] for layers in widths}) == 1


def test_scores_come_in_the_order_of_the_nets(monkeypatch):
    whole = score_nets(NETS, setting(), n_jobs=1)
    shuffled = [NETS[at] for at in np.random.default_rng(0).permutation(len(NETS))]
    monkeypatch.setitem(search.NETS_PER_CHUNK, "cpu", 3)
    apart = score_nets(shuffled, setting(), n_jobs=1)
    for at, net in enumerate(shuffled):
        expected = whole[NETS.index(net)]
        assert apart[at].net == net
        np.testing.assert_allclose(apart[at].accuracies, expected.accuracies, atol=0.06)
        np.testing.assert_allclose(apart.loss[at], whole.loss[NETS.index(net)], rtol=1e-3)


def test_score_nets_number_of_workers_changes_nothing(monkeypatch):
    """Threads, which need not import PyTorch again; processes are a law of `test_reproduce`."""
    monkeypatch.setitem(search.NETS_PER_CHUNK, "cpu", 5)
    with joblib.parallel_config("threading"):
        by_two = score_nets(NETS, setting(), n_jobs=2)
    assert equal(score_nets(NETS, setting(), n_jobs=1), by_two)


def test_scores_best_come_first_and_of_equals_the_steadier_then_the_smaller():
    nets = (Net((32,), 0.1), Net((4,), 0.1), Net((8,), 0.1), Net((16,), 0.1))
    accuracy = np.array([[0.9, 0.7], [0.5, 0.5], [0.8, 0.8], [0.7, 0.9]], np.float32)
    scores = Scores(nets, accuracy, np.zeros_like(accuracy))
    assert [found.net.widths for found in scores.best(9)] == [(8,), (16,), (32,), (4,)]
    assert scores.best(1)[0].mean == pytest.approx(0.8)


def test_a_search_is_many_times_faster_than_one_net_at_a_time():
    """Two dozen nets in lockstep cost less than ten times a single one."""
    nets = [Net((4, 4), 0.01 * number) for number in range(1, 25)]

    def seconds(nets):
        return min(_timed(lambda: score_nets(nets, setting(epochs=10), n_jobs=1)) for _ in range(3))

    assert seconds(nets) < 10 * seconds(nets[:1])


def _timed(action):
    started = time.process_time()
    action()
    return time.process_time() - started


class TestBadInput:
    def test_no_nets(self):
        with pytest.raises(HornbookError, match="no nets"):
            score_nets([], setting())

    @pytest.mark.parametrize("device", ["tpu", "cuda:99"])
    def test_no_such_device(self, device):
        with pytest.raises(HornbookError, match="there is no device"):
            score_nets(NETS, setting(), device=device)

    def test_another_optimiser(self):
        with pytest.raises(HornbookError, match="descends by sgd; got 'adam'"):
            Setting(setting().inputs, setting().labels, setting().folds, Training("adam"))
