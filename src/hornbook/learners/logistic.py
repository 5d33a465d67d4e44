"""Logistic regression by Newton's method, and which of its columns matter least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import Bools

Matrix = NDArray[np.float32]

RIDGE = 1e-3
"""The weight of the squared weights, a sample: it keeps them finite where labels are separable."""

STEPS, CLOSE = 12, 1e-3
"""Newton steps at most, and the change of weights below which there are no more."""


@dataclass(frozen=True)
class Logistic:
    """Weights of columns, an intercept after them, and how sure each weight is.

    `strength` is the squared weight over its variance: about twice what leaving the column out
    costs in log likelihood.
    """

    weights: NDArray[np.float64]
    strength: NDArray[np.float64]

    def residual(self, columns: Matrix, labels: Bools) -> Matrix:
        """The labels less their probabilities."""
        scores = columns @ self.weights[:-1].astype(np.float32) + np.float32(self.weights[-1])
        residual: Matrix = (labels - _logistic(scores)).astype(np.float32)
        return residual


def fit(columns: Matrix, labels: Bools, start: NDArray[np.float64] | None = None) -> Logistic:
    """Weights that make the labels likely, found from `start` on.

    Examples
    --------
    >>> columns = np.array([[0], [0], [0], [1], [1], [1]], np.float32)
    >>> found = fit(columns, np.array([False, False, True, True, True, False]))
    >>> found.weights.round(2)
    array([ 1.36, -0.68])

    """
    size, width = columns.shape
    whole = np.hstack([columns, np.ones((size, 1), np.float32)])
    weights = np.zeros(width + 1) if start is None else start.copy()
    ridge = np.full(width + 1, RIDGE * size)
    ridge[-1] = 1e-9 * size  # the intercept is free
    for _ in range(STEPS):
        shares = _logistic(whole @ weights.astype(np.float32))
        spread = shares * (1 - shares)
        curvature = (whole.T @ (whole * spread[:, None])).astype(np.float64) + np.diag(ridge)
        slope = (whole.T @ (labels - shares)).astype(np.float64) - ridge * weights
        step = np.linalg.solve(curvature, slope)
        step *= min(1.0, 5.0 / max(float(abs(step).max()), 1e-9))  # no leaps where labels are separable
        weights += step
        if abs(step).max() < CLOSE:
            break
    variance = np.diag(np.linalg.inv(curvature))
    return Logistic(weights, weights[:-1] ** 2 / variance[:-1])


def _logistic(scores: Matrix) -> Matrix:
    shares: Matrix = np.reciprocal(1 + np.exp(-np.clip(scores, -30, 30)), dtype=np.float32)
    return shares
