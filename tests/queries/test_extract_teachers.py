"""Difficult teachers and small budgets: every run ends, and says truthfully how."""

import time
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from difficult_teachers import Coin, Constant, Failing, Mistaken, Network, Noisy, Slow
from extractions import (
    PARTIAL,
    QUICK,
    THEORY,
    disagreement,
    hasty,
    rng,
)

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Rule
from hornbook.models import as_predictor
from hornbook.queries import Budget, Counted, Pac, QuerySubject, Settings, Unknown, run_learner


def test_constant_yes():
    found = run_learner(Constant(True), PARTIAL, replace(QUICK, size="angluin"))
    assert not found.theory.rules and found.stop_reason == "equivalent" and isinstance(found.guarantee, Pac)
    assert len(found.entries) == 1


def test_constant_no():
    found = run_learner(Constant(False), PARTIAL, QUICK)
    assert found.rules == (Rule((), BOTTOM),) and found.stop_reason == "equivalent"


@pytest.mark.parametrize("accepted", [0.05, 0.5, 0.95])
def test_a_coin(accepted):
    coin = Coin(rng(), accepted)
    found = run_learner(coin, PARTIAL, replace(QUICK, budget=Budget(equivalence_queries=12)))
    assert found.stop_reason.startswith(("stalled", "budget of 12 equivalence queries"))
    assert found.guarantee == Unknown(found.stop_reason)


def test_extract_stall_is_reported_as_such(monkeypatch):
    idle = 5
    monkeypatch.setitem(run_learner.__globals__, "MAX_IDLE_COUNTEREXAMPLES", idle)
    patient = replace(QUICK, seed=6, budget=Budget(equivalence_queries=1000))
    found = run_learner(Coin(rng()), PARTIAL, patient)
    assert found.stop_reason == (
        f"stalled: the last {idle} counterexamples gave no rule that is precise enough"
    )
    assert len({entry["rules"] for entry in found.entries[-idle:]}) == 1


@pytest.mark.parametrize("kind", [Noisy, Mistaken])
def test_extract_with_one_percent_of_the_answers_flipped(kind):
    member = kind(THEORY.satisfied_by, rng()) if kind is Noisy else kind(THEORY.satisfied_by, 0)
    found = run_learner(member, PARTIAL, replace(QUICK, budget=Budget(equivalence_queries=12)))
    fresh = PARTIAL.draw(20_000, rng(5))
    assert (found.theory.satisfied_by(fresh) != THEORY.satisfied_by(fresh)).mean() < 0.01
    assert found.stop_reason.startswith(("stalled", "budget of 12 equivalence queries"))


@pytest.mark.parametrize("seed", [1, 2])
def test_an_incoherent_network(seed):
    network = Network(PARTIAL, rng(seed))
    settings = replace(QUICK, budget=Budget(equivalence_queries=12))
    found = run_learner(network, PARTIAL, settings)
    assert found.stop_reason.startswith(("stalled", "budget of 12 equivalence queries"))
    nothing = run_learner(network, PARTIAL, replace(settings, budget=Budget(equivalence_queries=0)))
    assert disagreement(found, network, PARTIAL) < disagreement(nothing, network, PARTIAL)


def test_extract_known_difference_is_no_equivalence():
    settings = Settings(pool=20, size=100, min_precision=0.8, seed=1)
    hurried = run_learner(hasty, PARTIAL, settings)
    assert hurried.stop_reason == "equivalent but for 1 counterexamples given up"


@pytest.mark.parametrize("at", [1, 350, 700])
def test_a_failing_model(at):
    settings = Settings(pool=300, size=300)
    found = run_learner(Failing(THEORY.satisfied_by, at), PARTIAL, settings)
    assert found.stop_reason == f"the model failed: RuntimeError: the model broke at question {at}"
    if at == 700:
        assert found.rules and THEORY.entails(found.theory)


def test_extract_model_that_answers_nonsense():
    found = run_learner(lambda batch: np.ones(3, np.bool_), PARTIAL, QUICK)
    assert found.stop_reason.startswith(
        "the model failed: 2000 questions were answered by bool of shape (3,)"
    )


def test_extract_errors_that_are_not_the_models_are_raised(tmp_path):
    def watch(entry):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_learner(THEORY.satisfied_by, PARTIAL, QUICK, watch=watch)
    (tmp_path / "file").touch()
    with pytest.raises(HornbookError, match=r"cannot write to .*file: File exists; choose another place"):
        run_learner(THEORY.satisfied_by, PARTIAL, QUICK, trace=tmp_path / "file" / "trace.jsonl")


def test_a_slow_model_ends_in_time():
    settings = replace(QUICK, budget=Budget(seconds=0.5), size=10_000_000, pool=1000)
    start = time.perf_counter()
    found = run_learner(Slow(THEORY.satisfied_by, 0.002), PARTIAL, settings)
    assert time.perf_counter() - start < 1.5
    assert found.stop_reason == "budget of 0.5 seconds" and found.rules


@pytest.mark.parametrize("budget", [500, 2010, 2500, 5000])
def test_a_budget_of_membership_queries_is_kept_exactly(budget):
    counted = Counted(THEORY.satisfied_by)
    found = run_learner(counted, PARTIAL, replace(QUICK, budget=Budget(membership_queries=budget)))
    assert counted.questions == found.membership_queries <= budget
    assert found.stop_reason == f"budget of {budget} membership queries"


def test_a_budget_of_equivalence_queries():
    seen = []
    settings = replace(QUICK, budget=Budget(equivalence_queries=3), seed=1)
    found = run_learner(
        THEORY.satisfied_by, PARTIAL, settings, watch=lambda entry: seen.append(entry["query"])
    )
    assert found.stop_reason == "budget of 3 equivalence queries" and seen == [1, 2, 3]
    assert found.rules and found.guarantee == Unknown(found.stop_reason)


def binary_teacher(judge):
    rows = pd.DataFrame(list(product([0, 1], repeat=3)), columns=list("abc"))
    return QuerySubject.bind(as_predictor(judge, encoding="half"), rows).teacher


def test_a_formula_never_contradicts_itself_about_unknown_values():
    teacher = binary_teacher(lambda array: ~((array[:, 0] == 1) & (array[:, 1] == 0)))
    rate = teacher.measure_incoherence(500)
    assert rate.hits == 0 < rate.size < 500  # cases without unknown values are not counted


def test_a_judge_that_accepts_the_unknown_alone_contradicts_itself_wherever_something_is_unknown():
    rate = binary_teacher(lambda array: (array == 0.5).any(axis=1)).measure_incoherence(500)
    assert rate.hits == rate.size > 0
