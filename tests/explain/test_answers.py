"""Theories that answer: conclusions, proofs, and the fewest facts that undo them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook.explain.answers import FREE, Answers, united
from hornbook.explain.explanation import explain, smallest_undo
from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary
from hornbook.testing.strategies import theories

WIDTH = 7


def brute(theory, facts, goal):
    """The least number of facts without which the goal does not follow, by trying all sets."""
    for size in range(len(facts) + 1):
        for without in combinations(facts, size):
            left = set().union(
                *(variables for name, variables in facts.items() if name not in without), set()
            )
            if goal not in theory.closure(left):
                return size
    return None


@settings(max_examples=150)
@given(st.data())
def test_the_fewest_facts_are_those_of_brute_force(data):
    theory = data.draw(theories(max_variables=WIDTH, max_rules=12))
    names = theory.vocabulary.names
    known = data.draw(st.sets(st.sampled_from(range(len(names))), min_size=1))
    facts = {names[v]: frozenset({v}) for v in sorted(known)}
    for goal in sorted(theory.closure(known) - known - {BOTTOM}) + (
        [BOTTOM] if BOTTOM in theory.closure(known) else []
    ):
        found, least = smallest_undo(theory, facts, goal), brute(theory, facts, goal)
        if least is None:
            assert found.facts == () and goal in theory.closure(())
            continue
        assert found.exact and len(found.facts) == least
        left = known - {v for name in found.facts for v in facts[name]}
        assert goal not in theory.closure(left)


def test_without_effort_the_answer_is_a_bound_and_no_lie():
    pairs = [(f"a{i}", f"b{i}") for i in range(8)]
    theory = HornTheory.parse("\n".join(f"{a} & {b} -> goal" for a, b in pairs))
    facts = {name: theory.vocabulary.variables([name]) for pair in pairs for name in pair}
    goal = theory.vocabulary.index("goal")
    assert len(smallest_undo(theory, facts, goal).facts) == 8
    hurried = smallest_undo(theory, facts, goal, effort=100)
    assert not hurried.exact and 0 < hurried.at_least < len(hurried.facts) == 8
    left = set().union(*(facts[name] for name in facts if name not in hurried.facts))
    assert goal not in theory.closure(left)


def test_the_same_effort_buys_fewer_closures_of_a_large_theory():
    small = "\n".join(f"a{i} & b{i} -> goal" for i in range(4))
    large = small + "\n" + "\n".join(f"c{i} -> c{i + 1}" for i in range(2_000))
    for text, exact in ((small, True), (large, False)):
        theory = HornTheory.parse(text)
        facts = {name: theory.vocabulary.variables([name]) for i in range(4) for name in (f"a{i}", f"b{i}")}
        found = smallest_undo(theory, facts, theory.vocabulary.index("goal"), effort=500)
        assert found.exact == exact and len(found.facts) == 4


FEATURES = Vocabulary.with_duals(["age=low", "age=high", "fever"])
VOCABULARY = Vocabulary(
    [*FEATURES, "ill", "not_ill"], {name: f"not_{name}" for name in ("age=low", "age=high", "fever", "ill")}
)
ILL, NOT_ILL = 6, 7
RULES = HornTheory.parse("age=high & fever -> ill \n age=low -> not_ill", VOCABULARY)
BACKGROUND = HornTheory.background(VOCABULARY)
ANSWERS = Answers(BACKGROUND | RULES, BACKGROUND, ("ill",), default=0)


def test_answers_are_classes_or_open():
    rows = Batch.from_array([[0, 1, 1, 1, 0, 0], [1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1]], FEATURES)
    assert ANSWERS.of(rows).tolist() == [1, 0, FREE]
    assert ANSWERS.fired(rows).tolist() == [[True, False], [False, True], [False, False]]
    assert ANSWERS.rules == RULES.rules and ANSWERS.literals == ("not_ill", "ill")


def test_a_proof_proves_and_other_values_undo_it():
    facts = Interpretation(frozenset({1, 2, 3}), frozenset({0, 4, 5}))
    explained = ANSWERS.explain(facts, groups=((0, 1),))
    assert explained.conclusion == VOCABULARY.index("ill")
    assert explained.proof.steps == (RULES.rules[0],)
    assert len(explained.undo.facts) == 1 and explained.undo.exact
    assert str(explained).splitlines()[0] == "ill"
    changed = {"age=high": "age=low", "fever": "not_fever"}
    assert explained.instead == (changed[explained.undo.facts[0]],)
    entry = explained.to_object()
    assert entry["conclusion"] == "ill" and entry["undo"]["smallest"] is True


def test_what_is_open_or_contradictory_is_said():
    assert (
        str(ANSWERS.explain(Interpretation(frozenset({2}))))
        == "undetermined: no rule decides; not_ill by default"
    )
    broken = explain(BACKGROUND, Interpretation(frozenset({2, 5})), [ILL, NOT_ILL])
    assert broken.conclusion is BOTTOM and "contradict" in str(broken)
    rules = HornTheory.parse("a & b -> c")
    judged = Answers(rules, HornTheory(rules.vocabulary))
    assert str(judged.explain(Interpretation(frozenset({0, 1})))) == "accepted: the facts break no rule"
    broken = judged.explain(Interpretation(frozenset({0, 1}), frozenset({2})))
    assert str(broken).startswith("c: it is known to be false\n") and broken.to_object()["contradiction"]
    always = HornTheory(VOCABULARY, [Rule((), ILL)])
    assert "nothing would undo it" in str(explain(always, Interpretation(frozenset()), [ILL, NOT_ILL]))


def test_a_fact_that_is_used_twice_is_derived_once():
    theory = HornTheory.parse("a -> b \n b -> c \n b -> d \n c & d -> ill")
    text = str(explain(theory, Interpretation(frozenset({0})), [theory.vocabulary.index("ill")]))
    assert text.count("a (given)") == 1 and "b (as above)" in text


def test_theories_about_several_labels_exclude_each_other():
    parts = []
    for name in ("x", "y"):
        vocabulary = Vocabulary(["petal", name, f"not_{name}"], {name: f"not_{name}"})
        background = HornTheory.background(vocabulary)
        parts.append(
            Answers(background | HornTheory.parse(f"petal -> {name}", vocabulary), background, (name,), 0)
        )
    whole = united([part.theory for part in parts], ["x", "y"])
    assert whole.vocabulary.names == ("petal", "x", "not_x", "y", "not_y")
    assert BOTTOM in whole.closure(["petal"])
    answers = Answers(whole, HornTheory(whole.vocabulary), ("x", "y"), parts=tuple(parts))
    batch = Batch.from_array([[1.0]], Vocabulary(["petal"]))
    assert answers.of(batch).tolist() == [FREE] and answers.following(batch).tolist() == [[True, True]]


@pytest.mark.parametrize("width", [0, 1, 70])
def test_batches_of_any_length(width):
    rows = Batch.from_array(np.tile([0.0, 1, 1, 1, 0, 0], (width, 1)), FEATURES)
    assert ANSWERS.of(rows).tolist() == [1] * width


def test_an_explanation_tells_a_contradiction_from_a_variable_that_is_called_so():
    vocabulary = Vocabulary(["a", "⊥"])
    known = Interpretation(frozenset({0}), frozenset({1}))
    for rule, headline in (
        ("a -> false", "⊥: the rules contradict each other, or the facts"),
        ('a -> "⊥"', '"⊥": it is known to be false'),
    ):
        explained = explain(HornTheory.parse(rule, vocabulary), known, [])
        assert str(explained).splitlines()[0] == headline
