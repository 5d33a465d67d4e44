"""Searches side by side: each is a generator that asks, and what they ask at one time is one batch."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornbook.logic.bits import Bools

Found = TypeVar("Found")
Margins: TypeAlias = NDArray[np.floating]
Ask: TypeAlias = Callable[[Bools], Margins]
"""Asks about terms, the rows of a (k, 2n) matrix: negative where the teacher rejects."""

Asking: TypeAlias = Generator[Bools, Margins, Found]
"""A search that yields terms, is sent their margins, and returns what it found."""


def together(searches: Sequence[Asking[Found]], ask: Ask) -> list[Found]:
    """What each search finds.

    Examples
    --------
    >>> def least_rejected(size):
    ...     margins = yield np.tri(size, dtype=np.bool_)
    ...     return int(np.argmax(margins < 0))
    >>> together([least_rejected(5), least_rejected(5)], lambda terms: 2.5 - terms.sum(axis=1))
    [2, 2]

    """
    found: dict[int, Found] = {}
    answers: dict[int, Margins | None] = dict.fromkeys(range(len(searches)))
    while answers:
        asked: dict[int, Bools] = {}
        for at, answer in answers.items():
            try:
                asked[at] = next(searches[at]) if answer is None else searches[at].send(answer)
            except StopIteration as end:
                found[at] = end.value
        if not asked:
            break
        margins = ask(np.concatenate(list(asked.values())))
        ends = np.cumsum([len(terms) for terms in asked.values()])
        answers = dict(zip(asked, np.split(margins, ends[:-1]), strict=True))
    return [found[at] for at in range(len(searches))]
