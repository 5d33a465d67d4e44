"""Cards out of labelled samples: which literals get points, and how many.

A logistic regression over all literals, and over the pairs of literals that it leaves most to
explain, is thinned out: the column that matters least for each literal to be read goes first. At
each size on the way the weights are rounded to small whole points, which are then moved by one,
one at a time, as long as more samples get the right label. Small cards are also built up, line by
line, from what gives most samples the right label.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from hornbook.cards.card import Card, Item
from hornbook.distributions import Literals
from hornbook.learners.logistic import fit
from hornbook.learners.tally import Points, agreement, built, moved, scores
from hornbook.learners.terms import Terms, with_pairs
from hornbook.logic import Batch, Bools

SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 63, 80, 100, 125, 160, 200)
"""Numbers of literals at which a card is made."""

BUILT = 8
"""The number of lines up to which cards are built up too, of single literals and of pairs as well."""

FITTED = 1 << 14
"""Samples that weights are fitted to; points are moved by all."""

SCALES = 2
"""Roundings of the weights from which points are moved."""

THINNED = 0.9
"""The least share of columns that is kept when the weakest go, before weights are fitted anew."""


def cards(batch: Batch, labels: Bools, label: str, max_literals: int, max_points: int) -> Iterator[Card]:
    """Cards for labelled rows of features.

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

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> from hornbook.logic import Vocabulary
    >>> batch = Random(Vocabulary(["fever", "cough", "tired"])).draw(2000, np.random.default_rng(0))
    >>> values = batch.to_array(unknown=0.5)
    >>> ill = 2 * values[:, 0] + values[:, 1] - values[:, 2] >= 1
    >>> card = next(cards(batch, ill, "ill", max_literals=10, max_points=4))
    >>> (card.decide(batch) == ill).mean()
    np.float64(1.0)

    """
    fitted, known = batch[:FITTED], labels[:FITTED]
    bodies = [frozenset({v}) for v in Literals.of(batch.vocabulary).drawn.tolist()]
    terms = with_pairs(Terms.of(fitted, bodies).varied(), fitted, known)
    singles = terms.kept(np.flatnonzero(terms.costs == 1))
    sizes = [size for size in SIZES if size < max_literals] + [max_literals]
    for offered in (singles, terms):
        for thin in thinned(offered, known, sizes):
            whole = Terms.of(batch, list(thin.bodies))
            yield card_of(whole, batch, labels, label, whole_points(thin, whole, labels, max_points))
        for chosen, points in built(offered, known, max_points, BUILT):
            whole = Terms.of(batch, [offered.bodies[i] for i in chosen])
            if whole.costs.sum() <= max_literals:
                yield card_of(whole, batch, labels, label, moved(whole, labels, points, max_points))


def thinned(terms: Terms, labels: Bools, sizes: list[int]) -> Iterator[Terms]:
    """The terms with fitted weights at each number of literals, the largest first."""
    for size, following in pairwise([*sorted(sizes, reverse=True), 0]):
        while True:
            found = fit(terms.columns, labels, terms.weights)
            terms, costs = replace(terms, weights=found.weights), terms.costs
            if costs.sum() <= size:
                break
            order = np.argsort(found.strength / costs)
            goes = int(np.searchsorted(np.cumsum(costs[order]), costs.sum() - size)) + 1
            goes = min(goes, max(1, round((1 - THINNED) * len(order))))
            terms = terms.kept(np.sort(order[goes:]))
        if terms.costs.sum() > following:
            yield terms


def whole_points(fitted: Terms, terms: Terms, labels: Bools, limit: int) -> Points:
    """The best whole points that moves find, from weights rounded at the best scales."""

    def right(points: Points) -> int:
        return agreement(scores(terms, points), labels)[0]

    starts = [rounded(fitted, limit, most) for most in range(1, limit + 1)]
    best = sorted(starts, key=right)[-SCALES:]
    return max((moved(terms, labels, start, limit) for start in best), key=right)


def rounded(terms: Terms, limit: int, most: int) -> Points:
    """Whole points in proportion to the weights, `most` for the largest."""
    scaled = terms.weights[:-1] * most / max(abs(terms.weights[:-1]).max(initial=0), 1e-9)
    points: Points = np.rint(np.stack([scaled, scaled * terms.shares], axis=1)).astype(np.int64)
    return points.clip(-limit, limit)


def card_of(terms: Terms, batch: Batch, labels: Bools, label: str, points: Points) -> Card:
    """The card of points, its lines by how many there are, its threshold the best."""
    _, threshold = agreement(scores(terms, points), labels)
    order = sorted(np.flatnonzero(points.any(axis=1)).tolist(), key=lambda i: tuple(-abs(points[i])))
    items = tuple(Item(terms.bodies[i], *points[i].tolist()) for i in order)
    return Card(batch.vocabulary, label, items, threshold)
