"""How far the numbers of a row may move, against every cell of small trees."""

from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hornbook as hb
from hornbook.deadline import Deadline
from hornbook.models import Subject
from hornbook.proof import Domain, make
from hornbook.reasons.radius import RadiusFinder
from hornbook.schema import read_object, write_object


def draw_table(seed, whole):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(rng.normal(size=(60, 3)) * [1, 5, 20], columns=["a", "b", "c"])
    rows["c"] = rows.c.round() if whole else rows.c
    return rows, (rows.a + rows.b / 5 > rows.c / 20).astype(int)


def measure(model, rows, row, proof=True):
    """The radius of a row, without the reasons for the model's answer."""
    subject = Subject.bind(model, rows, hold_out=False)
    prover = make(subject.predictor, Domain.of(rows)) if proof else None
    frame = row.to_frame().T.astype(rows.dtypes)
    finder = RadiusFinder(frame, subject.teacher, prover, Deadline.after(None), np.random.default_rng(0))
    return finder.measure(subject.words)


def list_cells(model, rows):
    """For each column the numbers at both ends of every cell of a forest, within the column's range."""
    cells = []
    for place, name in enumerate(rows):
        trees = [tree.tree_ for tree in model.estimators_]
        cuts = np.unique(np.concatenate([tree.threshold[tree.feature == place] for tree in trees]))
        ends = np.concatenate([[rows[name].min()], cuts, [rows[name].max()]])
        numbers = []
        for low, high in pairwise(ends):
            above = np.floor(low) + 1 if name == "c" and (rows.c % 1 == 0).all() else low + 1e-5
            numbers.append((low if low == ends[0] else above, high))
        if (rows.c % 1 == 0).all() and name == "c":
            numbers = [(low, np.floor(high)) for low, high in numbers if low <= np.floor(high)]
        cells.append(numbers)
    return cells


@settings(max_examples=4)
@given(st.integers(0, 10_000), st.booleans())
def test_the_radius_of_a_forest_is_that_of_its_nearest_cell(seed, whole):
    rows, labels = draw_table(seed, whole)
    model = RandomForestClassifier(3, max_depth=3, random_state=seed).fit(rows, labels)
    row = rows.iloc[seed % len(rows)]
    radius = measure(model, rows, row)
    assert (radius.level, radius.level_together) == ("proved", "proved")
    own, spreads = row.to_numpy(), rows.std().to_numpy()
    cells = list_cells(model, rows)
    points = np.array([[cell[0] for cell in chosen] for chosen in product(*cells)])
    gaps = [
        [max(low - value, value - high, 0) / spread for low, high in own_cells]
        for own_cells, value, spread in zip(cells, own, spreads, strict=True)
    ]
    distances = np.array([max(chosen) for chosen in product(*gaps)])
    answer = model.predict(row.to_frame().T)[0]
    other = model.predict(pd.DataFrame(points, columns=rows.columns)) != answer
    expected = distances[other].min() if other.any() else np.inf
    assert radius.together == pytest.approx(expected, abs=2e-5)
    for reach in radius.alone:
        place = list(rows).index(reach.column)
        numbers = np.linspace(rows[reach.column].min(), rows[reach.column].max(), 400)
        numbers = np.unique(np.round(numbers)) if reach.column == "c" and whole else numbers
        line = pd.DataFrame(np.repeat(own[None], len(numbers), axis=0), columns=rows.columns)
        line[reach.column] = numbers
        same = model.predict(line) == answer
        assert same[(numbers > reach.low) & (numbers <= reach.high)].all()
        alone = np.repeat(own[None], len(cells[place]), axis=0)
        alone[:, place] = [low for low, _ in cells[place]]
        changed = model.predict(pd.DataFrame(alone, columns=rows.columns)) != answer
        assert reach.room == pytest.approx(np.array(gaps[place])[changed].min(initial=np.inf), abs=2e-5)


def test_the_radius_of_a_network_is_proved_up_to_a_row_that_is_close():
    rows, labels = draw_table(1, whole=True)
    model = make_pipeline(
        StandardScaler(), MLPClassifier((4,), solver="lbfgs", max_iter=2000, random_state=0)
    )
    model.fit(rows, labels)
    row = rows.iloc[4]
    radius, sampled = measure(model, rows, row), measure(model, rows, row, proof=False)
    assert (radius.level, radius.level_together) == ("proved", "proved")
    assert (sampled.level, sampled.level_together) == ("sampled", "sampled")
    assert 0 < radius.together <= sampled.together
    rng, spreads = np.random.default_rng(0), rows.std().to_numpy()
    moves = rng.uniform(-1, 1, (2000, 3)) * radius.together * spreads
    moved = (row + pd.DataFrame(moves, columns=rows.columns)).clip(rows.min(), rows.max(), axis=1)
    moved["c"] = np.clip(np.trunc(moved.c - row.c) + row.c, rows.c.min(), rows.c.max())
    assert (model.predict(moved) == model.predict(row.to_frame().T)[0]).all()
    assert "all numbers may move at once by less than" in str(radius)


def test_the_explainer_says_how_far_numbers_may_move():
    rows, labels = draw_table(2, whole=True)
    model = RandomForestClassifier(2, max_depth=2, random_state=0).fit(rows, labels)
    radius = hb.Explainer(model, rows).radius(rows.iloc[0])
    assert radius.level == "proved"
    assert read_object(type(radius), write_object(radius), "radius") == radius
