"""The Hoeffding tree, trained on samples of a model's answers: the rival of extracted rules in the paper.

Inputs are 0 and 1, so that a leaf keeps exact counts, and a block of rows is counted at once. Where its
sources leave a choice, the tree does as river's does: ties, smallest branches, first counts of a leaf.

References
----------
P. Domingos, G. Hulten. Mining high-speed data streams. KDD 2000.
C. Persia, A. Ozaki. Extracting Rules from Neural Networks with Partial Interpretations. NLDL 2022.

"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product, starmap
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Vocabulary, bits, chaining
from hornbook.queries import Distribution, Literals, Membership

Floats: TypeAlias = NDArray[np.floating[Any]]

UNKNOWN_INPUT = 0.5
"""The number for an unknown value in the input of a tree."""


def ask_in_blocks(member: Membership, batch: Batch) -> Bools:
    """Ask a model block by block, shape (items,)."""
    blocks = [np.asarray(member(block), np.bool_) for block in batch.blocks()]
    return np.concatenate([np.zeros(0, np.bool_), *blocks])


LEARNED_BLOCK = 1 << 13
"""Number of interpretations that are encoded at a time, to bound memory."""

TIE = 0.05
"""Below this bound the best two tests are taken for equally good, and one of them is used."""

MIN_BRANCH = 0.01
"""The least share of interpretations on either side of a test."""


@dataclass(frozen=True)
class HoeffdingSettings:
    """How a Hoeffding tree grows.

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

    @property
    def accepts(self) -> bool:
        """The answer most frequent here."""
        return bool(self.counts[1] >= self.counts[0])

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


class HoeffdingTree:
    """A Hoeffding tree that is fed with batches: leaves count blocks of rows, which come to them in order.

    It begins as one leaf that accepts; the answer of a leaf is the one most frequent in it.

    Parameters
    ----------
    vocabulary
        The variables.
    settings
        How the tree grows.
    unknown
        How an unknown value enters the tree: ½, or 0 as a false one does. By ½ the tree sees one
        variable of each pair, by 0 both, since they differ where the value is unknown.

    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        settings: HoeffdingSettings | None = None,
        unknown: float = UNKNOWN_INPUT,
    ) -> None:
        self.vocabulary, self.settings = vocabulary, settings or HoeffdingSettings()
        # of two variables that say the same the best two tests are always equally good
        self.variables = Literals.of(vocabulary).drawn if unknown else np.arange(len(vocabulary))
        # by ½ an unknown value goes with true ones or with false ones: two tests of a variable
        self.tests = 2 if unknown else 1
        self.root = _Node(np.zeros(2), self.tests * len(self.variables))

    def learn(self, batch: Batch, accepted: Bools) -> None:
        """Learn the batch, one block after another."""
        for start in range(0, len(batch), LEARNED_BLOCK):
            rows = self._encode(batch[start : start + LEARNED_BLOCK])
            self._learn_block(rows, accepted[start : start + LEARNED_BLOCK])

    def member(self, batch: Batch) -> Bools:
        """For each interpretation, whether the tree accepts it: branches are followed bit-sliced."""
        accepted = np.zeros(bits.words_for(len(batch)), np.uint64)
        pending = [(self.root, np.full_like(accepted, chaining.ALWAYS))]
        while pending:
            node, here = pending.pop()
            if node.test is None:
                accepted |= here if node.accepts else 0
            elif here.any():
                variable, unknown_goes_high = self._read_test(node.test)
                high = here & (~batch.false[variable] if unknown_goes_high else batch.true[variable])
                pending += [(node.low, here & ~high), (node.high, high)]
        return bits.flat(accepted, len(batch))

    @property
    def splits(self) -> int:
        """The number of its tests."""

        def count(node: _Node) -> int:
            return 0 if node.test is None else 1 + count(node.low) + count(node.high)

        return count(self.root)

    def to_object(self) -> dict[str, Any]:
        """The tree ready for JSON: at a leaf its answer, else a test with its two sides."""

        def write(node: _Node) -> Any:
            if node.test is None:
                return node.accepts
            variable, unknown_goes_high = self._read_test(node.test)
            return {
                "variable": self.vocabulary.name(variable),
                "unknown": "high" if unknown_goes_high else "low",
                "low": write(node.low),
                "high": write(node.high),
            }

        return {"tests": self.tests, "root": write(self.root)}

    @classmethod
    def read(cls, entry: dict[str, Any], vocabulary: Vocabulary) -> HoeffdingTree:
        """The tree that `to_object` wrote down, without its counts."""
        tree = cls(vocabulary, unknown=UNKNOWN_INPUT if entry["tests"] == 2 else 0)
        places = {variable: place for place, variable in enumerate(tree.variables.tolist())}

        def fill(node: _Node, entry: Any) -> None:
            if isinstance(entry, bool):
                node.counts = np.array([not entry, entry], np.float64)
                return
            place = places[vocabulary.index(entry["variable"])]
            node.split(place + len(places) * (tree.tests == 2 and entry["unknown"] == "high"))
            fill(node.low, entry["low"])
            fill(node.high, entry["high"])

        fill(tree.root, entry["root"])
        return tree

    def _read_test(self, test: int) -> tuple[int, bool]:
        """The variable of a test, and whether an unknown value goes high."""
        half, position = divmod(test, len(self.variables))
        return int(self.variables[position]), half == 1

    def _encode(self, batch: Batch) -> Floats:
        """For each variable whether it is true, and by ½ whether it is not false, (rows, inputs)."""
        parts = [bits.unpack_rows(batch.true[self.variables], len(batch))]
        if self.tests == 2:
            parts.append(~bits.unpack_rows(batch.false[self.variables], len(batch)))
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


class GrownTree(NamedTuple):
    """A Hoeffding tree that was trained, the number of its samples, and why it stopped, in words."""

    tree: HoeffdingTree
    samples: int
    stopped: str


def hoeffding_tree(
    member: Membership,
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
    *,
    settings: HoeffdingSettings | None = None,
    samples: int | None = None,
    unknown: float = UNKNOWN_INPUT,
) -> GrownTree:
    """Train a Hoeffding tree on whole samples until it misclassifies none of one.

    As in the paper: a sample is drawn and labelled by the model; if the tree misclassifies
    any of it, the tree is trained on all of it, one interpretation after another, and the
    next sample is drawn.

    Parameters
    ----------
    member
        The model.
    distribution, size, rng
        Where samples come from, and how many interpretations one has.
    settings, unknown
        How the tree grows, and how an unknown value enters it, see `HoeffdingTree`.
    samples
        How many samples at most.

    Examples
    --------
    >>> from hornbook.queries import Random
    >>> from hornbook.logic import HornTheory
    >>> vocabulary = Vocabulary.with_duals(["horse", "wings", "pegasus"])
    >>> theory = HornTheory.parse("horse & wings -> pegasus", vocabulary)
    >>> drawn, rng = Random(vocabulary), np.random.default_rng(0)
    >>> grown = hoeffding_tree(theory.satisfied_by, drawn, 2000, rng, samples=20)
    >>> grown.tree.splits, grown.stopped
    (3, 'misclassifies none of a sample of 2000')

    """
    if size < 1:
        raise HornbookError(f"a sample has at least one interpretation; got size={size}")
    tree = HoeffdingTree(distribution.vocabulary, settings, unknown)
    drawn, stopped = 0, ""
    while not stopped:
        if drawn == samples:
            stopped = f"budget of {samples} samples"
        else:
            batch, drawn = distribution.draw(size, rng), drawn + 1
            accepted = ask_in_blocks(member, batch)
            if np.array_equal(tree.member(batch), accepted):
                stopped = f"misclassifies none of a sample of {size}"
            else:
                tree.learn(batch, accepted)
    return GrownTree(tree, drawn, stopped)


def tune_hoeffding_tree(
    member: Membership,
    distribution: Distribution,
    size: int,
    rng: np.random.Generator,
    *,
    unknown: float = UNKNOWN_INPUT,
) -> HoeffdingSettings:
    """Choose the settings of a Hoeffding tree that errs least: train on one sample, compare on another.

    Every candidate learns the same `size` interpretations and is judged on the same `size`
    others.
    """
    training, validation = distribution.draw(size, rng), distribution.draw(size, rng)
    accepted, expected = ask_in_blocks(member, training), ask_in_blocks(member, validation)

    def count_errors(settings: HoeffdingSettings) -> int:
        tree = HoeffdingTree(distribution.vocabulary, settings, unknown)
        tree.learn(training, accepted)
        return int((tree.member(validation) != expected).sum())

    return min(CANDIDATES, key=count_errors)


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
