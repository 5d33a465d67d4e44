"""Points and covers: what they count is what counting one by one gives, and no step makes it worse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook.distributions import Random
from hornbook.learners.cover import Cover, Worth, covers
from hornbook.learners.logistic import fit
from hornbook.learners.points import cards
from hornbook.learners.tally import agreement, built, moved, scores
from hornbook.learners.terms import Terms, with_pairs
from hornbook.logic import Batch, Vocabulary, bits

FEATURES = Vocabulary.with_duals(["a", "b", "c", "d", "e"])


def sample(size, seed, noise=0.1):
    """Rows, and labels that depend on a score and a pair, with some noise."""
    rng = np.random.default_rng(seed)
    batch = Random(FEATURES).draw(size, rng)
    values = batch.to_array(unknown=0.5)
    score = 2 * values[:, 0] - values[:, 1] + 2 * values[:, 2] * values[:, 3] - 1
    return batch, (score >= 0.5) ^ (rng.random(size) < noise)


@given(st.lists(st.tuples(st.integers(-6, 6), st.booleans()), min_size=1, max_size=40))
def test_the_threshold_is_the_best_there_is(samples):
    points, labels = map(np.array, zip(*samples, strict=True))
    right, threshold = agreement(points, labels)
    by_hand = {t: int(((points >= t) == labels).sum()) for t in range(-7, 9)}
    assert by_hand[threshold] == right == max(by_hand.values())


@pytest.mark.parametrize("seed", range(3))
def test_moving_points_never_loses_and_stays_within_the_limit(seed):
    batch, labels = sample(2000, seed)
    terms = Terms.of(batch, [frozenset({v}) for v in range(5)])
    start = np.random.default_rng(seed).integers(-3, 4, (5, 2))
    points = moved(terms, labels, start, 3)
    assert agreement(scores(terms, points), labels)[0] > agreement(scores(terms, start), labels)[0]
    assert abs(points).max() <= 3
    last = agreement(scores(terms, moved(terms, labels, points, 3)), labels)[0]
    for i in range(5):  # no single move is left that would help
        for move in ((1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)):
            other = points.copy()
            other[i] += move
            assert abs(other).max() > 3 or agreement(scores(terms, other), labels)[0] <= last


def test_the_first_line_built_is_the_best_of_all():
    batch, labels = sample(3000, 0)
    terms = Terms.of(batch, [frozenset({v}) for v in range(10)])
    chosen, points = next(built(terms, labels, 3, 4))
    found = agreement(scores(terms.kept(np.array(chosen)), points), labels)[0]
    single = (
        agreement(p * terms.true[:, i].astype(int) + u * terms.unknown[:, i], labels)[0]
        for i in range(10)
        for p in (2, -2)
        for u in (0, p // 2, p)
    )
    assert found == max(single)


def test_pairs_that_matter_are_taken_in():
    batch, labels = sample(8000, 0, noise=0.0)
    terms = with_pairs(Terms.of(batch, [frozenset({v}) for v in range(5)]), batch, labels)
    assert frozenset({2, 3}) in terms.bodies


def test_cards_keep_to_the_budget_and_grow_better():
    batch, labels = sample(8000, 0)
    fresh, expected = sample(8000, 1)
    found = list(cards(batch, labels, "ill", max_literals=7, max_points=4))
    assert all(0 < card.literals <= 7 for card in found)
    assert all(abs(item.points) <= 4 >= abs(item.if_unknown) for card in found for item in card.items)
    best = {
        size: max((c.decide(fresh) == expected).mean() for c in found if c.literals <= size)
        for size in (1, 7)
    }
    assert best[7] > 0.87 > best[1]  # a tenth of the labels is noise


def test_weights_are_where_the_likelihood_is_flat():
    batch, labels = sample(2000, 0)
    columns = Terms.of(batch, [frozenset({v}) for v in range(5)]).columns
    found = fit(columns, labels)
    slope = columns.T @ found.residual(columns, labels) - 1e-3 * len(batch) * found.weights[:-1]
    assert abs(slope).max() < 1


def worth_of(rules, worth, values, labels):
    """The worth of a rule set, sample by sample."""
    total = 0.0
    for row, label in zip(values, labels, strict=True):
        fired = {head for body, head in rules if all(row[v] == 1 for v in body)}
        if len(fired) == 1:
            total += worth.right if label in fired else worth.wrong
        else:
            total += worth.open(bool(label))
    return total - worth.literal * len(values) * sum(len(body) for body, _ in rules)


@pytest.mark.parametrize(
    "worth", [Worth(None, 1, -4, 0.001), Worth(True, 1.02, -0.02), Worth(False, 1.02, -0.02)]
)
def test_the_gain_of_a_rule_is_what_it_adds(worth):
    batch, labels = sample(300, 2)
    values = batch.to_array()
    *_, rules = covers(batch, labels, worth, 4, 12)
    cover = Cover(batch, labels, worth)
    for rule in rules:
        gain = cover.gain(rule)
        before = worth_of(cover.rules, worth, values, labels)
        cover.add(rule)
        assert gain == pytest.approx(worth_of(cover.rules, worth, values, labels) - before)


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_replacing_rules_never_loses(seed):
    batch, labels = sample(200, seed, noise=0.2)
    worth = Worth(False, 1.02, -0.02)
    cover, values = Cover(batch, labels, worth), batch.to_array()
    for _ in range(3):
        _, found = cover.best()
        if found is not None:
            cover.add(found)
    before = worth_of(cover.rules, worth, values, labels)
    cover.sweep()
    assert worth_of(cover.rules, worth, values, labels) >= before - 1e-9
    for (body, _), fires in zip(cover.rules, cover.fires, strict=True):
        np.testing.assert_array_equal(bits.flat(fires, 200), (values[:, sorted(body)] == 1).all(axis=1))


def test_a_rule_that_the_others_do_without_goes():
    values = np.random.default_rng(0).integers(0, 2, (400, 3))
    batch = Batch.from_array(values, Vocabulary(["a", "b", "c"]))
    cover = Cover(batch, values[:, 0] == 1, Worth(False, 1.0, 0.0))
    for body in ({0, 1}, {0, 2}, {0}):
        cover.add((frozenset(body), True))
    assert cover.sweep()
    assert {body for body, _ in cover.rules} == {frozenset({0})}
    assert not cover.sweep()


def test_a_model_with_one_label_needs_no_rules():
    batch = Batch.from_array(np.random.default_rng(0).integers(0, 2, (100, 2)), Vocabulary(["a", "b"]))
    assert not list(covers(batch, np.ones(100, np.bool_), Worth(True, 1.0, 0.0, 1e-4), 5, 10))
