"""Theories that answer: conclusions, proofs, and the fewest facts that undo them."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.conditions import Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import CardLine, Explanation, ScoreCard, explain_row
from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary
from hornbook.queries import UNDETERMINED, Binariser, HornRules
from hornbook.queries.conclusion import explain_facts, smallest_undo
from hornbook.queries.reader import Reader
from hornbook.schema import read_object, write_object
from hornbook.testing import theories

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


@draw_examples(1.5)
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
COLUMNS = ("age=low", "age=high", "fever")
READER = Reader(COLUMNS, FEATURES, ((0, 1),))
LABELLED = HornRules(BACKGROUND | RULES, BACKGROUND, READER, "ill")


def test_horn_rules_derive_a_class_or_none():
    frame = pd.DataFrame([[0, 1, 1], [1, 0, 1], [0, 1, 0]], columns=list(READER.columns))
    rows = READER.batch(frame)
    assert LABELLED.derive(rows).tolist() == [1, 0, UNDETERMINED]
    assert LABELLED.decide(frame).tolist() == [1, 0, 0]
    assert LABELLED.match_lines(frame).T.tolist() == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]
    assert LABELLED.rules == RULES.rules and LABELLED.classes == ("not ill", "ill")
    assert str(LABELLED).splitlines()[-1] == "otherwise: not ill"


def test_horn_rules_are_read_back_from_their_object():
    again = read_object(Explanation, json.loads(json.dumps(LABELLED.to_object())))
    assert again.to_object() == LABELLED.to_object() and again.theory == LABELLED.theory
    frame = pd.DataFrame([[0, 1, None], [1, 0, 1]], columns=list(READER.columns))
    assert again.decide(frame).tolist() == LABELLED.decide(frame).tolist()
    assert again.reader.batch(frame) == READER.batch(frame)
    for part, wrong in (("default", 2), ("label", "fun"), ("rules", [{"body": ["fun"], "head": "ill"}])):
        with pytest.raises(HornbookError):
            read_object(Explanation, {**LABELLED.to_object(), part: wrong})


def test_a_proof_proves_and_other_values_undo_it():
    facts = Interpretation(frozenset({1, 2, 3}), frozenset({0, 4, 5}))
    explained = LABELLED.conclude(facts)
    assert explained.conclusion == VOCABULARY.index("ill")
    assert explained.proof.steps == (RULES.rules[0],)
    assert len(explained.undo.facts) == 1 and explained.undo.exact
    assert str(explained).splitlines()[0] == "ill"
    changed = {"age=high": "age=low", "fever": "not_fever"}
    assert explained.instead == (changed[explained.undo.facts[0]],)
    entry = write_object(explained)
    assert entry["conclusion"] == "ill" and entry["undo"]["smallest"] is True


def test_what_is_open_or_contradictory_is_said():
    assert (
        str(LABELLED.conclude(Interpretation(frozenset({2}))))
        == "undetermined: no rule decides; not ill by default"
    )
    broken = explain_facts(BACKGROUND, Interpretation(frozenset({2, 5})), [ILL, NOT_ILL])
    assert broken.conclusion is BOTTOM and "contradict" in str(broken)
    rules = HornTheory.parse("a & b -> c")
    judged = HornRules(rules, HornTheory(rules.vocabulary), READER)
    assert str(judged.conclude(Interpretation(frozenset({0, 1})))) == "accepted: the facts break no rule"
    broken = judged.conclude(Interpretation(frozenset({0, 1}), frozenset({2})))
    assert str(broken).startswith("c: it is known to be false\n") and write_object(broken)["contradiction"]
    always = HornTheory(VOCABULARY, [Rule((), ILL)])
    assert "nothing would undo it" in str(explain_facts(always, Interpretation(frozenset()), [ILL, NOT_ILL]))


def test_a_fact_that_is_used_twice_is_derived_once():
    theory = HornTheory.parse("a -> b \n b -> c \n b -> d \n c & d -> ill")
    text = str(explain_facts(theory, Interpretation(frozenset({0})), [theory.vocabulary.index("ill")]))
    assert text.count("a (given)") == 1 and "b (as above)" in text


@pytest.mark.parametrize("width", [0, 1, 70])
def test_batches_of_any_length(width):
    rows = Batch.from_array(np.tile([0.0, 1, 1, 1, 0, 0], (width, 1)), FEATURES)
    assert LABELLED.derive(rows).tolist() == [1] * width


def test_an_explanation_tells_a_contradiction_from_a_variable_that_is_called_so():
    vocabulary = Vocabulary(["a", "⊥"])
    known = Interpretation(frozenset({0}), frozenset({1}))
    for rule, headline in (
        ("a -> false", "⊥: the rules contradict each other, or the facts"),
        ('a -> "⊥"', '"⊥": it is known to be false'),
    ):
        explained = explain_facts(HornTheory.parse(rule, vocabulary), known, [])
        assert str(explained).splitlines()[0] == headline


def test_rules_that_say_the_same_of_columns_by_other_variables_are_listed_once():
    rows = pd.DataFrame({"age": np.arange(30.0), "bili": np.arange(30.0)[::-1]})
    reader = Reader.of(rows, Binariser(n_bins=3, dual=True).fit(rows), True)
    vocabulary = reader.vocabulary.with_label("ill")
    bodies = [
        ["age=middle", "not_bili=low", "not_bili=high"],
        ["not_age=low", "not_age=high", "bili=middle"],
        ["age=middle", "not_bili=low"],
    ]
    rules = [Rule.of(vocabulary, body, "ill") for body in bodies]
    background = HornTheory.background(vocabulary)
    told = HornRules(HornTheory(vocabulary, (*background, *rules)), background, reader, "ill")
    assert told.list_distinct() == (rules[0], rules[2])


@pytest.fixture
def table_rules():
    frame = pd.DataFrame({"age": [20.0, 30.0, 50.0, 70.0, 80.0], "ascites": [0, 1, 0, 1, np.nan]})
    reader = Reader.of(frame, Binariser(dual=True).fit(frame))
    theory = HornTheory.parse('"not_age=middle" & ascites -> ill', reader.vocabulary.with_label("ill"))
    return HornRules(theory, HornTheory.background(theory.vocabulary), reader, "ill")


def test_horn_rules_take_rows_with_further_columns_in_any_order(table_rules):
    rows = pd.DataFrame({"age": [20.0, 50.0, np.nan, 90.0], "ascites": [1, 1, 1, 0]})
    wide = rows.assign(name="x")[["name", "ascites", "age"]]
    assert (table_rules.decide(wide) == table_rules.decide(rows)).all()
    assert (table_rules.match_lines(wide) == table_rules.match_lines(rows)).all()
    assert (table_rules.compile().decide(wide) == table_rules.decide(rows)).all()
    assert table_rules.explain(wide[:1]) == table_rules.explain(rows[:1])
    with pytest.raises(HornbookError, match="the rows have no column 'age'; they have ascites"):
        table_rules.decide(rows[["ascites"]])


def test_horn_rules_explain_a_row_by_the_facts_that_its_class_needs(table_rules):
    reason = table_rules.explain(pd.DataFrame({"age": [20.0], "ascites": [1]}))
    assert reason.outcome == 1
    assert set(reason.facts) == {table_rules.describe("ascites"), table_rules.describe("not_age=middle")}
    assert table_rules.explain(pd.DataFrame({"age": [20.0], "ascites": [0]})).facts == ()


def test_horn_rules_put_alternatives_of_a_condition_in_brackets(table_rules):
    low, high = table_rules.describe("age=low"), table_rules.describe("age=high")
    assert table_rules.lines()[0].text == f"if ascites is true and ({low} or {high})"


def test_explain_row_says_that_no_line_of_a_card_gives_points():
    card = ScoreCard(("lives", "dies"), (CardLine((Threshold("bili", 2),), (3,), (0,)),), (-2,))
    assert "by these points\n  no line gives points\n" in str(explain_row(card, {"bili": 1.0}))
