"""Property checking: broken exactly if not entailed, with witnesses that cannot be smaller."""

import numpy as np
import pytest
from difficult_teachers import Constant, Network
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples
from logic_strategies import rules, theories

from hornbook.checks import check_theory
from hornbook.checks.theory_check import shrink
from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary
from hornbook.queries import Counted, Exact, Random, smallest_violations

PAIRED = Vocabulary.with_duals([f"x{i}" for i in range(20)])
PLAIN = Vocabulary([f"x{i}" for i in range(20)])


def rng(seed=0):
    return np.random.default_rng(seed)


@draw_examples(1.5)
@given(st.data())
def test_a_rule_is_broken_exactly_if_it_is_not_entailed(data):
    truth = data.draw(theories(max_variables=5))
    claims = HornTheory(truth.vocabulary, data.draw(st.lists(rules(len(truth.vocabulary)), max_size=4)))
    verdicts = check_theory(claims, truth.satisfied_by, Random(truth.vocabulary), 50, rng=rng())
    assert [verdict.rule for verdict in verdicts] == list(claims)
    for verdict in verdicts:
        assert verdict.broken == (not truth.entails(verdict.rule))
        if verdict.broken:
            # a teacher who is a theory accepts the smallest violation if any
            assert [verdict.witness] == smallest_violations(HornTheory(truth.vocabulary, [verdict.rule]))


@pytest.mark.parametrize("vocabulary", [PLAIN, PAIRED])
def test_a_witness_violates_the_rule_and_is_accepted_and_cannot_be_smaller(vocabulary):
    network = Network(Random(vocabulary), rng(1), accepted=0.3)
    claims = HornTheory(vocabulary, [Rule({2 * v, 2 * v + 1}, BOTTOM) for v in range(8)] + [Rule({3}, 5)])
    witnesses = 0
    for verdict in check_theory(claims, network, Random(vocabulary), 2000, rng=rng()):
        if not verdict.broken:
            continue
        witnesses += 1
        alone = HornTheory(vocabulary, [verdict.rule])
        (needed,) = smallest_violations(alone)
        known = verdict.witness.true | verdict.witness.false
        smaller = []
        for v in known - needed.true - needed.false:
            forgotten = {v, vocabulary.dual(v)}
            smaller.append(
                Interpretation(verdict.witness.true - forgotten, verdict.witness.false - forgotten)
            )
        asked = Batch.from_interpretations([verdict.witness, *smaller], vocabulary)
        assert network(asked).tolist() == [True] + [False] * len(smaller)
        assert not alone.satisfied_by(asked).any()
        assert verdict.guarantee.disagreement.size == 2000
    assert witnesses


def test_the_smallest_of_many_witnesses_is_given():
    """Accepted if x1 to x5 are true, or x6 to x8."""

    def member(batch):
        values = batch.to_array() == 1
        return values[:, 1:6].all(axis=1) | values[:, 6:9].all(axis=1)

    (verdict,) = check_theory(HornTheory(PLAIN, [Rule({0}, BOTTOM)]), member, Random(PLAIN), 5000, rng=rng())
    assert verdict.witness.true in ({0, 6, 7, 8}, {0, 1, 2, 3, 4, 5})
    assert verdict.witness.false == frozenset()
    assert 0 < verdict.guarantee.disagreement.low < 0.1


def test_rules_that_nothing_can_violate_hold_exactly():
    claims = HornTheory(PAIRED, [Rule({0}, 0), Rule({0, 20}, BOTTOM), Rule({1}, 21), Rule({0, 1}, BOTTOM)])
    verdicts = check_theory(claims, Constant(True), Random(PAIRED), 10, rng=rng(), groups=((0, 1),))
    assert [verdict.guarantee == Exact() for verdict in verdicts] == [True, True, False, True]
    assert [verdict.broken for verdict in verdicts] == [False, False, True, False]


def test_constant_models_break_every_rule_or_none():
    claims = HornTheory(PAIRED, [Rule({0}, BOTTOM), Rule({1, 2}, 3)])
    distribution = Random(PAIRED)
    for answer in (True, False):
        verdicts = check_theory(claims, Constant(answer), distribution, 100, rng=rng())
        assert [verdict.broken for verdict in verdicts] == [answer, answer]
        assert all(verdict.guarantee.disagreement.estimate == answer for verdict in verdicts)


def test_rules_are_matched_by_name():
    other = HornTheory.parse("x3 -> x1")
    (verdict,) = check_theory(other, Constant(True), Random(PLAIN), 10, rng=rng())
    assert verdict.rule == Rule({3}, 1)
    with pytest.raises(HornbookError, match="unknown name 'x33'"):
        check_theory(HornTheory.parse("x33 -> x1"), Constant(True), Random(PLAIN), rng=rng())


def test_a_check_without_samples_is_refused():
    with pytest.raises(HornbookError, match="got size=0"):
        check_theory(HornTheory(PLAIN, [Rule({0}, 1)]), Constant(True), Random(PLAIN), 0, rng=rng())


def test_shrinking_asks_few_batches():
    vocabulary = Vocabulary([f"x{i}" for i in range(200)])

    def member(batch):
        return (batch.to_array()[:, [17, 120]] == 1).all(axis=1)

    counted = Counted(member)
    whole = Interpretation(frozenset(range(200)))
    small = shrink(counted, vocabulary, whole, Interpretation(frozenset({5})))
    assert small == Interpretation(frozenset({5, 17, 120}))
    assert counted.batches <= 60
