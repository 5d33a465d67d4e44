"""Bit-sliced Boolean matrices: one row of `uint64` words a variable, one bit an item.

Bit j of word w of a row belongs to item 64·w + j. Spare bits of the last word are zero.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]
Bools: TypeAlias = NDArray[np.bool_]

WORD = 64


def words_for(size: int) -> int:
    """How many words hold `size` bits."""
    return -(-size // WORD)


def pack(dense: Bools) -> Words:
    """A (k, n) Boolean matrix as (n, ⌈k/64⌉) words."""
    size, width = dense.shape
    padded = np.zeros((width, words_for(size) * 8), dtype=np.uint8)
    packed = np.packbits(dense, axis=0, bitorder="little")
    padded[:, : packed.shape[0]] = packed.T
    return padded.view("<u8")


def unpack(words: Words, size: int) -> Bools:
    """The (k, n) Boolean matrix behind (n, ⌈k/64⌉) words, as a view of (n, k) rows."""
    return unpack_rows(words, size).T


def unpack_rows(words: Words, size: int) -> Bools:
    """The (n, k) Boolean matrix behind (n, ⌈k/64⌉) words."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=size, bitorder="little").view(np.bool_)


def pack_rows(rows: Bools) -> Words:
    """An (n, k) Boolean matrix as (n, ⌈k/64⌉) words."""
    width, size = rows.shape
    padded = np.zeros((width, words_for(size) * 8), dtype=np.uint8)
    packed = np.packbits(rows, axis=1, bitorder="little")
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8")


def span(words: Words, start: int, size: int) -> Words:
    """The `size` bits of every row from bit `start` on, shifted to begin at bit 0."""
    first, shift = divmod(start, WORD)
    count = words_for(size)
    low = words[:, first : first + count]
    if shift == 0:
        taken = low.copy()
    else:
        taken = low >> np.uint64(shift)
        high = words[:, first + 1 : first + 1 + count]
        taken[:, : high.shape[1]] |= high << np.uint64(WORD - shift)
    clear_spare(taken, size)
    return taken


def clear_spare(words: Words, size: int) -> None:
    """Zero the bits past `size`, in place."""
    spare = words.shape[-1] * WORD - size
    if spare:
        words[..., -1] &= np.uint64(2**WORD - 1) >> np.uint64(spare)


def flat(row: Words, size: int) -> Bools:
    """One row of words as a Boolean vector."""
    flattened: Bools = unpack_rows(row[None, :], size)[0]
    return flattened


def deposit(into: Words, words: Words, start: int) -> None:
    """Write `words` into the zero bits of `into` from bit `start` on, in place."""
    first, shift = divmod(start, WORD)
    count = words.shape[1]
    into[:, first : first + count] |= words << np.uint64(shift)
    if shift:
        spill = into[:, first + 1 : first + 1 + count]
        spill |= (words >> np.uint64(WORD - shift))[:, : spill.shape[1]]


def take(words: Words, items: NDArray[np.intp]) -> Words:
    """The bits of every row at the positions `items`, in that order."""
    taken = np.empty((len(words), words_for(len(items))), np.uint64)
    word, shift = items // WORD, (items % WORD).astype(np.uint64)
    for row, out in zip(words, taken, strict=True):
        chosen = (row[word] >> shift) & np.uint64(1)
        out[:] = pack_rows(chosen.astype(np.bool_)[None, :])[0]
    return taken


def transposed(words: Words, size: int) -> Words:
    """The bit matrix turned over: n rows of `size` bits become `size` rows of n bits.

    Turns items into variables and back. Blocks of 64 × 64 bits are turned all at once by
    swapping their off-diagonal quarters, then the quarters' own, down to single bits. Give it
    cache-sized parts.
    """
    count, width = words.shape
    across, whole = words_for(count), count // WORD
    rows = np.zeros((WORD, across, width), np.uint64)
    rows[:, :whole] = words[: whole * WORD].reshape(whole, WORD, width).swapaxes(0, 1)
    rows[: count - whole * WORD, whole:] = words[whole * WORD :, None]
    half, low = WORD // 2, np.uint64(2**32 - 1)
    while half:
        quarters = rows.reshape(WORD // (2 * half), 2, half, across * width)
        upper, lower = quarters[:, 0], quarters[:, 1]
        swap = upper >> np.uint64(half)
        swap ^= lower
        swap &= low
        lower ^= swap
        swap <<= np.uint64(half)
        upper ^= swap
        half //= 2
        low ^= low << np.uint64(half)
    turned: Words = np.moveaxis(rows, 2, 0).reshape(width * WORD, across)
    return turned[:size]
