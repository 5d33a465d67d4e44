"""Delta debugging: the few items without which a property is lost, asked about in batches.

A search lists candidates, each the items that would be left, and is told which of them keep the property.
Searches run side by side, so that what answers is asked few times about much.

References
----------
A. Zeller, R. Hildebrandt. Simplifying and isolating failure-inducing input. IEEE Transactions on
Software Engineering 28, 2002.

"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hornbook.deadline import NO_DEADLINE, Deadline

T = TypeVar("T")

STARTS_AT_A_TIME = 4
"""Items at which the runs begin that are asked about at a time."""


class DeltaSearch(Protocol[T]):
    """Searches items that a property needs."""

    items: list[T]

    def list_candidates(self) -> list[list[T]]:
        """The items that each candidate would leave; none once the search has ended."""

    def choose(self, holds: NDArray[np.bool_]) -> None:
        """Go on from a candidate that keeps the property, if there is one."""


class PartSearch(Generic[T]):
    """Leaves out parts of the items, halves first, then ever smaller ones, down to single items.

    Examples
    --------
    >>> (left,) = minimise([PartSearch(range(10))], lambda lists: [{3, 7} <= set(own) for _, own in lists])
    >>> left
    [3, 7]

    """

    def __init__(self, items: Iterable[T]) -> None:
        self.items = list(items)
        self.size = len(self.items)

    def list_candidates(self) -> list[list[T]]:
        """The items without each part."""
        starts = range(0, len(self.items), self.size) if self.size else ()
        return [self.items[:start] + self.items[start + self.size :] for start in starts]

    def choose(self, holds: NDArray[np.bool_]) -> None:
        """Leave out the first part that can go; if none can, parts are half as large from now on."""
        if np.any(holds):
            self.items = self.list_candidates()[int(np.argmax(holds))]
        else:
            self.size //= 2


class RunSearch(Generic[T]):
    """Leaves out the longest run of items that can go, keeps the next item, and begins anew after it.

    Runs that begin at several items are asked about at a time: most items are kept.

    Examples
    --------
    >>> (left,) = minimise([RunSearch(range(10))], lambda lists: [{3, 7} <= set(own) for _, own in lists])
    >>> left
    [3, 7]

    """

    def __init__(self, items: Iterable[T]) -> None:
        self.items = list(items)
        self.start = 0

    def _list_runs(self) -> list[tuple[int, int]]:
        """The next runs, each by its first item and the one after its last."""
        count = len(self.items)
        starts = range(self.start, min(self.start + STARTS_AT_A_TIME, count))
        return [(start, end) for start in starts for end in range(start + 1, count + 1)]

    def list_candidates(self) -> list[list[T]]:
        """The items without each of the next runs."""
        return [self.items[:start] + self.items[end:] for start, end in self._list_runs()]

    def choose(self, holds: NDArray[np.bool_]) -> None:
        """Leave out the longest run that can go, of those that begin first."""
        going = [run for run, can_go in zip(self._list_runs(), holds, strict=True) if can_go]
        if not going:
            self.start += STARTS_AT_A_TIME
            return
        start = going[0][0]
        end = max(end for first, end in going if first == start)
        del self.items[start:end]
        self.start = start + 1


def minimise(
    searches: Sequence[DeltaSearch[T]],
    holds: Callable[[list[tuple[int, list[T]]]], Sequence[bool] | NDArray[np.bool_]],
    deadline: Deadline = NO_DEADLINE,
) -> list[list[T]]:
    """Run searches side by side; the items that each of them leaves.

    Parameters
    ----------
    searches
        The searches; all items of each have the property.
    holds
        For each number of a search and list of its items, whether these keep the property.
    deadline
        When to stop.

    """
    while not deadline.passed:
        lists = [(number, own) for number, each in enumerate(searches) for own in each.list_candidates()]
        if not lists:
            break
        numbers = np.array([number for number, _ in lists])
        answers = np.asarray(holds(lists), np.bool_)
        for number in np.unique(numbers).tolist():
            searches[number].choose(answers[numbers == number])
    return [search.items for search in searches]


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
