"""Linear bounds on the output of a network over many cells at once, sound in floating point.

A cell is a region of inputs, cut further by the signs that some units' sums are to have. Every
ReLU whose sum can have either sign is put between two lines; going backwards through the layers,
the output lies under a linear function of the inputs, whose greatest value is found base variable
by base variable, or group by group. The slopes of the lower lines, and a multiplier for each sign that
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

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hornbook.logic.bits import Bools
from hornbook.oracles.proof.cells import Cells, Tried, chosen
from hornbook.oracles.proof.extremes import Extremes
from hornbook.oracles.proof.layers import DOUBLE, Link, ReluNet, Vector, gamma
from hornbook.oracles.proof.lines import Lines, plain_slopes
from hornbook.oracles.proof.region import FALSE, TRUE, Numbers, Space, States

RATE, DECAY, MOMENTUM = 0.2, 0.97, (0.8, 0.99)
"""How slopes and multipliers are improved: Adam's step sizes."""

ROWS = 512
"""Sums bounded at a time."""

ROUGH = 5
"""Rounds for a bound that only says how hard a question is."""


class Back(NamedTuple):
    """A linear function of the first layer's sums that lies above rows of coefficients of a later layer.

    `pulls`, `line` and `shift` are what it came to on the way, layer by layer: the coefficients of
    the units' outputs, and the lines that were put in their place.
    """

    constant: Vector
    inputs: Numbers
    pulls: list[Numbers]
    line: list[Numbers]
    shift: list[Numbers]


class Bounds:
    """Bounds the output of one network over cells of one region.

    Parameters
    ----------
    net
        The network.
    space
        Its inputs.
    region
        Those in question; by default all.
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
    >>> cell, _ = bounds.bounded(bounds.root(), rounds=1)
    >>> cell.upper.round(6)
    array([1.])

    """

    def __init__(
        self,
        net: ReluNet,
        space: Space,
        region: Bools | None = None,
        given: Vector | None = None,
        terms: int = 0,
    ) -> None:
        self.net, self.space = net, space
        self.region = space.whole() if region is None else region
        self.given = np.zeros(len(net.biases[0])) if given is None else given
        self.terms = terms
        first = net.weights[0].T
        self.effects = space.inputs @ first
        self.flat = self.effects.reshape(3 * space.count, first.shape[1])
        self.extremes = Extremes(space, first, self.region)
        sizes = (np.abs(space.inputs) @ np.abs(first)).max(axis=1).sum(axis=0)
        self.magnitudes = net.magnitudes(sizes + self.given + np.abs(net.biases[0]))
        ends = np.cumsum([0, *(len(biases) for biases in net.biases[:-1])])
        self.layers = [slice(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
        self.hidden = int(ends[-1])
        rounding = 2 * (net.depth + 1) * gamma(net.operations + 8 * (space.count + terms), DOUBLE)
        self.slack = [rounding * each for each in self.magnitudes]
        self.slack_by_multiplier = np.concatenate([np.zeros(0), *self.slack[:-1]])

    def within(self, region: Bools) -> Bounds:
        """The same network as a function of those base variables alone that a region leaves free."""
        fixed = np.flatnonzero(region.sum(axis=1) == 1)
        states = region[fixed].argmax(axis=1)
        net, inputs = self.net, self.space.inputs[fixed, states]
        biases = (net.biases[0] + self.effects[fixed, states].sum(axis=0), *net.biases[1:])
        given = self.given + np.abs(net.biases[0]) + np.abs(inputs).sum(axis=0) @ np.abs(net.weights[0]).T
        terms = self.terms + int((inputs != 0).sum()) + 1
        free = region.sum(axis=1) > 1
        return Bounds(replace(net, biases=biases), self.space.within(free), region[free], given, terms)

    def outputs(self, states: States) -> Vector:
        """The output for each input."""
        return self.net.from_first(self.sums(states))

    def sums(self, states: States) -> Numbers:
        """The first layer's sums for each input."""
        sums: Numbers = _indicators(states) @ self.flat + self.net.biases[0]
        return sums

    def evaluate(self, states: States) -> tuple[Vector, Vector]:
        """The output for each input, and by how much the model's may differ from it."""
        net, sums = self.net, self.sums(states)
        sizes = (np.abs(self.space.inputs) @ np.abs(net.weights[0].T)).reshape(self.flat.shape)
        sizes = _indicators(states) @ sizes + np.abs(net.biases[0])
        # twice, for the output here is rounded too; an input may be rounded, hence the two more
        off = 2 * gamma(self.space.inputs.shape[2] + 3, net.roundoff) * sizes
        for layer in range(1, net.depth):
            weights, biases = net.weights[layer], net.biases[layer]
            heights = np.maximum(sums, 0)
            sums = heights @ weights.T + biases
            last = layer == net.depth - 1 and net.summed
            size, constant = last or (np.abs(weights), np.abs(biases))
            fresh = 2 * gamma(weights.shape[1] + 3, net.roundoff) * ((heights + off) @ size.T + constant)
            off = off @ np.abs(weights).T + fresh
        return sums[:, 0], off[:, 0]

    @property
    def link(self) -> Link:
        """How the model's score follows from the output."""
        return self.net.link

    def after(self, here: States, moves: States) -> Numbers:
        """The outputs at each input after each move; the first sums are updated, not computed anew."""
        effects, (variables, target) = self.effects, moves.T
        sums: Numbers = self.sums(here)[:, None] + effects[variables, target]
        sums -= effects[variables, here[:, variables]]
        for members in self.space.groups:
            gone = effects[members, FALSE] - effects[members, here[:, members]]
            total = gone.sum(axis=1)
            for place, variable in enumerate(members.tolist()):
                raised = np.flatnonzero((variables == variable) & (target == TRUE))
                sums[:, raised] += (total - gone[:, place])[:, None]
        return self.net.from_first(sums.reshape(-1, sums.shape[2])).reshape(len(here), -1)

    def rough(self) -> float:
        """What one linear bound says of all inputs in question."""
        return float(self.bounded(self.root(ROUGH), ROUGH)[0].upper[0])

    @property
    def numbers(self) -> Iterator[Numbers]:
        """All that decides the output."""
        yield from (*self.net.weights, *self.net.biases)

    def root(self, rounds: int = 20) -> Cells:
        """The whole region as one cell, with ranges as good as slopes can make them."""
        limits = [size + slack for size, slack in zip(self.magnitudes[:-1], self.slack[:-1], strict=True)]
        limit = np.concatenate([np.zeros(0), *limits])[None]
        zero = np.zeros((1, self.hidden))
        cell = Cells(self.region[None], -limit, limit, zero, zero, zero, np.array([np.inf]))
        for layer in range(len(self.layers)):
            cell = self._ranged(cell, layer, rounds)
        return cell

    def ranged(self, cells: Cells) -> Cells:
        """The cells with tighter ranges, as far as their signs allow with plain slopes.

        The first layer's sums depend on no signs, and once inputs are split no sign is open.
        """
        cells = cells._replace(slopes=plain_slopes(cells.low, cells.high))
        for layer in range(1, len(self.layers)):
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

    def glance(self, lines: Lines, multiplied: Numbers) -> Vector:
        """About what bounds would be with some lines, and signs by their multipliers."""
        back = self._back(self.net.weights[-1], lines, multiplied, len(self.layers))
        upper: Vector = back.constant + self.extremes(back.inputs) + self.net.biases[-1][0]
        return upper

    def _ranged(self, cells: Cells, layer: int, rounds: int = 1) -> Cells:
        """The ranges of one layer's sums; only units of open sign are bounded anew."""
        at = self.layers[layer]
        rows, units = np.nonzero(cells.open[:, at])
        weights = self.net.weights[layer][units] if layer else np.eye(at.stop)[units]
        both = np.stack([weights, -weights])
        most = np.empty(both.shape[:2])
        if rounds > 1 and layer:
            # every sum is a bound of its own, with its own slopes
            for side in (0, 1):
                most[side] = self._improved(cells.take(rows), both[side], layer, rounds)[1].upper
        else:
            lines = Lines.of(cells)
            for start in range(0, len(rows), ROWS):
                part = slice(start, start + ROWS)
                back = self._back(both[:, part], lines.below(at.start, rows[part]), None, layer)
                most[:, part] = back.constant + self.extremes(back.inputs)
        biases, slack = self.net.biases[layer][units], self.slack[layer][units]
        low, high = cells.low.copy(), cells.high.copy()
        places = (rows, at.start + units)
        high[places] = np.minimum(high[places], most[0] + biases + slack)
        low[places] = np.maximum(low[places], biases - most[1] - slack)
        return cells._replace(low=low, high=high, slopes=plain_slopes(low, high))

    def _improved(self, cells: Cells, rows: Numbers, layer: int, rounds: int) -> tuple[Cells, Tried]:
        """The best bound found on rows of coefficients of a layer's inputs, one row a cell or one for all."""
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
                slopes=chosen(better, cells.slopes, best.slopes),
                multipliers=chosen(better, cells.multipliers, best.multipliers),
            )
        return best, least

    def _back(self, rows: Numbers, lines: Lines, multiplied: Numbers | None, layer: int) -> Back:
        """Go backwards from rows of coefficients of a layer's inputs, (..., units), to the first sums."""
        constant: Vector = np.zeros(1)
        coefficients = rows
        pulls, line, shift = [], [], []
        for below in range(layer - 1, -1, -1):
            at = self.layers[below]
            above = coefficients >= 0
            pulls.append(coefficients)
            line.append(np.where(above, lines.slope[..., at], lines.under[..., at]))
            shift.append(np.where(above, lines.intercept[..., at], 0))
            constant = constant + np.vecdot(coefficients, shift[-1])
            coefficients = coefficients * line[-1]
            if multiplied is not None:
                coefficients += multiplied[..., at]
            constant = constant + coefficients @ self.net.biases[below]
            inputs = coefficients
            if below:
                coefficients = coefficients @ self.net.weights[below]
        if not layer:
            inputs = rows
        return Back(constant, inputs, pulls[::-1], line[::-1], shift[::-1])

    def _tried(self, cells: Cells, rows: Numbers, layer: int) -> Tried:
        """The bound with the cells' slopes and multipliers, and its derivatives by them."""
        back = self._back(rows, Lines.of(cells), cells.multipliers * cells.signs, layer)
        effects = (back.inputs @ self.flat.T).reshape(cells.size, self.space.count, 3)
        highest, states = self.space.highest(effects, cells.regions)
        # where the bound is reached, the sums that the lines in use would have
        pulls, sums = np.zeros((2, cells.size, self.hidden))
        current = self.sums(states)
        for below in range(layer):
            at = self.layers[below]
            sums[:, at], pulls[:, at] = current, back.pulls[below]
            if below + 1 < layer:
                current = (back.line[below] * current + back.shift[below]) @ self.net.weights[below + 1].T
                current += self.net.biases[below + 1]
        by_slopes = np.minimum(pulls, 0) * sums * cells.open
        return Tried(back.constant + highest, states, pulls, back.inputs, by_slopes, cells.signs * sums)


def _indicators(states: States) -> Numbers:
    """1 for the state of each base variable, 0 for its other states, shape (k, 3·m)."""
    indicators = np.zeros((*states.shape, 3))
    np.put_along_axis(indicators, states[:, :, None], 1.0, axis=2)
    return indicators.reshape(len(states), -1)


def _step(gradient: Numbers, moments: list[Numbers], turn: int) -> Numbers:
    """Adam's step for a gradient; the moments are brought up to date in place."""
    first, second = MOMENTUM
    moments[0] *= first
    moments[0] += (1 - first) * gradient
    moments[1] *= second
    moments[1] += (1 - second) * gradient**2
    step: Numbers = moments[0] / (1 - first**turn) / (np.sqrt(moments[1] / (1 - second**turn)) + 1e-12)
    return step
