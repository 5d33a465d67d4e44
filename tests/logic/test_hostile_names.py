"""Hostile names: whatever features are called, what is compiled or exported says the same as before."""

import csv
import io
import re
import sqlite3
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hornbook.cards import Card, Item, observed
from hornbook.deciders import compiled, to_sql
from hornbook.trees import Split, Tree
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbook.cli.show import _csv
from hornbook.errors import HornbookError
from hornbook.evaluate import derive_labels
from hornbook.explain import Answers
from hornbook.logic import BOTTOM, Batch, HornTheory, Rule, Vocabulary, fresh_name
from hornbook.logic.exports import sql_columns, sql_name
from hornbook.testing import batches, hostile_names, hostile_vocabularies, rules


@st.composite
def hostile_theories(draw, max_size=5):
    vocabulary = draw(hostile_vocabularies(max_size))
    return HornTheory(vocabulary, draw(st.lists(rules(len(vocabulary), 3), max_size=6)))


@st.composite
def nodes(draw, width, depth=2):
    if depth and draw(st.booleans()):
        literal = draw(st.integers(0, width - 1))
        return Split(literal, draw(nodes(width, depth - 1)), draw(nodes(width, depth - 1)))
    return draw(st.booleans())


@st.composite
def deciders(draw):
    """Cards and trees over at most three hostile features, whose label is none of them."""
    features = draw(hostile_vocabularies(3))
    label = draw(hostile_names().filter(lambda name: {name, f"not_{name}"}.isdisjoint(features.names)))
    literals = st.integers(0, len(features) - 1)
    if draw(st.booleans()):
        return Tree(features, label, Split(0, draw(nodes(len(features))), draw(nodes(len(features)))))
    bodies = draw(st.lists(st.frozensets(literals, min_size=1, max_size=3), max_size=4, unique=True))
    points = st.tuples(st.integers(-2, 2), st.integers(-2, 2)).filter(any)
    return Card(
        features, label, tuple(Item(body, *draw(points)) for body in bodies), draw(st.integers(-3, 3))
    )


def every_row(features):
    """All 3ⁿ rows of the features that are no duals."""
    first = [v for v in range(len(features)) if features.dual(v) is None or v < features.dual(v)]
    values = np.full((3 ** len(first), len(features)), np.nan)
    values[:, first] = list(product([0, 1, np.nan], repeat=len(first)))
    for v, w in features.pairs:
        values[:, w] = 1 - values[:, v]
    return Batch.from_array(values, features)


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


@given(deciders())
@settings(max_examples=150)
def test_compiled_theories_decide_as_cards_and_trees_do(decider):
    batch, theory = every_row(decider.vocabulary), compiled(decider)
    assert theory.vocabulary.names[: len(decider.vocabulary)] == decider.vocabulary.names
    derived = derive_labels(theory, decider.label, observed(batch, theory.vocabulary))
    np.testing.assert_array_equal(derived, decider.decide(batch))
    assert HornTheory.from_json(theory.to_json()) == theory == HornTheory.from_dimacs(theory.to_dimacs())


@pytest.mark.parametrize(
    ("names", "body"),
    [
        (["x", "unknown_x"], {0}),
        (["x", "not_x", "not_x_2"], {0}),
        (["a", "b", "a_and_b"], {0, 1}),
        (["a", "b_and_c", "a_and_b", "c"], {0, 1}),
    ],
)
def test_the_names_of_features_are_theirs_alone(names, body):
    features = Vocabulary(names)
    others = frozenset(range(len(names))) - body
    card = Card(features, "ill", (Item(frozenset(body), 2, 1), Item(others, -1, 1)), 1)
    batch, theory = every_row(features), compiled(card)
    derived = derive_labels(theory, "ill", observed(batch, theory.vocabulary))
    np.testing.assert_array_equal(derived, card.decide(batch))


@given(hostile_names(), st.lists(hostile_names()))
def test_fresh_names_are_free_and_wanted_where_they_can_be(wanted, taken):
    name = fresh_name(wanted, taken)
    assert name not in taken and name.startswith(wanted)
    assert name == wanted or wanted in taken


@pytest.mark.parametrize("feature", ["ill", "not_ill"])
def test_a_label_that_is_a_feature_is_refused(feature):
    with pytest.raises(
        HornbookError, match=f"'{feature}' is among the features already, beside the label 'ill'"
    ):
        compiled(Tree(Vocabulary([feature]), "ill", Split(0, True, False)))


def test_half_a_character_is_no_name():
    with pytest.raises(HornbookError, match="half a character that no file holds"):
        Vocabulary(["a", "b\ud83d"])


@given(hostile_theories(), st.data())
@settings(max_examples=150)
def test_exported_sql_says_the_same_in_sqlite(theory, data):
    batch = data.draw(batches(theory.vocabulary, 12))
    rows = answers_in_sqlite(theory.export("sql"), sql_columns(theory.vocabulary), batch)
    found = as_numbers(rows, len(theory.vocabulary) + 1)
    np.testing.assert_array_equal(found[:, -1], theory.satisfied_by(batch))
    np.testing.assert_array_equal(found[:, :-1], closed_rows(theory, batch))


@given(deciders())
@settings(max_examples=80)
def test_cards_and_trees_in_sql_decide_the_same_in_sqlite(decider):
    batch = every_row(decider.vocabulary)
    rows = answers_in_sqlite(to_sql(decider), sql_columns(decider.vocabulary), batch)
    np.testing.assert_array_equal([row[-1] for row in rows], decider.decide(batch))


def test_the_chain_of_a_card_in_sqlite_stays_small():
    rng = np.random.default_rng(0)
    features = Vocabulary.with_duals([f"x{i}" for i in range(14)])
    card = Card(
        features, "ill", tuple(Item(frozenset({v}), int(rng.integers(1, 4)), 1) for v in range(14)), 15
    )
    theory = compiled(card)
    values = rng.choice([0, 1, np.nan], (40, 14))
    batch = Batch.from_array(np.hstack([values, 1 - values]), features)
    query = theory.export("sql")
    rows = answers_in_sqlite(query, sql_columns(theory.vocabulary), observed(batch, theory.vocabulary))
    np.testing.assert_array_equal([row[14 * 2] == 1 for row in rows], card.decide(batch))
    assert len(query) < 200 * len(theory)


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
@settings(max_examples=150)
def test_exported_prolog_reads_back_as_the_same_rules(theory):
    clauses = [Rule.of(theory.vocabulary, body, head) for head, body in read_prolog(theory.export("prolog"))]
    assert set(clauses) == set(theory.rules) and len(clauses) == len(theory)


@given(hostile_theories(3), st.data())
@settings(max_examples=60)
def test_exported_python_and_sympy_mean_the_same(theory, data):
    import sympy

    module: dict = {}
    exec(theory.export("python"), module)
    named = theory.vocabulary.named
    batch = data.draw(batches(theory.vocabulary, 10))
    judged = [module["satisfied"](named(item.true), named(item.false)) for item in batch]
    assert judged == theory.satisfied_by(batch).tolist()
    exec(theory.export("sympy"), module)
    values = data.draw(
        st.lists(st.booleans(), min_size=len(theory.vocabulary), max_size=len(theory.vocabulary))
    )
    point = {sympy.Symbol(name): value for name, value in zip(theory.vocabulary, values, strict=True)}
    total = Batch.from_array(np.array([values], float), theory.vocabulary)
    assert bool(module["theory"].subs(point)) == theory.satisfied_by(total)[0]


@given(hostile_theories())
@settings(max_examples=100)
def test_json_dimacs_text_and_csv_come_back(theory):
    assert HornTheory.from_json(theory.to_json()) == theory
    assert HornTheory.from_dimacs(theory.to_dimacs()) == theory
    assert HornTheory.parse(theory.to_text(), theory.vocabulary) == theory
    run = SimpleNamespace(answers=Answers(theory, HornTheory(theory.vocabulary)), rules=(), describe=str)
    _, *cells = csv.reader(io.StringIO(_csv(run, background=False), newline=""))
    read = [
        HornTheory.parse(f"{body or 'true'} -> {head}", theory.vocabulary).rules for body, head, *_ in cells
    ]
    assert tuple(rule for (rule,) in read) == theory.rules


def test_unnamed_variables_of_dimacs_get_names_that_are_free():
    theory = HornTheory.from_dimacs('c var 2 "x1"\nc unknown to others\np cnf 2 1\n-1 2 0\n')
    assert theory.vocabulary.names == ("x1_2", "x1")
