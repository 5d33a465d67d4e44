"""Ensembles of trees as their leaves: scikit-learn's trees, forests, and gradient boosting.

A leaf is reached by the inputs in which some base variables have some of their states, and adds a
number to the output. The output N is the sum over the trees, with the threshold taken off: the
model decides for its positive class where N is at least 0, but for its own rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.logic.bits import Bools
from hornbook.logic.errors import HornbookError
from hornbook.oracles.adapters import Predictor
from hornbook.oracles.proof.layers import DOUBLE, Vector, gamma
from hornbook.oracles.proof.region import Space

SCORE = 2.0**-20
"""A score is rounded to single precision, and so is nothing else: far more than that amounts to."""


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of all trees, tree by tree.

    Parameters
    ----------
    states
        Which states of each base variable lead to each leaf, (leaves, m, 3).
    values
        What each leaf adds.
    starts
        The place of each tree's first leaf.
    constant
        What is added besides.
    tolerance
        By how much the output may be off 0 where the model changes its mind.

    """

    states: Bools
    values: Vector
    starts: NDArray[np.intp]
    constant: float
    tolerance: float

    def negated(self) -> Leaves:
        """The leaves with the opposite output."""
        return replace(self, values=-self.values, constant=-self.constant)

    def within(self, region: Bools) -> Leaves:
        """The leaves that inputs of a region reach, by those base variables alone that it leaves free."""
        kept = np.logical_and.reduce((self.states & region).any(axis=2), axis=1)
        free = region.sum(axis=1) > 1
        tree = np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(self.values)]))[kept]
        starts = np.searchsorted(tree, np.arange(len(self.starts)))
        return replace(self, states=self.states[kept][:, free], values=self.values[kept], starts=starts)


def leaves_of(predictor: Predictor, space: Space) -> Leaves | None:
    """The leaves of a predictor's model, if it is made of trees that can be read."""
    model = predictor.source
    if hasattr(model, "tree_") and hasattr(model, "classes_"):
        trees, scale, boosted = [model.tree_], 1.0, False
    elif hasattr(model, "estimators_") and type(model).__module__.startswith("sklearn.ensemble._forest"):
        trees, scale, boosted = [each.tree_ for each in model.estimators_], 1 / len(model.estimators_), False
    elif hasattr(model, "estimators_") and type(model).__module__.startswith("sklearn.ensemble._gb"):
        trees, scale, boosted = [each.tree_ for each in model.estimators_.flat], model.learning_rate, True
    else:
        return None
    if not hasattr(model, "classes_") or len(model.classes_) != 2:
        raise HornbookError(
            f"proofs are about models that decide between two classes; {predictor.name} is not"
        )
    if boosted and type(model.init_).__name__ not in ("DummyClassifier", "str"):
        raise HornbookError(f"{predictor.name} starts from a model of its own, which cannot be read")
    positive = 1 if predictor.column is None else predictor.column
    sign = 1.0 if positive == 1 or not boosted else -1.0
    states: list[Bools] = []
    values: list[float] = []
    starts: list[int] = []
    for tree in trees:
        starts.append(len(values))
        for reached, leaf in _paths(tree, space):
            states.append(reached)
            share = tree.value[leaf, 0]
            values.append(sign * scale * (share[0] if boosted else share[positive] / share.sum()))
    found = Leaves(np.array(states), np.array(values), np.array(starts), 0.0, 0.0)
    sizes = np.maximum.reduceat(np.abs(found.values), found.starts).sum()
    if not boosted:
        slack = gamma(len(trees) + 8, DOUBLE) * sizes
        return replace(found, constant=-predictor.threshold, tolerance=SCORE + slack)
    threshold = predictor.threshold
    if not 0 < threshold < 1:
        raise HornbookError(f"a probability never crosses the threshold {threshold}, so there is no question")
    start = model.decision_function(np.zeros((1, model.n_features_in_)))[0]
    start -= sum(scale * tree.value[tree.apply(np.zeros((1, model.n_features_in_), np.float32))[0], 0, 0]
                 for tree in trees)  # fmt: skip
    cut = math.log(threshold / (1 - threshold))
    slack = gamma(4 * len(trees) + 16, DOUBLE) * (sizes + abs(start) + abs(cut))
    tolerance = SCORE * (1 + abs(cut)) / (threshold * (1 - threshold)) + slack
    return replace(found, constant=sign * start - cut, tolerance=tolerance)


def _paths(tree: Any, space: Space) -> Iterator[tuple[Bools, int]]:
    """The leaves that some input reaches, each with the states that lead there."""
    owner = np.abs(space.inputs).sum(axis=1).argmax(axis=0)
    waiting = [(0, np.ones((space.count, 3), np.bool_))]
    while waiting:
        node, reached = waiting.pop()
        if tree.children_left[node] < 0:
            yield reached, node
            continue
        column = tree.feature[node]
        u = owner[column]
        left = space.inputs[u, :, column].astype(np.float32) <= tree.threshold[node]
        for child, side in ((tree.children_left[node], left), (tree.children_right[node], ~left)):
            states = reached.copy()
            states[u] &= side
            if states[u].any():
                waiting.append((int(child), states))
