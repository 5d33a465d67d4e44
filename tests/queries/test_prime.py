"""Prime bodies, against brute force: valid, prime, worth most beside each other."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from pools import PARTLY, PLAIN, VOCABULARIES, filled_pool, met, rng, some_terms

from hornbook.logic import BOTTOM, Batch, HornTheory, Rule, Vocabulary, bits, random_theory
from hornbook.queries import Counterexample, PerfectTeacher, Random, Settings, interpretation
from hornbook.queries.pool import Pool, term_of
from hornbook.queries.prime import HypothesisUpdater, prime
from hornbook.queries.protocol import batch_from_terms
from hornbook.queries.terms import TermCoverage, TermSearch, run_batched


def searched(theory, min_precision, seed, size=600):
    """A search whose pool a theory has labelled, and a rejected item of it."""
    pool = Pool(theory.vocabulary)
    batch = Random(theory.vocabulary, 0.3).draw(size, rng(seed))
    pool.add(batch, theory.satisfied_by(batch))
    pool.judge(HornTheory.background(theory.vocabulary))
    return TermSearch(pool, min_precision), margins_of(theory.satisfied_by, theory.vocabulary)


def margins_of(member, vocabulary):
    return lambda terms: np.where(member(batch_from_terms(vocabulary, terms)), 1.0, -1.0)


def is_valid(search, margins, term):
    """By brute force: rejected as a question, and precise on the open items."""
    question = np.zeros((2 * len(search.pool.vocabulary), 1), np.bool_)
    question[term] = True
    gain, harm = (
        int((met(side.batch, term) & bits.flat(side.open, len(side.batch))).sum())
        for side in (search.pool.rejected, search.pool.accepted)
    )
    return margins(question)[0] < 0 and harm <= (1 - search.min_precision) * (gain + harm)


@pytest.mark.parametrize("min_precision", [1.0, 0.8])
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_terms_are_valid_and_prime(vocabulary, min_precision):
    found = 0
    for seed in range(8):
        theory = HornTheory(vocabulary, random_theory(len(vocabulary), 4, (1, 3), rng(seed)).rules)
        theory = theory | HornTheory.background(vocabulary)
        search, margins = searched(theory, min_precision, seed)
        for at in search.pool.missed_positions()[:6].tolist():
            item = search.pool.rejected.batch[at]
            zeros = sorted(len(vocabulary) + v for v in item.false)
            for fixed in ([], zeros[:1]):
                fixed = np.array(fixed, np.intp)
                start = np.array(sorted({*item.true, *fixed.tolist()}), np.intp)
                (term,) = run_batched([search.prime(start, fixed)], margins)
                if term is None:
                    assert not is_valid(search, margins, start)
                    continue
                found += 1
                assert set(fixed) <= set(term) <= set(start) and is_valid(search, margins, term)
                for literal in set(term) - set(fixed):
                    assert not is_valid(search, margins, term[term != literal])
    assert found > 20


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_term_coverage_counts_what_only_one_term_meets(vocabulary):
    pool = filled_pool(vocabulary)
    for terms in (some_terms(vocabulary, 5, 6), some_terms(vocabulary, 6, 1), []):
        cover = TermCoverage.of(pool, terms)
        worths = np.zeros(len(terms), np.int64)
        for side, at_side, sign in ((pool.rejected, 0, 1), (pool.accepted, 1, -1)):
            dense = np.array([met(side.batch, t) for t in terms], np.bool_).reshape(-1, len(side.batch))
            only = dense & (dense.sum(axis=0) == 1)
            worths += sign * only.sum(axis=1)
            for at, uncovered in enumerate(cover.uncovered_by_others()):
                beside = ~np.delete(dense, at, axis=0).any(axis=0)
                assert (bits.flat(uncovered[at_side], len(side.batch)) == beside).all()
        assert cover.contributions(range(len(terms))).tolist() == worths.tolist()


@pytest.mark.parametrize("most", [1, 3, 6])
def test_the_terms_chosen_are_worth_most_as_far_as_exchanges_lead(most):
    """By brute force: no term that adds something is left while there is room, and no exchange helps."""
    exchanged = 0
    for seed in range(10):
        pool = filled_pool(PLAIN, seed=seed, accepted=0.3)
        terms = [term for term in some_terms(PLAIN, seed, 30) if len(term)]

        rejected, accepted = (
            np.array([met(side.batch, term) for term in terms]) for side in (pool.rejected, pool.accepted)
        )

        def value(chosen, rejected=rejected, accepted=accepted):
            return int(rejected[chosen].any(axis=0).sum() - accepted[chosen].any(axis=0).sum())

        start = list(range(most - 1, -1, -1))
        chosen = TermCoverage.of(pool, terms).choose_terms(start, most)
        exchanged += set(chosen) != set(start)
        assert len(set(chosen)) == len(chosen) <= most and value(chosen) >= value(start)
        best = max(range(len(terms)), key=lambda at: value([*chosen, at]))
        more = [*chosen, best]
        assert max(value([at for at in more if at != gone]) for gone in chosen) <= value(chosen)
        assert len(chosen) == most or value(more) <= value(chosen)
    assert exchanged


def test_the_rules_of_the_end_are_the_best_of_all_refined():
    theory = random_theory(12, 5, (1, 3), rng(2))
    batch = Random(theory.vocabulary).draw(3000, rng())
    labels = theory.satisfied_by(batch)
    pool, nothing = Pool(theory.vocabulary), HornTheory(theory.vocabulary)
    pool.add(batch, labels)
    revise = HypothesisUpdater(
        theory.satisfied_by, pool, Settings(min_precision=1, max_rules=5), background=nothing
    )
    lame = [Rule({*rule.body, v}, rule.head) for rule in theory for v in range(12) if v != rule.head]
    lame = [rule for rule in lame if rule not in set(theory)]
    h, others = HornTheory(theory.vocabulary, lame[:1]), lame[1:]
    revise.refuted[others[0]] = batch[0]
    pairs = revise.choose_final_rules(h, others, pool)
    found = HornTheory(theory.vocabulary, (rule for _, rule in pairs))
    assert {before for before, _ in pairs} <= set(lame) - {others[0]} and len(found) == len(pairs) <= 5
    assert theory.entails(found)
    assert (found.satisfied_by(batch) != labels).sum() < (h.satisfied_by(batch) != labels).sum() / 4


@pytest.mark.parametrize(("min_precision", "harm_weight"), [(1.0, 1), (0.8, 1), (0.8, 4)])
def test_a_refined_term_is_worth_no_less_and_cannot_be_bettered(min_precision, harm_weight):
    """By brute force over every literal left out, put in or exchanged."""
    changed = 0
    for seed in range(12):
        theory = random_theory(8, 4, (1, 3), rng(seed))
        search, _ = searched(theory, min_precision, seed)
        search = replace(search, harm_weight=harm_weight)
        pool = search.pool

        def value(term, pool=pool):
            gain, harm = (
                int((met(side.batch, term) & bits.flat(side.open, len(side.batch))).sum())
                for side in (pool.rejected, pool.accepted)
            )
            return gain - harm_weight * harm

        def is_possible(term, pool=pool):
            gain, harm = (int(met(side.batch, term).sum()) for side in (pool.rejected, pool.accepted))
            return harm <= (1 - min_precision) * (gain + harm)

        item = pool.rejected.batch[int(pool.missed_positions()[0])]
        fixed = np.array([8 + min(item.false)] if item.false else [], np.intp)
        start = np.array(sorted({*item.true, *fixed.tolist()}), np.intp)
        if not is_possible(start):
            continue
        term = search.refine(start, fixed)
        changed += set(term.tolist()) != set(start.tolist())
        assert value(term) >= value(start) and set(fixed) <= set(term)
        for gone in (None, *(set(term.tolist()) - set(fixed.tolist()))):
            rest = term[term != gone]
            if gone is not None and is_possible(rest):
                assert value(rest) < value(term)
            most = max(value(np.append(rest, v)) for v in range(8))
            best = [v for v in range(8) if value(np.append(rest, v)) == most]
            if is_possible(np.append(rest, best[0])):
                assert most <= value(term)
    assert changed > 3


def test_searches_together_find_what_they_find_alone_in_fewer_batches():
    theory = random_theory(12, 6, (2, 3), rng(1))
    search, margins = searched(theory, 1.0, 1)
    batches = []

    def counted(terms):
        batches.append(terms.shape[1])
        return margins(terms)

    missed = [search.pool.rejected.batch[at] for at in search.pool.missed_positions()[:6].tolist()]
    fixed = [np.array([12 + v for v in sorted(item.false)], np.intp) for item in missed]
    starts = [(term_of(item, 12), zeros) for item, zeros in zip(missed, fixed, strict=True)]
    alone = [run_batched([search.prime(*start)], counted)[0] for start in starts]
    one_by_one = list(batches)
    batches.clear()
    found = run_batched([search.prime(*start) for start in starts], counted)
    assert all(np.array_equal(a, b) for a, b in zip(alone, found, strict=True))
    assert sum(batches) == sum(one_by_one) and 2 * len(batches) < len(one_by_one)
    assert run_batched([], counted) == []


def test_there_are_no_more_rules_than_allowed_and_the_least_useful_go():
    theory = random_theory(12, 8, (1, 3), rng(2))
    pool = Pool(theory.vocabulary)
    batch = Random(theory.vocabulary).draw(3000, rng())
    pool.add(batch, theory.satisfied_by(batch))
    nothing = HornTheory(theory.vocabulary)
    revise = HypothesisUpdater(
        theory.satisfied_by, pool, Settings(min_precision=1, max_rules=3), background=nothing
    )
    hypothesis, wrong = nothing, []
    for _ in range(15):
        if (item := pool.first_missed(hypothesis)) is None:
            break
        hypothesis = revise(hypothesis, Counterexample(item)).apply_to(hypothesis)
        wrong.append(int((hypothesis.satisfied_by(batch) != theory.satisfied_by(batch)).sum()))
        assert len(hypothesis) <= 3 and theory.entails(hypothesis)
    assert len(hypothesis) == 3 and wrong[-1] == min(wrong)


def test_hypothesis_updater_takes_infinite_margins():
    theory = HornTheory.parse("x0 & x1 -> x2", PLAIN)
    pool = Pool(PLAIN)
    batch = Random(PLAIN).draw(500, rng())
    pool.add(batch, theory.satisfied_by(batch))
    margin = lambda items: np.where(theory.satisfied_by(items), np.inf, -1.0)  # noqa: E731
    revise = HypothesisUpdater(theory.satisfied_by, pool, margin=margin, background=HornTheory(PLAIN))
    item = pool.first_missed(HornTheory(PLAIN))
    assert revise(HornTheory(PLAIN), Counterexample(item)).added == (Rule({0, 1}, 2),)


def as_teacher(formula, width):
    """Any formula over total assignments, as a coherent teacher of partial ones."""
    models = np.array([row for row in product([0.0, 1.0], repeat=width) if formula(row)])

    def member(batch):
        rows = batch.to_array()
        return np.array([bool(((models == row) | np.isnan(row)).all(axis=1).any()) for row in rows], np.bool_)

    return member


def test_hypothesis_updater_uses_the_given_heads_the_preferred_first():
    theory = HornTheory.parse("a & b -> c\na & c -> ill", PARTLY) | HornTheory.background(PARTLY)
    pool = Pool(PARTLY)
    batch = Random(PARTLY).draw(2000, rng())
    pool.add(batch, theory.satisfied_by(batch))
    background = HornTheory.background(PARTLY)

    def learned(heads):
        revise = HypothesisUpdater(
            theory.satisfied_by, pool, Settings(min_precision=1), background=background, heads=heads
        )
        hypothesis, rules = background, set()
        for _ in range(20):
            item = pool.first_missed(hypothesis)
            if item is None:
                break
            change = revise(hypothesis, Counterexample(item))
            hypothesis = change.apply_to(hypothesis)
            rules |= {*change.added}
        return hypothesis, rules

    any_head, _ = learned(None)
    assert any_head.entails("a & b -> c")  # c has no dual, so only as a head can it be false
    assert any_head.equivalent(HornTheory.parse("a & b -> c\na & c & well -> false", PARTLY) | background)
    for heads in ([3], [3, 4], [4, BOTTOM], [2]):
        hypothesis, rules = learned(heads)
        assert rules and {rule.head for rule in rules} <= set(heads)
        assert theory.entails(hypothesis)
        pool._given_up.clear()


@pytest.mark.parametrize("seed", range(4))
def test_the_learner_is_exact_with_a_perfect_teacher(seed):
    theory = random_theory(8, 6, (1, 3), rng(seed))
    teacher, nothing = PerfectTeacher(theory, "violated", rng(seed)), HornTheory(theory.vocabulary)
    pool = Pool(theory.vocabulary)
    batch = Random(theory.vocabulary).draw(2000, rng(seed))
    pool.add(batch, theory.satisfied_by(batch))
    revise = HypothesisUpdater(theory.satisfied_by, pool, Settings(min_precision=1), background=nothing)
    steps = list(prime(teacher.equivalent, revise, nothing))
    assert steps[-1].hypothesis.equivalent(theory)
    assert all(theory.entails(step.hypothesis) for step in steps)


def test_a_formula_that_is_not_horn_gives_rules_that_it_entails():
    width = 6
    formula = lambda row: (row[0] or row[1] or not row[2]) and not (row[3] and row[4] and not row[5])  # noqa: E731
    vocabulary = Vocabulary([f"x{i}" for i in range(width)])
    member = as_teacher(formula, width)
    pool = Pool(vocabulary)
    batch = Random(vocabulary, 0.2).draw(1500, rng())
    pool.add(batch, member(batch))
    revise = HypothesisUpdater(member, pool, Settings(min_precision=1), background=HornTheory(vocabulary))
    hypothesis = HornTheory(vocabulary)
    for _ in range(40):
        if (item := pool.first_missed(hypothesis)) is None:
            break
        hypothesis = revise(hypothesis, Counterexample(item)).apply_to(hypothesis)
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
