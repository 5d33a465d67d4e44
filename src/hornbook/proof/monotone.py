"""Proofs that more of a column never takes trees away from a class.

Cells of a column that lie side by side are compared. Only trees with a threshold between the two
change their number, so the change of the output is a sum over pairs of leaves: the one that a row
reaches with the lower cell, and the one that it reaches with the higher one. Rows are left alone where
that change does not favour another class, where the class does not lead at the lower cell, and where
it still leads at the higher one; about single rows the model itself is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from hornbook.logic import Bools
from hornbook.proof.ensembles import TreeEnsemble
from hornbook.proof.network import Vector
from hornbook.proof.region import States
from hornbook.proof.trees import Forest, Leaves, NodeSplits, list_ranges

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
        return np.where(self.decide(states), 1, -1) * self.leaves.tolerance

    def constant(self, regions: Bools) -> Bools:
        """Whether no tree changes its number at any input of each region, (k,)."""
        changes = self.reached(regions) & (self.leaves.kinds > 0)[:, None]
        changed: Bools = np.logical_or.reduce(changes, axis=0)
        return ~changed

    def may_lose(self, regions: Bools) -> Bools:
        """Whether the bounds of both sides leave open that the class is lost in each region, (k,)."""
        bounds = [side.bound_regions(regions)[0] >= -side.leaves.tolerance for side in self.sides]
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
    """The change of the output from one state of a column to another; None if no tree changes.

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
    leaf: list[int] = []
    conditions: list[tuple[int, ...]] = []
    values: list[float] = []
    kinds: list[int] = []
    starts: list[int] = []
    for tree, reached in zip(ensemble.trees, leaves_of, strict=True):
        own = list(_pair_leaves(reached, splits, column, pair))
        if not own:
            continue
        starts.append(len(values))
        for low, high, masks in own:
            for ranges in product(*(list_ranges(each, splits.states) for each in masks.values())):
                leaf += [len(values)] * len(masks)
                conditions += [(name, *each) for name, each in zip(masks, ranges, strict=True)]
                values.append(float(tree.value[high] - tree.value[low]))
                kinds.append(int(tree.kind[high] != tree.kind[low]))
    if not starts:
        return None
    leaves = Leaves(
        np.array(leaf, np.intp),
        np.array(conditions, np.intp).reshape(-1, 4),
        np.array(values),
        np.array(kinds, np.intp),
        np.array(starts, np.intp),
        0.0,
        2 * ensemble.rounding + ensemble.link.tolerance,  # either output may be off
        ensemble.link,
    )
    return ChangeForest(leaves, splits.space, is_lost)


def _pair_leaves(
    leaves: ReachedLeaves, splits: NodeSplits, column: int, pair: tuple[int, int]
) -> Iterator[tuple[int, int, dict[int, int]]]:
    """The leaves that an input reaches at two states of a column, and the states of the others for that."""
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
