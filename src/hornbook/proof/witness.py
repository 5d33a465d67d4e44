"""Local search for an input with a positive output, and the outcome of any such search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from hornbook.logic import Bools
from hornbook.proof.network import Vector
from hornbook.proof.region import FALSE, TRUE, UNKNOWN, InputSpace, Numbers, States


@dataclass(frozen=True)
class SearchOutcome:
    """The outcome of a search for an input with a positive output.

    `upper` bounds the model's output, rounding included; `best` is the highest output found, at the
    input `states`; `nodes` counts the cells that were bounded; `ended` is false if some were left.
    `needed` are base variables whose restriction alone rules out a positive output, if that is known.
    In a continuous space `shares` may say how far the input is on the way from the false to the true
    state of each base variable.
    """

    upper: float
    best: float
    states: States | None
    nodes: int
    ended: bool = True
    shares: Vector | None = None
    needed: frozenset[int] | None = None

    @property
    def settled(self) -> bool:
        """Whether the sign of the maximum is decided."""
        return self.upper < 0 or self.best > 0


CLIMB_STARTS = 8
"""Number of random inputs from which local search starts."""

MIN_CLIMB_GAIN = 1e-9
"""Smallest rise of the output for which local search makes a change."""

InputFilter: TypeAlias = Callable[[States], Bools]
"""A predicate on inputs: which of them a search may return."""


class Outputs(Protocol):
    """The interface of a model that local search needs."""

    @property
    def space(self) -> InputSpace:
        """Its inputs."""

    def outputs(self, states: States) -> Vector:
        """The output for each input."""

    def outputs_after_moves(self, here: States, moves: States) -> Numbers:
        """The outputs at each input after each move, a base variable and its new state."""


def climb(bounds: Outputs, region: Bools, states: States, target: float = 0.0) -> tuple[States, Vector]:
    """Improve each input by its best single change until none helps or an output exceeds `target`.

    The changes at all inputs are tried together. Returns the inputs reached and their outputs.
    """
    states = states.copy()
    outputs = bounds.outputs(states)
    moves = np.argwhere(region & (region.sum(axis=1, keepdims=True) > 1))
    climbing = np.arange(len(states))
    while len(moves) and len(climbing) and outputs.max() <= target:
        here = states[climbing]
        found = bounds.outputs_after_moves(here, moves)
        found[_blocked(bounds.space, here, moves)] = -np.inf
        best = found.argmax(axis=1)
        value = found[np.arange(len(here)), best]
        better = value > outputs[climbing] + MIN_CLIMB_GAIN
        climbing, best = climbing[better], best[better]
        outputs[climbing] = value[better]
        for item, move in zip(climbing.tolist(), moves[best].tolist(), strict=True):
            states[item] = apply_move(bounds.space, states[item][None], *move)[0]
    return states, bounds.outputs(states)


def random_states(
    space: InputSpace, region: Bools, size: int, rng: np.random.Generator, shares: Numbers | float = 1.0
) -> States:
    """Draw inputs of a nonempty region; `shares`, (size, 1, 3), weights the states."""
    # u^(1/w) is the largest with probability proportional to w
    lots = rng.random((size, *region.shape)) ** (1 / np.maximum(shares, 1e-3))
    states: States = np.where(region, lots, -1).argmax(axis=2)
    for members in space.groups:
        true = states[:, members] == TRUE
        lots = np.where(true, rng.random(true.shape), 0)
        # a variable that is certainly true has no rivals: the region leaves them no other state than false
        alone = np.where(true & (lots == lots.max(axis=1, keepdims=True)), TRUE, FALSE)
        states[:, members] = np.where(true.any(axis=1, keepdims=True), alone, states[:, members])
    return states


def apply_move(space: InputSpace, states: States, variable: int, state: int) -> States:
    """Set one variable to a state; if it becomes true, the others of its group become false."""
    states = states.copy()
    if state == TRUE:
        for members in space.groups:
            if variable in members:
                states[:, members] = FALSE
    states[:, variable] = state
    return states


def _blocked(space: InputSpace, here: States, moves: States) -> Bools:
    """Whether a move would make a variable unknown while another of its group is true, (inputs, moves)."""
    blocked = np.zeros((len(here), len(moves)), np.bool_)
    unknown = np.flatnonzero((space.group_of[moves[:, 0]] >= 0) & (moves[:, 1] == UNKNOWN))
    if len(unknown):
        true, variables = here == TRUE, moves[unknown, 0]
        counts = np.stack([true[:, members].sum(axis=1) for members in space.groups], axis=1)
        blocked[:, unknown] = counts[:, space.group_of[variables]] > true[:, variables]
    return blocked
