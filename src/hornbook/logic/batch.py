"""Batches of partial interpretations, bit-sliced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.logic import bits
from hornbook.logic.bits import Order, Values, Words, as_numbers
from hornbook.logic.rule import Vocabulary

BLOCK = 1 << 14
"""Items handled at a time where a batch is unpacked: it bounds the working space."""


@dataclass(frozen=True)
class Interpretation(Displayed):
    """One partial interpretation: the true variables, the false ones; the rest is unknown."""

    true: frozenset[int]
    false: frozenset[int] = frozenset()

    def __str__(self) -> str:
        return f"true {sorted(self.true)}, false {sorted(self.false)}, all else unknown"


@dataclass(frozen=True, eq=False)
class Batch:
    """Many partial interpretations over one vocabulary, two bits a value.

    `true` and `false` are `uint64` matrices with a row for each variable and a bit for each
    interpretation. Row v of `true` says which interpretations make v true.

    Examples
    --------
    >>> vocabulary = Vocabulary(["horse", "wings", "pegasus"])
    >>> batch = Batch.from_array([[1, 1, np.nan], [1, 0, 0]], vocabulary)
    >>> len(batch), batch[1]
    (2, true [0], false [1, 2], all else unknown)
    >>> batch.to_array()
    array([[ 1.,  1., nan],
           [ 1.,  0.,  0.]])

    """

    vocabulary: Vocabulary
    true: Words
    false: Words
    size: int

    @classmethod
    def from_array(cls, array: ArrayLike, vocabulary: Vocabulary) -> Batch:
        """A batch from a (k, n) array of 1, 0 and NaN for unknown."""
        try:
            dense = np.asarray(array, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise HornbookError(f"expected numbers 0, 1 and NaN for unknown: {error}") from None
        if dense.ndim != 2 or dense.shape[1] != len(vocabulary):
            raise HornbookError(
                f"expected an array of shape (k, {len(vocabulary)}), one column a variable; got {dense.shape}"
            )
        true, false = (np.zeros((dense.shape[1], bits.words_for(len(dense))), np.uint64) for _ in range(2))
        for start in range(0, len(dense), BLOCK):
            block = dense[start : start + BLOCK]
            ones, zeros = block == 1, block == 0
            _refuse_other_values(block, ones | zeros, start, vocabulary)
            at = slice(start // bits.WORD, bits.words_for(start + len(block)))
            true[:, at], false[:, at] = bits.pack(ones), bits.pack(zeros)
        return cls(vocabulary, true, false, len(dense))

    @classmethod
    def from_interpretations(cls, items: Sequence[Interpretation], vocabulary: Vocabulary) -> Batch:
        """A batch of interpretations given as sets of variables."""
        width = len(vocabulary)
        masks = [(bits.mask(item.true), bits.mask(item.false)) for item in items]
        for position, (ones, zeros) in enumerate(masks):
            if (ones | zeros) >> width:
                raise HornbookError(f"interpretation {position} has a variable outside the {width} names")
            if ones & zeros:
                both = vocabulary.named(items[position].true & items[position].false)
                raise HornbookError(f"interpretation {position} makes {both} both true and false")
        return MaskBatch(vocabulary, masks)

    @classmethod
    def concatenate(cls, batches: Iterable[Batch]) -> Batch:
        """The batches one after another."""
        batches = list(batches)
        if not batches:
            raise HornbookError("nothing to concatenate")
        vocabulary = batches[0].vocabulary
        if any(batch.vocabulary != vocabulary for batch in batches):
            raise HornbookError("batches over different vocabularies cannot be concatenated")
        size = sum(map(len, batches))
        true, false = (np.zeros((len(vocabulary), bits.words_for(size)), np.uint64) for _ in range(2))
        start = 0
        for batch in batches:
            bits.deposit(true, batch.true, start)
            bits.deposit(false, batch.false, start)
            start += len(batch)
        return cls(vocabulary, true, false, size)

    @cached_property
    def masks(self) -> list[tuple[int, int]]:
        """Each interpretation as two bit masks, of its true and of its false variables; for few of them."""
        return list(zip(*(bits.to_masks(words, self.size) for words in (self.true, self.false)), strict=True))

    def to_array(
        self, unknown: float = np.nan, dtype: DTypeLike = np.float64, order: Order = "C"
    ) -> NDArray[Any]:
        """The (k, n) array of 1, 0 and `unknown`; order `F` is the faster to make."""
        return as_numbers(self.true, self.false, Values(1, 0, unknown), dtype, order)[: self.size]

    def blocks(self, size: int = BLOCK) -> Iterator[Batch]:
        """The batch in consecutive parts of at most `size` interpretations; one part is the batch itself."""
        if 0 < self.size <= size:
            yield self
            return
        for start in range(0, self.size, size):
            yield self[start : start + size]

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Interpretation]:
        for block in self.blocks():
            true, false = bits.unpack(block.true, len(block)), bits.unpack(block.false, len(block))
            for ones, zeros in zip(true, false, strict=True):
                yield Interpretation(_members(ones), _members(zeros))

    @overload
    def __getitem__(self, key: int) -> Interpretation: ...
    @overload
    def __getitem__(self, key: slice | NDArray[Any] | Sequence[int]) -> Batch: ...
    def __getitem__(self, key: Any) -> Interpretation | Batch:
        if isinstance(key, slice):
            start, stop, step = key.indices(self.size)
            if step == 1:
                return self._span(start, max(stop - start, 0))
            return self._take(np.arange(start, stop, step))
        if np.ndim(key) == 0:
            at = range(self.size)[key]
            word, shift = at // bits.WORD, np.uint64(at % bits.WORD)
            column = self.true[:, word], self.false[:, word]
            ones, zeros = ((words >> shift) & np.uint64(1) for words in column)
            return Interpretation(_members(ones), _members(zeros))
        chosen = np.arange(self.size)[key]
        return self if np.array_equal(chosen, np.arange(self.size)) else self._take(chosen)

    def _span(self, start: int, size: int) -> Batch:
        return Batch(
            self.vocabulary, bits.span(self.true, start, size), bits.span(self.false, start, size), size
        )

    def _take(self, items: NDArray[np.intp]) -> Batch:
        return Batch(self.vocabulary, bits.take(self.true, items), bits.take(self.false, items), len(items))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Batch):
            return NotImplemented
        return (
            self.vocabulary == other.vocabulary
            and self.size == other.size
            and np.array_equal(self.true, other.true)
            and np.array_equal(self.false, other.false)
        )

    def __repr__(self) -> str:
        return f"<Batch of {self.size} interpretations over {len(self.vocabulary)} variables>"


class MaskBatch(Batch):
    """Few interpretations, given as bit masks; their words are made when they are first read."""

    def __init__(self, vocabulary: Vocabulary, masks: list[tuple[int, int]]) -> None:
        vars(self).update(vocabulary=vocabulary, masks=masks, size=len(masks))

    @cached_property
    def _words(self) -> Words:
        width = len(self.vocabulary)
        return bits.from_masks([ones | zeros << width for ones, zeros in self.masks], 2 * width)

    @property
    def true(self) -> Words:
        return self._words[: len(self.vocabulary)]

    @property
    def false(self) -> Words:
        return self._words[len(self.vocabulary) :]


def _members(row: NDArray[Any]) -> frozenset[int]:
    return frozenset(np.flatnonzero(row).tolist())


def _refuse_other_values(
    block: NDArray[np.float64], known: NDArray[np.bool_], start: int, vocabulary: Vocabulary
) -> None:
    other = ~known & ~np.isnan(block)
    if other.any():
        row, column = np.argwhere(other)[0]
        raise HornbookError(
            f"row {start + row}, variable {vocabulary.name(column)!r}: {block[row, column]} is not 0, 1, NaN"
        )
