"""Completions of partial interpretations, and answers by them, of models that have no number for ?.

A table of complete rows is drawn once. Which of its rows fill an interpretation is decided by a
hash of the interpretation, so an answer depends neither on what else is in the batch nor on what
was asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Vocabulary, Words, bits
from hornbook.queries.distributions import Distribution
from hornbook.queries.literals import Groups, Literals
from hornbook.queries.protocol import Membership

DRAWS = 32
"""Number of completions of an interpretation."""

TABLE_ROWS = 1 << 11
"""Number of table rows, a power of two: the last bits of a hash pick one."""

COMPLETIONS_BLOCK = 1 << 11
"""Number of interpretations completed at a time."""

MAX_ROUND = 16
"""Maximum number of completions of an interpretation in one batch; bounds the memory."""


class Completions:
    """Numbered completions of partial interpretations, and answers about these by them.

    Number 0 makes every unknown variable false. The others take unknown values from a table of rows
    of a distribution. A variable and its dual get opposite values, and of a group at most one is
    true: where one is known to be true, the others are filled with false. The same interpretation is
    always completed in the same ways; without unknown values the answer is the model's own.

    Parameters
    ----------
    vocabulary
        The variables.
    draws
        How many completions are tried.
    rows
        Where the rows of the table come from; what such a row does not know is false.
    rng
        The source of the table.
    groups
        Sets of variables that exclude each other.
    keep
        Variables that are never completed, and neither are their duals: the `heads` of a classifier.

    Examples
    --------
    >>> vocabulary = Vocabulary(["horse", "wings", "pegasus"])
    >>> def member(batch):  # pegasus, if and only if a horse with wings
    ...     horse, wings, pegasus = batch.to_array().T == 1
    ...     return pegasus == (horse & wings)
    >>> from hornbook.queries.distributions import Random
    >>> rows, rng = Random(vocabulary), np.random.default_rng(0)
    >>> completions = Completions(vocabulary, draws=8, rows=rows, rng=rng)
    >>> completions.accept_some(member, Batch.from_array([[1, np.nan, 1], [0, np.nan, 1]], vocabulary))
    array([ True, False])
    >>> print(completions.describe())
    accepted: some completion is; rejected: none of 8 completions is

    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        draws: int = DRAWS,
        *,
        rows: Distribution,
        rng: np.random.Generator,
        groups: Groups = (),
        keep: Collection[int] = (),
    ) -> None:
        self.vocabulary, self.draws = vocabulary, draws
        self.literals = Literals.of(vocabulary, groups)
        drawn = self.literals.drawn
        self.groups = [np.searchsorted(drawn, sorted(group)) for group in self.literals.groups]
        self.kept = np.array([v in keep or vocabulary.dual(v) in keep for v in drawn.tolist()], np.bool_)
        dense = bits.unpack(rows.draw(TABLE_ROWS, rng).true[drawn], TABLE_ROWS).copy()  # (rows, drawn)
        for group in self.groups:
            _keep_one_per_group(dense, group, rng)
        self.table: Words = bits.pack_rows(dense)
        self.salt = rng.integers(0, 2**64, 2, np.uint64)

    def prepare(self, batch: Batch) -> UnknownCells:
        """Find the unknown values of a batch, to complete them."""
        return UnknownCells(self, batch)

    def accept_some(self, member: Membership, batch: Batch) -> Bools:
        """Whether a model accepts at least one completion of each interpretation.

        Accepted is certain. Rejected says that none of the completions was accepted, so a model that
        accepts few of them may be misjudged, always in this direction. No more is asked about an
        interpretation once a completion was accepted.
        """

        def accept(cells: UnknownCells) -> Bools:
            accepted, pending = np.zeros(len(cells.any), np.bool_), np.arange(len(cells.any))
            for numbers in rounds(self.draws):
                answers = member(cells.complete(pending, numbers))
                accepted[pending] = answers.reshape(len(pending), -1).any(axis=1)
                pending = np.flatnonzero(~accepted & cells.any)
                if not len(pending):
                    break
            return accepted

        return self._answer_in_blocks(accept, batch)

    def vote(self, predict: Membership, batch: Batch) -> Bools:
        """What a model predicts of each interpretation, of partial ones for most of the completions."""

        def count_votes(cells: UnknownCells) -> Bools:
            labels = predict(cells.complete(np.arange(len(cells.any)), np.zeros(1, np.intp)))
            partial = np.flatnonzero(cells.any)
            votes = predict(cells.complete(partial, np.arange(1, self.draws + 1)))
            labels[partial] = 2 * votes.reshape(len(partial), self.draws).sum(axis=1) >= self.draws
            return labels

        return self._answer_in_blocks(count_votes, batch)

    def describe(self) -> str:
        """What an answer to a membership query means."""
        return f"accepted: some completion is; rejected: none of {self.draws} completions is"

    def _answer_in_blocks(self, answer: Callable[[UnknownCells], Bools], batch: Batch) -> Bools:
        """The answers about a batch, block by block, shape (items,)."""
        parts = [answer(self.prepare(block)) for block in batch.blocks(COMPLETIONS_BLOCK)]
        return np.concatenate([np.zeros(0, np.bool_), *parts])


class UnknownCells:
    """The unknown values of a batch, which `complete` gives values.

    Attributes
    ----------
    any
        Which interpretations have a value to be completed, shape (items,).

    """

    def __init__(self, completions: Completions, batch: Batch) -> None:
        if batch.vocabulary is not completions.vocabulary and batch.vocabulary != completions.vocabulary:
            raise HornbookError("the batch and the completions are over different vocabularies")
        self.completions = completions
        rows = completions.literals.drawn
        true, false = batch.true[rows], batch.false[rows]
        unknown = ~(true | false)
        unknown[completions.kept] = 0
        allowed = unknown.copy()  # to become true
        for group in completions.groups:
            allowed[group] &= ~np.bitwise_or.reduce(true[group], axis=0)
        # (items, words): a row an interpretation, a bit a drawn variable
        self.true, self.false, self.unknown, self.allowed = (
            bits.transpose(words, len(batch)) for words in (true, false, unknown, allowed)
        )
        self.any: Bools = (self.unknown != 0).any(axis=1)
        self.first, self.stride = hash_interpretations(np.hstack([self.true, self.false]), completions.salt)

    def complete(self, items: NDArray[np.intp], numbers: NDArray[np.intp]) -> Batch:
        """The completions with these numbers of each of these interpretations, one after another."""
        table, literals = self.completions.table, self.completions.literals
        numbers = np.tile(numbers, len(items))
        items = np.repeat(items, len(numbers) // max(1, len(items)))
        turn = (numbers - 1).astype(np.uint64)
        row = (self.first[items] + turn * self.stride[items]) % np.uint64(TABLE_ROWS)
        filling = table[row] & self.allowed[items]
        filling[numbers == 0] = 0
        true = self.true[items] | filling
        false = self.false[items] | (self.unknown[items] ^ filling)
        rows = (bits.transpose(words, literals.count) for words in (true, false))
        return Batch(literals.vocabulary, *literals.mirror(*rows), len(items))


def _keep_one_per_group(dense: Bools, group: NDArray[np.intp], rng: np.random.Generator) -> None:
    """Keep one random true variable of the group in each row and make the others false, in place."""
    preference = np.where(dense[..., group], rng.random((len(dense), len(group))), 0)
    dense[..., group] &= preference == preference.max(axis=-1, keepdims=True)


def hash_interpretations(rows: Words, salt: Words) -> tuple[Words, Words]:
    """Two hashes of each row of words, the second one odd; both of shape (rows,)."""
    first = np.full(len(rows), salt[0])
    for column in rows.T:
        first = _mix_words(first ^ column)
    return first, _mix_words(first ^ salt[1]) | np.uint64(1)


def _mix_words(words: Words) -> Words:
    """Mix the bits of each word by the finaliser of SplitMix64."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def rounds(draws: int) -> Iterator[NDArray[np.intp]]:
    """Split the numbers below `draws` into rounds of 1, 1, 2, 4, … up to `MAX_ROUND` numbers.

    Most interpretations that are accepted at all are accepted early, so few are asked for first.
    """
    start = 0
    while start < draws:
        size = min(max(start, 1), MAX_ROUND)  # as many as were asked for so far
        yield np.arange(start, min(start + size, draws))
        start += size
