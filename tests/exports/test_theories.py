"""Theories in other languages say the same there."""

import sqlite3

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples
from logic_strategies import batches, names, rules, theories

from hornbook.errors import HornbookError
from hornbook.exports import write_explanation
from hornbook.logic import HornTheory, Vocabulary


@st.composite
def named_theories(draw):
    vocabulary = Vocabulary(draw(st.lists(names(), min_size=1, max_size=5, unique=True)))
    return HornTheory(vocabulary, draw(st.lists(rules(len(vocabulary)), max_size=6)))


@given(named_theories(), st.data())
def test_python_judges_alike(theory, data):
    module: dict = {}
    exec(write_explanation(theory, "python"), module)
    batch = data.draw(batches(theory.vocabulary, 20))
    named = theory.vocabulary.named
    judged = [module["satisfied"](named(item.true), named(item.false)) for item in batch]
    assert judged == theory.satisfied_by(batch).tolist()


@draw_examples(1.25)
@given(theories(max_variables=5), st.data())
def test_sql_judges_alike(theory, data):
    batch = data.draw(batches(theory.vocabulary, 30))
    columns = ", ".join(f'"{name}"' for name in theory.vocabulary)
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE facts ({columns})")
        values = [[None if np.isnan(x) else int(x) for x in row] for row in batch.to_array()]
        database.executemany(f"INSERT INTO facts VALUES ({', '.join('?' * len(theory.vocabulary))})", values)
        rows = database.execute(write_explanation(theory, "sql")).fetchall()
    database.close()
    assert [bool(row[-1]) for row in rows] == theory.satisfied_by(batch).tolist()


def test_prolog():
    theory = HornTheory.parse("""horse & "it's 5%" -> pegasus_1\ntrue -> horse\nhorse -> false""")
    assert write_explanation(theory, "prolog") == (
        ":- dynamic fact/1, contradiction/0.\n:- table holds/1.\nholds(X) :- fact(X).\n"
        "holds('pegasus_1') :- holds('horse'), holds('it\\'s 5%').\n"
        "holds('horse').\ncontradiction :- holds('horse').\n"
    )


def test_other_languages_are_refused_with_the_list():
    with pytest.raises(HornbookError, match="choose one of sql, python, prolog"):
        write_explanation(HornTheory.parse("a -> b"), "cobol")
