"""Feed-forward ReLU networks as matrices: what a model computes, and how exactly it computes it.

The network N of a model is the function of real arithmetic that has the model's weights as they
are stored, with the threshold folded into the last bias: the model decides for its positive class
where N is at least 0. The model itself computes in floating point, so its decision may differ
where N is close to 0; `rounding.Rounding` bounds how close.

References
----------
N. J. Higham. Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, chapter 3.

"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.logic.errors import HornbookError
from hornbook.oracles.adapters import Predictor

Matrix: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.float64]
Layers: TypeAlias = list[tuple[Matrix, Vector]]
"""The weights (out, in) and the biases of each layer, the first layer first."""

DOUBLE = 2.0**-53
"""The unit roundoff of double precision; bounds are computed in it."""


@dataclass(frozen=True, eq=False)
class ReluNet:
    """Linear layers with ReLU between them, one output at the end.

    Parameters
    ----------
    weights, biases
        Of each layer, (out, in) and (out,).
    roundoff
        The unit roundoff of the arithmetic that the model itself uses.
    squashing
        By how much the output may be off 0 where the model's score is at its threshold: what
        the rounding of a sigmoid and of the threshold amounts to.
    summed
        The magnitudes of the last weights and biases as the model itself sums them, if it
        has two outputs of which the network takes the difference.

    Examples
    --------
    >>> net = ReluNet.of([(np.eye(2), np.zeros(2)), (np.array([[1.0, -1.0]]), np.array([0.5]))])
    >>> net(np.array([[1.0, 0.0], [0.0, 1.0], [-3.0, -4.0]]))
    array([ 1.5, -0.5,  0.5])

    """

    weights: tuple[Matrix, ...]
    biases: tuple[Vector, ...]
    roundoff: float = DOUBLE
    squashing: float = 0.0
    summed: tuple[Matrix, Vector] | None = None

    @classmethod
    def of(cls, layers: Layers, roundoff: float = DOUBLE, squashing: float = 0.0) -> ReluNet:
        """The network of given layers; their shapes must fit, and the last has one output."""
        for (below, _), (above, _) in pairwise(layers):
            if above.shape[1] != len(below):
                raise HornbookError(
                    f"a layer of {len(below)} units is read by one of {above.shape[1]} inputs"
                )
        if not all(np.isfinite(part).all() for layer in layers for part in layer):
            raise HornbookError("the network has weights that are not finite, so nothing can be proved of it")
        weights, biases = zip(*layers, strict=True)
        return cls(tuple(weights), tuple(biases), roundoff, squashing)

    @property
    def depth(self) -> int:
        """The number of linear layers."""
        return len(self.weights)

    def __call__(self, inputs: Matrix) -> Vector:
        """The output for each row of inputs."""
        return self.from_first(inputs @ self.weights[0].T + self.biases[0])

    def from_first(self, sums: Matrix) -> Vector:
        """The output for each row of first-layer sums, before their ReLU."""
        for weights, biases in zip(self.weights[1:], self.biases[1:], strict=True):
            sums = np.maximum(sums, 0) @ weights.T + biases
        outputs: Vector = sums[:, 0]
        return outputs

    def negated(self) -> ReluNet:
        """The network with the opposite output."""
        weights, biases = (*self.weights[:-1], -self.weights[-1]), (*self.biases[:-1], -self.biases[-1])
        return replace(self, weights=weights, biases=biases)

    def magnitudes(self, first: Vector) -> list[Vector]:
        """Bounds on the absolute sums of every layer, given those of the first."""
        found = [first]
        for weights, biases in zip(self.weights[1:], self.biases[1:], strict=True):
            found.append(np.abs(weights) @ found[-1] + np.abs(biases))
        return found

    @cached_property
    def operations(self) -> int:
        """An upper bound on the operations that any one number of a bound goes through."""
        return 16 * sum(int(weights.shape[0] + weights.shape[1] + 8) for weights in self.weights)


def gamma(operations: int, roundoff: float) -> float:
    """n·u / (1 - n·u): how far n roundings can take a sum, relative to its magnitudes."""
    product = operations * roundoff
    if product >= 0.5:
        raise HornbookError(f"sums of {operations} terms are too long for the model's precision")
    return product / (1 - product)


def folded(layers: Layers, predictor: Predictor, roundoff: float, squashed: bool) -> ReluNet:
    """The layers with one output, at least 0 where the predictor decides for its positive class.

    Parameters
    ----------
    layers
        The model's own, with one output, or one for each of two classes.
    predictor
        Says the threshold and the positive class.
    roundoff
        The model's precision.
    squashed
        Whether the score is the sigmoid, or softmax, of the output; else it is the output.

    """
    if len(layers) == 1:
        layers = _rectified_twice(*layers[0])
    weights, biases = layers[-1]
    summed = (np.abs(weights).sum(axis=0, keepdims=True), np.abs(biases).sum(keepdims=True))
    positive = 1 if predictor.column is None else predictor.column
    threshold = 0.5 if predictor.threshold is None else predictor.threshold
    if len(biases) > 2:
        raise HornbookError(
            f"{predictor.name} has {len(biases)} outputs; proofs are about networks that decide between two "
            "classes, with one output or two"
        )
    if squashed and not 0 < threshold < 1:
        raise HornbookError(f"a probability never crosses the threshold {threshold}, so there is no question")
    if len(biases) == 2 and squashed:
        weights, biases = weights[1:] - weights[:1], biases[1:] - biases[:1]
    elif len(biases) == 2:
        weights, biases = weights[[positive]], biases[[positive]]
        positive = 1
    sign = 1.0 if positive == 1 else -1.0
    if squashed:
        cut = math.log(threshold / (1 - threshold))
        # some roundings of single precision; the slope of the sigmoid there is t(1 - t)
        squashing = 16 * 2.0**-24 * (1 + abs(cut)) / (threshold * (1 - threshold))
    else:
        # a single output scores 1 - s for the other class
        cut = threshold if positive == 1 else threshold - 1
        squashing = 16 * 2.0**-24 * (1 + abs(threshold))
    net = ReluNet.of([*layers[:-1], (sign * weights, sign * biases - cut)], roundoff, squashing)
    return replace(net, summed=(summed[0], summed[1] + abs(cut)))


def _rectified_twice(weights: Matrix, biases: Vector) -> Layers:
    """A linear layer as two: every number is the difference of its ReLU and that of its opposite."""
    hidden = (np.concatenate([weights, -weights]), np.concatenate([biases, -biases]))
    same = np.eye(len(biases))
    return [hidden, (np.concatenate([same, -same], axis=1), np.zeros(len(biases)))]
