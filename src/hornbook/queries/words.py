"""Reproducible random words: each word is a hash of its key and number.

Items are drawn in blocks of 64·512. A block has its own key, and its words depend on the key
and their number alone, not on the other blocks.

References
----------
G. Steele, D. Lea, C. Flood. Fast splittable pseudorandom number generators. OOPSLA 2014.

"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import Words, bits

BLOCK_WORDS = 512
"""Number of words of each row under one key; they stay in the cache."""

BLOCK_ITEMS = BLOCK_WORDS * bits.WORD
"""Number of items under one key."""

FEW_ROWS = 4
"""Up to this number of rows, the words for all digits are made by one call, which saves time."""

GOLDEN_FACTOR = 0x9E3779B97F4A7C15
"""2⁶⁴ over the golden ratio: the increment of SplitMix64."""

SPLITMIX_FACTORS = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The factors of SplitMix64; its shifts are 30, 27 and 31."""


def keys_from_generator(rng: np.random.Generator, size: int) -> Words:
    """A key for each block of `size` items, shape (blocks, 2): the first count, and a word to mix in."""
    return rng.integers(0, 2**64, (-(-size // BLOCK_ITEMS), 2), np.uint64)


class Stream:
    """A source of random words for one block of items.

    Parameters
    ----------
    key
        The key of the block: the first count, and a word to mix in.
    size
        How many items.
    first
        The number of the first word among those of a larger draw.

    Examples
    --------
    >>> stream = Stream(keys_from_generator(np.random.default_rng(0), 128)[0], 128)
    >>> stream.words(3).shape
    (3, 2)
    >>> numbers = stream.below(10)
    >>> numbers.shape, bool((0 <= numbers).all() and (numbers < 10).all())
    ((64, 2), True)

    """

    def __init__(self, key: Words, size: int, first: int = 0) -> None:
        self.key = key
        self.size = size
        self.first = first
        self.count = bits.words_for(size)
        self.drawn = 0

    def words(self, *shape: int) -> Words:
        """Independent random words, shape (*shape, words)."""
        return self.combined_words(shape, "")

    def combined_words(self, shape: Sequence[int], digits: Sequence[str]) -> Words:
        """Random words combined with one further word a digit, by OR for 1 and by AND for 0."""
        rows = math.prod(shape)
        words = self._repeat_rows(rows, 1 + len(digits))
        made = next(words)
        for digit, more in zip(digits, words, strict=True):
            (np.bitwise_or if digit == "1" else np.bitwise_and)(made, more, out=made)
        self.drawn += rows * BLOCK_WORDS * (1 + len(digits))
        return made.reshape(*shape, self.count)

    def _repeat_rows(self, rows: int, times: int) -> Iterator[Words]:
        """Yield rows of words `times` times, reusing the memory from the second time on."""
        together = times if rows <= FEW_ROWS else 1
        steps = _steps(together * rows, self.count)
        made, more, spare = (np.empty(steps.shape, np.uint64) for _ in range(3))
        self._fill(made, 0, steps, spare)
        yield from made.reshape(together, rows, self.count)
        for number in range(together, times):
            self._fill(more, number * rows, steps, spare)
            yield more

    def _fill(self, words: Words, row: int, steps: Words, spare: Words) -> None:
        """Hash the counts of the words from a row of the current draw on, in place."""
        start, stirred = self.key
        count = (self.drawn + row * BLOCK_WORDS) * GOLDEN_FACTOR
        np.add(steps, np.uint64((int(start) + count) % 2**64), out=words)
        words ^= np.right_shift(words, 30, out=spare)
        words *= SPLITMIX_FACTORS[0]
        words ^= stirred
        words ^= np.right_shift(words, 27, out=spare)
        words *= SPLITMIX_FACTORS[1]
        words ^= np.right_shift(words, 31, out=spare)

    def below(self, limit: int | NDArray[np.intp]) -> NDArray[np.intp]:
        """A uniform integer in [0, limit) for each item, shape (64, words): bit first."""
        fractions = (self.words(bits.WORD) >> 33).view(np.intp)
        fractions *= limit
        fractions >>= 31
        return fractions

    def generator(self) -> np.random.Generator:
        """A NumPy generator, for distributions that need one."""
        self.drawn += 1
        return np.random.default_rng([self.drawn, *self.key.tolist()])


def block_streams(keys: Words, size: int) -> Iterator[Stream]:
    """A stream for each block of `size` items."""
    for block, key in enumerate(keys):
        yield Stream(key, min(BLOCK_ITEMS, size - block * BLOCK_ITEMS), first=block * BLOCK_WORDS)


@lru_cache(maxsize=16)
def _steps(rows: int, across: int) -> Words:
    """The increments of the words of a block, shape (rows, words)."""
    numbers = np.arange(rows * BLOCK_WORDS, dtype=np.uint64).reshape(rows, BLOCK_WORDS)
    steps: Words = numbers[:, :across] * np.uint64(GOLDEN_FACTOR)
    return steps


COIN_PRECISION = 1 / 200
"""Maximum relative rounding of a probability, or of its complement."""

MAX_DIGITS = 24
"""Maximum number of binary digits of a probability; below 2⁻²⁵ it becomes 0."""


def biased_bits(
    shape: tuple[int, ...], probability: float, stream: Stream, precision: float = COIN_PRECISION
) -> Words:
    """Words in which each bit is set with a given probability, shape (*shape, words).

    A bit compares a random binary fraction with the probability, digit by digit from the
    last to the first, so that one fair word serves one digit of 64 coins.
    """
    digits = binary_digits(probability, precision)
    if digits:
        return stream.combined_words(shape, digits[-2::-1])
    words = stream.words(*shape)
    words ^= words
    return ~words if probability > 0.5 else words


def one_hot_bits(
    shares: Sequence[float], shape: tuple[int, ...], stream: Stream, precision: float = COIN_PRECISION
) -> list[Words]:
    """Words for each share: each bit is set in exactly one of them, with the share as probability."""
    *first, _ = shares
    left, undecided, rows = sum(shares), None, []
    for share in first:
        thrown = biased_bits(shape, share / left if left > 0 else 0, stream, precision)
        rows.append(thrown if undecided is None else thrown & undecided)
        undecided = ~thrown if undecided is None else undecided & ~thrown
        left -= share
    if undecided is None:
        undecided = biased_bits(shape, 1, stream)
    return [*rows, undecided]


def binary_digits(probability: float, precision: float = COIN_PRECISION) -> str:
    """The shortest binary expansion that is close enough to a probability; empty for 0 and 1.

    Examples
    --------
    >>> binary_digits(0.5), binary_digits(0.75), binary_digits(1 / 3), binary_digits(1.0)
    ('1', '11', '01010101', '')

    """
    tolerated = precision * min(probability, 1 - probability)
    for count in range(1, MAX_DIGITS + 1):
        scaled = round(probability * 2**count)
        if abs(scaled / 2**count - probability) <= tolerated and 0 < scaled < 2**count:
            return f"{scaled:0{count}b}"
    scaled = round(probability * 2**MAX_DIGITS)
    return f"{scaled:0{MAX_DIGITS}b}".rstrip("0") if 0 < scaled < 2**MAX_DIGITS else ""
