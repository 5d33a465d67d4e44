"""Laws of the search for whole points, of near samples, of short thresholds, and of repetition."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stdout
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.conditions import Category, Threshold, write_value
from hornbook.explanations import CardLine, ConditionRule, DecisionTree, RuleSet, ScoreCard, Split
from hornbook.explanations.score_card import choose_classes
from hornbook.models import RowSampler
from hornbook.surrogates import Grid, SampleSource, SearchSettings, search_explanations
from hornbook.surrogates.naming import keep_condition, list_shorter, round_thresholds
from hornbook.surrogates.points import MAX_POINTS, PointCard, PointSearch


def made_up_rows(seed, size=60):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.integers(0, 4, size).astype(float), "kind": rng.choice(["u", "v"], size)})
    frame.loc[rng.random(size) < 0.2, "x"] = np.nan
    return frame


def made_up_card(grid, rng, outputs):
    """A card with lines below others, on the true and on the false side."""
    first, second, third, fourth = rng.choice(len(grid.literals) // 2, 4, replace=False) * 2
    bodies = ((first,), (first, second), (first ^ 1, third), (fourth,))
    points = rng.integers(-3, 4, size=(4, 2, outputs))
    for body, own in zip(bodies, points, strict=True):
        own[1] *= not grid.is_missing[body[-1]]  # such a literal is never unknown
    return PointCard(
        tuple(tuple(map(int, body)) for body in bodies), points, rng.integers(-2, 3, size=outputs)
    )


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_point_search_never_loses_and_keeps_its_scores(seed, classes):
    rng = np.random.default_rng(seed)
    frame = made_up_rows(seed)
    rows = Grid.of(frame).encode(frame)
    weights = np.eye(classes)[rng.integers(0, classes, len(frame))] * rng.integers(1, 4, (len(frame), 1))
    search = PointSearch(rows, weights, made_up_card(rows.grid, rng, 1 if classes == 2 else classes))
    for number, output in product(range(4), range(len(search.base))):
        before = search.right
        better = search._exchange(number, output)
        assert search.right > before if better else search.right == before
        assert (
            search.scores == PointCard(tuple(search.bodies), search.points, search.base).score(rows)
        ).all()
    before = search.right
    assert search.run().right >= before
    decided = search.result().decide(rows)
    assert weights[np.arange(len(rows)), decided].sum() == pytest.approx(search.right)
    assert abs(search.points).max() <= MAX_POINTS


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("seed", range(3))
def test_point_search_exchange_is_the_best_in_its_place(seed, number):
    rng = np.random.default_rng(seed)
    frame = made_up_rows(seed, size=40)
    rows = Grid.of(frame).encode(frame)
    weights = np.eye(2)[rng.integers(0, 2, len(frame))]
    search = PointSearch(rows, weights, made_up_card(rows.grid, rng, 1))
    body, bodies = search.bodies[number], tuple(search.bodies)
    best = search.right
    for literal in range(len(rows.grid.literals)):
        if any(other[:-1] == body[:-1] and other[-1] | 1 == literal | 1 for other in bodies if other != body):
            continue
        trial = PointSearch(rows, weights, PointCard(bodies, search.points, search.base))
        trial.base, trial.scores = search.base.copy(), search.scores.copy()
        unknown = [0] if rows.grid.is_missing[literal] else range(-MAX_POINTS, MAX_POINTS + 1)
        trial._put_in(number, (*body[:-1], literal), np.zeros((2, 1), np.int64))
        for kind, choices in ((0, range(-MAX_POINTS, MAX_POINTS + 1)), (1, unknown)):  # they do not interact
            rights = []
            for points in choices:
                trial.points[number, kind] = points
                card = PointCard(tuple(trial.bodies), trial.points, trial.base)
                rights.append(weights[np.arange(len(rows)), choose_classes(card.score(rows))].sum())
            trial.points[number, kind] = choices[int(np.argmax(rights))]
        best = max(best, max(rights))
    search._exchange(number, 0)
    assert search.right == pytest.approx(best)


def test_draw_near_exchanges_between_rows_that_are_alike():
    rng = np.random.default_rng(0)
    side = np.repeat([0, 1], 100)
    frame = pd.DataFrame(
        {
            "a": 10.0 * side + rng.random(200),
            "b": 10.0 * side + rng.random(200),
            "c": np.where(side, "left", "right"),
            "d": np.where(rng.random(200) < 0.2, np.nan, side),
        }
    )
    near = RowSampler(frame).draw_near(2000, np.random.default_rng(1))
    assert near.dtypes.equals(frame.dtypes)
    for name in frame.columns:
        assert set(near[name].dropna()) == set(frame[name].dropna())
    assert ((near.a > 5) == (near.b > 5)).all() and ((near.a > 5) == (near.c == "left")).all()
    assert 0.45 < len(near.merge(frame)) / len(near) < 0.6  # numbers come from the same row in half of them
    far = RowSampler(frame).draw(2000, np.random.default_rng(1))
    assert ((far.a > 5) != (far.b > 5)).any()


def test_draw_near_takes_a_table_of_one_row():
    assert len(RowSampler(pd.DataFrame({"a": [1.0]})).draw_near(3, np.random.default_rng(0))) == 3


numbers = st.floats(-1e6, 1e6).map(lambda number: float(f"{number:.6g}"))


@given(numbers)
def test_list_shorter_is_shorter_and_near_the_number(number):
    for near in list_shorter(number):
        assert len(write_value(near)) < len(write_value(number))
        assert abs(near - number) <= abs(number)


@given(
    st.lists(numbers, min_size=1, max_size=12),
    st.lists(st.tuples(numbers, st.integers(-2, 2)), min_size=1, max_size=4, unique_by=lambda cut: cut[0]),
)
@draw_examples(0.62)
def test_round_thresholds_keeps_decisions_and_order(values, cuts):
    frame = pd.DataFrame({"x": [*values, *(cut for cut, _ in cuts), np.nan], "y": "a"})

    def build_card(change):
        lines = [CardLine((change(Threshold("x", cut)),), (points,), (0,)) for cut, points in cuts]
        return ScoreCard(("no", "yes"), tuple(lines), (0,))

    def build_rules(change):
        rules = [ConditionRule((change(Threshold("x", cut)), Category("y", "a")), 1) for cut, _ in cuts]
        return RuleSet(("no", "yes"), tuple(rules), 0)

    def build_tree(change):
        return DecisionTree(("no", "yes"), Split(change(Threshold("x", cuts[0][0])), 1, 0))

    for build in (build_card, build_rules, build_tree):
        before, after = build(keep_condition), round_thresholds(build, frame)
        assert after.decide(frame).tolist() == before.decide(frame).tolist()
        pairs = [
            (one.cut, other.cut)
            for one, other in zip(before.conditions, after.conditions, strict=True)
            if isinstance(one, Threshold)
        ]
        assert all(len(f"{new:.15g}") <= len(f"{old:.15g}") for old, new in pairs)
        assert [new for _, new in sorted(pairs)] == sorted(new for _, new in pairs)


def test_search_gives_the_chosen_explanation_short_thresholds():
    rows = pd.DataFrame({"weight": np.random.default_rng(0).normal(70, 12, 300)})
    result = search_explanations(
        SampleSource.of(
            lambda rows: np.asarray(rows.weight > 71.3456, np.intp), RowSampler(rows), ("no", "yes")
        ),
        SearchSettings(n_samples=1000),
    )
    (condition,) = result.chosen.explanation.conditions
    above = rows.weight > condition.cut
    assert all(((rows.weight > shorter) != above).any() for shorter in list_shorter(condition.cut))
    assert result.chosen in result.candidates and result.chosen in result.frontier()


SEARCH = """
import numpy as np, pandas as pd
from hornbook.models import RowSampler
from hornbook.surrogates import SampleSource, SearchSettings, search_explanations
rng = np.random.default_rng(0)
rows = pd.DataFrame(rng.normal(size=(300, 8)), columns=list("abcdefgh"))
weights = rng.normal(size=8)
label = lambda rows: np.asarray(np.tanh(rows.to_numpy() * weights).sum(axis=1) > 0, np.intp)
source = SampleSource.of(label, RowSampler(rows), ("no", "yes"))
result = search_explanations(source, SearchSettings("card", 8, 1000))
print(*(f"{one.worth:.9f}\\n{one.explanation}" for one in result.candidates), sep="\\n")
"""


def test_search_finds_the_same_cards_on_different_processors():
    """On this one, and on one that multiplies matrices as processors did long ago."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(SEARCH, {})
    other = os.environ | {"OPENBLAS_CORETYPE": "Prescott", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SEARCH]
    done = subprocess.run(command, env=other, capture_output=True, text=True, check=True)
    assert done.stdout == printed.getvalue() and "or more: yes" in done.stdout
