"""Learns decision trees of every size from labelled rows.

A tree is grown with the literal at each node that leaves classes purest. Of each node the search
keeps the weight that its best subtree gets right for every number of splits, so one growth gives
the best pruning of each size. Then the tree of each size is improved as a whole: at every node the
literal is exchanged for the one that sends most samples to a side where they are decided rightly.

References
----------
L. Breiman, J. Friedman, R. Olshen, C. Stone. Classification and Regression Trees. 1984 (splits).
M. Bohanec, I. Bratko. Trading Accuracy for Simplicity in Decision Trees. Machine Learning, 1994
(the best pruning for every size).
M. Carreira-Perpiñán, P. Tavallali. Alternating Optimization of Decision Trees, with Application to
Learning Sparse Oblique Trees. NeurIPS 2018 (exchanging one question at a time).

"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from hornbook.explanations import Split
from hornbook.explanations.tree import Node, decide_rows
from hornbook.surrogates.grid import EXCHANGE_SAMPLES, CodedRows, Floats, Ints

LEAST_SHARE = 1 / 1000
"""The least share of the weight that a node is split for."""

MAX_DEPTH = 40
"""The most questions one after the other."""

MAX_ROOTS = 3
"""Columns that a tree may begin with, besides which nothing else is tried."""

IMPROVEMENT_ROUNDS = 8
"""How often every question of a tree may be exchanged."""


@dataclass(frozen=True)
class Growth:
    """A node, and for each number of splits below it the best subtree.

    Attributes
    ----------
    outcome
        The commonest class.
    right
        The weight that the best subtree with each number of splits gets right, shape (splits + 1,).
    yes_splits
        How many further splits the yes side then has, shape (splits + 1,).

    """

    outcome: int
    right: Floats
    yes_splits: Ints
    literal: int = -1
    yes: Growth | None = None
    no: Growth | None = None

    def prune(self, splits: int) -> Node[int]:
        """The best subtree with up to `splits` splits, the smallest of equals."""
        size = int(self.right[: splits + 1].argmax())
        if not size or self.yes is None or self.no is None:
            return self.outcome
        share = int(self.yes_splits[size])
        return Split(self.literal, self.yes.prune(share), self.no.prune(size - 1 - share))


def grow_tree(rows: CodedRows, weights: Floats, max_splits: int, first: int | None = None) -> Growth:
    """The greedy tree over weighted rows, with the best pruning for every size.

    Parameters
    ----------
    rows
        The samples.
    weights
        The weight of each sample in the column of its class, shape (samples, classes).
    max_splits
        The largest size of interest.
    first
        A literal that the root has to ask; else the purest.

    """
    least = LEAST_SHARE * weights.sum()

    def grow(
        rows: CodedRows, weights: Floats, fill: Callable[[], Floats], depth: int, chosen: int | None = None
    ) -> Growth:
        totals = weights.sum(axis=0)
        outcome, whole = int(totals.argmax()), float(totals.sum())
        leaf = Growth(outcome, totals[outcome][None], np.zeros(1, np.intp))
        if not depth or whole < least or whole - totals[outcome] <= 1e-9 * whole:
            return leaf
        if chosen is None:
            gains = purity_gains(rows.grid.sum_bins(fill()), totals)
            chosen = int(gains.argmax())
            if gains[chosen] <= 1e-9 * whole:
                return leaf
        true = rows.where_true(chosen)
        sides = [np.flatnonzero(side) for side in (true, ~true)]
        parts = [(rows.take(side), weights.take(side, axis=0)) for side in sides]
        smaller = min(parts, key=lambda part: len(part[0]))
        # only the smaller side is counted, and only if it or the other one is split
        fill_smaller = cache(lambda: smaller[0].fill_bins(smaller[1]))
        fill_larger = cache(lambda: fill() - fill_smaller())
        yes, no = (grow(*part, fill_smaller if part is smaller else fill_larger, depth - 1) for part in parts)
        return _join(leaf, chosen, yes, no, max_splits)

    return grow(rows, weights, cache(lambda: rows.fill_bins(weights)), min(max_splits, MAX_DEPTH), first)


def purity_gains(true: Floats, totals: Floats) -> Floats:
    """How much purer classes are on both sides of each literal (Gini impurity times weight)."""
    gains: Floats = _squares(true) + _squares(totals - true) - _squares(totals[None])
    return gains


def _squares(weights: Floats) -> Floats:
    own = np.ascontiguousarray(weights.T)  # (classes, literals): sums over few classes are fast this way
    squares: Floats = (own**2).sum(axis=0) / np.maximum(own.sum(axis=0), 1e-12)
    return squares


def _join(leaf: Growth, literal: int, yes: Growth, no: Growth, max_splits: int) -> Growth:
    length = 1 + min(max_splits, len(yes.right) + len(no.right) - 1)
    right, yes_splits = np.full(length, -np.inf), np.zeros(length, np.intp)
    right[0] = leaf.right[0]
    for share, own in enumerate(yes.right[: length - 1].tolist()):
        both = own + no.right[: length - 1 - share]
        at = slice(share + 1, share + 1 + len(both))
        better = both > right[at]
        right[at][better], yes_splits[at][better] = both[better], share
    return Growth(leaf.outcome, right, yes_splits, literal, yes, no)


def improve_tree(root: Node[int], rows: CodedRows, weights: Floats) -> Node[int]:
    """The tree after exchanging questions, one at a time, as long as more weight is decided rightly."""
    for _ in range(IMPROVEMENT_ROUNDS):
        improved = _improve_node(root, rows, weights)
        if improved == root:
            break
        root = improved
    return root


def _improve_node(node: Node[int], rows: CodedRows, weights: Floats) -> Node[int]:
    if not isinstance(node, Split) or not len(rows):
        return int(weights.sum(axis=0).argmax()) if len(rows) else (0 if isinstance(node, Split) else node)
    everyone = np.arange(len(rows))
    right_yes, right_no = (
        weights[everyone, decide_rows(side, rows.where_true, len(rows))] for side in (node.yes, node.no)
    )
    gain = right_yes - right_no
    matters = np.flatnonzero(gain)
    sums = rows.take(matters).sum_true(gain[matters])
    best = int(sums.argmax())
    literal = best if sums[best] > sums[node.question] + 1e-9 else node.question
    true = rows.where_true(literal)
    sides = [np.flatnonzero(side) for side in (true, ~true)]
    yes, no = (
        _improve_node(child, rows.take(side), weights[side])
        for child, side in zip((node.yes, node.no), sides, strict=True)
    )
    if not len(sides[0]):
        return no
    if not len(sides[1]) or yes == no:
        return yes
    return Split(literal, yes, no)


def fit_trees(rows: CodedRows, weights: Floats, sizes: tuple[int, ...]) -> Iterator[Node[int]]:
    """Trees of questions over literals of the grid: the best tree for each of the sizes.

    Besides the greedy tree there are some that begin with another column: which of them is best
    at a size is decided after their improvement.
    """
    gains = purity_gains(rows.sum_true(weights), weights.sum(axis=0))
    order = np.argsort(-gains, kind="stable")
    _, firsts = np.unique(rows.grid.column_of[order], return_index=True)
    roots = [int(order[at]) for at in np.sort(firsts)[:MAX_ROOTS] if gains[order[at]] > 0]
    growths = [grow_tree(rows, weights, max(sizes), root) for root in roots]
    some, own = rows.first(EXCHANGE_SAMPLES), weights[:EXCHANGE_SAMPLES]
    everyone = np.arange(len(some))
    seen = set()
    for size in sizes:
        best, most = None, -np.inf
        for growth in growths:
            root = improve_tree(growth.prune(size), some, own)
            right = float(own[everyone, decide_rows(root, some.where_true, len(some))].sum())
            if right > most:
                best, most = root, right
        if isinstance(best, Split) and best not in seen:
            seen.add(best)
            yield best
