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
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import Words, arrays
from hornbook.logic.bits import WORD, words_for

Entry = TypeVar("Entry", bound=np.generic)

BLOCK_WORDS = 512
"""Words of each row that are drawn under one key; on a CPU they stay in the cache."""

BLOCK = BLOCK_WORDS * WORD
"""Items that are drawn under one key."""

FEW_ROWS = 4
"""So many rows cost more calls than computing: their words for all digits are made by the same calls."""

GOLDEN = 0x9E3779B97F4A7C15
"""Numbers are spread over all words by this factor, 2⁶⁴ over the golden ratio."""

FACTORS = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The factors of SplitMix64, whose shifts are 30, 27 and 31."""


def keys_of(sources: Iterable[np.random.SeedSequence]) -> Words:
    """The keys that `keys_from` would give generators of these sources for a block each, but faster.

    Examples
    --------
    >>> source = np.random.SeedSequence(0)
    >>> np.array_equal(keys_of([source]), keys_from(np.random.default_rng(source), 1))
    True

    """
    return np.array([np.random.PCG64(source).random_raw(2) for source in sources], np.uint64)


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
        return self.joined(shape, "")

    def joined(self, shape: Sequence[int], digits: Sequence[str]) -> Words:
        """Random words, to which further ones are joined: one for each digit, by OR for 1, by AND for 0."""
        rows, across = math.prod(shape), min(self.count, BLOCK_WORDS)
        make = self._made_here if self.device is None else self._made_there
        made: Words = make(rows, across, digits).reshape(*shape, len(self.keys) * across)[..., : self.count]
        self.drawn += rows * BLOCK_WORDS * (1 + len(digits))
        return made

    def _made_here(self, rows: int, across: int, digits: Sequence[str]) -> Words:
        """The words as NumPy makes them, in as little memory as possible."""
        words = self._in_turn(rows, across, 1 + len(digits))
        made = next(words)
        for digit, more in zip(digits, words, strict=True):
            (np.bitwise_or if digit == "1" else np.bitwise_and)(made, more, out=made)
        return made

    def _in_turn(self, rows: int, across: int, times: int) -> Iterator[Words]:
        """Rows of words, so many times: from the second on in the same memory, but few rows all at once."""
        together = times if rows <= FEW_ROWS else 1
        steps, shape = _steps(together * rows, across, None), (together * rows, len(self.keys), across)
        made, more, spare = (np.empty(shape, np.uint64) for _ in range(3))
        self._fill(made, 0, steps, spare)
        yield from made.reshape(together, rows, len(self.keys), across)
        for number in range(together, times):
            self._fill(more, number * rows, steps, spare)
            yield more

    def _fill(self, words: Words, row: int, steps: Words, spare: Words) -> None:
        """`_hashed`, in place."""
        np.add(steps, self._starts_at(row), out=words)
        words ^= np.right_shift(words, 30, out=spare)
        words *= FACTORS[0]
        words ^= self._stirred
        words ^= np.right_shift(words, 27, out=spare)
        words *= FACTORS[1]
        words ^= np.right_shift(words, 31, out=spare)

    def _made_there(self, rows: int, across: int, digits: Sequence[str]) -> Any:
        """The same words as tensors, all rows at once."""
        steps, words = _steps(rows, across, self.device), rows * self.count
        made = arrays.fused(_hashed, self.device, words)(steps, self._starts_at(0), self._stirred)
        for number, digit in enumerate(digits, 1):
            join = arrays.fused(_with_more if digit == "1" else _with_fewer, self.device, words)
            made = join(made, steps, self._starts_at(number * rows), self._stirred)
        return made

    def _starts_at(self, row: int) -> Words:
        """Where each block's count is at a row of what is being drawn."""
        starts: Words = self._starts + arrays.word((self.drawn + row * BLOCK_WORDS) * GOLDEN, self._starts)
        return starts

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


def _hashed(steps: Any, starts: Any, stirred: Any) -> Any:
    """The words of the numbers that are so many steps from the starts."""
    words = steps + starts
    words = (words ^ arrays.shifted_right(words, 30)) * arrays.word(FACTORS[0], words) ^ stirred
    words = (words ^ arrays.shifted_right(words, 27)) * arrays.word(FACTORS[1], words)
    return words ^ arrays.shifted_right(words, 31)


def _with_more(words: Any, steps: Any, starts: Any, stirred: Any) -> Any:
    return words | _hashed(steps, starts, stirred)


def _with_fewer(words: Any, steps: Any, starts: Any, stirred: Any) -> Any:
    return words & _hashed(steps, starts, stirred)


@lru_cache(maxsize=16)
def _steps(rows: int, across: int, device: str | None) -> Words:
    """The numbers of the words of a block, (rows, 1, words), spread over all words."""
    numbers = np.arange(rows * BLOCK_WORDS, dtype=np.uint64).reshape(rows, 1, BLOCK_WORDS)
    steps: Words = arrays.on_device(numbers[..., :across] * np.uint64(GOLDEN), device)
    return steps


PRECISION = 1 / 200
"""By what share of itself, or of its complement, a probability may be rounded."""

MOST_DIGITS = 24
"""Binary digits of a probability at most: below 2⁻²⁵ it is none."""


def biased(shape: tuple[int, ...], probability: float, stream: Stream, precision: float = PRECISION) -> Words:
    """Words whose every bit is set with a given probability, a row of them in each place of the shape.

    A bit compares a random binary fraction with the probability, digit by digit from the
    last to the first, so that one fair word serves one digit of 64 coins.
    """
    digits = binary(probability, precision)
    if digits:
        return stream.joined(shape, digits[-2::-1])
    words = stream.words(*shape)
    words ^= words
    return ~words if probability > 0.5 else words


def one_of(
    shares: Sequence[float], shape: tuple[int, ...], stream: Stream, precision: float = PRECISION
) -> list[Words]:
    """Words for each share, of which exactly one has a given bit set, as often as its share says."""
    *first, _ = shares
    left, undecided, rows = sum(shares), None, []
    for share in first:
        thrown = biased(shape, share / left if left > 0 else 0, stream, precision)
        rows.append(thrown if undecided is None else thrown & undecided)
        undecided = ~thrown if undecided is None else undecided & ~thrown
        left -= share
    if undecided is None:
        undecided = biased(shape, 1, stream)
    return [*rows, undecided]


def binary(probability: float, precision: float = PRECISION) -> str:
    """The fewest binary digits that are close enough to a probability; none for 0 and 1.

    Examples
    --------
    >>> binary(0.5), binary(0.75), binary(1 / 3), binary(1.0)
    ('1', '11', '01010101', '')

    """
    tolerated = precision * min(probability, 1 - probability)
    for count in range(1, MOST_DIGITS + 1):
        scaled = round(probability * 2**count)
        if abs(scaled / 2**count - probability) <= tolerated and 0 < scaled < 2**count:
            return f"{scaled:0{count}b}"
    scaled = round(probability * 2**MOST_DIGITS)
    return f"{scaled:0{MOST_DIGITS}b}".rstrip("0") if 0 < scaled < 2**MOST_DIGITS else ""
