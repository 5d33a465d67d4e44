"""What theories accept and entail: laws, against brute force and against a SAT solver."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logic_strategies import batches, rules, theories
from pysat.solvers import Cadical153

from hornbook.logic import (
    BOTTOM,
    Batch,
    HornTheory,
    Interpretation,
    Rule,
    Vocabulary,
    chaining,
    random_theory,
    violation,
)


def satisfies(theory: HornTheory, values: tuple[int, ...]) -> bool:
    """The definition, for total interpretations."""
    true = {v for v, value in enumerate(values) if value == 1}
    return all(not rule.body <= true or rule.head in true for rule in theory)


def completions(row):
    return product(*([0, 1] if np.isnan(value) else [int(value)] for value in row))


def solver(theory: HornTheory) -> Cadical153:
    clauses = [
        [-v - 1 for v in rule.body] + ([] if rule.head is BOTTOM else [rule.head + 1]) for rule in theory
    ]
    return Cadical153(bootstrap_with=clauses)


def literals(item: Interpretation) -> list[int]:
    return [v + 1 for v in item.true] + [-v - 1 for v in item.false]


@given(theories(), st.data())
def test_theory_satisfied_means_some_completion_satisfies(theory, data):
    batch = data.draw(batches(theory.vocabulary, 40))
    expected = [any(satisfies(theory, total) for total in completions(row)) for row in batch.to_array()]
    assert theory.satisfied_by(batch).tolist() == expected


@pytest.mark.parametrize("seed", range(12))
def test_theory_satisfied_and_entailed_equal_an_independent_solver(seed):
    rng = np.random.default_rng(seed)
    width = int(rng.integers(10, 120))
    theory = random_theory(width, int(rng.integers(5, 80)), (1, 3), rng, bottom=0.2)
    values = rng.choice([0.0, 1.0, np.nan], (300, width), p=[0.1, 0.15, 0.75])
    batch = Batch.from_array(values, theory.vocabulary)
    with solver(theory) as sat:
        assert theory.satisfied_by(batch).tolist() == [sat.solve(literals(item)) for item in batch]
        for rule in random_theory(width, 50, (1, 4), rng, bottom=0.2):
            assert theory.entails(rule) != sat.solve(literals(violation(rule)))


@given(theories(), st.data())
def test_theory_closure_is_extensive_monotone_and_idempotent(theory, data):
    variables = st.frozensets(st.integers(0, len(theory.vocabulary) - 1))
    small, more = data.draw(variables), data.draw(variables)
    closed = theory.closure(small)
    assert small <= closed
    assert closed <= theory.closure(small | more)
    assert theory.closure(closed - {BOTTOM}) | closed == closed


@given(theories(max_rules=12), st.data())
def test_theory_three_closures_agree(theory, data):
    batch = data.draw(batches(theory.vocabulary, 300))
    readable = [chaining.closure(theory.rules, item.true) for item in batch]
    assert [theory.closure(item.true) for item in batch] == readable
    words, bottoms = theory.program.close_batch(batch)
    fast = Batch(theory.vocabulary, words, np.zeros_like(words), len(batch))
    assert [
        item.true | ({BOTTOM} if bad else set()) for item, bad in zip(fast, bottoms, strict=True)
    ] == readable


@given(theories(), st.data())
def test_few_and_many_interpretations_are_judged_alike(theory, data):
    batch = data.draw(batches(theory.vocabulary, 200))
    one_by_one = [theory.satisfied_by(batch[i : i + 1])[0] for i in range(len(batch))]
    assert theory.satisfied_by(batch).tolist() == one_by_one


@given(theories(max_variables=4))
def test_theory_entailment_is_truth_in_all_models(theory):
    width = len(theory.vocabulary)
    models = [total for total in product([0, 1], repeat=width) if satisfies(theory, total)]
    for body in map(frozenset, ([v for v in range(width) if mask >> v & 1] for mask in range(1 << width))):
        for head in [*range(width), BOTTOM]:
            single = HornTheory(theory.vocabulary, [Rule(body, head)])
            assert theory.entails(Rule(body, head)) == all(satisfies(single, model) for model in models)


@given(theories(max_variables=5), st.data())
def test_theories_are_equivalent_if_they_have_the_same_models(theory, data):
    other = HornTheory(theory.vocabulary, data.draw(st.lists(rules(len(theory.vocabulary)), max_size=6)))
    totals = list(product([0, 1], repeat=len(theory.vocabulary)))
    same = all(satisfies(theory, total) == satisfies(other, total) for total in totals)
    assert theory.equivalent(other) == same


@given(theories(max_rules=10))
def test_theory_minimise_keeps_the_meaning_and_nothing_superfluous(theory):
    small = theory.minimise()
    assert small.equivalent(theory)
    for rule in small:
        others = HornTheory(theory.vocabulary, [other for other in small if other != rule])
        assert not others.entails(rule)
        assert all(not small.entails(Rule(rule.body - {v}, rule.head)) for v in rule.body)


@given(theories(max_variables=5, max_rules=10))
def test_theory_canonical_keeps_the_meaning_and_does_not_depend_on_the_wording(theory):
    canonical = theory.canonical()
    assert canonical.equivalent(theory)
    assert theory.minimise().canonical() == canonical
    assert canonical.canonical() == canonical


@given(theories(max_variables=3, max_rules=6))
def test_theory_canonical_has_the_least_number_of_bodies(theory):
    """A basis needs a body between A and its closure for each pseudo-closed A, counted by brute force."""
    width = len(theory.vocabulary)
    everything = frozenset(range(width))
    close = lambda A: everything | {BOTTOM} if BOTTOM in theory.closure(A) else theory.closure(A)  # noqa: E731
    subsets = sorted((frozenset(v for v in range(width) if m >> v & 1) for m in range(1 << width)), key=len)
    pseudo: list[frozenset[int]] = []
    for A in subsets:
        if close(A) != A and all(close(B) <= A for B in pseudo if B < A):
            pseudo.append(A)
    assert {rule.body for rule in theory.canonical()} == set(pseudo)


@given(theories())
def test_theory_is_satisfiable_equals_brute_force(theory):
    totals = list(product([0, 1], repeat=len(theory.vocabulary)))
    assert theory.is_satisfiable() == any(satisfies(theory, total) for total in totals)


@given(theories(), st.data())
def test_theory_explanation_is_a_derivation(theory, data):
    rule = data.draw(rules(len(theory.vocabulary)))
    why = theory.explain(rule)
    assert (why is not None) == theory.entails(rule)
    if why is not None:
        known = set(rule.body)
        for step in why.steps:
            assert step in theory.rules and step.body <= known and step.head not in known
            known.add(step.head)
        assert {rule.head, BOTTOM} & known


def test_theory_explanations_leave_out_what_is_not_needed():
    theory = HornTheory.parse("a -> b\na -> c\nb -> d\nd & c -> false")
    assert str(theory.explain("a -> d")) == "given a\n1. b, because a → b\n2. d, because b → d"
    everything = theory.explain(["a"])
    assert everything is not None and [step.head for step in everything.steps] == [1, 2, 3, BOTTOM]
    assert theory.explain("b -> a") is None


def test_theory_body_that_contains_its_head_says_nothing():
    theory = HornTheory.parse("a & b -> a")
    assert not theory.minimise().rules
    assert HornTheory(theory.vocabulary).entails(theory)


def test_theories_over_other_vocabularies_are_compared_by_name():
    left, right = HornTheory.parse("a -> b\nb -> a"), HornTheory.parse("b -> a\na -> b")
    assert left.vocabulary != right.vocabulary and left.equivalent(right)
    assert (left | right).rules == left.rules


def test_theory_background_forbids_every_pair():
    vocabulary = Vocabulary.with_duals(["sunny", "happy"])
    background = HornTheory.background(vocabulary)
    assert str(background) == "sunny ∧ not_sunny → ⊥\nhappy ∧ not_happy → ⊥"
    batch = Batch.from_array([[1, np.nan, 1, np.nan], [1, 0, 0, 1]], vocabulary)
    assert background.satisfied_by(batch).tolist() == [False, True]
