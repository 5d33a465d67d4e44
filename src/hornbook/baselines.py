"""Decision trees over variables, read as rules: what rule extraction has to beat.

The paper's rival is a Hoeffding tree, trained on sample after sample. Inputs are 0 and 1, so that a leaf
keeps exact counts, and a block of rows is counted at once. Where its sources leave a choice, the tree does as
river's does: ties, smallest branches, first counts of a leaf.

References
----------
P. Domingos, G. Hulten. Mining high-speed data streams. KDD 2000.
C. Persia, A. Ozaki. Extracting Rules from Neural Networks with Partial Interpretations. NLDL 2022.

"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product, starmap
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.deadline import NO_DEADLINE, Deadline
from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, Bools, HornTheory, Rule, Vocabulary, bits, chaining
from hornbook.queries import Distribution, Literals, Membership

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier

Floats: TypeAlias = NDArray[np.floating[Any]]

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
    rules = []
    for demands in rejecting_branches(tree):
        true = (v for v, values in demands.items() if values == {1.0})
        false = (vocabulary.dual(v) for v, values in demands.items() if values == {0.0})
        rules.append(Rule((*true, *(v for v in false if v is not None)), BOTTOM))
    return HornTheory(vocabulary, rules)


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


def one_variable_per_pair(vocabulary: Vocabulary) -> NDArray[np.intp]:
    """One variable of each pair: the other one says the same.

    A tree that sees both gains nothing, and a Hoeffding tree loses: its best two tests are
    always equally good, so that it never gets sure of the better one.
    """
    _refuse_lone(vocabulary)
    return Literals.of(vocabulary).drawn


def _refuse_lone(vocabulary: Vocabulary) -> None:
    for v, dual in enumerate(vocabulary.duals):
        if dual is None:
            raise HornbookError(
                f"{vocabulary.name(v)!r} has no dual, so that no rule can ask for it to be false; "
                "use Vocabulary.with_duals or Binariser(dual=True)"
            )


@dataclass(frozen=True)
class Baseline:
    """A tree fitted to a model's answers, with the most frequent answer at every leaf.

    Attributes
    ----------
    tree
        The tree.
    theory
        The branches to rejecting leaves: the rules reject all that the tree rejects, see
        `branch_rules` for what more.
    labels_used
        How many interpretations the model was asked about.
    samples
        In how many samples.
    stopped
        Why it stopped, in words.

    """

    tree: Node
    theory: HornTheory
    labels_used: int
    samples: int = 1
    stopped: str = "fitted"

    def member(self, batch: Batch) -> Bools:
        """The tree's own answers."""
        return decide_by_tree(self.tree, batch)

    @property
    def splits(self) -> int:
        """The number of its tests."""
        return _count_splits(self.tree)


def _count_splits(tree: Node) -> int:
    return 0 if isinstance(tree, TreeLeaf) else 1 + _count_splits(tree.low) + _count_splits(tree.high)


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
    variables, batch = one_variable_per_pair(distribution.vocabulary), distribution.draw(size, rng)
    labels = ask_in_blocks(member, batch)
    fitted = DecisionTreeClassifier(max_leaf_nodes=max_leaf_nodes, random_state=int(rng.integers(2**31)))
    fitted.fit(batch.to_array(UNKNOWN_INPUT, np.float32)[:, variables], labels)
    tree = convert_tree(fitted, variables)
    return Baseline(tree, branch_rules(tree, distribution.vocabulary), size)


def convert_tree(fitted: DecisionTreeClassifier, variables: NDArray[np.intp]) -> Node:
    """Convert a tree of scikit-learn that was fitted to inputs 0, ½ and 1."""
    arrays = fitted.tree_
    nodes: list[Node] = [TreeLeaf(True)] * arrays.node_count
    # a child has a larger number than its parent
    for at in reversed(range(arrays.node_count)):
        low, high = arrays.children_left[at], arrays.children_right[at]
        if low < 0:
            nodes[at] = TreeLeaf(bool(fitted.classes_[arrays.value[at, 0].argmax()]))
        else:
            variable = int(variables[arrays.feature[at]])
            nodes[at] = TreeSplit(variable, nodes[low], nodes[high], arrays.threshold[at] < UNKNOWN_INPUT)
    return nodes[0]


LEARNED_BLOCK = 1 << 13
"""Number of interpretations that are learned at a time, before the clock is checked again."""

TIE = 0.05
"""Below this bound the best two tests are taken for equally good, and one of them is used."""

MIN_BRANCH = 0.01
"""The least share of interpretations on either side of a test."""


@dataclass(frozen=True)
class HoeffdingSettings:
    """How a Hoeffding tree grows. A leaf gives the answer most frequent in it, so its branch is a rule.

    Attributes
    ----------
    grace_period
        The number of interpretations that reach a leaf before it thinks of splitting again.
    delta
        The permitted probability that the best test at a leaf is not the best: the split
        confidence is 1 - delta.

    """

    grace_period: int = 200
    delta: float = 1e-7

    def __post_init__(self) -> None:
        if self.grace_period < 1:
            raise HornbookError(f"a grace period is a positive number; got {self.grace_period}")
        if not 0 < self.delta < 1:
            raise HornbookError(f"delta is between 0 and 1, both excluded; got {self.delta}")


CANDIDATES = tuple(starmap(HoeffdingSettings, product((20, 50, 200), (1e-7, 1e-3, 0.1, 0.5))))
"""The settings that are compared."""


def hoeffding_tree(
    member: Membership,
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
    *,
    settings: HoeffdingSettings | None = None,
    samples: int | None = None,
    seconds: float | None = None,
    unknown: float = UNKNOWN_INPUT,
) -> Baseline:
    """Train a Hoeffding tree on whole samples until it misclassifies none of one.

    As in the paper: a sample is drawn and labelled by the model; if the tree misclassifies
    any of it, the tree is trained on all of it, one interpretation after another, and the
    next sample is drawn. The tree begins as one leaf that accepts.

    Parameters
    ----------
    member
        The model.
    distribution, size, rng
        Where samples come from, and how many interpretations one has.
    settings
        How the tree grows.
    samples, seconds
        How many samples, and how long, at most. A limit in seconds may end in the middle of a sample;
        results then depend on the machine.
    unknown
        How an unknown value enters the tree: ½, or 0 as a false one does. By ½ the tree sees one
        variable of each pair, by 0 both, since they differ where the value is unknown.

    Examples
    --------
    >>> from hornbook.queries import Random
    >>> from hornbook.logic import HornTheory
    >>> vocabulary = Vocabulary.with_duals(["horse", "wings", "pegasus"])
    >>> theory = HornTheory.parse("horse & wings -> pegasus", vocabulary)
    >>> drawn, rng = Random(vocabulary), np.random.default_rng(0)
    >>> tree = hoeffding_tree(theory.satisfied_by, drawn, 2000, rng, samples=20)
    >>> print(tree.theory, "|", tree.stopped)
    horse ∧ wings ∧ not_pegasus → ⊥ | misclassifies none of a sample of 2000

    """
    if size < 1:
        raise HornbookError(f"a sample has at least one interpretation; got size={size}")
    growing = _Growing(distribution.vocabulary, settings or HoeffdingSettings(), unknown)
    deadline, drawn, stopped = Deadline.after(seconds), 0, ""
    while not stopped:
        if drawn == samples:
            stopped = f"budget of {samples} samples"
        elif deadline.passed:
            stopped = f"budget of {seconds:g} seconds"
        else:
            batch, drawn = distribution.draw(size, rng), drawn + 1
            accepted = ask_in_blocks(member, batch)
            if np.array_equal(growing.member(batch), accepted):
                stopped = f"misclassifies none of a sample of {size}"
            else:
                growing.learn(batch, accepted, deadline)
    tree = growing.tree()
    return Baseline(tree, branch_rules(tree, distribution.vocabulary), drawn * size, drawn, stopped)


def tune_hoeffding_tree(
    member: Membership,
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
    *,
    candidates: Sequence[HoeffdingSettings] = CANDIDATES,
    unknown: float = UNKNOWN_INPUT,
) -> HoeffdingSettings:
    """Choose the settings of a Hoeffding tree that errs least: train on one sample, compare on another.

    Every candidate learns the same `size` interpretations and is judged on the same `size`
    others.
    """
    training, validation = distribution.draw(size, rng), distribution.draw(size, rng)
    accepted, expected = ask_in_blocks(member, training), ask_in_blocks(member, validation)

    def count_errors(settings: HoeffdingSettings) -> int:
        growing = _Growing(distribution.vocabulary, settings, unknown)
        growing.learn(training, accepted, NO_DEADLINE)
        return int((growing.member(validation) != expected).sum())

    return min(candidates, key=count_errors)


class _Node:
    """A node of a growing tree: a leaf that counts, or a test of one input.

    Attributes
    ----------
    counts
        How many rejected and accepted interpretations reached it; a new leaf begins with its parent's, (2,).
    seen
        Those that it has counted itself, (2,).
    ones
        Of these, those with 1, input by input, (2, inputs).
    waiting
        How many came since it last thought of splitting.
    test, low, high
        The input that is tested, and the nodes for 0 and 1; a leaf has none.

    """

    def __init__(self, counts: Floats, inputs: int) -> None:
        self.counts, self.seen, self.ones = counts, np.zeros(2), np.zeros((2, inputs))
        self.waiting = 0
        self.test: int | None = None
        self.low = self.high = self

    def count(self, rows: Floats, accepted: Bools) -> None:
        """Count interpretations, given as (rows, inputs)."""
        sides = np.stack([~accepted, accepted]).astype(np.float32)
        number = sides.sum(axis=1)
        self.counts, self.seen = self.counts + number, self.seen + number
        self.ones += sides @ rows
        self.waiting += len(rows)

    def split(self, test: int) -> None:
        """Make two leaves of a leaf."""
        ones = self.ones[:, test]
        self.test, inputs = test, self.ones.shape[1]
        self.low, self.high = _Node(self.seen - ones, inputs), _Node(ones.copy(), inputs)


class _Growing:
    """A Hoeffding tree that is fed with batches: leaves count blocks of rows, which come to them in order."""

    def __init__(self, vocabulary: Vocabulary, settings: HoeffdingSettings, unknown: float) -> None:
        self.settings, self.unknown = settings, unknown
        self.variables = one_variable_per_pair(vocabulary) if unknown else np.arange(len(vocabulary))
        # by ½ an unknown value goes with true ones or with false ones: two tests of a variable
        self.tests = 2 if unknown else 1
        self.root = _Node(np.zeros(2), self.tests * len(self.variables))

    def learn(self, batch: Batch, accepted: Bools, deadline: Deadline) -> None:
        """Learn the batch, one block after another, until the deadline."""
        for start in range(0, len(batch), LEARNED_BLOCK):
            rows = self._encode(batch[start : start + LEARNED_BLOCK])
            self._learn_block(rows, accepted[start : start + LEARNED_BLOCK])
            if deadline.passed:
                return

    def tree(self) -> Node:
        """The tree with the majority's answer at every leaf."""
        return self._convert(self.root)

    def member(self, batch: Batch) -> Bools:
        """The tree's own answers."""
        return decide_by_tree(self.tree(), batch)

    def _encode(self, batch: Batch) -> Floats:
        """For each variable whether it is true, and by ½ whether it is not false, (rows, inputs)."""
        true = bits.unpack_rows(batch.true[self.variables], len(batch))
        parts = (
            [true] if self.tests == 1 else [true, ~bits.unpack_rows(batch.false[self.variables], len(batch))]
        )
        return np.ascontiguousarray(np.concatenate(parts).T, np.float32)

    def _learn_block(self, rows: Floats, accepted: Bools) -> None:
        """Send rows down to the leaves; those that follow on a split go further."""
        pending = [(self.root, np.arange(len(rows)))]
        while pending:
            node, here = pending.pop()
            while node.test is None and len(here):
                taken, here = np.split(here, [self.settings.grace_period - node.waiting])
                node.count(rows[taken], accepted[taken])
                if node.waiting == self.settings.grace_period:
                    node.waiting = 0
                    self._try_split(node)
            if len(here) and node.test is not None:
                ones = rows[here, node.test] == 1
                pending += [(node.low, here[~ones]), (node.high, here[ones])]

    def _try_split(self, leaf: _Node) -> None:
        """Split a leaf if its best test is surely better than that of any other variable, or equally good."""
        if not leaf.seen.all():
            return
        gains = information_gains(leaf.seen, leaf.ones)
        of_variables = gains.reshape(self.tests, -1).max(axis=0)
        second, best = (
            np.partition(of_variables, -2)[-2:] if len(of_variables) > 1 else (0.0, of_variables[0])
        )
        bound = np.sqrt(np.log(1 / self.settings.delta) / (2 * leaf.counts.sum()))
        if best > 0 and (best - max(second, 0) > bound or bound < TIE):
            leaf.split(int(gains.argmax()))

    def _convert(self, node: _Node) -> Node:
        if node.test is None:
            return TreeLeaf(bool(node.counts[1] >= node.counts[0]))
        half, position = divmod(node.test, len(self.variables))
        low, high = self._convert(node.low), self._convert(node.high)
        return TreeSplit(int(self.variables[position]), low, high, unknown_goes_high=half == 1)


def information_gains(seen: Floats, ones: Floats) -> Floats:
    """How much each test says about the answer, in bits; minus infinity if nearly all go to one side.

    Parameters
    ----------
    seen
        How many were rejected and accepted, (2,).
    ones
        Those of them with 1, test by test, (2, tests).

    Examples
    --------
    >>> information_gains(np.array([50.0, 50.0]), np.array([[50.0, 25.0, 0.0], [0.0, 25.0, 0.0]]))
    array([  1.,   0., -inf])

    """
    total, sides = seen.sum(), np.stack([ones, seen[:, None] - ones])  # (sides, classes, tests)
    sizes = sides.sum(axis=1)
    gains = _entropy(seen[:, None])[0] - (sizes / total * _entropy(sides.swapaxes(0, 1))).sum(axis=0)
    few: Floats = np.where(sizes.min(axis=0) < MIN_BRANCH * total, -np.inf, gains)
    return few


def _entropy(counts: Floats) -> Floats:
    """The entropy of counts of classes along the first axis, in bits."""
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    logarithms = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy: Floats = -(shares * logarithms).sum(axis=0)
    return entropy
