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
from hornbook.oracles.adapters import Predictor
from hornbook.oracles.proof.layers import DOUBLE, Link, Vector, gamma, unproved
from hornbook.oracles.proof.models import refuse_changed
from hornbook.oracles.proof.region import Space


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of all trees, tree by tree.

    Parameters
    ----------
    states
        Which states of each base variable lead to each leaf, (leaves, m, 3).
    values
        What each leaf adds.
    kinds
        Equal for leaves that hold the same numbers in the model.
    starts
        The place of each tree's first leaf.
    constant
        What is added besides.
    rounding
        By how much the model's own sum may differ.
    link
        How the model's score follows from the output.

    """

    states: Bools
    values: Vector
    kinds: NDArray[np.intp]
    starts: NDArray[np.intp]
    constant: float
    rounding: float
    link: Link

    @property
    def tolerance(self) -> float:
        """By how much the output may be off 0 where the model changes its mind."""
        return self.rounding + self.link.tolerance

    def negated(self) -> Leaves:
        """The leaves with the opposite output."""
        return replace(self, values=-self.values, constant=-self.constant)

    def within(self, region: Bools) -> Leaves:
        """The leaves that inputs of a region reach, by those base variables alone that it leaves free."""
        kept = np.logical_and.reduce((self.states & region).any(axis=2), axis=1)
        free = region.sum(axis=1) > 1
        tree = np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(self.values)]))[kept]
        starts = np.searchsorted(tree, np.arange(len(self.starts)))
        values, kinds = self.values[kept], self.kinds[kept]
        return replace(self, states=self.states[kept][:, free], values=values, kinds=kinds, starts=starts)


def leaves_of(predictor: Predictor, space: Space) -> Leaves | None:
    """The leaves of a predictor's model, if its type is exactly one of those that are read."""
    from sklearn import ensemble, tree

    model = predictor.source
    parts = {
        tree.DecisionTreeClassifier: tree.DecisionTreeClassifier,
        tree.ExtraTreeClassifier: tree.ExtraTreeClassifier,
        ensemble.RandomForestClassifier: tree.DecisionTreeClassifier,
        ensemble.ExtraTreesClassifier: tree.ExtraTreeClassifier,
        ensemble.GradientBoostingClassifier: tree.DecisionTreeRegressor,
    }.get(type(model))
    if parts is None:
        return None
    refuse_changed(model, "it", predictor)
    if getattr(model, "n_outputs_", 1) != 1 or len(model.classes_) != 2:
        raise unproved(predictor, "it does not decide between two classes, which proofs are about")
    columns = 1 if parts is tree.DecisionTreeRegressor else 2
    trees = [model] if type(model) is parts else list(np.ravel(model.estimators_))
    for number, each in enumerate(trees):
        refuse_changed(each, f"its tree {number}", predictor)
        if type(each) is not parts or each.tree_.value.shape[1:] != (1, columns):
            raise unproved(predictor, f"its tree {number} is a {type(each).__name__} of another kind")
    read = _boosted if columns == 1 else _voted
    return read([each.tree_ for each in trees], predictor, space)


def _voted(trees: Sequence[Any], predictor: Predictor, space: Space) -> Leaves:
    """Trees whose shares of the positive class are averaged."""
    link, rounding = Link.of(predictor, scale=0.0), gamma(len(trees) + 8, DOUBLE)
    states, raw, starts = _gathered(trees, space)
    column = 1 if predictor.column is None else predictor.column
    values = raw[:, column] / raw.sum(axis=1) / len(trees)
    return Leaves(states, values, _kinds(raw), starts, -link.cut, rounding, link)


def _boosted(trees: Sequence[Any], predictor: Predictor, space: Space) -> Leaves:
    """Trees that add to log-odds, or to half of them where the loss is exponential."""
    model = predictor.source
    link = Link.of(predictor, scale=2.0 if model.loss == "exponential" else 1.0)
    states, raw, starts = _gathered(trees, space)
    values = model.learning_rate * raw[:, 0]
    start = _log_odds_before(predictor) / link.scale
    sizes = np.maximum.reduceat(np.abs(values), starts).sum() + abs(start) + abs(link.cut)
    rounding = gamma(4 * len(trees) + 16, DOUBLE) * sizes
    sign = -1.0 if predictor.column == 0 else 1.0
    return Leaves(states, sign * values, _kinds(raw), starts, sign * start - link.cut, rounding, link)


def _log_odds_before(predictor: Predictor) -> float:
    """The log-odds to which the trees of gradient boosting add."""
    from sklearn.dummy import DummyClassifier

    before = predictor.source.init_
    if isinstance(before, str) and before == "zero":
        return 0.0
    if type(before) is not DummyClassifier or before.strategy != "prior":
        raise unproved(predictor, "it starts from a model of its own, which is not read")
    eps = float(np.finfo(np.float32).eps)
    share = min(max(float(before.class_prior_[1]), eps), 1 - eps)
    return math.log(share / (1 - share))


def _gathered(trees: Sequence[Any], space: Space) -> tuple[Bools, Vector, NDArray[np.intp]]:
    """For the leaves of all trees, the states that lead there, the numbers held, and each tree's first."""
    paths = [list(_paths(tree, space)) for tree in trees]
    states = np.array([states for path in paths for states, _ in path])
    values = np.array(
        [tree.value[leaf, 0] for tree, path in zip(trees, paths, strict=True) for _, leaf in path]
    )
    return states, values, np.cumsum([0, *(len(path) for path in paths[:-1])])


def _kinds(raw: Vector) -> NDArray[np.intp]:
    kinds: NDArray[np.intp] = np.unique(raw, axis=0, return_inverse=True)[1].reshape(-1)
    return kinds


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
