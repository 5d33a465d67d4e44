"""The paper's rival: an incremental decision tree, trained on sample after sample.

Inputs are 0 and 1, so that a leaf keeps exact counts, and a block of rows is counted at once. Where its
sources leave a choice, the tree does as river's does: ties, smallest branches, first counts of a leaf.

References
----------
P. Domingos, G. Hulten. Mining high-speed data streams. KDD 2000.
C. Persia, A. Ozaki. Extracting Rules from Neural Networks with Partial Interpretations. NLDL 2022.

"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.baselines.tree import (
    UNKNOWN_INPUT,
    Baseline,
    Node,
    TreeLeaf,
    TreeSplit,
    ask_in_blocks,
    branch_rules,
    decide_by_tree,
    one_variable_per_pair,
)
from hornbook.deadline import NO_DEADLINE, Deadline, Stopwatch
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Vocabulary, bits
from hornbook.queries import Budget, Distribution, Membership
from hornbook.statistics import Share

LEARNED_BLOCK = 1 << 13
"""Number of interpretations that are learned at a time, before the clock is checked again."""

TIE = 0.05
"""Below this bound the best two tests are taken for equally good, and one of them is used."""

MIN_BRANCH = 0.01
"""The least share of interpretations on either side of a test."""

Floats: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class HoeffdingSettings:
    """How a Hoeffding tree grows. A leaf gives the answer most frequent in it, so its branch is a rule.

    Attributes
    ----------
    grace_period
        So many interpretations reach a leaf before it thinks of splitting again.
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


def hoeffding_tree(
    member: Membership,
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
    *,
    settings: HoeffdingSettings | None = None,
    budget: Budget,
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
    budget
        Equivalence queries are samples here and membership queries are labels, of which the
        last sample gets what is left. A limit in seconds may end in the middle of a sample;
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
    >>> tree = hoeffding_tree(theory.satisfied_by, drawn, 2000, rng, budget=Budget(equivalence_queries=20))
    >>> print(tree.theory, "|", tree.stopped)
    horse ∧ wings ∧ not_pegasus → ⊥ | misclassifies none of a sample of 2000

    """
    if size < 1:
        raise HornbookError(f"a sample has at least one interpretation; got size={size}")
    growing = _Growing(distribution.vocabulary, settings or HoeffdingSettings(), unknown)
    deadline = Deadline.after(budget.seconds)
    samples = labels = 0
    while (stopped := _limit(budget, samples, labels, deadline)) is None:
        left = size if budget.membership_queries is None else budget.membership_queries - labels
        batch = distribution.draw(min(size, left), rng)
        accepted = ask_in_blocks(member, batch)
        samples, labels = samples + 1, labels + len(batch)
        if np.array_equal(growing.member(batch), accepted):
            stopped = f"misclassifies none of a sample of {len(batch)}"
            break
        growing.learn(batch, accepted, deadline)
    tree = growing.tree()
    return Baseline(
        "Hoeffding tree",
        tree,
        branch_rules(tree, distribution.vocabulary),
        deadline.elapsed,
        labels,
        stopped,
        {"size": size, "samples": samples, **asdict(growing.settings)},
    )


@dataclass(frozen=True)
class Tuning:
    """The settings that did best on a validation sample, and how all of them did."""

    best: HoeffdingSettings
    disagreements: dict[HoeffdingSettings, Share] = field(repr=False)
    seconds: float
    labels_used: int


def tune_hoeffding_tree(
    member: Membership,
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
    *,
    grace_periods: tuple[int, ...] = (20, 50, 200),
    deltas: tuple[float, ...] = (1e-7, 1e-3, 0.1, 0.5),
    unknown: float = UNKNOWN_INPUT,
) -> Tuning:
    """Choose grace period and split confidence: train on one sample, compare on another.

    Every candidate learns the same `size` interpretations and is judged on the same `size`
    others.
    """
    clock = Stopwatch()
    training, validation = distribution.draw(size, rng), distribution.draw(size, rng)
    accepted, expected = ask_in_blocks(member, training), ask_in_blocks(member, validation)
    disagreements = {}
    for grace_period, delta in product(grace_periods, deltas):
        growing = _Growing(distribution.vocabulary, HoeffdingSettings(grace_period, delta), unknown)
        growing.learn(training, accepted, NO_DEADLINE)
        wrong = int((growing.member(validation) != expected).sum())
        disagreements[growing.settings] = Share.of(wrong, size)
    best = min(disagreements, key=lambda settings: disagreements[settings].hits)
    return Tuning(best, disagreements, clock.elapsed, 2 * size)


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


def _limit(budget: Budget, samples: int, labels: int, deadline: Deadline) -> str | None:
    """The limit that is reached, in words."""
    if budget.equivalence_queries is not None and samples >= budget.equivalence_queries:
        return f"budget of {budget.equivalence_queries} samples"
    if budget.membership_queries is not None and labels >= budget.membership_queries:
        return f"budget of {budget.membership_queries} labels"
    if deadline.passed:
        return f"budget of {budget.seconds:g} seconds"
    return None
