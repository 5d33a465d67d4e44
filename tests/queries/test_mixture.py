"""Disagreement of judges, held against dense computations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.errors import HornbookError
from hornbook.logic import Batch, HornTheory
from hornbook.queries import Mixture, Random, Violations, measure_disagreement
from hornbook.queries.disagreement import EVALUATION_CHUNK
from hornbook.queries.distributions import flatten_mixture

seeds = st.integers(0, 2**32 - 1)

T = HornTheory.parse("a & b -> c\nc -> d\nd & e -> false")
H = HornTheory.parse("a -> c\nd & e -> false\nb & e -> d", T.vocabulary)


def coin(batch):
    """A judge with an opinion of its own: odd numbers of known values are accepted."""
    known = ~np.isnan(batch.to_array())
    return known.sum(axis=1) % 2 == 1


JUDGES = {"t": T.satisfied_by, "h": H.satisfied_by, "nn": coin}


def nested():
    random = Mixture((Random(T.vocabulary, 0.1), Random(T.vocabulary, 0.8)), (1, 3))
    return Mixture((random, Violations(T)), (1, 1))


@pytest.mark.parametrize("size", [1, 1000, 3 * EVALUATION_CHUNK // 2])
def test_disagreement_counts_what_a_dense_comparison_counts(size):
    distribution = Random(T.vocabulary)
    table = measure_disagreement(JUDGES, distribution, size, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    drawn = Batch.concatenate(
        distribution.draw(min(EVALUATION_CHUNK, size - start), rng)
        for start in range(0, size, EVALUATION_CHUNK)
    )
    answers = {name: judge(drawn) for name, judge in JUDGES.items()}
    assert list(table.shares) == ["t_h", "t_nn", "h_nn"]
    for pair, share in table.shares.items():
        left, right = pair.split("_")
        assert (share.hits, share.size) == ((answers[left] != answers[right]).sum(), size)
    assert table.by_kind == {"random": table.shares}


@given(seeds)
@draw_examples(0.5)
def test_kinds_of_a_mixture_add_up(seed):
    table = measure_disagreement(JUDGES, nested(), 3000, np.random.default_rng(seed))
    assert list(table.by_kind) == ["random", "violation"]
    for pair, share in table.shares.items():
        parts = [kind[pair] for kind in table.by_kind.values()]
        assert sum(part.hits for part in parts) == share.hits
        assert sum(part.size for part in parts) == share.size == 3000


def test_mixtures_within_mixtures_keep_their_shares():
    assert [weight for _, weight in flatten_mixture(nested())] == [0.125, 0.375, 0.5]
    judges = {"t": T.satisfied_by, "all": lambda batch: np.ones(len(batch), bool)}
    table = measure_disagreement(judges, nested(), 20_000, np.random.default_rng(0))
    violations = table.by_kind["violation"]["t_all"]
    assert violations.hits == violations.size
    assert abs(violations.size - 10_000) < 400


def test_share_intervals_cover_the_true_share_as_often_as_they_say():
    distribution = Random(T.vocabulary)
    truth = measure_disagreement(JUDGES, distribution, 1 << 19, np.random.default_rng(7)).shares
    runs = [
        measure_disagreement(JUDGES, distribution, 400, np.random.default_rng(seed)) for seed in range(200)
    ]
    for pair, share in truth.items():
        covered = sum(run.shares[pair].low <= share.estimate <= run.shares[pair].high for run in runs)
        assert covered >= 182  # 190 are expected at least; fewer than 182 in one run of 200


def test_disagreement_memory_is_bounded_by_the_chunk():
    sizes = []

    def recording(batch):
        sizes.append(len(batch))
        return np.ones(len(batch), bool)

    measure_disagreement({"x": recording, "t": T.satisfied_by}, nested(), 100_000, np.random.default_rng(0))
    assert sum(sizes) == 100_000 and max(sizes) == EVALUATION_CHUNK


def test_disagreement_bad_requests_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(HornbookError, match="two judges at least; got \\['t'\\]"):
        measure_disagreement({"t": T.satisfied_by}, Random(T.vocabulary), 10, rng)
    with pytest.raises(HornbookError, match="at least one sample; got size=0"):
        measure_disagreement(JUDGES, Random(T.vocabulary), 0, rng)
    with pytest.raises(HornbookError, match=r"nn gave answers of shape \(3,\) to 10 interpretations"):
        measure_disagreement({**JUDGES, "nn": lambda batch: np.ones(3)}, Random(T.vocabulary), 10, rng)
