"""Proofs about scikit-learn's trees, forests and gradient boosting: reading them and bounding them.

`Leaves` lists the leaves of all trees: the states of the base variables that lead to each, and the
number that it adds to the output. The output N is the sum over the trees minus the threshold: apart
from rounding, the model decides for its positive class where N is at least 0. `Forest` bounds N over
regions of inputs, and searches for an input where it is positive.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import Bools, bits
from hornbook.models import Predictor
from hornbook.proof.network import DOUBLE_ROUNDOFF, ScoreLink, Vector, gamma, refuse_changed, unprovable
from hornbook.proof.region import Numbers, Space, States
from hornbook.proof.witness import InputFilter, SearchOutcome, apply_move, climb


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of all trees, tree by tree.

    Parameters
    ----------
    states
        Which states of each base variable lead to each leaf, (leaves, m, 3).
    values
        The number that each leaf adds to the output, (leaves,).
    kinds
        Equal for leaves that hold the same numbers in the model, (leaves,).
    starts
        The index of each tree's first leaf, (trees,).
    constant
        The constant part of the output.
    rounding
        A bound on the rounding error of the model's own sum.
    link
        The relation between the output and the model's score.

    """

    states: Bools
    values: Vector
    kinds: NDArray[np.intp]
    starts: NDArray[np.intp]
    constant: float
    rounding: float
    link: ScoreLink

    @property
    def tolerance(self) -> float:
        """A bound on the output where the model's decision changes."""
        return self.rounding + self.link.tolerance

    def negate(self) -> Leaves:
        """The leaves with the opposite output."""
        return replace(self, values=-self.values, constant=-self.constant)

    def restrict_to(self, region: Bools) -> Leaves:
        """Select the leaves that a region reaches, as functions of the base variables that it leaves free."""
        kept = np.logical_and.reduce((self.states & region).any(axis=2), axis=1)
        free = region.sum(axis=1) > 1
        tree = np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(self.values)]))[kept]
        starts = np.searchsorted(tree, np.arange(len(self.starts)))
        values, kinds = self.values[kept], self.kinds[kept]
        return replace(self, states=self.states[kept][:, free], values=values, kinds=kinds, starts=starts)


def read_leaves(predictor: Predictor, space: Space) -> Leaves | None:
    """Read the leaves of a scikit-learn tree or ensemble; None for other models, subclasses included."""
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
        raise unprovable(predictor, "it does not decide between two classes, which proofs are about")
    columns = 1 if parts is tree.DecisionTreeRegressor else 2
    trees = [model] if type(model) is parts else list(np.ravel(model.estimators_))
    for number, each in enumerate(trees):
        refuse_changed(each, f"its tree {number}", predictor)
        if type(each) is not parts or each.tree_.value.shape[1:] != (1, columns):
            raise unprovable(predictor, f"its tree {number} is a {type(each).__name__} of another kind")
    read = _read_boosted_trees if columns == 1 else _read_voting_trees
    return read([each.tree_ for each in trees], predictor, space)


def _read_voting_trees(trees: Sequence[Any], predictor: Predictor, space: Space) -> Leaves:
    """Read trees whose class frequencies are averaged."""
    link, rounding = ScoreLink.of(predictor, scale=0.0), gamma(len(trees) + 8, DOUBLE_ROUNDOFF)
    states, raw, starts = _collect_leaves(trees, space)
    column = 1 if predictor.column is None else predictor.column
    values = raw[:, column] / raw.sum(axis=1) / len(trees)
    return Leaves(states, values, _kinds(raw), starts, -link.cut, rounding, link)


def _read_boosted_trees(trees: Sequence[Any], predictor: Predictor, space: Space) -> Leaves:
    """Read trees that add up to the log-odds, or to half of them if the loss is exponential."""
    model = predictor.source
    link = ScoreLink.of(predictor, scale=2.0 if model.loss == "exponential" else 1.0)
    states, raw, starts = _collect_leaves(trees, space)
    values = model.learning_rate * raw[:, 0]
    start = _log_odds_before(predictor) / link.scale
    sizes = np.maximum.reduceat(np.abs(values), starts).sum() + abs(start) + abs(link.cut)
    rounding = gamma(4 * len(trees) + 16, DOUBLE_ROUNDOFF) * sizes
    sign = -1.0 if predictor.column == 0 else 1.0
    return Leaves(states, sign * values, _kinds(raw), starts, sign * start - link.cut, rounding, link)


def _log_odds_before(predictor: Predictor) -> float:
    """The log-odds to which the trees of gradient boosting add."""
    from sklearn.dummy import DummyClassifier

    before = predictor.source.init_
    if isinstance(before, str) and before == "zero":
        return 0.0
    if type(before) is not DummyClassifier or before.strategy != "prior":
        raise unprovable(predictor, "it starts from a model of its own, which is not read")
    eps = float(np.finfo(np.float32).eps)
    share = min(max(float(before.class_prior_[1]), eps), 1 - eps)
    return math.log(share / (1 - share))


def _collect_leaves(trees: Sequence[Any], space: Space) -> tuple[Bools, Vector, NDArray[np.intp]]:
    """Collect all leaves: their states (leaves, m, 3), their values, and each tree's first leaf."""
    paths = [list(_iterate_leaves(tree, space)) for tree in trees]
    states = np.array([states for path in paths for states, _ in path])
    values = np.array(
        [tree.value[leaf, 0] for tree, path in zip(trees, paths, strict=True) for _, leaf in path]
    )
    return states, values, np.cumsum([0, *(len(path) for path in paths[:-1])])


def _kinds(raw: Vector) -> NDArray[np.intp]:
    kinds: NDArray[np.intp] = np.unique(raw, axis=0, return_inverse=True)[1].reshape(-1)
    return kinds


def _iterate_leaves(tree: Any, space: Space) -> Iterator[tuple[Bools, int]]:
    """Yield the leaves that some input reaches, each with the states that lead there, (m, 3)."""
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


REGIONS_PER_BATCH = 256
"""Number of regions bounded at a time."""


class Forest:
    """Bounds the output of trees over regions, and searches for a positive one.

    Parameters
    ----------
    leaves
        Those of the trees.
    space
        The inputs.
    decide
        The model's own decision for given inputs, asked where rounding could change the sign.
    region
        The inputs in question; by default all.

    """

    def __init__(
        self, leaves: Leaves, space: Space, decide: Callable[[States], Bools], region: Bools | None = None
    ) -> None:
        self.leaves, self.space, self.decide = leaves, space, decide
        self.region = space.whole() if region is None else region
        # every kind of condition once: a base variable, and which of its states pass
        leaf, variable = np.nonzero(~leaves.states.all(axis=2))
        codes = 8 * variable + leaves.states[leaf, variable] @ np.array([1, 2, 4])
        kinds, self.kind = np.unique(codes, return_inverse=True)
        self.variable = kinds // 8
        self.passing = (kinds[:, None] >> np.arange(3)) % 2 == 1
        self.first = np.searchsorted(leaf, np.arange(len(leaves.values)))
        self.free = np.bincount(leaf, minlength=len(leaves.values)) == 0
        self.tree = np.repeat(np.arange(len(leaves.starts)), np.diff([*leaves.starts, len(leaves.values)]))

    def restrict_to(self, region: Bools) -> Forest:
        """Restrict the trees to the base variables that a region leaves free."""
        free = region.sum(axis=1) > 1

        def decide(states: States) -> Bools:
            whole: States = np.repeat(region.argmax(axis=1)[None], len(states), axis=0)
            whole[:, free] = states
            return self.decide(whole)

        return Forest(self.leaves.restrict_to(region), self.space.restrict_to(free), decide, region[free])

    @property
    def parameters(self) -> Iterator[NDArray[Any]]:
        """The arrays that determine the output."""
        yield from (self.leaves.states, self.leaves.values, self.leaves.starts)
        yield np.array([self.leaves.constant])

    def reached(self, regions: Bools) -> Bools:
        """Whether some input of each region reaches each leaf, (leaves, k), regardless of groups."""
        passes = (regions[:, self.variable] & self.passing).any(axis=2)
        words = bits.pack(passes)[self.kind]
        rows = np.full((len(self.free), bits.words_for(len(regions))), ~np.uint64(0))
        if len(words):
            bound = np.flatnonzero(~self.free)
            rows[bound] = np.bitwise_and.reduceat(words, self.first[bound], axis=0)
        return bits.unpack_rows(rows, len(regions))

    def evaluate(self, states: States) -> tuple[Vector, Vector]:
        """Return the output for each input, and a bound on the model's deviation from it."""
        reached = self.reached(states[:, :, None] == np.arange(3))
        outputs: Vector = self.leaves.values @ reached + self.leaves.constant
        return outputs, np.full(len(states), self.leaves.rounding)

    @property
    def link(self) -> ScoreLink:
        """How the model's score follows from the output."""
        return self.leaves.link

    def constant(self, regions: Bools) -> Bools:
        """Whether all inputs of each region certainly have the same output, in the model too, (k,)."""
        reached = self.reached(regions)
        kinds = self.leaves.kinds[:, None]
        highest = np.maximum.reduceat(np.where(reached, kinds, -1), self.leaves.starts, axis=0)
        least = np.minimum.reduceat(np.where(reached, kinds, kinds.max() + 1), self.leaves.starts, axis=0)
        constant: Bools = (highest == least).all(axis=0)
        return constant

    def bound_regions(self, regions: Bools) -> tuple[Vector, States]:
        """Bound each region's output, (k,), and return each tree's highest leaf there, (trees, k)."""
        values = np.where(self.reached(regions), self.leaves.values[:, None], -np.inf)
        highest = np.maximum.reduceat(values, self.leaves.starts, axis=0)
        best = values == highest[self.tree]
        order = np.where(best, np.arange(len(values))[:, None], len(values))
        return highest.sum(axis=0) + self.leaves.constant, np.minimum.reduceat(
            order, self.leaves.starts, axis=0
        )

    def outputs(self, states: States) -> Vector:
        """The output for each input; its sign is the model's own decision."""
        outputs = self.bound_regions(states[:, :, None] == np.arange(3))[0]
        close = np.flatnonzero(np.abs(outputs) <= self.leaves.tolerance)
        if len(close):
            outputs[close] = np.where(self.decide(states[close]), 1, -1) * self.leaves.tolerance
        return outputs

    def outputs_after_moves(self, here: States, moves: States) -> Numbers:
        """The outputs at each input after each move."""
        states = np.concatenate([apply_move(self.space, here, *move) for move in moves.tolist()])
        outputs: Numbers = self.bound_regions(states[:, :, None] == np.arange(3))[0].reshape(len(moves), -1).T
        return outputs

    def root_bound(self) -> float:
        """Bound the output over the whole region, without branching."""
        return float(self.bound_regions(self.region[None])[0][0])

    def search(
        self, seconds: float, keep: Callable[[Bools], Bools] | None = None, admits: InputFilter | None = None
    ) -> SearchOutcome:
        """Branch on base variables until the output is certainly negative or a positive one is found."""
        deadline = time.perf_counter() + seconds
        stack = [(self.region[None], np.array([np.inf]))]
        closed, best, states, nodes = -np.inf, -np.inf, None, 0
        while stack and best <= 0 and time.perf_counter() < deadline:
            regions, uppers = stack.pop()
            if len(regions) > REGIONS_PER_BATCH:
                stack.append((regions[:-REGIONS_PER_BATCH], uppers[:-REGIONS_PER_BATCH]))
                regions = regions[-REGIONS_PER_BATCH:]
            if keep is not None:
                regions = regions[keep(regions)]
            if not len(regions):
                continue
            nodes += len(regions)
            upper, leaves = self.bound_regions(regions)
            against = self._against(leaves)
            tried = self.space.maximise_effects(-against, regions)[1]
            outputs = self.outputs(tried)
            single = regions.sum(axis=(1, 2)) == self.space.count
            known = single.copy()
            close = np.flatnonzero(~single & (np.abs(upper) <= self.leaves.tolerance))
            if len(close):
                known[close] = self.constant(regions[close])
            # of one input the model itself was asked, and so it was of all that get the same numbers
            upper = np.where(known, outputs, upper + self.leaves.tolerance)
            if admits is not None:
                outputs[~admits(tried)] = -np.inf
            top = [int(outputs.argmax())]
            reached, heights = tried[top], outputs[top]
            if admits is None:
                reached, heights = climb(self, self.region, reached)
            if heights[0] > best:
                best, states = float(heights[0]), reached[0]
            settled = (upper < 0) | single
            closed = max(closed, upper[settled].max(initial=-np.inf))
            rest = np.flatnonzero(~settled)
            rest = rest[np.argsort(upper[rest], kind="stable")]
            if len(rest):
                stack.append(self._split(regions[rest], against[rest], upper[rest]))
        waiting = max((float(uppers.max()) for _, uppers in stack), default=-np.inf)
        return SearchOutcome(max(closed, waiting), best, states, nodes, not stack)

    def _against(self, leaves: States) -> Numbers:
        """The weight of the highest leaves that each state of each base variable excludes, (k, m, 3)."""
        spread = np.maximum.reduceat(self.leaves.values, self.leaves.starts)
        spread = spread - np.minimum.reduceat(self.leaves.values, self.leaves.starts)
        against: Numbers = np.zeros((leaves.shape[1], self.space.count, 3))
        for weight, chosen in zip(spread.tolist(), leaves, strict=True):
            against += weight * ~self.leaves.states[chosen]
        return against

    def _split(self, regions: Bools, against: Numbers, upper: Vector) -> tuple[Bools, Vector]:
        """Split each region by the states of the free base variable that excludes most weight."""
        free = regions.sum(axis=2) > 1
        least = np.where(regions, against, np.inf).min(axis=2)
        total = np.where(regions, against, 0).sum(axis=2)
        chosen = np.where(free, least + 1e-3 * total, -1).argmax(axis=1)
        parent, state = np.nonzero(regions[np.arange(len(regions)), chosen])
        parts = regions[parent]
        parts[np.arange(len(parts)), chosen[parent]] = np.arange(3) == state[:, None]
        return self.space.propagate_groups(parts), upper[parent]
