"""Decision trees over variables, read as rules: what rule extraction has to beat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.deadline import Stopwatch
from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, Bools, HornTheory, Rule, Vocabulary, bits, chaining
from hornbook.queries import Distribution, Literals, Membership

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier

UNKNOWN_INPUT = 0.5
"""The number for an unknown value in the input of a tree."""


@dataclass(frozen=True)
class TreeLeaf:
    """The end of a branch."""

    accepts: bool


@dataclass(frozen=True)
class TreeSplit:
    """A test of one variable: false goes low, true goes high, unknown to one of the two."""

    variable: int
    low: Node
    high: Node
    unknown_goes_high: bool


Node: TypeAlias = TreeLeaf | TreeSplit

Values: TypeAlias = frozenset[float]


def split_at(threshold: float, variable: int, low: Node, high: Node, unknown: float = UNKNOWN_INPUT) -> Node:
    """Return a split at a threshold; if all values are on one side of it, that side alone."""
    if not 0 <= threshold < 1:
        return high if threshold < 0 else low
    return TreeSplit(variable, low, high, threshold < unknown)


def tree_object(tree: Node, vocabulary: Vocabulary) -> Any:
    """A tree ready for JSON: an answer, or a test with its two sides.

    Examples
    --------
    >>> vocabulary = Vocabulary(["horse"])
    >>> tree = TreeSplit(0, low=TreeLeaf(True), high=TreeLeaf(False), unknown_goes_high=False)
    >>> tree_object(tree, vocabulary)
    {'variable': 'horse', 'unknown': 'low', 'low': True, 'high': False}
    >>> read_tree(tree_object(tree, vocabulary), vocabulary) == tree
    True

    """
    if isinstance(tree, TreeLeaf):
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
        return TreeLeaf(entry)
    low, high = (read_tree(entry[side], vocabulary) for side in ("low", "high"))
    return TreeSplit(vocabulary.index(entry["variable"]), low, high, entry["unknown"] == "high")


def decide_by_tree(tree: Node, batch: Batch) -> Bools:
    """For each interpretation, whether the tree accepts it: branches are followed bit-sliced.

    Examples
    --------
    >>> tree = TreeSplit(0, low=TreeLeaf(True), high=TreeLeaf(False), unknown_goes_high=False)
    >>> decide_by_tree(tree, Batch.from_array([[1], [0], [np.nan]], Vocabulary(["horse"])))
    array([False,  True,  True])

    """
    accepted = np.zeros(bits.words_for(len(batch)), np.uint64)
    pending = [(tree, np.full_like(accepted, chaining.ALWAYS))]
    while pending:
        node, here = pending.pop()
        if isinstance(node, TreeLeaf):
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
    >>> wings = TreeSplit(1, low=TreeLeaf(False), high=TreeLeaf(True), unknown_goes_high=True)
    >>> tree = TreeSplit(0, low=TreeLeaf(True), high=wings, unknown_goes_high=False)
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
        if isinstance(node, TreeLeaf):
            if not node.accepts:
                yield demands
            continue
        above = frozenset({UNKNOWN_INPUT, 1.0} if node.unknown_goes_high else {1.0})
        sides = ((node.high, above), (node.low, frozenset({0.0, UNKNOWN_INPUT, 1.0}) - above))
        for child, values in sides:
            if allowed := demands.get(node.variable, values) & values:
                pending.append((child, {**demands, node.variable: allowed}))


def leaf_depths(tree: Node) -> tuple[int, ...]:
    """For every leaf, how many variables are tested on the way to it.

    Examples
    --------
    >>> leaf_depths(TreeSplit(0, low=TreeLeaf(True), high=TreeLeaf(False), unknown_goes_high=False))
    (1, 1)

    """
    found = []
    pending: list[tuple[Node, frozenset[int]]] = [(tree, frozenset())]
    while pending:
        node, tested = pending.pop()
        if isinstance(node, TreeLeaf):
            found.append(len(tested))
        else:
            pending += [(child, tested | {node.variable}) for child in (node.low, node.high)]
    return tuple(found)


def one_variable_per_pair(vocabulary: Vocabulary) -> NDArray[np.intp]:
    """One variable of each pair: the other one says the same.

    A tree that sees both gains nothing, and a Hoeffding tree loses: its best two tests are
    always equally good, so that it never gets sure of the better one.
    """
    _refuse_lone(vocabulary)
    return Literals.of(vocabulary).drawn


def tree_input(
    batch: Batch, variables: NDArray[np.intp], unknown: float = UNKNOWN_INPUT
) -> NDArray[np.float32]:
    """Encode a batch as input of a tree, shape (items, variables)."""
    part = Batch(
        Vocabulary(batch.vocabulary.names[v] for v in variables),
        batch.true[variables],
        batch.false[variables],
        len(batch),
    )
    return part.to_array(unknown, np.float32)


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


@dataclass(frozen=True)
class Baseline:
    """A white box fitted to a model's answers, as a judge and as rules.

    Attributes
    ----------
    name
        What reports call it.
    tree
        The tree, with the most frequent answer at every leaf.
    theory
        The branches to rejecting leaves: the rules reject all that the tree rejects, see
        `branch_rules` for what more.
    seconds
        How long it took, the model's answers included.
    labels_used
        How many interpretations the model was asked about.
    stopped
        Why it stopped, in words.
    settings
        The parameters, ready for JSON.

    """

    name: str
    tree: Node
    theory: HornTheory
    seconds: float
    labels_used: int
    stopped: str
    settings: dict[str, Any]

    def member(self, batch: Batch) -> Bools:
        """The tree's own answers."""
        return decide_by_tree(self.tree, batch)

    @property
    def leaves(self) -> tuple[int, ...]:
        """For every leaf, accepting ones too, how many variables are tested on the way to it."""
        return leaf_depths(self.tree)


def ask_in_blocks(member: Membership, batch: Batch) -> Bools:
    """Ask a model block by block, shape (items,)."""
    blocks = [np.asarray(member(block), np.bool_) for block in batch.blocks()]
    return np.concatenate([np.zeros(0, np.bool_), *blocks])


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
    >>> from hornbook.queries import Random
    >>> from hornbook.logic import HornTheory
    >>> from hornbook.logic import Vocabulary
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
    clock = Stopwatch()
    variables = one_variable_per_pair(distribution.vocabulary)
    batch = distribution.draw(size, rng)
    labels = ask_in_blocks(member, batch)
    fitted = DecisionTreeClassifier(max_leaf_nodes=max_leaf_nodes, random_state=int(rng.integers(2**31))).fit(
        tree_input(batch, variables), labels
    )
    tree = convert_tree(fitted, variables)
    return Baseline(
        "decision tree",
        tree,
        branch_rules(tree, distribution.vocabulary),
        clock.elapsed,
        size,
        "fitted",
        {"size": size, "max_leaf_nodes": max_leaf_nodes},
    )


def convert_tree(fitted: DecisionTreeClassifier, variables: NDArray[np.intp]) -> Node:
    """Convert a fitted scikit-learn tree."""
    arrays = fitted.tree_
    nodes: list[Node] = [TreeLeaf(True)] * arrays.node_count
    # a child has a larger number than its parent
    for at in reversed(range(arrays.node_count)):
        low, high = arrays.children_left[at], arrays.children_right[at]
        if low < 0:
            nodes[at] = TreeLeaf(bool(fitted.classes_[arrays.value[at, 0].argmax()]))
        else:
            variable = int(variables[arrays.feature[at]])
            nodes[at] = split_at(float(arrays.threshold[at]), variable, nodes[low], nodes[high])
    return nodes[0]
