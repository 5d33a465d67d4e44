"""A pool of labelled interpretations, on which candidate rules are evaluated, bit-sliced.

Literals are numbers below 2n: v says that variable v is true, n + v that it is false. A term is a
set of literals; an item meets it if it has them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import Batch, Bools, HornTheory, Interpretation, Vocabulary, Words, bits, chaining
from hornbook.queries.literals import Groups

MAX_SHORT_SUM = 1 << 10
"""Number of words from which on the number of their bits may need more than 16 bits."""


class LabelledItems:
    """The items of one label: bits of each literal, shape (2n, words), and which items are open.

    `items` are the same bits by item, those of the true variables alone, shape (items, ⌈n/64⌉).
    """

    def __init__(self, vocabulary: Vocabulary, limit: int) -> None:
        width = len(vocabulary)
        self.limit = limit
        self.rows: Words = np.zeros((2 * width, 0), np.uint64)
        self.items: Words = np.zeros((0, bits.words_for(width)), np.uint64)
        self.open: Words = np.zeros(0, np.uint64)
        self.batch = Batch(vocabulary, self.rows[:width], self.rows[width:], 0)
        self._next = 0  # the place of the next item

    def make_room(self, size: int) -> None:
        """Grow by as many items as are to be written, up to the limit."""
        size = min(self.limit, len(self.batch) + size)
        if size == len(self.batch):
            return
        width = len(self.rows) // 2
        self.rows = _enlarge(self.rows, len(self.rows), bits.words_for(size))
        self.items = _enlarge(self.items, size, self.items.shape[1])
        self.batch = Batch(self.batch.vocabulary, self.rows[:width], self.rows[width:], size)

    def write(self, true: Words, false: Words) -> None:
        """Write items, given by the bits of their true and false variables, into the next places.

        When all places are taken, the oldest items are overwritten.
        """
        until_end = self.limit - self._next
        if len(true) > until_end:
            self.write(true[:until_end], false[:until_end])
            self.write(true[until_end:], false[until_end:])
            return
        width, start = len(self.rows) // 2, self._next
        for half, items in ((self.rows[:width], true), (self.rows[width:], false)):
            bits.replace_span(half, bits.from_items(items, width), start, len(items))
        self.items[start : start + len(true)] = true
        self._next = (start + len(true)) % self.limit

    def set_closed(self, done: Bools) -> None:
        """Set which items are closed; the others are open."""
        self.open = bits.pack_rows(~done[None, :])[0]

    def meeting(self, term: NDArray[np.intp]) -> Words:
        """The items that meet a term, shape (words,)."""
        if len(term):
            common: Words = np.bitwise_and.reduce(self.rows[term], axis=0)
            return common
        every: Words = ~np.zeros_like(self.rows[0])
        bits.clear_spare(every, len(self.batch))
        return every

    def open_items(self, fixed: NDArray[np.intp]) -> OpenItems:
        """The open items that have the fixed literals."""
        rows = self.rows[: len(self.batch.vocabulary)]
        return OpenItems(rows, self.items, self.meeting(fixed) & self.open)


def _enlarge(words: Words, *shape: int) -> Words:
    """A copy of a matrix in the upper left corner of one of this shape, with zeros for the rest."""
    larger = np.zeros(shape, words.dtype)
    larger[: len(words), : words.shape[1]] = words
    return larger


@dataclass(frozen=True)
class OpenItems:
    """Some open items: `mask` tells which of those whose values are in `rows` and `items`.

    `rows` has the bits of each variable, shape (n, words), `items` those of each item, (items, ⌈n/64⌉).
    """

    rows: Words
    items: Words
    mask: Words

    @cached_property
    def size(self) -> int:
        """The number of items."""
        return int(count_bits(self.mask))

    def counts(self, variables: NDArray[np.intp]) -> NDArray[np.int64]:
        """The number of items with each of the variables, shape (variables,)."""
        return count_bits(self.rows[variables] & self.mask)

    def counts_without(self, variables: NDArray[np.intp]) -> NDArray[np.int64]:
        """The number of items with all variables but one, for each of them, and then with all."""
        return count_bits(all_but_one(self.rows[variables], self.mask))

    def neighbours(self, variables: NDArray[np.intp]) -> NDArray[np.int64]:
        """Counts of items that lack at most one of the variables, shape (variables + 1, n + 1).

        Row j counts the items that lack only the j-th variable, the last row those that have all:
        column v those with variable v of the vocabulary, the last column all of them.
        """
        near = find_lacking_at_most_one(self.rows, variables, self.mask)
        octets = self.items.take(positions(near), axis=0).view(np.uint8)
        values = np.unpackbits(octets, axis=1, count=len(self.rows), bitorder="little")  # (items, n)
        lacks = np.pad(values[:, variables], ((0, 0), (0, 1))).argmin(axis=1)
        values = values[np.argsort(lacks, kind="stable")]
        ends = np.bincount(lacks, minlength=len(variables) + 1).cumsum()
        table = np.empty((len(ends), len(self.rows) + 1), np.int64)
        for row, start, end in zip(table, (0, *ends[:-1]), ends, strict=True):
            row[:-1], row[-1] = values[start:end].sum(axis=0, dtype=np.int32), end - start
        return table

    def having(self, variables: NDArray[np.intp]) -> OpenItems:
        """The items that have all of the variables."""
        if not len(variables):
            return self
        mask = self.mask & np.bitwise_and.reduce(self.rows[variables], axis=0)
        return OpenItems(self.rows, self.items, mask)


def find_lacking_at_most_one(rows: Words, chosen: NDArray[np.intp], start: Words) -> Words:
    """The items of `start` that are in all of the chosen rows or in all but one, shape (words,)."""
    in_all, lacking_one, also = start.copy(), np.zeros_like(start), np.empty_like(start)
    for at in chosen:
        lacking_one &= rows[at]
        lacking_one |= in_all ^ np.bitwise_and(in_all, rows[at], out=also)
        in_all, also = also, in_all
    return in_all | lacking_one


def all_but_one(rows: Words, start: Words) -> Words:
    """The AND of `start` and all rows but one, for each of them, and then of all, shape (rows + 1, words)."""
    without: Words = np.bitwise_and.accumulate(np.concatenate([start[None], rows]), axis=0)
    without[:-2] &= np.bitwise_and.accumulate(rows[:0:-1], axis=0)[::-1]
    return without


def count_bits(words: Words) -> NDArray[np.int64]:
    """The number of set bits along the last axis."""
    # bytes are summed fastest as numbers that are just large enough
    kind = np.uint16 if words.shape[-1] < MAX_SHORT_SUM else np.uint32
    counts: NDArray[np.int64] = np.bitwise_count(words).sum(axis=-1, dtype=kind).astype(np.int64)
    return counts


def positions(mask: Words) -> NDArray[np.intp]:
    """The positions of the set bits, ascending."""
    words = np.flatnonzero(mask)
    at = np.flatnonzero(bits.flat(mask[words], bits.WORD * len(words)))
    return bits.WORD * words[at // bits.WORD] + at % bits.WORD


POOL_ITEMS = 1 << 17
"""Items of each label that a pool remembers."""


ITEMS_AT_ONCE = 1 << 15
"""Number of items that are transposed and written at a time, so that they stay in the cache."""


class Pool:
    """Rejected and accepted items, and which of them a hypothesis leaves open.

    Open among the rejected are those that the hypothesis accepts and that were not given up;
    open among the accepted are those that it accepts too, so that a new rule could wrong them.
    Of the variables of a group at most one is true, in items that are made to meet a term too.
    """

    def __init__(self, vocabulary: Vocabulary, groups: Groups = (), limit: int = POOL_ITEMS) -> None:
        self.vocabulary = vocabulary
        self.groups = groups
        self.rejected = LabelledItems(vocabulary, limit)
        self.accepted = LabelledItems(vocabulary, limit)
        self._given_up: list[NDArray[np.intp]] = []
        self._judged: HornTheory | None = None

    def add(self, batch: Batch, accepted: Bools) -> None:
        """Remember labelled items; over the limit of a label, in place of its oldest."""
        self._judged = None
        sides = (self.rejected, ~accepted), (self.accepted, accepted)
        for side, chosen in sides:
            side.make_room(int(chosen.sum()))
        for start in range(0, len(batch), ITEMS_AT_ONCE):
            at = slice(start, start + ITEMS_AT_ONCE)
            part = batch[at]
            true, false = (bits.to_items(words)[: len(part)] for words in (part.true, part.false))
            for side, chosen in sides:
                side.write(true[chosen[at]], false[chosen[at]])

    def judge(self, hypothesis: HornTheory) -> None:
        """Recompute which items are open under a hypothesis."""
        if hypothesis is self._judged:
            return
        self._judged = hypothesis
        self.rejected.set_closed(~hypothesis.satisfied_by(self.rejected.batch))
        self.accepted.set_closed(~hypothesis.satisfied_by(self.accepted.batch))
        for term in self._given_up:
            self.rejected.open = self.rejected.open & ~self.rejected.meeting(term)

    def close_term(self, term: NDArray[np.intp]) -> None:
        """Close the items that meet a term, because a rule will reject them."""
        self._judged = None
        for side in (self.rejected, self.accepted):
            side.open = side.open & ~side.meeting(term)

    def reopen(self, rejected: Words, accepted: Words) -> None:
        """Open these items and close all others."""
        self._judged = None
        for side, words in ((self.rejected, rejected), (self.accepted, accepted)):
            bits.clear_spare(words, len(side.batch))
            side.open = words

    def give_up(self, item: Interpretation) -> None:
        """Never return this item, or a more specific one, as a counterexample again."""
        self._judged = None
        self._given_up.append(term_of(item, len(self.vocabulary)))

    def missed_positions(self) -> NDArray[np.intp]:
        """The positions of open rejected items."""
        return np.flatnonzero(bits.flat(self.rejected.open, len(self.rejected.batch)))

    def accepted_nearest(self, term: NDArray[np.intp], size: int) -> Batch:
        """The accepted items that lack the fewest literals of a term, changed to meet it."""
        batch, rows = self.accepted.batch, self.accepted.rows[term]
        lacking = (~bits.unpack_rows(rows, len(batch))).sum(axis=0)
        nearest = np.argsort(lacking, kind="stable")[:size]
        return impose_term(batch[nearest], term, self.groups)

    def first_missed(self, hypothesis: HornTheory) -> Interpretation | None:
        """An item that the teacher rejects and the hypothesis accepts."""
        self.judge(hypothesis)
        missed = self.missed_positions()
        return self.rejected.batch[int(missed[0])] if len(missed) else None


def term_of(item: Interpretation, width: int) -> NDArray[np.intp]:
    """The term of all known values of an item."""
    return np.array([*sorted(item.true), *(width + v for v in sorted(item.false))], np.intp)


def interpretation_of(term: NDArray[np.intp], width: int) -> Interpretation:
    """The interpretation in which exactly the literals of a term are known."""
    true, false = term[term < width], term[term >= width] - width
    return Interpretation(frozenset(true.tolist()), frozenset(false.tolist()))


def impose_term(batch: Batch, term: NDArray[np.intp], groups: Groups = ()) -> Batch:
    """Change items to meet a term; the other variables of its groups become false."""
    vocabulary, width = batch.vocabulary, len(batch.vocabulary)
    true, false = batch.true.copy(), batch.false.copy()
    every = np.full(true.shape[1], chaining.ALWAYS)
    bits.clear_spare(every, len(batch))
    for literal in term.tolist():
        v, holds = literal % width, literal < width
        for variable, value in ((v, holds), (vocabulary.dual(v), not holds)):
            if variable is not None:
                true[variable] = every if value else 0
                false[variable] = 0 if value else every
    demanded = set(term.tolist())
    for v in (v for group in groups if demanded & set(group) for v in set(group) - demanded):
        moved = true[v].copy()
        true[v], false[v] = 0, false[v] | moved
        if (dual := vocabulary.dual(v)) is not None:
            true[dual], false[dual] = false[v], 0
    return Batch(vocabulary, true, false, len(batch))
