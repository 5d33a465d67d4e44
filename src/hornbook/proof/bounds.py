"""Upper bounds on a ReLU network's output over regions of inputs, and on the model's rounding error.

`Bounds` relaxes every ReLU whose sign is open to two lines (`Relaxation`) and goes backwards from
the output to the inputs, where the maximum of a linear function is known (`LinearMaximiser`). The
slopes of the lower lines, and Lagrange multipliers for signs that a cell fixes, are improved by
gradient steps.

`Rounding` bounds how far the model's floating-point output is from the exact network N. With unit
roundoff u, a sum of n products in any order is off by at most n·u/(1 - n·u) times the sum of their
magnitudes; call that error δ for a layer's sums. A ReLU multiplies a difference by a number between
0 and 1: 1 for a unit that is always on, 0 for one that is always off. So the output is off by at most
the sum of J·δ over the layers, where J is a product of weights and such numbers. Bounds on J narrow
with the region; where all signs are certain, J is the gradient.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hornbook.logic import Bools
from hornbook.models import Predictor
from hornbook.proof.network import DOUBLE_ROUNDOFF, ReluNet, ScoreLink, Vector, gamma, unprovable
from hornbook.proof.region import FALSE, TRUE, UNKNOWN, InputSpace, Numbers, States


class Cells(NamedTuple):
    """Branch-and-bound subproblems, one per row: an input region plus fixed ReLU signs.

    `low` and `high` bound the pre-activations of the hidden units, all layers side by side;
    `signs` is 1 where a pre-activation must be at least 0, -1 where at most 0, and 0 where it is
    free; `slopes` and `multipliers` are the last ones used; `upper` bounds the output. `tight` is the
    number of layers whose ranges cannot be tightened: those up to the unit whose sign was fixed last.
    """

    regions: Bools  # (cells, base variables, states)
    low: Numbers  # (cells, units), like the next four
    high: Numbers
    signs: Numbers
    slopes: Numbers
    multipliers: Numbers
    upper: Vector  # (cells,)
    tight: States  # (cells,)

    def take(self, items: slice | States | Bools) -> Cells:
        """Select some of the cells."""
        return Cells(*(getattr(self, field)[items] for field in self._fields))

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.upper)

    @property
    def open(self) -> Bools:
        """Whether each unit's pre-activation can have either sign, shape (cells, units)."""
        return (self.low < 0) & (self.high > 0)

    @classmethod
    def concatenate(cls, several: Iterable[Cells]) -> Cells:
        """Concatenate several sets of cells."""
        columns = zip(
            *(tuple(getattr(cells, field) for field in cls._fields) for cells in several), strict=True
        )
        return cls(*(np.concatenate(column) for column in columns))


class RelaxedBound(NamedTuple):
    """The bound of one choice of slopes and multipliers, the input that reaches it, and its gradients.

    `pulls` are the coefficients of the units' outputs, `inputs` those of the first layer's sums.
    """

    upper: Vector  # (cells,)
    states: States  # (cells, base variables)
    pulls: Numbers  # (cells, units)
    inputs: Numbers  # (cells, units of the first layer)
    by_slopes: Numbers  # (cells, units)
    by_multipliers: Numbers  # (cells, units)

    def take(self, items: States) -> RelaxedBound:
        """Select the bounds of some of the cells."""
        return RelaxedBound(*(getattr(self, field)[items] for field in self._fields))


class LinearMaximiser:
    """Maximises linear functions of the first layer's sums over a region of inputs.

    Parameters
    ----------
    space
        The inputs.
    weights
        Of the first layer, (inputs, units).
    region
        The states allowed, without those that groups rule out; see `Space.propagate_groups`.

    """

    def __init__(self, space: InputSpace, weights: Numbers, region: Bools) -> None:
        first = space.inputs[np.arange(space.count), region.argmax(axis=1)]
        allowed = np.where(region[:, :, None], space.inputs, first[:, None])
        false = allowed[:, FALSE]
        true, unknown = allowed[:, TRUE] - false, allowed[:, UNKNOWN] - false
        self.false = false.sum(axis=0) @ weights
        alone = np.ones(space.count, np.bool_)
        for members in space.groups_by_size:
            alone[members] = False
        self.true = (true[alone] @ weights).T
        self.others: list[tuple[States, Numbers]] = []
        """For each other state, the places and the effects of the variables for which it may be best."""
        for state in (UNKNOWN, *range(TRUE + 1, region.shape[1])):
            step = allowed[:, state] - false
            # a state that is false, or halfway between false and true, is never better than both
            off = alone & (step != 0).any(axis=1) & (2 * step != true).any(axis=1)
            if off.any():
                self.others.append((np.flatnonzero(off[alone]), (step[off] @ weights).T))
        self.groups = [
            [
                (
                    (true[each] @ weights).T,
                    None if (2 * unknown[each] == true[each]).all() else (unknown[each] @ weights).T,
                )
                for each in members.T
            ]
            for members in space.groups_by_size
        ]
        """For each group size, the effects of the groups' first members, second members, and so on.

        Of each, that of true and that of unknown, which is None if it is half of the other.
        """

    def __call__(self, coefficients: Numbers) -> Numbers:
        """Return the maximum for each row of coefficients; shape (..., units) to (...)."""
        best = np.maximum(coefficients @ self.true, 0)
        for places, effects in self.others:
            best[..., places] = np.maximum(best[..., places], coefficients @ effects)
        most: Numbers = coefficients @ self.false + best @ np.ones(best.shape[-1])
        for members in self.groups:
            one = none = np.zeros(1)
            for true, unknown in members:
                rise = coefficients @ true
                one = np.maximum(one, rise)
                none = none + np.maximum(rise / 2 if unknown is None else coefficients @ unknown, 0)
            most += np.maximum(one, none) @ np.ones(one.shape[-1])
        return most


class Relaxation(NamedTuple):
    """Linear bounds of ReLUs: under·x ≤ max(x, 0) ≤ slope·x + intercept, each of shape (cells, units)."""

    slope: Numbers
    intercept: Numbers
    under: Numbers

    @classmethod
    def of(cls, cells: Cells) -> Relaxation:
        """Relax the ReLUs of cells; where a sign is open, the cell chooses the slope of the lower line."""
        low, high, open_ = cells.low, cells.high, cells.open
        on = (low >= 0).astype(np.float64)
        slope = np.divide(high, high - low, out=on.copy(), where=open_)
        return cls(slope, np.where(open_, -low * slope, 0), np.where(open_, cells.slopes, on))

    def before_unit(self, unit: int, rows: States) -> Relaxation:
        """Select some cells, and the units before the given one."""
        return Relaxation(*(part[:, :unit][rows] for part in self))

    def with_sign(self, rows: States, units: States, sign: float) -> Relaxation:
        """Select some cells, and fix the sign of one more unit in each."""
        on = float(sign > 0)
        relaxation = Relaxation(*(part[rows] for part in self))
        for part, value in zip(relaxation, (on, 0.0, on), strict=True):
            part[np.arange(len(rows)), units] = value
        return relaxation


def plain_slopes(low: Numbers, high: Numbers) -> Numbers:
    """Slopes of the lower lines, 0 or 1, that leave the smaller triangle."""
    return (high > -low).astype(np.float64)


STEP_SIZE, STEP_DECAY, ADAM_DECAYS = 0.2, 0.97, (0.8, 0.99)
"""Adam's settings when slopes and multipliers are improved."""

SUMS_PER_BLOCK = 512
"""Number of pre-activations bounded at a time."""

LARGEST_SUM = 1e30
"""The range of a pre-activation before any bound is known; models that may exceed it are refused."""


class BackwardBound(NamedTuple):
    """A linear function of the first layer's sums that bounds linear functions of a later layer's inputs.

    `pulls` holds, layer by layer, the coefficients of the units' outputs.
    """

    constant: Vector
    inputs: Numbers
    pulls: list[Numbers]


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
        and of how many terms that is; see `restrict_to`.

    Examples
    --------
    >>> from hornbook.logic import Vocabulary
    >>> from hornbook.models import Encoding
    >>> from hornbook.proof.region import Space
    >>> space = Space.of(Vocabulary(["sunny", "happy"]), Encoding())
    >>> net = ReluNet.of([(np.array([[1.0, -1.0]]), np.zeros(1)), (np.array([[2.0]]), np.array([-1.0]))])
    >>> bounds = Bounds(net, space)
    >>> cell, _ = bounds.bound_cells(bounds.root(), rounds=1)
    >>> cell.upper.round(6)
    array([1.])

    """

    def __init__(
        self,
        net: ReluNet,
        space: InputSpace,
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
        self.flat = self.effects.reshape(-1, first.shape[1])
        self.maximise = LinearMaximiser(space, first, self.region)
        sizes = (np.abs(space.inputs) @ np.abs(first)).max(axis=1).sum(axis=0)
        self.magnitudes = net.magnitudes(sizes + self.given + np.abs(net.biases[0]))
        ends = np.cumsum([0, *(len(biases) for biases in net.biases[:-1])])
        self.layers = [slice(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
        self.hidden = int(ends[-1])
        rounding = 2 * (net.depth + 1) * gamma(net.operations + 8 * (space.count + terms), DOUBLE_ROUNDOFF)
        self.slack = [rounding * each for each in self.magnitudes]
        self.slack_by_multiplier = np.concatenate([np.zeros(0), *self.slack[:-1]])

    def refuse_overflow(self, predictor: Predictor) -> None:
        """Refuse a model whose sums single precision might not hold."""
        if max(sizes.max() for sizes in self.magnitudes) > LARGEST_SUM:
            raise unprovable(predictor, f"its sums may be above {LARGEST_SUM:g}, so they may overflow")

    def restrict_to(self, region: Bools) -> Bounds:
        """Restrict the network to the base variables that a region leaves free."""
        fixed = np.flatnonzero(region.sum(axis=1) == 1)
        states = region[fixed].argmax(axis=1)
        net, inputs = self.net, self.space.inputs[fixed, states]
        biases = (net.biases[0] + self.effects[fixed, states].sum(axis=0), *net.biases[1:])
        given = self.given + np.abs(net.biases[0]) + np.abs(inputs).sum(axis=0) @ np.abs(net.weights[0]).T
        terms = self.terms + int((inputs != 0).sum()) + 1
        free = region.sum(axis=1) > 1
        return Bounds(replace(net, biases=biases), self.space.restrict_to(free), region[free], given, terms)

    def outputs(self, states: States) -> Vector:
        """The output for each input."""
        return self.net.from_first(self.sums(states))

    def sums(self, states: States) -> Numbers:
        """The first layer's sums for each input."""
        indicators = _indicators(states, self.effects.shape[1])
        sums: Numbers = indicators @ self.flat + self.net.biases[0]
        return sums

    def evaluate(self, states: States) -> tuple[Vector, Vector]:
        """Return the output for each input, and a bound on the model's deviation from it."""
        return self.evaluate_inputs(self.space.encode_states(states))

    def evaluate_inputs(self, inputs: Numbers) -> tuple[Vector, Vector]:
        """The same for encoded inputs, (k, inputs of the network)."""
        net = self.net
        sums = inputs @ net.weights[0].T + net.biases[0]
        sizes = np.abs(inputs) @ np.abs(net.weights[0].T) + np.abs(net.biases[0]) + self.given
        # twice, for the output here is rounded too; an input may be rounded, hence the two more
        off = 2 * gamma(inputs.shape[1] + 3 + self.terms, net.roundoff) * sizes
        for layer in range(1, net.depth):
            weights, biases = net.weights[layer], net.biases[layer]
            heights = np.maximum(sums, 0)
            sums = heights @ weights.T + biases
            last = layer == net.depth - 1 and net.output_magnitudes
            size, constant = last or (np.abs(weights), np.abs(biases))
            fresh = 2 * gamma(weights.shape[1] + 3, net.roundoff) * ((heights + off) @ size.T + constant)
            off = off @ np.abs(weights).T + fresh
        return sums[:, 0], off[:, 0]

    @property
    def link(self) -> ScoreLink:
        """The relation between the output and the model's score."""
        return self.net.link

    def outputs_after_moves(self, here: States, moves: States) -> Numbers:
        """Return the outputs at each input after each move, shape (inputs, moves).

        The first layer's sums are updated rather than computed again.
        """
        effects, (variables, target) = self.effects, moves.T
        sums: Numbers = self.sums(here)[:, None] + effects[variables, target]
        sums -= effects[variables, here[:, variables]]
        raised = np.flatnonzero((target == TRUE) & (self.space.group_of[variables] >= 0))
        if len(raised):  # then the others of the group become false
            gone = (
                effects[:, FALSE] - effects[np.arange(self.space.count), here]
            )  # (inputs, variables, units)
            totals = np.stack([gone[:, members].sum(axis=1) for members in self.space.groups], axis=1)
            sums[:, raised] += totals[:, self.space.group_of[variables[raised]]] - gone[:, variables[raised]]
        return self.net.from_first(sums.reshape(-1, sums.shape[2])).reshape(len(here), -1)

    def root(self, rounds: int = 20) -> Cells:
        """Return the whole region as one cell, with optimised ranges of the pre-activations."""
        limits = [size + slack for size, slack in zip(self.magnitudes[:-1], self.slack[:-1], strict=True)]
        limit = np.concatenate([np.zeros(0), *limits])[None]
        zero = np.zeros((1, self.hidden))
        none = np.zeros(1, np.intp)
        cell = Cells(self.region[None], -limit, limit, zero, zero, zero, np.array([np.inf]), none)
        for layer in range(len(self.layers)):
            cell = self._tighten_layer(cell, layer, rounds)
        return cell._replace(tight=none + 1)

    def tighten_ranges(self, cells: Cells) -> Cells:
        """Tighten the ranges of the pre-activations, given the fixed signs, with plain slopes.

        The first layer's sums depend on no signs, and once inputs are split no sign is open.
        """
        cells = cells._replace(slopes=plain_slopes(cells.low, cells.high))
        for layer in range(1, len(self.layers)):
            cells = self._tighten_layer(cells, layer)
        return cells

    def bound_cells(
        self, cells: Cells, rounds: int, rounding: Vector | None = None
    ) -> tuple[Cells, RelaxedBound]:
        """Bound the output of each cell, after some rounds of improving slopes and multipliers.

        If `rounding` is given, a cell is left alone as soon as its bound is below 0 by more than that.
        """
        bias, slack = self.net.biases[-1][0], self.slack[-1][0]
        enough = None if rounding is None else -(rounding + bias + 2 * slack)
        cells, tried = self._optimise_bound(cells, self.net.weights[-1], len(self.layers), rounds, enough)
        outputs = tried.upper + bias + slack + cells.multipliers @ self.slack_by_multiplier
        impossible = (cells.low > cells.high).any(axis=1)
        upper = np.where(impossible, -np.inf, np.minimum(cells.upper, outputs))
        return cells._replace(upper=upper), tried

    def quick_bound(self, relaxation: Relaxation, multiplied: Numbers) -> Vector:
        """Estimate the bound of each cell for given lines and signed multipliers, without improvement."""
        back = self._propagate_back(self.net.weights[-1], relaxation, multiplied, len(self.layers))
        upper: Vector = back.constant + self.maximise(back.inputs) + self.net.biases[-1][0]
        return upper

    def _tighten_layer(
        self,
        cells: Cells,
        layer: int,
        rounds: int = 1,
    ) -> Cells:
        """Tighten the ranges of one layer's pre-activations, for units of open sign."""
        at = self.layers[layer]
        rows, units = np.nonzero(cells.open[:, at] & (cells.tight <= layer)[:, None])
        weights = self.net.weights[layer][units] if layer else np.eye(at.stop)[units]
        both = np.stack([weights, -weights])  # (2, sums, units below): upper and lower bounds
        most = np.empty(both.shape[:2])
        if rounds > 1 and layer:
            # every sum is a bound of its own, with its own slopes
            for side in (0, 1):
                most[side] = self._optimise_bound(cells.take(rows), both[side], layer, rounds)[1].upper
        else:
            relaxation = Relaxation.of(cells)
            for start in range(0, len(rows), SUMS_PER_BLOCK):
                part = slice(start, start + SUMS_PER_BLOCK)
                back = self._propagate_back(
                    both[:, part], relaxation.before_unit(at.start, rows[part]), None, layer
                )
                most[:, part] = back.constant + self.maximise(back.inputs)
        biases, slack = self.net.biases[layer][units], self.slack[layer][units]
        low, high = cells.low.copy(), cells.high.copy()
        places = (rows, at.start + units)
        high[places] = np.minimum(high[places], most[0] + biases + slack)
        low[places] = np.maximum(low[places], biases - most[1] - slack)
        return cells._replace(low=low, high=high, slopes=plain_slopes(low, high))

    def _optimise_bound(
        self, cells: Cells, rows: Numbers, layer: int, rounds: int, enough: Vector | None = None
    ) -> tuple[Cells, RelaxedBound]:
        """Minimise the bound over slopes and multipliers; `rows` is one row per cell, or one for all.

        With one row for all, cells whose bound is below `enough`, (cells,), are not improved further.
        """
        tried = self._relaxed_bound(cells, rows, layer)
        least = tried.take(np.arange(cells.size))
        slopes, multipliers = cells.slopes.copy(), cells.multipliers.copy()
        best = cells._replace(slopes=slopes, multipliers=multipliers)
        moments = [np.zeros_like(cells.slopes) for _ in range(4)]
        active: States = np.arange(cells.size)
        for turn in range(1, rounds):
            if enough is not None:
                going = np.flatnonzero(least.upper[active] >= enough[active])
                if not len(going):
                    break
                if len(going) < len(active):
                    active, cells, tried = active[going], cells.take(going), tried.take(going)
                    moments = [each[going] for each in moments]
            rate = STEP_SIZE * STEP_DECAY**turn
            moved = cells.slopes - rate * _step(tried.by_slopes, moments[:2], turn)
            weighted = cells.multipliers - rate * _step(tried.by_multipliers, moments[2:], turn)
            cells = cells._replace(slopes=np.clip(moved, 0, 1), multipliers=np.maximum(weighted, 0))
            tried = self._relaxed_bound(cells, rows, layer)
            better = np.flatnonzero(tried.upper < least.upper[active])
            places = active[better]
            for old, new in zip(least, tried, strict=True):
                old[places] = new[better]
            slopes[places], multipliers[places] = cells.slopes[better], cells.multipliers[better]
        return best, least

    def _propagate_back(
        self, rows: Numbers, relaxation: Relaxation, multiplied: Numbers | None, layer: int
    ) -> BackwardBound:
        """Propagate coefficients of a layer's inputs, (..., units), back to the first layer's sums."""
        constant: Vector = np.zeros(1)
        coefficients = rows
        pulls = []
        for below in range(layer - 1, -1, -1):
            at = self.layers[below]
            pulls.append(coefficients)
            # the upper line replaces a ReLU that raises the sum, the lower line one that lowers it
            raising = np.maximum(coefficients, 0)
            constant = constant + np.vecdot(raising, relaxation.intercept[..., at])
            lowered = (coefficients - raising) * relaxation.under[..., at]
            coefficients = raising * relaxation.slope[..., at]
            coefficients += lowered
            if multiplied is not None:
                coefficients += multiplied[..., at]
            constant = constant + coefficients @ self.net.biases[below]
            inputs = coefficients
            if below:
                coefficients = coefficients @ self.net.weights[below]
        if not layer:
            inputs = rows
        return BackwardBound(constant, inputs, pulls[::-1])

    def _relaxed_bound(self, cells: Cells, rows: Numbers, layer: int) -> RelaxedBound:
        """Compute the bound for the cells' slopes and multipliers, and its gradients."""
        relaxation = Relaxation.of(cells)
        back = self._propagate_back(rows, relaxation, cells.multipliers * cells.signs, layer)
        # (cells, base variables, states): what each state of each base variable adds
        effects = (back.inputs @ self.flat.T).reshape(cells.size, *self.effects.shape[:2])
        highest, states = self.space.maximise_effects(effects, cells.regions)
        # at the input that reaches the bound, the pre-activations that the lines would give: (cells, units)
        pulls, sums = np.zeros((2, cells.size, self.hidden))
        current = self.sums(states)
        for below in range(layer):
            at = self.layers[below]
            sums[:, at], pulls[:, at] = current, back.pulls[below]
            if below + 1 < layer:
                above = back.pulls[below] >= 0
                line = np.where(above, relaxation.slope[:, at], relaxation.under[:, at])
                shift = np.where(above, relaxation.intercept[:, at], 0)
                current = (line * current + shift) @ self.net.weights[below + 1].T
                current += self.net.biases[below + 1]
        by_slopes = np.minimum(pulls, 0) * sums * cells.open
        return RelaxedBound(
            back.constant + highest, states, pulls, back.inputs, by_slopes, cells.signs * sums
        )


def _indicators(states: States, count: int) -> Numbers:
    """One-hot encode the state of each base variable, shape (inputs, base variables · states)."""
    indicators = np.zeros((*states.shape, count))
    np.put_along_axis(indicators, states[:, :, None], 1.0, axis=2)
    return indicators.reshape(len(states), -1)


def _step(gradient: Numbers, moments: list[Numbers], turn: int) -> Numbers:
    """Compute Adam's step for a gradient; the moments are updated in place."""
    first, second = ADAM_DECAYS
    moments[0] *= first
    moments[0] += (1 - first) * gradient
    moments[1] *= second
    moments[1] += (1 - second) * gradient**2
    step: Numbers = moments[0] / (1 - first**turn) / (np.sqrt(moments[1] / (1 - second**turn)) + 1e-12)
    return step


class Rounding:
    """Bounds the rounding error of a model's output over parts of one region.

    Parameters
    ----------
    bounds
        The network and its inputs.
    root
        The region whose parts are asked about, as a cell with ranges.

    """

    def __init__(self, bounds: Bounds, root: Cells) -> None:
        net, space = bounds.net, bounds.space
        self.net, self.layers = net, bounds.layers
        sizes = [
            (np.abs(weights), np.abs(biases)) for weights, biases in zip(net.weights, net.biases, strict=True)
        ]
        sizes[-1] = net.output_magnitudes or sizes[-1]
        allowed = np.where(root.regions[0][:, :, None], np.abs(space.inputs), 0)
        terms = (allowed > 0).sum(axis=2).max(axis=1).sum() + bounds.terms + 1
        terms += 2  # products by other numbers than powers of two are rounded too
        first = (allowed @ sizes[0][0].T).max(axis=1).sum(axis=0) + sizes[0][1] + bounds.given
        self.fresh = [gamma(int(terms) + 1, net.roundoff) * first]
        """The error of each layer's sums caused by its own roundings."""
        self.off = [self.fresh[0]]
        """A crude bound on the total error of each layer's sums; it only decides which signs are certain."""
        for layer in range(1, net.depth):
            highest = np.maximum(root.high[0, self.layers[layer - 1]] + self.off[-1], 0)
            weights, biases = sizes[layer]
            self.fresh.append(gamma(weights.shape[1] + 3, net.roundoff) * (weights @ highest + biases))
            self.off.append(
                np.abs(net.weights[layer]) @ np.where(highest > 0, self.off[-1], 0) + self.fresh[-1]
            )

    def __call__(self, cells: Cells) -> Vector:
        """Bound the difference between the model's output and N, shape (cells,)."""
        total = np.full(cells.size, self.fresh[-1][0])
        low = high = np.broadcast_to(self.net.weights[-1], (cells.size, self.net.weights[-1].shape[1]))
        for layer in range(self.net.depth - 2, -1, -1):
            low, high = self._through(layer, cells, low, high)
            total = total + np.maximum(high, -low) @ self.fresh[layer]
            if layer:
                middle, radius = (high + low) / 2, (high - low) / 2
                weights = self.net.weights[layer]
                about, spread = middle @ weights, radius @ np.abs(weights)
                low, high = about - spread, about + spread
        # these sums are positive, so their own rounding is relative to the result
        return total * (1 + 1e-6) + self.net.link.tolerance

    def _through(self, layer: int, cells: Cells, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
        """Propagate intervals of coefficients from a layer's outputs to its sums, shape (cells, units)."""
        at = self.layers[layer]
        on = cells.low[:, at] >= self.off[layer]
        never = cells.high[:, at] <= -self.off[layer]
        low = np.where(on, low, np.where(never, 0, np.minimum(low, 0)))
        high = np.where(on, high, np.where(never, 0, np.maximum(high, 0)))
        return low, high
