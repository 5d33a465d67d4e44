"""Branch and bound for ensembles of trees: which inputs can reach which leaves.

In a region a tree adds no more than its highest leaf that some input of the region reaches, and the
trees' highest leaves together bound the output. A region whose bound is too high is split by the
base variable on which the highest leaves disagree most; where they agree, the bound is reached.
Regions are tried many at a time, 64 in a word.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import bits
from hornbook.logic.bits import Bools
from hornbook.oracles.proof.found import Found
from hornbook.oracles.proof.layers import Link, Vector
from hornbook.oracles.proof.leaves import Leaves
from hornbook.oracles.proof.region import Numbers, Space, States
from hornbook.oracles.proof.witness import Admits, climb, moved

BATCH = 256
"""Regions bounded at a time."""


class Forest:
    """Bounds the output of trees over regions, and searches for a positive one.

    Parameters
    ----------
    leaves
        Those of the trees.
    space
        The inputs.
    decide
        Whether the model's output is positive for given inputs, asked where rounding could tell otherwise.
    region
        The inputs in question; by default all.

    """

    def __init__(
        self, leaves: Leaves, space: Space, decide: Callable[[States], Bools], region: Bools | None = None
    ) -> None:
        self.leaves, self.space, self.decide = leaves, space, decide
        self.region = space.whole() if region is None else region
        # every kind of condition once: a base variable, and which of its states pass
        leaf, variable = np.nonzero(~leaves.states.all(axis=2))
        codes = 8 * variable + leaves.states[leaf, variable] @ np.array([1, 2, 4])
        kinds, self.kind = np.unique(codes, return_inverse=True)
        self.variable = kinds // 8
        self.passing = (kinds[:, None] >> np.arange(3)) % 2 == 1
        self.first = np.searchsorted(leaf, np.arange(len(leaves.values)))
        self.free = np.bincount(leaf, minlength=len(leaves.values)) == 0
        self.tree = np.repeat(np.arange(len(leaves.starts)), np.diff([*leaves.starts, len(leaves.values)]))

    def within(self, region: Bools) -> Forest:
        """The same trees as a function of those base variables alone that a region leaves free."""
        free = region.sum(axis=1) > 1

        def decide(states: States) -> Bools:
            whole: States = np.repeat(region.argmax(axis=1)[None], len(states), axis=0)
            whole[:, free] = states
            return self.decide(whole)

        return Forest(self.leaves.within(region), self.space.within(free), decide, region[free])

    @property
    def numbers(self) -> Iterator[NDArray[Any]]:
        """All that decides the output."""
        yield from (self.leaves.states, self.leaves.values, self.leaves.starts)
        yield np.array([self.leaves.constant])

    def reached(self, regions: Bools) -> Bools:
        """Which leaves some input of each region reaches, (leaves, k); groups are not looked at."""
        passes = (regions[:, self.variable] & self.passing).any(axis=2)
        words = bits.pack(passes)[self.kind]
        rows = np.full((len(self.free), bits.words_for(len(regions))), ~np.uint64(0))
        if len(words):
            bound = np.flatnonzero(~self.free)
            rows[bound] = np.bitwise_and.reduceat(words, self.first[bound], axis=0)
        return bits.unpack_rows(rows, len(regions))

    def evaluate(self, states: States) -> tuple[Vector, Vector]:
        """The sum of the leaves that each input reaches, and by how much the model's may differ."""
        reached = self.reached(states[:, :, None] == np.arange(3))
        outputs: Vector = self.leaves.values @ reached + self.leaves.constant
        return outputs, np.full(len(states), self.leaves.rounding)

    @property
    def link(self) -> Link:
        """How the model's score follows from the output."""
        return self.leaves.link

    def constant(self, regions: Bools) -> Bools:
        """Whether all inputs of a region certainly have one and the same output, in the model too."""
        reached = self.reached(regions)
        kinds = self.leaves.kinds[:, None]
        highest = np.maximum.reduceat(np.where(reached, kinds, -1), self.leaves.starts, axis=0)
        least = np.minimum.reduceat(np.where(reached, kinds, kinds.max() + 1), self.leaves.starts, axis=0)
        constant: Bools = (highest == least).all(axis=0)
        return constant

    def bounded(self, regions: Bools) -> tuple[Vector, States]:
        """The bound on each region's output, and each tree's highest leaf there, (trees, k)."""
        values = np.where(self.reached(regions), self.leaves.values[:, None], -np.inf)
        highest = np.maximum.reduceat(values, self.leaves.starts, axis=0)
        best = values == highest[self.tree]
        order = np.where(best, np.arange(len(values))[:, None], len(values))
        return highest.sum(axis=0) + self.leaves.constant, np.minimum.reduceat(
            order, self.leaves.starts, axis=0
        )

    def outputs(self, states: States) -> Vector:
        """The output for each input; its sign is the model's own decision."""
        outputs = self.bounded(states[:, :, None] == np.arange(3))[0]
        close = np.flatnonzero(np.abs(outputs) <= self.leaves.tolerance)
        if len(close):
            outputs[close] = np.where(self.decide(states[close]), 1, -1) * self.leaves.tolerance
        return outputs

    def after(self, here: States, moves: States) -> Numbers:
        """The outputs at each input after each move."""
        states = np.concatenate([moved(self.space, here, *move) for move in moves.tolist()])
        outputs: Numbers = self.bounded(states[:, :, None] == np.arange(3))[0].reshape(len(moves), -1).T
        return outputs

    def rough(self) -> float:
        """What the bound says of all inputs in question, before any search."""
        return float(self.bounded(self.region[None])[0][0])

    def search(
        self, seconds: float, keep: Callable[[Bools], Bools] | None = None, admits: Admits | None = None
    ) -> Found:
        """Bound the output until it is certainly negative, or an input above 0 is found, as `branch` does."""
        deadline = time.perf_counter() + seconds
        stack = [(self.region[None], np.array([np.inf]))]
        closed, best, states, nodes = -np.inf, -np.inf, None, 0
        while stack and best <= 0 and time.perf_counter() < deadline:
            regions, uppers = stack.pop()
            if len(regions) > BATCH:
                stack.append((regions[:-BATCH], uppers[:-BATCH]))
                regions = regions[-BATCH:]
            if keep is not None:
                regions = regions[keep(regions)]
            if not len(regions):
                continue
            nodes += len(regions)
            upper, leaves = self.bounded(regions)
            against = self._against(leaves)
            tried = self.space.highest(-against, regions)[1]
            outputs = self.outputs(tried)
            single = regions.sum(axis=(1, 2)) == self.space.count
            known = single.copy()
            close = np.flatnonzero(~single & (np.abs(upper) <= self.leaves.tolerance))
            if len(close):
                known[close] = self.constant(regions[close])
            # of one input the model itself was asked, and so it was of all that get the same numbers
            upper = np.where(known, outputs, upper + self.leaves.tolerance)
            if admits is not None:
                outputs[~admits(tried)] = -np.inf
            top = [int(outputs.argmax())]
            reached, heights = tried[top], outputs[top]
            if admits is None:
                reached, heights = climb(self, self.region, reached)
            if heights[0] > best:
                best, states = float(heights[0]), reached[0]
            settled = (upper < 0) | single
            closed = max(closed, upper[settled].max(initial=-np.inf))
            rest = np.flatnonzero(~settled)
            rest = rest[np.argsort(upper[rest], kind="stable")]
            if len(rest):
                stack.append(self._split(regions[rest], against[rest], upper[rest]))
        waiting = max((float(uppers.max()) for _, uppers in stack), default=-np.inf)
        return Found(max(closed, waiting), best, states, nodes, not stack)

    def _against(self, leaves: States) -> Numbers:
        """How much of the highest leaves each state of each base variable would lose, (k, m, 3)."""
        spread = np.maximum.reduceat(self.leaves.values, self.leaves.starts)
        spread = spread - np.minimum.reduceat(self.leaves.values, self.leaves.starts)
        against: Numbers = np.zeros((leaves.shape[1], self.space.count, 3))
        for weight, chosen in zip(spread.tolist(), leaves, strict=True):
            against += weight * ~self.leaves.states[chosen]
        return against

    def _split(self, regions: Bools, against: Numbers, upper: Vector) -> tuple[Bools, Vector]:
        """The parts of regions by the states of the free base variable that most is lost by."""
        free = regions.sum(axis=2) > 1
        least = np.where(regions, against, np.inf).min(axis=2)
        total = np.where(regions, against, 0).sum(axis=2)
        chosen = np.where(free, least + 1e-3 * total, -1).argmax(axis=1)
        parent, state = np.nonzero(regions[np.arange(len(regions)), chosen])
        parts = regions[parent]
        parts[np.arange(len(parts)), chosen[parent]] = np.arange(3) == state[:, None]
        return self.space.narrowed(parts), upper[parent]
