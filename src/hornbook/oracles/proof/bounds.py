"""Linear bounds on the output of a network over many cells at once, sound in floating point.

A cell is a region of inputs, cut further by the signs that some units' sums are to have. Every
ReLU whose sum can have either sign is put between two lines; going backwards through the layers,
the output lies under a linear function of the inputs, whose greatest value in a region is found
base variable by base variable. The slopes of the lower lines, and a multiplier for each sign that
is asked for, are free: any choice bounds the output, and a few steps of gradient descent find a
good one. The sums of hidden layers are bounded in the same way, layer by layer.

Every bound is pushed outwards by `Bounds.slack`, which is more than rounding can amount to: slopes
are at most 1 and intercepts at most the sums' magnitudes, so each bound is a sum of products whose
magnitudes add up to no more than the depth times the layer's magnitude, and each product goes
through at most `ReluNet.operations` roundings. Multipliers add their units' sums, and slack for them.

References
----------
H. Zhang, T.-W. Weng, P.-Y. Chen, C.-J. Hsieh, L. Daniel. Efficient Neural Network Robustness
Certification with General Activation Functions, NeurIPS 2018.

S. Wang, H. Zhang, K. Xu, X. Lin, S. Jana, C.-J. Hsieh, J. Z. Kolter. Beta-CROWN: Efficient Bound
Propagation with Per-neuron Split Constraints for Neural Network Robustness Verification, NeurIPS 2021.

"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbook.logic.bits import Bools
from hornbook.oracles.proof.layers import DOUBLE, ReluNet, Vector, gamma
from hornbook.oracles.proof.region import FALSE, TRUE, UNKNOWN, Numbers, Space, States

RATE, DECAY, MOMENTUM = 0.2, 0.97, (0.9, 0.999)
"""How slopes and multipliers are improved: Adam's step sizes."""


class Cells(NamedTuple):
    """Cells, one a row: what is asked, and what is known of each.

    `low` and `high` bound the sums of the hidden units, all layers side by side; `signs` are 1
    and -1 for sums that are to be at least and at most 0; `slopes` and `multipliers` are those
    that served last; `upper` bounds the output.
    """

    regions: Bools
    low: Numbers
    high: Numbers
    signs: Numbers
    slopes: Numbers
    multipliers: Numbers
    upper: Vector

    def take(self, items: slice | States | Bools) -> Cells:
        """Some of the cells."""
        return Cells(*(getattr(self, field)[items] for field in self._fields))

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.upper)

    @property
    def open(self) -> Bools:
        """Which units' sums can have either sign."""
        return (self.low < 0) & (self.high > 0)

    @classmethod
    def joined(cls, several: Iterable[Cells]) -> Cells:
        """The cells one after another."""
        columns = zip(
            *(tuple(getattr(cells, field) for field in cls._fields) for cells in several), strict=True
        )
        return cls(*(np.concatenate(column) for column in columns))


class Tried(NamedTuple):
    """One choice of slopes and multipliers: its bound, where it is reached, and how it could be better.

    `pulls` are the coefficients of the units' outputs, `inputs` those of the first layer's sums.
    """

    upper: Vector
    states: States
    pulls: Numbers
    inputs: Numbers
    by_slopes: Numbers
    by_multipliers: Numbers

    def take(self, items: States) -> Tried:
        """Those of some of the cells."""
        return Tried(*(getattr(self, field)[items] for field in self._fields))

    def unless(self, better: Bools, other: Tried) -> Tried:
        """The same, but the other's where it is better."""
        parts = zip(self._fields, self, other, strict=True)
        return Tried(**{field: _chosen(better, new, old) for field, old, new in parts})


class Bounds:
    """Bounds the output of one network over cells of one space.

    Parameters
    ----------
    net
        The network.
    space
        Its inputs.
    given, terms
        The magnitudes of what else the first layer's sums are made of, beside inputs and biases,
        and of how many terms that is; see `within`.

    Examples
    --------
    >>> from hornbook.logic.vocabulary import Vocabulary
    >>> from hornbook.oracles.adapters import Encoding
    >>> space = Space.of(Vocabulary(["sunny", "happy"]), Encoding())
    >>> net = ReluNet.of([(np.array([[1.0, -1.0]]), np.zeros(1)), (np.array([[2.0]]), np.array([-1.0]))])
    >>> bounds = Bounds(net, space)
    >>> cell, _ = bounds.bounded(bounds.root(space.whole()), rounds=1)
    >>> cell.upper.round(6)
    array([1.])

    """

    def __init__(self, net: ReluNet, space: Space, given: Vector | None = None, terms: int = 0) -> None:
        self.net, self.space = net, space
        self.given = np.zeros(len(net.biases[0])) if given is None else given
        self.terms = terms
        first = net.weights[0].T
        self.effects = space.inputs @ first
        self.spread = np.ptp(self.effects, axis=1)
        sizes = (np.abs(space.inputs) @ np.abs(first)).max(axis=1).sum(axis=0)
        self.magnitudes = net.magnitudes(sizes + self.given + np.abs(net.biases[0]))
        ends = np.cumsum([0, *(len(biases) for biases in net.biases[:-1])])
        self.layers = [slice(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
        self.hidden = int(ends[-1])
        rounding = 2 * (net.depth + 1) * gamma(net.operations + 8 * (space.count + terms), DOUBLE)
        self.slack = [rounding * each for each in self.magnitudes]
        self.slack_by_multiplier = np.concatenate([np.zeros(0), *self.slack[:-1]])
        self.between = _position_of_unknown(space)
        self.flat = self.effects.reshape(3 * space.count, first.shape[1])

    def within(self, region: Bools) -> Bounds:
        """The same network as a function of those base variables alone that a region leaves free."""
        fixed = np.flatnonzero(region.sum(axis=1) == 1)
        states = region[fixed].argmax(axis=1)
        net, inputs = self.net, self.space.inputs[fixed, states]
        biases = (net.biases[0] + self.effects[fixed, states].sum(axis=0), *net.biases[1:])
        given = self.given + np.abs(net.biases[0]) + np.abs(inputs).sum(axis=0) @ np.abs(net.weights[0]).T
        terms = self.terms + int((inputs != 0).sum()) + 1
        free = region.sum(axis=1) > 1
        return Bounds(replace(net, biases=biases), self.space.within(free), given, terms)

    def outputs(self, states: States) -> Vector:
        """The output for each input."""
        return self.net.from_first(self.sums(states))

    def sums(self, states: States) -> Numbers:
        """The first layer's sums for each input."""
        chosen = np.zeros((len(states), self.space.count, 3))
        np.put_along_axis(chosen, states[:, :, None], 1.0, axis=2)
        sums: Numbers = chosen.reshape(len(states), -1) @ self.flat + self.net.biases[0]
        return sums

    def root(self, region: Bools, rounds: int = 20) -> Cells:
        """A region as one cell, with ranges as good as slopes can make them."""
        limits = [size + slack for size, slack in zip(self.magnitudes[:-1], self.slack[:-1], strict=True)]
        limit = np.concatenate([np.zeros(0), *limits])[None]
        zero = np.zeros((1, self.hidden))
        cell = Cells(region[None], -limit, limit, zero, zero.copy(), zero.copy(), np.array([np.inf]))
        for layer in range(len(self.layers)):
            cell = self._ranged(cell, layer, rounds)
        return cell._replace(slopes=_plain_slopes(cell.low, cell.high))

    def ranged(self, cells: Cells) -> Cells:
        """The cells with tighter ranges, as far as their regions and signs allow with plain slopes."""
        for layer in range(len(self.layers)):
            cells = self._ranged(cells, layer)
        return cells

    def bounded(self, cells: Cells, rounds: int) -> tuple[Cells, Tried]:
        """The cells with their bounds, after some rounds of improving slopes and multipliers."""
        cells, tried = self._improved(cells, self.net.weights[-1], len(self.layers), rounds)
        slack = self.slack[-1][0] + cells.multipliers @ self.slack_by_multiplier
        outputs = tried.upper + self.net.biases[-1][0] + slack
        impossible = (cells.low > cells.high).any(axis=1)
        upper = np.where(impossible, -np.inf, np.minimum(cells.upper, outputs))
        return cells._replace(upper=upper), tried

    def glance(self, cells: Cells) -> Vector:
        """About what the cells' bounds would be with the slopes and multipliers that they have."""
        upper: Vector = self._tried(cells, self.net.weights[-1], len(self.layers)).upper
        return upper

    def _ranged(self, cells: Cells, layer: int, rounds: int = 0) -> Cells:
        """The ranges of one layer's sums; only units of open sign are bounded anew."""
        at = self.layers[layer]
        units = np.flatnonzero(cells.open[:, at].any(axis=0))
        if not len(units):
            return cells
        rows = self.net.weights[layer][units] if layer else np.eye(at.stop)[units]
        both = np.concatenate([rows, -rows])
        if rounds and layer:
            # every unit is a bound of its own, with its own slopes
            many = cells.take(np.zeros(len(both), np.intp))
            many = many._replace(slopes=_plain_slopes(many.low, many.high))
            most = self._improved(many, both, layer, rounds)[1].upper[None]
        else:
            most = self._plain(cells, both, layer)
        biases, slack = self.net.biases[layer][units], self.slack[layer][units]
        low, high = cells.low.copy(), cells.high.copy()
        places = at.start + units
        high[:, places] = np.minimum(high[:, places], most[:, : len(units)] + biases + slack)
        low[:, places] = np.maximum(low[:, places], biases - most[:, len(units) :] - slack)
        return cells._replace(low=low, high=high)

    def _plain(self, cells: Cells, rows: Numbers, layer: int) -> Numbers:
        """Bounds on rows of coefficients of a layer's inputs, (cells, rows), with plain slopes."""
        constant: Numbers = np.zeros((1, 1))
        coefficients = rows[None]
        for below in range(layer - 1, -1, -1):
            low, high = cells.low[:, self.layers[below]], cells.high[:, self.layers[below]]
            slope, intercept = (part[:, None] for part in _upper_lines(low, high))
            under = _under(low, high, _plain_slopes(low, high))[:, None]
            positive, negative = np.maximum(coefficients, 0), np.minimum(coefficients, 0)
            constant = constant + (positive * intercept).sum(axis=2)
            coefficients = positive * slope + negative * under
            constant = constant + coefficients @ self.net.biases[below]
            if below:
                coefficients = coefficients @ self.net.weights[below]
        return constant + self._most(coefficients, cells.regions)

    def _improved(self, cells: Cells, rows: Numbers, layer: int, rounds: int) -> tuple[Cells, Tried]:
        """The best bound found on rows of coefficients of a layer's inputs, one row a cell or one for all."""
        cells = cells._replace(slopes=cells.slopes.copy(), multipliers=cells.multipliers.copy())
        best = cells
        least = tried = self._tried(cells, rows, layer)
        moments = [np.zeros_like(cells.slopes) for _ in range(4)]
        for turn in range(1, rounds):
            rate = RATE * DECAY**turn
            slopes = cells.slopes - rate * _step(tried.by_slopes, moments[:2], turn)
            multipliers = cells.multipliers - rate * _step(tried.by_multipliers, moments[2:], turn)
            cells = cells._replace(slopes=np.clip(slopes, 0, 1), multipliers=np.maximum(multipliers, 0))
            tried = self._tried(cells, rows, layer)
            better = tried.upper < least.upper
            least = least.unless(better, tried)
            best = best._replace(
                slopes=_chosen(better, cells.slopes, best.slopes),
                multipliers=_chosen(better, cells.multipliers, best.multipliers),
            )
        return best, least

    def _tried(self, cells: Cells, rows: Numbers, layer: int) -> Tried:
        """The bound with the cells' slopes and multipliers, and its derivatives by them."""
        slope, intercept = _upper_lines(cells.low, cells.high)
        under = _under(cells.low, cells.high, cells.slopes)
        pulls = np.zeros((cells.size, self.hidden))
        line, shift = np.zeros_like(pulls), np.zeros_like(pulls)
        constant: Vector = np.zeros(cells.size)
        coefficients = rows
        for below in range(layer - 1, -1, -1):
            at = self.layers[below]
            pulls[:, at] = coefficients
            above = pulls[:, at] >= 0
            line[:, at] = np.where(above, slope[:, at], under[:, at])
            shift[:, at] = np.where(above, intercept[:, at], 0)
            constant = constant + (pulls[:, at] * shift[:, at]).sum(axis=1)
            coefficients = pulls[:, at] * line[:, at] + cells.multipliers[:, at] * cells.signs[:, at]
            constant = constant + coefficients @ self.net.biases[below]
            inputs = coefficients
            if below:
                coefficients = coefficients @ self.net.weights[below]
        effects = (inputs @ self.flat.T).reshape(cells.size, self.space.count, 3)
        highest, states = self.space.highest(effects, cells.regions)
        # where the bound is reached, the sums that the lines in use would have
        sums = np.zeros_like(pulls)
        current = self.sums(states)
        for below in range(layer):
            at = self.layers[below]
            sums[:, at] = current
            if below + 1 < layer:
                current = (line[:, at] * current + shift[:, at]) @ self.net.weights[below + 1].T
                current += self.net.biases[below + 1]
        by_slopes = np.minimum(pulls, 0) * sums * cells.open
        return Tried(constant + highest, states, pulls, inputs, by_slopes, cells.signs * sums)

    def _most(self, coefficients: Numbers, regions: Bools) -> Numbers:
        """The greatest values of linear functions of the first layer's sums in each region, (k, rows)."""
        if self.between is None:
            effects = (coefficients @ self.flat.T).reshape(*coefficients.shape[:-1], self.space.count, 3)
            return self.space.most(np.broadcast_to(effects, (len(regions), *effects.shape[-3:])), regions)
        # states lie on a line, so the greatest value is at one end or the other
        positions = np.stack([np.zeros(self.space.count), self.between, np.ones(self.space.count)], axis=1)
        low = np.where(regions, positions, 2).min(axis=2)
        high = np.where(regions, positions, -1).max(axis=2)
        along = coefficients @ (self.effects[:, TRUE] - self.effects[:, FALSE]).T
        middle, radius = (high + low) / 2, (high - low) / 2
        moved = (along @ middle[:, :, None] + np.abs(along) @ radius[:, :, None])[:, :, 0]
        most: Numbers = moved + coefficients @ self.effects[:, FALSE].sum(axis=0)
        return most


def _chosen(better: Bools, new: NDArray[Any], old: NDArray[Any]) -> NDArray[Any]:
    """The new rows where they are better, else the old ones."""
    return np.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)


def _step(gradient: Numbers, moments: list[Numbers], turn: int) -> Numbers:
    """Adam's step for a gradient; the moments are brought up to date in place."""
    first, second = MOMENTUM
    moments[0] *= first
    moments[0] += (1 - first) * gradient
    moments[1] *= second
    moments[1] += (1 - second) * gradient**2
    step: Numbers = moments[0] / (1 - first**turn) / (np.sqrt(moments[1] / (1 - second**turn)) + 1e-12)
    return step


def _upper_lines(low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
    """Slope and intercept of the line above each ReLU."""
    open_ = (low < 0) & (high > 0)
    slope = np.where(open_, high / np.where(open_, high - low, 1), low >= 0)
    return slope, np.where(open_, -low * slope, 0)


def _under(low: Numbers, high: Numbers, slopes: Numbers) -> Numbers:
    """The slope of the line below each ReLU, which goes through 0."""
    under: Numbers = np.where((low < 0) & (high > 0), slopes, low >= 0)
    return under


def _plain_slopes(low: Numbers, high: Numbers) -> Numbers:
    """Slopes of lower lines that leave the smaller triangle."""
    return (high > -low).astype(np.float64)


def _position_of_unknown(space: Space) -> Vector | None:
    """Where ? lies between false and true for each base variable, if it does and there are no groups."""
    if space.groups:
        return None
    step = space.inputs[:, TRUE] - space.inputs[:, FALSE]
    middle = space.inputs[:, UNKNOWN] - space.inputs[:, FALSE]
    position: Vector = (middle * step).sum(axis=1) / np.maximum((step * step).sum(axis=1), 1e-300)
    straight = (middle == position[:, None] * step).all()
    return position if straight and ((position >= 0) & (position <= 1)).all() else None
