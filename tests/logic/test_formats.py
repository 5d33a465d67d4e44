"""Theories as text and JSON: what is written is read back, and errors name line and column."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logic_strategies import names, rules

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, HornTheory, Rule, Vocabulary


@st.composite
def named_theories(draw):
    vocabulary = Vocabulary(draw(st.lists(names(), min_size=1, max_size=5, unique=True)))
    return HornTheory(vocabulary, draw(st.lists(rules(len(vocabulary)), max_size=6)))


@given(named_theories())
def test_theory_formats_json_comes_back_as_they_were(theory):
    assert HornTheory.from_json(theory.to_json()) == theory


def test_theory_formats_duals_survive():
    theory = HornTheory.background(Vocabulary.with_duals(["sunny", "happy"]))
    assert HornTheory.from_json(theory.to_json()) == theory


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
    ],
)
def test_theory_formats_bad_files_are_refused(read, text, message):
    with pytest.raises(HornbookError, match=message):
        read(text)


@given(st.data())
def test_parse_undoes_print_whatever_the_names(data):
    vocabulary = Vocabulary(data.draw(st.lists(names(), min_size=1, max_size=6, unique=True)))
    theory = HornTheory(vocabulary, data.draw(st.lists(rules(len(vocabulary)), max_size=6)))
    assert HornTheory.parse(str(theory), vocabulary) == theory
    assert HornTheory.parse(theory.to_text(), vocabulary) == theory
    assert HornTheory.parse(theory.to_text()).over(vocabulary) == theory


@pytest.mark.parametrize(
    "text",
    [
        "a & b -> c",
        "a ∧ b → c",
        "a, b -> c",
        "a&b->c",
        "  a &\tb -> c  # why",
        '"a" & "b" -> "c"',
        "a ∧ b→c\r",
    ],
)
def test_spellings_of_one_rule(text):
    vocabulary = Vocabulary(["a", "b", "c"])
    assert HornTheory.parse(text, vocabulary).rules == (Rule({0, 1}, 2),)


@pytest.mark.parametrize("text", ["true -> false", "⊤ → ⊥", "true->false", "⊤→⊥"])
def test_parse_contradiction(text):
    assert HornTheory.parse(text).rules == (Rule((), BOTTOM),)


def test_names_may_hold_anything_but_the_signs():
    text = "age=high & not-b & x->y & 3.5 & true_story → π/2"
    theory = HornTheory.parse('age=high & not-b & 3.5 & true_story & "x->y" & "true" → π/2')
    assert theory.vocabulary.names == ("age=high", "not-b", "3.5", "true_story", "x->y", "true", "π/2")
    with pytest.raises(HornbookError, match="line 1, column 25"):
        HornTheory.parse(text)


def test_parse_comments_and_empty_lines_mean_nothing():
    assert len(HornTheory.parse("\n# all of it\n\n  \t\n")) == 0
    assert HornTheory.parse('"a # b" -> c  # comment -> x').vocabulary.names == ("a # b", "c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a -> ", r"line 1, column 5: expected a head"),
        ("a -> b\n\na & -> b", r"line 3, column 5: expected a name before '->'"),
        ("-> b", r"line 1, column 1: .* write 'true' for an empty body"),
        ("a b -> c", r"line 1, column 3: expected '&' or '->', got 'b'"),
        ("a -> b c", r"line 1, column 8: expected one head and no more, got 'c'"),
        ("a -> b, c", r"line 1, column 7: expected one head and no more, got ','"),
        ("a -> b -> c", r"line 1, column 8"),
        ("horse & wings", r"line 1, column 14: expected '->' and a head"),
        ('"x -> b', r"line 1, column 1: unexpected '\"'; a quote is not closed"),
        ('a -> "\\q"', r"line 1, column 6: bad escape"),
        ('"" -> a', r"line 1, column 1: a name cannot be empty"),
        ("& -> a", r"line 1, column 1: expected a name, got '&'"),
        ("true & a -> b", r"line 1, column 1: expected a name, got 'true'"),
        ("a & false -> b", r"line 1, column 5: expected a name, got 'false'"),
        ("a -> true", r"line 1, column 6: expected a head, a name or false, got 'true'"),
    ],
)
def test_errors_name_line_and_column(text, message):
    with pytest.raises(HornbookError, match=message):
        HornTheory.parse(text)


def test_parse_line_of_megabytes_is_read_or_refused_in_seconds():
    start = time.perf_counter()
    long = "x" * 2_000_000
    assert HornTheory.parse(f"{long} -> b").vocabulary.names == (long, "b")
    many = " & ".join(f"a_long_name_for_variable_{i}" for i in range(40_000))
    assert len(HornTheory.parse(f"{many} -> b").rules[0].body) == 40_000
    with pytest.raises(HornbookError) as caught:
        HornTheory.parse(f"a {long} -> b")
    assert len(str(caught.value)) < 500
    assert time.perf_counter() - start < 20
