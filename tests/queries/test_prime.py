"""Prime bodies and the pool that weighs them, against brute force: valid, prime, useful."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pools import PARTLY, PLAIN, VOCABULARIES, filled_pool, met, rng, some_terms

from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary, bits, random_theory
from hornbook.queries import PerfectTeacher, Random, interpretation
from hornbook.queries.prime import (
    HARM_WEIGHT,
    Pool,
    TermSearch,
    all_but_one,
    count_bits,
    count_only,
    prime,
    term_of,
)
from hornbook.queries.protocol import Counterexample, Unknown


def labelled_pool(member, vocabulary, size, seed=0, missing=1 / 3):
    pool = Pool(vocabulary)
    batch = Random(vocabulary, missing).draw(size, rng(seed))
    pool.add(batch, member(batch))
    return pool


def learn(member, pool, background, **options):
    """The hypotheses of a learner that is given only the counterexamples of its pool."""
    options = {"min_precision": 1, "background": background, **options}
    equivalent = lambda h: pool.find_counterexample(h) or Unknown("nothing is missed")  # noqa: E731
    return [step.hypothesis for step in prime(member, equivalent, pool, **options)]


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("size", [0, 1, 63, 64, 300])
def test_a_pool_counts_what_a_dense_table_counts(vocabulary, size):
    pool = filled_pool(vocabulary, size, size)
    hypothesis = HornTheory(vocabulary, [Rule({0, 1}, BOTTOM), Rule({2}, 3)])
    pool.judge(hypothesis)
    for side in pool.sides:
        is_open = hypothesis.satisfied_by(side.batch)
        assert (bits.flat(side.open, len(side.batch)) == is_open).all()
        for term in some_terms(vocabulary, size):
            expected = met(side.batch, term)
            assert (bits.flat(side.meeting(term), len(side.batch)) == expected).all()
            assert count_bits(side.meeting(term, side.open)) == (expected & is_open).sum()
    missed = hypothesis.satisfied_by(pool.rejected.batch)
    assert pool.list_missed().tolist() == np.flatnonzero(missed).tolist()


def test_a_pool_forgets_the_oldest():
    pool = Pool(PLAIN, limit=100)
    batch = Random(PLAIN).draw(250, rng())
    for part in batch.blocks(64):
        pool.add(part, np.ones(len(part), np.bool_))
    assert pool.accepted.batch == batch[150:] and len(pool.rejected.batch) == 0


def test_what_was_given_up_is_not_offered_again():
    pool = Pool(PLAIN)
    narrow, wide = Interpretation(frozenset({0}), frozenset({1})), Interpretation(frozenset({0}))
    pool.add(Batch.from_interpretations([narrow, wide], PLAIN), np.zeros(2, np.bool_))
    for item in (narrow, wide):
        found = pool.find_counterexample(HornTheory(PLAIN))
        assert found == Counterexample(item, found_by="stored")
        pool.given_up.append(term_of(item, len(PLAIN)))
    assert pool.find_counterexample(HornTheory(PLAIN)) is None


@given(st.integers(0, 6), st.integers(0, 1000))
def test_rows_are_counted_without_one_and_alone(rows, seed):
    words = rng(seed).integers(0, 1 << 64, (rows, 3), np.uint64)
    start = rng(seed + 1).integers(0, 1 << 64, 3, np.uint64)
    dense, first = bits.unpack_rows(words, 192), bits.flat(start, 192)
    for at, row in enumerate(all_but_one(words, start)):
        assert (
            bits.flat(row, 192) == (np.delete(dense, slice(at, at + 1), axis=0).all(axis=0) & first)
        ).all()
    assert count_only(words).tolist() == [(row & (dense.sum(axis=0) == 1)).sum() for row in dense]


@pytest.mark.parametrize("min_precision", [1.0, 0.8])
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_rules_are_valid_and_no_literal_can_be_dropped(vocabulary, min_precision):
    found = 0
    for seed in range(8):
        theory = HornTheory(vocabulary, random_theory(len(vocabulary), 4, (1, 3), rng(seed)).rules)
        theory = theory | HornTheory.background(vocabulary)
        pool = labelled_pool(theory.satisfied_by, vocabulary, 600, seed, 0.3)
        pool.judge(HornTheory.background(vocabulary))
        search = TermSearch(theory.satisfied_by, pool, min_precision, None)

        def worth(term, pool=pool):
            gain, harm = (
                int((met(side.batch, term) & bits.flat(side.open, len(side.batch))).sum())
                for side in pool.sides
            )
            return gain - HARM_WEIGHT * harm

        for at in pool.list_missed()[:6].tolist():
            item = pool.rejected.batch[at]
            rule = search.find_rule(item)
            if rule is None:
                continue
            found += 1
            term = search.make_term(rule)
            assert search.make_rule(term) == rule and search.is_valid(term)
            assert set(term) <= {*term_of(item, len(vocabulary))}
            for literal in set(term) - {*search.negate_head(rule.head)}:
                rest = term[term != literal]
                assert not search.is_valid(rest) or worth(rest) < worth(term)
    assert found > 20


def test_there_are_no_more_rules_than_allowed_and_the_least_useful_go():
    theory = random_theory(12, 8, (1, 3), rng(2))
    batch = Random(theory.vocabulary).draw(3000, rng())
    pool = Pool(theory.vocabulary)
    pool.add(batch, theory.satisfied_by(batch))
    nothing, wrong = HornTheory(theory.vocabulary), []
    for hypothesis in learn(theory.satisfied_by, pool, nothing, max_rules=3):
        wrong.append(int((hypothesis.satisfied_by(batch) != theory.satisfied_by(batch)).sum()))
        assert len(hypothesis) <= 3 and theory.entails(hypothesis)
    assert len(hypothesis) == 3 and wrong[-1] == min(wrong)


def as_teacher(formula, width):
    """Any formula over total assignments, as a coherent teacher of partial ones."""
    models = np.array([row for row in product([0.0, 1.0], repeat=width) if formula(row)])

    def member(batch):
        rows = batch.to_array()
        return np.array([bool(((models == row) | np.isnan(row)).all(axis=1).any()) for row in rows], np.bool_)

    return member


def test_the_given_heads_are_used_the_preferred_first():
    background = HornTheory.background(PARTLY)
    theory = HornTheory.parse("a & b -> c\na & c -> ill", PARTLY) | background

    def learned(heads):
        pool = labelled_pool(theory.satisfied_by, PARTLY, 2000)
        return learn(theory.satisfied_by, pool, background, heads=heads)[-1]

    any_head = learned(None)
    assert any_head.entails("a & b -> c")  # c has no dual, so only as a head can it be false
    assert any_head.equivalent(HornTheory.parse("a & b -> c\na & c & well -> false", PARTLY) | background)
    for heads in ([3], [3, 4], [4, BOTTOM], [2]):
        hypothesis = learned(heads)
        rules = set(hypothesis) - set(background)
        assert rules and {rule.head for rule in rules} <= set(heads)
        assert theory.entails(hypothesis)


@pytest.mark.parametrize("seed", range(4))
def test_the_learner_is_exact_with_a_perfect_teacher(seed):
    theory = random_theory(8, 6, (1, 3), rng(seed))
    teacher, nothing = PerfectTeacher(theory, "violated", rng(seed)), HornTheory(theory.vocabulary)
    pool = labelled_pool(theory.satisfied_by, theory.vocabulary, 2000, seed)
    steps = list(
        prime(theory.satisfied_by, teacher.equivalent, pool, background=nothing, min_precision=1, seed=seed)
    )
    assert steps[-1].hypothesis.equivalent(theory)
    assert all(theory.entails(step.hypothesis) for step in steps)


def test_a_formula_that_is_not_horn_gives_rules_that_it_entails():
    width = 6
    formula = lambda row: (row[0] or row[1] or not row[2]) and not (row[3] and row[4] and not row[5])  # noqa: E731
    vocabulary = Vocabulary([f"x{i}" for i in range(width)])
    member = as_teacher(formula, width)
    hypothesis = learn(member, labelled_pool(member, vocabulary, 1500, missing=0.2), HornTheory(vocabulary))[
        -1
    ]
    envelope = {
        Rule(body, head)
        for size in range(width)
        for body in combinations(range(width), size)
        for head in (BOTTOM, *set(range(width)) - set(body))
        if not member(
            Batch.from_interpretations(
                [interpretation(vocabulary, body, () if head is BOTTOM else (head,))], vocabulary
            )
        )[0]
    }
    assert hypothesis.equivalent(HornTheory(vocabulary, envelope))
