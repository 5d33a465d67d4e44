"""Local search: every counterexample is one, and it finds those that sampling misses."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.distributions import Random
from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary
from hornbook.models import as_predictor
from hornbook.oracles import Budgeted, Classifier, Counted, LocalSearch, Sampling
from hornbook.oracles.local_search import START_FACTOR, Moves
from hornbook.queries import BudgetExhausted, Counterexample, Unknown
from hornbook.testing import Coin, Constant, Failing, Network, Slow, theories

PAIRED = Vocabulary.with_duals([f"x{i}" for i in range(20)])
PLAIN = Vocabulary([f"x{i}" for i in range(20)])
GROUPS = ((0, 1, 2), (5, 6))


def rng(seed=0):
    return np.random.default_rng(seed)


def rules_over(vocabulary, count=12, seed=0):
    """Rules from random items, together with the disjointness of pairs."""
    items = Random(vocabulary, 0.2).draw(count, rng(seed))
    rules = HornTheory(vocabulary, [Rule(sorted(item.true)[:4], BOTTOM) for item in items])
    return HornTheory.background(vocabulary) | rules


def teacher_over(vocabulary):
    return Network(Random(vocabulary), rng(3), accepted=0.95)


# what a search finds


@pytest.mark.parametrize(
    ("vocabulary", "groups", "decides_only"),
    [(PLAIN, (), False), (PAIRED, GROUPS, False), (PLAIN, GROUPS, True), (PAIRED, (), True)],
)
def test_everything_found_is_a_counterexample(vocabulary, groups, decides_only):
    teacher, hypothesis = teacher_over(vocabulary), rules_over(vocabulary)
    guided = LocalSearch(
        teacher,
        None if decides_only else teacher.margin,
        Random(vocabulary, groups=groups),
        seed=0,
        groups=groups,
        size=3_000,
        walkers=64,
    )
    sides = set()
    for batch, positive in guided.search(hypothesis):
        assert (teacher(batch) == positive).all()
        assert (hypothesis.satisfied_by(batch) != positive).all()
        values = batch.to_array()
        for v, w in vocabulary.pairs:
            np.testing.assert_array_equal(values[:, v], 1 - values[:, w])
        for group in groups:
            assert ((values[:, list(group)] == 1).sum(axis=1) <= 1).all()
        sides |= set(positive.tolist())
    assert sides == {True, False}


@pytest.mark.parametrize(("sides", "positive"), [(["negative"], False), (["positive"], True)])
def test_local_search_can_be_confined_to_a_side(sides, positive):
    teacher = teacher_over(PAIRED)
    guided = LocalSearch(teacher, teacher.margin, Random(PAIRED), seed=0, size=5_000, walkers=64)
    found = [answers for _, answers in guided.search(rules_over(PAIRED), sides)]
    assert found and (np.concatenate(found) == positive).all()


def test_local_search_background_is_never_contradicted():
    teacher, hypothesis = teacher_over(PLAIN), rules_over(PLAIN)
    background = HornTheory(PLAIN, hypothesis.rules[:6])
    guided = LocalSearch(
        teacher, teacher.margin, Random(PLAIN), seed=0, background=background, size=8_000, walkers=64
    )
    found = [batch for batch, _ in guided.search(hypothesis)]
    assert found and all(background.satisfied_by(batch).all() for batch in found)


@draw_examples(0.5)
@given(theories(max_variables=5), theories(max_variables=5))
def test_local_search_on_small_vocabularies_it_finds_what_there_is(truth, other):
    hypothesis = HornTheory(truth.vocabulary, (r for r in other if r.body | {r.head} <= allowed(truth)))
    guided = LocalSearch(truth.satisfied_by, None, Random(truth.vocabulary), seed=0, size=2_000, walkers=64)
    answer = guided(hypothesis)
    assert isinstance(answer, Unknown if truth.equivalent(hypothesis) else Counterexample)


def allowed(theory):
    return {*range(len(theory.vocabulary)), BOTTOM}


# where sampling finds nothing


def needle(length=40, width=100):
    """A teacher who rejects what makes a long body true, and its margin: how much of it is lacking."""
    vocabulary = Vocabulary.with_duals([f"x{i}" for i in range(width // 2)])
    body = np.arange(length)

    def margin(batch):
        return (length - 0.5 - (batch.to_array()[:, body] == 1).sum(axis=1)).astype(np.float32)

    return vocabulary, margin


@pytest.mark.parametrize("help_given", ["margin", "stored"])
def test_local_search_finds_a_needle_that_samples_miss(help_given):
    vocabulary, margin = needle()
    hypothesis = HornTheory.background(vocabulary)

    def member(batch):
        return margin(batch) >= 0

    sampled = Sampling(member, Random(vocabulary), 50_000, seed=0)(hypothesis)
    assert not isinstance(sampled, Counterexample)
    counted = Counted(member)
    guided = LocalSearch(
        counted,
        None if help_given == "stored" else margin,
        Random(vocabulary),
        seed=0,
    )
    if help_given == "stored":
        hypothesis |= HornTheory(vocabulary, [Rule({*range(41)}, BOTTOM)])
        guided.remember(
            Batch.from_interpretations(
                [Interpretation(frozenset(range(41)), frozenset(range(50, 91)))], vocabulary
            )
        )
    answer = guided(hypothesis)
    assert isinstance(answer, Counterexample) and not answer.positive
    assert answer.interpretation.true >= set(range(40))
    assert answer.found_by == "local search"


def test_it_finds_a_wrong_rule_that_samples_miss():
    """A rule of 16 literals is wrong where two further variables are true, which no sample meets."""
    body = frozenset(range(16))
    truth = HornTheory(PLAIN, [])

    def margin(batch):
        values = batch.to_array(0.5)
        broken = (values[:, :16] == 1).all(axis=1)
        return np.where(broken, values[:, 16] + values[:, 17] - 1.75, 1).astype(np.float32)

    def member(batch):
        return margin(batch) >= 0

    hypothesis = truth | HornTheory(PLAIN, [Rule(body, BOTTOM)])
    assert not isinstance(Sampling(member, Random(PLAIN), 100_000, seed=0)(hypothesis), Counterexample)
    answer = LocalSearch(member, margin, Random(PLAIN, 0.9), seed=0)(hypothesis)
    assert isinstance(answer, Counterexample) and answer.positive
    assert answer.interpretation.true >= body | {16, 17}


def test_a_classifier_is_searched_too():
    vocabulary = Vocabulary(["a", "b", "c", "d", "ill"])
    predictor = as_predictor(lambda array: array.mean(axis=1), encoding="half", threshold=0.9)
    classifier = Classifier(predictor, vocabulary, "ill")
    answer = LocalSearch(classifier, classifier.margin, Random(vocabulary), seed=0)(HornTheory(vocabulary))
    assert isinstance(answer, Counterexample)
    assert not classifier(Batch.from_interpretations([answer.interpretation], vocabulary))[0]


# where there is nothing to find


def test_without_a_counterexample_it_ends_and_gives_no_guarantee():
    theory = rules_over(PAIRED)
    counted = Counted(theory.satisfied_by)
    answer = LocalSearch(counted, None, Random(PAIRED), seed=0, size=15_000)(theory)
    assert isinstance(answer, Unknown) and "15000 interpretations" in str(answer)
    assert counted.questions <= 15_000 + START_FACTOR * 256 + 16 * 256 * 6


@pytest.mark.parametrize("rules", [[], [Rule((), BOTTOM)], [Rule((), 3)]])
@pytest.mark.parametrize("teacher", [Constant(True), Constant(False), Coin(rng())])
@pytest.mark.parametrize("sides", [["negative"], ["positive"]])
def test_local_search_ends_with_any_teacher_and_hypothesis(rules, teacher, sides):
    guided = LocalSearch(teacher, None, Random(PLAIN), seed=0, size=1_000, walkers=32)
    for batch, positive in guided.search(HornTheory(PLAIN, rules), sides):
        assert len(batch) == len(positive) > 0
        assert (positive == (sides == ["positive"])).all()


def test_local_search_noisy_teacher_is_believed_only_if_it_says_so_twice():
    """A tenth of what a coin accepts once it accepts twice."""
    coin = Coin(rng(), accepted=0.1)
    counted = Counted(coin)
    hypothesis = HornTheory(PLAIN, [Rule((), BOTTOM)])
    guided = LocalSearch(counted, None, Random(PLAIN), seed=0, size=4_000, walkers=32)
    found = sum(len(batch) for batch, _ in guided.search(hypothesis))
    assert 0 < found < 0.03 * counted.questions


def test_local_search_budget_ends_it():
    vocabulary, margin = needle()
    guided = LocalSearch(Constant(True), Budgeted(margin, 3000, None), Random(vocabulary), seed=0)
    with pytest.raises(BudgetExhausted, match="3000 membership queries"):
        guided(HornTheory.background(vocabulary))


def test_a_slow_teacher_does_not_outlast_its_time():
    slow = Budgeted(Slow(Constant(True), 0.02), None, 0.1)
    start = time.perf_counter()
    with pytest.raises(BudgetExhausted, match=r"0\.1 seconds"):
        LocalSearch(slow, None, Random(PLAIN), seed=0)(HornTheory(PLAIN))
    assert time.perf_counter() - start < 1


def test_local_search_teacher_that_breaks_is_not_silenced():
    with pytest.raises(RuntimeError, match="broke at question 1000"):
        LocalSearch(Failing(Constant(True)), None, Random(PLAIN), seed=0)(HornTheory(PLAIN))


# repeatability


def test_local_search_same_seed_finds_the_same():
    teacher, hypothesis = teacher_over(PAIRED), rules_over(PAIRED)

    def answers(seed):
        guided = LocalSearch(teacher, teacher.margin, Random(PAIRED), seed=seed, walkers=64)
        return [guided(hypothesis) for _ in range(3)]

    assert answers(1) == answers(1)
    assert answers(1) != answers(2)
    assert len({answer.interpretation for answer in answers(1)}) > 1


def test_local_search_resumed_run_goes_on_to_the_same():
    teacher, hypothesis = teacher_over(PAIRED), rules_over(PAIRED)

    def new():
        return LocalSearch(teacher, teacher.margin, Random(PAIRED), seed=1, walkers=64)

    whole, resumed = new(), new()
    expected = [whole(hypothesis) for _ in range(3)]
    for found in expected[:2]:
        resumed.replay(hypothesis, found)
    assert resumed(hypothesis) == expected[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0}, "size is at least 1; got 0"),
        ({"walkers": 0}, "walkers is at least 1; got 0"),
        ({"steps": 0}, "steps is at least 1; got 0"),
        ({"groups": ((0, 1), (1, 2))}, "in a group already"),
    ],
)
def test_local_search_bad_settings_are_refused(arguments, message):
    with pytest.raises(HornbookError, match=message):
        LocalSearch(Constant(True), None, Random(PLAIN), seed=0, **arguments)


# moves


@pytest.mark.parametrize("vocabulary", [PLAIN, PAIRED])
@pytest.mark.parametrize("groups", [(), GROUPS])
@given(seed=st.integers(0, 2**32 - 1))
@draw_examples(0.38)
def test_moves_change_what_they_say(vocabulary, groups, seed):
    moves = Moves(vocabulary, groups)
    batch = Random(vocabulary, groups=groups).draw(5, rng(seed))
    rows = moves.rows(batch)
    assert moves.batch(rows) == batch
    chosen = rng(seed).integers(0, len(moves), (5, 7))
    changed = moves.apply_each(rows, chosen)
    idle = moves.find_idle(rows)
    for item, row in enumerate(batch.to_array()):
        for place, move in enumerate(chosen[item]):
            value, position = divmod(int(move), moves.variables)
            expected = row.copy()
            variable = int(moves.literals.drawn[position])
            assign(expected, vocabulary, variable, (1, 0, np.nan)[value])
            for group in groups:
                if value == 0 and variable in group:
                    for other in set(group) - {variable}:
                        assign(expected, vocabulary, other, 0)
            found = moves.batch(changed[item, place][None]).to_array()[0]
            np.testing.assert_array_equal(found, expected)
            same = np.array_equal(expected[[variable]], row[[variable]], equal_nan=True)
            assert idle[item, move] == same


def assign(row, vocabulary, variable, value):
    row[variable] = value
    if (dual := vocabulary.dual(variable)) is not None:
        row[dual] = 1 - value


def test_stages_make_the_allowed_moves_one_after_another():
    moves = Moves(PAIRED)
    rows = moves.rows(Random(PAIRED).draw(4, rng()))
    chosen = rng(1).integers(0, len(moves), (4, 5))
    may = rng(2).random((4, 5)) < 0.6
    stages = moves.apply_prefixes(rows, chosen, may, (1, 2, 4))
    for number, count in enumerate((1, 2, 4)):
        expected = rows.copy()
        for item in range(4):
            for move in chosen[item, :count][may[item, :count]]:
                expected[item] = moves.apply_each(expected[[item]], np.array([[move]]))[0, 0]
        np.testing.assert_array_equal(stages[:, number], expected)
