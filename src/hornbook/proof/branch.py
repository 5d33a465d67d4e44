"""Branch and bound for ReLU networks, many cells at a time.

A cell whose bound is below 0 by more than the rounding error contains no witness. Any other cell is
split by the unit whose open sign costs the bound most or, where no sign is open, by a base variable.
Local search starts again from the inputs where the linear bounds are highest, and so finds witnesses
that it missed before.

References
----------
R. Bunel, J. Lu, I. Turkaslan, P. H. S. Torr, P. Kohli, M. P. Kumar. Branch and Bound for Piecewise
Linear Neural Network Verification, JMLR 21, 2020.

"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from hornbook.logic import Bools
from hornbook.proof.bounds import Bounds, Cells, Relaxation, RelaxedBound, Rounding
from hornbook.proof.network import Vector
from hornbook.proof.region import Numbers, States
from hornbook.proof.witness import InputFilter, SearchOutcome, climb

CELLS_PER_BATCH = 256
"""Number of cells bounded at a time."""

BOUND_ROUNDS = 10
"""Rounds of improving a cell's slopes and multipliers; its parts inherit the multipliers."""

BRANCHING_CANDIDATES = 32
"""Number of units compared before one is split; with 8 there are ten times as many cells."""

TRIALS_PER_BLOCK = 512
"""Number of (cell, unit) pairs tried at a time."""

LOWEST_USEFUL_BOUND = -5.0
"""Bounds below this count as equal when units are compared."""


def branch_and_bound(
    bounds: Bounds,
    root: Cells,
    seconds: float,
    keep: Callable[[Bools], Bools] | None = None,
    admits: InputFilter | None = None,
) -> SearchOutcome:
    """Bound the output until it is certainly negative, or an input above 0 is found.

    Parameters
    ----------
    bounds
        The network and its inputs.
    root
        The inputs in question, as a cell with ranges.
    seconds
        The time limit.
    keep, admits
        Which regions hold inputs that count, and which inputs do; all, if not given.

    """
    deadline = time.perf_counter() + seconds
    rounding = Rounding(bounds, root)
    stack = [root]
    closed, best, states, nodes = -np.inf, -np.inf, None, 0
    while stack and best <= 0 and time.perf_counter() < deadline:
        cells = _pop(stack)
        if keep is not None:
            cells = cells.take(keep(cells.regions))
        if not cells.size:
            continue
        nodes += cells.size
        cells, tried = bounds.bound_cells(bounds.tighten_ranges(cells), BOUND_ROUNDS)
        outputs = bounds.outputs(tried.states)
        single = cells.regions.sum(axis=(1, 2)) == bounds.space.count
        # of one input the output is known, whatever the signs that a cell asks for
        exact = np.where(single, outputs + bounds.slack[-1][0], np.inf)
        cells = cells._replace(upper=np.minimum(cells.upper, exact))
        if admits is not None:
            outputs[~admits(tried.states)] = -np.inf
        top = [int(outputs.argmax())]
        reached, heights = tried.states[top], outputs[top]
        if admits is None:  # else every step would have to be looked at by others
            reached, heights = climb(bounds, bounds.region, reached)
        if heights[0] > best:
            best, states = float(heights[0]), reached[0]
        spare = cells.upper + rounding(cells)
        settled = (spare < 0) | single
        closed = max(closed, spare[settled].max(initial=-np.inf))
        rest = np.flatnonzero(~settled)
        rest = rest[np.argsort(cells.upper[rest], kind="stable")]
        if len(rest):
            stack.append(_split(bounds, cells.take(rest), tried.take(rest)))
    waiting = max((float((cells.upper + rounding(cells)).max()) for cells in stack), default=-np.inf)
    return SearchOutcome(max(closed, waiting), best, states, nodes, not stack)


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
    by_unit = cost.max(axis=1, initial=0) > 0
    units, variables = np.flatnonzero(by_unit), np.flatnonzero(~by_unit)
    parts = []
    if len(units):
        chosen = _choose_units(bounds, cells.take(units), cost[units])
        parts += [_fix_signs(cells.take(units), chosen, sign) for sign in (1.0, -1.0)]
    if len(variables):
        pull = np.abs(tried.inputs[variables]) @ np.ptp(bounds.effects, axis=1).T
        parts.append(_fix_variables(bounds, cells.take(variables), pull))
    return Cells.concatenate(parts)


def _cost(cells: Cells, tried: RelaxedBound) -> Vector:
    """Estimate the cost of each open sign, the triangle's height times its pull; shape (cells, units)."""
    width = np.where(cells.open, cells.high - cells.low, 1)
    height = -cells.low * cells.high / width
    smaller = np.minimum(cells.high, -cells.low)
    above, below = np.maximum(tried.pulls, 0), -np.minimum(tried.pulls, 0)
    cost: Vector = np.where(cells.open, above * height + 0.3 * below * smaller, 0)
    return cost


def _fix_signs(cells: Cells, units: States, sign: float) -> Cells:
    """Restrict each cell to the inputs for which one unit's pre-activation has the sign."""
    at = (np.arange(cells.size), units)
    low, high, signs = cells.low.copy(), cells.high.copy(), cells.signs.copy()
    (low if sign > 0 else high)[at] = 0
    signs[at] = sign
    return cells._replace(low=low, high=high, signs=signs)


def _fix_variables(bounds: Bounds, cells: Cells, pull: Vector) -> Cells:
    """Split each cell by the states of its free base variable with the largest pull."""
    free = cells.regions.sum(axis=2) > 1
    chosen = np.where(free, pull, -1).argmax(axis=1)
    parent, state = np.nonzero(cells.regions[np.arange(cells.size), chosen])
    regions = cells.regions[parent]
    regions[np.arange(len(regions)), chosen[parent]] = False
    regions[np.arange(len(regions)), chosen[parent], state] = True
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
