"""What trees, cards and rules share: Horn theories, JSON, reasons and changes."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from explanation_strategies import explanations as random_explanations
from hypothesis import given
from hypothesis import strategies as st

from hornbook.conditions import Category, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import DecisionTree, Explanation, Split, explain_row
from hornbook.explanations.decision import find_change
from hornbook.logic import bits
from hornbook.schema import read_object

ROWS = pd.DataFrame(
    list(product([None, 30.0, 45.0, 55.0, 70.0], [None, "f", "m", "x"])), columns=["age", "sex"]
).astype({"age": float, "sex": object})

conditions = st.one_of(
    st.builds(Threshold, st.just("age"), st.sampled_from([40.0, 50.0, 60.0]), st.booleans()),
    st.builds(Category, st.just("sex"), st.sampled_from(["f", "m"]), st.booleans()),
    st.builds(Category, st.just("sex"), st.sampled_from([("f", "m"), ("m", "x")]), st.booleans()),
    st.builds(Missing, st.sampled_from(["age", "sex"]), st.booleans()),
)


explanations = random_explanations(conditions, "abcd")


@given(explanations)
def test_compiled_theory_derives_exactly_the_class_that_is_decided(explanation):
    compiled = explanation.compile()
    batch = compiled.read_rows(ROWS)
    closed, _ = compiled.theory.program.close_batch(batch)
    follows = np.stack([bits.flat(closed[v], len(ROWS)) for v in compiled.classes], axis=1)
    assert compiled.theory.satisfied_by(batch).all()
    assert (follows.sum(axis=1) == 1).all()
    assert (follows.argmax(axis=1) == explanation.decide(ROWS)).all()
    assert (compiled.decide(ROWS) == explanation.decide(ROWS)).all()


@given(explanations)
def test_explanation_is_read_back_from_json(explanation):
    again = read_object(Explanation, json.loads(json.dumps(explanation.to_object())))
    assert again == explanation and str(again) == str(explanation)


@given(explanations, st.integers(0, len(ROWS) - 1))
def test_reasons_name_the_decided_class_and_changes_change_it(explanation, number):
    row = ROWS.iloc[[number]].reset_index(drop=True)
    decided = int(explanation.decide(row)[0])
    assert explanation.explain(row).outcome == decided
    words, other = find_change(explanation, row, decided)
    assert (other is None) == (not words) and other != decided
    as_mapping = row.iloc[0].to_dict()
    assert explain_row(explanation, as_mapping) == explain_row(explanation, row.iloc[0])
    assert explain_row(explanation, as_mapping).outcome == explanation.classes[decided]


def test_explain_row_refuses_what_is_no_row():
    tree = DecisionTree(("a", "b"), Split(Threshold("age", 40.0), 1, 0))
    with pytest.raises(HornbookError, match="got 7"):
        explain_row(tree, 7)


@given(explanations)
def test_lines_end_with_a_class_and_text_has_every_line(explanation):
    lines = explanation.lines()
    assert lines and all(line.outcome in ("", *explanation.classes) for line in lines)
    text = str(explanation)
    assert all(line.words in text for line in lines)


@pytest.mark.parametrize(
    "content",
    [
        None,
        {},
        {"form": "poem", "classes": ["a", "b"]},
        {"form": "tree", "classes": ["a", "b"], "root": 7},
        {"form": "tree", "classes": ["a", "b"], "root": {"if": {"column": 3}, "yes": 0, "no": 1}},
        {"form": "rules", "classes": ["a", "b"], "rules": [{"if": [], "then": 0}], "default": 0},
        {"form": "rules", "classes": ["a", "b"], "rules": [], "default": "b"},
        {"form": "card", "classes": ["a", "b"], "lines": [], "start": [0.5]},
        {"form": "card", "classes": ["a", "b", "c"], "lines": [], "start": [0]},
        {"form": "tree", "classes": [], "root": 0},
        {"form": "tree", "classes": ["a", 2], "root": 0},
    ],
)
def test_read_explanation_refuses_what_is_no_explanation(content):
    with pytest.raises(HornbookError):
        read_object(Explanation, content)


def test_threshold_refuses_a_column_of_words():
    with pytest.raises(HornbookError, match="column 'age' holds '6,5', and is compared with numbers"):
        Threshold("age", 40.0).evaluate(pd.DataFrame({"age": [3.0, "6,5"]}))
