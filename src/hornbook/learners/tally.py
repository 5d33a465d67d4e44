"""Whole points for terms, changed as long as more samples get the right label.

Scores are small whole numbers, so a histogram says how many samples every threshold gives the
right label: from the lowest score up, each sample without the label is one more right, and each
with it one less. A move of points shifts the part of the histogram that it touches.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hornbook.learners.terms import Terms
from hornbook.logic import Bools

Points = NDArray[np.int64]
"""For each term the points where it is true, and where it is unknown."""

Histogram = NDArray[np.float64]
"""For each score, samples without the label less those with it; one for each row, or several rows."""

SWEEPS = 4
"""Times that all points are tried to be moved."""

MOVES = ((1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))


def scores(terms: Terms, points: Points) -> Points:
    """The score of each sample."""
    total = np.zeros(len(terms.true), np.int64)
    for i, (if_true, if_unknown) in enumerate(points.tolist()):
        total += if_true * terms.true[:, i] + if_unknown * terms.unknown[:, i]
    return total


def agreement(scores: Points, labels: Bools) -> tuple[int, int]:
    """How many samples the best threshold gives the right label, and that threshold.

    Examples
    --------
    >>> agreement(np.array([3, -1, 2, 2]), np.array([True, False, True, False]))
    (3, 3)

    """
    lowest = int(scores.min(initial=0))
    right = _right(_histogram(scores - lowest, labels, int(scores.max(initial=0)) - lowest + 2))
    at = len(right) - 1 - int(right[::-1].argmax())  # of equals the largest
    return int(right[at] + labels.sum()), at + lowest


def moved(terms: Terms, labels: Bools, points: Points, limit: int) -> Points:
    """The points, each moved by one where that gives more samples the right label."""
    points = points.copy()
    places = [
        (np.flatnonzero(terms.true[:, i]), np.flatnonzero(terms.unknown[:, i])) for i in range(len(points))
    ]
    lowest = int(np.minimum(points.min(axis=1, initial=0), 0).sum()) - len(points) * SWEEPS
    length = int(np.maximum(points.max(axis=1, initial=0), 0).sum()) + len(points) * SWEEPS + 2 - lowest
    total = scores(terms, points) - lowest
    whole = _histogram(total, labels, length)
    best = _right(whole).max()
    for _ in range(SWEEPS):
        before = best
        for i, where in enumerate(places):
            parts = [_histogram(total[at], labels[at], length) for at in where]
            offers = [
                whole + sum(np.roll(part, by) - part for part, by in zip(parts, move, strict=True))
                if abs(points[i] + move).max() <= limit
                else whole
                for move in MOVES
            ]
            right = [float(_right(offer).max()) for offer in offers]
            chosen = int(np.argmax(right))
            if right[chosen] > best:
                best, whole = right[chosen], offers[chosen]
                points[i] += MOVES[chosen]
                for at, by in zip(where, MOVES[chosen], strict=True):
                    total[at] += by
        if best == before:
            break
    return points


def built(terms: Terms, labels: Bools, limit: int, lines: int) -> Iterator[tuple[list[int], Points]]:
    """One term, two and so on, with points: each new one gives most samples the right label.

    After each, every other term in turn is given up for a better one, if there is one.
    """
    chosen: list[int] = []
    points = np.zeros((0, 2), np.int64)
    best = 0
    for _ in range(min(lines, len(terms.bodies))):
        found, points = _added(terms, labels, chosen, points, limit)
        chosen = [*chosen, found]
        best = agreement(scores(terms.kept(np.array(chosen)), points), labels)[0]
        for position in range(len(chosen) - 1):
            others = np.delete(np.arange(len(chosen)), position)
            rest = [chosen[i] for i in others]
            found, offered = _added(terms, labels, rest, points[others], limit)
            right = agreement(scores(terms.kept(np.array([*rest, found])), offered), labels)[0]
            if right > best:
                best, points = right, np.insert(offered[:-1], position, offered[-1], axis=0)
                chosen[position] = found
        yield list(chosen), points


def _added(terms: Terms, labels: Bools, chosen: list[int], points: Points, limit: int) -> tuple[int, Points]:
    """The term that gives most samples the right label beside the chosen ones, and the points of all.

    A new term that is unknown has as many points as one that is true, half of them, or none.
    """
    total = scores(terms.kept(np.array(chosen, np.intp)), points)
    total += limit - total.min()
    signed = np.zeros((len(labels), int(total.max()) + limit + 1), np.float32)
    signed[np.arange(len(labels)), total] = np.where(labels, -1, 1)
    parts = terms.true.T.astype(np.float32) @ signed, terms.unknown.T.astype(np.float32) @ signed
    rest = signed.sum(axis=0) - parts[0] - parts[1]
    # the first term's points leave room for half and for double the points
    sizes = range(1, limit + 1) if chosen else [limit // 2 + 1]
    moves = [(p, u) for size in sizes for p in (size, -size) for u in (0, round(p / 2), p)]
    shifted = (rest + np.roll(parts[0], p, axis=1) + np.roll(parts[1], u, axis=1) for p, u in moves)
    right = np.stack([_right(histogram).max(axis=1) for histogram in shifted])
    right[:, chosen] = -np.inf
    move, best = np.unravel_index(right.argmax(), right.shape)
    whole = terms.kept(np.array([*chosen, best]))
    return int(best), moved(whole, labels, np.vstack([points, moves[move]]), limit)


def _histogram(scores: Points, labels: Bools, length: int) -> Histogram:
    return np.asarray(np.bincount(scores, np.where(labels, -1.0, 1.0), length), np.float64)


def _right(histogram: NDArray[np.floating]) -> NDArray[np.floating]:
    """For each threshold how many more samples are right than if all had the label."""
    below = np.cumsum(histogram, axis=-1)
    return np.concatenate([np.zeros_like(below[..., :1]), below[..., :-1]], axis=-1)
