"""The Horn envelope against its definition: the intersections of accepted cases."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook import HornbookError, HornTheory, Vocabulary
from hornbook.logic import Rule
from hornbook.queries import Envelope, World, find_envelope, learn_envelope


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


@pytest.mark.slow
def test_every_boolean_function_of_four_variables_has_its_envelope() -> None:
    world = World(names(4))
    for number in range(0, 2 ** len(world), 61):  # an odd step meets all kinds
        check_envelope(world, np.array([number >> case & 1 for case in range(len(world))], np.bool_))


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
    envelope = learn_envelope(theory.satisfied_by, world)
    assert envelope.theory.equivalent(theory)
    assert not len(envelope.beyond_horn)


def test_a_world_of_too_many_cases_is_refused_before_anything_is_asked() -> None:
    world = World(names(20))
    with pytest.raises(HornbookError, match=r"1,048,576 cases, and at most 200,000"):
        learn_envelope(lambda batch: pytest.fail("asked"), world)


def test_queries_are_few_where_every_case_is_known() -> None:
    """An equivalence query is a look at a table, and each gives or improves a body."""
    world = World(names(12), ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10)))
    accepted = np.random.default_rng(3).random(len(world)) < 0.7
    envelope = find_envelope(world, accepted)
    bodies = len({rule.body for rule in envelope.theory})
    assert envelope.queries <= bodies * (len(world.vocabulary) + 1) + 1
