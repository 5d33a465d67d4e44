"""Regions of inputs, in which some values are fixed and the others free, and local search in them.

An input gives each base variable a state. A region is a Boolean matrix of shape (base variables,
states) that marks the allowed states; several regions have shape (regions, base variables, states).

Variables have three states: false, unknown and true. Of a pair of duals, one is a base variable and
the other has the opposite value. At most one variable of a group is true, and then the others are
false. Columns of a table are base variables too: a network reads the numbers between two ends, which
stand in the place of false and true, missing values in the place of unknown, and levels as further
states; for trees the states are cells, the intervals that no threshold divides, or levels, and a
missing value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Vocabulary, bits
from hornbook.models import Encoding
from hornbook.proof.network import Matrix, Vector
from hornbook.queries import Groups, Literals, check_groups

FALSE, UNKNOWN, TRUE = 0, 1, 2

Values: TypeAlias = Literal["ternary", "complete"]
"""Whether free values may be unknown, or are true or false."""

States: TypeAlias = NDArray[np.intp]
Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class InputSpace:
    """The inputs of a model: base variables, and the numbers that encode their states.

    `inputs[u, s]` is the input vector of base variable u in state s, zero elsewhere; the encoding of
    an input is the sum over the base variables. If `continuous`, all that lies between the false and
    the true state of a base variable is an input too; other states are single inputs, and there may be
    more than three.
    """

    inputs: Numbers  # (base variables, states, inputs of the model)
    groups: tuple[NDArray[np.intp], ...] = ()
    continuous: bool = False

    @cached_property
    def groups_by_size(self) -> tuple[NDArray[np.intp], ...]:
        """The groups as matrices, one per group size, with one row per group."""
        sizes = sorted({len(members) for members in self.groups})
        return tuple(np.array([each for each in self.groups if len(each) == size]) for size in sizes)

    @cached_property
    def group_of(self) -> NDArray[np.intp]:
        """The number of each base variable's group, -1 if it is in none, (base variables,)."""
        numbers = np.full(self.count, -1)
        for number, members in enumerate(self.groups):
            numbers[members] = number
        return numbers

    @property
    def count(self) -> int:
        """The number of base variables."""
        return len(self.inputs)

    def whole(self) -> Bools:
        """The region of all inputs."""
        return np.ones(self.inputs.shape[:2], np.bool_)

    def propagate_groups(self, regions: Bools) -> Bools:
        """Remove the states that groups rule out from regions, shape (regions, base variables, 3)."""
        if not self.groups:
            return regions
        regions = regions.copy()
        for members in self.groups_by_size:
            group = regions[:, members]  # (regions, groups, members, states)
            may_be_false = group[..., FALSE]
            # a variable can be true only where all the others can be false
            others_false = may_be_false.sum(axis=2, keepdims=True) - may_be_false
            group[..., TRUE] &= others_false == members.shape[1] - 1
            # where one is certainly true, the others are false
            certain = group[..., TRUE] & ~group[..., FALSE] & ~group[..., UNKNOWN]
            others = certain.any(axis=2, keepdims=True) & ~certain
            group[..., TRUE] &= ~others
            group[..., UNKNOWN] &= ~others
            regions[:, members] = group
        return regions

    def restrict_to(self, free: Bools) -> InputSpace:
        """Restrict the space to some base variables; its inputs are then partial interpretations."""
        places = np.cumsum(free) - 1
        groups = tuple(places[members[free[members]]] for members in self.groups)
        return replace(self, groups=tuple(g for g in groups if len(g) > 1), inputs=self.inputs[free])

    def encode_states(self, states: States) -> Matrix:
        """Encode states, (inputs, base variables), as model inputs, one row each."""
        numbers: Matrix = self.inputs[np.arange(self.count), states].sum(axis=1)
        return numbers

    def column_states(self, column: int) -> tuple[int, Vector]:
        """The base variable that decides an input of the model, and the input in each of its states."""
        variable = int(np.abs(self.inputs[:, :, column]).sum(axis=1).argmax())
        return variable, self.inputs[variable, :, column]

    def maximise_effects(self, effects: Numbers, regions: Bools) -> tuple[Vector, States]:
        """Return the greatest sum of effects in each region, (k,), and the states that reach it, (k, m).

        `effects`, (k, m, states), is what each state of each of the m base variables adds. The sum is
        -∞ in an empty region.
        """
        allowed = np.where(regions, effects, -np.inf)
        states: States = allowed.argmax(axis=2)
        best = np.take_along_axis(allowed, states[:, :, None], axis=2)[:, :, 0]
        for members in self.groups_by_size:
            group = allowed[:, members]
            false = effects[:, members, FALSE]
            none = group[..., :TRUE].max(axis=3).sum(axis=2)
            # where a member may be true, the others may be false
            one = group[..., TRUE] + (false.sum(axis=2, keepdims=True) - false)
            chosen = one.argmax(axis=2)[:, :, None]
            highest = np.take_along_axis(one, chosen, axis=2)[:, :, 0]
            alone = np.where(np.arange(members.shape[1]) == chosen, TRUE, FALSE)
            without = group[..., :TRUE].argmax(axis=3)
            states[:, members] = np.where((highest > none)[:, :, None], alone, without)
            best[:, members] = 0
            best[:, members[:, 0]] = np.maximum(none, highest)
        return best.sum(axis=1), states


@dataclass(frozen=True, eq=False, kw_only=True)
class Space(InputSpace):
    """The input space of a model of variables.

    Examples
    --------
    >>> space = Space.of(Vocabulary.with_duals(["sunny", "happy"]), Encoding())
    >>> region = space.region({0}, ())
    >>> region.astype(int)
    array([[0, 0, 1],
           [1, 1, 1]])
    >>> space.encode_states(np.array([[TRUE, UNKNOWN]]))
    array([[1. , 0.5, 0. , 0.5]])

    """

    vocabulary: Vocabulary
    values: Values
    literals: Literals

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, encoding: Encoding, groups: Groups = (), values: Values = "ternary"
    ) -> Space:
        """Build the space of a vocabulary and an encoding."""
        if values == "ternary" and encoding.unknown is None:
            raise HornbookError(
                "the model takes complete inputs only, so proofs are about those; ask with values='complete'"
            )
        if values == "ternary" and encoding.unknown is not None and np.isnan(encoding.unknown):
            raise HornbookError(
                "the model reads NaN for ?, which is not a number that a feed-forward network could compute "
                "with; prove with values='complete', or name the number that stands for ?"
            )
        checked = check_groups(groups, vocabulary)
        literals = Literals.of(vocabulary, checked)
        places = [np.searchsorted(literals.drawn, np.array(group, np.intp)) for group in checked if group]
        own = np.zeros((literals.count, 3, len(vocabulary)))
        unknown = (
            encoding.false if encoding.unknown is None or np.isnan(encoding.unknown) else encoding.unknown
        )
        numbers = np.array([encoding.false, unknown, encoding.true])
        own[np.arange(literals.count), :, literals.drawn] = numbers
        own[literals.paired, :, literals.duals] = numbers[::-1]
        if encoding.channels == 2:
            own = np.concatenate([own, own[:, ::-1]], axis=2)
        return cls(vocabulary=vocabulary, groups=tuple(places), values=values, literals=literals, inputs=own)

    def whole(self) -> Bools:
        """The region of all inputs."""
        region = np.ones((self.count, 3), np.bool_)
        region[:, UNKNOWN] = self.values == "ternary"
        return region

    def region(self, true: Iterable[int], false: Iterable[int]) -> Bools:
        """Return the region in which some variables are true and others false; it may be empty."""
        region: Bools = self.whole()
        true, false = self.literals.true(true), self.literals.opposite(self.literals.true(false))
        is_true, is_false = (np.zeros(self.count, np.bool_) for _ in range(2))
        is_true[[literal for literal in true | false if literal < self.count]] = True
        is_false[[literal - self.count for literal in true | false if literal >= self.count]] = True
        region[is_true, FALSE] = region[is_false, TRUE] = region[is_true | is_false, UNKNOWN] = False
        narrowed: Bools = self.propagate_groups(region[None])[0]
        return narrowed

    def batch(self, states: States) -> Batch:
        """Convert states, (inputs, base variables), to interpretations."""
        true, false = bits.pack(states == TRUE), bits.pack(states == FALSE)
        return self.literals.batch(true, false, len(states))


@dataclass(frozen=True)
class SearchOutcome:
    """The outcome of a search for an input with a positive output.

    `upper` bounds the model's output, rounding included; `best` is the highest output found, at the
    input `states`; `ended` is false if some cells were left.
    `needed` are base variables whose restriction alone rules out a positive output, if that is known.
    In a continuous space `shares` may say how far the input is on the way from the false to the true
    state of each base variable.
    """

    upper: float
    best: float
    states: States | None
    ended: bool = True
    shares: Vector | None = None
    needed: frozenset[int] | None = None


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
        values = bounds.outputs_after_moves(here, moves)
        values[_blocked(bounds.space, here, moves)] = -np.inf
        best = values.argmax(axis=1)
        value = values[np.arange(len(here)), best]
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
