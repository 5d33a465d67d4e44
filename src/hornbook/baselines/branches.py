"""Decision trees over true, false and unknown, and the rules on their branches.

A tree sees 1 for true, 0 for false and 0.5 for unknown, and compares with thresholds. A test
therefore parts either what is true from the rest or what is false from the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions.literals import Literals
from hornbook.logic import bits
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.chaining import ALWAYS
from hornbook.logic.errors import HornbookError
from hornbook.logic.rule import BOTTOM, Rule
from hornbook.logic.theory import HornTheory
from hornbook.logic.vocabulary import Vocabulary

UNKNOWN = 0.5
"""How a tree sees an unknown value."""


@dataclass(frozen=True)
class Leaf:
    """The end of a branch."""

    accepts: bool


@dataclass(frozen=True)
class Split:
    """A test of one variable: false goes low, true goes high, unknown to one of the two."""

    variable: int
    low: Node
    high: Node
    unknown_goes_high: bool


Node: TypeAlias = Leaf | Split

Values: TypeAlias = frozenset[float]


def split_at(threshold: float, variable: int, low: Node, high: Node) -> Node:
    """The test whether a value is above a threshold, or the only side that it can take."""
    if not 0 <= threshold < 1:
        return high if threshold < 0 else low
    return Split(variable, low, high, threshold < UNKNOWN)


def tree_object(tree: Node, vocabulary: Vocabulary) -> Any:
    """A tree ready for JSON: an answer, or a test with its two sides.

    Examples
    --------
    >>> vocabulary = Vocabulary(["horse"])
    >>> tree = Split(0, low=Leaf(True), high=Leaf(False), unknown_goes_high=False)
    >>> tree_object(tree, vocabulary)
    {'variable': 'horse', 'unknown': 'low', 'low': True, 'high': False}
    >>> read_tree(tree_object(tree, vocabulary), vocabulary) == tree
    True

    """
    if isinstance(tree, Leaf):
        return tree.accepts
    return {
        "variable": vocabulary.name(tree.variable),
        "unknown": "high" if tree.unknown_goes_high else "low",
        "low": tree_object(tree.low, vocabulary),
        "high": tree_object(tree.high, vocabulary),
    }


def read_tree(entry: Any, vocabulary: Vocabulary) -> Node:
    """The tree that `tree_object` wrote down."""
    if isinstance(entry, bool):
        return Leaf(entry)
    low, high = (read_tree(entry[side], vocabulary) for side in ("low", "high"))
    return Split(vocabulary.index(entry["variable"]), low, high, entry["unknown"] == "high")


def accepted_by(tree: Node, batch: Batch) -> Bools:
    """For each interpretation, whether the tree accepts it: branches are followed bit-sliced.

    Examples
    --------
    >>> tree = Split(0, low=Leaf(True), high=Leaf(False), unknown_goes_high=False)
    >>> accepted_by(tree, Batch.from_array([[1], [0], [np.nan]], Vocabulary(["horse"])))
    array([False,  True,  True])

    """
    accepted = np.zeros(bits.words_for(len(batch)), np.uint64)
    pending = [(tree, np.full_like(accepted, ALWAYS))]
    while pending:
        node, here = pending.pop()
        if isinstance(node, Leaf):
            accepted |= here if node.accepts else 0
        elif here.any():
            true, false = batch.true[node.variable], batch.false[node.variable]
            high = here & (~false if node.unknown_goes_high else true)
            pending += [(node.low, here & ~high), (node.high, high)]
    return bits.flat(accepted, len(batch))


def branch_rules(tree: Node, vocabulary: Vocabulary) -> HornTheory:
    """The branches to rejecting leaves as rules with the head ⊥.

    A branch that demands a value to be true gives its rule the variable, and one that demands
    it to be false gives it the dual. What may be unknown too, such as "not known to be true",
    asks for no knowledge and gives nothing. Heads are ⊥ because any other head could make one
    branch trigger the next.

    Horn rules reject more as more is known, and a tree need not. So the theory rejects exactly
    what the tree rejects with all of the values or with some of them forgotten: all that the
    tree rejects, and nothing else if the tree is coherent.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["horse", "wings"])
    >>> wings = Split(1, low=Leaf(False), high=Leaf(True), unknown_goes_high=True)
    >>> tree = Split(0, low=Leaf(True), high=wings, unknown_goes_high=False)
    >>> print(branch_rules(tree, vocabulary))
    horse ∧ not_wings → ⊥

    """
    _refuse_lone(vocabulary)
    return HornTheory(
        vocabulary,
        (Rule(_body(demands, vocabulary), BOTTOM) for demands in rejecting_branches(tree)),
    )


def rejecting_branches(tree: Node) -> Iterator[dict[int, Values]]:
    """For each branch to a rejecting leaf, the values that it allows the variables it tests."""
    pending: list[tuple[Node, dict[int, Values]]] = [(tree, {})]
    while pending:
        node, demands = pending.pop()
        if isinstance(node, Leaf):
            if not node.accepts:
                yield demands
            continue
        above = frozenset({UNKNOWN, 1.0} if node.unknown_goes_high else {1.0})
        sides = ((node.high, above), (node.low, frozenset({0.0, UNKNOWN, 1.0}) - above))
        for child, values in sides:
            if allowed := demands.get(node.variable, values) & values:
                pending.append((child, {**demands, node.variable: allowed}))


def depths(tree: Node) -> tuple[int, ...]:
    """For every leaf, how many variables are tested on the way to it.

    Examples
    --------
    >>> depths(Split(0, low=Leaf(True), high=Leaf(False), unknown_goes_high=False))
    (1, 1)

    """
    found = []
    pending: list[tuple[Node, frozenset[int]]] = [(tree, frozenset())]
    while pending:
        node, tested = pending.pop()
        if isinstance(node, Leaf):
            found.append(len(tested))
        else:
            pending += [(child, tested | {node.variable}) for child in (node.low, node.high)]
    return tuple(found)


def one_of_each_pair(vocabulary: Vocabulary) -> NDArray[np.intp]:
    """One variable of each pair: the other one says the same.

    A tree that sees both gains nothing, and a Hoeffding tree loses: its best two tests are
    always equally good, so that it never gets sure of the better one.
    """
    _refuse_lone(vocabulary)
    return Literals.of(vocabulary).drawn


def tree_input(batch: Batch, variables: NDArray[np.intp]) -> NDArray[np.float32]:
    """What a tree sees: a row for each interpretation, a column for each variable."""
    part = Batch(
        Vocabulary(batch.vocabulary.names[v] for v in variables),
        batch.true[variables],
        batch.false[variables],
        len(batch),
    )
    return part.to_array(UNKNOWN, np.float32)


def _refuse_lone(vocabulary: Vocabulary) -> None:
    for v, dual in enumerate(vocabulary.duals):
        if dual is None:
            raise HornbookError(
                f"{vocabulary.name(v)!r} has no dual, so that no rule can ask for it to be false; "
                "use Vocabulary.with_duals or Binariser(dual=True)"
            )


def _body(demands: dict[int, Values], vocabulary: Vocabulary) -> Iterator[int]:
    for variable, values in demands.items():
        dual = vocabulary.dual(variable)
        if values == {1.0}:
            yield variable
        elif values == {0.0} and dual is not None:
            yield dual
