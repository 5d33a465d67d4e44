"""Bit-sliced values as dense numbers: models want a float a value, a batch has two bits.

Several values are looked up at a time. Their true bits, with their false bits above them, are the
index of a row in a table; the row holds their numbers and is copied as one item.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hornbook.errors import HornbookError
from hornbook.logic.bits import WORD, Words

Order: TypeAlias = Literal["C", "F"]
"""`C`: the values of an interpretation lie side by side. `F`: those of a variable do."""

TILE = 63
"""Words of each row handled at a time in order `C`. Enough for NumPy to work in long strides; odd,
since rows a power of two apart would compete for the same cache lines."""


class Values(NamedTuple):
    """The numbers that stand for true, false and unknown."""

    true: float
    false: float
    unknown: float


def as_numbers(
    true: Words, false: Words, values: Values, dtype: DTypeLike, order: Order = "C"
) -> NDArray[Any]:
    """The (64·words, n) array of numbers behind two (n, words) matrices of bits.

    Order `F` is the cheaper: it is the layout that the bits have already.
    """
    dtype = np.dtype(dtype)
    if dtype.kind != "f" and not all(float(value).is_integer() for value in values):
        raise HornbookError(f"{dtype} cannot hold {tuple(values)} for true, false and unknown")
    if true.size == 0:
        return np.empty((true.shape[1] * WORD, len(true)), dtype, order)
    lay_out = _by_variable if order == "F" else _by_item
    return lay_out(true, false, values, dtype)


def _by_variable(true: Words, false: Words, values: Values, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert eight items of a variable at a time: a byte of true and a byte of false bits."""
    width, count = true.shape
    padded = count | 1  # an odd number of words, see `TILE`
    patterns = np.zeros((width, 8 * padded), np.uint16)
    patterns[:, : 8 * count] = _octets(false)
    patterns <<= 8
    patterns[:, : 8 * count] |= _octets(true)
    numbers = np.empty((width, padded * WORD), dtype)
    _look_up(_table(values, dtype, 8), patterns.astype(np.intp), numbers)
    return numbers[:, : count * WORD].T


def _by_item(true: Words, false: Words, values: Values, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert four variables of an item at a time: their true and false bits are eight transposed rows."""
    width, count = true.shape
    quads = -(-width // 4)
    table = _table(values, dtype, 4)
    numbers = np.empty((count * WORD, 4 * quads), dtype)
    for start in range(0, count, TILE):
        at = slice(start, start + TILE)
        padded = np.zeros((2, 4 * quads, min(TILE, count - start)), np.uint64)
        padded[0, :width], padded[1, :width] = true[:, at], false[:, at]
        eights = padded.reshape(2, quads, 4, -1).swapaxes(1, 2).reshape(8, quads, -1)
        _transpose_octets(eights)
        index = eights.view(np.uint8).transpose(2, 0, 1).astype(np.intp, order="C")
        _look_up(table, index.reshape(-1, quads), numbers[start * WORD : (start + TILE) * WORD])
    return numbers[:, :width]


def _octets(words: Words) -> NDArray[np.uint8]:
    return (words if words.strides[1] == words.itemsize else words.copy()).view(np.uint8)


def _transpose_octets(eights: Words) -> None:
    """Transpose every block of 8 × 8 bits in place: bit i of a byte of row j goes to bit j of row i.

    Pairs of rows swap half their bits: neighbours first, then rows 2 apart, then 4.
    """
    for step, low in ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F)):
        pairs = eights.reshape(4 // step, 2, step, -1)
        upper, lower = pairs[:, 0], pairs[:, 1]
        swap = ((upper >> np.uint64(step)) ^ lower) & np.uint64(low)
        lower ^= swap
        upper ^= swap << np.uint64(step)


@lru_cache(maxsize=8)
def _table(values: Values, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    """For each pattern of `count` true bits and above them as many false bits, the numbers."""
    pattern, place = np.arange(4**count)[:, None], np.arange(count)
    is_true, is_false = pattern >> place & 1, pattern >> (place + count) & 1
    return np.where(is_true, values.true, np.where(is_false, values.false, values.unknown)).astype(dtype)


def _look_up(table: NDArray[Any], index: NDArray[np.intp], into: NDArray[Any]) -> None:
    """Fill `into` with the rows of the table that `index` says, each copied as one item."""
    item = np.dtype((np.void, table[0].nbytes))
    table.view(item)[:, 0].take(index, out=into.view(item), mode="clip")
