"""Forests whose trees vote, decided by a SAT solver.

In a forest of full trees every leaf is of one class, so each tree votes, and an output is a number of
votes. The formula says which states the base variables have, in order; that an input which meets all
conditions of a leaf costs the votes of that leaf; and, by python-sat's totaliser, how the costs of the
trees add up. It is made once. A question is a set of assumptions, one or two for each base variable,
and where there is no input, the solver names the assumptions that its proof needs.

Where some leaves are mixed, their costs are rounded down to whole parts of a vote. Then a proof still
holds, but an input that the solver finds may be none, and branch and bound has to go on.

References
----------
Y. Izza, J. Marques-Silva. On Explaining Random Forests with SAT, IJCAI 2021.
O. Bailleux, Y. Boufkhad. Efficient CNF Encoding of Boolean Cardinality Constraints, CP 2003.

"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from hornbook.deadline import Deadline
from hornbook.errors import available_memory
from hornbook.logic import Bools
from hornbook.proof.forest import Forest, Leaves
from hornbook.proof.network import Vector
from hornbook.proof.region import FALSE, InputSpace, SearchOutcome, States

SOLVER = "glucose4"
"""The solver of python-sat; it has a budget of conflicts, so that a question can end in time."""

CONFLICTS_AT_A_TIME = 2000
"""Conflicts after which the clock is looked at."""

BYTES_PER_LITERAL = 24
"""Memory that a literal of a clause takes, watches included."""

PARTS_OF_A_VOTE = 4
"""Parts to whose number the costs of mixed leaves are rounded down."""

LEAST_SHARE_OF_VOTES = 0.5
"""The least share of leaves that cost a whole vote, of those that cost any, for which a formula is made."""

COST_ROUNDING = 1e-9
"""A bound on the rounding error of a cost, in votes."""


def make_forest(
    leaves: Leaves,
    space: InputSpace,
    decide: Callable[[States], Bools],
) -> Forest:
    """The trees as a forest, with a formula if they vote and python-sat is installed."""
    votes = find_spec("pysat") is not None and count_parts(leaves) is not None
    return (VotingForest if votes else Forest)(leaves, space, decide)


def count_parts(leaves: Leaves) -> int | None:
    """The parts of the widest tree's range of which all costs of leaves are multiples; None if too few are.

    Examples
    --------
    >>> from hornbook.proof.ensembles import Total
    >>> from hornbook.proof.network import ScoreLink
    >>> none = np.zeros(0, np.intp)
    >>> def pair(*values):
    ...     starts = np.arange(0, len(values), 2)
    ...     total = Total(-0.5, 0.0, ScoreLink())
    ...     return Leaves(none, none.reshape(0, 4), np.array(values), starts, starts, total)
    >>> count_parts(pair(0.0, 0.5, 0.5, 0.0)), count_parts(pair(0.0, 0.5, 0.25, 0.0))
    (1, 2)
    >>> count_parts(pair(0.0, 0.5, 0.41, 0.0)), count_parts(pair(0.1, 0.5, 0.41, 0.1, 0.2, 0.3))
    (4, None)

    """
    costs = _list_costs(leaves)
    width = costs.max(initial=0)
    if not width:
        return None
    for parts in (1, 2):
        shares = costs / width * parts
        if np.abs(shares - np.round(shares)).max() <= COST_ROUNDING:
            return parts
    whole = np.abs(costs[costs > 0] - width) <= COST_ROUNDING * width
    return PARTS_OF_A_VOTE if whole.mean() >= LEAST_SHARE_OF_VOTES else None


def _list_costs(leaves: Leaves) -> Vector:
    """The distance of each leaf from the highest of its tree, (leaves,)."""
    costs: Vector = np.maximum.reduceat(leaves.values, leaves.starts)[leaves.tree] - leaves.values
    return costs


class StateLiterals:
    """The states of base variables as literals: whether a state is at least another, or is the last one.

    Parameters
    ----------
    space
        The inputs.
    add_clause
        Takes the clauses that hold for every input.

    """

    def __init__(self, space: InputSpace, add_clause: Callable[[list[int]], None]) -> None:
        whole = space.whole()
        self.add_clause, self.count = add_clause, 0
        self.sizes = whole[:, :-1].sum(axis=1).tolist()
        self.last = [self.add_variable() if own else 0 for own in whole[:, -1].tolist()]
        self.at_least = [[0, *(self.add_variable() for _ in range(1, size))] for size in self.sizes]
        self.named: dict[tuple[int, ...], int] = {}
        for last, size, steps in zip(self.last, self.sizes, self.at_least, strict=True):
            for lower, higher in pairwise(steps[1:]):
                add_clause([-higher, lower])
            if not size:
                add_clause([last])
        for members in space.groups:
            for one in members.tolist():
                for other in set(members.tolist()) - {one}:
                    add_clause([-self.last[one], -self.last[other]])
                    if self.sizes[other] > FALSE + 1:
                        add_clause([-self.last[one], -self.at_least[other][FALSE + 1]])

    def add_variable(self) -> int:
        """A new variable of the formula."""
        self.count += 1
        return self.count

    def write_condition(self, variable: int, start: int, stop: int, last: int) -> list[int]:
        """Literals that are all true where a state is in a range, or is the last one if that counts."""
        missing, size = self.last[variable], self.sizes[variable]
        if stop <= start:
            return [missing]
        ends = [self.at_least[variable][start]] if start else []
        ends += [-self.at_least[variable][stop]] if stop < size else []
        if not missing:
            return ends
        if not last:
            return [-missing, *ends]
        return [self._name_either(missing, end) for end in ends]

    def _name_either(self, missing: int, end: int) -> int:
        """A literal for: one of two holds."""
        if (missing, end) not in self.named:
            either = self.named[missing, end] = self.add_variable()
            for clause in ([-either, missing, end], [either, -missing], [either, -end]):
                self.add_clause(clause)
        return self.named[missing, end]

    def assume_region(self, region: Bools) -> dict[int, int]:
        """Literals that hold for the inputs of a region and no others, each with its base variable."""
        assumed: dict[int, int] = {}
        for variable, (size, steps) in enumerate(zip(self.sizes, self.at_least, strict=True)):
            allowed = region[variable].tolist()
            places = [place for place in range(size) if allowed[place]]
            literals = []
            if self.last[variable] and not (allowed[-1] and places):
                literals.append(self.last[variable] if allowed[-1] else -self.last[variable])
            if places:
                low, high = places[0], places[-1]
                literals += [steps[low]] if low else []
                literals += [-steps[high + 1]] if high + 1 < size else []
                literals += [self._name_absence(variable, place)
                             for place in range(low, high) if not allowed[place]]  # fmt: skip
            assumed.update(dict.fromkeys(literals, variable))
        return assumed

    def _name_absence(self, variable: int, state: int) -> int:
        """A literal under which a base variable does not have a state."""
        key = (0, variable, state)
        if key not in self.named:
            steps = self.at_least[variable]
            absent = self.named[key] = self.add_variable()
            clause = [-absent, -steps[state], steps[state + 1]]
            self.add_clause(clause + ([self.last[variable]] if self.last[variable] else []))
        return self.named[key]

    def read_states(self, model: list[int], states: int) -> States:
        """The states of the base variables in a model of the formula, (base variables,)."""
        numbers = []
        for last, steps in zip(self.last, self.at_least, strict=True):
            is_last = last and model[last - 1] > 0
            numbers.append(states - 1 if is_last else sum(model[step - 1] > 0 for step in steps[1:]))
        return np.array(numbers, np.intp)


class VoteFormula:
    """The costs of a forest as a formula: which inputs cost so little that the output may be positive.

    Parameters
    ----------
    forest
        The forest.

    """

    def __init__(self, forest: Forest) -> None:
        from pysat.card import ITotalizer
        from pysat.solvers import Solver

        leaves = forest.leaves
        self.states = forest.region.shape[1]
        self.solver = Solver(name=SOLVER)
        self.literals = StateLiterals(forest.space, self.solver.add_clause)
        costs = _list_costs(leaves)
        parts = count_parts(leaves) or PARTS_OF_A_VOTE
        self.unit = float(costs.max()) / parts
        whole = np.floor(costs / self.unit + COST_ROUNDING).astype(np.intp)
        highest = float(np.maximum.reduceat(leaves.values, leaves.starts).sum()) + leaves.total.constant
        error = COST_ROUNDING * (len(leaves.starts) + 1)
        self.most = math.floor((highest + leaves.total.tolerance) / self.unit + error)
        """The highest cost with which the output may be positive."""
        self.bound = highest - (self.most + 1) * self.unit + leaves.total.tolerance
        """A bound on the outputs of all inputs that cost more; negative."""
        self.is_exact = parts < PARTS_OF_A_VOTE and leaves.total.counts_votes
        costing = [literal for steps in self._write_trees(forest, whole, parts) for literal in steps]
        with ITotalizer(costing, max(self.most, 0), self.literals.count) as total:
            self.solver.append_formula(total.cnf.clauses)
            self.literals.count = max(self.literals.count, total.top_id)
            self.exceeded = total.rhs
            """Literals for: the cost of all trees is more than each number from 0 on."""

    def _write_trees(self, forest: Forest, costs: Any, parts: int) -> Iterator[list[int]]:
        """For each tree literals for: it costs at least 1, 2, … parts of a vote."""
        kinds = zip(forest.variable, forest.start, forest.stop, forest.last, strict=True)
        conditions = [[-each for each in self.literals.write_condition(*map(int, kind))] for kind in kinds]
        kind, first = forest.kind.tolist(), forest.first.tolist()
        ends = [*forest.leaves.starts.tolist(), len(costs)]
        for start, stop in pairwise(ends):
            steps = [self.literals.add_variable() for _ in range(parts)]
            for lower, higher in pairwise(steps):
                self.solver.add_clause([-higher, lower])
            for leaf, cost in enumerate(costs[start:stop].tolist(), start):
                if cost:
                    unmet = (
                        each for place in kind[first[leaf] : first[leaf + 1]] for each in conditions[place]
                    )
                    self.solver.add_clause([steps[cost - 1], *unmet])
            yield steps

    def find_input(self, region: Bools, most: int, deadline: Deadline) -> States | frozenset[int] | None:
        """An input of a region that costs at most so much, or the base variables that rule it out.

        None if time was up.
        """
        if most < 0:
            return frozenset()
        assumed = self.literals.assume_region(region)
        limit = [-literal for literal in self.exceeded[most : most + 1]]
        while not deadline.passed:
            self.solver.conf_budget(CONFLICTS_AT_A_TIME)
            is_satisfiable = self.solver.solve_limited(assumptions=[*limit, *assumed])
            if is_satisfiable is None:
                continue
            if is_satisfiable:
                return self.literals.read_states(self.solver.get_model(), self.states)
            core = self.solver.get_core() or []
            return frozenset(assumed[literal] for literal in core if literal in assumed)
        return None


class VotingForest(Forest):
    """A forest whose trees vote, so that a SAT solver decides questions about it."""

    @cached_property
    def refusal(self) -> str:
        """Why there is no formula; empty if there is one."""
        leaves = len(self.leaves.values)
        size = 2 * len(self.kind) + leaves
        levels = min(4 * len(self.leaves.starts), leaves)
        size += 3 * levels**2
        free = available_memory()
        if free is None or size * BYTES_PER_LITERAL <= free:
            return ""
        return (
            f"a formula of its {leaves:,} leaves takes about {size * BYTES_PER_LITERAL / 2**30:,.1f} GiB, "
            f"and {free / 2**30:,.1f} GiB are free"
        )

    @cached_property
    def formula(self) -> VoteFormula:
        """The votes as a formula."""
        return VoteFormula(self)

    def solve(self, region: Bools, deadline: Deadline) -> SearchOutcome | None:
        """Search for an input of a region with a positive output; None if the solver does not decide it.

        Within rounding of 0 the model itself decides. Where votes are counted, equally many have the same
        score, so the model is asked once, and all inputs with as many are decided alike.
        """
        if self.refusal:
            return None
        formula, tolerance = self.formula, self.leaves.total.tolerance
        for most, bound in ((formula.most, formula.bound), (formula.most - 1, -tolerance)):
            answer = formula.find_input(region, most, deadline)
            if answer is None:
                return None
            if isinstance(answer, frozenset):
                return SearchOutcome(bound, -np.inf, None, needed=answer)
            output = float(self.evaluate(answer[None])[0][0])
            is_tie = abs(output) <= tolerance
            is_positive = output > tolerance
            if is_tie:
                is_positive = bool(self._decide_close(answer[None])[0])
            if is_positive:
                return SearchOutcome(np.inf, max(output, tolerance), answer)
            if not is_tie or not formula.is_exact:
                return None
        return None
