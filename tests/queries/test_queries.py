"""Filters, budgets and traces."""

import json

import numpy as np
import pytest
from hypothesis import given
from logic_strategies import batches

from hornbook.errors import HornbookError
from hornbook.logic import Batch, HornTheory, Interpretation
from hornbook.queries import (
    Budget,
    Cached,
    Counted,
    Counterexample,
    Exact,
    PerfectTeacher,
    Unknown,
)
from hornbook.queries.run import Trace

THEORY = HornTheory.parse("a & b -> c\nc -> false")


def member(batch):
    return THEORY.satisfied_by(batch)


@given(batches(THEORY.vocabulary, 120))
def test_oracle_filters_do_not_change_answers(batch):
    expected = member(batch).tolist()
    for filtered in (Counted(member), Cached(member)):
        assert filtered(batch).tolist() == expected
        assert filtered(batch).tolist() == expected


@given(batches(THEORY.vocabulary, 120))
def test_cached_asks_each_question_once(batch):
    counted = Counted(member)
    cached = Cached(counted)
    cached(batch)
    cached(batch[::-1])
    assert counted.questions == len(set(batch))


def test_a_trace_is_written_as_it_happens(tmp_path):
    trace = Trace.start(tmp_path / "trace.jsonl", {"seed": 0})
    found = Counterexample(Interpretation(frozenset({0, 1}), frozenset({2})), found_by="sampling")
    trace.record(HornTheory(THEORY.vocabulary), found, 7)
    header, first = map(json.loads, (tmp_path / "trace.jsonl").read_text().splitlines())
    assert header == {"settings": {"seed": 0}}
    assert first["counterexample"] == {
        "interpretation": {"true": ["a", "b"], "false": ["c"]},
        "positive": False,
        "found_by": "sampling",
    }
    last = trace.record(THEORY, Exact(), 9)
    assert json.loads((tmp_path / "trace.jsonl").read_text().splitlines()[2]) == last
    assert (last["query"], last["rules"], last["membership_queries"], last["guarantee"]) == (2, 2, 9, "exact")


@pytest.mark.parametrize(
    ("budget", "reached"),
    [
        (Budget(), None),
        (Budget(equivalence_queries=1), "budget of 1 equivalence queries"),
        (Budget(membership_queries=5), "budget of 5 membership queries"),
        (Budget(equivalence_queries=2, membership_queries=6, seconds=1000), None),
        (Budget(seconds=0), "budget of 0 seconds"),
    ],
)
def test_a_budget_names_the_limit_reached(budget, reached):
    assert budget.exhausted_by(1, membership_queries=5, seconds=0.1) == reached


@pytest.mark.parametrize("policy", ["violated", "inflated", "adversarial", "total"])
@pytest.mark.parametrize("seed", range(5))
def test_a_perfect_teacher_gives_true_counterexamples(policy, seed):
    teacher = PerfectTeacher(THEORY, policy, np.random.default_rng(seed))
    for text in ("a -> b", "a & b -> c", "c -> false\na -> c", "true -> false"):
        hypothesis = HornTheory.parse(text, THEORY.vocabulary)
        answer = teacher.equivalent(hypothesis)
        assert isinstance(answer, Counterexample)
        batch = Batch.from_interpretations([answer.interpretation], THEORY.vocabulary)
        assert THEORY.satisfied_by(batch)[0] == answer.positive
        assert hypothesis.satisfied_by(batch)[0] != answer.positive


def test_unknown_policies_are_refused():
    with pytest.raises(HornbookError, match="choose one of violated, inflated, adversarial, total"):
        PerfectTeacher(THEORY, "kind")


def test_guarantee_is_said_in_words():
    assert str(Exact()).startswith("exact:")
    assert str(Unknown("the budget ended")) == "none: the budget ended"
