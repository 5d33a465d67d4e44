"""Learns score cards of every size from labelled rows.

Lines are added one by one, each the literal that goes most with what the lines before leave
unexplained, anywhere or below a line; after each addition all weights are fitted anew by logistic
regression. At each size the weakest lines are exchanged as long as the fit gets better. Then
weights are rounded to whole points, and lines are exchanged as long as more samples get the right
class (see `points`).

References
----------
Y. Tan, C. Singh, K. Nasseri, A. Agarwal, B. Yu. Fast Interpretable Greedy-Tree Sums. 2022 (sums of
trees that grow side by side).
J. Liu, C. Zhong, B. Li, M. Seltzer, C. Rudin. FasterRisk. NeurIPS 2022 (sparse fit, then rounding).

"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import ThreadpoolController

from hornbook.surrogates.grid import CodedRows, Floats
from hornbook.surrogates.points import Body, PointCard, PointSearch, find_rows, is_below

MAX_NESTING = 3
"""The most conditions that have to hold for a line."""

NESTING_LINES = 16
"""The number of lines, from the first, below which others may be put."""

FITTED_SAMPLES = 1 << 14
"""Samples that lines are found by; all are used to exchange them."""

LEAST_REGION = 0.02
"""The least share of the weight where a line below another one may count."""

RIDGE = 1e-3
"""The weight of the squared weights, a sample: it keeps them finite where classes are separable."""

NEWTON_STEPS, NEWTON_CHANGE = 8, 1e-2
"""Newton steps at most, and the change of weights below which there are no more."""

COEFFICIENT_DECIMALS, SHARE_DECIMALS = 6, 9
"""Decimals of weights and of probabilities: processors differ in those behind, and must not in the card."""

EXCHANGES = 2
"""How many lines may be exchanged at a size."""

ROUNDINGS = (2, 3, 4, 5, 6)
"""The points of the heaviest line from which points are moved."""


@dataclass
class LineFit:
    """Lines with fitted weights, on the way: design columns, weights, and the samples."""

    rows: CodedRows
    targets: Floats  # (samples, outputs): the share of each class
    weights: Floats  # (samples,)
    max_nesting: int = MAX_NESTING
    bodies: list[Body] = field(default_factory=list)
    columns: list[Floats] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)  # the line of each column
    kinds: list[int] = field(default_factory=list)  # 0 where the line is true, 1 where it is unknown
    coefficients: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    promises: dict[Body, float] = field(
        default_factory=dict
    )  # what the best line below each body gained last

    def __post_init__(self) -> None:
        self.columns = [np.ones(len(self.rows))]
        self.owners, self.kinds = [-1], [0]
        self.coefficients = np.zeros((1, self.targets.shape[1]))
        self.refit()

    def copy(self) -> LineFit:
        """The same lines, to be changed apart."""
        other = copy(self)
        other.bodies, other.columns = list(self.bodies), list(self.columns)
        other.owners, other.kinds = list(self.owners), list(self.kinds)
        other.coefficients, other.promises = self.coefficients.copy(), dict(self.promises)
        return other

    def predict(self) -> Floats:
        """The probability of each class, shape (samples, outputs)."""
        return _probabilities(np.stack(self.columns, axis=1) @ self.coefficients)

    def loss(self) -> float:
        """The mean logistic loss."""
        shares = np.clip(self.predict(), 1e-9, 1 - 1e-9)
        if shares.shape[1] == 1:
            each = self.targets * np.log(shares) + (1 - self.targets) * np.log(1 - shares)
        else:
            each = self.targets * np.log(shares)
        return float(-(each.sum(axis=1) * self.weights).sum() / self.weights.sum())

    def add(self, body: Body) -> None:
        """One more line, without weight; a column for rows in which it is unknown, if there are any."""
        number = len(self.bodies)
        self.bodies.append(body)
        for kind, where in enumerate(find_rows(self.rows, body)):
            if where.any():
                self.columns.append(where.astype(np.float64))
                self.owners.append(number)
                self.kinds.append(kind)
        new = np.zeros((len(self.columns) - len(self.coefficients), self.targets.shape[1]))
        self.coefficients = np.vstack([self.coefficients, new])

    def remove(self, number: int) -> None:
        """One line less."""
        stays = [at for at, owner in enumerate(self.owners) if owner != number]
        self.columns, self.kinds = [self.columns[at] for at in stays], [self.kinds[at] for at in stays]
        self.coefficients = self.coefficients[stays]
        self.owners = [owner - (owner > number) for owner in (self.owners[at] for at in stays)]
        del self.bodies[number]

    def grow(self, size: int) -> bool:
        """Add the best lines until there are `size`, and exchange the weakest; False if there are fewer."""
        while len(self.bodies) < size:
            body = self.find_line()
            if body is None:
                return False
            self.add(body)
            self.refit(2)
        self.exchange_lines()
        self.refit()
        return True

    def refit(self, steps: int = NEWTON_STEPS) -> None:
        """Weights that make the classes likely, from the present ones on, by Newton's method."""
        design = np.stack(self.columns, axis=1)  # (samples, columns)
        ridge = np.full(design.shape[1], RIDGE * self.weights.sum())
        ridge[0] *= 1e-6  # the intercept is free
        for _ in range(steps):
            shares = _probabilities(design @ self.coefficients)
            largest = 0.0
            for output in range(shares.shape[1]):
                share = shares[:, output]
                spread = self.weights * np.maximum(share * (1 - share), 1e-6)
                error = self.weights * (self.targets[:, output] - share)
                curvature = design.T @ (design * spread[:, None]) + np.diag(ridge)
                slope = design.T @ error - ridge * self.coefficients[:, output]
                step = np.linalg.solve(curvature, slope)
                step *= min(1.0, 4.0 / max(float(abs(step).max()), 1e-9))  # no leaps where separable
                self.coefficients[:, output] += step
                largest = max(largest, float(abs(step).max()))
            if largest < NEWTON_CHANGE:
                break
        self.coefficients = np.round(self.coefficients, COEFFICIENT_DECIMALS)

    def line_weights(self) -> Floats:
        """The weight of each line where it is true, and where it is unknown, shape (lines, 2, outputs)."""
        weights = np.zeros((len(self.bodies), 2, self.targets.shape[1]))
        for owner, kind, own in zip(self.owners, self.kinds, self.coefficients, strict=True):
            if owner >= 0:
                weights[owner, kind] = own
        return weights

    def find_line(self) -> Body | None:
        """The body whose addition promises most for each of the conditions that are printed for it.

        What a place promised last is about the most that it promises now, as the fit only gets better:
        places are looked at in this order, until none can be better than what was found.
        """
        shares = self.predict()
        errors = self.weights[:, None] * (self.targets - shares)
        spreads = self.weights[:, None] * np.maximum(shares * (1 - shares), 1e-6)
        places = sorted(self._places(), key=lambda above: -self.promises.get(above, np.inf))
        best, best_gain = None, 0.0
        for above in places:
            if self.promises.get(above, np.inf) <= best_gain:
                break
            body, gain = self._find_below(above, errors, spreads)
            gain /= len(above) + 1
            self.promises[above] = gain
            if gain > best_gain:
                best, best_gain = body, gain
        return best

    def _places(self) -> list[Body]:
        """Bodies below which a line may be put: none, and the true and false sides of the first lines."""
        parents = [body for body in self.bodies[:NESTING_LINES] if len(body) < self.max_nesting]
        return [(), *(above for body in parents for above in (body, (*body[:-1], body[-1] ^ 1)))]

    def _find_below(self, above: Body, errors: Floats, spreads: Floats) -> tuple[Body, float]:
        """The best line below a body that is not there yet, and about how much the loss falls by it."""
        part, weight = self.rows, self.weights.sum()
        if above:
            where = np.flatnonzero(np.logical_and.reduce([self.rows.where_true(v) for v in above]))
            whole, weight = weight, self.weights[where].sum()
            if weight < LEAST_REGION * whole:
                return (), 0.0
            part, errors, spreads = self.rows.take(where), errors[where], spreads[where]
        gains = _fit_gains(part, errors, spreads, weight)
        present = [body[-1] for body in self.bodies if body[:-1] == above]
        gains[present] = gains[[literal ^ 1 for literal in present]] = 0.0
        literal = int(gains.astype(np.float32).argmax())  # of nearly equal ones the first, on all processors
        return (*above, literal), float(gains[literal])

    def exchange_lines(self) -> None:
        """Give up the weakest lines, one at a time, for better ones, as long as the loss falls."""
        loss = self.loss()
        tried: set[Body] = set()
        for _ in range(EXCHANGES):
            removable = [  # lines that no other line is below
                number
                for number, body in enumerate(self.bodies)
                if not any(is_below(other, body) for other in self.bodies)
            ]
            strengths = {
                number: self._strength(number) for number in removable if self.bodies[number] not in tried
            }
            if not strengths:
                return
            weakest = min(strengths, key=strengths.__getitem__)
            tried.add(self.bodies[weakest])
            other = self.copy()
            other.remove(weakest)
            other.refit(3)
            body = other.find_line()
            if body is None or body == self.bodies[weakest]:
                continue
            other.add(body)
            other.refit(4)
            if other.loss() < loss - 1e-6:
                loss = other.loss()
                self.__dict__.update(other.__dict__)

    def _strength(self, number: int) -> float:
        """About what leaving a line out costs."""
        strength = 0.0
        for at, owner in enumerate(self.owners):
            if owner == number:
                share = float(self.columns[at] @ self.weights) / self.weights.sum()
                strength += share * (1 - share) * float((self.coefficients[at] ** 2).sum())
        return strength


def _fit_gains(rows: CodedRows, errors: Floats, spreads: Floats, weight: float) -> Floats:
    """How much the loss of rows of this weight falls by each literal beside a free intercept, (literals,)."""
    wholes = errors.sum(axis=0), spreads.sum(axis=0)
    gains = np.zeros(len(rows.grid.literals))
    for output in range(errors.shape[1]):
        error, spread = rows.sum_true(errors[:, output]), rows.sum_true(spreads[:, output])
        whole_error, whole_spread = wholes[0][output], wholes[1][output]
        centred = error - spread * whole_error / whole_spread
        effective = spread * (whole_spread - spread) / whole_spread
        gains += centred**2 / (effective + RIDGE * weight + 1e-9)
    return gains


def _probabilities(scores: Floats) -> Floats:
    if scores.shape[1] == 1:
        single: Floats = np.round(1 / (1 + np.exp(-np.clip(scores, -30, 30))), SHARE_DECIMALS)
        return single
    outputs = np.ascontiguousarray(scores.T)  # (outputs, samples): sums over few outputs are fast this way
    powers = np.exp(outputs - outputs.max(axis=0))
    shares: Floats = np.round(powers / powers.sum(axis=0), SHARE_DECIMALS)
    return shares.T


def fit_cards(
    rows: CodedRows, weights: Floats, sizes: tuple[int, ...], max_nesting: int = MAX_NESTING
) -> Iterator[PointCard]:
    """Cards of lines, one for each of the sizes that can be reached.

    Parameters
    ----------
    rows
        The samples.
    weights
        The weight of each sample in the column of its class, shape (samples, classes).
    sizes
        Numbers of lines.
    max_nesting
        The most conditions that have to hold for a line; 1 for a card without lines below others.

    """
    totals = weights.sum(axis=1)
    targets = weights[:, 1:] / totals[:, None] if weights.shape[1] == 2 else weights / totals[:, None]
    part = np.arange(min(FITTED_SAMPLES, len(rows)))
    threads = ThreadpoolController()
    with threads.limit(limits=1):
        fit = LineFit(rows.take(part), targets[part], totals[part], max_nesting)
    for size in sorted(sizes):
        with threads.limit(limits=1):  # small products take longer on several threads
            complete = fit.grow(size)
        if not complete:
            return
        yield round_card(fit, rows, weights)


def round_card(fit: LineFit, rows: CodedRows, weights: Floats) -> PointCard:
    """The best whole points that moves find from rounded weights."""
    real = fit.line_weights()
    largest = max(float(abs(real).max(initial=0)), 1e-9)
    starts = []
    for most in ROUNDINGS:
        scale = most / largest
        points, base = (np.rint(exact * scale).astype(np.int64) for exact in (real, fit.coefficients[0]))
        starts.append(PointSearch(rows, weights, PointCard(tuple(fit.bodies), points, base)))
    return max(starts, key=lambda search: search.right).run().result()
