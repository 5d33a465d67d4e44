"""A perceptron in training by Adam, rounding for rounding as scikit-learn's `MLPClassifier`.

That class examines its arguments in every epoch, which for small tables takes most of the time.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats64: TypeAlias = NDArray[np.float64]

BETAS, EPSILON = (0.9, 0.999), 1e-8
"""The usual constants of Adam."""


class Perceptron:
    """A network of rectified units that tells classes apart; `train_epoch` trains it further.

    Parameters
    ----------
    rows, codes, classes
        The inputs, the number of each row's class, and how many classes there are.
    hidden_sizes
        The number of units of each hidden layer.
    weight_decay, rate, batch_size
        The weight of the squared weights in the loss, the learning rate, and the rows of a step.
    seed
        The seed of the first weights and of the order of rows, which is the same from the second epoch on.

    References
    ----------
    Kingma, Ba. Adam: a method for stochastic optimization. ICLR 2015.

    Examples
    --------
    >>> rows, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> perceptron = Perceptron(rows, codes, 2, (8,), 0.001, 0.1, 4, seed=0)
    >>> for _ in range(40):
    ...     perceptron.train_epoch()
    >>> perceptron.probabilities(rows).argmax(axis=1)
    array([0, 0, 1, 1])

    """

    def __init__(
        self,
        rows: Floats64,
        codes: NDArray[np.intp],
        classes: int,
        hidden_sizes: tuple[int, ...],
        weight_decay: float,
        rate: float,
        batch_size: int,
        seed: int,
    ) -> None:
        self.rows = rows
        self.targets = codes[:, None].astype(np.float64) if classes == 2 else np.eye(classes)[codes]
        self.weight_decay, self.rate, self.batch_size, self.seed = weight_decay, rate, batch_size, seed
        self.random = np.random.RandomState(seed)
        self.weights: list[Floats64] = []
        self.biases: list[Floats64] = []
        for inputs, units in pairwise((rows.shape[1], *hidden_sizes, self.targets.shape[1])):
            bound = np.sqrt(6.0 / (inputs + units))
            self.weights.append(self.random.uniform(-bound, bound, (inputs, units)))
            self.biases.append(self.random.uniform(-bound, bound, units))
        parameters = [*self.weights, *self.biases]
        self.moments = [(np.zeros_like(each), np.zeros_like(each)) for each in parameters]
        self.steps = 0

    def train_epoch(self) -> None:
        """Show every row once."""
        order = np.arange(len(self.rows))
        self.random.shuffle(order)
        self.random = np.random.RandomState(self.seed)
        for start in range(0, len(order), self.batch_size):
            batch = order[start : start + self.batch_size]
            self._step(self.rows.take(batch, axis=0), self.targets[batch])

    def probabilities(self, rows: Floats64) -> Floats64:
        """The probability of each class, (rows, classes)."""
        last = self._activate(rows)[-1]
        return last if last.shape[1] > 1 else np.hstack([1 - last, last])

    def _activate(self, rows: Floats64) -> list[Floats64]:
        """The outputs of every layer, the rows themselves first."""
        flow = [rows]
        for weights, biases in zip(self.weights, self.biases, strict=True):
            output = flow[-1] @ weights
            output += biases
            flow.append(np.maximum(output, 0, out=output) if len(flow) < len(self.weights) else output)
        last = flow[-1]
        if last.shape[1] == 1:
            expit(last, out=last)
        else:
            np.exp(last - last.max(axis=1, keepdims=True), out=last)
            last /= last.sum(axis=1, keepdims=True)
        return flow

    def _step(self, rows: Floats64, targets: Floats64) -> None:
        """Move the weights against the gradient of the loss of some rows."""
        flow = self._activate(rows)
        error = flow.pop() - targets
        by_weights, by_biases = [], []
        for weights, entering in zip(self.weights[::-1], flow[::-1], strict=True):
            gradient = entering.T @ error
            gradient += self.weight_decay * weights
            gradient /= len(rows)
            by_weights.append(gradient)
            by_biases.append(error.sum(axis=0) / len(rows))
            if entering is not rows:
                error = error @ weights.T
                error[entering == 0] = 0
        self._move([*by_weights[::-1], *by_biases[::-1]])

    def _move(self, gradients: list[Floats64]) -> None:
        self.steps += 1
        decay, decay_square = BETAS
        rate = self.rate * np.sqrt(1 - decay_square**self.steps) / (1 - decay**self.steps)
        parameters = [*self.weights, *self.biases]
        for parameter, gradient, (first, second) in zip(parameters, gradients, self.moments, strict=True):
            first *= decay
            first += (1 - decay) * gradient
            second *= decay_square
            second += (1 - decay_square) * gradient**2
            parameter += -rate * first / (np.sqrt(second) + EPSILON)
