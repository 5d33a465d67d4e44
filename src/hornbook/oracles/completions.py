"""What a model that takes complete inputs says about unknown values: its answers on completions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions import Distribution
from hornbook.distributions.literals import Groups
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.errors import HornbookError
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.adapters.scores import Floats
from hornbook.oracles.fillings import Fillings
from hornbook.queries import Membership

BLOCK = 1 << 11
"""Interpretations completed at a time."""

ROUND = 16
"""Completions of each that are asked about at most at a time: with `BLOCK` it bounds the memory."""


class Completions:
    """Accepts an interpretation if the teacher accepts some completion of it, among so many tried.

    Accepted is certain: there is a completion that the teacher accepts. Rejected says that none
    of `draws` completions was accepted, so a teacher that accepts few of them may be misjudged,
    always in this direction. Without unknown values the answer is the teacher's own.

    The same interpretation is always completed in the same ways, so an answer depends on the
    interpretation and the generator's seed alone. Completions are asked about in batches, and
    no more about an interpretation once one was accepted.

    Parameters
    ----------
    member
        The teacher, who need not understand unknown values.
    vocabulary
        The variables.
    draws
        How many completions are tried: the one that makes every unknown variable false, and
        then random ones, see `Fillings`.
    margin
        The teacher's margins, negative where it rejects, if completions are to have them too.
    rng
        The source of the completions.
    groups
        Sets of variables of which at most one is true.
    rows
        A distribution whose rows fill in the unknown values; random rows by default.
    leave
        Variables whose unknown values the teacher does understand: the `heads` of a classifier.

    Examples
    --------
    >>> vocabulary = Vocabulary(["horse", "wings", "pegasus"])
    >>> def member(batch):  # pegasus, if and only if a horse with wings
    ...     horse, wings, pegasus = batch.to_array().T == 1
    ...     return pegasus == (horse & wings)
    >>> some = Completions(member, vocabulary, draws=8, rng=np.random.default_rng(0))
    >>> some(Batch.from_array([[1, np.nan, 1], [0, np.nan, 1]], vocabulary))
    array([ True, False])
    >>> print(some.describe())
    accepted: some completion is; rejected: none of 8 completions is

    """

    def __init__(
        self,
        member: Membership,
        vocabulary: Vocabulary,
        draws: int = 32,
        margin: Callable[[Batch], Floats] | None = None,
        *,
        rng: np.random.Generator,
        groups: Groups = (),
        rows: Distribution | None = None,
        leave: Collection[int] = (),
    ) -> None:
        self.member = member
        self.draws = draws
        self.margins = margin
        self.fillings = Fillings(vocabulary, rng, groups=groups, rows=rows, leave=leave)
        if not 1 <= draws <= len(self.fillings):
            raise HornbookError(
                f"completions are tried 1 to {len(self.fillings)} times an interpretation; got draws={draws}"
            )

    def __call__(self, batch: Batch) -> Bools:
        """Whether some completion of each interpretation is accepted."""
        return np.concatenate([np.zeros(0, np.bool_), *map(self._some, batch.blocks(BLOCK))])

    def margin(self, batch: Batch) -> Floats:
        """The largest margin among the completions; all of them are asked about."""
        if self.margins is None:
            raise HornbookError("these completions only decide; for margins give Completions the teacher's")
        return np.concatenate([np.zeros(0, np.float32), *map(self._largest, batch.blocks(BLOCK))])

    def describe(self) -> str:
        """What an answer means."""
        return f"accepted: some completion is; rejected: none of {self.draws} completions is"

    def _some(self, batch: Batch) -> Bools:
        holes = self.fillings.of(batch)
        accepted = np.zeros(len(batch), np.bool_)
        pending = np.arange(len(batch))
        for numbers in rounds(self.draws):
            answers = self.member(holes.filled(*every(pending, numbers)))
            accepted[pending] = answers.reshape(len(pending), -1).any(axis=1)
            pending = np.flatnonzero(~accepted & holes.any)
            if not len(pending):
                break
        return accepted

    def _largest(self, batch: Batch) -> Floats:
        assert self.margins is not None
        holes = self.fillings.of(batch)
        largest = np.full(len(batch), -np.inf, np.float32)
        for numbers in rounds(self.draws):
            asked = np.flatnonzero(holes.any | (numbers[0] == 0))
            margins = self.margins(holes.filled(*every(asked, numbers)))
            best = margins.reshape(len(asked), len(numbers)).max(axis=1)
            largest[asked] = np.maximum(largest[asked], best)
        return largest


def rounds(draws: int) -> Iterator[NDArray[np.intp]]:
    """The numbers below `draws`: one, one, two, four and so on at a time, up to `ROUND`.

    Most interpretations that are accepted at all are accepted early, so few are asked for first.
    """
    start = 0
    while start < draws:
        size = min(max(start, 1), ROUND)  # as many as were asked for so far
        yield np.arange(start, min(start + size, draws))
        start += size


def every(items: NDArray[np.intp], numbers: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Each item with each number, item by item."""
    return np.repeat(items, len(numbers)), np.tile(numbers, len(items))
