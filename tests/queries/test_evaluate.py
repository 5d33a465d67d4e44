"""Disagreement, fidelity and rule statistics, held against dense computations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, HornTheory, Vocabulary
from hornbook.queries import Mixture, Random, Rows, Violations, disagreement, fidelity, measure_rules
from hornbook.queries.agreement import EVALUATION_CHUNK, flatten_mixture
from hornbook.statistics import Share
from hornbook.testing import batches, theories

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


# Disagreement


@pytest.mark.parametrize("size", [1, 1000, 3 * EVALUATION_CHUNK // 2])
def test_disagreement_counts_what_a_dense_comparison_counts(size):
    distribution = Random(T.vocabulary)
    table = disagreement(JUDGES, distribution, size, np.random.default_rng(1))
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
    assert table.distribution == distribution.describe()


@given(seeds)
@draw_examples(0.5)
def test_kinds_of_a_mixture_add_up(seed):
    table = disagreement(JUDGES, nested(), 3000, np.random.default_rng(seed))
    assert list(table.by_kind) == ["random", "violation"]
    for pair, share in table.shares.items():
        parts = [kind[pair] for kind in table.by_kind.values()]
        assert sum(part.hits for part in parts) == share.hits
        assert sum(part.size for part in parts) == share.size == 3000


def test_mixtures_within_mixtures_keep_their_shares():
    assert [weight for _, weight in flatten_mixture(nested())] == [0.125, 0.375, 0.5]
    judges = {"t": T.satisfied_by, "all": lambda batch: np.ones(len(batch), bool)}
    table = disagreement(judges, nested(), 20_000, np.random.default_rng(0))
    violations = table.by_kind["violation"]["t_all"]
    assert violations.hits == violations.size
    assert abs(violations.size - 10_000) < 400


def test_share_intervals_cover_the_true_share_as_often_as_they_say():
    distribution = Random(T.vocabulary)
    truth = disagreement(JUDGES, distribution, 1 << 19, np.random.default_rng(7)).shares
    runs = [disagreement(JUDGES, distribution, 400, np.random.default_rng(seed)) for seed in range(200)]
    for pair, share in truth.items():
        covered = sum(run[pair].low <= share.estimate <= run[pair].high for run in runs)
        assert covered >= 182  # 190 are expected at least; fewer than 182 in one run of 200


def test_disagreement_memory_is_bounded_by_the_chunk():
    sizes = []

    def recording(batch):
        sizes.append(len(batch))
        return np.ones(len(batch), bool)

    disagreement({"x": recording, "t": T.satisfied_by}, nested(), 100_000, np.random.default_rng(0))
    assert sum(sizes) == 100_000 and max(sizes) == EVALUATION_CHUNK


def test_disagreement_bad_requests_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(HornbookError, match="two judges at least; got \\['t'\\]"):
        disagreement({"t": T.satisfied_by}, Random(T.vocabulary), 10, rng)
    with pytest.raises(HornbookError, match="at least one sample; got size=0"):
        disagreement(JUDGES, Random(T.vocabulary), 0, rng)
    with pytest.raises(HornbookError, match=r"nn gave answers of shape \(3,\) to 10 interpretations"):
        disagreement({**JUDGES, "nn": lambda batch: np.ones(3)}, Random(T.vocabulary), 10, rng)


# Fidelity


@given(st.integers(1, 3 * EVALUATION_CHUNK // 2), seeds)
@draw_examples(0.12)
def test_fidelity_is_the_share_on_which_a_judge_does_not_disagree(size, seed):
    found = fidelity(H.satisfied_by, coin, nested(), size, np.random.default_rng(seed))
    judges = {"h": H.satisfied_by, "nn": coin}
    apart = disagreement(judges, nested(), size, np.random.default_rng(seed))["h_nn"]
    assert (found.hits, found.size) == (size - apart.hits, size)


@given(st.lists(st.booleans()))
def test_share_where_counts_what_is_true_and_its_complement_the_rest(values):
    share = Share.where(np.array(values, bool))
    assert share == Share.of(sum(values), len(values))
    assert share.complement() == Share.where(~np.array(values, bool))


# Rules


@given(theories(5, 6), seeds, st.integers(1, 300))
@draw_examples(1.5)
def test_measure_rules_equal_a_dense_count(theory, seed, size):
    batch = Random(theory.vocabulary).draw(size, np.random.default_rng(seed))
    statistics = measure_rules(theory, batch, coin(batch))
    values, rejected = batch.to_array(), ~coin(batch)
    assert [found.rule for found in statistics] == list(theory)
    for found in statistics:
        fired = (values[:, sorted(found.rule.body)] == 1).all(axis=1)
        broken = fired if found.rule.head is BOTTOM else fired & (values[:, found.rule.head] == 0)
        assert (found.support.hits, found.support.size) == (fired.sum(), size)
        assert (found.precision.hits, found.precision.size) == ((broken & rejected).sum(), broken.sum())


@given(theories(5, 6), seeds)
def test_measure_rules_model_obeys_the_rules_it_entails(theory, seed):
    claims = HornTheory(theory.vocabulary, [*theory, *theory.canonical()])
    batch = Random(theory.vocabulary).draw(500, np.random.default_rng(seed))
    for statistics in measure_rules(claims, batch, theory.satisfied_by(batch)):
        assert statistics.precision.hits == statistics.precision.size


def test_violations_measure_long_bodies():
    vocabulary = Vocabulary.with_duals([f"x{i}" for i in range(40)])
    body = " & ".join(f"x{i}" for i in range(30))
    theory = HornTheory.parse(f"{body} -> x30\n{body} -> not_x31", vocabulary)
    model = HornTheory.parse(f"{body} -> x30", vocabulary).satisfied_by
    rng = np.random.default_rng(0)
    random = Random(vocabulary).draw(1000, rng)
    assert [found.precision.size for found in measure_rules(theory, random, model(random))] == [0, 0]
    violations = Violations(theory, missing=1.0).draw(1000, rng)
    right, wrong = measure_rules(theory, violations, model(violations))
    assert right.precision.hits == right.precision.size > 400
    assert wrong.precision.hits == 0 and wrong.precision.size > 400


@given(batches(T.vocabulary, 100))
def test_real_rows_serve_as_a_distribution(batch):
    if len(batch):
        rows = Rows(batch).draw(70, np.random.default_rng(0))
        [found] = measure_rules(HornTheory.parse("true -> false", T.vocabulary), rows, coin(rows))
        assert found.support.hits == found.precision.size == 70
