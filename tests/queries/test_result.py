"""Statistics of rules, held against a dense count."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples
from logic_strategies import batches, theories

from hornbook.logic import BOTTOM, HornTheory, Vocabulary
from hornbook.queries import Random, Rows, Violations, measure_rules
from hornbook.statistics import Share

seeds = st.integers(0, 2**32 - 1)

T = HornTheory.parse("a & b -> c\nc -> d\nd & e -> false")


def coin(batch):
    """A judge with an opinion of its own: odd numbers of known values are accepted."""
    known = ~np.isnan(batch.to_array())
    return known.sum(axis=1) % 2 == 1


@given(st.lists(st.booleans()))
def test_share_where_counts_what_is_true_and_its_complement_the_rest(values):
    share = Share.where(np.array(values, bool))
    assert share == Share.of(sum(values), len(values))
    assert share.complement() == Share.where(~np.array(values, bool))


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
