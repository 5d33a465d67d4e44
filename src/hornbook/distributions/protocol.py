"""The interface of distributions over partial interpretations, and drawing in blocks."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions.literals import Literals
from hornbook.distributions.words import Stream, block_streams, keys_from_generator
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary, Words, bits

Choices: TypeAlias = list[tuple[Words, NDArray[np.intp]]]
"""Tables of literals, and the row of each table that each item takes, shape (64, words): bit first."""


@runtime_checkable
class Distribution(Protocol):
    """A named source of independent partial interpretations.

    The items of one draw are independent, so any part of it is a fair sample as well, and
    pair-consistent: a variable and its dual are (1, 0), (0, 1) or (?, ?).
    """

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the interpretations."""
        ...

    @property
    def kind(self) -> str:
        """The word for one item in reports: `random`, `violation`, `row`, `near miss`."""
        ...

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        """`size` independent interpretations."""
        ...

    def describe(self) -> str:
        """The distribution in words, with every parameter."""
        ...

    def settings(self) -> dict[str, Any]:
        """The kind and the parameters, ready for JSON."""
        ...


@runtime_checkable
class BitSliced(Distribution, Protocol):
    """A distribution drawn from a stream of random words, with the same result on a CPU and a device."""

    @property
    def literals(self) -> Literals:
        """The variables that are drawn, and their duals."""
        ...

    def draw_base_rows(self, stream: Stream) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables, for the items of the stream.

        The number of words taken from the stream must not depend on their values.
        """
        ...


@runtime_checkable
class WithOverrides(BitSliced, Protocol):
    """A distribution whose items override random values by literals chosen from tables."""

    def shares_base(self, rest: Any) -> bool:
        """Whether the values it does not override come from `rest`, so that a mixture can draw them once."""
        ...

    def choices(self, stream: Stream) -> Choices:
        """The overriding literals of each item; the last row of every table is empty."""
        ...


def draw_in_blocks(distribution: BitSliced, size: int, rng: np.random.Generator) -> Batch:
    """`size` interpretations, each block of them under a key of its own."""
    if size < 0:
        raise HornbookError(f"cannot draw {size} interpretations")
    return draw_keyed(distribution, keys_from_generator(rng, size), size)


def draw_keyed(distribution: BitSliced, keys: Words, size: int) -> Batch:
    """Draw the interpretations of the keys block by block, so that the work stays in the cache."""
    true, false = (
        np.empty((len(distribution.vocabulary), bits.words_for(size)), np.uint64) for _ in range(2)
    )
    for stream in block_streams(keys, size):
        at = slice(stream.first, stream.first + stream.count)
        distribution.literals.mirror_into((true[:, at], false[:, at]), *distribution.draw_base_rows(stream))
    return _batch(distribution.vocabulary, true, false, size)


def draw_on(device: str, distribution: Distribution, keys: Words, size: int) -> Batch:
    """Draw the interpretations of the keys on a device, all blocks at once."""
    if not isinstance(distribution, BitSliced):
        raise _cpu_only_error(distribution)
    rows = distribution.literals.mirrored(*distribution.draw_base_rows(Stream(keys, size, device=device)))
    return _batch(distribution.vocabulary, *rows, size)


def draw_nested_rows(distribution: Distribution, literals: Literals, stream: Stream) -> tuple[Words, Words]:
    """The true and the false rows that a component of another distribution draws for its variables."""
    if isinstance(distribution, BitSliced):
        return distribution.literals.translated(*distribution.draw_base_rows(stream), literals)
    if stream.device is not None:
        raise _cpu_only_error(distribution)
    batch = distribution.draw(stream.size, stream.generator())
    return batch.true[literals.drawn], batch.false[literals.drawn]


def _batch(vocabulary: Vocabulary, true: Words, false: Words, size: int) -> Batch:
    for rows in (true, false):
        bits.clear_spare(rows, size)
    return Batch(vocabulary, true, false, size)


def _cpu_only_error(distribution: Distribution) -> HornbookError:
    return HornbookError(
        f"a {type(distribution).__name__} is drawn by the CPU only: a device needs its `literals` "
        "and `draw_base_rows`"
    )


def check_share(name: str, share: float) -> None:
    """Refuse a share outside [0, 1]."""
    if not 0 <= share <= 1:
        raise HornbookError(f"{name} is a share between 0 and 1; got {share}")


def percent(share: float) -> str:
    """A share as reports write it."""
    return f"{100 * share:.3g} %"
