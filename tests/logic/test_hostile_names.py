"""Hostile names: whatever features are called, what is compiled or exported says the same as before."""

import re
import sqlite3
from itertools import product

import numpy as np
import pandas as pd
import pytest
from explanation_strategies import explanations as random_explanations
from hypothesis import given
from hypothesis import strategies as st
from logic_strategies import batches, hostile_names, hostile_vocabularies, rules

from hornbook.conditions import Category, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import ConditionRule, RuleSet
from hornbook.exports import write_explanation
from hornbook.exports.dialects import sql_name
from hornbook.exports.source import sql_columns
from hornbook.logic import BOTTOM, HornTheory, Rule, Vocabulary, fresh_name


@st.composite
def hostile_theories(draw, max_size=5):
    vocabulary = draw(hostile_vocabularies(max_size))
    return HornTheory(vocabulary, draw(st.lists(rules(len(vocabulary), 3), max_size=6)))


@st.composite
def explanations(draw):
    """Trees, cards and rules about two columns with hostile names, values and classes."""
    number, word = draw(st.lists(hostile_names(), min_size=2, max_size=2, unique=True))
    values = draw(st.lists(hostile_names(), min_size=1, max_size=3, unique=True))
    classes = tuple(draw(st.lists(hostile_names(), min_size=2, max_size=3, unique=True)))
    conditions = st.one_of(
        st.builds(Threshold, st.just(number), st.sampled_from([40.0, 50.0]), st.booleans()),
        st.builds(Category, st.just(word), st.sampled_from(values), st.booleans()),
        st.builds(Missing, st.sampled_from([number, word]), st.booleans()),
    )
    rows = product([None, 30.0, 45.0, 55.0], [None, *values, "another"])
    frame = pd.DataFrame(list(rows), columns=[number, word]).astype({number: float, word: object})
    return draw(random_explanations(conditions, classes)), frame


def answers_in_sqlite(query, columns, batch):
    """The rows that a query gives over a table of facts."""
    names = ", ".join(map(sql_name, columns))
    values = [[None if np.isnan(x) else int(x) for x in row] for row in batch.to_array()]
    database = sqlite3.connect(":memory:")
    try:
        database.execute(f"CREATE TABLE facts ({names})")
        database.executemany(f"INSERT INTO facts VALUES ({', '.join('?' * len(columns))})", values)
        return database.execute(query).fetchall()
    finally:
        database.close()


def as_numbers(rows, width):
    return np.array([[np.nan if x is None else x for x in row] for row in rows], float).reshape(-1, width)


def closed_rows(theory, batch):
    """What follows from each row: 1 where derived or given, else what was given."""
    values = batch.to_array()
    for row, item in zip(values, batch, strict=True):
        row[[v for v in theory.closure(item.true) if v is not BOTTOM]] = 1
    return values


@given(explanations())
def test_compiled_theories_decide_as_explanations_do(case):
    explanation, frame = case
    compiled = explanation.compile()
    theory = compiled.theory
    np.testing.assert_array_equal(compiled.decide(frame), explanation.decide(frame))
    assert HornTheory.from_json(theory.to_json()) == theory
    assert HornTheory.parse(theory.to_text(), theory.vocabulary) == theory


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Category("a = b", "c"), Category("a", "b = c")),
        (Category("n", 1), Category("n", "1")),
        (Threshold("a", 0.5), Missing("a > 0.5 or a")),
    ],
)
def test_compiled_conditions_that_read_alike_stay_apart(first, second):
    columns = {first.column: [1.0, 0.0, None, "c", "1", 1], second.column: ["b = c", "1", None, 1, "c", "1"]}
    frame = pd.DataFrame(columns, dtype=object)
    if isinstance(first, Threshold):
        frame[first.column] = [1.0, 0.0, None, 2.0, 0.1, 1.0]
    explanation = RuleSet(("x", "y", "z"), (ConditionRule((first,), 1), ConditionRule((second,), 2)), 0)
    np.testing.assert_array_equal(explanation.compile().decide(frame), explanation.decide(frame))


@given(hostile_names(), st.lists(hostile_names()))
def test_fresh_names_are_free_and_wanted_where_they_can_be(wanted, taken):
    name = fresh_name(wanted, taken)
    assert name not in taken and name.startswith(wanted)
    assert name == wanted or wanted in taken


@pytest.mark.parametrize("feature", ["ill", "not_ill"])
def test_label_that_is_a_feature_is_refused(feature):
    with pytest.raises(HornbookError, match=f"'{feature}' is a feature already, and the label is 'ill'"):
        Vocabulary([feature]).with_label("ill")


def test_half_a_character_is_no_name():
    with pytest.raises(HornbookError, match="half a character that no file holds"):
        Vocabulary(["a", "b\ud83d"])


@given(hostile_theories(), st.data())
def test_exported_sql_says_the_same_in_sqlite(theory, data):
    batch = data.draw(batches(theory.vocabulary, 12))
    rows = answers_in_sqlite(write_explanation(theory, "sql"), sql_columns(theory.vocabulary), batch)
    found = as_numbers(rows, len(theory.vocabulary) + 1)
    np.testing.assert_array_equal(found[:, -1], theory.satisfied_by(batch))
    np.testing.assert_array_equal(found[:, :-1], closed_rows(theory, batch))


@given(explanations())
def test_theories_of_explanations_in_sql_decide_the_same_in_sqlite(case):
    explanation, frame = case
    compiled = explanation.compile()
    vocabulary, rows = compiled.theory.vocabulary, compiled.read_rows(frame)
    answers = answers_in_sqlite(write_explanation(compiled.theory, "sql"), sql_columns(vocabulary), rows)
    decided = [[row[v] for v in compiled.classes].index(1) for row in answers]
    np.testing.assert_array_equal(decided, explanation.decide(frame))


def read_prolog(text):
    """The clauses of a program as (head, body): quoted atoms are names, `contradiction` is ⊥."""
    quoted = r"'(?:[^'\\]|\\\\|\\'|\\x[0-9a-f]+\\)*'"
    goal = rf"(?:holds\({quoted}\)|contradiction)"
    assert text.isprintable() or text.replace("\n", "").isprintable()
    escapes = re.compile(r"\\(?:(\\)|(')|x([0-9a-f]+)\\)")

    def name(found):
        inner = found.removeprefix("holds('").removesuffix("')")
        return (
            BOTTOM
            if found == "contradiction"
            else escapes.sub(lambda m: m[1] or m[2] or chr(int(m[3], 16)), inner)
        )

    *declared, last = text.split("\n")
    assert declared[:3] == [
        ":- dynamic fact/1, contradiction/0.",
        ":- table holds/1.",
        "holds(X) :- fact(X).",
    ]
    assert last == ""
    for line in declared[3:]:
        assert re.fullmatch(rf"{goal}(?: :- {goal}(?:, {goal})*)?\.", line), line
        head, *body = (name(match) for match in re.findall(goal, line))
        yield head, body


@given(hostile_theories())
def test_exported_prolog_reads_back_as_the_same_rules(theory):
    read = read_prolog(write_explanation(theory, "prolog"))
    clauses = [Rule.of(theory.vocabulary, body, head) for head, body in read]
    assert set(clauses) == set(theory.rules) and len(clauses) == len(theory)


@given(hostile_theories(3), st.data())
def test_exported_python_means_the_same(theory, data):
    module: dict = {}
    exec(write_explanation(theory, "python"), module)
    named = theory.vocabulary.named
    batch = data.draw(batches(theory.vocabulary, 10))
    judged = [module["satisfied"](named(item.true), named(item.false)) for item in batch]
    assert judged == theory.satisfied_by(batch).tolist()


@given(hostile_theories())
def test_json_and_text_come_back(theory):
    assert HornTheory.from_json(theory.to_json()) == theory
    assert HornTheory.parse(theory.to_text(), theory.vocabulary) == theory
