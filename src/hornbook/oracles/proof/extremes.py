"""The greatest value of linear functions of the first layer's sums over the inputs of one region.

A base variable adds to such a function what its best state adds. Of a group either none is true,
and each member adds the better of false and unknown, or one is, and the others add what false does.
A state that the region rules out is put in the place of one that it allows, so no state has to be
left out any more.
"""

from __future__ import annotations

import numpy as np

from hornbook.logic.bits import Bools
from hornbook.oracles.proof.region import FALSE, TRUE, UNKNOWN, Numbers, Space


class Extremes:
    """Finds greatest values, for many functions at once.

    Parameters
    ----------
    space
        The inputs.
    weights
        Of the first layer, (inputs, units).
    region
        The states allowed, without those that groups rule out; see `Space.narrowed`.

    """

    def __init__(self, space: Space, weights: Numbers, region: Bools) -> None:
        first = space.inputs[np.arange(space.count), region.argmax(axis=1)]
        allowed = np.where(region[:, :, None], space.inputs, first[:, None])
        false = allowed[:, FALSE]
        true, unknown = allowed[:, TRUE] - false, allowed[:, UNKNOWN] - false
        self.false = false.sum(axis=0) @ weights
        alone = np.ones(space.count, np.bool_)
        for members in space.stacked:
            alone[members] = False
        # halfway between false and true, unknown is never better than both
        off = alone & (2 * unknown != true).any(axis=1)
        self.off = np.flatnonzero(off[alone])
        self.true, self.unknown = (true[alone] @ weights).T, (unknown[off] @ weights).T
        self.groups = [
            [((true[each] @ weights).T, (unknown[each] @ weights).T) for each in members.T]
            for members in space.stacked
        ]
        """For groups of one size: of their first members, of their second, and so on."""

    def __call__(self, coefficients: Numbers) -> Numbers:
        """The greatest values of functions with these coefficients, (..., units)."""
        best = np.maximum(coefficients @ self.true, 0)
        if len(self.off):
            best[..., self.off] = np.maximum(best[..., self.off], coefficients @ self.unknown)
        most: Numbers = coefficients @ self.false + best @ np.ones(best.shape[-1])
        for members in self.groups:
            one = none = np.zeros(1)
            for true, unknown in members:
                one = np.maximum(one, coefficients @ true)
                none = none + np.maximum(coefficients @ unknown, 0)
            most += np.maximum(one, none) @ np.ones(one.shape[-1])
        return most
