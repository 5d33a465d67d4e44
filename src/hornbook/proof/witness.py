"""How a search for a positive output ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from hornbook.logic import Bools
from hornbook.proof.network import Vector
from hornbook.proof.region import FALSE, TRUE, UNKNOWN, Numbers, Space, States


@dataclass(frozen=True)
class Found:
    """`upper` bounds the model's output, rounding included; `states` is the best input found.

    `nodes` counts the cells that were bounded, and `ended` says whether none was left over.
    """

    upper: float
    best: float
    states: States | None
    nodes: int
    ended: bool = True

    @property
    def settled(self) -> bool:
        """Whether the sign is decided."""
        return self.upper < 0 or self.best > 0


STARTS = 8
"""Random inputs from which the search climbs, beside those it is given."""

GAIN = 1e-9
"""A change counts if it raises the output by more than this."""

Admits: TypeAlias = Callable[[States], Bools]
"""Which inputs count at all."""


class Outputs(Protocol):
    """What local search asks of a model."""

    @property
    def space(self) -> Space:
        """Its inputs."""

    def outputs(self, states: States) -> Vector:
        """The output for each input."""

    def after(self, here: States, moves: States) -> Numbers:
        """The outputs at each input after each move, a base variable and its new state."""


def climb(
    bounds: Outputs, region: Bools, states: States, target: float = 0.0, admits: Admits | None = None
) -> tuple[States, Vector]:
    """Make the best single change at each input again and again, until none helps or one is above `target`.

    The changes at all inputs are tried together. Returns the inputs reached and their outputs.
    """
    states = states.copy()
    outputs = bounds.outputs(states)
    moves = np.argwhere(region & (region.sum(axis=1, keepdims=True) > 1))
    climbing = np.arange(len(states))
    while len(moves) and len(climbing) and outputs.max() <= target:
        here = states[climbing]
        found = bounds.after(here, moves)
        found[_blocked(bounds.space, here, moves)] = -np.inf
        if admits is not None:
            candidates = np.concatenate([moved(bounds.space, here, *move) for move in moves.tolist()])
            found[~admits(candidates).reshape(len(moves), -1).T] = -np.inf
        best = found.argmax(axis=1)
        value = found[np.arange(len(here)), best]
        better = value > outputs[climbing] + GAIN
        climbing, best = climbing[better], best[better]
        outputs[climbing] = value[better]
        for item, move in zip(climbing.tolist(), moves[best].tolist(), strict=True):
            states[item] = moved(bounds.space, states[item][None], *move)[0]
    return states, bounds.outputs(states)


def random_states(
    space: Space, region: Bools, size: int, rng: np.random.Generator, shares: Numbers | float = 1.0
) -> States:
    """Random inputs of a region that is not empty; `shares`, (size, 1, 3), say how often a state is drawn."""
    # the greatest of u^(1/w) is each with a probability that is proportional to its w
    lots = rng.random((size, *region.shape)) ** (1 / np.maximum(shares, 1e-3))
    states: States = np.where(region, lots, -1).argmax(axis=2)
    for members in space.groups:
        true = states[:, members] == TRUE
        lots = np.where(true, rng.random(true.shape), 0)
        # a variable that is certainly true has no rivals: the region leaves them no other state than false
        alone = np.where(true & (lots == lots.max(axis=1, keepdims=True)), TRUE, FALSE)
        states[:, members] = np.where(true.any(axis=1, keepdims=True), alone, states[:, members])
    return states


def moved(space: Space, states: States, variable: int, state: int) -> States:
    """The inputs with one variable in another state; others of its group give way to a true one."""
    states = states.copy()
    if state == TRUE:
        for members in space.groups:
            if variable in members:
                states[:, members] = FALSE
    states[:, variable] = state
    return states


def _blocked(space: Space, here: States, moves: States) -> Bools:
    """Where a move would make a variable unknown while another of its group is true."""
    blocked = np.zeros((len(here), len(moves)), np.bool_)
    for members in space.groups:
        unknown = np.flatnonzero(np.isin(moves[:, 0], members) & (moves[:, 1] == UNKNOWN))
        true = here[:, members] == TRUE
        for move in unknown.tolist():
            others = members != moves[move, 0]
            blocked[:, move] = true[:, others].any(axis=1)
    return blocked
