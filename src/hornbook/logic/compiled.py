"""Loops over bit-sliced words, compiled by numba where it is installed (`hornbook[fast]`).

Each function is the twin of a readable NumPy function elsewhere, which `compiled_as` binds to it; tests
hold the two equal. The loops go through the words once, `WORDS_AT_ONCE` at a time, where NumPy goes
through them once for every operation. Slices are copied by loops too, since numba takes seconds to compile
an assignment to one. Compiled code is cached beside this file or in the user's folder.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from importlib.util import find_spec
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")
Words = NDArray[np.uint64]
Index = NDArray[np.intp]
Counts = NDArray[np.int64]

WORDS_AT_ONCE = 64
"""Words of a row that stay in registers and the first cache while the rows of a term are gone through."""

WORTH_COMPILING = 1 << 15
"""Number of items in a pool from which on numba, which takes half a second to import, is used."""

NONE, ONE, ALL = np.uint64(0), np.uint64(1), np.uint64(2**64 - 1)
PAIRS, FOURS, EIGHTS = (
    np.uint64(0x5555555555555555),
    np.uint64(0x3333333333333333),
    np.uint64(0x0F0F0F0F0F0F0F0F),
)
EVERY_EIGHTH = np.uint64(0x0101010101010101)
S1, S2, S4, S6, S56 = (np.uint64(shift) for shift in (1, 2, 4, 6, 56))


class CompiledLoops:
    """Whether compiled twins answer: off until a run is large enough, and where numba is not installed."""

    on = False


def use_compiled(items: int) -> None:
    """Let compiled twins answer from now on, if a pool has enough items and numba is installed."""
    CompiledLoops.on = CompiledLoops.on or (items >= WORTH_COMPILING and find_spec("numba") is not None)


def compiled_as(loops: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let compiled loops answer for a readable function of NumPy arrays while the switch is on."""

    def bind(readable: Callable[P, R]) -> Callable[P, R]:
        @wraps(readable)
        def answer(*args: P.args, **kwargs: P.kwargs) -> R:
            if CompiledLoops.on and isinstance(args[0], np.ndarray):
                found: R = compile_loops(loops)(*args, **kwargs)
                return found
            return readable(*args, **kwargs)

        return answer

    return bind


@cache
def compile_loops(loops: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function of this module, or load what an earlier process compiled."""
    from numba import njit
    from numba.extending import register_jitable

    for helper in (count_bits_of, transpose_words):
        register_jitable(helper)
    compiled: Callable[..., Any] = njit(cache=True, nogil=True)(loops)
    return compiled


def count_bits_of(word: np.uint64) -> np.uint64:
    """The number of set bits of a word; LLVM knows the idiom."""
    word = word - ((word >> S1) & PAIRS)
    word = (word & FOURS) + ((word >> S2) & FOURS)
    word = (word + (word >> S4)) & EIGHTS
    return (word * EVERY_EIGHTH) >> S56


def intersect_rows(rows: Words, chosen: Index) -> Words:
    """The AND of at least one chosen row, shape (words,)."""
    common: Words = rows[chosen[0]].copy()
    for at in chosen[1:]:
        row = rows[at]
        for w in range(len(common)):
            common[w] &= row[w]
    return common


def count_in_rows(rows: Words, chosen: Index, mask: Words) -> Counts:
    """The number of items of a mask in each of the chosen rows, shape (chosen,)."""
    counts = np.zeros(len(chosen), np.int64)
    for j in range(len(chosen)):
        row, total = rows[chosen[j]], NONE
        for w in range(len(mask)):
            total += count_bits_of(row[w] & mask[w])
        counts[j] = total
    return counts


def count_all_but_one(rows: Words, chosen: Index, mask: Words) -> Counts:
    """The number of items in all chosen rows but one, for each of them, and then in all."""
    size = len(chosen)
    counts, before = np.zeros(size + 1, np.int64), np.empty(size + 1, np.uint64)
    for w in range(len(mask)):
        in_all, lacking_one = mask[w], NONE
        for j in range(size):
            before[j] = in_all
            row = rows[chosen[j], w]
            lacking_one = (lacking_one & row) | (in_all & ~row)
            in_all &= row
            if in_all | lacking_one == NONE:
                break
        else:
            counts[size] += count_bits_of(in_all)
            after = ALL
            for j in range(size - 1, -1, -1):
                counts[j] += count_bits_of(before[j] & after)
                after &= rows[chosen[j], w]
    return counts


def find_lacking_at_most(rows: Words, chosen: Index, mask: Words, most: int) -> Words:
    """The items of a mask that are in all of the chosen rows but at most `most`, shape (words,)."""
    found = np.zeros_like(mask)
    lacking = np.empty((most + 2, WORDS_AT_ONCE), np.uint64)  # row i: those that lack i or more
    for start in range(0, len(mask), WORDS_AT_ONCE):
        size = min(WORDS_AT_ONCE, len(mask) - start)
        for w in range(size):
            lacking[0, w] = mask[start + w]
        lacking[1:] = NONE
        for at in chosen:
            row = rows[at, start : start + size]
            for i in range(most + 1, 0, -1):
                for w in range(size):
                    lacking[i, w] |= lacking[i - 1, w] & ~row[w]
        for w in range(size):
            found[start + w] = mask[start + w] & ~lacking[most + 1, w]
    return found


def count_neighbours(rows: Words, items: Words, chosen: Index, near: Words) -> Counts:
    """Counts of items that lack at most one of the chosen rows; see `OpenItems.neighbours`.

    Counts are kept as binary digits, `digits[j, d, part]` for 64 variables: an item is added by a carry
    that runs through two digits on average.
    """
    width, size, parts = len(rows), len(chosen), items.shape[1]
    wanted, place = np.zeros(parts, np.uint64), np.empty(64 * parts, np.int64)
    for j in range(size):
        wanted[chosen[j] >> 6] |= ONE << np.uint64(chosen[j] & 63)
        place[chosen[j]] = j
    length = 1
    while 64 * len(near) >> length:
        length += 1
    digits, total = np.zeros((size + 1, length, parts), np.uint64), np.zeros(size + 1, np.int64)
    for w in range(len(near)):
        left = near[w]
        while left != NONE:
            item = items[64 * w + np.int64(count_bits_of((left & (~left + ONE)) - ONE))]
            left &= left - ONE
            lack = size
            for part in range(parts):
                missing = wanted[part] & ~item[part]
                if missing != NONE:
                    lack = place[64 * part + np.int64(count_bits_of((missing & (~missing + ONE)) - ONE))]
            total[lack] += 1
            for part in range(parts):
                carry, d = item[part], 0
                while carry != NONE:
                    before = digits[lack, d, part]
                    digits[lack, d, part] = before ^ carry
                    carry &= before
                    d += 1
    found = np.zeros((size + 1, width + 1), np.int64)
    for j in range(size + 1):
        found[j, width] = total[j]
        for d in range(length):
            if not total[j] >> d:
                break
            for v in range(width):
                found[j, v] += np.int64((digits[j, d, v >> 6] >> np.uint64(v & 63)) & ONE) << d
    return found


def take_items(items: Words, mask: Words) -> Words:
    """The items at the set bits of a mask, in order, shape (set bits, words of an item)."""
    total = NONE
    for word in mask:
        total += count_bits_of(word)
    taken, size = np.empty((np.int64(total), items.shape[1]), np.uint64), 0
    for w in range(len(mask)):
        left = mask[w]
        while left != NONE:
            at = 64 * w + np.int64(count_bits_of((left & (~left + ONE)) - ONE))
            left &= left - ONE
            for part in range(items.shape[1]):
                taken[size, part] = items[at, part]
            size += 1
    return taken


def count_sole(words: Words, chosen: Index) -> Counts:
    """For each chosen row, the number of items that are in no other chosen row, shape (chosen,)."""
    counts = np.zeros(len(chosen), np.int64)
    once, twice = np.empty(WORDS_AT_ONCE, np.uint64), np.empty(WORDS_AT_ONCE, np.uint64)
    for start in range(0, words.shape[1], WORDS_AT_ONCE):
        size = min(WORDS_AT_ONCE, words.shape[1] - start)
        once[:], twice[:] = NONE, NONE
        for at in chosen:
            row = words[at, start : start + size]
            for w in range(size):
                twice[w] |= once[w] & row[w]
                once[w] |= row[w]
        for w in range(size):
            once[w] &= ~twice[w]
        for j in range(len(chosen)):
            row, total = words[chosen[j], start : start + size], NONE
            for w in range(size):
                total += count_bits_of(row[w] & once[w])
            counts[j] += np.int64(total)
    return counts


def find_conflicts(
    true: Words, false: Words, bodies: Index, body_ends: Index, heads: Index, head_ends: Index, slots: Index
) -> Words:
    """The items whose closure holds ⊥ or one of their false variables, shape (words,).

    Implication i has the variables `bodies[body_ends[i] : body_ends[i + 1]]` and likewise its heads.
    `slots` numbers the variables that some implication derives, and then ⊥; it is -1 for the others.
    """
    width, words = true.shape
    found = np.zeros(words, np.uint64)
    closed = np.empty((slots[width] + 1, WORDS_AT_ONCE), np.uint64)
    fires = np.empty(WORDS_AT_ONCE, np.uint64)
    reads = np.zeros(len(body_ends) - 1, np.bool_)  # whether something derived is in the body
    for i in range(len(reads)):
        for v in bodies[body_ends[i] : body_ends[i + 1]]:
            reads[i] |= slots[v] >= 0
    for start in range(0, words, WORDS_AT_ONCE):
        size = min(WORDS_AT_ONCE, words - start)
        closed[slots[width]] = NONE
        for v in range(width):
            if slots[v] >= 0:
                row = closed[slots[v], :size]
                for w in range(size):
                    row[w] = true[v, start + w]
        first, grew = True, True
        while grew:
            grew = False
            for i in range(len(reads)):
                if not (first or reads[i]):
                    continue
                fires[:] = ALL
                for v in bodies[body_ends[i] : body_ends[i + 1]]:
                    row = true[v, start : start + size] if slots[v] < 0 else closed[slots[v], :size]
                    for w in range(size):
                        fires[w] &= row[w]
                for v in heads[head_ends[i] : head_ends[i + 1]]:
                    row, new = closed[slots[v], :size], NONE
                    for w in range(size):
                        new |= fires[w] & ~row[w]
                        row[w] |= fires[w]
                    grew |= v < width and new != NONE
            first = False
        for w in range(size):
            found[start + w] = closed[slots[width], w]
        for v in range(width):
            if slots[v] >= 0:
                row = closed[slots[v], :size]
                for w in range(size):
                    found[start + w] |= row[w] & false[v, start + w]
    return found


def transpose_words(words: Words, size: int) -> Words:
    """The transposed bit matrix: n rows of `size` bits become `size` rows of n bits."""
    count, width = words.shape
    across = (count + 63) // 64
    turned, block = np.empty((size, across), np.uint64), np.empty(64, np.uint64)
    for w in range(min(width, (size + 63) // 64)):
        for a in range(across):
            for bit in range(64):
                block[bit] = words[64 * a + bit, w] if 64 * a + bit < count else NONE
            half, low = np.uint64(32), ALL >> np.uint64(32)  # the quarters that are exchanged, see `bits`
            while half != NONE:
                step = np.int64(half)
                for first in range(0, 64, 2 * step):
                    for upper in range(first, first + step):
                        swap = ((block[upper] >> half) ^ block[upper + step]) & low
                        block[upper + step] ^= swap
                        block[upper] ^= swap << half
                half >>= ONE
                low ^= low << half
            for bit in range(min(64, size - 64 * w)):
                turned[64 * w + bit, a] = block[bit]
    return turned


def to_items(words: Words) -> Words:
    """The bits of each item side by side: (n, words) becomes (64·words, ⌈n/64⌉)."""
    return transpose_words(words, 64 * words.shape[1])
