"""Bit-sliced values as dense numbers: models want a float a value, a batch has two bits.

Four values are looked up at a time. Four true bits and above them four false bits make a byte;
the table's entry for that byte is the four numbers, copied as one item.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hornbook.logic.bits import WORD, Words

Order: TypeAlias = Literal["C", "F"]
"""`C`: the values of an interpretation lie side by side. `F`: those of a variable do."""

TILE = 16
"""Words of each row turned at a time for order `C`: more spill out of the nearest cache."""


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
    if true.size == 0:
        return np.empty((true.shape[1] * WORD, len(true)), dtype, order)
    table = _table(values, np.dtype(dtype))
    return _by_variable(true, false, table).T if order == "F" else _by_item(true, false, table)


def _table(values: Values, dtype: np.dtype[Any]) -> NDArray[Any]:
    """For each byte of true and false bits, its four numbers."""
    byte, place = np.arange(256)[:, None], np.arange(4)
    is_true, is_false = byte >> place & 1, byte >> (place + 4) & 1
    return np.where(is_true, values.true, np.where(is_false, values.false, values.unknown)).astype(dtype)


def _look_up(table: NDArray[Any], index: NDArray[np.intp], into: NDArray[Any]) -> None:
    four = np.dtype((np.void, 4 * table.itemsize))
    table.view(four)[:, 0].take(index, out=into.view(four), mode="clip")


def _by_variable(true: Words, false: Words, table: NDArray[Any]) -> NDArray[Any]:
    ones, zeros = (np.ascontiguousarray(words).view(np.uint8) for words in (true, false))
    index = np.empty((*ones.shape, 2), np.intp)
    index[..., 0] = (ones & 0x0F) | (zeros << 4)
    index[..., 1] = (ones >> 4) | (zeros & 0xF0)
    numbers = np.empty((len(true), true.shape[1] * WORD), table.dtype)
    _look_up(table, index.reshape(len(true), -1), numbers)
    return numbers


def _by_item(true: Words, false: Words, table: NDArray[Any]) -> NDArray[Any]:
    width, count = true.shape
    quads = -(-width // 4)
    numbers = np.empty((count * WORD, 4 * quads), table.dtype)
    for start in range(0, count, TILE):
        words = np.zeros((2, 4 * quads, min(TILE, count - start)), np.uint64)
        words[0, :width] = true[:, start : start + TILE]
        words[1, :width] = false[:, start : start + TILE]
        eights = words.reshape(2, quads, 4, -1).swapaxes(0, 1).reshape(quads, 8, -1)
        _turn(eights)
        index = eights.view(np.uint8).transpose(2, 1, 0).astype(np.intp, order="C")
        _look_up(table, index.reshape(-1, quads), numbers[start * WORD : (start + TILE) * WORD])
    return numbers[:, :width]


def _turn(eights: Words) -> None:
    """Turn over every 8 × 8 bits, in place: bit i of a byte of row j goes to bit j of row i.

    Pairs of rows swap half their bits: neighbours first, then rows 2 apart, then 4.
    """
    for step, low in ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F)):
        pairs = eights.reshape(len(eights), 4 // step, 2, step, -1)
        upper, lower = pairs[:, :, 0], pairs[:, :, 1]
        swap = ((upper >> np.uint64(step)) ^ lower) & np.uint64(low)
        lower ^= swap
        upper ^= swap << np.uint64(step)
