"""Trees out of labelled samples: the best of each size among all that one search comes across.

A node is split by the literal that leaves labels purest; where many samples reach it, other
literals are tried too, but only once on a way from the root. Of each node the search keeps how
many samples its best subtree gets right, for every number of splits: one split here, and the
others shared out between both sides. So what is cut off, and which of the literals is taken, is
decided anew for each size.

References
----------
L. Breiman, J. Friedman, R. Olshen, C. Stone. Classification and Regression Trees. 1984 (splits).
M. Bohanec, I. Bratko. Trading Accuracy for Simplicity in Decision Trees. Machine Learning, 1994
(the best pruning for every size).
W. Harvey, M. Ginsberg. Limited Discrepancy Search. IJCAI 1995 (few choices against the first).

"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.learners.points import SIZES
from hornbook.learners.pool import count_bits
from hornbook.logic import Batch, Bools, Words, bits
from hornbook.trees.tree import Node, Split, Tree

Counts = NDArray[np.int64]

FEW = 16
"""Samples are picked out anew where so many words hold eight times as many as are left."""


@dataclass(frozen=True)
class Search:
    """How a search goes.

    Parameters
    ----------
    samples
        How many samples it looks at.
    least
        The least share of them that a node is split for.
    choices, large
        How many literals are tried in place of the purest where at least such a share is: the
        first time that it is left on a way from the root, the second time, and so on.

    """

    samples: int
    least: float
    choices: tuple[int, ...] = ()
    large: float = 0.1


DEPTH = 200
"""The most questions one after the other."""

SEARCHES = (Search(1 << 17, 1 / 1000), Search(1 << 14, 1 / 100, choices=(10,)))
"""One that is deep, and one that is wide."""


def trees(batch: Batch, labels: Bools, label: str, max_literals: int) -> Iterator[Tree]:
    """Trees for labelled rows of features, with up to so many splits.

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> from hornbook.logic import Vocabulary
    >>> symptoms = Vocabulary.with_duals(["fever", "cough", "tired"])
    >>> batch = Random(symptoms).draw(2000, np.random.default_rng(0))
    >>> fever, cough, tired = batch.to_array()[:, :3].T
    >>> *_, last = trees(batch, np.where(fever == 1, cough == 1, tired == 1), "ill", max_literals=5)
    >>> print(last)
    if fever
      if cough: ill
      otherwise: not_ill
    otherwise if tired: ill
    otherwise: not_ill
    what is unknown counts as not true

    """
    sizes = [size for size in SIZES if size < max_literals] + [max_literals]
    seen: set[Node] = set()
    for search in SEARCHES:
        root = Reached.of(batch[: search.samples], labels[: search.samples])
        growth = _Growth(search, root.size, max_literals)
        found = growth.grown(root, search.choices, min(max_literals, DEPTH))
        for size in sizes:
            first = found.cut(size)
            if isinstance(first, Split) and first not in seen:
                seen.add(first)
                yield Tree(batch.vocabulary, label, first)


@dataclass(frozen=True)
class Reached:
    """The samples that reach a node: for each literal where it is true, and where the label is."""

    true: Words
    labelled: Words
    here: Words
    size: int

    @classmethod
    def of(cls, batch: Batch, labels: Bools) -> Reached:
        """All samples."""
        return cls(batch.true, bits.pack_rows(labels[None, :])[0], _all(len(batch)), len(batch))

    def split(self, literal: int) -> tuple[Reached, Reached]:
        """Those of which a literal is true, and the others."""
        true = self.true[literal]
        return self._only(self.here & true), self._only(self.here & ~true)

    def _only(self, here: Words) -> Reached:
        size = int(count_bits(here))
        if len(here) <= FEW or 8 * size > bits.WORD * len(here):
            return replace(self, here=here, size=size)
        items = np.flatnonzero(bits.flat(here, bits.WORD * len(here)))
        rows = bits.take(np.vstack([self.true, self.labelled]), items)
        return Reached(rows[:-1], rows[-1], _all(size), size)

    def positives(self) -> int:
        """How many have the label."""
        return int(count_bits(self.labelled & self.here))

    def gains(self) -> NDArray[np.float64]:
        """For each literal how much purer labels are on both sides of it (Gini impurity, summed)."""
        sizes, positives = (
            count_bits(self.true & self.here),
            count_bits(self.true & (self.labelled & self.here)),
        )
        whole = self.positives()
        apart = _impurity(positives, sizes) + _impurity(whole - positives, self.size - sizes)
        gains: NDArray[np.float64] = _impurity(whole, self.size) - apart
        return gains


@dataclass(frozen=True)
class Grown:
    """A node, and for each number of splits below it the best subtree.

    Attributes
    ----------
    label
        The commoner one.
    right
        How many samples the best subtree with so many splits gets right.
    splits
        Which literals were tried, and what grew on both sides.
    taken, left
        For each number of splits which literal is best, and how many further splits its side of
        yes then has.

    """

    label: bool
    right: Counts
    splits: tuple[Tried, ...]
    taken: Counts
    left: Counts

    def cut(self, splits: int) -> Node:
        """The best subtree with up to so many splits, the smallest of equals."""
        size = int(self.right[: splits + 1].argmax())
        if not size:
            return self.label
        literal, yes, no = self.splits[self.taken[size]]
        left = int(self.left[size])
        return Split(literal, yes.cut(left), no.cut(size - 1 - left))


Tried: TypeAlias = tuple[int, Grown, Grown]
"""A literal, and what grew where it is true and where it is not."""


@dataclass(frozen=True)
class _Growth:
    """A search on the way: how it goes, among how many samples, and how many splits a tree may have."""

    search: Search
    total: int
    limit: int

    def grown(self, reached: Reached, choices: tuple[int, ...], depth: int) -> Grown:
        """The best subtrees below a node, of so many levels."""
        positives = reached.positives()
        label = 2 * positives >= reached.size
        leaf = max(positives, reached.size - positives)
        if not depth or leaf == reached.size or reached.size < self.search.least * self.total:
            return self._best(label, leaf, ())
        tried = choices[0] if choices and reached.size >= self.search.large * self.total else 0
        splits: list[Tried] = []
        gains = reached.gains()
        for literal in np.argsort(-gains, kind="stable")[: 1 + tried].tolist():
            if gains[literal] <= 1e-9 * reached.size:
                break
            further = choices[1:] if splits else choices
            yes, no = (self.grown(part, further, depth - 1) for part in reached.split(literal))
            splits.append((literal, yes, no))
        return self._best(label, leaf, tuple(splits))

    def _best(self, label: bool, leaf: int, splits: tuple[Tried, ...]) -> Grown:
        most = max((len(yes.right) + len(no.right) - 1 for _, yes, no in splits), default=0)
        length = 1 + min(self.limit, most)
        right, taken, left = (np.zeros(length, np.int64) for _ in range(3))
        right[0] = leaf
        for number, (_, yes, no) in enumerate(splits):
            for share, own in enumerate(yes.right[: length - 1].tolist()):
                both = own + no.right[: length - 1 - share]
                at = slice(share + 1, share + 1 + len(both))
                better = both > right[at]
                right[at][better], taken[at][better], left[at][better] = both[better], number, share
        return Grown(label, right, splits, taken, left)


def _all(size: int) -> Words:
    words = np.full(bits.words_for(size), ~np.uint64(0))
    bits.clear_spare(words, size)
    return words


def _impurity(positives: NDArray[np.integer] | int, sizes: NDArray[np.integer] | int) -> NDArray[np.float64]:
    shares = np.asarray(positives, np.float64) / np.maximum(sizes, 1)
    impurity: NDArray[np.float64] = shares * (np.asarray(sizes, np.float64) - positives)
    return impurity
