"""The best small trees and rules on samples, held against all of them."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.explanations import Split
from hornbook.explanations.tree import decide_rows
from hornbook.models import RowSampler
from hornbook.surrogates import SampleSource, SearchSettings, search_explanations
from hornbook.surrogates.grid import Grid
from hornbook.surrogates.tree import FULL_WORK, find_best_trees


def make_samples(seed, classes):
    """Rows of numbers and words with missing values, coded, and a weight for each in one class."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(5, 40))
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 4, size).astype(float),
            "b": np.where(rng.random(size) < 0.3, np.nan, rng.integers(0, 2, size)),
            "c": rng.choice(list("xy"), size),
        }
    )
    weights = np.zeros((size, classes))
    weights[np.arange(size), rng.integers(0, classes, size)] = rng.integers(1, 4, size)
    return Grid.of(frame).encode(frame), weights


def best_right(true, weights, where, questions, known):
    """What the best tree of so many questions decides rightly of some samples, by trying all."""
    key = where.tobytes(), questions
    if key not in known:
        best = weights[where].sum(axis=0).max(initial=0)
        for mask in true if questions else ():
            for share in range(questions):
                parts = (where & mask, share), (where & ~mask, questions - 1 - share)
                best = max(best, sum(best_right(true, weights, *part, known) for part in parts))
        known[key] = best
    return known[key]


def count_questions(root):
    return 1 + count_questions(root.yes) + count_questions(root.no) if isinstance(root, Split) else 0


@draw_examples(0.2)
@given(st.integers(0, 10_000), st.integers(2, 3), st.sampled_from([0.0, 1e6, FULL_WORK]))
def test_best_trees_are_those_of_brute_force(seed, classes, work):
    rows, weights = make_samples(seed, classes)
    true = np.unique([rows.where_true(number) for number in range(len(rows.grid.literals))], axis=0)
    everything = np.ones(len(rows), bool)
    numbers, known = 0, {}
    for optimum in find_best_trees(rows, weights, work=work):
        best = best_right(true, weights, everything, optimum.questions, known)
        assert optimum.right <= best + 1e-9 and best <= optimum.bound + 1e-9
        if optimum.questions < 3 or work == FULL_WORK:
            assert optimum.right == pytest.approx(best) == optimum.bound
            numbers = optimum.questions
        if optimum.tree is not None:
            decided = decide_rows(optimum.tree, rows.where_true, len(rows))
            assert weights[np.arange(len(rows)), decided].sum() == pytest.approx(optimum.right)
            assert count_questions(optimum.tree) <= optimum.questions
    assert work < FULL_WORK or numbers == 3


@pytest.mark.parametrize("seed", range(2))
def test_rules_of_three_literals_for_two_classes_are_no_better_than_trees(seed):
    rows, weights = make_samples(seed, 2)
    *_, three = find_best_trees(rows, weights, work=FULL_WORK)
    true = np.unique([rows.where_true(number) for number in range(len(rows.grid.literals))], axis=0)
    shapes = {tuple(map(len, parts)) for parts in ((("a",) * 3,), ("ab", "c"), ("a", "bc"), ("a", "b", "c"))}
    for literals, shape in product(permutations(range(len(true)), 3), shapes):
        left, right, at = np.ones(len(rows), bool), 0.0, 0
        for length in shape:  # of every line the better class, which is the most that rules can reach
            met = left & true[list(literals[at : at + length])].all(axis=0)
            right += weights[met].sum(axis=0).max()
            left, at = left & ~met, at + length
        assert right + weights[left].sum(axis=0).max() <= three.bound + 1e-9


def test_frontier_says_what_is_optimal_on_its_samples():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 4)).round(1), columns=list("abcd"))

    def decide(rows):
        return ((rows.a > 0) ^ (rows.b > 0.5) | (rows.c > 1)).to_numpy().astype(np.intp)

    found = search_explanations(
        SampleSource.of(decide, RowSampler(frame), ("no", "yes")),
        SearchSettings(max_literals=3, n_samples=2000, certify=True),
    )
    assert {one.literals for one in found.candidates if one.missed == 0} == {1, 2, 3}
    assert all(one.missed is not None for one in found.candidates if one.literals)
