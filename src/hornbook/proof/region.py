"""Which inputs a question is about: some values are known, the others may be anything.

An input is told by the state of each base variable: false, unknown or true. Of a pair of duals
one is a base variable, and the other has the opposite value. A region allows some states of each
base variable, and is an (m, 3) matrix of Booleans; many regions are a (k, m, 3) array. Of a group
at most one variable is true, and then the others are false.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions import Groups, Literals
from hornbook.distributions.literals import check_groups
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Vocabulary, bits
from hornbook.models import Encoding
from hornbook.proof.network import Matrix, Vector

FALSE, UNKNOWN, TRUE = 0, 1, 2

Values: TypeAlias = Literal["ternary", "complete"]
"""Whether free values may be unknown, or are true or false."""

States: TypeAlias = NDArray[np.intp]
Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Space:
    """All inputs of a network: base variables, and the numbers that their states put into it.

    `inputs[u, s]` are the numbers that base variable u puts in, in state s, and zero elsewhere;
    an input is the sum over the base variables.

    Examples
    --------
    >>> space = Space.of(Vocabulary.with_duals(["sunny", "happy"]), Encoding())
    >>> region = space.region({0}, ())
    >>> region.astype(int)
    array([[0, 0, 1],
           [1, 1, 1]])
    >>> space.encoded(np.array([[TRUE, UNKNOWN]]))
    array([[1. , 0.5, 0. , 0.5]])

    """

    vocabulary: Vocabulary
    groups: tuple[NDArray[np.intp], ...]
    values: Values
    literals: Literals
    inputs: Numbers

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, encoding: Encoding, groups: Groups = (), values: Values = "ternary"
    ) -> Space:
        """The inputs that an encoding makes of a vocabulary."""
        if values == "ternary" and encoding.unknown is None:
            raise HornbookError(
                "the model takes complete inputs only, so proofs are about those; ask with values='complete'"
            )
        if values == "ternary" and encoding.unknown is not None and np.isnan(encoding.unknown):
            raise HornbookError(
                "the model reads NaN for ?, which is no number that a feed-forward network could compute "
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
        return cls(vocabulary, tuple(places), values, literals, own)

    @cached_property
    def stacked(self) -> tuple[NDArray[np.intp], ...]:
        """The groups, those of one size as the rows of a matrix."""
        sizes = sorted({len(members) for members in self.groups})
        return tuple(np.array([each for each in self.groups if len(each) == size]) for size in sizes)

    @property
    def count(self) -> int:
        """The number of base variables."""
        return len(self.inputs)

    def whole(self) -> Bools:
        """The region of all inputs."""
        region = np.ones((self.count, 3), np.bool_)
        region[:, UNKNOWN] = self.values == "ternary"
        return region

    def region(self, true: Iterable[int], false: Iterable[int]) -> Bools:
        """The inputs in which these variables are true and those false; it may be empty."""
        region: Bools = self.whole()
        true, false = self.literals.true(true), self.literals.opposite(self.literals.true(false))
        for literal in true | false:
            state = TRUE if literal < self.count else FALSE
            region[literal % self.count, np.arange(3) != state] = False
        narrowed: Bools = self.narrowed(region[None])[0]
        return narrowed

    def narrowed(self, regions: Bools) -> Bools:
        """The regions without the states that their groups rule out."""
        if not self.groups:
            return regions
        regions = regions.copy()
        for members in self.groups:
            group = regions[:, members]
            # a variable can be true only where all the others can be false
            open_to = group[:, :, FALSE].sum(axis=1, keepdims=True) - group[:, :, FALSE] == len(members) - 1
            group[:, :, TRUE] &= open_to
            # where one is certainly true, the others are false
            certain = group[:, :, TRUE] & ~group[:, :, FALSE] & ~group[:, :, UNKNOWN]
            others = certain.any(axis=1, keepdims=True) & ~certain
            group[:, :, TRUE] &= ~others
            group[:, :, UNKNOWN] &= ~others
            regions[:, members] = group
        return regions

    def within(self, free: Bools) -> Space:
        """The same with some of the base variables alone; its inputs are no whole interpretations."""
        places = np.cumsum(free) - 1
        groups = tuple(places[members[free[members]]] for members in self.groups)
        return replace(self, groups=tuple(g for g in groups if len(g) > 1), inputs=self.inputs[free])

    def encoded(self, states: States) -> Matrix:
        """The inputs, one row each, from the state of each base variable."""
        numbers: Matrix = self.inputs[np.arange(self.count), states].sum(axis=1)
        return numbers

    def batch(self, states: States) -> Batch:
        """The inputs as interpretations."""
        true, false = bits.pack(states == TRUE), bits.pack(states == FALSE)
        return Batch(self.vocabulary, *self.literals.mirrored(true, false), len(states))

    def known(self, regions: Bools) -> Batch:
        """What is certain in each region, as an interpretation."""
        single = regions.sum(axis=2) == 1
        states = np.where(single, regions.argmax(axis=2), UNKNOWN)
        return self.batch(states)

    def highest(self, effects: Numbers, regions: Bools) -> tuple[Vector, States]:
        """The greatest sum of effects within each region, and the states where it is reached.

        Effects are (k, m, 3): what each state of each base variable adds. The sum is -∞ in an
        empty region.
        """
        allowed = np.where(regions, effects, -np.inf)
        states: States = allowed.argmax(axis=2)
        best = np.take_along_axis(allowed, states[:, :, None], axis=2)[:, :, 0]
        for members in self.stacked:
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
