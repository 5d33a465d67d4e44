"""Forward chaining three times over: readable, on bit masks, and bit-sliced over a batch.

`closure` is the definition. `Program.close` runs one closure on Python integers used as bit
sets, the fastest for single questions. `Program.conflicts` runs a closure for each of a
batch of interpretations at once. Tests hold the three equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import bits
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools, Words
from hornbook.logic.rule import BOTTOM, Bottom, Head, Rule

BLOCK_WORDS = 1024
"""Words of each row closed at a time, so that a block of rows stays in the cache."""

ALWAYS = np.uint64(2**64 - 1)
"""Every bit of a word."""

MAX_ONE_BY_ONE = 24
"""Maximum number of interpretations for which bit masks are faster than the bit-sliced kernel."""

MASKS_REMEMBERED = 1 << 12
"""Number of bodies whose masks and rows are remembered: theories of a run have most rules in common."""

SPARSE_MASK = 32
"""A mask with fewer than one bit in this many set is faster taken apart bit by bit."""


def closure(rules: Iterable[Rule], facts: Iterable[int]) -> frozenset[Head]:
    """The least superset of `facts` closed under `rules`; it contains ⊥ if ⊥ is derived."""
    rules = list(rules)
    closed: set[Head] = set(facts)
    while new := {rule.head for rule in rules if rule.body <= closed} - closed:
        closed |= new
    return frozenset(closed)


def derive(rules: Iterable[Rule], facts: Iterable[int]) -> Iterator[Rule]:
    """The rules that add something to `facts`, in an order in which each can fire."""
    closed: set[Head] = set(facts)
    pending = list(rules)
    progress = True
    while progress:
        progress = False
        for rule in pending:
            if rule.body <= closed and rule.head not in closed:
                closed.add(rule.head)
                progress = True
                yield rule
        pending = [rule for rule in pending if rule.head not in closed]


class Program:
    """Rules compiled for chaining: rules with one body are one implication, ⊥ is bit n."""

    def __init__(self, implications: Iterable[tuple[int, int]], width: int) -> None:
        self.masks = list(implications)
        self.width = width
        self.bottom = 1 << width
        self._every = 2 * self.bottom - 1

    @classmethod
    def of(cls, rules: Iterable[Rule], width: int) -> Program:
        """Compile rules over `width` variables."""
        heads: dict[frozenset[int], int] = {}
        for rule in rules:
            if not rule.is_trivial:
                head = 1 << (width if isinstance(rule.head, Bottom) else rule.head)
                heads[rule.body] = heads.get(rule.body, 0) | head
        return cls(((body_mask(body), head) for body, head in heads.items()), width)

    @cached_property
    def indices(self) -> list[tuple[NDArray[np.intp], list[int]]]:
        """The implications as row numbers, for the bit-sliced kernel."""
        return [(rows_of(body), members(heads)) for body, heads in self.masks]

    @cached_property
    def derivable(self) -> list[int]:
        """The rows that some implication can set."""
        return sorted({head for _, heads in self.indices for head in heads})

    @cached_property
    def feeding(self) -> list[int]:
        """The rows that some implication can set and another reads."""
        return [head for head in self.derivable if head in self.users]

    @cached_property
    def users(self) -> dict[int, list[int]]:
        """For a variable that can be derived, the implications whose body contains it."""
        users: dict[int, list[int]] = {}
        derivable = set(self.derivable)
        for position, (body, _) in enumerate(self.indices):
            for v in derivable.intersection(body.tolist()):
                users.setdefault(v, []).append(position)
        return users

    def close(self, facts: int, until: int = 0) -> int:
        """The closure of a bit mask of facts, or the part of it that is derived until one of `until` is."""
        missing = self._every ^ facts
        while True:
            before = missing
            # a chain whose rules stand in order, as a card's do, is done in one pass
            for body, heads in self.masks:
                if not body & missing:
                    missing &= ~heads
                    if heads & until:
                        return self._every ^ missing
            if missing == before:
                return self._every ^ missing

    def conflicts(self, batch: Batch) -> Bools:
        """For each interpretation, whether its closure holds ⊥ or one of its false variables."""
        if len(batch) <= MAX_ONE_BY_ONE:
            return self._conflicts_one_by_one(batch)
        contradictions = np.zeros(batch.true.shape[1], np.uint64)
        for start in range(0, len(contradictions), BLOCK_WORDS):
            block = slice(start, start + BLOCK_WORDS)
            closed = self._close_rows(batch.true[:, block])
            for head in self.derivable:
                contradictions[block] |= (
                    closed[head] if head == self.width else closed[head] & batch.false[head, block]
                )
        return bits.flat(contradictions, len(batch))

    def close_batch(self, batch: Batch) -> tuple[Words, Bools]:
        """The closures of the true variables as words, and which of them contain ⊥."""
        closed = np.empty((self.width + 1, batch.true.shape[1]), np.uint64)
        for start in range(0, closed.shape[1], BLOCK_WORDS):
            block = slice(start, start + BLOCK_WORDS)
            closed[:, block] = self._close_rows(batch.true[:, block])
        bits.clear_spare(closed, len(batch))
        return closed[:-1], bits.flat(closed[-1], len(batch))

    def _conflicts_one_by_one(self, batch: Batch) -> Bools:
        sides = ((facts, forbidden | self.bottom) for facts, forbidden in batch.masks)
        answers = [bool(self.close(facts, until=wrong) & wrong) for facts, wrong in sides]
        return np.array(answers, np.bool_)

    def _close_rows(self, true: Words) -> Words:
        """Close a block of true rows, (n, words): the variables, then ⊥, (n + 1, words)."""
        rows = np.empty((self.width + 1, true.shape[1]), np.uint64)
        rows[:-1] = true
        rows[-1] = 0
        agenda: Sequence[int] = range(len(self.indices))
        while agenda:
            before = rows[self.feeding]
            self._fire(rows, agenda)
            grown = (rows[self.feeding] != before).any(1).tolist()
            changed = (v for v, is_new in zip(self.feeding, grown, strict=True) if is_new)
            agenda = sorted({user for v in changed for user in self.users[v]})
        return rows

    def _fire(self, rows: Words, agenda: Sequence[int]) -> None:
        """Set the heads of implications where their bodies hold; each sees what those before it set."""
        for position in agenda:
            body, heads = self.indices[position]
            fires = np.bitwise_and.reduce(rows[body], axis=0)
            for head in heads:
                rows[head] |= fires


@lru_cache(maxsize=MASKS_REMEMBERED)
def body_mask(body: frozenset[int]) -> int:
    """The body of a rule as a bit mask."""
    return bits.mask(body)


@lru_cache(maxsize=MASKS_REMEMBERED)
def rows_of(bit_mask: int) -> NDArray[np.intp]:
    """The set bits of a mask as an array, which is not for changing."""
    return np.array(members(bit_mask), np.intp)


def members(bit_mask: int) -> list[int]:
    """The set bits of a mask, ascending."""
    if SPARSE_MASK * bit_mask.bit_count() < bit_mask.bit_length():
        positions = []
        while bit_mask:
            lowest = bit_mask & -bit_mask
            positions.append(lowest.bit_length() - 1)
            bit_mask ^= lowest
        return positions
    return [position for position, bit in enumerate(reversed(f"{bit_mask:b}")) if bit == "1"]


def heads_of(bit_mask: int, width: int) -> frozenset[Head]:
    """A mask as a set of variables, with bit `width` read as ⊥."""
    return frozenset(BOTTOM if v == width else v for v in members(bit_mask))
