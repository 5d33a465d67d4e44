"""What every distribution over partial interpretations offers, and how draws are made in blocks."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions.literals import Literals
from hornbook.distributions.words import Stream, block_streams, keys_from
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary, Words, bits

Choices: TypeAlias = list[tuple[Words, NDArray[np.intp]]]
"""Tables of literals, and which row of each the items take, as (64, words): bit first."""


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
class Sliced(Distribution, Protocol):
    """A distribution that is drawn from a stream of words, here or on a device, with the same result."""

    @property
    def literals(self) -> Literals:
        """The variables that are drawn, and their duals."""
        ...

    def drawn_rows(self, stream: Stream) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables, for the items of the stream.

        How many words it takes from the stream must not depend on what they are.
        """
        ...


@runtime_checkable
class Overlaid(Sliced, Protocol):
    """A distribution whose items replace random values by literals that they choose from tables."""

    def lies_over(self, rest: Any) -> bool:
        """Whether the values that it leaves are those of a random distribution."""
        ...

    def choices(self, stream: Stream) -> Choices:
        """What the items choose; the last row of every table is empty."""
        ...


def draw_in_blocks(distribution: Sliced, size: int, rng: np.random.Generator) -> Batch:
    """`size` interpretations, each block of them under a key of its own."""
    if size < 0:
        raise HornbookError(f"cannot draw {size} interpretations")
    return draw_keyed(distribution, keys_from(rng, size), size)


def draw_keyed(distribution: Sliced, keys: Words, size: int) -> Batch:
    """What the keys decide, one block after another, so that the work stays in the cache."""
    true, false = (
        np.empty((len(distribution.vocabulary), bits.words_for(size)), np.uint64) for _ in range(2)
    )
    for stream in block_streams(keys, size):
        at = slice(stream.first, stream.first + stream.count)
        distribution.literals.mirrored_into((true[:, at], false[:, at]), *distribution.drawn_rows(stream))
    return _batch(distribution.vocabulary, true, false, size)


def draw_on(device: str, distribution: Distribution, keys: Words, size: int) -> Batch:
    """What the keys decide, all blocks at once on a device."""
    if not isinstance(distribution, Sliced):
        raise _only_here(distribution)
    rows = distribution.literals.mirrored(*distribution.drawn_rows(Stream(keys, size, device=device)))
    return _batch(distribution.vocabulary, *rows, size)


def rows_of(distribution: Distribution, literals: Literals, stream: Stream) -> tuple[Words, Words]:
    """The true and the false rows of given variables, as a distribution inside another draws them."""
    if isinstance(distribution, Sliced):
        return distribution.literals.translated(*distribution.drawn_rows(stream), literals)
    if stream.device is not None:
        raise _only_here(distribution)
    batch = distribution.draw(stream.size, stream.generator())
    return batch.true[literals.drawn], batch.false[literals.drawn]


def _batch(vocabulary: Vocabulary, true: Words, false: Words, size: int) -> Batch:
    for rows in (true, false):
        bits.clear_spare(rows, size)
    return Batch(vocabulary, true, false, size)


def _only_here(distribution: Distribution) -> HornbookError:
    return HornbookError(
        f"a {type(distribution).__name__} is drawn by the CPU only: a device needs its `literals` "
        "and `drawn_rows`"
    )


def check_share(name: str, share: float) -> None:
    """Refuse a share outside [0, 1]."""
    if not 0 <= share <= 1:
        raise HornbookError(f"{name} is a share between 0 and 1; got {share}")


def percent(share: float) -> str:
    """A share as reports write it."""
    return f"{100 * share:.3g} %"
