"""Disagreement, fidelity and rule statistics, held against dense computations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook.distributions import Mixture, Random, Rows, Violations
from hornbook.errors import HornbookError
from hornbook.evaluate import (
    Agreement,
    disagreement,
    fidelity,
    find_redundant_rules,
    rule_statistics,
)
from hornbook.evaluate.fidelity import EVALUATION_CHUNK, draw_chunks, flatten_mixture
from hornbook.logic import BOTTOM, Batch, HornTheory, Vocabulary
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
@settings(max_examples=20)
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


@given(st.lists(st.tuples(st.sampled_from([1.0, 0.0, math.nan]), st.booleans()), min_size=1))
def test_fidelity_counts_agreement_for_each_answer(pairs):
    answered, model = map(list, zip(*pairs, strict=True))
    found = Agreement.of(answered, model)
    assert found.plain.hits == sum(a == m for a, m in pairs)
    assert found.undetermined.hits == sum(math.isnan(a) for a, _ in pairs)
    recalls = []
    for value in (False, True):
        inside = [a == m for a, m in pairs if m == value]
        assert (found.for_class(value).hits, found.for_class(value).size) == (sum(inside), len(inside))
        recalls.append(np.mean(inside) if inside else math.nan)
    np.testing.assert_allclose(found.balanced, np.mean(recalls))


def test_agreement_samples_add_up():
    left, right = Agreement.of([1, 0, math.nan], [1, 1, 0]), Agreement.of([0, 0], [0, 1])
    assert left + right == Agreement.of([1, 0, math.nan, 0, 0], [1, 1, 0, 0, 1])


def test_fidelity_judge_is_faithful_where_it_does_not_disagree():
    rng = np.random.default_rng
    found = fidelity(H.satisfied_by, coin, nested(), 40_000, rng(3))
    drawn = Batch.concatenate(draw_chunks(nested(), 40_000, rng(3)))
    assert found == Agreement.of(H.satisfied_by(drawn), coin(drawn))


def test_agreement_answers_and_model_must_match():
    with pytest.raises(HornbookError, match=r"got shapes \(2,\) and \(3,\)"):
        Agreement.of([1, 0], [1, 0, 0])


# Rules


@given(theories(5, 6), seeds, st.integers(1, 300))
@settings(max_examples=60)
def test_rule_statistics_equal_a_dense_count(theory, seed, size):
    drawn = Random(theory.vocabulary)
    statistics = rule_statistics(theory, coin, drawn, size, np.random.default_rng(seed))
    batch = drawn.draw(size, np.random.default_rng(seed))
    values, rejected = batch.to_array(), ~coin(batch)
    assert [found.rule for found in statistics] == list(theory)
    for found in statistics:
        fired = (values[:, sorted(found.rule.body)] == 1).all(axis=1)
        broken = fired if found.rule.head is BOTTOM else fired & (values[:, found.rule.head] == 0)
        assert (found.support.hits, found.support.size) == (fired.sum(), size)
        assert (found.precision.hits, found.precision.size) == ((broken & rejected).sum(), broken.sum())
        assert found.length == len(found.rule.body)
        assert found.in_target is None and found.entailed_by_target is None


@given(theories(5, 6), seeds)
@settings(max_examples=40)
def test_rule_statistics_model_obeys_the_rules_it_entails(theory, seed):
    claims = HornTheory(theory.vocabulary, [*theory, *theory.canonical()])
    found = rule_statistics(
        claims,
        theory.satisfied_by,
        Random(theory.vocabulary),
        500,
        np.random.default_rng(seed),
        target=theory,
    )
    for statistics in found:
        assert statistics.entailed_by_target
        assert statistics.precision.hits == statistics.precision.size
        assert statistics.in_target == (statistics.rule in theory.rules)


@given(theories(5, 6), theories(5, 3))
@settings(max_examples=60)
def test_find_redundant_rules_can_be_dropped(theory, other):
    background = HornTheory(
        theory.vocabulary, [rule for rule in other if _fits(rule, len(theory.vocabulary))]
    )
    for known in (None, background):
        for rule, redundant in zip(theory, find_redundant_rules(theory, known), strict=True):
            rest = HornTheory(theory.vocabulary, [*(r for r in theory if r != rule), *(known or ())])
            assert redundant == rest.entails(rule)


def _fits(rule, width):
    return all(v < width for v in rule.body) and (rule.head is BOTTOM or rule.head < width)


def test_violations_measure_long_bodies():
    vocabulary = Vocabulary.with_duals([f"x{i}" for i in range(40)])
    body = " & ".join(f"x{i}" for i in range(30))
    theory = HornTheory.parse(f"{body} -> x30\n{body} -> not_x31", vocabulary)
    model = HornTheory.parse(f"{body} -> x30", vocabulary).satisfied_by
    rng = np.random.default_rng(0)
    unseen = rule_statistics(theory, model, Random(vocabulary), 1000, rng)
    assert [found.precision.size for found in unseen] == [0, 0]
    right, wrong = rule_statistics(theory, model, Violations(theory, missing=1.0), 1000, rng)
    assert right.precision.hits == right.precision.size > 400
    assert wrong.precision.hits == 0 and wrong.precision.size > 400


@given(batches(T.vocabulary, 100))
def test_real_rows_serve_as_a_distribution(batch):
    if len(batch):
        [found] = rule_statistics(
            HornTheory.parse("true -> false", T.vocabulary), coin, Rows(batch), 70, np.random.default_rng(0)
        )
        assert found.support.hits == found.precision.size == 70


def test_one_vocabulary_for_all():
    other = HornTheory.parse("a -> b")
    for wrong in ({"target": other}, {"background": other}):
        with pytest.raises(HornbookError, match="over one vocabulary"):
            rule_statistics(H, coin, Random(T.vocabulary), 10, np.random.default_rng(0), **wrong)
