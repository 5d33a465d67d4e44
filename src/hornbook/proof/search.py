"""The verdict on a region of inputs: local search for a witness, a SAT solver, or branch and bound.

Branch and bound of networks looks at many cells at a time.

A cell whose bound is below 0 by more than the rounding error contains no witness. Any other cell is
split by the unit whose open sign costs the bound most or, where no sign is open, by a base variable.
In a continuous space a cell without open signs is a linear program: its dual solution is one more set
of multipliers for the bound, and its primal solution an input that may be a witness.

Local search starts again from the inputs where the linear bounds are highest, and so finds witnesses
that it missed before.

References
----------
R. Bunel, J. Lu, I. Turkaslan, P. H. S. Torr, P. Kohli, M. P. Kumar. Branch and Bound for Piecewise
Linear Neural Network Verification, JMLR 21, 2020.

"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar

import numpy as np

from hornbook.deadline import Deadline
from hornbook.display import Displayed
from hornbook.logic import Bools
from hornbook.proof.bounds import Bounds, Cells, Relaxation, RelaxedBound, Rounding
from hornbook.proof.forest import Forest
from hornbook.proof.network import Vector
from hornbook.proof.region import (
    CLIMB_STARTS,
    FALSE,
    TRUE,
    InputFilter,
    Numbers,
    SearchOutcome,
    States,
    climb,
    random_states,
)
from hornbook.proof.votes import VotingForest
from hornbook.queries import Proved
from hornbook.randomness import Purpose, generator

Engine: TypeAlias = Literal[
    "branch and bound", "a SAT solver", "local search", "no input breaks it", "nobody"
]
"""The engines that decide questions; nobody for one that was not asked."""

BY_BRANCHING: Engine = "branch and bound"
BY_SOLVER: Engine = "a SAT solver"
BY_LOCAL_SEARCH: Engine = "local search"
BY_VACUITY: Engine = "no input breaks it"

Side: TypeAlias = Bounds | Forest
"""A function whose sign is the model's decision: a network with bounds, or trees with leaves."""

Status: TypeAlias = Literal["proved", "refuted", "undecided"]

Witness_co = TypeVar("Witness_co", covariant=True)
"""An input that the model was asked about: an interpretation, or a row of a table."""


@dataclass(frozen=True)
class Verdict(Displayed, Generic[Witness_co]):
    """The prover's answer to one question.

    Parameters
    ----------
    status
        `proved` if the model rejects every input in question, `refuted` if it accepts the witness.
    by
        The engine that decided, or was asked last.
    bound
        An upper bound on all outputs, rounding included; negative if proved.
    witness
        For a refuted question, an input that the model accepts.
    reason
        Why it is undecided.
    needed
        For a proved question about columns, the conditions of its body on which the proof rests, where the
        prover knows them; the others can go.

    """

    status: Status
    by: Engine
    bound: float = np.inf
    witness: Witness_co | None = None
    reason: str = ""
    needed: frozenset[Any] | None = field(default=None, repr=False)

    @classmethod
    def leave_open(cls, reason: str) -> Self:
        """The verdict on a question that cannot be asked."""
        return cls("undecided", BY_BRANCHING, reason=reason)

    @property
    def is_vacuous(self) -> bool:
        """Whether it was proved because there is no input in question."""
        return self.status == "proved" and self.by == BY_VACUITY

    @property
    def guarantee(self) -> Proved | None:
        """The guarantee of a proof; None if nothing was proved."""
        return Proved(self.by, -self.bound) if self.status == "proved" else None

    def __str__(self) -> str:
        if self.status == "proved":
            return str(self.guarantee)
        if self.status == "refuted":
            return f"refuted by {self.by}"
        return f"undecided: {self.reason}"


TOTAL_TIME_SPENT = "the time for all proofs was spent"
"""The reason of the verdict on a question for which no time was left."""


def prove_in_time(
    prove: Callable[..., Verdict[Witness_co]], seconds: float, deadline: Deadline
) -> Verdict[Witness_co]:
    """Ask a question that may take some seconds, but no longer than all questions together may."""
    left = min(seconds, deadline.left)
    if left <= 0:
        return Verdict("undecided", "nobody", reason=TOTAL_TIME_SPENT)
    verdict = prove(seconds=left)
    if verdict.status == "undecided" and left < seconds:
        return replace(verdict, reason=TOTAL_TIME_SPENT)
    return verdict


def decide_region(
    side: Side,
    region: Bools,
    deadline: Deadline,
    confirm: Callable[[States, Vector | None], Witness_co | None],
) -> Verdict[Witness_co]:
    """Decide whether a side is negative on a whole region, by a SAT solver or by branch and bound.

    Parameters
    ----------
    side
        The function that is positive at a witness.
    region
        The inputs in question.
    deadline
        The time that the question may take.
    confirm
        Asks the model about an input, given by its states and shares, and returns the witness, if it is one.

    """
    if isinstance(side, VotingForest):
        solved = side.solve(region, deadline)
        if solved is not None and solved.states is not None:
            return conclude(confirm(solved.states, None), BY_SOLVER, np.inf)
        if solved is not None:
            return Verdict("proved", BY_SOLVER, solved.upper, needed=solved.needed)
    return _decide_by_branching(side, region, deadline, confirm)


def _decide_by_branching(
    side: Side,
    region: Bools,
    deadline: Deadline,
    confirm: Callable[[States, Vector | None], Witness_co | None],
) -> Verdict[Witness_co]:
    free = region.sum(axis=1) > 1

    def ask(values: States, shares: Vector | None = None) -> Witness_co | None:
        complete: States = region.argmax(axis=1)
        complete[free] = values
        spread = None
        if shares is not None:
            spread = np.zeros(len(region))
            spread[free] = shares
        return confirm(complete, spread)

    def accepts(inputs: States) -> Bools:
        return np.array([ask(values) is not None for values in inputs], np.bool_)

    bounds = side.restrict_to(region)
    states, output = climb_region(bounds, region[free])
    if output > 0:
        return conclude(ask(states), BY_LOCAL_SEARCH, np.inf)
    if isinstance(bounds, Forest):
        outcome = bounds.search(deadline)
    else:
        outcome = branch_and_bound(bounds, bounds.root(), deadline, accepts)
    if outcome.best > 0 and outcome.states is not None:
        return conclude(ask(outcome.states, outcome.shares), BY_BRANCHING, outcome.upper)
    if outcome.upper < 0:
        return Verdict("proved", BY_BRANCHING, outcome.upper)
    # the bound that was reached when time was up depends on the machine, so it is not among the words
    reason = f"not decided in {deadline.limit:g} s"
    if outcome.ended:
        reason = f"no output is above {outcome.upper:.3g}, closer to 0 than rounding allows to tell"
    elif isinstance(side, VotingForest) and side.refusal:
        reason = f"{reason}; {side.refusal}"
    return Verdict("undecided", BY_BRANCHING, outcome.upper, reason=reason)


def climb_region(side: Side, region: Bools, near: States | None = None) -> tuple[States, float]:
    """Search locally for the highest output in a region; the input found, (base variables,), and its output.

    The search starts from random inputs, and from those nearest to given ones, (inputs, base variables).
    """
    starts = random_states(side.space, region, CLIMB_STARTS, generator(0, Purpose.PROOF_STARTS))
    if near is not None:
        allowed = np.take_along_axis(region, near.T, axis=1).T
        starts = np.concatenate([starts, np.where(allowed, near, region.argmax(axis=1))])
    states, outputs = climb(side, region, starts)
    best = int(outputs.argmax())
    return states[best], float(outputs[best])


def conclude(witness: Witness_co | None, by: Engine, bound: float) -> Verdict[Witness_co]:
    """The verdict on a question with an output above 0: refuted if the model confirms the witness."""
    if witness is not None:
        return Verdict("refuted", by, bound, witness)
    return Verdict("undecided", by, bound, reason="an output within rounding of 0 was found")


CELLS_PER_BATCH = 256
"""Number of cells bounded at a time."""

BOUND_ROUNDS = 5
"""Rounds of improving a cell's slopes and multipliers; its parts inherit the multipliers."""

CONTINUOUS_BOUND_ROUNDS = 20
"""The same in a continuous space, where every open cell ends in a linear program."""

BRANCHING_CANDIDATES = 32
"""Number of units compared before one is split; with 8 there are ten times as many cells."""

TRIALS_PER_BLOCK = 512
"""Number of (cell, unit) pairs tried at a time."""

LEAST_COST = 1e-12
"""Cost of an open sign that the bound does not depend on."""

VIOLATION_PENALTY = 1e4
"""Penalty of a linear program for each unit by which a sign is violated, so that it always has a solution."""

TINY = float(np.finfo(np.float64).tiny)
"""The least output of an input that the model accepts."""

LOWEST_USEFUL_BOUND = -5.0
"""Bounds below this count as equal when units are compared."""


def branch_and_bound(
    bounds: Bounds,
    root: Cells,
    deadline: Deadline,
    accepts: InputFilter | None = None,
) -> SearchOutcome:
    """Bound the output until it is certainly negative, or an input above 0 is found.

    Parameters
    ----------
    bounds
        The network and its inputs.
    root
        The inputs in question, as a cell with ranges.
    deadline
        When to stop.
    accepts
        The model's own answers, which decide about inputs whose outputs are within rounding of 0.

    """
    search = CellSearch(bounds, Rounding(bounds, root), accepts)
    stack = [root]
    while stack and search.best <= 0 and not deadline.passed:
        stack += search.narrow(_pop(stack))
    rounding = search.rounding
    waiting = max((float((cells.upper + rounding(cells)).max()) for cells in stack), default=-np.inf)
    upper = max(search.closed, waiting)
    return SearchOutcome(upper, search.best, search.states, not stack, search.shares)


class CellSearch:
    """The progress of branch and bound.

    `closed` bounds the outputs of all cells that were closed; `best` is the highest output found, at the
    input `states`, or in a continuous space `shares` of the way between two states.
    """

    def __init__(self, bounds: Bounds, rounding: Rounding, accepts: InputFilter | None) -> None:
        self.bounds, self.rounding, self.accepts = bounds, rounding, accepts
        self.closed, self.best = -np.inf, -np.inf
        self.states: States | None = None
        self.shares: Vector | None = None

    def narrow(self, cells: Cells) -> list[Cells]:
        """Bound cells, search them for an input above 0, and split those that remain open."""
        known, cells, tried = _bound_batch(self.bounds, cells, self.rounding)
        self.closed = max(self.closed, known)
        if not cells.size:
            return []
        outputs = self.bounds.outputs(tried.states)
        single = cells.regions.sum(axis=(1, 2)) == self.bounds.space.count
        # of one input the output is known, whatever the signs that a cell asks for
        exact = np.where(single, outputs + self.bounds.slack[-1][0], np.inf)
        cells = cells._replace(upper=np.minimum(cells.upper, exact))
        reached, heights = climb(self.bounds, self.bounds.region, tried.states[[int(outputs.argmax())]])
        self._record(float(heights[0]), reached[0])
        spare = self._ask_model(cells, single, tried.states)
        settled = (spare < 0) | single
        self.closed = max(self.closed, spare[settled].max(initial=-np.inf))
        rest = np.flatnonzero(~settled)
        rest = rest[np.argsort(cells.upper[rest], kind="stable")]
        linear = _are_linear(self.bounds, cells.take(rest))
        for number in rest[linear].tolist():
            self._solve(cells.take(slice(number, number + 1)))
        rest = rest[~linear]
        return [_split(self.bounds, cells.take(rest), tried.take(rest))] if len(rest) else []

    def _ask_model(self, cells: Cells, single: Bools, states: States) -> Vector:
        """Bounds with rounding, (cells,); the model decides about single inputs within rounding of 0."""
        spare: Vector = cells.upper + self.rounding(cells)
        unclear = np.flatnonzero(single & (spare >= 0) & (cells.upper < 0))
        if self.accepts is None or not len(unclear):
            return spare
        accepted = unclear[self.accepts(states[unclear])]
        if len(accepted):
            self._record(max(float(spare[accepted[0]]), TINY), states[accepted[0]])
        else:
            spare[unclear] = cells.upper[unclear]
        return spare

    def _solve(self, cell: Cells) -> None:
        """Close a cell on which the network is linear."""
        program = LinearProgram(self.bounds, cell)
        upper, height, point = program.solve()
        self.closed = max(self.closed, upper + float(self.rounding(program.cell)[0]))
        self._record(height, program.states, point)

    def _record(self, output: float, states: States, shares: Vector | None = None) -> None:
        if output > self.best:
            self.best, self.states, self.shares = output, states, shares


def _bound_batch(bounds: Bounds, cells: Cells, rounding: Rounding) -> tuple[float, Cells, RelaxedBound]:
    """Bound cells: first by the lines of the cell that they are part of, then those that remain open anew."""
    cells, tried = bounds.bound_cells(cells, 1)
    spare = cells.upper + rounding(cells)
    known = float(spare[spare < 0].max(initial=-np.inf))
    rest = np.flatnonzero(spare >= 0)
    if not len(rest):
        return known, cells.take(rest), tried.take(rest)
    cells = bounds.tighten_ranges(cells.take(rest))
    rounds = CONTINUOUS_BOUND_ROUNDS if bounds.space.continuous else BOUND_ROUNDS
    return known, *bounds.bound_cells(cells, rounds, rounding(cells))


def _pop(stack: list[Cells]) -> Cells:
    """Take the next batch of cells from the stack, the latest first."""
    parts = [stack.pop()]
    while stack and sum(part.size for part in parts) < CELLS_PER_BATCH:
        parts.append(stack.pop())
    cells = parts[0] if len(parts) == 1 else Cells.concatenate(parts[::-1])
    if cells.size > CELLS_PER_BATCH:
        stack.append(cells.take(slice(None, -CELLS_PER_BATCH)))
        cells = cells.take(slice(-CELLS_PER_BATCH, None))
    return cells


def _split(bounds: Bounds, cells: Cells, tried: RelaxedBound) -> Cells:
    """Split each cell by a unit's sign, or by a base variable where no sign is open."""
    cost = _cost(cells, tried)
    if bounds.space.continuous:  # a sign that costs nothing here may still cost a linear program
        cost = np.where(cells.open, np.maximum(cost, LEAST_COST), 0)
    by_unit = cost.max(axis=1, initial=0) > 0
    units, variables = np.flatnonzero(by_unit), np.flatnonzero(~by_unit)
    parts = []
    if len(units):
        chosen = _choose_units(bounds, cells.take(units), cost[units])
        parts += [_fix_signs(bounds, cells.take(units), chosen, sign) for sign in (1.0, -1.0)]
    if len(variables):
        pull = np.abs(tried.inputs[variables]) @ np.ptp(bounds.effects, axis=1).T
        parts.append(_fix_variables(bounds, cells.take(variables), pull))
    return Cells.concatenate(parts)


def _choices(bounds: Bounds, cells: Cells) -> Bools:
    """Whether each base variable has several states in a cell; numbers between two ends count as one."""
    pieces = cells.regions.sum(axis=2)
    if bounds.space.continuous:
        pieces = pieces - (cells.regions[:, :, FALSE] & cells.regions[:, :, TRUE])
    free: Bools = pieces > 1
    return free


def _are_linear(bounds: Bounds, cells: Cells) -> Bools:
    """Whether the network is linear on each cell of a continuous space, so that nothing is to be split."""
    if not bounds.space.continuous:
        return np.zeros(cells.size, np.bool_)
    divisible: Bools = np.logical_or(cells.open.any(axis=1), _choices(bounds, cells).any(axis=1))
    return ~divisible


def _cost(cells: Cells, tried: RelaxedBound) -> Vector:
    """Estimate the cost of each open sign, the triangle's height times its pull; shape (cells, units)."""
    width = np.where(cells.open, cells.high - cells.low, 1)
    height = -cells.low * cells.high / width
    smaller = np.minimum(cells.high, -cells.low)
    above, below = np.maximum(tried.pulls, 0), -np.minimum(tried.pulls, 0)
    cost: Vector = np.where(cells.open, above * height + 0.3 * below * smaller, 0)
    return cost


def _fix_signs(bounds: Bounds, cells: Cells, units: States, sign: float) -> Cells:
    """Restrict each cell to the inputs for which one unit's pre-activation has the sign."""
    at = (np.arange(cells.size), units)
    low, high, signs = cells.low.copy(), cells.high.copy(), cells.signs.copy()
    (low if sign > 0 else high)[at] = 0
    signs[at] = sign
    tight = np.searchsorted([layer.stop for layer in bounds.layers], units, side="right") + 1
    return cells._replace(low=low, high=high, signs=signs, tight=tight)


def _fix_variables(bounds: Bounds, cells: Cells, pull: Vector) -> Cells:
    """Split each cell by the states of its free base variable with the largest pull."""
    chosen = np.where(_choices(bounds, cells), pull, -1).argmax(axis=1)
    allowed = cells.regions[np.arange(cells.size), chosen]  # (cells, states)
    pieces = np.eye(allowed.shape[1], dtype=np.bool_)
    if bounds.space.continuous:  # the numbers between two ends stay together
        pieces[FALSE, TRUE] = True
        pieces = np.delete(pieces, TRUE, axis=0)
    parts = allowed[:, None] & pieces
    parent, part = np.nonzero(parts.any(axis=2))
    regions = cells.regions[parent]
    regions[np.arange(len(regions)), chosen[parent]] = parts[parent, part]
    return cells.take(parent)._replace(regions=bounds.space.propagate_groups(regions))


def _choose_units(bounds: Bounds, cells: Cells, cost: Vector) -> States:
    """Choose the unit to split in each cell: of the costliest, the one that lowers the bound most."""
    top = np.argsort(-cost, axis=1, kind="stable")[:, :BRANCHING_CANDIDATES]
    relaxation, multiplied = Relaxation.of(cells), cells.multipliers * cells.signs
    left: Numbers = np.full(top.shape, np.inf)
    trials = np.argwhere(np.take_along_axis(cost, top, axis=1) > 0)
    for start in range(0, len(trials), TRIALS_PER_BLOCK):
        rows, places = trials[start : start + TRIALS_PER_BLOCK].T
        units, extra = top[rows, places], multiplied[rows]
        on, off = (
            np.maximum(
                bounds.quick_bound(relaxation.with_sign(rows, units, sign), extra), LOWEST_USEFUL_BOUND
            )
            for sign in (1.0, -1.0)
        )
        left[rows, places] = np.maximum(on, off) + np.minimum(on, off) / 2
    chosen: States = np.take_along_axis(top, left.argmin(axis=1)[:, None], axis=1)[:, 0]
    return chosen


class LinearProgram:
    """The maximum of the output over one cell on which the network is linear.

    An input is a point between the ends of each base variable, its share of the way from false to
    true. The bound comes from the program's dual solution by way of `Bounds`, outward rounding
    included, so it holds however inexactly the program was solved.
    """

    def __init__(self, bounds: Bounds, cell: Cells) -> None:
        self.bounds, self.cell = bounds, cell
        region = cell.regions[0]
        self.states: States = region.argmax(axis=1)
        self.spread = region[:, FALSE] & region[:, TRUE]
        effects, rows = bounds.effects, np.arange(bounds.space.count)
        self.steps = np.where(self.spread[:, None], effects[:, TRUE] - effects[:, FALSE], 0)  # (m, units)
        self.origin = effects[rows, self.states].sum(axis=0) + bounds.net.biases[0]

    def solve(self) -> tuple[float, float, Vector]:
        """Return an upper bound on the output, the output at the point found, and the point, (m,)."""
        from scipy.optimize import linprog

        net, (signs, low) = self.bounds.net, (self.cell.signs[0], self.cell.low[0])
        slopes, constants = [self.steps.T], [self.origin]  # of each layer's sums, as functions of the point
        for layer, at in enumerate(self.bounds.layers):
            on = (low[at] >= 0).astype(np.float64)
            slopes.append(net.weights[layer + 1] @ (on[:, None] * slopes[-1]))
            constants.append(net.weights[layer + 1] @ (on * constants[-1]) + net.biases[layer + 1])
        fixed = np.flatnonzero(signs)
        sign = signs[fixed]
        hidden, offsets = np.concatenate(slopes[:-1])[fixed], np.concatenate(constants[:-1])[fixed]
        penalty = VIOLATION_PENALTY * (1 + np.abs(slopes[-1]).sum())
        answer = linprog(
            np.append(-slopes[-1][0], penalty),
            np.column_stack([-sign[:, None] * hidden, np.full(len(fixed), -1.0)]) if len(fixed) else None,
            sign * offsets if len(fixed) else None,
            bounds=[(0, 1)] * len(self.spread) + [(0, None)],
        )
        cell = self.cell
        if answer.status == 0:
            multipliers = np.zeros_like(cell.multipliers)
            if len(fixed):
                multipliers[0, fixed] = np.maximum(-answer.ineqlin.marginals, 0)
            cell = cell._replace(multipliers=multipliers)
        point: Vector = np.clip(answer.x[:-1], 0, 1) if answer.status == 0 else np.zeros(len(self.spread))
        upper = float(self.bounds.bound_cells(cell, 1)[0].upper[0])
        height = float(net.from_first((self.origin + point @ self.steps)[None])[0])
        return upper, height, np.where(self.spread, point, 0)
