"""Rows that stand for several cases: what they mean for samples, figures and intervals."""

import numpy as np
import pandas as pd
import pytest

from hornbook import Explainer, load
from hornbook.errors import HornbookError
from hornbook.extraction import AnswerTable
from hornbook.models import RowSampler
from hornbook.statistics import Share

RUNS, LEAST_COVERAGE = 300, 0.93


def decide(rows):
    return ((rows.age > 50) & (rows.income + 3 * np.sin(rows.age) > 40)).astype(int)


def draw_table(size, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(20, 90, size), "income": rng.gamma(4, 10, size).round(1)})


def extract(rows, weights=None, **options):
    explainer = Explainer(decide, rows, target="late", sample_weight=weights, seed=1)
    return explainer.extract(n_samples=1000, max_literals=4, **options)


def test_equal_weights_change_nothing():
    rows, test = draw_table(300), draw_table(200, seed=1)
    assert extract(rows, np.full(300, 7.5)).to_json() == extract(rows).to_json()
    measured = extract(rows, [2] * 300, test=test, test_weight=[3] * 200)
    assert measured.to_json() == extract(rows, test=test).to_json()


def test_rows_of_weight_0_are_left_out():
    rows = draw_table(400)
    weights = np.where(np.arange(400) % 4 == 0, 0.0, 2.0)
    assert extract(rows, weights).to_json() == extract(rows[weights > 0]).to_json()
    varied = weights * (1 + np.arange(400) % 3)
    assert extract(rows, varied).to_json() == extract(rows[weights > 0], varied[weights > 0]).to_json()


def test_a_row_counts_as_often_as_its_weight_says():
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 5, 200)
    model, explanation = rng.integers(0, 3, 200), rng.integers(0, 3, 200)
    often = np.repeat(np.arange(200), weights)
    table = AnswerTable.of(model, explanation, tuple("abc"), weights.astype(float))
    repeated = AnswerTable.of(model[often], explanation[often], tuple("abc"))
    assert table.counts == repeated.counts and str(table) == str(repeated)
    assert table.kappa == repeated.kappa and table.commonest == repeated.commonest
    share = Share.where(model == explanation, weights=weights.astype(float))
    one = Share.where((model == explanation)[often], units=often)
    assert share.estimate == pytest.approx(one.estimate)
    assert share.low <= one.low + 1e-9 and one.high <= share.high + 1e-9  # weights may go with agreement


def test_test_rows_count_as_often_as_their_weights_say():
    rows, test = draw_table(300), draw_table(200, seed=1)
    weights = 1.0 + np.arange(200) % 3
    weighted = extract(rows, test=test, test_weight=weights).fidelity
    repeated = extract(rows, test=test.loc[test.index.repeat(weights.astype(int))]).fidelity
    assert weighted.estimate == pytest.approx(repeated.estimate)
    assert weighted.low <= repeated.low + 1e-9 and repeated.high <= weighted.high + 1e-9
    assert weighted.table.counts == repeated.table.counts


def test_samples_are_of_the_weighted_population():
    rows = draw_table(500)
    weights = np.where(rows.age > 70, 20.0, 1.0)
    share = weights[rows.age > 70].sum() / weights.sum()
    sampler, rng = RowSampler(rows, weights=weights), np.random.default_rng(0)
    for drawn in (sampler.draw(4000, rng), sampler.draw_near(4000, rng)):
        assert (drawn.age > 70).mean() == pytest.approx(share, abs=0.03)
    extraction = extract(rows, weights)
    fifth = extraction.fidelity.share
    assert fifth.independent < fifth.size == 100 and fifth.weighted is not None
    samples = np.array(extraction.fidelity.tables["samples"].counts)
    assert samples[1].sum() / samples.sum() == pytest.approx(
        np.average(decide(rows), weights=weights), abs=0.06
    )


def test_weights_survive_saving(tmp_path):
    extraction = extract(draw_table(300), np.linspace(0.5, 9, 300), form="card")
    extraction.save(tmp_path)
    read = load(tmp_path)
    assert read == extraction and str(read) == str(extraction)


@pytest.mark.parametrize(
    "weights", [[1, 2], [-1.0] * 300, [np.nan] * 300, [np.inf] * 300, [0] * 300, ["x"] * 300]
)
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(HornbookError, match="sample_weight"):
        Explainer(decide, draw_table(300), sample_weight=weights)


def test_weights_of_test_rows_need_test_rows():
    with pytest.raises(HornbookError, match="test_weight"):
        extract(draw_table(300), test_weight=[1.0] * 300)


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("slope", [0.0, 1.0, -1.0])
def test_intervals_cover_the_weighted_share(spread, slope):
    """From weights that are alike to heavy tails; heavy rows agree as often, more often or less often."""
    rng, covered = np.random.default_rng(0), 0

    def draw(size):
        weights = rng.lognormal(0, spread, size)
        return weights, 1 / (1 + np.exp(-3 - slope * np.log(weights) / max(spread, 1)))

    many, chances = draw(400_000)
    agreement = np.average(chances, weights=many)
    for _ in range(RUNS):
        weights, chances = draw(200)
        share = Share.where(rng.random(200) < chances, weights=weights)
        covered += share.low <= agreement <= share.high
    assert covered >= LEAST_COVERAGE * RUNS


def test_questions_that_count_rows_alike_take_no_weights():
    explainer = Explainer(decide, draw_table(200), sample_weight=np.linspace(1, 3, 200))
    for ask in (lambda: explainer.diff(decide), explainer.learn):
        with pytest.raises(HornbookError, match="counts all rows alike"):
            ask()
