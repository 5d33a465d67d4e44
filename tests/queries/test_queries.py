"""Filters, budgets and traces."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
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
    Step,
    Trace,
    Unknown,
)
from hornbook.queries.terms import run_batched

THEORY = HornTheory.parse("a & b -> c\nc -> false")


def member(batch):
    return THEORY.satisfied_by(batch)


@given(batches(THEORY.vocabulary, 120))
def test_oracle_filters_do_not_change_answers(batch):
    expected = member(batch).tolist()
    for filtered in (Counted(member), Cached(member), Cached(member, size=3)):
        assert filtered(batch).tolist() == expected
        assert filtered(batch).tolist() == expected


@given(batches(THEORY.vocabulary, 120))
def test_cached_asks_each_question_once(batch):
    counted = Counted(member)
    cached = Cached(counted)
    cached(batch)
    cached(batch[::-1])
    assert counted.questions == len(set(batch))


def test_cached_is_bounded_and_forgets_the_oldest():
    counted = Counted(member)
    cached = Cached(counted, size=2)
    questions = [Batch.from_array([row], THEORY.vocabulary) for row in ([1, 0, 0], [0, 1, 0], [0, 0, 1])]
    for question in questions:
        cached(question)
    cached(questions[2])
    assert counted.questions == 3
    cached(questions[0])
    assert counted.questions == 4 and len(cached._answers) == 2


def test_a_trace_is_written_as_it_happens(tmp_path):
    trace = Trace(tmp_path / "trace.jsonl")
    found = Counterexample(Interpretation(frozenset({0, 1}), frozenset({2})), found_by="sampling")
    trace.record(Step(HornTheory(THEORY.vocabulary), found), 7)
    first = json.loads((tmp_path / "trace.jsonl").read_text())
    assert first["counterexample"] == {
        "interpretation": {"true": ["a", "b"], "false": ["c"]},
        "positive": False,
        "found_by": "sampling",
        "at": [],
    }
    trace.record(Step(THEORY, Exact()), 9)
    lines = (tmp_path / "trace.jsonl").read_text().splitlines()
    last = json.loads(lines[1])
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


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=6))
def test_run_batched_gives_each_search_its_own_answers_in_as_few_rounds_as_the_longest(questions):
    """Each search asks its questions one after the other, and returns the answers."""

    def search(own):
        answers = []
        for question in own:
            answers += (yield np.array([[question]])).tolist()
        return answers

    rounds = []

    def ask(terms):
        rounds.append(terms[0])
        return terms[0] / 2

    results = run_batched([search(own) for own in questions], ask)
    assert results == [[question / 2 for question in own] for own in questions]
    assert len(rounds) == max(map(len, questions), default=0)
    assert sum(map(len, rounds)) == sum(map(len, questions))
