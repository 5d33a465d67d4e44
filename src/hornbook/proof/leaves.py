"""The leaves of trees, and the inputs that reach each of them.

`Leaves` lists the leaves of all trees: the states of the base variables that lead to each, and the
number that it adds to the output. The output N is the sum over the trees minus the threshold: apart
from rounding, the model decides for its positive class where N is at least 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import Bools
from hornbook.proof.ensembles import TreeEnsemble, TreeNodes
from hornbook.proof.network import ScoreLink, Vector
from hornbook.proof.region import InputSpace

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
    constant
        The constant part of the output.
    rounding
        A bound on the rounding error of the model's own sum.
    link
        The relation between the output and the model's score.
    counts_votes
        Whether each leaf is of one class, and the model's own sum is a number of votes.
    compares_shares
        Whether the model compares shares of two classes among several; see `TreeEnsemble`.

    """

    leaf: NDArray[np.intp]
    conditions: NDArray[np.intp]
    values: Vector
    kinds: NDArray[np.intp]
    starts: NDArray[np.intp]
    constant: float
    rounding: float
    link: ScoreLink
    counts_votes: bool = False
    compares_shares: bool = False

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
        return cls.build(
            trees,
            splits.states,
            constant=ensemble.constant,
            rounding=ensemble.rounding,
            link=ensemble.link,
            counts_votes=ensemble.counts_votes,
            compares_shares=ensemble.compares_shares,
        )

    @classmethod
    def build(cls, trees: Iterable[list[Leaf]], states: int, **settings: Any) -> Leaves:
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
            **settings,
        )

    @property
    def tolerance(self) -> float:
        """A bound on the output where the model's decision changes."""
        return self.rounding + self.link.tolerance

    @property
    def tree(self) -> NDArray[np.intp]:
        """The tree of each leaf, (leaves,)."""
        return np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(self.values)]))

    def negate(self) -> Leaves:
        """The leaves with the opposite output."""
        return replace(self, values=-self.values, constant=-self.constant)

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
