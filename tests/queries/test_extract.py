"""A whole extraction: exact where the truth is Horn, and what it reports."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from difficult_teachers import Constant, Failing, Network
from extractions import (
    PAIRED,
    PARTIAL,
    QUICK,
    THEORY,
    is_faithful,
    quick_run,
    rare_margin,
    rng,
)

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, HornTheory, Rule, random_theory, violation
from hornbook.queries import Budget, Estimated, Pac, Random, Settings, extract
from hornbook.queries.completions import Completions

SHORT = replace(QUICK, budget=Budget(equivalence_queries=5))


@pytest.mark.parametrize("seed", range(2))
def test_total_assignments_suffice_to_recover_a_horn_theory(seed):
    theory = random_theory(20, 8, (2, 4), rng(seed))

    def total_only(batch):
        assert (batch.true | batch.false).all() and np.isfinite(batch.to_array()).all()
        return theory.satisfied_by(batch)

    some = partial(Completions(theory.vocabulary, draws=64, rng=rng(seed)).accept_some, total_only)
    settings = Settings(pool=3000, size=5000, evaluation=2000, min_precision=1, seed=seed)
    found = extract(some, Random(theory.vocabulary, missing=0), settings)
    assert found.stop_reason == "equivalent" and found.theory.equivalent(theory)
    assert found.disagreement.hits == 0 and isinstance(found.guarantee, Estimated)


@pytest.mark.parametrize("seed", range(5))
def test_partial_interpretations_suffice_to_recover_a_horn_theory(seed):
    theory = random_theory(20, 8, (2, 4), rng(seed))
    settings = Settings(pool=5000, size="paper", evaluation=2000, min_precision=1, seed=seed)
    found = extract(theory.satisfied_by, Random(theory.vocabulary), settings)
    assert found.theory.equivalent(theory) and isinstance(found.guarantee, Pac)
    assert len(found.rules) == len(theory.minimise()) and not found.refuted


@pytest.mark.parametrize("seed", range(3))
def test_extract_paired_vocabularies(seed):
    theory = HornTheory(PAIRED, random_theory(16, 5, (1, 3), rng(seed)).rules) | HornTheory.background(PAIRED)
    distribution = Random(PAIRED)
    found = extract(theory.satisfied_by, distribution, replace(QUICK, min_precision=1, seed=seed))
    assert found.stop_reason == "equivalent" and found.disagreement.hits == 0
    fresh = distribution.draw(50_000, rng(9))
    assert (found.theory.satisfied_by(fresh) == theory.satisfied_by(fresh)).mean() > 0.999
    assert set(HornTheory.background(PAIRED)) <= set(found.theory)
    assert not set(found.rules) & set(found.background)


def test_extract_background_is_part_of_every_hypothesis_and_never_removed():
    lie = Rule({0}, 1)
    assert not THEORY.entails(lie)
    background = HornTheory(THEORY.vocabulary, [lie, *THEORY.rules[:2]])
    seen = []
    found = extract(
        THEORY.satisfied_by,
        PARTIAL,
        QUICK,
        background=background,
        watch=lambda step, trace: seen.append(step.hypothesis),
    )
    assert all(set(background) <= set(hypothesis) for hypothesis in [*seen, found.theory])
    assert found.background == background and not set(background) & {*found.rules, *found.refuted}
    assert found.stop_reason != "equivalent"  # the teacher contradicts what must be believed


@pytest.mark.parametrize("heads", [[3], [0, 5], [BOTTOM], [2, BOTTOM]])
def test_extract_heads_are_those_allowed(heads):
    found = extract(THEORY.satisfied_by, PARTIAL, SHORT, heads=heads)
    assert {rule.head for rule in found.rules} <= set(heads)
    assert is_faithful(found, THEORY.satisfied_by, PARTIAL)


@pytest.mark.parametrize("teacher", ["theory", "network"])
def test_extract_same_seed_gives_the_same_run(teacher):
    runs = []
    for seed in (0, 0, 1):
        member = THEORY.satisfied_by if teacher == "theory" else Network(PARTIAL, rng())
        runs.append(extract(member, PARTIAL, replace(SHORT, seed=seed)))
    first, again, other = runs
    assert first.theory.rules == again.theory.rules and first.frontier == again.frontier
    assert first.trace.entries == again.trace.entries
    assert first.trace.entries != other.trace.entries


def test_rules_are_measured_on_held_out_samples():
    found = quick_run()
    assert [row.rule for row in found.statistics] == list(found.rules)
    assert {row.found_by for row in found.statistics} <= {"stored", "rules", "sampling"}
    for row in found.statistics:
        assert row.support.size == QUICK.evaluation and row.precision.hits == row.precision.size
    assert extract(Failing(THEORY.satisfied_by, 1), PARTIAL, QUICK).statistics == ()


def test_each_rule_is_asked_for_with_all_else_unknown():
    found = quick_run()
    assert found.statistics and all(row.entailed_by_model for row in found.statistics)
    network = Network(PARTIAL, rng(3))
    found = extract(network, PARTIAL, SHORT)
    breaches = [violation(rule) for rule in found.rules]
    rejected = ~network(Batch.from_interpretations(breaches, PARTIAL.vocabulary))
    assert [row.entailed_by_model for row in found.statistics] == rejected.tolist()
    spent = replace(SHORT.budget, membership_queries=found.membership_queries - 1)
    last = extract(network, PARTIAL, replace(SHORT, budget=spent))
    assert last.stop_reason == found.stop_reason and {row.entailed_by_model for row in last.statistics} == {
        None
    }


def test_extract_coherence_is_measured_unless_it_is_not_wanted():
    network = Network(PARTIAL, rng(3))
    found = extract(network, PARTIAL, replace(QUICK, budget=Budget(equivalence_queries=1)))
    assert found.coherence.rate.hits and found.coherence.rate.size <= QUICK.coherence
    assert not quick_run().coherence.rate.hits
    assert extract(THEORY.satisfied_by, PARTIAL, replace(QUICK, coherence=0)).coherence is None


@pytest.mark.parametrize("limit", ["equivalence_queries", "membership_queries"])
def test_extract_with_a_budget_of_no_query_asks_none_and_says_so(limit):
    def refuse(batch):
        raise AssertionError("it was asked")

    found = extract(refuse, PARTIAL, replace(QUICK, budget=Budget(**{limit: 0})))
    assert found.stop_reason == f"budget of 0 {limit.replace('_', ' ')}"
    assert (found.membership_queries, found.trace.entries, found.rules) == (0, [], ())
    assert str(found.guarantee) == f"none: nothing was measured ({found.stop_reason})"


def test_extract_frontier_repeats_no_point():
    found = extract(Network(PARTIAL, rng(3)), PARTIAL, replace(QUICK, budget=Budget(equivalence_queries=12)))
    assert any("given_up" in entry["change"] for entry in found.trace.entries)
    assert all(one != other for one, other in pairwise(found.frontier))


def test_extract_no_sample_is_drawn_twice_even_where_seeds_are_the_same():
    asked = []

    def member(batch):
        asked.append(batch)
        return rare_margin(batch) >= 0

    extract(member, PARTIAL, Settings(pool=200, size=300, evaluation=250))
    *large, again = [set(batch[:200]) for batch in asked if len(batch) >= 200]
    assert len(large) > 4 and again == large[0]  # in the end the first questions are asked again
    for at, one in enumerate(large[:3]):  # what is held out, the pool, the first sample
        assert all(len(one & other) < 100 for other in large[at + 1 :])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_precision": 0}, "min_precision is above 0 and at most 1; got 0"),
        ({"min_precision": 1.5}, "min_precision is above 0"),
        ({"pool": 0}, "pool is at least 1; got 0"),
        ({"tries": 0}, "tries is at least 1; got 0"),
        ({"evaluation": -1}, "evaluation is at least 1; got -1"),
        ({"seed": -1}, "seed is at least 0; got -1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(HornbookError, match=message):
        Settings(**arguments)


def test_extract_size_that_makes_no_sense_is_refused_before_anything_is_asked():
    with pytest.raises(HornbookError, match="a sample size is"):
        extract(Constant(True), PARTIAL, replace(QUICK, size="plenty"))
