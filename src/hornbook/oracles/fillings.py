"""Ways to fill in unknown values: the same ways for the same interpretation, whoever asks and when.

A table of complete rows is drawn once. Which of its rows fill an interpretation is decided by a
hash of the interpretation, so an answer depends neither on what else is in the batch nor on what
was asked before.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions import Distribution
from hornbook.distributions.literals import Groups, Literals, check_groups
from hornbook.logic import bits
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools, Words
from hornbook.logic.errors import HornbookError
from hornbook.logic.vocabulary import Vocabulary

DENSITIES = (0.05, 0.5, 0.2, 0.9, 0.1, 0.7, 0.35)
"""Shares of true values among those filled in, in the order in which they are tried."""

ROWS = 1 << 11
"""Rows in the table for each density, a power of two: the last bits of a hash pick one."""


class Fillings:
    """Completions of partial interpretations, numbered from 0.

    Number 0 makes every unknown variable false. The others take unknown values from a table:
    random rows at several densities of true values, or rows of a distribution. A variable and
    its dual get opposite values, and of a group at most one is true: where one is known to be
    true, the others are filled with false.

    Parameters
    ----------
    vocabulary
        The variables.
    rng
        The source of the table.
    groups
        Sets of variables of which at most one is true.
    rows
        Where the rows of the table come from; what such a row does not know is false. By
        default they are random, at the densities of `DENSITIES` in turn.
    leave
        Variables that are left as they are, known or not, together with their duals.

    Examples
    --------
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy", "jogging"])
    >>> fillings = Fillings(vocabulary, np.random.default_rng(0))
    >>> batch = Batch.from_array([[1, np.nan, np.nan, 0, np.nan, np.nan]], vocabulary)
    >>> fillings.of(batch).filled(np.array([0, 0, 0]), np.array([0, 1, 2])).to_array()
    array([[1., 0., 0., 0., 1., 1.],
           [1., 0., 0., 0., 1., 1.],
           [1., 1., 0., 0., 0., 1.]])

    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        rng: np.random.Generator,
        *,
        groups: Groups = (),
        rows: Distribution | None = None,
        leave: Collection[int] = (),
    ) -> None:
        self.vocabulary = vocabulary
        groups = check_groups(groups, vocabulary)
        self.literals = Literals.of(vocabulary, groups)
        drawn = self.literals.drawn
        self.groups = [np.searchsorted(drawn, sorted(group)) for group in groups]
        self.left = np.array([v in leave or vocabulary.dual(v) in leave for v in drawn.tolist()], np.bool_)
        # indexed by row, density, drawn variable
        if rows is None:
            dense = rng.random((ROWS, len(DENSITIES), len(drawn))) < np.array(DENSITIES)[:, None]
        else:
            dense = bits.unpack(rows.draw(ROWS, rng).true[drawn], ROWS)[:, None].copy()
        for group in self.groups:
            _leave_one(dense, group, rng)
        packed = bits.pack_rows(dense.reshape(-1, len(drawn)))
        self.table: Words = packed.reshape(*dense.shape[:2], -1)
        self.salt = rng.integers(0, 2**64, 2, np.uint64)

    def __len__(self) -> int:
        """How many ways there are before they repeat."""
        rows, densities, _ = self.table.shape
        return 1 + int(rows * densities)

    def of(self, batch: Batch) -> Holes:
        """A batch made ready for filling."""
        batch.refuse_device("completions of unknown values")
        return Holes(self, batch)


class Holes:
    """The unknown values of a batch, ready to be filled again and again.

    Attributes
    ----------
    any
        Which interpretations have a value to be filled in.

    """

    def __init__(self, fillings: Fillings, batch: Batch) -> None:
        if batch.vocabulary is not fillings.vocabulary and batch.vocabulary != fillings.vocabulary:
            raise HornbookError("the batch and the completions are over different vocabularies")
        self.fillings = fillings
        rows = fillings.literals.drawn
        true, false = batch.true[rows], batch.false[rows]
        unknown = ~(true | false)
        unknown[fillings.left] = 0
        allowed = unknown.copy()  # to become true
        for group in fillings.groups:
            allowed[group] &= ~np.bitwise_or.reduce(true[group], axis=0)
        # from here on a row of words an interpretation, a bit a drawn variable
        self.true, self.false, self.unknown, self.allowed = (
            bits.transposed(words, len(batch)) for words in (true, false, unknown, allowed)
        )
        self.any: Bools = (self.unknown != 0).any(axis=1)
        self.first, self.stride = hashes(np.hstack([self.true, self.false]), fillings.salt)

    def filled(self, items: NDArray[np.intp], numbers: NDArray[np.intp]) -> Batch:
        """For each item the completion with the number beside it."""
        table, literals = self.fillings.table, self.fillings.literals
        turn, density = np.divmod(numbers - 1, table.shape[1])
        row = (self.first[items] + turn.astype(np.uint64) * self.stride[items]) % np.uint64(ROWS)
        filling = table[row, density] & self.allowed[items]
        filling[numbers == 0] = 0
        true = self.true[items] | filling
        false = self.false[items] | (self.unknown[items] ^ filling)
        whole = literals.mirrored(*(bits.transposed(words, literals.count) for words in (true, false)))
        return Batch(self.fillings.vocabulary, *whole, len(items))


def _leave_one(dense: Bools, group: NDArray[np.intp], rng: np.random.Generator) -> None:
    """Let at most one of the group be true in each row, any of the true ones as likely, in place."""
    preference = np.where(dense[..., group], rng.random((*dense.shape[:2], len(group))), 0)
    dense[..., group] &= preference == preference.max(axis=-1, keepdims=True)


def hashes(rows: Words, salt: Words) -> tuple[Words, Words]:
    """Two numbers for each row of words, the second odd."""
    first = np.full(len(rows), salt[0])
    for column in rows.T:
        first = _mixed(first ^ column)
    return first, _mixed(first ^ salt[1]) | np.uint64(1)


def _mixed(words: Words) -> Words:
    """Words whose every bit depends on every bit of the given ones: the finaliser of SplitMix64."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
