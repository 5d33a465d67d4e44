"""Delta debugging: the few items without which a property is lost, asked about in batches.

Lists are shortened side by side, so that what answers is asked few times about much.

References
----------
A. Zeller, R. Hildebrandt. Simplifying and isolating failure-inducing input. IEEE Transactions on
Software Engineering 28, 2002.

"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornbook.deadline import NO_DEADLINE, Deadline

T = TypeVar("T")


def minimise(
    lists: Sequence[Iterable[T]],
    holds: Callable[[list[tuple[int, list[T]]]], Sequence[bool] | NDArray[np.bool_]],
    deadline: Deadline = NO_DEADLINE,
) -> list[list[T]]:
    """Leave out parts of lists side by side, halves first, then ever smaller ones, down to single items.

    Parameters
    ----------
    lists
        The items of each list, all of which together have the property.
    holds
        For each number of a list and some of its items, whether these keep the property.
    deadline
        When to stop.

    Examples
    --------
    >>> minimise([range(10)], lambda asked: [{3, 7} <= set(own) for _, own in asked])
    [[3, 7]]

    """
    left = [list(own) for own in lists]
    sizes = [len(own) for own in left]
    while not deadline.passed:
        asked = [
            (number, own[:start] + own[start + size :])
            for number, (own, size) in enumerate(zip(left, sizes, strict=True))
            for start in (range(0, len(own), size) if size else ())
        ]
        if not asked:
            break
        kept: dict[int, list[T]] = {}
        for (number, own), keeps in zip(asked, holds(asked), strict=True):
            if keeps:
                kept.setdefault(number, own)
        for number in {number for number, _ in asked}:
            if number in kept:
                left[number] = kept[number]
            else:
                sizes[number] //= 2
    return left


Provability: TypeAlias = Literal["proved", "refuted", "undecided"]


def drop_provable(
    body: frozenset[T],
    list_spare: Callable[[frozenset[T], list[T]], list[T]],
    prove: Callable[[frozenset[T]], tuple[Provability, frozenset[T]]],
    deadline: Deadline = NO_DEADLINE,
) -> tuple[frozenset[T], list[T]]:
    """Drop the items of a proved body that provably can go; what is left, and what remained undecided.

    One proof drops all spare items, for the proofs of the steps on the way would take as long each. If it
    stays undecided, half as many are to go.

    Parameters
    ----------
    body
        The items.
    list_spare
        For a proved body and the undecided items, items that can go together as far as is known, in order.
    prove
        Whether a smaller body is proved, and if so those of its items that the proof needs. What refutes
        it is known to `list_spare` from then on.
    deadline
        When to stop.

    """
    undecided: list[T] = []
    size = len(body)
    spare = list_spare(body, undecided)
    while spare and not deadline.passed:
        group = spare[:size]
        status, needed = prove(body - {*group})
        if status == "proved":
            body, spare = needed, [item for item in spare if item in needed]
            if spare:
                continue
        elif status == "undecided" and len(group) > 1:
            size = len(group) // 2
            continue
        elif status == "undecided":
            undecided += group
        spare = list_spare(body, undecided)
    return body, [item for item in undecided + spare if item in body]
