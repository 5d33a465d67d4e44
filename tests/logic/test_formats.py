"""Formats: what round-trips does, and what is exported says the same in the other language."""

import json
import sqlite3

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.errors import HornbookError
from hornbook.logic import Batch, HornTheory, Vocabulary
from hornbook.logic.exports import LANGUAGES
from hornbook.testing import batches, names, rules, theories


@st.composite
def named_theories(draw):
    vocabulary = Vocabulary(draw(st.lists(names(), min_size=1, max_size=5, unique=True)))
    return HornTheory(vocabulary, draw(st.lists(rules(len(vocabulary)), max_size=6)))


@given(named_theories())
def test_theory_formats_json_and_dimacs_come_back_as_they_were(theory):
    assert HornTheory.from_json(theory.to_json()) == theory
    assert HornTheory.from_dimacs(theory.to_dimacs()) == theory


def test_theory_formats_duals_survive():
    theory = HornTheory.background(Vocabulary.with_duals(["sunny", "happy"]))
    assert HornTheory.from_json(theory.to_json()) == theory
    assert HornTheory.from_dimacs(theory.to_dimacs()) == theory


def test_theory_formats_json_format():
    document = json.loads(HornTheory.parse("a -> b\nb -> false").to_json())
    assert document == {
        "vocabulary": ["a", "b"],
        "duals": {},
        "rules": [{"body": ["a"], "head": "b"}, {"body": ["b"], "head": None}],
        "background": [],
    }


def test_theory_formats_background_in_json_is_part_of_the_theory():
    text = '{"vocabulary": ["a", "b"], "rules": [], "background": [{"body": ["a", "b"], "head": null}]}'
    assert str(HornTheory.from_json(text)) == "a ∧ b → ⊥"


def test_theory_formats_dimacs_from_elsewhere():
    theory = HornTheory.from_dimacs("c made elsewhere\np cnf 3 2\n-1 -2\n3 0 -3\n0\n")
    assert str(theory) == "x1 ∧ x2 → x3\nx3 → ⊥"


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (HornTheory.from_json, "{", "not a theory in JSON"),
        (HornTheory.from_json, '{"rules": []}', "not a theory in JSON: KeyError 'vocabulary'"),
        (
            HornTheory.from_json,
            '{"vocabulary": ["a"], "rules": [{"body": ["b"], "head": null}]}',
            "unknown name 'b'",
        ),
        (HornTheory.from_json, "[]", "not a theory in JSON"),
        (HornTheory.from_dimacs, "", "no line 'p cnf"),
        (HornTheory.from_dimacs, "p cnf 2 1\n1 2 0", "is not Horn: it has 2 positive literals"),
        (HornTheory.from_dimacs, "p cnf 2 1\n-3 0", "literal -3 is outside the 2 variables"),
        (HornTheory.from_dimacs, "p cnf 2 1\n-1", "not ended by 0"),
        (HornTheory.from_dimacs, "p cnf 2 1\n-1 x 0", "line 2: not DIMACS CNF"),
        (HornTheory.from_dimacs, "c dual 1 9\np cnf 2 0\n", "a dual outside 1 to 2"),
    ],
)
def test_theory_formats_bad_files_are_refused(read, text, message):
    with pytest.raises(HornbookError, match=message):
        read(text)


@given(named_theories(), st.data())
def test_theory_formats_exported_python_judges_alike(theory, data):
    module: dict = {}
    exec(theory.export("python"), module)
    batch = data.draw(batches(theory.vocabulary, 20))
    named = theory.vocabulary.named
    judged = [module["satisfied"](named(item.true), named(item.false)) for item in batch]
    assert judged == theory.satisfied_by(batch).tolist()


@draw_examples(1.25)
@given(theories(max_variables=5), st.data())
def test_theory_formats_exported_sql_judges_alike(theory, data):
    batch = data.draw(batches(theory.vocabulary, 30))
    columns = ", ".join(f'"{name}"' for name in theory.vocabulary)
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE facts ({columns})")
        values = [[None if np.isnan(x) else int(x) for x in row] for row in batch.to_array()]
        database.executemany(f"INSERT INTO facts VALUES ({', '.join('?' * len(theory.vocabulary))})", values)
        rows = database.execute(theory.export("sql")).fetchall()
    database.close()
    assert [bool(row[-1]) for row in rows] == theory.satisfied_by(batch).tolist()


@draw_examples(0.62)
@given(theories(max_variables=3, max_rules=4))
def test_theory_formats_exported_sympy_means_the_same(theory):
    import sympy

    module: dict = {}
    exec(theory.export("sympy"), module)
    for values in np.ndindex(*[2] * len(theory.vocabulary)):
        point = {sympy.Symbol(name): bool(x) for name, x in zip(theory.vocabulary, values, strict=True)}
        batch = Batch.from_array([values], theory.vocabulary)
        assert bool(module["theory"].subs(point)) == theory.satisfied_by(batch)[0]


def test_theory_formats_exported_prolog_and_latex():
    theory = HornTheory.parse("""horse & "it's 5%" -> pegasus_1\ntrue -> horse\nhorse -> false""")
    assert theory.export("prolog") == (
        ":- dynamic fact/1, contradiction/0.\n:- table holds/1.\nholds(X) :- fact(X).\n"
        "holds('pegasus_1') :- holds('horse'), holds('it\\'s 5%').\n"
        "holds('horse').\ncontradiction :- holds('horse').\n"
    )
    assert theory.export("latex") == (
        "\\begin{align*}\n"
        "  \\mathsf{horse} \\land \\mathsf{\\text{it's 5\\%}} &\\rightarrow \\mathsf{pegasus\\_1} \\\\\n"
        "  \\top &\\rightarrow \\mathsf{horse} \\\\\n"
        "  \\mathsf{horse} &\\rightarrow \\bot\n"
        "\\end{align*}\n"
    )


def test_other_languages_are_refused_with_the_list():
    with pytest.raises(HornbookError, match=f"choose one of {', '.join(LANGUAGES)}"):
        HornTheory.parse("a -> b").export("cobol")
