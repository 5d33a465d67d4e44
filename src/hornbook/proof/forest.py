"""Trees as leaves, bounds on their output over regions of inputs, and branch and bound.

`Leaves` lists the leaves of all trees: the states of the base variables that lead to each, and the
number that it adds to the output. The output N is the sum over the trees minus the threshold: apart
from rounding, the model decides for its positive class where N is at least 0. `Forest` bounds that
output over regions, and searches for an input where it is positive.

A `ChangeForest` is about monotonicity: cells of a column that lie side by side are compared. Only trees
with a threshold between the two change their number, so the change of the output is a sum over pairs of
leaves: the one that a row reaches with the lower cell, and the one that it reaches with the higher one.
Rows are left alone where that change does not favour another class, where the class does not lead at
the lower cell, and where it still leads at the higher one; about single rows the model itself is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.deadline import Deadline
from hornbook.logic import Bools, bits
from hornbook.proof.ensembles import Total, TreeEnsemble, TreeNodes
from hornbook.proof.network import ScoreLink, Vector
from hornbook.proof.region import InputSpace, Numbers, SearchOutcome, States, apply_move, climb

Leaf: TypeAlias = tuple[float, int, dict[int, int]]
"""The value of a leaf, its kind, and the states that lead there, by base variable; see `NodeSplits`."""


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of all trees, tree by tree.

    A leaf is reached where all its conditions are met. A condition is met by some states of one base
    variable: a range of all but the last state, and the last state if it says so.

    Parameters
    ----------
    leaf
        The leaf of each condition, in order, (conditions,).
    conditions
        The base variable, the start and the stop of the range, and whether the last state meets it,
        (conditions, 4).
    values
        The number that each leaf adds to the output, (leaves,).
    kinds
        Equal for leaves that hold the same numbers in the model, (leaves,).
    starts
        The index of each tree's first leaf, (trees,).
    total
        What else is known of the sum of the trees, as of a `TreeEnsemble`.

    """

    leaf: NDArray[np.intp]
    conditions: NDArray[np.intp]
    values: Vector
    kinds: NDArray[np.intp]
    starts: NDArray[np.intp]
    total: Total

    @classmethod
    def of(cls, ensemble: TreeEnsemble, space: InputSpace) -> Leaves:
        """List the leaves that some input of a space reaches."""
        splits = NodeSplits(space)
        trees = (
            [
                (float(tree.value[node]), int(tree.kind[node]), sets)
                for node, sets in iterate_leaves(tree, splits)
            ]
            for tree in ensemble.trees
        )
        return cls.build(trees, splits.states, ensemble.total)

    @classmethod
    def build(cls, trees: Iterable[list[Leaf]], states: int, total: Total) -> Leaves:
        """The leaves of trees: for each its value, its kind, and the states that lead there."""
        leaf: list[int] = []
        conditions: list[tuple[int, ...]] = []
        values: list[float] = []
        kinds: list[int] = []
        starts: list[int] = []
        for tree in trees:
            starts.append(len(values))
            for value, kind, sets in tree:
                # levels that lead to a leaf may be no range: then there is a leaf for each of several
                for ranges in product(*(list_ranges(own, states) for own in sets.values())):
                    leaf += [len(values)] * len(sets)
                    conditions += [(name, *own) for name, own in zip(sets, ranges, strict=True)]
                    values.append(value)
                    kinds.append(kind)
        return cls(
            np.array(leaf, np.intp),
            np.array(conditions, np.intp).reshape(-1, 4),
            np.array(values),
            np.array(kinds, np.intp),
            np.array(starts, np.intp),
            total,
        )

    @property
    def tree(self) -> NDArray[np.intp]:
        """The tree of each leaf, (leaves,)."""
        return np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(self.values)]))

    def negate(self) -> Leaves:
        """The leaves with the opposite output."""
        return replace(self, values=-self.values, total=self.total.negate())

    def restrict_to(self, reached: Bools, free: Bools) -> Leaves:
        """Select some leaves, as functions of the base variables that are free."""
        starts = np.searchsorted(self.tree[reached], np.arange(len(self.starts)))
        own = reached[self.leaf] & free[self.conditions[:, 0]]
        conditions = self.conditions[own]
        conditions[:, 0] = (np.cumsum(free) - 1)[conditions[:, 0]]
        leaf = (np.cumsum(reached) - 1)[self.leaf[own]]
        values, kinds = self.values[reached], self.kinds[reached]
        return replace(self, leaf=leaf, conditions=conditions, values=values, kinds=kinds, starts=starts)


class NodeSplits:
    """Which states of a base variable go left at a node; a set of states is a number with a bit for each."""

    def __init__(self, space: InputSpace) -> None:
        self.space = space
        self.whole = [_pack_states(own) for own in space.whole()]
        self.states = space.whole().shape[1]
        self.splits: dict[tuple[int, float, bool], tuple[int, int]] = {}

    def find(self, tree: TreeNodes, node: int) -> tuple[int, int]:
        """The base variable that a node asks about, and its states that go left."""
        key = int(tree.column[node]), float(tree.cut[node]), bool(tree.missing_left[node])
        if key not in self.splits:
            variable, numbers = self.space.column_states(key[0])
            left = np.where(np.isnan(numbers), key[2], numbers <= key[1])
            self.splits[key] = variable, _pack_states(left)
        return self.splits[key]


def _pack_states(mask: Bools) -> int:
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def iterate_leaves(tree: TreeNodes, splits: NodeSplits) -> Iterator[tuple[int, dict[int, int]]]:
    """Yield the leaves that some input reaches, each with the states that lead there, by base variable."""
    waiting: list[tuple[int, dict[int, int]]] = [(0, {})]
    while waiting:
        node, reached = waiting.pop()
        if tree.column[node] < 0:
            yield node, reached
            continue
        variable, left = splits.find(tree, node)
        own = reached.get(variable, splits.whole[variable])
        for child, side in ((tree.left[node], own & left), (tree.right[node], own & ~left)):
            if side:
                waiting.append((int(child), {**reached, variable: side}))


@lru_cache(maxsize=1 << 16)
def list_ranges(own: int, states: int) -> list[tuple[int, int, int]]:
    """Write a set of states as ranges of all but the last one, and whether each has the last one.

    Examples
    --------
    >>> list_ranges(0b1_0110, 5)
    [(1, 3, 1)]
    >>> list_ranges(0b0_1101, 5)
    [(0, 1, 0), (2, 4, 0)]

    """
    last, inner = own >> (states - 1), own & ((1 << (states - 1)) - 1)
    ends = []
    while inner:
        start = (inner & -inner).bit_length() - 1
        above = (inner >> start) + 1
        stop = start + (above & -above).bit_length() - 1
        ends.append((start, stop))
        inner &= -(1 << stop)
    return [(start, stop, int(last and not place)) for place, (start, stop) in enumerate(ends or [(0, 0)])]


REGIONS_PER_BATCH, NUMBERS_PER_BATCH = 256, 1 << 22
"""Number of regions bounded at a time, and of states in all of them."""


class Forest:
    """Bounds the output of trees over regions, and searches for a positive one.

    Parameters
    ----------
    leaves
        Those of the trees.
    space
        The inputs.
    decide
        The model's own decision for given inputs, asked where rounding could change the sign.
    region
        The inputs in question; by default all.

    """

    def __init__(
        self,
        leaves: Leaves,
        space: InputSpace,
        decide: Callable[[States], Bools],
        region: Bools | None = None,
    ) -> None:
        self.leaves, self.space, self.decide = leaves, space, decide
        self.region = space.whole() if region is None else region
        self.are_ties_negative = [False]
        """Whether the model is known to decide against ties of votes, in a list that restrictions share."""
        # every kind of condition once
        kinds, self.kind = np.unique(leaves.conditions, axis=0, return_inverse=True)
        self.kind = self.kind.reshape(-1)
        self.variable, self.start, self.stop, self.last = kinds.T
        self.first = np.searchsorted(leaves.leaf, np.arange(len(leaves.values) + 1))
        self.free = np.diff(self.first) == 0
        self.tree = leaves.tree
        self.batch = max(8, min(REGIONS_PER_BATCH, NUMBERS_PER_BATCH // max(self.region.size, 1)))

    def restrict_to(self, region: Bools) -> Self:
        """Restrict the trees to the base variables that a region leaves free."""
        free = region.sum(axis=1) > 1

        def decide(states: States) -> Bools:
            whole: States = np.repeat(region.argmax(axis=1)[None], len(states), axis=0)
            whole[:, free] = states
            return self.decide(whole)

        leaves = self.leaves.restrict_to(self.reached(region[None])[:, 0], free)
        restricted = type(self)(leaves, self.space.restrict_to(free), decide, region[free])
        restricted.are_ties_negative = self.are_ties_negative
        return restricted

    def count_states(self, regions: Bools) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Count the states of regions that meet each kind of condition, and all of them, (k, kinds) both."""
        counts = np.zeros((*regions.shape[:2], regions.shape[2]), np.intp)
        np.cumsum(regions[:, :, :-1], axis=2, out=counts[:, :, 1:])
        inner = counts[:, self.variable, self.stop] - counts[:, self.variable, self.start]
        last = regions[:, self.variable, -1]
        return inner + (last & (self.last > 0)), counts[:, self.variable, -1] + last

    def reached(self, regions: Bools) -> Bools:
        """Whether some input of each region reaches each leaf, (leaves, k), regardless of groups."""
        return self._meet_all(self.count_states(regions)[0] > 0)

    def _meet_all(self, met: Bools) -> Bools:
        """Whether all conditions of each leaf are met, (leaves, k), from those that are, (k, kinds)."""
        words = bits.pack(met)[self.kind]
        rows = np.full((len(self.free), bits.words_for(len(met))), ~np.uint64(0))
        if len(words):
            bound = np.flatnonzero(~self.free)
            rows[bound] = np.bitwise_and.reduceat(words, self.first[bound], axis=0)
        return bits.unpack_rows(rows, len(met))

    def _meet_kinds(self, states: States) -> Bools:
        """Whether inputs meet each kind of condition, (k, kinds)."""
        own = states[:, self.variable]
        met: Bools = (own >= self.start) & (own < self.stop)
        met |= (own == self.region.shape[1] - 1) & (self.last > 0)
        return met

    def count_unmet(self, states: States) -> tuple[Bools, NDArray[np.intp]]:
        """Whether inputs meet each condition, (k, conditions), and how many each leaf lacks, (k, leaves)."""
        met = self._meet_kinds(states)[:, self.kind]
        unmet = np.zeros((len(states), len(self.free)), np.intp)
        if met.shape[1]:
            bound = np.flatnonzero(~self.free)
            unmet[:, bound] = np.add.reduceat(~met, self.first[bound], axis=1, dtype=np.intp)
        return met, unmet

    def evaluate(self, states: States) -> tuple[Vector, Vector]:
        """Return the output for each input, and a bound on the model's deviation from it."""
        outputs = np.empty(len(states))
        size = max(64, NUMBERS_PER_BATCH // max(len(self.variable), len(self.free)))
        for start in range(0, len(states), size):
            part = slice(start, start + size)
            reached = self._meet_all(self._meet_kinds(states[part]))
            outputs[part] = self.leaves.values @ reached + self.leaves.total.constant
        return outputs, np.full(len(states), self.leaves.total.rounding)

    @property
    def link(self) -> ScoreLink:
        """The relation between the output and the model's score."""
        return self.leaves.total.link

    def constant(self, regions: Bools) -> Bools:
        """Whether all inputs of each region certainly have the same output, in the model too, (k,)."""
        if self.leaves.total.compares_shares:  # whose rounding depends on the other classes
            return np.zeros(len(regions), np.bool_)
        reached = self.reached(regions)
        kinds = self.leaves.kinds[:, None]
        highest = np.maximum.reduceat(np.where(reached, kinds, -1), self.leaves.starts, axis=0)
        least = np.minimum.reduceat(np.where(reached, kinds, kinds.max() + 1), self.leaves.starts, axis=0)
        constant: Bools = (highest == least).all(axis=0)
        return constant

    def bound_regions(self, regions: Bools) -> tuple[Vector, States]:
        """Bound each region's output, (k,), and return each tree's highest leaf there, (trees, k)."""
        values = np.where(self.reached(regions), self.leaves.values[:, None], -np.inf)
        highest = np.maximum.reduceat(values, self.leaves.starts, axis=0)
        best = values == highest[self.tree]
        order = np.where(best, np.arange(len(values))[:, None], len(values))
        return highest.sum(axis=0) + self.leaves.total.constant, np.minimum.reduceat(
            order, self.leaves.starts, axis=0
        )

    def outputs(self, states: States) -> Vector:
        """The output for each input; its sign is the model's own decision."""
        outputs = self.evaluate(states)[0]
        close = np.flatnonzero(np.abs(outputs) <= self.leaves.total.tolerance)
        if len(close):
            outputs[close] = np.where(self._decide_close(states[close]), 1, -1) * self.leaves.total.tolerance
        return outputs

    def _decide_close(self, states: States) -> Bools:
        """The model's own decision about inputs with an output within rounding of 0.

        Where votes are counted these are ties, which the model decides alike: once one is decided against,
        all are. Of several classes a third one may be ahead at a tie, which its own contest shows.
        """
        if self.are_ties_negative[0]:
            return np.zeros(len(states), np.bool_)
        decided = self.decide(states)
        self.are_ties_negative[0] = self.leaves.total.counts_votes and not decided.all()
        return decided

    def outputs_after_moves(self, here: States, moves: States) -> Numbers:
        """The outputs at each input after each move."""
        if self.space.groups:  # a move may change several base variables
            states = np.concatenate([apply_move(self.space, here, *move) for move in moves.tolist()])
            moved: Numbers = self.evaluate(states)[0].reshape(len(moves), -1).T
            return moved
        size = max(1, NUMBERS_PER_BATCH // max(len(self.kind), 1))  # that memory holds for large forests
        parts = (here[start : start + size] for start in range(0, len(here), size))
        outputs: Numbers = np.concatenate(
            [self._outputs_by_state(part)[:, moves[:, 0], moves[:, 1]] for part in parts]
        )
        return outputs

    def _outputs_by_state(self, here: States) -> Numbers:
        """The output at each input after one base variable gets another state, (inputs, m, states).

        A leaf that an input reaches is lost outside of each of its conditions; a leaf that lacks one
        condition is reached where that is met.
        """
        k, (m, states) = len(here), self.region.shape
        met, unmet = self.count_unmet(here)
        lacking = unmet[:, self.leaves.leaf]  # (k, conditions)
        item, at = np.nonzero((lacking == 0) | ((lacking == 1) & ~met))
        kind, gain = self.kind[at], self.leaves.values[self.leaves.leaf[at]]
        owner = item * m + self.variable[kind]
        change = np.zeros(k * m * (states + 1))
        for end, sign in ((self.start, gain), (self.stop, -gain)):
            change += np.bincount(owner * (states + 1) + end[kind], sign, len(change))
        table: Numbers = np.cumsum(change.reshape(k, m, -1), axis=2)[:, :, :states]
        table[:, :, -1] += np.bincount(owner, gain * (self.last[kind] > 0), k * m).reshape(k, m)
        lost = lacking[item, at] == 0
        table -= np.bincount(owner[lost], gain[lost], k * m).reshape(k, m, 1)
        table += ((unmet == 0) @ self.leaves.values + self.leaves.total.constant)[:, None, None]
        return table

    def search(self, deadline: Deadline, keep: Callable[[Bools], Bools] | None = None) -> SearchOutcome:
        """Branch on base variables until the output is certainly negative or a positive one is found.

        `keep` says which regions hold inputs that count; all, if it is not given.
        """
        stack = [(self.region[None], np.array([np.inf]))]
        closed, best, states, turn = -np.inf, -np.inf, None, 0
        while stack and best <= 0 and not deadline.passed:
            regions, uppers = stack.pop()
            if len(regions) > self.batch:
                stack.append((regions[: -self.batch], uppers[: -self.batch]))
                regions = regions[-self.batch :]
            if keep is not None:
                regions = regions[keep(regions)]
            if not len(regions):
                continue
            upper, leaves = self.bound_regions(regions)
            tried = self.space.maximise_effects(self._support(leaves), regions)[1]
            outputs = self.outputs(tried)
            single = regions.sum(axis=(1, 2)) == self.space.count
            known = single.copy()
            close = np.flatnonzero(~single & (np.abs(upper) <= self.leaves.total.tolerance))
            if len(close):
                known[close] = self.constant(regions[close])
            # of one input the model itself was asked, and so it was of all that are decided like it
            upper = np.where(known, outputs, upper + self.leaves.total.tolerance)
            highest = int(outputs.argmax())
            reached, heights = tried[[highest]], outputs[[highest]]
            turn += 1
            if heights[0] > 0 or turn.bit_count() == 1:  # local search is for the first of ever more batches
                reached, heights = climb(self, self.region, reached)
            if heights[0] > best:
                best, states = float(heights[0]), reached[0]
            settled = (upper < 0) | single
            closed = max(closed, upper[settled].max(initial=-np.inf))
            rest = np.flatnonzero(~settled)
            rest = rest[np.argsort(upper[rest], kind="stable")]
            if len(rest):
                stack.append(self._split(regions[rest], leaves[:, rest], upper[rest]))
        waiting = max((float(uppers.max()) for _, uppers in stack), default=-np.inf)
        return SearchOutcome(max(closed, waiting), best, states, not stack)

    def _expand(self, leaves: States) -> tuple[NDArray[np.intp], NDArray[np.intp], Vector]:
        """The conditions of leaves, (trees, k): for each its region, its kind, and the weight of its tree."""
        spread = np.maximum.reduceat(self.leaves.values, self.leaves.starts)
        spread = spread - np.minimum.reduceat(self.leaves.values, self.leaves.starts)
        chosen = leaves.T.reshape(-1)  # (k·trees,)
        counts = self.first[chosen + 1] - self.first[chosen]
        places = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        kinds = self.kind[np.repeat(self.first[chosen], counts) + places]
        pairs = np.repeat(np.arange(len(chosen)), counts)
        return pairs // len(leaves), kinds, spread[pairs % len(leaves)]

    def _support(self, leaves: States) -> Numbers:
        """The weight of the given leaves, (trees, k), that each state of each base variable leads to."""
        states = self.region.shape[1]
        region, kind, weight = self._expand(leaves)
        change: Numbers = np.zeros((leaves.shape[1], self.space.count, states + 1))
        variable, last = self.variable[kind], weight * self.last[kind]
        for place, sign in ((self.start[kind], weight), (self.stop[kind], -weight)):
            np.add.at(change, (region, variable, place), sign)
        np.add.at(change, (region, variable, states - 1), last)
        support: Numbers = np.cumsum(change, axis=2)[:, :, :states]
        return support

    def _split(self, regions: Bools, leaves: States, upper: Vector) -> tuple[Bools, Vector]:
        """Split each region by the condition that most weight of its highest leaves depends on."""
        region, kind, weight = self._expand(leaves)
        meeting, allowed = self.count_states(regions)
        open_ = meeting[region, kind] < allowed[region, kind]
        codes, place = np.unique(region[open_] * len(self.variable) + kind[open_], return_inverse=True)
        totals = np.bincount(place.reshape(-1), weight[open_], minlength=len(codes))
        owner = codes // max(len(self.variable), 1)
        order = np.lexsort((-totals, owner))
        owners, first = np.unique(owner[order], return_index=True)
        variable, passing = self._halves(regions)
        chosen = codes[order[first]] % max(len(self.variable), 1)
        variable[owners] = self.variable[chosen]
        places = np.arange(regions.shape[2])
        passing[owners] = (places >= self.start[chosen, None]) & (places < self.stop[chosen, None])
        passing[owners, -1] = self.last[chosen] > 0
        rows = np.arange(len(regions))
        parts = [regions.copy(), regions.copy()]
        parts[0][rows, variable] &= passing
        parts[1][rows, variable] &= ~passing
        both = np.stack(parts, axis=1).reshape(-1, *regions.shape[1:])
        return self.space.propagate_groups(both), np.repeat(upper, 2)

    def _halves(self, regions: Bools) -> tuple[States, Bools]:
        """For each region its base variable with the most states, and the first half of them."""
        sizes = regions.sum(axis=2)
        variable: States = sizes.argmax(axis=1)
        own = regions[np.arange(len(regions)), variable]
        return variable, own & (np.cumsum(own, axis=1) <= sizes.max(axis=1)[:, None] // 2)


ReachedLeaves: TypeAlias = list[tuple[int, dict[int, int]]]
"""The leaves of a tree, each with the states that lead there, by base variable; see `NodeSplits`."""


class ChangeForest(Forest):
    """The change of the output of trees between two states of a column, as a function of the others.

    An input is positive where the model itself loses the class. `sides` are the trees at the higher
    state, positive where the class is behind, and at the lower one, positive where it leads; where the
    change is known, regions are split by what these depend on.
    """

    sides: tuple[Forest, ...] = ()

    def outputs(self, states: States) -> Vector:
        """A positive number for each input at which the class is lost, a negative one for the others."""
        return np.where(self.decide(states), 1, -1) * self.leaves.total.tolerance

    def constant(self, regions: Bools) -> Bools:
        """Whether no tree changes its number at any input of each region, (k,)."""
        changes = self.reached(regions) & (self.leaves.kinds > 0)[:, None]
        changed: Bools = np.logical_or.reduce(changes, axis=0)
        return ~changed

    def may_lose(self, regions: Bools) -> Bools:
        """Which regions may still hold a counterexample, by the bounds of both sides, (k,)."""
        bounds = [side.bound_regions(regions)[0] >= -side.leaves.total.tolerance for side in self.sides]
        possible: Bools = np.logical_and.reduce(bounds)
        return possible

    def _split(self, regions: Bools, leaves: States, upper: Vector) -> tuple[Bools, Vector]:
        region, kind, _ = self._expand(leaves)
        meeting, allowed = self.count_states(regions)
        depends = np.zeros(len(regions), np.bool_)
        depends[region[meeting[region, kind] < allowed[region, kind]]] = True
        parts = [super()._split(regions[depends], leaves[:, depends], upper[depends])]
        rest = regions[~depends]
        bounds = [side.bound_regions(rest) for side in self.sides]
        looser = np.argmax([highest for highest, _ in bounds], axis=0)
        for number, (side, (_, own)) in enumerate(zip(self.sides, bounds, strict=True)):
            chosen = looser == number
            parts.append(side._split(rest[chosen], own[:, chosen], upper[~depends][chosen]))
        split, uppers = (np.concatenate(each) for each in zip(*parts, strict=True))
        return split, uppers


def compare_states(
    ensemble: TreeEnsemble,
    leaves_of: Sequence[ReachedLeaves],
    splits: NodeSplits,
    column: int,
    pair: tuple[int, int],
    is_lost: Callable[[States], Bools],
) -> ChangeForest | None:
    """Compare two states of a column by the change of the output; None if no tree changes.

    Parameters
    ----------
    ensemble
        Trees that are positive where the class is behind.
    leaves_of
        The leaves of each tree, see `iterate_leaves`.
    splits
        Those of the inputs.
    column
        The column, as a base variable.
    pair
        The lower state and the higher one.
    is_lost
        For each input, whether the model decides for the class at the lower state and not at the higher.

    """
    trees = [
        [
            (float(tree.value[high] - tree.value[low]), int(tree.kind[high] != tree.kind[low]), sets)
            for low, high, sets in _pair_leaves(reached, splits, column, pair)
        ]
        for tree, reached in zip(ensemble.trees, leaves_of, strict=True)
    ]
    if not any(trees):
        return None
    total = ensemble.total
    change = Total(0.0, 2 * total.rounding + total.link.tolerance, total.link)  # either output may be off
    leaves = Leaves.build(filter(None, trees), splits.states, change)
    return ChangeForest(leaves, splits.space, is_lost)


def _pair_leaves(
    leaves: ReachedLeaves, splits: NodeSplits, column: int, pair: tuple[int, int]
) -> Iterator[tuple[int, int, dict[int, int]]]:
    """Yield the leaves that an input reaches at two states of a column, and the states of the others."""
    always: ReachedLeaves = []
    below: ReachedLeaves = []
    above: ReachedLeaves = []
    for node, masks in leaves:
        others = {name: mask for name, mask in masks.items() if name != column}
        low, high = ((masks.get(column, -1) >> state) & 1 for state in pair)
        if low or high:
            (always if low and high else below if low else above).append((node, others))
    if not below:
        return
    yield from ((node, node, masks) for node, masks in always)
    whole = splits.whole
    for (low, first), (high, second) in product(below, above):
        names = {**first, **second}
        both = {name: first.get(name, whole[name]) & second.get(name, whole[name]) for name in names}
        if all(both.values()):
            yield low, high, both
