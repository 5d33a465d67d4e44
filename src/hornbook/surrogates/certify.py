"""The best tree of one to four questions on labelled samples, over all candidate literals.

How far one class leads another where two literals are both true, for all pairs of literals at once, says of
every tree of two questions how much it decides rightly, and of those of three with one question on each side
of the first. Other trees ask one literal or two in a row, and then two more questions on one side: these are
found by branch and bound. What two questions decide rightly of some samples bounds what they do of others:
no more than that, and all samples that are not among them.

Rules of up to three literals for two classes, and of up to two for several, are no better than trees: such
rules decide as a tree of as many questions does. Four literals may be better in rules (`a ∧ b`, or `c ∧ d`).

References
----------
E. Demirović and others. MurTree: optimal decision trees via dynamic programming and search. JMLR 23, 2022
(counts of pairs, and bounds by similar sets of samples).

"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.explanations import Split
from hornbook.explanations.tree import Node, map_questions
from hornbook.logic import Bools
from hornbook.surrogates.grid import CodedRows, Floats, Ints

Singles: TypeAlias = NDArray[np.float32]

Plan: TypeAlias = tuple[tuple[tuple[int, int, int], ...], int]
"""A tree by its questions in a row, and how many follow after them. A question is the place of a literal, the
side that the row goes on (0 where the literal is true), and how many are asked on the other side."""

QUICK_WORK, FULL_WORK = 4e8, 1e11
"""About how many nanoseconds trees are sought, by default and at most."""

LEAST_GAIN = 1e-5
"""The share of all samples by which a tree is better at the least: sums are rounded."""

MOST_CERTIFIED = 4
"""The most literals of an explanation of which it is said how far it is from the best."""


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
    """The best tree found so far, and how much work there may still be to find a better one.

    `true` says which literals are true, shape (samples, literals); `weights` has the weight of each sample in
    the column of its class; `right` is what the best tree decides rightly. It is known already if it has no
    `plan`.
    """

    true: Bools
    weights: Singles
    work: float
    right: float = 0.0
    plan: Plan | None = None

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

    def offer(self, right: float, plan: Plan | None) -> None:
        """Keep a tree if it is better than what is known."""
        if self.improves(right):
            self.right, self.plan = right, plan

    def ask_in_a_row(self, part: Ints, counts: Counts, rest: Singles, most: Singles, first: Plan) -> float:
        """Ask a literal of some samples, and two more questions on one side of it, as well as possible.

        Parameters
        ----------
        part, counts
            The numbers of the samples, and their counts.
        rest
            What is decided rightly on the other side of each literal, and by other samples, (2, literals).
        most
            The most that two questions decide rightly on each side of a literal, (2, literals). It is
            lowered where more is found out.
        first
            The questions before it, and how many are asked on its other side.

        Returns
        -------
        The most that such a tree decides rightly.

        """
        sizes = counts.sides.sum(axis=1)
        done = np.zeros(most.shape, np.bool_)
        while self.work > 0:
            reach = np.where(done, 0.0, most + rest)
            place = int(reach.max(axis=0).argmax())
            if not self.improves(float(reach[:, place].max())):
                break
            true = self.true[part, place]
            smaller = int(2 * true.sum() > len(true))
            fewer = self.count(part[true != bool(smaller)])
            for side, own in ((smaller, fewer), (1 - smaller, counts.without(fewer))):
                done[side, place] = True
                right = float(own.rows_of_two.max())
                similar = right + np.maximum(sizes[side] - sizes[side, place], 0)
                np.minimum(most[side], similar, out=most[side], where=self.nested[place])
                self.offer(right + float(rest[side, place]), ((*first[0], (place, side, first[1])), 2))
        return float((most + rest).max())

    def ask_two_in_a_row(self, counts: Counts, most: Singles, three: float) -> float:
        """Ask a literal of all samples, and three more questions on one side of it, as well as possible.

        `counts` and `most` are those of all samples; `three` is the most that three questions decide rightly.
        Returns the most that such a tree does.
        """
        both = np.stack([self.true.T @ (self.true * own[:, None]) for own in self.weights.T])
        true, whole = counts.true[:, :, None], counts.whole[:, None, None]
        yes = np.stack([both, true - both], axis=2)  # (classes, literals, 2, literals)
        no = np.stack([counts.true[:, None], whole - counts.true[:, None]], axis=2) - yes
        leaves, sizes = (np.stack([yes, no], axis=1).max(axis=0), np.stack([yes, no], axis=1).sum(axis=0))
        pairs = np.minimum(sizes, np.minimum(most[:, :, None, None], most))  # (2, literals, 2, literals)
        ones = counts.sides.sum(
            axis=1
        )  # the most that a literal and one question on each side decide rightly
        bound, last = 0.0, (0, 0)
        for side, place in np.ndindex(*most.shape):
            here, outside = (side, place), float(counts.leaves[1 - side, place])
            rest, own = leaves[here][::-1] + outside, np.minimum(pairs[here], pairs[:, :, side, place])
            if side == last[0] and self.nested[last[1], place]:
                grown = np.maximum(sizes[here] - sizes[last], 0)
                own = np.minimum(own, pairs[last] + grown)
                ones[here] = min(ones[here], ones[last] + grown.sum(axis=0).max())
            reach = min(outside + three, max(float((own + rest).max()), float(ones[here]) + outside))
            if self.work > 0 and self.improves(reach):
                part, last = np.flatnonzero(self.true[:, place] != bool(side)), here
                inside, before = self.count(part), ((place, side, 0),)
                each = inside.splits.sum(axis=0)
                ones[here] = each.max()
                self.offer(float(ones[here]) + outside, ((*before, (int(each.argmax()), 0, 1)), 1))
                row = self.ask_in_a_row(part, inside, rest, own, (before, 0))
                reach = max(row, float(ones[here]) + outside)
            pairs[here] = pairs[:, :, side, place] = own
            bound = max(bound, reach)
        return bound

    def build(self, part: Ints, plan: Plan) -> Node[int]:
        """The best tree of some samples that follows a plan, with the places of literals."""
        row, last = plan
        if row:
            (place, side, elsewhere), *later = row
            chosen = self.true[part, place] != bool(side)
            nodes = self.build(part[chosen], (tuple(later), last)), self.build(part[~chosen], ((), elsewhere))
            yes, no = nodes[::-1] if side else nodes
            return yes if yes == no else Split(place, yes, no)
        if not last or not len(part):
            return int(self.weights[part].sum(axis=0).argmax())
        counts = self.count(part)
        right = counts.rows_of_two if last > 1 else counts.leaves.sum(axis=0)[None]
        best = np.unravel_index(right.argmax(), right.shape)
        return self.build(part, (((int(best[1]), int(best[0]), 0),), last - 1))


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
    rows: CodedRows, weights: Floats, known: tuple[float, float] = (0.0, 0.0), work: float = QUICK_WORK
) -> Iterator[Optimum]:
    """Find the best trees of one to four questions; of three and four as far as the work suffices.

    `weights` has the weight of each sample in the column of its class, shape (samples, classes); `known` the
    weights that known trees of up to three and of up to four questions decide rightly; `work` is in about
    nanoseconds.
    """
    literals = list_candidates(rows, weights)
    classes = weights.shape[1]
    if not len(literals) or measure_work(len(rows), len(literals), classes * (classes - 1) // 2) > work:
        return
    true = np.stack([rows.where_true(literal) for literal in literals.tolist()], axis=1)
    search, everyone = TreeSearch(true, weights.astype(np.float32), work), np.arange(len(rows))

    def name(questions: int, bound: float) -> Optimum:
        tree = None
        if search.plan is not None:
            built = search.build(everyone, search.plan)
            tree = map_questions(built, lambda place: int(literals[place]))
        return Optimum(questions, bound if search.improves(bound) else search.right, search.right, tree)

    counts = search.count(everyone)
    for questions, right in ((1, counts.leaves.sum(axis=0)), (2, counts.rows_of_two)):
        search.offer(float(right.max()), ((), questions))
        yield name(questions, 0.0)
    each = counts.splits.sum(axis=0)
    search.offer(known[0], None)
    search.offer(float(each.max()), (((int(each.argmax()), 0, 1),), 1))
    most = np.minimum(counts.sides.sum(axis=1), counts.rows_of_two.max())
    three = max(search.ask_in_a_row(everyone, counts, counts.leaves[::-1], most, ((), 0)), search.right)
    yield name(3, three)
    if search.work > 0:
        search.offer(known[1], None)
        bound = search.ask_in_a_row(everyone, counts, counts.splits[::-1], most, ((), 1))
        yield name(4, max(bound, search.ask_two_in_a_row(counts, most, three)))
