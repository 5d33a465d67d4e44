"""Drawings: the boxes of a tree lead to the class that it decides for, and pictures hold any name."""

from __future__ import annotations

from itertools import product
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples
from sample_reports import make_card

from hornbook.conditions import Category, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.explanations import DecisionTree, Split
from hornbook.report import write_svg
from hornbook.report.drawings import draw_boxes, place_boxes

ROWS = pd.DataFrame(list(product([None, 30.0, 45.0, 70.0], [None, "f", "m"])), columns=["age", "sex"]).astype(
    {"age": float, "sex": object}
)
conditions = st.one_of(
    st.builds(Threshold, st.just("age"), st.sampled_from([40.0, 50.0]), st.booleans()),
    st.builds(Category, st.just("sex"), st.just("f"), st.booleans()),
    st.builds(Missing, st.sampled_from(["age", "sex"]), st.booleans()),
)
trees = st.recursive(
    st.integers(0, 2), lambda below: st.builds(Split, conditions, below, below), max_leaves=10
).map(lambda root: DecisionTree(("a", "b", "c"), root))


@given(trees)
@draw_examples(0.75)
def test_boxes_lead_each_row_to_the_class_that_the_tree_decides_for(tree):
    boxes = tree.list_boxes()
    answers = {tree.code_book.describe(each): each.evaluate(ROWS)[0] for each in tree.conditions}
    for row, decided in enumerate(tree.decide(ROWS)):
        box = boxes[0]
        while box.outcome is None:
            box = boxes[box.yes if answers[box.text][row] else box.no]
        assert box.outcome == decided and tree.classes[decided] == box.text


@given(trees)
@draw_examples(0.75)
def test_boxes_have_a_place_of_their_own_and_ways_that_cross_none(tree):
    drawing = place_boxes(tree.list_boxes())
    assert len({(each.box.column, each.box.row) for each in drawing}) == len(drawing)
    picture = draw_boxes(tree)
    _, _, width, height = map(float, ET.fromstring(picture).get("viewBox").split()) if picture else (0,) * 4
    for each in drawing:
        assert each.x >= 0 and each.y >= 0
        assert not picture or (each.x < width and each.y + each.height <= height)
        if each.box.outcome is None:
            yes, no = drawing[each.box.yes], drawing[each.box.no]
            assert (yes.box.row, yes.box.column) == (each.box.row, each.box.column + 1)
            assert no.box.column == each.box.column and no.y > each.y + each.height
            below = [b.box.row for b in drawing if b.box.column == each.box.column]
            assert not any(each.box.row < row < no.box.row for row in below)


@given(trees)
@draw_examples(0.5)
def test_svg_of_a_tree_has_every_box(tree):
    boxes = tree.list_boxes()
    if len(boxes) < 2:
        assert draw_boxes(tree) == ""
        return
    root = ET.fromstring(draw_boxes(tree))
    assert len(root.findall(".//rect")) == len(boxes)
    assert root.get("viewBox") and root.get("aria-label").startswith("The decision tree as a drawing")


HOSTILE = "</svg><script>alert(1)</script>&amp;$x^2$ " + "a" * 200


def test_pictures_hold_any_name():
    tree = DecisionTree(
        (HOSTILE, "$b"), Split(Threshold(HOSTILE, 1.5), Split(Category("a", HOSTILE), 0, 1), 1)
    )
    root = ET.fromstring(write_svg(tree))
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    with pytest.raises(HornbookError, match="a decision tree has one"):
        write_svg(make_card())
