"""Ensembles of trees as their leaves: scikit-learn's trees, forests, and gradient boosting.

A leaf is reached by the inputs in which some base variables have some of their states, and adds a
number to the output. The output N is the sum over the trees, with the threshold taken off: the
model decides for its positive class where N is at least 0, but for its own rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
    kinds = {each.__name__ for each in type(model).__mro__ if each.__module__.startswith("sklearn.")}
    if not kinds & {"DecisionTreeClassifier", "ForestClassifier", "GradientBoostingClassifier"}:
        return None
    if len(model.classes_) != 2:
        raise HornbookError(f"{predictor.name} does not decide between two classes, which proofs are about")
    if "GradientBoostingClassifier" in kinds:
        return _boosted(predictor, space)
    return _voted([model] if "DecisionTreeClassifier" in kinds else model.estimators_, predictor, space)


def _voted(trees: Sequence[Any], predictor: Predictor, space: Space) -> Leaves:
    """Trees whose shares of the positive class are averaged."""
    found = _gathered([each.tree_ for each in trees], space)
    column = 1 if predictor.column is None else predictor.column
    threshold = 0.5 if predictor.threshold is None else predictor.threshold
    values = found.values[:, column] / found.values.sum(axis=1) / len(trees)
    tolerance = SCORE + gamma(len(trees) + 8, DOUBLE)
    return replace(found, values=values, constant=-threshold, tolerance=tolerance)


def _boosted(predictor: Predictor, space: Space) -> Leaves:
    """Trees that add to log-odds."""
    model = predictor.source
    threshold = 0.5 if predictor.threshold is None else predictor.threshold
    if type(model.init_).__name__ not in ("DummyClassifier", "str"):
        raise HornbookError(f"{predictor.name} starts from a model of its own, which cannot be read")
    if not 0 < threshold < 1:
        raise HornbookError(f"a probability never crosses the threshold {threshold}, so there is no question")
    trees = [each.tree_ for each in model.estimators_.flat]
    found = _gathered(trees, space)
    values = model.learning_rate * found.values[:, 0]
    zero = np.zeros((1, model.n_features_in_), np.float32)
    at_zero = sum(model.learning_rate * tree.value[tree.apply(zero)[0], 0, 0] for tree in trees)
    start, cut = model.decision_function(zero)[0] - at_zero, math.log(threshold / (1 - threshold))
    sizes = np.maximum.reduceat(np.abs(values), found.starts).sum() + abs(start) + abs(cut)
    slack = gamma(4 * len(trees) + 16, DOUBLE) * sizes
    tolerance = SCORE * (1 + abs(cut)) / (threshold * (1 - threshold)) + slack
    sign = -1.0 if predictor.column == 0 else 1.0
    return replace(found, values=sign * values, constant=sign * start - cut, tolerance=tolerance)


def _gathered(trees: Sequence[Any], space: Space) -> Leaves:
    """The leaves of all trees; the values are still what the trees hold."""
    paths = [list(_paths(tree, space)) for tree in trees]
    states = np.array([states for path in paths for states, _ in path])
    values = np.array(
        [tree.value[leaf, 0] for tree, path in zip(trees, paths, strict=True) for _, leaf in path]
    )
    starts = np.cumsum([0, *(len(path) for path in paths[:-1])])
    return Leaves(states, values, starts, 0.0, 0.0)


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
