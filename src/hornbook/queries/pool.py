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

MAX_TERMS_REMEMBERED = 512
"""Number of terms of which a label remembers the items that meet them: the rules', and those tried last."""

MAX_SHORT_SUM = 1 << 10
"""Number of words from which on the number of their bits may need more than 16 bits."""

MAX_PACKED_ITEMS = 1 << 11
"""Number of open items up to which they are packed, so that few words are left to look at."""


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
        self._met: dict[bytes, Words] = {}

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
        self._met.clear()
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
        if len(term):
            return intersect_rows(self.rows, term)
        every: Words = ~np.zeros_like(self.rows[0])
        bits.clear_spare(every, len(self.batch))
        return every


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
        return count_in_rows(self.rows, variables, self.mask)

    def counts_without(self, variables: NDArray[np.intp]) -> NDArray[np.int64]:
        """The number of items with all variables but one, for each of them, and then with all."""
        return count_all_but_one(self.rows, variables, self.mask)

    def neighbours(self, variables: NDArray[np.intp]) -> NDArray[np.int64]:
        """Counts of items that lack at most one of the variables, shape (variables + 1, n + 1).

        Row j counts the items that lack only the j-th variable, the last row those that have all:
        column v those with variable v of the vocabulary, the last column all of them.
        """
        near = find_lacking_at_most(self.rows, variables, self.mask, 1)
        return count_neighbours(self.rows, self.items, variables, near)

    def having(self, variables: NDArray[np.intp]) -> OpenItems:
        """The items that have all of the variables."""
        return self._choose(self.mask & intersect_rows(self.rows, variables)) if len(variables) else self

    def lacking_at_most(self, most: int, variables: NDArray[np.intp]) -> OpenItems:
        """The items that lack at most `most` of the variables."""
        return self._choose(find_lacking_at_most(self.rows, variables, self.mask, most))

    def _choose(self, mask: Words) -> OpenItems:
        return OpenItems(self.rows, self.items, mask).pack()

    def pack(self) -> OpenItems:
        """The same items side by side, if they are few of many."""
        if len(self.items) <= MAX_PACKED_ITEMS or self.size > MAX_PACKED_ITEMS:
            return self
        items = take_items(self.items, self.mask)
        every = bits.pack_rows(np.ones((1, len(items)), np.bool_))[0]
        return OpenItems(bits.from_items(items, len(self.rows)), items, every)


def intersect_rows(rows: Words, chosen: NDArray[np.intp]) -> Words:
    """The AND of the chosen rows, of which there is at least one, shape (words,)."""
    common: Words = np.bitwise_and.reduce(rows[chosen], axis=0)
    return common


def count_in_rows(rows: Words, chosen: NDArray[np.intp], mask: Words) -> NDArray[np.int64]:
    """The number of items of a mask in each of the chosen rows, shape (chosen,)."""
    words = rows[chosen]
    words &= mask
    return count_bits(words)


def count_all_but_one(rows: Words, chosen: NDArray[np.intp], mask: Words) -> NDArray[np.int64]:
    """The number of items of a mask in all chosen rows but one, for each of them, and then in all."""
    return count_bits(all_but_one(rows[chosen], mask))


def count_neighbours(rows: Words, items: Words, chosen: NDArray[np.intp], near: Words) -> NDArray[np.int64]:
    """Counts of items that lack at most one of the chosen rows; see `OpenItems.neighbours`."""
    octets = take_items(items, near).view(np.uint8)
    values = np.unpackbits(octets, axis=1, count=len(rows), bitorder="little")  # (items, n)
    lacks = np.pad(values[:, chosen], ((0, 0), (0, 1))).argmin(axis=1)
    values = values[np.argsort(lacks, kind="stable")]
    ends = np.bincount(lacks, minlength=len(chosen) + 1).cumsum()
    table = np.empty((len(ends), len(rows) + 1), np.int64)
    for row, start, end in zip(table, (0, *ends[:-1]), ends, strict=True):
        row[:-1], row[-1] = values[start:end].sum(axis=0, dtype=np.int32), end - start
    return table


def take_items(items: Words, mask: Words) -> Words:
    """The items at the set bits of a mask, in order, shape (set bits, words of an item)."""
    return items.take(positions(mask), axis=0)


def find_lacking_at_most(rows: Words, chosen: NDArray[np.intp], mask: Words, most: int) -> Words:
    """The items of a mask that are in all of the chosen rows but at most `most`, shape (words,)."""
    if most == 1:
        return find_lacking_at_most_one(rows, chosen, mask)
    return mask & find_at_least(rows[chosen], len(chosen) - most)


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


def find_at_least(rows: Words, least: int) -> Words:
    """The items that are in at least `least` of the rows, shape (words,)."""
    more = np.zeros(rows.shape[1], np.uint64)
    same = ~more
    if least <= 0:
        return same
    digits = add_rows(rows)
    for place in reversed(range(max(len(digits), least.bit_length()))):
        digit = digits[place] if place < len(digits) else same & 0
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
