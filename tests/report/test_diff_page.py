"""The page of a comparison: one file, both models side by side, all text escaped."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from questions import diff
from sklearn.tree import DecisionTreeClassifier

from hornbook.report import to_diff_html


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.integers(18, 90, 200), "<b>bili</b>": rng.uniform(0, 4, 200).round(1)})


@pytest.fixture(scope="module")
def models(table):
    y = table["<b>bili</b>"] > 2
    old = DecisionTreeClassifier(max_depth=1).fit(table[["<b>bili</b>"]], y)
    return old, DecisionTreeClassifier(max_depth=3).fit(table, y | (table.age > 80))


def test_page_shows_both_models_side_by_side(table, models):
    result = diff(*models, table, "ill", n_samples=500)
    assert result.rows
    page = to_diff_html(replace(result, provenance={"model": {"old": {"name": "may.onnx"}}}))
    assert page.count('<div class="panel">\n<h3>') == 2 and "Old: may.onnx" in page
    for section in ("where", "models", "rows", "limits"):
        assert f'<section id="{section}"' in page
    assert "old not ill, new ill" in page and "<b>bili</b>" not in page
    assert not re.search(r'(?:src|href)="(?!#)', page) and "<script" not in page


def test_page_of_a_model_and_the_truth_speaks_of_errors(table, models):
    page = to_diff_html(diff(models[1], models[0].predict(table[["<b>bili</b>"]]), table, "ill"))
    assert "The model errs on" in page and "side by side" not in page.lower()


def test_page_of_identical_models_says_that_nothing_was_found(table, models):
    page = to_diff_html(diff(models[0], models[0], table, "ill", n_samples=500))
    assert "No disagreement was found" in page and "always" in page
