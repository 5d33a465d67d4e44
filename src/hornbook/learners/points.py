"""Cards out of labelled samples: which literals get points, and how many.

A logistic regression over all literals, and over the pairs of literals that it leaves most to
explain, is thinned out: the column that matters least for each literal to be read goes first. At
each size on the way the weights are rounded to small whole points, which are then moved by one,
one at a time, as long as more samples get the right label.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hornbook.cards.card import Card, Item, values
from hornbook.distributions.literals import Literals
from hornbook.learners.logistic import Matrix, fit
from hornbook.logic import bits
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools

Halves = NDArray[np.int8]

SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 63, 80, 100, 125, 160, 200)
"""Numbers of literals at which a card is made."""

THINNED = 0.9
"""The least share of columns that is kept when the weakest go, before weights are fitted anew."""

PAIRS = (12, 12, 12)
"""Pairs of literals taken in, round by round: each round looks for what the last left unexplained."""

SWEEPS = 4
"""Times that all points are tried to be moved."""


def cards(
    batch: Batch, labels: Bools, label: str, max_literals: int, max_points: int, *, pairs: bool = True
) -> Iterator[Card]:
    """Cards for labelled rows of features, the largest first.

    Parameters
    ----------
    batch, labels
        Rows, and whether the model gives each the label.
    label
        Its name.
    max_literals
        How many literals a reader is willing to read.
    max_points
        The most points of a line.
    pairs
        Whether two literals may share a line.

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> from hornbook.logic.vocabulary import Vocabulary
    >>> batch = Random(Vocabulary(["fever", "cough", "tired"])).draw(2000, np.random.default_rng(0))
    >>> values = batch.to_array(unknown=0.5)
    >>> ill = 2 * values[:, 0] + values[:, 1] - values[:, 2] >= 1
    >>> card = next(cards(batch, ill, "ill", max_literals=10, max_points=3))
    >>> print(card)
      +2  fever
      +1  cough
      −1  tired
    half the points for what is unknown; 1 or more → ill, less → not_ill

    """
    drawn = Literals.of(batch.vocabulary).drawn
    bodies = [frozenset({v}) for v in drawn.tolist()]
    terms = Terms.of(batch, bodies).varied()
    if pairs:
        terms = with_pairs(terms, batch, labels)
    sizes = [size for size in SIZES if size < max_literals] + [max_literals]
    for thin in thinned(terms, labels, sizes):
        yield rounded(thin, labels, label, max_points)


@dataclass(frozen=True)
class Terms:
    """Bodies of items, twice their value (2, 1, 0) for each sample, and weights if they were fitted."""

    batch: Batch
    bodies: tuple[frozenset[int], ...]
    halves: Halves
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, batch: Batch, bodies: list[frozenset[int]]) -> Terms:
        halves = np.empty((len(batch), len(bodies)), np.int8, order="F")
        for column, body in enumerate(bodies):
            true, false = values(batch, body)
            known = bits.flat(true, len(batch)).view(np.int8), bits.flat(~false, len(batch)).view(np.int8)
            halves[:, column] = known[0] + known[1]
        return cls(batch, tuple(bodies), halves)

    @property
    def columns(self) -> Matrix:
        """The values as a regression takes them."""
        return self.halves * np.float32(0.5)

    @property
    def literals(self) -> int:
        return sum(map(len, self.bodies))

    def kept(self, which: NDArray[np.intp]) -> Terms:
        """Some of the terms."""
        weights = None if self.weights is None else np.append(self.weights[which], self.weights[-1])
        return Terms(self.batch, tuple(self.bodies[i] for i in which), self.halves[:, which], weights)

    def varied(self) -> Terms:
        """The terms that are not the same in every sample."""
        return self.kept(np.flatnonzero((self.halves != self.halves[:1]).any(axis=0)))


def with_pairs(terms: Terms, batch: Batch, labels: Bools) -> Terms:
    """The terms, and the pairs of literals whose truth goes most with what they do not explain."""
    true = bits.unpack(batch.true, len(batch)).astype(np.float32)
    for count in PAIRS:
        fitted = fit(terms.columns, labels, terms.weights)
        residual = fitted.residual(terms.columns, labels)
        covariance = true.T @ (true * residual[:, None])
        support = true.T @ true
        z = np.triu(abs(covariance) / np.sqrt(support + len(batch) / 100), 1)
        order = np.argsort(z, axis=None)[::-1][: 4 * count]
        found = [frozenset({int(v), int(w)}) for v, w in zip(*np.unravel_index(order, z.shape), strict=True)]
        new = [body for body in found if body not in terms.bodies][:count]
        more = Terms.of(batch, new)
        terms = Terms(
            batch,
            terms.bodies + more.bodies,
            np.asfortranarray(np.hstack([terms.halves, more.halves])),
            np.concatenate([fitted.weights[:-1], np.zeros(len(new)), fitted.weights[-1:]]),
        )
    return terms


def thinned(terms: Terms, labels: Bools, sizes: list[int]) -> Iterator[Terms]:
    """The terms with fitted weights at each number of literals, the largest first."""
    wanted = sorted(sizes, reverse=True)
    for size, following in pairwise([*wanted, 0]):
        while True:
            found = fit(terms.columns, labels, terms.weights)
            terms = Terms(terms.batch, terms.bodies, terms.halves, found.weights)
            if terms.literals <= size:
                break
            costs = np.array([len(body) for body in terms.bodies])
            order = np.argsort(found.strength / costs)
            goes = int(np.searchsorted(np.cumsum(costs[order]), terms.literals - size)) + 1
            goes = min(goes, max(1, round((1 - THINNED) * len(order))))
            terms = terms.kept(np.sort(order[goes:]))
        if terms.literals > following:
            yield terms


def rounded(terms: Terms, labels: Bools, label: str, max_points: int) -> Card:
    """The card with the best whole points that moving points one by one finds."""
    assert terms.weights is not None
    weights = terms.weights[:-1]
    largest = max(abs(weights).max(initial=0), 1e-9)
    starts = [np.rint(weights / largest * most).astype(np.int64) for most in range(1, max_points + 1)]
    best = max((agreement(terms.halves @ points, labels)[0], i) for i, points in enumerate(starts))[1]
    points = moved(terms.halves, labels, starts[best], max_points)
    _, threshold = agreement(terms.halves @ points, labels)
    order = sorted(np.flatnonzero(points).tolist(), key=lambda i: (-abs(int(points[i])), points[i] < 0))
    items = tuple(Item(terms.bodies[i], int(points[i])) for i in order)
    return Card(terms.batch.vocabulary, label, items, threshold / 2)


def moved(halves: Halves, labels: Bools, points: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """The points, each moved by one where that gives more samples the right label."""
    points, scores = points.copy(), halves @ points
    best, _ = agreement(scores, labels)
    for _ in range(SWEEPS):
        before = best
        for i in range(len(points)):
            for step in (-1, 1):
                if abs(points[i] + step) > limit:
                    continue
                changed = scores + step * halves[:, i]
                right, _ = agreement(changed, labels)
                if right > best:
                    best, scores = right, changed
                    points[i] += step
        if best == before:
            break
    return points


def agreement(scores: NDArray[np.int64], labels: Bools) -> tuple[int, int]:
    """How many samples the best threshold gives the right label, and that threshold."""
    lowest = int(scores.min(initial=0))
    shifted = scores - lowest
    length = int(shifted.max(initial=0)) + 2
    every = np.bincount(shifted, minlength=length)
    yes = np.bincount(shifted[labels], minlength=length)
    # threshold t: right are those with the label from t on, and those without it below
    below = np.concatenate([[0], np.cumsum(every - 2 * yes)[:-1]])
    at = int(below.argmax())
    return int(below[at] + labels.sum()), at + lowest
