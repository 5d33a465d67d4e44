"""Learns decision trees from labelled rows: of every size, and the best there are of one to three questions.

A tree is grown with the literal at each node that leaves classes purest. Of each node the search
keeps the weight that its best subtree gets right for every number of splits, so one growth gives
the best pruning of each size. Then the tree of each size is improved as a whole: at every node the
literal is exchanged for the one that sends most samples to a side where they are decided rightly.

How far one class leads another where two literals are both true, for all pairs of literals at once, says of
every tree of two questions how much it decides rightly, and of those of three with one question on each side
of the first. Other trees of three ask a literal, and then two more questions on one side of it: these are
found by branch and bound. What two questions decide rightly of some samples bounds what they do of others:
no more than that, and all samples that are not among them.

Rules of up to three literals for two classes, and of up to two for several, are no better than trees: such
rules decide as a tree of as many questions does. Four literals may be better in rules (`a ∧ b`, or `c ∧ d`).

References
----------
L. Breiman, J. Friedman, R. Olshen, C. Stone. Classification and Regression Trees. 1984 (splits).
M. Bohanec, I. Bratko. Trading Accuracy for Simplicity in Decision Trees. Machine Learning, 1994
(the best pruning for every size).
M. Carreira-Perpiñán, P. Tavallali. Alternating Optimization of Decision Trees, with Application to
Learning Sparse Oblique Trees. NeurIPS 2018 (exchanging one question at a time).
E. Demirović and others. MurTree: optimal decision trees via dynamic programming and search. JMLR 23, 2022
(counts of pairs, and bounds by similar sets of samples).

"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.explanations import Split
from hornbook.explanations.tree import Node, decide_rows, map_questions
from hornbook.logic import Bools
from hornbook.surrogates.grid import EXCHANGE_SAMPLES, CodedRows, Floats, Ints

Singles: TypeAlias = NDArray[np.float32]

LEAST_SHARE = 1 / 1000
"""The least share of the weight that a node is split for."""

MAX_DEPTH = 40
"""The most questions one after the other."""

MAX_ROOTS = 3
"""Columns that a tree may begin with, besides which nothing else is tried."""

IMPROVEMENT_ROUNDS = 8
"""How often every question of a tree may be exchanged."""

QUICK_WORK, FULL_WORK = 4e8, 1e11
"""About how many nanoseconds trees are sought, by default and at most."""

LEAST_GAIN = 1e-5
"""The share of all samples by which a tree is better at the least: sums are rounded."""


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


@dataclass(frozen=True)
class Optimum:
    """The most that any tree with `questions` questions decides rightly, and the best tree found.

    `tree` is None if none was found that is better than what is known.
    """

    questions: int
    bound: float
    right: float
    tree: Node[int] | None


@dataclass(frozen=True, eq=False)
class Counts:
    """The weights of some samples where literals are true.

    `leads` is how much heavier one class is than another where two literals are both true, shape (pairs of
    classes, literals, literals); `true` the weight where one is, (classes, literals); `whole` that of all.
    """

    leads: Singles
    true: Singles
    whole: Singles

    def without(self, others: Counts) -> Counts:
        """The counts of the samples that are not among some others."""
        return Counts(self.leads - others.leads, self.true - others.true, self.whole - others.whole)

    @cached_property
    def sides(self) -> Singles:
        """The weight of each class where a literal is true, and where it is not, (2, classes, literals)."""
        return np.stack([self.true, self.whole[:, None] - self.true])

    @cached_property
    def leaves(self) -> Singles:
        """What one class decides rightly on each side of a literal, (2, literals)."""
        most: Singles = self.sides.max(axis=1)
        return most

    @cached_property
    def splits(self) -> Singles:
        """What one more question at best decides rightly on each side of a literal, (2, literals)."""
        one, other = np.triu_indices(len(self.whole), 1)
        no = (self.true[one] - self.true[other])[:, None] - self.leads
        best = []
        for side, leads in zip(self.sides, (self.leads, no), strict=True):
            right = np.maximum(side[other] + leads.max(axis=2), side[one] - leads.min(axis=2))
            best.append(right.max(axis=0))
        return np.stack(best)

    @cached_property
    def rows_of_two(self) -> Singles:
        """What a literal and one more question on a side of it at best decide rightly, (2, literals)."""
        return self.splits + self.leaves[::-1]


@dataclass(eq=False)
class TreeSearch:
    """The best tree of three questions found so far, and how much work there may still be for a better one.

    `true` says which literals are true, shape (samples, literals); `weights` has the weight of each sample in
    the column of its class; `right` is what the best tree decides rightly. `first` is how it begins: the
    place of a literal, and how many questions follow where it is true and where it is not; None if it is
    known already.
    """

    true: Bools
    weights: Singles
    work: float
    right: float = 0.0
    first: tuple[int, int, int] | None = None

    @cached_property
    def nested(self) -> Bools:
        """Whether one of two literals is true wherever the other is, shape (literals, literals)."""
        true = self.true.astype(np.float32)
        is_nested: Bools = true.T @ true == np.minimum(true.sum(axis=0), true.sum(axis=0)[:, None])
        return is_nested

    def count(self, part: Ints) -> Counts:
        """Count some samples."""
        true, weights = self.true[part].astype(np.float32), self.weights[part]
        one, other = np.triu_indices(weights.shape[1], 1)
        leads = [true.T @ (true * own[:, None]) for own in (weights[:, one] - weights[:, other]).T]
        self.work -= measure_work(len(part), true.shape[1], len(leads))
        return Counts(np.stack(leads), weights.T @ true, weights.sum(axis=0))

    def improves(self, right: float) -> bool:
        """Whether a tree that decides so much rightly is better than the best one."""
        return right > self.right + LEAST_GAIN * float(self.weights.sum())

    def offer(self, right: float, first: tuple[int, int, int] | None) -> None:
        """Keep a tree if it is better than what is known."""
        if self.improves(right):
            self.right, self.first = right, first

    def ask_in_a_row(self, everyone: Ints, counts: Counts) -> float:
        """Ask a literal, and two more questions on one side of it, as well as possible.

        Returns the most that such a tree decides rightly.
        """
        sizes, rest = counts.sides.sum(axis=1), counts.leaves[::-1]  # (2, literals)
        most = np.minimum(sizes, counts.rows_of_two.max())  # what two questions decide rightly on each side
        done = np.zeros(most.shape, np.bool_)
        while self.work > 0:
            reach = np.where(done, 0.0, most + rest)
            place = int(reach.max(axis=0).argmax())
            if not self.improves(float(reach[:, place].max())):
                break
            true = self.true[:, place]
            smaller = int(2 * true.sum() > len(true))
            fewer = self.count(everyone[true != bool(smaller)])
            for side, own in ((smaller, fewer), (1 - smaller, counts.without(fewer))):
                done[side, place] = True
                right = float(own.rows_of_two.max())
                similar = right + np.maximum(sizes[side] - sizes[side, place], 0)
                np.minimum(most[side], similar, out=most[side], where=self.nested[place])
                self.offer(right + float(rest[side, place]), (place, 2 * (1 - side), 2 * side))
        return float((most + rest).max())

    def build(self, part: Ints, questions: int, first: tuple[int, int, int] | None = None) -> Node[int]:
        """The best tree of up to two questions of some samples, or the one that begins so."""
        if first is None:
            if not questions or not len(part):
                return int(self.weights[part].sum(axis=0).argmax())
            counts = self.count(part)
            right = counts.rows_of_two if questions > 1 else counts.leaves.sum(axis=0)[None]
            side, place = np.unravel_index(right.argmax(), right.shape)
            first = int(place), (questions - 1) * (1 - int(side)), (questions - 1) * int(side)
        asked, *below = first
        true = self.true[part, asked]
        yes, no = (self.build(part[side], left) for side, left in zip((true, ~true), below, strict=True))
        return yes if yes == no else Split(asked, yes, no)


def measure_work(samples: int, literals: int, pairs: int) -> float:
    """About how many nanoseconds it takes to count samples, and to look at all pairs of literals."""
    return 4.0 * samples * literals + pairs * literals**2 * (0.015 * samples + 10.0)


def list_candidates(rows: CodedRows, weights: Floats) -> Ints:
    """The literals that tell samples apart, one of two that are each other's negation."""
    true, whole = rows.sum_true(weights.sum(axis=1)), weights.sum()
    missing = np.zeros(len(rows.grid.columns), np.bool_)
    negated = np.arange(len(true)) % 2 == 1  # each literal is followed by its negation
    missing[rows.grid.column_of[rows.grid.is_missing & ~negated & (true > 0)]] = True
    kept: Ints = np.flatnonzero((true > 0) & (true < whole) & (~negated | missing[rows.grid.column_of]))
    return kept


def find_best_trees(
    rows: CodedRows, weights: Floats, known: float = 0.0, work: float = QUICK_WORK
) -> Iterator[Optimum]:
    """Find the best trees of one, two and three questions; of three as far as the work suffices.

    `weights` has the weight of each sample in the column of its class, shape (samples, classes); `known` is
    the weight that a known tree of up to three questions decides rightly; `work` is in about nanoseconds.
    """
    literals = list_candidates(rows, weights)
    classes = weights.shape[1]
    if not len(literals) or measure_work(len(rows), len(literals), classes * (classes - 1) // 2) > work:
        return
    true = np.stack([rows.where_true(literal) for literal in literals.tolist()], axis=1)
    search, everyone = TreeSearch(true, weights.astype(np.float32), work), np.arange(len(rows))

    def name(root: Node[int]) -> Node[int]:
        return map_questions(root, lambda place: int(literals[place]))

    counts, asked = search.count(everyone), 0
    for questions, each in ((1, counts.leaves.sum(axis=0)), (2, counts.rows_of_two)):
        if search.improves(float(each.max())):
            search.right, asked = float(each.max()), questions
        yield Optimum(questions, search.right, search.right, name(search.build(everyone, asked)))
    each = counts.splits.sum(axis=0)
    search.offer(known, None)
    search.offer(float(each.max()), (int(each.argmax()), 1, 1))
    bound = search.ask_in_a_row(everyone, counts)
    tree = None if search.first is None else name(search.build(everyone, 3, search.first))
    yield Optimum(3, bound if search.improves(bound) else search.right, search.right, tree)
