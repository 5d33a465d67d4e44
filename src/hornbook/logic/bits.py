"""Bit-sliced Boolean matrices: one row of `uint64` words a variable, one bit an item.

Bit j of word w of a row belongs to item 64·w + j. Spare bits of the last word are zero.

Models want a float a value. To make them several values are looked up at a time: their true bits, with
their false bits above them, are the index of a row in a table, and that row of numbers is copied as one item.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from operator import xor
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hornbook.errors import HornbookError

Words: TypeAlias = NDArray[np.uint64]
Bools: TypeAlias = NDArray[np.bool_]

WORD = 64
"""Number of bits of a word."""

HALVES = np.array([32, 16, 8, 4, 2, 1], np.uint64)
"""Sides of the quarters that are exchanged, in order, to transpose a block of 64 × 64 bits."""

LOWS = np.array([(2**WORD - 1) // (2**half + 1) for half in HALVES.tolist()], np.uint64)
"""For each side, the word in which the lower half of each such group of bits is set."""

BITS_PER_TAKE = 1 << 16
"""Number of bits that `take` handles at a time, so that they stay in the cache."""

WORDS_PER_TRANSPOSE = 256
"""Words of each row that are transposed at once, for the same reason."""

FEW_WORDS = 256
"""The most words that are transposed faster by unpacking their bits."""

SPARSE_TAKE = 8
"""If fewer than one item in this many is taken, bits are taken one by one."""

Order: TypeAlias = Literal["C", "F"]
"""`C`: the values of an interpretation lie side by side. `F`: those of a variable do."""


class _Powers(dict[int, int]):
    """The masks of single variables, each made when it is first asked for."""

    def __missing__(self, v: int) -> int:
        self[int(v)] = power = 1 << int(v)
        return power


_POWERS = _Powers()


def words_for(size: int) -> int:
    """How many words hold `size` bits."""
    return -(-size // WORD)


def pack(dense: Bools) -> Words:
    """A (k, n) Boolean matrix as (n, ⌈k/64⌉) words."""
    return pack_rows(np.ascontiguousarray(dense.T))


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


def mask(variables: Iterable[int]) -> int:
    """A set of variables as a bit mask."""
    return sum(map(_POWERS.__getitem__, frozenset(variables)))


def from_masks(masks: Sequence[int], width: int) -> Words:
    """Items that are bit masks over `width` rows, as (width, ⌈items/64⌉) words."""
    octets = -(-width // 8)
    raw = b"".join(item.to_bytes(octets, "little") for item in masks)
    packed = np.frombuffer(raw, np.uint8).reshape(len(masks), octets)
    dense = np.unpackbits(packed, axis=1, count=width, bitorder="little")  # (items, width)
    return dense.T.astype(np.uint64) if len(masks) == 1 else pack(dense.view(np.bool_))


def to_masks(words: Words, size: int) -> list[int]:
    """The items of a bit-sliced matrix as bit masks over its rows."""
    packed = np.packbits(unpack(words, size), axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def span(words: Words, start: int, size: int) -> Words:
    """The `size` bits of every row from bit `start` on, shifted to begin at bit 0."""
    first, shift = divmod(start, WORD)
    count = words_for(size)
    low = words[:, first : first + count]
    taken: Words = low >> np.uint64(shift)
    if shift:
        high = words[:, first + 1 : first + 1 + count]
        taken[:, : high.shape[1]] |= high << (WORD - shift)
    clear_spare(taken, size)
    return taken


def clear_spare(words: Words, size: int) -> None:
    """Zero the bits past `size`, in place."""
    spare = words.shape[-1] * WORD - size
    if spare:
        words[..., -1] &= 2 ** (WORD - spare) - 1


def flat(row: Words, size: int) -> Bools:
    """One row of words as a Boolean vector."""
    flattened: Bools = unpack_rows(row[None, :], size)[0]
    return flattened


def deposit(into: Words, words: Words, start: int) -> None:
    """Write `words` into the zero bits of `into` from bit `start` on, in place; bits that are set flip."""
    first, shift = divmod(start, WORD)
    count = words.shape[1]
    into[:, first : first + count] ^= words << shift
    if shift:
        spill = into[:, first + 1 : first + 1 + count]
        spill ^= (words >> (WORD - shift))[:, : spill.shape[1]]


def take(words: Words, items: NDArray[np.intp]) -> Words:
    """The bits of every row at the positions `items`, in that order."""
    if SPARSE_TAKE * len(items) <= WORD * words.shape[1]:
        return _take_one_by_one(words, items)
    # a transposed item is a few whole words, which are moved as they are
    return from_items(to_items(words)[items], len(words))


def to_items(words: Words) -> Words:
    """The bits of each item side by side: (n, words) becomes (64·words, ⌈n/64⌉)."""
    at_once = WORDS_PER_TRANSPOSE
    parts = (words[:, at : at + at_once] for at in range(0, words.shape[1], at_once))
    none = np.empty((0, words_for(len(words))), np.uint64)
    return np.concatenate([none, *(transpose(part, WORD * part.shape[1]) for part in parts)])


def from_items(items: Words, width: int) -> Words:
    """The bit-sliced matrix of items with `width` bits each, shape (width, ⌈items/64⌉)."""
    at_once = WORD * WORDS_PER_TRANSPOSE
    parts = (items[at : at + at_once] for at in range(0, len(items), at_once))
    none = np.empty((width, 0), np.uint64)
    return np.concatenate([none, *(transpose(part, width) for part in parts)], axis=1)


def _take_one_by_one(words: Words, items: NDArray[np.intp]) -> Words:
    taken = np.empty((len(words), words_for(len(items))), np.uint64)
    word, shift = items // WORD, (items % WORD).astype(np.uint64)
    at_once = max(1, BITS_PER_TAKE // max(1, len(items)))
    for first in range(0, len(words), at_once):
        rows = slice(first, first + at_once)
        taken[rows] = pack_rows(((words[rows, word] >> shift) & np.uint64(1)).astype(np.bool_))
    return taken


def transpose(words: Words, size: int) -> Words:
    """The transposed bit matrix: n rows of `size` bits become `size` rows of n bits.

    Turns items into variables and back. Blocks of 64 × 64 bits are transposed all at once by
    swapping their off-diagonal quarters, then the quarters' own, down to single bits. Give it
    cache-sized parts.
    """
    if words.size <= FEW_WORDS:
        return pack_rows(unpack_rows(words, size).T)
    count, width = words.shape
    across, whole = words_for(count), count // WORD
    rows = np.zeros((WORD, across, width), np.uint64)
    rows[:, :whole] = words[: whole * WORD].reshape(whole, WORD, width).swapaxes(0, 1)
    rows[: count - whole * WORD, whole:] = words[whole * WORD :, None]
    return transpose_bit_first(rows)[:size]


def transpose_bit_first(rows: Words) -> Words:
    """Transpose items of shape (64, words, n), bit first, to (64·n, words); the array is overwritten."""
    _, across, width = rows.shape
    spare = np.empty(rows.size // 2, np.uint64)
    for half, shift, low in zip(HALVES.tolist(), HALVES, LOWS, strict=True):
        quarters = rows.reshape(WORD // (2 * half), 2, half * across * width)
        rows = _swap_quarters(spare, quarters, shift, low)
    moved: Words = np.moveaxis(rows.reshape(WORD, across, width), 2, 0)
    return moved.reshape(width * WORD, across)


def gather_rows(*choices: tuple[Words, NDArray[np.intp]]) -> Words:
    """Table rows that items choose, bit-sliced, shape (64·n, words); several tables are joined by XOR.

    A table has n words a row. `choices` are its row numbers, shape (64, words): bit first.

    Examples
    --------
    >>> table = np.array([[0b01], [0b10]], np.uint64)
    >>> choices = np.zeros((64, 1), np.intp)
    >>> choices[:3, 0] = [1, 1, 0]
    >>> [f"{int(row[0]):b}"[-4:] for row in gather_rows((table, choices))[:2]]
    ['1100', '11']

    """
    rows = (table.take(index, axis=0, mode="clip") for table, index in choices)
    return transpose_bit_first(reduce(xor, rows))


def _swap_quarters(spare: Words, quarters: Words, half: np.uint64, low: np.uint64) -> Words:
    """Exchange the off-diagonal quarters of blocks of bits, shape (blocks, 2, rows of one half)."""
    upper, lower = quarters[:, 0], quarters[:, 1]
    swap = np.right_shift(upper, half, out=spare.reshape(upper.shape))
    swap ^= lower
    swap &= low
    lower ^= swap
    swap <<= half
    upper ^= swap
    return quarters


class Values(NamedTuple):
    """The numbers that stand for true, false and unknown."""

    true: float
    false: float
    unknown: float


def as_numbers(
    true: Words, false: Words, values: Values, dtype: DTypeLike, order: Order = "C"
) -> NDArray[Any]:
    """The (64·words, n) array of numbers behind two (n, words) matrices of bits.

    Eight items of a variable are converted at a time: a byte of true and a byte of false bits. So order `F`
    is the cheaper: it is the layout that the bits have already.
    """
    dtype = np.dtype(dtype)
    if dtype.kind != "f" and not all(float(value).is_integer() for value in values):
        raise HornbookError(f"{dtype} cannot hold {tuple(values)} for true, false and unknown")
    width, count = true.shape
    if true.size == 0:
        return np.empty((count * WORD, width), dtype, order)
    padded = count | 1  # rows a power of two apart would compete for the same cache lines
    patterns = np.zeros((width, 8 * padded), np.uint16)
    patterns[:, : 8 * count] = _octets(false)
    patterns <<= 8
    patterns[:, : 8 * count] |= _octets(true)
    numbers = np.empty((width, padded * WORD), dtype)
    table = _table(values, dtype)
    item = np.dtype((np.void, table[0].nbytes))
    table.view(item)[:, 0].take(patterns.astype(np.intp), out=numbers.view(item), mode="clip")
    items = numbers[:, : count * WORD].T
    return items if order == "F" else np.ascontiguousarray(items)


def _octets(words: Words) -> NDArray[np.uint8]:
    return (words if words.strides[1] == words.itemsize else words.copy()).view(np.uint8)


@lru_cache(maxsize=8)
def _table(values: Values, dtype: np.dtype[Any]) -> NDArray[Any]:
    """For each pattern of eight true bits and above them as many false bits, the numbers."""
    pattern, place = np.arange(4**8)[:, None], np.arange(8)
    is_true, is_false = pattern >> place & 1, pattern >> (place + 8) & 1
    return np.where(is_true, values.true, np.where(is_false, values.false, values.unknown)).astype(dtype)
