"""Rules that name the regions of rare classes."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.surrogates import Grid
from hornbook.surrogates.rules import RegionSearch, fit_regions


def draw_samples(seed, size=400):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"a": rng.integers(0, 10, size), "b": rng.normal(size=size), "c": rng.choice(list("xyz"), size)}
    )
    return frame, Grid.of(frame).encode(frame), rng


def measure_gain(rules, rows, classes, weights, price):
    """What rules find rightly less the price of what they cover, said plainly."""
    decided = rules.decide(rows)
    return sum(w * ((d == c) - price) for d, c, w in zip(decided, classes, weights, strict=True) if d)


@draw_examples(0.5)
@given(st.integers(0, 1000), st.sampled_from([0.1, 0.3, 0.6, 0.95]))
def test_each_improvement_of_a_region_gains(seed, price):
    frame, rows, rng = draw_samples(seed)
    classes = np.where(frame.a > 6, 1, np.where(frame.b > 1, 2, 0)) * (rng.random(400) < 0.8)
    weights = rng.uniform(0.1, 2, 400)
    search = RegionSearch(rows, classes, weights, price)
    for _ in range(3):
        search.add_rule(4)
        before = (
            measure_gain(search.result(), rows, classes, weights, price)
            - search.literal_price * search.result().size
        )
        assert np.isclose(before, search.gain())
        search.improve()
        assert search.gain() >= before - 1e-9


def test_region_of_a_class_is_found_as_one_rule_and_the_common_class_has_none():
    frame, rows, _ = draw_samples(0, 2000)
    classes = ((frame.a > 6) & (frame.c == "x")).to_numpy().astype(np.intp)
    *_, rules = fit_regions(rows, classes, np.ones(2000), 8, 0.3)
    assert [sorted(str(rows.grid.literals[literal]) for literal in body) for body, _ in rules.rules] == [
        ["a > 6", "c = x"]
    ]
    assert (rules.decide(rows) == classes).all() and rules.default == 0


def test_region_is_left_out_where_it_does_not_pay():
    frame, rows, rng = draw_samples(0, 2000)
    classes = ((frame.a > 6).to_numpy() & (rng.random(2000) < 0.3)).astype(np.intp)
    assert list(fit_regions(rows, classes, np.ones(2000), 2, 0.6)) == []
    *_, rules = fit_regions(rows, classes, np.ones(2000), 2, 0.15)
    assert [str(rows.grid.literals[literal]) for body, _ in rules.rules for literal in body] == ["a > 6"]
