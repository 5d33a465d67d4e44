"""Intervals and guarantees cover what a huge fresh sample shows, as often as they say."""

from functools import partial

import pytest
from coverage_trials import Coverage, Trial, try_classifier, try_judge, try_queries

from hornbook.extraction import classifier
from hornbook.extractor import query

RUNS = 4
QUERIES = {"epsilon": 0.2, "delta": 0.1, "max_queries": 8}
KINDS = {
    "explanation": (
        partial(try_classifier, fresh=10_000, form="rules", n_samples=300, max_literals=4),
        {"fidelity on unseen rows"},
    ),
    "queries": (
        partial(try_queries, fresh=10_000, **QUERIES),
        {"fidelity on unseen rows", "PAC guarantee"},
    ),
    "judge": (partial(try_judge, fresh=10_000, **QUERIES), set()),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_share_intervals_cover_the_truth_as_often_as_they_say(kind, monkeypatch):
    """The truth is what twenty times as many samples show as a figure is measured on, or more."""
    monkeypatch.setattr(classifier, "EVALUATION_SAMPLES", 500)
    monkeypatch.setattr(query, "POOL_SAMPLES", 200)
    monkeypatch.setattr(query, "FRESH_SAMPLES", 200)
    attempt, also = KINDS[kind]
    coverage = Coverage()
    for seed in range(RUNS):
        coverage.add(attempt(seed, rows=110))
    assert not coverage.misses()
    measured = {figure.removeprefix(f"{kind}: ") for figure in coverage.runs}
    assert {"fidelity on samples", "support", "precision", *also} <= measured
    guarantees = [figure for figure in coverage.runs if figure.endswith("guarantee")]
    assert sum(coverage.runs[figure] for figure in guarantees) == RUNS


def test_coverage_misses_intervals_that_are_too_narrow():
    coverage = Coverage()
    coverage.add(Trial("narrow", seed % 4 > 0) for seed in range(40))
    coverage.add(Trial("right", seed % 20 > 0) for seed in range(40))
    coverage.add(Trial("PAC", seed % 4 > 0, 0.75) for seed in range(40))
    assert coverage.misses() == ["narrow: 30 of 40, at least 33 are needed"]
