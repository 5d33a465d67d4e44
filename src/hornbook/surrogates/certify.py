"""The best tree of one, two or three questions on labelled samples, over all candidate literals.

The weight of each class where two literals are both true, for all pairs at once, says of every tree of two
questions, and of three if both sides of the first ask one, how much it decides rightly. In a tree of three
questions in a row, the last two are the best tree of two for the samples that the first one leaves: for
each literal and side by branch and bound. A bound of one side bounds the others: a tree cannot decide more
rightly there than where it is best, and all samples that are not in both.

Rules of up to three literals for two classes, and of up to two for several, are no better than trees: such
rules decide as a tree of as many questions does.

References
----------
E. Demirović and others. MurTree: optimal decision trees via dynamic programming and search. JMLR 23, 2022
(counts of pairs, and bounds by similar sets of samples).

"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hornbook.explanations import Split
from hornbook.explanations.tree import Node
from hornbook.surrogates.grid import CodedRows, Floats, Ints

QUICK_WORK, FULL_WORK = 2.5e8, 1e11
"""About how many nanoseconds trees of three questions are sought, by default and to the end."""

MOST_CERTIFIED = 3
"""The most literals of an explanation of which it is said how far it is from the best."""


@dataclass(frozen=True)
class Optimum:
    """The most that any tree of so many questions decides rightly, and what the best one found does.

    `tree` is None if none was found that is better than what is known.
    """

    questions: int
    bound: float
    right: float
    tree: Node[int] | None


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The weight of each class in which two literals are both true, over samples.

    Parameters
    ----------
    literals
        The numbers of the literals.
    both
        The weights, shape (classes, literals, literals).
    total
        The weight of each class.

    """

    literals: Ints
    both: Floats
    total: Floats

    @classmethod
    def of(cls, rows: CodedRows, weights: Floats, literals: Ints) -> PairCounts:
        """Count the pairs of samples, given the weight of each in the column of its class."""
        from scipy.sparse import csr_matrix

        grid, count = rows.grid, len(rows.grid.columns)
        bins = np.stack([rows.column(place) + start for place, start in enumerate(grid.offsets[:-1])], axis=1)
        ends = np.arange(0, count * len(rows) + 1, count)
        shape = len(rows), int(grid.offsets[-1])
        ones = csr_matrix((np.ones(bins.size), bins.ravel(), ends), shape)
        both = []
        for own in weights.T:
            weighed = csr_matrix((np.repeat(own, count), bins.ravel(), ends), shape)
            once = grid.sum_bins((ones.T @ weighed).toarray())[literals]  # (literals, bins)
            both.append(grid.sum_bins(np.ascontiguousarray(once.T))[literals])
        return cls(literals, np.stack(both), weights.sum(axis=0))

    def without(self, others: PairCounts) -> PairCounts:
        """The counts of the samples that are not among some others."""
        return PairCounts(self.literals, self.both - others.both, self.total - others.total)

    @cached_property
    def true(self) -> Floats:
        """The weight of each class in which a literal is true, (classes, literals)."""
        return np.diagonal(self.both, axis1=1, axis2=2)

    @cached_property
    def leaves(self) -> Floats:
        """What one class decides rightly where a literal is true, and where it is false, (2, literals)."""
        return np.stack([self.true.max(axis=0), (self.total[:, None] - self.true).max(axis=0)])

    @cached_property
    def splits(self) -> tuple[Floats, Ints]:
        """What one more question at best decides rightly on each side of a literal, and where it stands."""
        best, places = [], []
        false = self.total[:, None] - self.true
        for whole, inside in ((self.true, self.both), (false, self.true[:, None, :] - self.both)):
            right = inside.max(axis=0) + (whole[:, :, None] - inside).max(axis=0)
            best.append(right.max(axis=1))
            places.append(right.argmax(axis=1))
        return np.stack(best), np.stack(places)

    def overlap(self, place: int) -> Floats:
        """The weight on each side of a literal, and on each side of each other one, (2, 2, literals)."""
        both, true, whole = self.both[:, place].sum(axis=0), self.true.sum(axis=0), self.total.sum()
        yes = np.stack([both, true[place] - both])
        return np.stack([yes, np.stack([true, whole - true]) - yes])

    def ask(self, place: int, yes: Node[int] | None = None, no: Node[int] | None = None) -> Node[int]:
        """A tree that begins with a literal; the commonest class on a side that is not given."""
        true = self.true[:, place]
        return join_sides(self.literals[place], yes, no, true, self.total - true)

    def split_side(self, side: int, place: int) -> Node[int]:
        """The best single question on a side of a literal."""
        other = int(self.splits[1][side, place])
        both, true = self.both[:, place, other], self.true[:, place]
        yes = self.true[:, other] - both if side else both
        whole = self.total - true if side else true
        return join_sides(self.literals[other], None, None, yes, whole - yes)

    def best_of_two(self) -> tuple[float, Node[int]]:
        """The best tree of up to two questions, and what it decides rightly."""
        right = self.splits[0] + self.leaves[::-1]
        side, place = np.unravel_index(right.argmax(), right.shape)
        asked = self.split_side(int(side), int(place))
        return float(right.max()), self.ask(int(place), *((None, asked) if side else (asked, None)))


def join_sides(
    literal: int, yes: Node[int] | None, no: Node[int] | None, yes_counts: Floats, no_counts: Floats
) -> Node[int]:
    """A question, with the commonest class on a side without a tree; no question if both sides are alike."""
    yes = int(yes_counts.argmax()) if yes is None else yes
    no = int(no_counts.argmax()) if no is None else no
    return yes if yes == no else Split(int(literal), yes, no)


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

    Parameters
    ----------
    rows, weights
        The samples, and the weight of each in the column of its class, shape (samples, classes).
    known
        The weight that a known tree of up to three questions decides rightly.
    work
        How much work there may be, in about nanoseconds.

    """
    literals = list_candidates(rows, weights)
    work -= measure_work(rows, weights, literals)
    if not len(literals) or work < 0:
        return
    counts = PairCounts.of(rows, weights, literals)
    one = counts.leaves.sum(axis=0)
    yield Optimum(1, float(one.max()), float(one.max()), counts.ask(int(one.argmax())))
    two, tree = counts.best_of_two()
    yield Optimum(2, two, two, tree)
    both = counts.splits[0].sum(axis=0)
    place = int(both.argmax())
    best: tuple[float, Node[int] | None] = known, None
    if both[place] > known:
        best = float(both[place]), counts.ask(place, *(counts.split_side(side, place) for side in (0, 1)))
    yield find_best_of_three(rows, weights, counts, best, work)


def measure_work(rows: CodedRows, weights: Floats, literals: Ints) -> float:
    """About how many nanoseconds it takes to count the pairs of samples."""
    pairs_of_rows = len(rows) * len(rows.grid.columns) ** 2
    return 5.0 * pairs_of_rows + 70.0 * len(literals) ** 2 * len(weights.T)


def find_best_of_three(
    rows: CodedRows,
    weights: Floats,
    counts: PairCounts,
    best: tuple[float, Node[int] | None],
    work: float,
) -> Optimum:
    """The best tree of three questions, given the best that does not ask them in a row, or what is known."""
    whole, true = weights.sum(), counts.true.sum(axis=0)
    inside = np.stack([true, whole - true])  # (2, literals)
    most = np.minimum(inside, counts.best_of_two()[0])  # what two questions decide rightly on a side
    rest = np.ones(len(true), np.bool_)
    while True:
        bounds = np.where(rest, (counts.leaves[::-1] + most).max(axis=0), -np.inf)
        place = int(bounds.argmax())
        if bounds[place] <= best[0] + 1e-9 * whole or work < 0:
            return Optimum(3, max(best[0], float(bounds[place])), *best)
        rest[place] = False
        smaller = int(inside[:, place].argmin())
        part = np.flatnonzero(rows.where_true(int(counts.literals[place])) != bool(smaller))
        some = rows.take(part)
        work -= measure_work(some, weights, counts.literals)
        own = PairCounts.of(some, weights[part], counts.literals)
        overlap = counts.overlap(place)
        for side, sums in ((smaller, own), (1 - smaller, counts.without(own))):
            right, tree = sums.best_of_two()
            most = np.minimum(most, right + inside - overlap[side])
            total = right + float(counts.leaves[1 - side, place])
            if total > best[0] + 1e-9 * whole:
                best = total, counts.ask(place, *((None, tree) if side else (tree, None)))
