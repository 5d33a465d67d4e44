"""The labelled items of a pool, bit-sliced: which of them meet a term, or lack little of it.

Literals are numbers below 2n: v says that variable v is true, n + v that it is false. A term is a
set of literals; an item meets it if it has them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import Batch, Bools, Vocabulary, Words, bits, chaining

MAX_TERMS_REMEMBERED = 512
"""Number of terms of which a label remembers the items that meet them: the rules', and those tried last."""

MAX_PACKED_ITEMS = 1 << 11
"""Number of open items up to which they are packed, so that few words are left to look at."""


class LabelledItems:
    """The items of one label: bits of each literal, shape (2n, words), and which items are open.

    `items` are the same bits by item, those of the true variables alone, shape (items, ⌈n/64⌉).
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.batch = Batch.from_interpretations([], vocabulary)
        self.rows = np.zeros((2 * len(vocabulary), 0), np.uint64)
        self.items = np.zeros((0, bits.words_for(len(vocabulary))), np.uint64)
        self.open = np.zeros(0, np.uint64)
        self._met: dict[bytes, Words] = {}

    def add(self, true: Words, false: Words, limit: int) -> None:
        """Append items, given by the bits of their true and false variables; the oldest over the limit go."""
        self._met.clear()
        vocabulary = self.batch.vocabulary
        ones, zeros = (bits.from_items(items, len(vocabulary)) for items in (true, false))
        self.batch = Batch.concatenate([self.batch, Batch(vocabulary, ones, zeros, len(true))])
        if len(self.batch) > limit:
            self.batch = self.batch[len(self.batch) - limit :]
        self.rows = np.concatenate([self.batch.true, self.batch.false])
        self.items = np.concatenate([self.items, true])[-limit:]

    def set_closed(self, done: Bools) -> None:
        """Set which items are closed; the others are open."""
        self.open = bits.pack_rows(~done[None, :])[0]

    def meeting(self, term: NDArray[np.intp]) -> Words:
        """The items that meet a term, shape (words,); nobody changes this array."""
        key = term.tobytes()
        if key not in self._met:
            if len(self._met) >= MAX_TERMS_REMEMBERED:
                self._met.clear()
            self._met[key] = self._find_meeting(term)
        return self._met[key]

    def open_items(self, fixed: NDArray[np.intp]) -> OpenItems:
        """The open items that have the fixed literals."""
        rows = self.rows[: len(self.batch.vocabulary)]
        return OpenItems(rows, self.items, self.meeting(fixed) & self.open).pack()

    def _find_meeting(self, term: NDArray[np.intp]) -> Words:
        met: Words = np.bitwise_and.reduce(self.rows[term], axis=0)
        if not len(term):
            bits.clear_spare(met := np.full(self.rows.shape[1], chaining.ALWAYS), len(self.batch))
        return met


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
        rows = self.rows[variables]
        rows &= self.mask
        return count_bits(rows)

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
        return self._choose(np.bitwise_and.reduce(self.rows[variables], axis=0))

    def lacking_at_most(self, most: int, variables: NDArray[np.intp]) -> OpenItems:
        """The items that lack at most `most` of the variables."""
        return self._choose(find_at_least(self.rows[variables], len(variables) - most))

    def _choose(self, items: Words) -> OpenItems:
        return OpenItems(self.rows, self.items, self.mask & items).pack()

    def pack(self) -> OpenItems:
        """The same items side by side, if they are few of many."""
        if self.size > MAX_PACKED_ITEMS or len(self.items) <= MAX_PACKED_ITEMS:
            return self
        items = self.items.take(positions(self.mask), axis=0)
        every = bits.pack_rows(np.ones((1, len(items)), np.bool_))[0]
        return OpenItems(bits.from_items(items, len(self.rows)), items, every)


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
    without = np.bitwise_and.accumulate(np.concatenate([start[None], rows]), axis=0)
    without[:-2] &= np.bitwise_and.accumulate(rows[:0:-1], axis=0)[::-1]
    return without


def find_at_least(rows: Words, least: int) -> Words:
    """The items that are in at least `least` of the rows, shape (words,)."""
    more, same = np.zeros(rows.shape[1], np.uint64), np.full(rows.shape[1], chaining.ALWAYS)
    if least <= 0:
        return same
    digits = add_rows(rows)
    for place in reversed(range(max(len(digits), least.bit_length()))):
        digit = digits[place] if place < len(digits) else np.zeros_like(same)
        if least >> place & 1:
            same &= digit
        else:
            more |= same & digit
            same &= ~digit
    return more | same


def add_rows(rows: Words) -> list[Words]:
    """The number of rows that each item is in: its binary digits as rows, the lowest first."""
    digits = []
    while len(rows):
        carries = [rows[:0]]
        while len(rows) > 1:
            if len(rows) == 2:
                rows = np.concatenate([rows, np.zeros_like(rows[:1])])
            third = len(rows) // 3
            one, two, three = rows[:third], rows[third : 2 * third], rows[2 * third : 3 * third]
            either = one ^ two
            carries.append((one & two) | (either & three))
            rows = np.concatenate([either ^ three, rows[3 * third :]])
        digits.append(rows[0])
        rows = np.concatenate(carries)
    return digits


def count_bits(words: Words) -> NDArray[np.int64]:
    """The number of set bits along the last axis."""
    counts: NDArray[np.int64] = np.bitwise_count(words).sum(axis=-1, dtype=np.int64)
    return counts


def positions(mask: Words) -> NDArray[np.intp]:
    """The positions of the set bits, ascending."""
    words = np.flatnonzero(mask)
    at = np.flatnonzero(bits.flat(mask[words], bits.WORD * len(words)))
    return bits.WORD * words[at // bits.WORD] + at % bits.WORD
