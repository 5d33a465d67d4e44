"""Intervals and guarantees cover what a huge fresh sample shows, as often as they say."""

from functools import partial

import pytest
from coverage_trials import Coverage, Trial, try_classifier, try_diff, try_judge, try_queries

from hornbook.extraction import explaining, learning

RUNS = 4
QUERIES = {"epsilon": 0.2, "delta": 0.1, "max_queries": 8}
KINDS = {
    "explanation": (
        partial(try_classifier, fresh=10_000, form="rules", n_samples=300, max_literals=4),
        {"fidelity on held-out rows"},
    ),
    "queries": (
        partial(try_queries, fresh=10_000, **QUERIES),
        {"fidelity on held-out rows", "PAC guarantee"},
    ),
    "judge": (partial(try_judge, fresh=10_000, **QUERIES), set()),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_share_intervals_cover_the_truth_as_often_as_they_say(kind, monkeypatch):
    """The truth is what twenty times as many samples show as a figure is measured on, or more."""
    monkeypatch.setattr(explaining, "EVALUATION_SAMPLES", 500)
    monkeypatch.setattr(learning, "POOL_SAMPLES", 200)
    monkeypatch.setattr(learning, "FRESH_SAMPLES", 200)
    attempt, also = KINDS[kind]
    coverage = Coverage()
    for seed in range(RUNS):
        coverage.add(attempt(seed, rows=110))
    assert not coverage.misses()
    measured = {figure.removeprefix(f"{kind}: ") for figure in coverage.runs}
    assert {"fidelity on samples", "support", "precision", *also} <= measured
    guarantees = [figure for figure in coverage.runs if figure.endswith("guarantee")]
    assert sum(coverage.runs[figure] for figure in guarantees) == RUNS


@pytest.mark.parametrize("settings", [{"repeats": 10}, {"visits": 10}])
def test_intervals_cover_the_truth_about_new_rows_where_rows_of_the_table_belong_together(settings):
    """Of rows that stand on both sides, or count ten times, next to no interval would cover it."""
    coverage = Coverage()
    for seed in range(6):
        small = {"form": "rules", "n_samples": 300, "max_literals": 4}
        coverage.add(try_classifier(seed, rows=60, fresh=4000, **small, **settings))
    figure = "explanation: fidelity on held-out rows"
    assert coverage.runs[figure] == 6 and coverage.covered[figure] >= coverage.fewest(figure)


def test_intervals_of_a_diff_cover_the_truth_about_new_rows_where_rows_repeat():
    coverage = Coverage()
    for seed in range(8):
        coverage.add(try_diff(seed, rows=150, fresh=4000, repeats=10, max_literals=4))
    assert coverage.runs["diff: share of errors"] == 8 and not coverage.misses()


def test_coverage_misses_intervals_that_are_too_narrow():
    coverage = Coverage()
    coverage.add(Trial("narrow", seed % 4 > 0) for seed in range(40))
    coverage.add(Trial("right", seed % 20 > 0) for seed in range(40))
    coverage.add(Trial("PAC", seed % 4 > 0, 0.75) for seed in range(40))
    assert coverage.misses() == ["narrow: 30 of 40, at least 33 are needed"]
