"""A decision tree fitted to a model's answers, all at once (scikit-learn's CART).

References
----------
L. Breiman, J. Friedman, R. Olshen, C. Stone. Classification and Regression Trees. 1984.

"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hornbook.baselines.baseline import Baseline, labels_of
from hornbook.baselines.branches import (
    Leaf,
    Node,
    accepted_by,
    branch_rules,
    depths,
    one_of_each_pair,
    split_at,
    tree_input,
)
from hornbook.distributions import Distribution
from hornbook.logic.errors import HornbookError
from hornbook.queries import Membership

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier


def decision_tree(
    member: Membership,
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
    *,
    max_leaf_nodes: int | None = None,
) -> Baseline:
    """A tree fitted to what a model answers about `size` interpretations.

    Parameters
    ----------
    member
        The model.
    distribution, size, rng
        Where the interpretations come from, and how many. A tree needs all of them at once:
        four bytes a value.
    max_leaf_nodes
        The number of leaves, and so of rules, is at most that; None: it grows until every
        leaf is pure.

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> from hornbook.logic.theory import HornTheory
    >>> from hornbook.logic.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary.with_duals(["horse", "wings", "pegasus"])
    >>> theory = HornTheory.parse("horse & wings -> pegasus", vocabulary)
    >>> drawn = Random(vocabulary)
    >>> tree = decision_tree(theory.satisfied_by, drawn, 2000, np.random.default_rng(0))
    >>> print(tree.theory)
    horse ∧ wings ∧ not_pegasus → ⊥

    """
    from sklearn.tree import DecisionTreeClassifier

    if size < 1:
        raise HornbookError(f"a tree is fitted to at least one interpretation; got size={size}")
    start = time.perf_counter()
    variables = one_of_each_pair(distribution.vocabulary)
    batch = distribution.draw(size, rng)
    labels = labels_of(member, batch)
    fitted = DecisionTreeClassifier(max_leaf_nodes=max_leaf_nodes, random_state=int(rng.integers(2**31))).fit(
        tree_input(batch, variables), labels
    )
    tree = node_of(fitted, variables)
    return Baseline(
        "decision tree",
        partial(accepted_by, tree),
        tree,
        branch_rules(tree, distribution.vocabulary),
        time.perf_counter() - start,
        size,
        "fitted",
        {"size": size, "max_leaf_nodes": max_leaf_nodes},
        depths(tree),
    )


def node_of(fitted: DecisionTreeClassifier, variables: NDArray[np.intp]) -> Node:
    """A fitted tree as tests of variables."""
    arrays = fitted.tree_
    nodes: list[Node] = [Leaf(True)] * arrays.node_count
    # a child has a larger number than its parent
    for at in reversed(range(arrays.node_count)):
        low, high = arrays.children_left[at], arrays.children_right[at]
        if low < 0:
            nodes[at] = Leaf(bool(fitted.classes_[arrays.value[at, 0].argmax()]))
        else:
            variable = int(variables[arrays.feature[at]])
            nodes[at] = split_at(float(arrays.threshold[at]), variable, nodes[low], nodes[high])
    return nodes[0]
