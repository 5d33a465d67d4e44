"""The Horn envelope against its definition: the intersections of accepted cases."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import HornTheory, Vocabulary
from hornbook.deadline import Deadline, Stopwatch
from hornbook.logic import Rule
from hornbook.queries import (
    Counterexample,
    Envelope,
    Exact,
    KnownCases,
    Membership,
    World,
    find_envelope,
    learn_by_samples,
)


def close_under_intersection(cases: set[frozenset[int]]) -> set[frozenset[int]]:
    closed = set(cases)
    while new := {a & b for a, b in combinations(closed, 2)} - closed:
        closed |= new
    return closed


def true_sets(world: World, chosen: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(case).tolist()) for case in world.table.T[chosen]}


def check_envelope(world: World, accepted: np.ndarray) -> Envelope:
    envelope = find_envelope(world, accepted)
    models = true_sets(world, envelope.theory.satisfied_by(world.batch))
    assert models == close_under_intersection(true_sets(world, accepted))
    beyond = np.zeros(len(world), np.bool_)
    beyond[envelope.beyond_horn] = True
    assert true_sets(world, beyond) == models - true_sets(world, accepted)
    return envelope


def check_clauses(envelope: Envelope) -> None:
    """Clauses hold of what is accepted, exclude all cases beyond Horn rules, and are as short as can be."""
    table, left = envelope.world.table, set(envelope.beyond_horn.tolist())
    for true, false in envelope.list_clauses():

        def excluded(true: frozenset[int], false: frozenset[int]) -> np.ndarray:
            return table[sorted(true)].all(axis=0) & ~table[sorted(false)].any(axis=0)

        assert len(false) > 1
        assert not (excluded(true, false) & envelope.accepted).any()
        for v in true:
            assert (excluded(true - {v}, false) & envelope.accepted).any()
        for v in false:
            assert (excluded(true, false - {v}) & envelope.accepted).any()
        before = len(left)
        left -= set(np.flatnonzero(excluded(true, false)).tolist())
        assert len(left) < before
    assert not left


def names(count: int) -> Vocabulary:
    return Vocabulary([f"v{number}" for number in range(count)])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_boolean_function_of_few_variables_has_its_envelope(count: int) -> None:
    world = World(names(count))
    for answers in product([False, True], repeat=len(world)):
        check_clauses(check_envelope(world, np.array(answers)))


def test_every_boolean_function_of_four_variables_has_its_envelope() -> None:
    """Of functions that differ by the order of their variables one is enough: 3,984 of 65,536."""
    world = World(names(4))
    functions = np.arange(2 ** len(world))
    bits = functions[:, None] >> np.arange(len(world)) & 1
    least = functions.copy()
    for order in permutations(range(4)):
        moved = np.arange(len(world)).reshape(world.shape).transpose(order).reshape(-1)
        least = np.minimum(least, (bits << moved).sum(axis=1))
    different = functions[least == functions]
    assert len(different) == 3984
    masks = [sum(1 << v for v in case.true) for case in world.list_cases(list(range(len(world))))]
    for function in different.tolist():
        accepted = np.array([function >> case & 1 for case in range(len(world))], np.bool_)
        closed = {mask for mask, yes in zip(masks, accepted, strict=True) if yes}
        while new := {one & other for one in closed for other in closed} - closed:
            closed |= new
        satisfied = find_envelope(world, accepted).theory.satisfied_by(world.batch)
        assert {mask for mask, yes in zip(masks, satisfied, strict=True) if yes} == closed


@st.composite
def worlds(draw: st.DrawFn) -> World:
    count = draw(st.integers(1, 8))
    groups, start = [], 0
    while start < count:
        size = draw(st.integers(1, min(4, count - start)))
        groups.append(tuple(range(start, start + size)))
        start += size
    return World(names(count), tuple(group for group in groups if len(group) > 1))


@given(worlds(), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_random_functions_over_exclusive_groups_have_their_envelope(
    world: World, share: float, seed: int
) -> None:
    accepted = np.random.default_rng(seed).random(len(world)) < share
    check_clauses(check_envelope(world, accepted))


@given(worlds(), st.integers(0, 2**32 - 1))
def test_the_rules_are_the_canonical_basis_above_the_background(world: World, seed: int) -> None:
    """No theory with the same models and background has fewer bodies."""
    accepted = np.random.default_rng(seed).random(len(world)) < 0.5
    envelope = find_envelope(world, accepted)
    bodies = {rule.body for rule in envelope.rules}
    for body in bodies:
        others = HornTheory(world.vocabulary, (rule for rule in envelope.theory if rule.body != body))
        assert not others.equivalent(envelope.theory)
    assert len(bodies) <= len({rule.body for rule in envelope.theory.canonical()})


@given(worlds(), st.data())
def test_the_envelope_of_a_horn_theory_is_the_theory(world: World, data: st.DataObject) -> None:
    variables = st.integers(0, len(world.vocabulary) - 1)
    rules = [
        Rule(body - {head}, head)
        for body, head in data.draw(
            st.lists(st.tuples(st.frozensets(variables, max_size=3), variables), max_size=5)
        )
    ]
    theory = world.background | HornTheory(world.vocabulary, rules)
    envelope = find_envelope(world, theory.satisfied_by(world.batch))
    assert envelope.theory.equivalent(theory)
    assert not len(envelope.beyond_horn)


@given(worlds(), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_short_rules_say_the_same_and_none_can_be_left_out(world: World, share: float, seed: int) -> None:
    accepted = np.random.default_rng(seed).random(len(world)) < share
    envelope = find_envelope(world, accepted)
    short = envelope.shorten()
    assert short.equivalent(envelope.theory)
    known = set(world.background)
    for rule in set(short) - known:
        others = HornTheory(world.vocabulary, (other for other in short if other != rule))
        assert not others.entails(rule)
        for v in rule.body:
            assert not envelope.theory.entails(Rule(rule.body - {v}, rule.head))


def test_a_scan_that_has_no_time_left_says_how_much_is_open() -> None:
    world = World(names(12), ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10)))
    accepted = np.random.default_rng(3).random(len(world)) < 0.7
    envelope = find_envelope(world, accepted, Deadline.after(0))
    assert not envelope.is_complete and envelope.guarantee.kind == "undecided"
    open_cases = len(world) - len(close_under_intersection(true_sets(world, accepted)))
    assert f"{open_cases:,} of the {len(world):,} cases remain" in str(envelope.guarantee)
    assert len(envelope.beyond_horn) == len(find_envelope(world, accepted).beyond_horn)


def test_noise_over_a_hundred_thousand_cases_has_its_envelope_in_seconds() -> None:
    sizes, groups, start = (5, 5, 5, 5, 5, 3, 3), [], 0
    for size in sizes:
        groups.append(tuple(range(start, start + size)))
        start += size
    world = World(names(start), tuple(groups))
    accepted = np.random.default_rng(0).random(len(world)) < 0.5
    clock = Stopwatch()
    assert len(find_envelope(world, accepted).rules) > 9000
    assert len(world) > 100_000 and clock.elapsed < 30  # a third of a second on an idle machine


def decide_by_table(world: World, accepted: np.ndarray) -> Membership:
    table = {case: bool(yes) for case, yes in zip(world.batch.masks, accepted, strict=True)}
    return lambda batch: np.array([table[each] for each in batch.masks], np.bool_)


@pytest.mark.parametrize("seed", range(200))
def test_learning_by_samples_ends_with_any_teacher(seed: int) -> None:
    """Its rules hold of all that it knows to be accepted; with every case drawn, it is the envelope."""
    rng = np.random.default_rng(seed)
    world = World(names(6), ((0, 1, 2),) if seed % 2 else ())
    accepted = rng.random(len(world)) < rng.random()
    if seed % 5 == 0:  # a Horn teacher
        rules = [Rule(rng.choice(6, 2, replace=False).tolist(), int(rng.integers(6))) for _ in range(3)]
        accepted = HornTheory(world.vocabulary, rules).satisfied_by(world.batch)
    known = KnownCases(decide_by_table(world, accepted), world)

    def every_case(hypothesis: HornTheory) -> Counterexample | Exact:
        order = rng.permutation(len(world))
        answers = known(world.batch)
        wrong = order[(hypothesis.satisfied_by(world.batch) != answers)[order]]
        if not len(wrong):
            return Exact()
        return Counterexample(next(world.list_cases(wrong[:1])), bool(answers[wrong[0]]))

    *_, last = learn_by_samples(known, every_case)
    envelope = find_envelope(world, accepted)
    assert last.hypothesis.equivalent(envelope.theory)
    assert known.beyond_horn == {case.true for case in world.list_cases(envelope.beyond_horn)}
