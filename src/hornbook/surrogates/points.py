"""Whole points for the lines of a card, changed as long as more samples get the right class.

One step looks at one line: its literal, its points and its points where the literal is unknown are
exchanged for the best ones in its place, all other lines staying as they are. For one output the class
of a sample depends on one number: the fewest points with which the output wins. So a histogram of this
number over the bins of a column tells for each literal and each number of points at once how much
weight is decided rightly. Lines below the exchanged one stay below it.

References
----------
M. Carreira-Perpiñán, P. Tavallali. Alternating Optimization of Decision Trees, with Application to
Learning Sparse Oblique Trees. NeurIPS 2018 (one question at a time, the others fixed).

"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from hornbook.explanations.card_points import Points
from hornbook.explanations.score_card import choose_classes
from hornbook.logic import Bools
from hornbook.surrogates.grid import CodedRows, Floats, Ints, NumericColumn

MAX_POINTS = 6
"""The most points that a line gives."""

POINT_ROUNDS = 6
"""How often all lines are tried to be exchanged."""

SHIFTS = np.array(sorted(range(-MAX_POINTS, MAX_POINTS + 1), key=lambda points: (abs(points), points)))
"""All points that a line may give, the fewest first, so that of equals the fewest are taken."""

Body: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class PointCard:
    """A card over literals of a grid: bodies, their points, (lines, 2, outputs), and the base, (outputs,)."""

    bodies: tuple[Body, ...]
    points: Points
    base: Points

    def score(self, rows: CodedRows) -> Points:
        """The points of each row, shape (rows, outputs)."""
        scores = np.tile(self.base, (len(rows), 1))
        for body, points in zip(self.bodies, self.points, strict=True):
            add_points(scores, rows, body, points)
        return scores

    def decide(self, rows: CodedRows) -> Ints:
        """The number of each row's class."""
        return choose_classes(self.score(rows))


def find_rows(rows: CodedRows, body: Body) -> tuple[Bools, Bools]:
    """Where a line gives its points: the rows in which it is true, and those in which it is unknown."""
    true, unknown = rows.where_true(body[-1]), rows.where_unknown(body[-1])
    for literal in body[:-1]:
        reached = rows.where_true(literal)
        true, unknown = true & reached, unknown & reached
    return true, unknown


def add_points(scores: Points, rows: CodedRows, body: Body, points: Points, sign: int = 1) -> None:
    """Add the points of a line, shape (2, outputs), to the scores of the rows in which it gives some."""
    for where, own in zip(find_rows(rows, body), points, strict=True):
        if own.any():
            scores += where[:, None] * (sign * own)


def is_below(body: Body, above: Body) -> bool:
    """Whether a line is below another one, on its true or its false side."""
    length = len(above)
    return len(body) > length and body[: length - 1] == above[:-1] and body[length - 1] | 1 == above[-1] | 1


class PointSearch:
    """A card with whole points on the way, and the samples by which it is changed.

    Parameters
    ----------
    rows
        The samples.
    weights
        The weight of each sample in the column of its class, shape (samples, classes).
    card
        The card to begin with.

    """

    def __init__(self, rows: CodedRows, weights: Floats, card: PointCard) -> None:
        self.rows, self.weights = rows, weights
        self.bodies, self.points, self.base = list(card.bodies), card.points.copy(), card.base.copy()
        self.everyone = np.arange(len(rows))
        self.scores = card.score(rows)
        self._move_base()

    @property
    def right(self) -> float:
        """The weight that is decided rightly."""
        return float(self._right_of(self.everyone, self.scores).sum())

    def result(self) -> PointCard:
        """The card as it is now, without lines that give no points."""
        stays = [number for number, points in enumerate(self.points) if points.any()]
        base = self.base if len(self.base) == 1 else self.base - self.base.min()
        card = PointCard(tuple(self.bodies[number] for number in stays), self.points[stays], base)
        return self._turn_negative(card) if len(base) == 1 else card

    def _turn_negative(self, card: PointCard) -> PointCard:
        """The same card with points for the other side of thresholds that would take points away.

        The lines of a column are turned if all of them take points away, and no value of it is missing.
        """
        grid, points, base = self.rows.grid, card.points.copy(), card.base.copy()
        bodies = list(card.bodies)
        single = [number for number, body in enumerate(bodies) if len(body) == 1]
        columns = {number: int(grid.column_of[bodies[number][0]]) for number in single}
        for column in set(columns.values()) - set(self._holes[1].tolist()):
            own = [number for number in single if columns[number] == column]
            if isinstance(grid.columns[column], NumericColumn) and (points[own, 0, 0] < 0).all():
                base += points[own, 0, 0].sum()
                for number in own:
                    bodies[number] = (bodies[number][0] ^ 1,)
                    points[number] = [-points[number, 0], [0]]
        return PointCard(tuple(bodies), points, base)

    def run(self) -> PointSearch:
        """Exchange lines until nothing gets better."""
        steps = [(number, output) for number in range(len(self.bodies)) for output in range(len(self.base))]
        idle = 0
        for number, output in steps * POINT_ROUNDS:
            idle = 0 if self._exchange(number, output) else idle + 1
            if idle == len(steps):
                break
        self._move_base()
        return self

    def _right_of(self, at: Ints, scores: Points) -> Floats:
        """The weight of each of some samples, if these scores decide it rightly, and else 0."""
        right: Floats = self.weights[at, choose_classes(scores)]
        return right

    def _needs(self, at: Ints, scores: Points, output: int) -> tuple[Ints, Floats, Floats]:
        """The fewest points with which an output wins, and the weight that is right if not, and if so."""
        if scores.shape[1] == 1:
            return -scores[:, 0], self.weights[at, 0], self.weights[at, 1]
        others = scores.copy()
        others[:, output] = np.iinfo(others.dtype).min
        rival = others.argmax(axis=1)  # the first of equals wins
        need = others[np.arange(len(others)), rival] - scores[:, output] + (rival < output)
        return need, self.weights[at, rival], self.weights[at, output]

    def _move_base(self) -> None:
        """Give each output the points that decide most weight rightly, the others staying as they are."""
        for output in range(len(self.base)):
            need, without, with_it = self._needs(self.everyone, self.scores, output)
            least = int(need.min())
            gains = np.concatenate([[0.0], np.cumsum(np.bincount(need - least, with_it - without))])
            if gains[max(0, min(len(gains) - 1, 1 - least))] < gains.max() - 1e-9:
                change = least - 1 + int(gains.argmax())
                self.base[output] += change
                self.scores[:, output] += change

    def _exchange(self, number: int, output: int) -> bool:
        """Exchange a line's literal, and its points for one output, for the best ones in its place.

        Returns whether more weight is decided rightly by it.
        """
        body, points = self.bodies[number], self.points[number].copy()
        reached, without, below_true, below_false = self._take_out(number)
        if not len(reached):
            return False
        rows, grid = self.rows if len(reached) == len(self.rows) else self.rows.take(reached), self.rows.grid
        others = points.copy()
        others[:, output] = 0
        false = self._right_of(reached, without + below_false)
        true = _Choice(*self._needs(reached, without + below_true + others[0], output), false)
        gains = true.sum_true(rows)  # (literals, shifts)
        own_column = grid.column_of == grid.column_of[body[-1]]
        holes, columns = self._find_holes(reached)
        here = columns == grid.column_of[body[-1]]
        scores = without.take(holes, axis=0) + here[:, None] * others[1]
        unknown = _Choice(*self._needs(reached.take(holes), scores, output), false.take(holes))
        unknown_gains = unknown.sum_columns(columns, len(grid.columns))[grid.column_of]  # (literals, shifts)
        unknown_gains[grid.is_missing] = 0.0
        now = gains[body[-1], _shift(points[0, output])] + unknown_gains[body[-1], _shift(points[1, output])]
        totals = gains.max(axis=1) + unknown_gains.max(axis=1)
        siblings = [other[-1] for other in self.bodies if other[:-1] == body[:-1] and other != body]
        totals[siblings] = totals[[literal ^ 1 for literal in siblings]] = -np.inf
        best = int(totals.argmax())
        if totals[best] <= now + 1e-9:
            return False
        points[0, output] = SHIFTS[gains[best].argmax()]
        if not own_column[best] or grid.is_missing[best]:
            points[1] = 0
        points[1, output] = SHIFTS[unknown_gains[best].argmax()]
        self._put_in(number, (*body[:-1], best), points)
        return True

    def _take_out(self, number: int) -> tuple[Ints, Points, Points, Points]:
        """The samples that a line is about, their scores without it, and the points of lines below it.

        These come from the lines on its true side and on its false side, wherever their own
        conditions hold.
        """
        body = self.bodies[number]
        reached = self.everyone
        for literal in body[:-1]:
            reached = reached[self.rows.where_true(literal)[reached]]
        scores = self.scores.copy()
        add_points(scores, self.rows, body, self.points[number], -1)
        below = {side: np.zeros_like(scores) for side in (0, 1)}
        for other, points in zip(self.bodies, self.points, strict=True):
            if is_below(other, body):
                add_points(scores, self.rows, other, points, -1)
                rest = (*body[:-1], *other[len(body) :])
                add_points(below[int(other[len(body) - 1] != body[-1])], self.rows, rest, points)
        return reached, scores[reached], below[0][reached], below[1][reached]

    def _put_in(self, number: int, body: Body, points: Points) -> None:
        """Exchange a line, and the literal above the lines below it."""
        old, depth = self.bodies[number], len(body) - 1
        for at, other in enumerate(self.bodies):
            if at == number or is_below(other, old):
                add_points(self.scores, self.rows, other, self.points[at], -1)
                turned = int(other[depth] != old[-1])
                self.bodies[at] = (*body[:-1], body[-1] ^ turned, *other[depth + 1 :])
                if at == number:
                    self.points[at] = points
                add_points(self.scores, self.rows, self.bodies[at], self.points[at])

    def _find_holes(self, reached: Ints) -> tuple[Ints, Ints]:
        """The missing values of some rows: the position of each one's row among them, and its column."""
        rows, columns = self._holes
        if len(reached) == len(self.rows):
            return rows, columns
        places = np.full(len(self.rows), -1)
        places[reached] = np.arange(len(reached))
        places = places.take(rows)
        among = np.flatnonzero(places >= 0)
        return places.take(among), columns.take(among)

    @cached_property
    def _holes(self) -> tuple[Ints, Ints]:
        """The missing values of all rows."""
        holes = [
            np.flatnonzero(self.rows.column(position) == column.size)
            for position, column in enumerate(self.rows.grid.columns)
        ]
        return np.concatenate(holes), np.repeat(np.arange(len(holes)), list(map(len, holes)))


def _shift(points: int) -> int:
    """The position of some points among all that a line may give."""
    return int(np.flatnonzero(points == SHIFTS)[0])


class _Choice:
    """How much weight more than now is decided rightly if samples get some points, for all points at once.

    Parameters
    ----------
    need
        The fewest points with which the output wins, shape (samples,).
    without, with_it
        The weight that is right if the output does not win, and if it does.
    now
        The weight that is right now.

    """

    def __init__(self, need: Ints, without: Floats, with_it: Floats, now: Floats) -> None:
        self.bucket = np.clip(need, -MAX_POINTS, MAX_POINTS + 1) + MAX_POINTS  # wins from this position on
        self.change = with_it - without
        self.fixed = np.where(need <= 0, with_it, without) - now  # by no points at all
        moves = (self.bucket > 0) & (self.bucket <= 2 * MAX_POINTS) & (self.change != 0)
        self.matters = np.flatnonzero(moves | (self.fixed != 0))

    def sum_columns(self, columns: Ints, count: int) -> Floats:
        """The sums over the samples of each of `count` columns, shape (columns, shifts)."""
        width = 2 * MAX_POINTS + 2
        sums = np.bincount(columns * width + self.bucket, self.change, count * width).reshape(count, width)
        totals: Floats = np.cumsum(sums, axis=1, dtype=np.float64)
        ordered: Floats = totals[:, SHIFTS + MAX_POINTS] - totals[:, MAX_POINTS, None]
        ordered += np.bincount(columns, self.fixed, count)[:, None]
        return ordered

    def sum_true(self, rows: CodedRows) -> Floats:
        """The sum over the samples in which each literal is true, shape (literals, shifts)."""
        width = 2 * MAX_POINTS + 2
        part = rows.take(self.matters)
        bucket, change, fixed = self.bucket[self.matters], self.change[self.matters], self.fixed[self.matters]
        bins = []
        for position, size in enumerate(np.diff(rows.grid.offsets).tolist()):
            cells = np.multiply(part.column(position), width, dtype=np.intp)
            cells += bucket
            bins.append(np.bincount(cells, change, size * width).reshape(size, width))
        totals = np.cumsum(rows.grid.sum_bins(np.concatenate(bins)), axis=1)  # (literals, positions)
        ordered: Floats = totals[:, SHIFTS + MAX_POINTS] - totals[:, MAX_POINTS, None]
        return ordered + part.sum_true(fixed)[:, None] if fixed.any() else ordered
