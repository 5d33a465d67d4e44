"""The search: complete, the same however it is split up, honest about failures."""

import os
import sys
import time
from contextlib import contextmanager
from dataclasses import replace

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.paper import search
from hornbook.paper.networks import Net, Training
from hornbook.paper.search import Fold, Setting, find_best, grid, group_nets, score_nets

NETS = grid(depths=(1, 2, 3), widths=(2, 8), rates=(0.01, 0.3))


def setting(epochs=3, seed=0):
    rng = np.random.default_rng(5)
    inputs = rng.choice([0, 0.5, 1], (60, 10)).astype(np.float32)
    labels = inputs[:, 0] + inputs[:, 1] > 0.9
    parts = rng.permutation(np.arange(60) % 3)
    folds = tuple(Fold(np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in range(3))
    return Setting(inputs, labels, folds, Training(epochs=epochs), seed)


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
    for chunk in group_nets(nets, search.NETS_PER_CHUNK):
        widths = [nets[at].widths for at in chunk]
        if len(widths[0]) == 5:
            assert len({layers[:3] for layers in widths}) == 1


def test_scores_come_in_the_order_of_the_nets(monkeypatch):
    whole = score_nets(NETS, setting(), n_jobs=1)
    shuffled = [NETS[at] for at in np.random.default_rng(0).permutation(len(NETS))]
    monkeypatch.setattr(search, "NETS_PER_CHUNK", 3)
    apart = score_nets(shuffled, setting(), n_jobs=1)
    for at, net in enumerate(shuffled):
        own = NETS.index(net)
        np.testing.assert_allclose(apart.accuracy[at], whole.accuracy[own], atol=0.06)
        np.testing.assert_allclose(apart.loss[at], whole.loss[own], rtol=1e-3)


def test_find_best_the_best_come_first_and_of_equals_the_steadier_then_the_smaller():
    nets = (Net((32,), 0.1), Net((4,), 0.1), Net((8,), 0.1), Net((16,), 0.1))
    accuracy = np.array([[0.9, 0.7], [0.5, 0.5], [0.8, 0.8], [0.7, 0.9]], np.float32)
    assert find_best(nets, accuracy, 9) == [2, 3, 0, 1]
    assert find_best(nets, accuracy, 1) == [2]


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


def test_score_nets_number_of_workers_changes_nothing(monkeypatch):
    monkeypatch.setattr(search, "NETS_PER_CHUNK", 5)
    with joblib.parallel_config("threading"):
        by_two = score_nets(NETS, setting(), n_jobs=2)
    assert all(map(np.array_equal, score_nets(NETS, setting(), n_jobs=1), by_two))


@pytest.mark.cluster
@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_score_nets_on_a_cluster_gives_the_same(engine, monkeypatch):
    monkeypatch.setattr(search, "NETS_PER_CHUNK", 5)
    with start_cluster(engine, monkeypatch), joblib.parallel_config(engine, n_jobs=2):
        on_cluster = score_nets(NETS, setting(), n_jobs=None)
    assert all(map(np.array_equal, score_nets(NETS, setting(), n_jobs=1), on_cluster))


@contextmanager
def start_cluster(engine, monkeypatch):
    """A cluster of two workers in this machine."""
    if engine == "dask":
        distributed = pytest.importorskip("distributed")
        with (
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster),
        ):
            yield
        return
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    register_ray()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # so that workers find this module
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="critical")
    try:
        yield
    finally:
        ray.shutdown()


def test_score_nets_on_a_device_that_is_not_there_is_an_error():
    with pytest.raises((RuntimeError, AssertionError)):
        score_nets(NETS[:1], replace(setting(), device="cuda:99"), n_jobs=1)
