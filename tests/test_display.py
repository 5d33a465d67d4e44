"""Every value that a question answers with shows itself by a sentence, and by HTML in a notebook."""

from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import hornbook as hb
from hornbook.display import MAX_CHARACTERS, Displayed
from hornbook.models import Predictor


@pytest.fixture(scope="module")
def answers():
    """An answer to every question about a small tree."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"age": rng.integers(20, 90, 120), "sex": rng.choice([0, 1], 120)}).astype(float)
    labels = np.where((rows.age > 60) & (rows.sex > 0), "ill", "well")
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, labels)
    other = DecisionTreeClassifier(max_depth=1, random_state=0).fit(rows, labels)
    explainer = hb.Explainer(model, rows, labels)
    extractions = [
        explainer.extract(form=form, max_literals=4, n_samples=300) for form in ("tree", "card", "rules")
    ]
    learned = explainer.learn(max_queries=1)
    return [
        explainer,
        hb.as_predictor(model),
        *extractions,
        *(each.explain(rows.iloc[0]) for each in (*extractions, learned)),
        *(each.theory for each in (*extractions, learned)),
        learned,
        explainer.learn(learner="envelope"),
        explainer.why(rows.iloc[0]),
        explainer.radius(rows.iloc[0]),
        explainer.why_table(max_reasons=2, proof=False),
        explainer.changes(rows.iloc[0]),
        explainer.changes_table(count=1),
        explainer.check("age > 20 -> ill\nmore age never lowers well"),
        explainer.diff(other, n_samples=300),
    ]


def walk(value):
    """A value, and all that it is made of, but what a model is bound to."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        for each in value:
            yield from walk(each)
    if isinstance(value, Displayed) or is_dataclass(value):
        yield value
    if is_dataclass(value) and not isinstance(value, Predictor):
        for field in fields(value):
            yield from walk(getattr(value, field.name))


def test_answers_show_themselves_in_a_line_and_in_html(answers):
    shown = {type(value): value for value in walk(answers)}
    assert len(shown) > 40
    for kind, value in shown.items():
        line, whole = repr(value), value._repr_html_()
        assert "\n" not in line, kind
        assert 0 < len(line) < 2.5 * MAX_CHARACTERS, kind
        assert not any(f"{each.__name__}(" in line for each in shown), kind
        assert whole.lstrip().startswith("<"), kind


def test_names_are_those_that_tab_shows():
    assert dir(hb) == sorted(hb.__all__)
    assert 10 <= len(dir(hb)) <= 15
