"""Forests that vote: literals against all inputs, and the solver beside branch and bound."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

from hornbook.conditions import Category, Threshold
from hornbook.proof import Domain, votes
from hornbook.proof.forest import Forest
from hornbook.proof.region import InputSpace
from hornbook.proof.votes import StateLiterals, VotingForest
from tests.shared.column_zoo import bind_prover

pysat = pytest.importorskip("pysat.solvers")


class SmallSpace(InputSpace):
    """Base variables of which each has its first states, and perhaps the last one."""

    def whole(self):
        return self.inputs[:, :, 0] > 0


@given(st.data())
def test_state_literals_describe_regions_and_conditions(data):
    sizes = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    inputs = np.zeros((len(sizes), 5, 1))
    for own, size in zip(inputs, sizes, strict=True):
        own[:size] = 1
        own[-1] = size == 0 or data.draw(st.booleans())
    space = SmallSpace(inputs=inputs)
    solver = pysat.Solver(name=votes.SOLVER)
    literals = StateLiterals(space, solver.add_clause)
    whole = space.whole()
    region = whole & np.array(data.draw(st.lists(st.booleans(), min_size=whole.size, max_size=whole.size))
                              ).reshape(whole.shape)  # fmt: skip
    variable, last = data.draw(st.integers(0, len(sizes) - 1)), data.draw(st.booleans())
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, sizes[variable])] * 2)))
    last = bool(whole[variable, -1]) and (last or start == stop)
    if start == stop and not last:
        return
    condition = literals.write_condition(variable, start, stop, int(last))
    # without a state left in some base variable there is no question
    assumed = literals.assume_region(region) if region.any(axis=1).all() else None
    for states in product(*(np.flatnonzero(own).tolist() for own in whole)):
        single = np.arange(5) == np.array(states)[:, None]
        here = list(literals.assume_region(single))
        assert solver.solve(assumptions=here)
        assert literals.read_states(solver.get_model(), 5).tolist() == list(states)
        met = last if states[variable] == 4 else start <= states[variable] < stop
        assert solver.solve(assumptions=[*here, *condition]) == met
        if assumed is not None:
            inside = region[np.arange(len(states)), states].all()
            assert solver.solve(assumptions=[*here, *assumed]) == inside


def fitted(seed, columns=6, **settings):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(rng.normal(size=(90, columns)).round(1), columns=list("abcdef")[:columns])
    labels = rows.a + rows.b * rows.c + rng.normal(0, 0.3, 90) > 0
    return RandomForestClassifier(10, random_state=seed, **settings).fit(rows, labels), rows


def test_a_solver_and_branch_and_bound_say_the_same(monkeypatch):
    model, rows = fitted(0)
    solved = bind_prover(model, Domain.of(rows))
    assert all(type(solved.reading.side(outcome, 0)) is VotingForest for outcome in (0, 1))
    monkeypatch.setattr(votes, "find_spec", lambda name: None)
    searched = bind_prover(model, Domain.of(rows))
    seen = set()
    for number in range(8):
        row = rows.iloc[number]
        body = [Category(name, row[name]) for name in rows.columns[: 2 + number % 4]]
        outcome = int(model.predict(rows.iloc[[number]])[0])
        verdicts = [prover.prove(body, outcome) for prover in (solved, searched)]
        assert verdicts[0].status == verdicts[1].status
        seen.add(verdicts[0].by)
    assert seen == {"a SAT solver"} and type(searched.reading.side(0, 0)) is Forest


def test_a_proof_needs_no_more_than_the_conditions_that_it_names():
    model, rows = fitted(1)
    prover = bind_prover(model, Domain.of(rows))
    spared = 0
    for number in range(10):
        row, outcome = rows.iloc[number], int(model.predict(rows.iloc[[number]])[0])
        body = [Threshold(name, row[name] - 0.2) for name in rows]
        body += [Threshold(name, row[name] + 0.2, above=False) for name in rows]
        verdict = prover.prove(body, outcome)
        if verdict.status == "proved":
            assert verdict.needed <= set(body)
            assert prover.prove([each for each in body if each in verdict.needed], outcome).status == "proved"
            spared += len(body) - len(verdict.needed)
    assert spared > 5


def test_a_forest_beyond_memory_says_so(monkeypatch):
    monkeypatch.setattr(votes, "available_memory", lambda: 1000)
    model, rows = fitted(2, max_features=None)
    prover = bind_prover(model, Domain.of(rows))
    side = prover.reading.side(0, 0)
    assert isinstance(side, VotingForest) and "GiB" in side.refusal
    assert prover.prove([Category(name, rows[name][0]) for name in rows], 1).by != "a SAT solver"
    undecided = prover.prove([], 1, seconds=1e-9)
    assert undecided.status == "refuted" or "a formula of its" in undecided.reason
