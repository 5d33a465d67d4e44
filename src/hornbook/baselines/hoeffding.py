"""The paper's rival: an incremental decision tree, trained on sample after sample (river).

References
----------
P. Domingos, G. Hulten. Mining high-speed data streams. KDD 2000.
C. Persia, A. Ozaki. Extracting Rules from Neural Networks with Partial Interpretations. NLDL 2022.

"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

import numpy as np

from hornbook.baselines.tree import (
    UNKNOWN_INPUT,
    Baseline,
    Node,
    TreeLeaf,
    ask_in_blocks,
    branch_rules,
    decide_by_tree,
    one_variable_per_pair,
    split_at,
    tree_input,
)
from hornbook.deadline import NO_DEADLINE, Deadline, Stopwatch
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Vocabulary
from hornbook.queries import Budget, Distribution, Membership
from hornbook.statistics import Share

CLOCK_INTERVAL = 256
"""Number of interpretations learned before the clock is checked again."""


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


class _Growing:
    """River's tree, fed with batches."""

    def __init__(self, vocabulary: Vocabulary, settings: HoeffdingSettings, unknown: float) -> None:
        self.settings, self.unknown = settings, unknown
        self.variables = one_variable_per_pair(vocabulary) if unknown else np.arange(len(vocabulary))
        self.columns = self.variables.tolist()
        self.model = _river_tree(settings)

    def learn(self, batch: Batch, accepted: Bools, deadline: Deadline) -> None:
        """Learn the batch, one interpretation after another, until the deadline."""
        for start in range(0, len(batch), CLOCK_INTERVAL):
            rows = tree_input(batch[start : start + CLOCK_INTERVAL], self.variables, self.unknown).tolist()
            for row, label in zip(rows, accepted[start : start + CLOCK_INTERVAL].tolist(), strict=True):
                self.model.learn_one(dict(zip(self.columns, row, strict=True)), label)
            if deadline.passed:
                return

    def tree(self) -> Node:
        """The tree with the majority's answer at every leaf."""
        return (
            TreeLeaf(True)
            if self.model._root is None
            else _convert_tree(self.model._root, self.model.classes, self.unknown)
        )

    def member(self, batch: Batch) -> Bools:
        """The tree's own answers."""
        return decide_by_tree(self.tree(), batch)


def _river_tree(settings: HoeffdingSettings) -> Any:
    try:
        from river.tree import HoeffdingTreeClassifier
    except ModuleNotFoundError as error:
        raise HornbookError('Hoeffding trees need river: pip install "hornbook[river]"') from error
    return HoeffdingTreeClassifier(
        grace_period=settings.grace_period,
        delta=settings.delta,
        leaf_prediction="mc",
        max_size=4096,  # in MiB: at river's 100 leaves would stop learning in the longer runs
    )


def _convert_tree(node: Any, classes: set[bool], unknown: float) -> Node:
    """Convert a node of river's tree."""
    if hasattr(node, "threshold"):
        low, high = (_convert_tree(child, classes, unknown) for child in node.children)
        return split_at(node.threshold, node.feature, low, high, unknown)
    yes, no = node.stats.get(True, 0.0), node.stats.get(False, 0.0)
    return TreeLeaf(yes > no or False not in classes)  # as river decides a tie


def _limit(budget: Budget, samples: int, labels: int, deadline: Deadline) -> str | None:
    """The limit that is reached, in words."""
    if budget.equivalence_queries is not None and samples >= budget.equivalence_queries:
        return f"budget of {budget.equivalence_queries} samples"
    if budget.membership_queries is not None and labels >= budget.membership_queries:
        return f"budget of {budget.membership_queries} labels"
    if deadline.passed:
        return f"budget of {budget.seconds:g} seconds"
    return None
