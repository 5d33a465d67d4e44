"""A whole extraction: exact where the truth is Horn, and what it reports."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from difficult_teachers import Constant, Network, Noisy
from extractions import (
    PAIRED,
    PARTIAL,
    QUICK,
    THEORY,
    disagreement,
    rng,
)

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, HornTheory, Rule, random_theory
from hornbook.queries import Budget, Estimated, Pac, Random, Settings, run_learner
from hornbook.queries.completions import Completions

SHORT = replace(QUICK, budget=Budget(equivalence_queries=5))
NO_RULES = run_learner(THEORY.satisfied_by, PARTIAL, replace(QUICK, budget=Budget(equivalence_queries=0)))


@pytest.mark.parametrize("seed", range(2))
def test_total_assignments_suffice_to_recover_a_horn_theory(seed):
    theory = random_theory(20, 8, (2, 4), rng(seed))

    def total_only(batch):
        assert (batch.true | batch.false).all() and np.isfinite(batch.to_array()).all()
        return theory.satisfied_by(batch)

    some = partial(
        Completions(theory.vocabulary, draws=64, rows=Random(theory.vocabulary), rng=rng(seed)).accept_some,
        total_only,
    )
    settings = Settings(pool=3000, size=5000, min_precision=1, seed=seed)
    found = run_learner(some, Random(theory.vocabulary, missing=0), settings)
    assert found.stop_reason == "equivalent" and found.theory.equivalent(theory)
    assert isinstance(found.guarantee, Estimated) and found.guarantee.disagreement.hits == 0


@pytest.mark.parametrize("seed", range(5))
def test_partial_interpretations_suffice_to_recover_a_horn_theory(seed):
    theory = random_theory(20, 8, (2, 4), rng(seed))
    settings = Settings(pool=5000, size="paper", min_precision=1, seed=seed)
    found = run_learner(theory.satisfied_by, Random(theory.vocabulary), settings)
    assert found.theory.equivalent(theory) and isinstance(found.guarantee, Pac)
    assert len(found.rules) == len(theory.minimise())


@pytest.mark.parametrize("seed", range(3))
def test_extract_paired_vocabularies(seed):
    theory = HornTheory(PAIRED, random_theory(16, 5, (1, 3), rng(seed)).rules) | HornTheory.background(PAIRED)
    distribution = Random(PAIRED)
    found = run_learner(theory.satisfied_by, distribution, replace(QUICK, min_precision=1, seed=seed))
    assert found.stop_reason == "equivalent"
    fresh = distribution.draw(50_000, rng(9))
    assert (found.theory.satisfied_by(fresh) == theory.satisfied_by(fresh)).mean() > 0.999
    assert set(HornTheory.background(PAIRED)) <= set(found.theory)
    assert not set(found.rules) & set(found.background)


def test_extract_background_is_part_of_every_hypothesis_and_never_removed():
    lie = Rule({0}, 1)
    assert not THEORY.entails(lie)
    background = HornTheory(THEORY.vocabulary, [lie, *THEORY.rules[:2]])
    seen = []
    found = run_learner(THEORY.satisfied_by, PARTIAL, QUICK, background=background, watch=seen.append)
    assert all(entry["rules"] >= len(background) for entry in seen)
    assert set(background) <= set(found.theory)
    assert found.background == background and not set(background) & set(found.rules)
    assert found.stop_reason != "equivalent"  # the teacher contradicts what must be believed


@pytest.mark.parametrize("heads", [[3], [0, 5], [BOTTOM], [2, BOTTOM]])
def test_extract_heads_are_those_allowed(heads):
    found = run_learner(THEORY.satisfied_by, PARTIAL, SHORT, heads=heads)
    assert {rule.head for rule in found.rules} <= set(heads)
    assert disagreement(found, THEORY.satisfied_by, PARTIAL) < disagreement(
        NO_RULES, THEORY.satisfied_by, PARTIAL
    )


@pytest.mark.parametrize("teacher", ["theory", "network"])
def test_extract_same_seed_gives_the_same_run(teacher):
    runs = []
    for seed in (0, 0, 1):
        member = THEORY.satisfied_by if teacher == "theory" else Network(PARTIAL, rng())
        runs.append(run_learner(member, PARTIAL, replace(SHORT, seed=seed)))
    first, again, other = runs
    assert first == again and first.entries != other.entries


@pytest.mark.parametrize("limit", ["equivalence_queries", "membership_queries"])
def test_extract_with_a_budget_of_no_query_asks_none_and_says_so(limit):
    def refuse(batch):
        raise AssertionError("it was asked")

    found = run_learner(refuse, PARTIAL, replace(QUICK, budget=Budget(**{limit: 0})))
    assert found.stop_reason == f"budget of 0 {limit.replace('_', ' ')}"
    assert (found.membership_queries, found.entries, found.rules) == (0, (), ())
    assert str(found.guarantee) == f"none: {found.stop_reason}"


def test_extract_no_sample_is_drawn_twice_even_where_seeds_are_the_same():
    asked, noisy = [], Noisy(THEORY.satisfied_by, rng())

    def member(batch):
        asked.append(batch)
        return noisy(batch)

    run_learner(member, PARTIAL, Settings(Budget(40), pool=200, size=300))
    large = [set(batch[:200]) for batch in asked if len(batch) >= 200]
    assert len(large) > 1
    for at, one in enumerate(large):  # the pool, and the samples of queries
        assert all(len(one & other) < 100 for other in large[at + 1 :])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_precision": 0}, "min_precision is above 0 and at most 1; got 0"),
        ({"min_precision": 1.5}, "min_precision is above 0"),
        ({"pool": 0}, "pool is at least 1; got 0"),
        ({"seed": -1}, "seed is at least 0; got -1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(HornbookError, match=message):
        Settings(**arguments)


def test_extract_size_that_makes_no_sense_is_refused_before_anything_is_asked():
    with pytest.raises(HornbookError, match="a sample size is"):
        run_learner(Constant(True), PARTIAL, replace(QUICK, size="plenty"))
