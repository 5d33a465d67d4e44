"""What every distribution over partial interpretations offers, and how draws are made in blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from hornbook.distributions.literals import Literals
from hornbook.logic import bits
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Words
from hornbook.logic.errors import HornbookError
from hornbook.logic.vocabulary import Vocabulary

BLOCK_WORDS = 512
"""Words of each row drawn at a time, so that the work stays in the cache."""


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


def draw_in_blocks(
    drawn_rows: Callable[[int, np.random.Generator], tuple[Words, Words]],
    literals: Literals,
    vocabulary: Vocabulary,
    size: int,
    rng: np.random.Generator,
) -> Batch:
    """A batch filled block by block.

    `drawn_rows(count, rng)` makes the rows of the drawn variables for 64·count items.
    """
    if size < 0:
        raise HornbookError(f"cannot draw {size} interpretations")
    total = bits.words_for(size)
    true, false = (np.empty((len(vocabulary), total), np.uint64) for _ in range(2))
    for start in range(0, total, BLOCK_WORDS):
        block = slice(start, min(start + BLOCK_WORDS, total))
        true[:, block], false[:, block] = literals.mirrored(*drawn_rows(block.stop - start, rng))
    for rows in (true, false):
        bits.clear_spare(rows, size)
    return Batch(vocabulary, true, false, size)


def check_share(name: str, share: float) -> None:
    """Refuse a share outside [0, 1]."""
    if not 0 <= share <= 1:
        raise HornbookError(f"{name} is a share between 0 and 1; got {share}")


def percent(share: float) -> str:
    """A share as reports write it."""
    return f"{100 * share:.3g} %"
