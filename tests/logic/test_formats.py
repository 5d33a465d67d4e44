"""Theories as JSON and DIMACS: what is written is read back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import HornbookError
from hornbook.logic import HornTheory, Vocabulary
from hornbook.testing import names, rules


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
