"""Random words that are the same wherever they are made: each is a hash of its number.

Items are drawn in blocks of 64·512. A block has its own key, and its words depend on the key
and their number alone: not on the other blocks, nor on whether NumPy makes them block by block
or a GPU makes thousands of blocks at once.

References
----------
G. Steele, D. Lea, C. Flood. Fast splittable pseudorandom number generators. OOPSLA 2014.

"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import arrays
from hornbook.logic.bits import WORD, Words, words_for

Entry = TypeVar("Entry", bound=np.generic)

BLOCK_WORDS = 512
"""Words of each row that are drawn under one key; on a CPU they stay in the cache."""

BLOCK = BLOCK_WORDS * WORD
"""Items that are drawn under one key."""

GOLDEN = 0x9E3779B97F4A7C15
"""Numbers are spread over all words by this factor, 2⁶⁴ over the golden ratio."""

FACTORS = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The factors of SplitMix64, whose shifts are 30, 27 and 31."""


def keys_from(rng: np.random.Generator, size: int) -> Words:
    """A key for each block of so many items: where its count begins, and what is mixed in half way."""
    return rng.integers(0, 2**64, (-(-size // BLOCK), 2), np.uint64)


class Stream:
    """A source of random words for some blocks of items, which are drawn side by side.

    Parameters
    ----------
    keys
        The keys of the blocks, (blocks, 2).
    size
        How many items; only the last block can be smaller than the others.
    first
        The number of the first word among those of a larger draw.
    device
        Where the words are made: None for NumPy, or a device of PyTorch's.

    Examples
    --------
    >>> stream = Stream(keys_from(np.random.default_rng(0), 128), 128)
    >>> stream.words(3).shape
    (3, 2)
    >>> stream.below(10).reshape(-1)[:5]
    array([2, 9, 7, 9, 1])

    """

    def __init__(self, keys: Words, size: int, first: int = 0, device: str | None = None) -> None:
        self.keys = keys
        self.size = size
        self.first = first
        self.device = device
        self.count = words_for(size)
        self.drawn = 0
        self._starts, self._stirred = (self.of(keys[:, part : part + 1]) for part in range(2))

    def words(self, *shape: int) -> Words:
        """Independent random words: a row of them for the items, in each place of the shape."""
        rows, across = math.prod(shape), min(self.count, BLOCK_WORDS)
        steps = _steps(rows, across, self.device)
        words = steps + (self._starts + arrays.word(self.drawn * GOLDEN, steps))
        spare = arrays.module_of(words).empty_like(words)
        words ^= arrays.shifted_right(words, 30, spare)
        words *= arrays.word(FACTORS[0], words)
        words ^= self._stirred
        words ^= arrays.shifted_right(words, 27, spare)
        words *= arrays.word(FACTORS[1], words)
        words ^= arrays.shifted_right(words, 31, spare)
        self.drawn += rows * BLOCK_WORDS
        made: Words = words.reshape(*shape, len(self.keys) * across)[..., : self.count]
        return made

    def below(self, limit: int | NDArray[np.intp]) -> NDArray[np.intp]:
        """A number from 0 up to a limit for each item, as (64, words): bit first."""
        fractions: NDArray[np.intp] = arrays.signed(arrays.shifted_right(self.words(WORD), 33))
        fractions *= limit
        fractions >>= 31
        return fractions

    def of(self, table: NDArray[Entry]) -> NDArray[Entry]:
        """A table of NumPy's where the words are."""
        moved: NDArray[Entry] = arrays.on_device(table, self.device)
        return moved

    def generator(self) -> np.random.Generator:
        """A generator of NumPy's, for distributions that know no other."""
        self.drawn += 1
        return np.random.default_rng([self.drawn, *self.keys.reshape(-1).tolist()])


def block_streams(keys: Words, size: int) -> Iterator[Stream]:
    """A stream for each block of `size` items."""
    for block, key in enumerate(keys):
        yield Stream(key[None], min(BLOCK, size - block * BLOCK), first=block * BLOCK_WORDS)


@lru_cache(maxsize=16)
def _steps(rows: int, across: int, device: str | None) -> Words:
    """The numbers of the words of a block, (rows, 1, words), spread over all words."""
    numbers = np.arange(rows * BLOCK_WORDS, dtype=np.uint64).reshape(rows, 1, BLOCK_WORDS)
    steps: Words = arrays.on_device(numbers[..., :across] * np.uint64(GOLDEN), device)
    return steps
