"""How far a model's own arithmetic can take its output from that of the network N.

In an arithmetic of unit roundoff u, a sum of n products taken in any order is off by at most
n·u/(1 - n·u) times the sum of their magnitudes. Let δ be what a layer's sums are off by through
this, given its inputs. A ReLU passes a difference on multiplied by some number between 0 and 1,
which is 1 for a unit that is on throughout and 0 for one that is off. So the output is off by the
sum over the layers of J·δ, where J is a product of weights and such numbers. Bounds on J narrow
with the region: where all signs are certain it is the gradient.
"""

from __future__ import annotations

import numpy as np

from hornbook.oracles.proof.bounds import Bounds
from hornbook.oracles.proof.cells import Cells
from hornbook.oracles.proof.layers import Vector, gamma
from hornbook.oracles.proof.region import Numbers


class Rounding:
    """Bounds the rounding errors of a model over parts of one region.

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
        sizes[-1] = net.summed or sizes[-1]
        allowed = np.where(root.regions[0][:, :, None], np.abs(space.inputs), 0)
        terms = (allowed > 0).sum(axis=2).max(axis=1).sum() + bounds.terms + 1
        terms += 2  # products by other numbers than powers of two are rounded too
        first = (allowed @ sizes[0][0].T).max(axis=1).sum(axis=0) + sizes[0][1] + bounds.given
        self.fresh = [gamma(int(terms) + 1, net.roundoff) * first]
        """What each layer's sums are off by through their own roundings."""
        self.off = [self.fresh[0]]
        """What they are off by altogether, crudely: it only decides which signs are certain."""
        for layer in range(1, net.depth):
            highest = np.maximum(root.high[0, self.layers[layer - 1]] + self.off[-1], 0)
            weights, biases = sizes[layer]
            self.fresh.append(gamma(weights.shape[1] + 3, net.roundoff) * (weights @ highest + biases))
            self.off.append(
                np.abs(net.weights[layer]) @ np.where(highest > 0, self.off[-1], 0) + self.fresh[-1]
            )

    def __call__(self, cells: Cells) -> Vector:
        """For each cell, by how much the model's output can differ from N."""
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
        """The coefficients of a layer's sums, from those of its units' outputs."""
        at = self.layers[layer]
        on = cells.low[:, at] >= self.off[layer]
        never = cells.high[:, at] <= -self.off[layer]
        low = np.where(on, low, np.where(never, 0, np.minimum(low, 0)))
        high = np.where(on, high, np.where(never, 0, np.maximum(high, 0)))
        return low, high
