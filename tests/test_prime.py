"""Prime bodies and the pool that weighs them, against brute force; blame finds a guilty rule."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary
from hornbook.distributions import Random
from hornbook.learners.blame import blame
from hornbook.learners.body import Search, View, worth
from hornbook.learners.contribution import Cover
from hornbook.learners.pool import Pool, all_but_one, count, imposed, literals, said
from hornbook.learners.prime import Reviser, prime
from hornbook.learners.together import together
from hornbook.logic import bits
from hornbook.logic.generate import random_theory
from hornbook.oracles.filters import Counted
from hornbook.oracles.teacher import PerfectTeacher
from hornbook.queries import Change, Counterexample, Step, asked, interpretation
from hornbook.testing.strategies import theories
from hornbook.traces import read_step, step_object

PLAIN = Vocabulary([f"x{i}" for i in range(8)])
PAIRED = Vocabulary.with_duals([f"x{i}" for i in range(5)])
PARTLY = Vocabulary(["a", "b", "c", "ill", "well"], {"ill": "well"})
VOCABULARIES = [PLAIN, PAIRED, PARTLY]


def rng(seed=0):
    return np.random.default_rng(seed)


def has(batch):
    """Whether each item has each literal, dense: a (k, 2n) matrix."""
    dense = batch.to_array()
    return np.concatenate([dense == 1, dense == 0], axis=1)


def filled_pool(vocabulary, size=300, seed=0, accepted=0.7):
    pool = Pool(vocabulary)
    batch = Random(vocabulary, 0.4).draw(size, rng(seed))
    pool.add(batch, rng(seed + 1).random(size) < accepted)
    return pool


def some_terms(vocabulary, seed, times=20):
    generator = rng(seed)
    width = 2 * len(vocabulary)
    return [generator.permutation(width)[: generator.integers(0, 4)].astype(np.intp) for _ in range(times)]


def met(batch, term):
    return has(batch)[:, term].all(axis=1)


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("size", [0, 1, 63, 64, 300])
def test_a_side_counts_what_a_dense_table_counts(vocabulary, size):
    pool = filled_pool(vocabulary, size, size)
    hypothesis = HornTheory(vocabulary, [Rule({0, 1}, BOTTOM), Rule({2}, 3)])
    pool.judge(hypothesis)
    for side in (pool.rejected, pool.accepted):
        is_open = hypothesis.satisfied_by(side.batch)
        assert (bits.flat(side.open, len(side.batch)) == is_open).all()
        for term in some_terms(vocabulary, size):
            expected = met(side.batch, term)
            assert (bits.flat(side.meeting(term), len(side.batch)) == expected).all()
            assert count(side.meeting(term)) == expected.sum()
            having = has(side.batch)
            for at, row in enumerate(side.neighbours(term)):
                rest = term if at == len(term) else np.delete(term, at)
                near = met(side.batch, rest) & is_open & (expected if at == len(term) else ~expected)
                assert row[-1] == near.sum()
                assert row[:-1].tolist() == having[near, : len(vocabulary)].sum(axis=0).tolist()
    assert pool.missed().tolist() == np.flatnonzero(hypothesis.satisfied_by(pool.rejected.batch)).tolist()


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_a_view_counts_what_a_dense_table_counts(vocabulary):
    pool = filled_pool(vocabulary, 3000)
    pool.judge(HornTheory(vocabulary, [Rule({0}, BOTTOM)]))
    seed = np.arange(2 * len(vocabulary))
    for number, start in enumerate(some_terms(vocabulary, 3)):
        side = pool.accepted
        view, term = View.of(side, seed, start), start
        for position in rng(number).permutation(len(seed)).tolist():
            dense = met(side.batch, term) & bits.flat(side.open, len(side.batch))
            assert count(view.meeting) == dense.sum()
            assert view.counts().tolist() == (has(side.batch) & dense[:, None]).sum(axis=0).tolist()
            view, term = view.narrowed(np.array([position])), np.append(term, seed[position])


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
    nothing = HornTheory(PLAIN)
    assert pool.first_missed(nothing) == narrow
    pool.give_up(narrow)
    assert pool.first_missed(nothing) == wide
    pool.give_up(wide)
    assert pool.first_missed(nothing) is None


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_imposed_items_meet_the_term_and_are_else_the_same(vocabulary):
    batch = Random(vocabulary).draw(130, rng())
    for term in ([], [0], [1, len(vocabulary) + 2]):
        term = np.array(term, np.intp)
        made = imposed(batch, term)
        assert met(made, term).all()
        assert not (made.true & made.false).any()
        touched = {v for literal in term.tolist() for v in (literal % len(vocabulary),)}
        touched |= {vocabulary.dual(v) for v in touched}
        same = [v for v in range(len(vocabulary)) if v not in touched]
        assert (made.true[same] == batch.true[same]).all() and (made.false[same] == batch.false[same]).all()
        for v, w in vocabulary.pairs:
            assert (made.true[v] == made.false[w]).all() and (made.true[w] == made.false[v]).all()


def test_the_nearest_accepted_items_lack_the_least():
    pool = filled_pool(PLAIN)
    term = np.array([0, 1, 8 + 2, 8 + 5])
    near = pool.accepted_nearest(term, 20)
    lacking = (~has(pool.accepted.batch)[:, term]).sum(axis=1)
    expected = imposed(pool.accepted.batch[np.argsort(lacking, kind="stable")[:20]], term)
    assert near == expected and met(near, term).all()
    assert len(pool.accepted_nearest(term, 10_000)) == len(pool.accepted.batch)


@given(st.integers(0, 8), st.integers(0, 2**32 - 1))
def test_all_but_one(rows, seed):
    words = rng(seed).integers(0, 2**64, (rows, 3), np.uint64)
    start = rng(seed + 1).integers(0, 2**64, 3, np.uint64)
    for at, found in enumerate(all_but_one(words, start)):
        others = np.delete(words, at, axis=0)
        assert (found == np.bitwise_and.reduce(np.concatenate([others, start[None]]), axis=0)).all()


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_asked_equals_interpretation_item_by_item(vocabulary):
    width = len(vocabulary)
    terms = np.zeros((200, 2 * width), np.bool_)
    generator, items = rng(), []
    for row in terms:
        values = generator.choice(3, width, p=[0.2, 0.2, 0.6])
        for v, w in vocabulary.pairs:
            values[generator.choice([v, w])] = 2  # one of a pair at most, so that nothing conflicts
        row[:width], row[width:] = values == 1, values == 0
        items.append(
            interpretation(vocabulary, np.flatnonzero(values == 1).tolist(), np.flatnonzero(values == 0))
        )
    assert asked(vocabulary, terms) == Batch.from_interpretations(items, vocabulary)
    assert len(asked(vocabulary, terms[:0])) == 0


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_a_term_and_the_item_that_says_it(vocabulary):
    for item in Random(vocabulary).draw(20, rng()):
        term = literals(item, len(vocabulary))
        assert said(term, len(vocabulary)) == item
        assert met(Batch.from_interpretations([item], vocabulary), term).all()


def searched(theory, min_precision, seed, size=600):
    """A search whose pool a theory has labelled, and a rejected item of it."""
    pool = Pool(theory.vocabulary)
    batch = Random(theory.vocabulary, 0.3).draw(size, rng(seed))
    pool.add(batch, theory.satisfied_by(batch))
    pool.judge(HornTheory.background(theory.vocabulary))
    return Search(pool, min_precision), margins_of(theory.satisfied_by, theory.vocabulary)


def margins_of(member, vocabulary):
    return lambda terms: np.where(member(asked(vocabulary, terms)), 1.0, -1.0)


def is_valid(search, margins, term):
    """By brute force: rejected as a question, and precise on the open items."""
    row = np.zeros((1, 2 * len(search.pool.vocabulary)), np.bool_)
    row[0, term] = True
    gain, harm = (
        int((met(side.batch, term) & bits.flat(side.open, len(side.batch))).sum())
        for side in (search.pool.rejected, search.pool.accepted)
    )
    return margins(row)[0] < 0 and harm <= (1 - search.min_precision) * (gain + harm)


@pytest.mark.parametrize("min_precision", [1.0, 0.8])
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_terms_are_valid_and_prime(vocabulary, min_precision):
    found = 0
    for seed in range(8):
        theory = HornTheory(vocabulary, random_theory(len(vocabulary), 4, (1, 3), rng(seed)).rules)
        theory = theory | HornTheory.background(vocabulary)
        search, margins = searched(theory, min_precision, seed)
        for at in search.pool.missed()[:6].tolist():
            item = search.pool.rejected.batch[at]
            zeros = sorted(len(vocabulary) + v for v in item.false)
            for fixed in ([], zeros[:1]):
                fixed = np.array(fixed, np.intp)
                start = np.array(sorted({*item.true, *fixed.tolist()}), np.intp)
                (term,) = together([search.prime(start, fixed)], margins)
                if term is None:
                    assert not is_valid(search, margins, start)
                    continue
                found += 1
                assert set(fixed) <= set(term) <= set(start) and is_valid(search, margins, term)
                for literal in set(term) - set(fixed):
                    assert not is_valid(search, margins, term[term != literal])
    assert found > 20


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_a_cover_counts_what_only_one_term_meets(vocabulary):
    pool = filled_pool(vocabulary)
    for terms in (some_terms(vocabulary, 5, 6), some_terms(vocabulary, 6, 1), []):
        cover = Cover.of(pool, terms)
        worths = np.zeros(len(terms), np.int64)
        for side, at_side, sign in ((pool.rejected, 0, 1), (pool.accepted, 1, -1)):
            dense = np.array([met(side.batch, t) for t in terms], np.bool_).reshape(-1, len(side.batch))
            only = dense & (dense.sum(axis=0) == 1)
            worths += sign * only.sum(axis=1)
            for at in range(len(terms)):
                assert (bits.flat(cover.alone(at)[at_side], len(side.batch)) == only[at]).all()
                beside = ~np.delete(dense, at, axis=0).any(axis=0)
                assert (bits.flat(cover.beside(at)[at_side], len(side.batch)) == beside).all()
        assert cover.contributions().tolist() == worths.tolist()


@pytest.mark.parametrize("most", [1, 3, 6])
def test_the_terms_chosen_are_worth_most_as_far_as_exchanges_lead(most):
    """By brute force: no term that adds something is left while there is room, and no exchange helps."""
    exchanged = 0
    for seed in range(10):
        pool = filled_pool(PLAIN, seed=seed, accepted=0.3)
        terms = [term for term in some_terms(PLAIN, seed, 30) if len(term)]

        def value(chosen, pool=pool, terms=terms):
            rejected, accepted = (
                int(np.any([met(side.batch, terms[at]) for at in chosen], axis=0).sum())
                for side in (pool.rejected, pool.accepted)
            )
            return rejected - accepted

        start = list(range(most - 1, -1, -1))
        chosen = Cover.of(pool, terms).best(start, most)
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
    revise = Reviser(theory.satisfied_by, pool, background=nothing, min_precision=1, max_rules=5)
    lame = [Rule({*rule.body, v}, rule.head) for rule in theory for v in range(12) if v != rule.head]
    lame = [rule for rule in lame if rule not in set(theory)]
    h, others = HornTheory(theory.vocabulary, lame[:1]), lame[1:]
    revise.refuted[others[0]] = batch[0]
    pairs = revise.finished(h, others, pool)
    found = HornTheory(theory.vocabulary, (rule for _, rule in pairs))
    assert {before for before, _ in pairs} <= set(lame) - {others[0]} and len(found) == len(pairs) <= 5
    assert theory.entails(found)
    assert (found.satisfied_by(batch) != labels).sum() < (h.satisfied_by(batch) != labels).sum() / 4


@pytest.mark.parametrize("min_precision", [1.0, 0.8])
def test_a_refined_term_is_worth_no_less_and_cannot_be_bettered(min_precision):
    """By brute force over every literal left out, put in or exchanged."""
    changed = 0
    for seed in range(12):
        theory = random_theory(8, 4, (1, 3), rng(seed))
        search, margins = searched(theory, min_precision, seed)
        pool = search.pool

        def value(term, pool=pool):
            gain, harm = (
                int((met(side.batch, term) & bits.flat(side.open, len(side.batch))).sum())
                for side in (pool.rejected, pool.accepted)
            )
            return worth(gain, harm)

        def is_possible(term, pool=pool, margins=margins):
            gain, harm = (int(met(side.batch, term).sum()) for side in (pool.rejected, pool.accepted))
            row = np.zeros((1, 16), np.bool_)
            row[0, term] = True
            return margins(row)[0] < 0 and harm <= (1 - min_precision) * (gain + harm)

        item = pool.rejected.batch[int(pool.missed()[0])]
        fixed = np.array([8 + min(item.false)] if item.false else [], np.intp)
        start = np.array(sorted({*item.true, *fixed.tolist()}), np.intp)
        if not is_possible(start):
            continue
        (term,) = together([search.refine(start, fixed)], margins)
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

    def counted(rows):
        batches.append(len(rows))
        return margins(rows)

    starts = [literals(search.pool.rejected.batch[at], 12) for at in search.pool.missed()[:6].tolist()]
    nothing = np.array([], np.intp)
    alone = [together([search.prime(start, nothing)], counted)[0] for start in starts]
    one_by_one = list(batches)
    batches.clear()
    found = together([search.prime(start, nothing) for start in starts], counted)
    assert all(np.array_equal(a, b) for a, b in zip(alone, found, strict=True))
    assert sum(batches) == sum(one_by_one) and 2 * len(batches) < len(one_by_one)
    assert together([], counted) == []


def test_there_are_no_more_rules_than_allowed_and_the_least_useful_go():
    theory = random_theory(12, 8, (1, 3), rng(2))
    pool = Pool(theory.vocabulary)
    batch = Random(theory.vocabulary).draw(3000, rng())
    pool.add(batch, theory.satisfied_by(batch))
    nothing = HornTheory(theory.vocabulary)
    revise = Reviser(theory.satisfied_by, pool, background=nothing, min_precision=1, max_rules=3)
    hypothesis, wrong = nothing, []
    for _ in range(15):
        if (item := pool.first_missed(hypothesis)) is None:
            break
        hypothesis = revise(hypothesis, Counterexample(item)).applied_to(hypothesis)
        wrong.append(int((hypothesis.satisfied_by(batch) != theory.satisfied_by(batch)).sum()))
        assert len(hypothesis) <= 3 and theory.entails(hypothesis)
    assert len(hypothesis) == 3 and wrong[-1] == min(wrong)


def test_a_margin_of_infinity_does_not_confuse_the_search():
    theory = HornTheory.parse("x0 & x1 -> x2", PLAIN)
    pool = Pool(PLAIN)
    batch = Random(PLAIN).draw(500, rng())
    pool.add(batch, theory.satisfied_by(batch))
    margin = lambda items: np.where(theory.satisfied_by(items), np.inf, -1.0)  # noqa: E731
    revise = Reviser(theory.satisfied_by, pool, margin=margin, background=HornTheory(PLAIN))
    item = pool.first_missed(HornTheory(PLAIN))
    assert revise(HornTheory(PLAIN), Counterexample(item)).added == (Rule({0, 1}, 2),)


def as_teacher(formula, width):
    """Any formula over total assignments, as a coherent teacher of partial ones."""
    models = np.array([row for row in product([0.0, 1.0], repeat=width) if formula(row)])

    def member(batch):
        rows = batch.to_array()
        return np.array([bool(((models == row) | np.isnan(row)).all(axis=1).any()) for row in rows], np.bool_)

    return member


def test_heads_are_those_wanted_and_the_preferred_first():
    theory = HornTheory.parse("a & b -> c\na & c -> ill", PARTLY) | HornTheory.background(PARTLY)
    pool = Pool(PARTLY)
    batch = Random(PARTLY).draw(2000, rng())
    pool.add(batch, theory.satisfied_by(batch))
    background = HornTheory.background(PARTLY)

    def learned(heads):
        revise = Reviser(theory.satisfied_by, pool, background=background, heads=heads, min_precision=1)
        hypothesis, rules = background, set()
        for _ in range(20):
            item = pool.first_missed(hypothesis)
            if item is None:
                break
            change = revise(hypothesis, Counterexample(item))
            hypothesis = change.applied_to(hypothesis)
            rules |= {*change.added, *(after for _, after in change.refined)}
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
    revise = Reviser(theory.satisfied_by, pool, background=nothing, min_precision=1)
    steps = list(prime(teacher.equivalent, revise, nothing))
    assert steps[-1].hypothesis.equivalent(theory)
    assert all(theory.entails(step.hypothesis) for step in steps)


@given(st.data())
@settings(max_examples=60)
def test_blame_falls_on_a_rule_of_the_derivation(data):
    hypothesis = data.draw(theories(6, 8))
    width = len(hypothesis.vocabulary)
    values = data.draw(st.lists(st.sampled_from([0, 1, None]), min_size=width, max_size=width))
    witness = Interpretation(
        frozenset(v for v, value in enumerate(values) if value == 1),
        frozenset(v for v, value in enumerate(values) if value == 0),
    )
    batch = Batch.from_interpretations([witness], hypothesis.vocabulary)
    if hypothesis.satisfied_by(batch)[0]:
        return
    true_rules = data.draw(theories(width, 4)).rules
    truth = HornTheory(
        hypothesis.vocabulary,
        [r for r in true_rules if max([*r.body, 0]) < width and (r.head is BOTTOM or r.head < width)],
    )
    if not truth.satisfied_by(batch)[0]:
        return
    rule = blame(truth.satisfied_by, hypothesis, witness)
    # the rule is wrong: the truth, which accepts the witness, does not entail it
    assert rule in hypothesis.rules and not truth.entails(rule)
    fires_on = hypothesis.closure(witness.true)
    assert rule.body <= fires_on and rule.head in fires_on


def test_blame_walks_a_chain():
    names = Vocabulary(list("abcdef"))
    chain = [Rule({v}, v + 1) for v in range(5)]
    for wrong in range(5):
        truth = HornTheory(names, [rule for rule in chain if rule.head != wrong + 1])
        counted = Counted(truth.satisfied_by)
        witness = Interpretation(frozenset({0}), frozenset({5}))
        assert blame(counted, HornTheory(names, chain), witness) == chain[wrong]
        assert counted.questions == 4 and counted.batches == 1


def test_blame_in_a_paired_vocabulary():
    truth = HornTheory.parse("x0 -> x1", PAIRED) | HornTheory.background(PAIRED)
    wrong = HornTheory.background(PAIRED) | HornTheory.parse("x0 -> x1\nx1 -> x2\nx1 -> not_x2", PAIRED)
    witness = interpretation(PAIRED, {0}, {3})
    assert truth.satisfied_by(Batch.from_interpretations([witness], PAIRED))[0]
    rule = blame(truth.satisfied_by, wrong, witness)
    assert rule in wrong.rules and rule not in truth.rules


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_a_step_is_read_as_it_was_written(vocabulary):
    items = list(Random(vocabulary).draw(6, rng()))
    hypothesis = HornTheory(vocabulary)
    answer = Counterexample(items[0], True, "sampling", (3, 1, 100))
    rules = [Rule({0, 1}, BOTTOM), Rule({1}, 0)]
    for change in (
        Change(added=(rules[0],), failed=(tuple(items[1:3]), (items[0],))),
        Change(removed=(rules[1],), witness=items[4]),
        Change(added=(rules[0],), removed=(rules[1],), refined=((Rule({0}, 1), Rule({0, 2}, 1)),)),
        Change(given_up=items[5]),
    ):
        step = Step(hypothesis, answer, change)
        assert read_step(hypothesis, step_object(step)) == step
        assert change.is_idle == (change.given_up is not None)
    start = HornTheory(vocabulary, rules[1:])
    assert Change(added=(rules[0],), removed=(rules[1],)).applied_to(start).rules == (rules[0],)
    other = Rule({0, 2}, 1)
    assert Change((rules[0],), refined=((rules[1], other),)).applied_to(start).rules == (other, rules[0])


def test_a_formula_that_is_not_horn_gives_rules_that_it_entails():
    width = 6
    formula = lambda row: (row[0] or row[1] or not row[2]) and not (row[3] and row[4] and not row[5])  # noqa: E731
    vocabulary = Vocabulary([f"x{i}" for i in range(width)])
    member = as_teacher(formula, width)
    pool = Pool(vocabulary)
    batch = Random(vocabulary, 0.2).draw(1500, rng())
    pool.add(batch, member(batch))
    revise = Reviser(member, pool, background=HornTheory(vocabulary), min_precision=1)
    hypothesis = HornTheory(vocabulary)
    for _ in range(40):
        if (item := pool.first_missed(hypothesis)) is None:
            break
        hypothesis = revise(hypothesis, Counterexample(item)).applied_to(hypothesis)
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
