"""The reasoner in the page agrees with the one in Python."""

import json
from functools import partial

import numpy as np
import pytest

from hornbook.logic import BOTTOM, HornTheory, Rule, Vocabulary
from hornbook.queries import interpretation
from hornbook.report.page import read_script

THEORIES, STATES = 400, 6

ASK = """
const BATCH = JSON.parse(arguments[0]);
return JSON.stringify(BATCH.map(({ theory, cases }) => {
  const program = Reasoner.compile(theory);
  const numbered = (rules) => rules === null ? null : rules.map((rule) => theory.rules.indexOf(rule));
  return cases.map(({ state, goal, askable }) => {
    const facts = Reasoner.literals(program, state).yes;
    const conflict = Reasoner.conflict(program, state);
    return {
      closure: [...Reasoner.closure(program, facts)].sort((one, other) => one - other),
      contradictory: Reasoner.contradictory(program, state),
      verdict: Reasoner.verdict(program, state, goal),
      derivation: numbered(Reasoner.derive(theory.rules, facts)),
      explanation: numbered(Reasoner.explain(program, facts, goal)),
      conflict: conflict && conflict.goal,
      deciders: Reasoner.deciders(program, state, goal, askable),
      excluded: Reasoner.excluded(program, state, askable),
      nearest: Reasoner.nearest(program, state, goal),
    };
  });
}));
"""


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(0)
    return [case for _ in range(THEORIES) for case in [random_theory(rng)]]


@pytest.fixture(scope="module")
def answers(browser, cases):
    batch = [
        {"theory": theory_object(theory), "cases": [state_object(theory, *state) for state in states]}
        for theory, states in cases
    ]
    return ask_page(browser, batch)


def test_thousands_of_cases_are_answered_as_in_python(cases, answers):
    seen = {"yes": 0, "no": 0, "contradiction": 0, "undetermined": 0}
    for (theory, states), answered in zip(cases, answers, strict=True):
        for (yes, no, goal), answer in zip(states, answered, strict=True):
            assert {key: answer[key] for key in answer if key != "nearest"} == expected(theory, yes, no, goal)
            seen[answer["verdict"]] += 1
    assert sum(seen.values()) == THEORIES * STATES and min(seen.values()) > 100


def test_what_the_nearest_rule_lacks_would_decide(cases, answers):
    tried = 0
    for (theory, states), answered in zip(cases, answers, strict=True):
        for (yes, no, goal), answer in zip(states, answered, strict=True):
            if answer["verdict"] != "undetermined":
                continue
            for near in answer["nearest"]:
                more = {
                    value: {m["variable"] for m in near["missing"] if m["value"] is value}
                    for value in (True, False)
                }
                then = verdict(theory, yes | more[True], no | more[False], goal)
                assert then in (near["answer"], "contradiction")
                tried += 1
    assert tried > 500


def ask_page(browser, batch):
    """The answers of the page's reasoner, all in one call."""
    browser.get("data:text/html,<title>reasoner</title>")
    return json.loads(browser.execute_script(read_script("reasoner.js") + ASK, json.dumps(batch)))


def random_theory(rng):
    names = [f"v{number}" for number in range(rng.integers(2, 8))]
    vocabulary = Vocabulary.with_duals(names) if rng.random() < 0.6 else Vocabulary(names)
    rules = []
    for _ in range(rng.integers(0, 9)):
        body = rng.choice(len(vocabulary), rng.integers(0 if rng.random() < 0.1 else 1, 4), replace=True)
        head = BOTTOM if rng.random() < 0.2 else int(rng.integers(len(vocabulary)))
        rules.append(Rule(map(int, body), head))
    theory = HornTheory.background(vocabulary) | HornTheory(vocabulary, rules)
    return theory, [random_state(rng, len(names)) for _ in range(STATES)]


def random_state(rng, count):
    values = rng.choice(["yes", "no", "?"], count, p=[0.25, 0.25, 0.5])
    yes, no = (frozenset(np.flatnonzero(values == value).tolist()) for value in ("yes", "no"))
    return yes, no, int(rng.integers(count))


def theory_object(theory):
    rules = [{"body": sorted(r.body), "head": -1 if r.head is BOTTOM else r.head} for r in theory]
    return {"width": len(theory.vocabulary), "duals": list(theory.vocabulary.duals), "rules": rules}


def state_object(theory, yes, no, goal):
    askable = list(range(len(theory.vocabulary.pairs) or len(theory.vocabulary)))
    return {"state": {"yes": sorted(yes), "no": sorted(no)}, "goal": goal, "askable": askable}


def contradictory(theory, yes, no):
    if yes & no:
        return True
    state = interpretation(theory.vocabulary, yes, no)
    closed = theory.closure(state.true)
    return BOTTOM in closed or bool(closed & state.false)


def verdict(theory, yes, no, goal):
    if contradictory(theory, yes, no):
        return "contradiction"
    follows = contradictory(theory, yes, no | {goal}), contradictory(theory, yes | {goal}, no)
    return {(True, False): "yes", (False, True): "no", (True, True): "contradiction"}.get(
        follows, "undetermined"
    )


def expected(theory, yes, no, goal):
    vocabulary, rules = theory.vocabulary, list(theory)
    state = interpretation(vocabulary, yes, no)
    closed = theory.closure(state.true)
    number = partial(list.index, rules)
    explained = theory.explain(Rule(state.true, goal)) if goal in closed else None
    unknown = [v for v in range(len(vocabulary.pairs) or len(vocabulary)) if v not in yes | no]
    values = [
        (v, value, yes | {v} if value else yes, no if value else no | {v})
        for v in unknown
        for value in (True, False)
    ]
    broken = contradictory(theory, yes, no)
    goals = [BOTTOM, *[v for v in range(len(vocabulary)) if v in state.false]]
    return {
        "closure": sorted(-1 if v is BOTTOM else v for v in closed),
        "contradictory": broken,
        "verdict": verdict(theory, yes, no, goal),
        "derivation": list(map(number, theory.explain(state.true).steps)),
        "explanation": None if explained is None else list(map(number, explained.steps)),
        "conflict": next((-1 if v is BOTTOM else v for v in goals if v in closed), None),
        "deciders": [
            {"variable": v, "value": value, "answer": answer}
            for v, value, true, false in values
            if v != goal and (answer := verdict(theory, true, false, goal)) in ("yes", "no")
        ],
        "excluded": [
            {"variable": v, "value": value}
            for v, value, true, false in values
            if contradictory(theory, true, false)
        ],
    }
