"""How often a teacher's answers about unknown values contradict its answers about known ones.

A formula rejects a partial interpretation exactly when it rejects every completion of it. The
answers of a network about ? need not come from any formula; this measures how far they do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Interpretation
from hornbook.queries.completions import COMPLETIONS_BLOCK, MAX_ROUND, CompletionTable, cross_indices
from hornbook.queries.distributions import Distribution
from hornbook.queries.literals import Groups
from hornbook.queries.protocol import Membership
from hornbook.statistics import Share

MAX_WITNESSES = 5
"""Maximum number of witnesses of each kind."""


@dataclass(frozen=True)
class Witness:
    """A partial interpretation and a completion of it that the teacher answers differently."""

    partial: Interpretation
    completion: Interpretation


@dataclass(frozen=True)
class CoherenceReport:
    """The measured rates of self-contradiction, with witnesses.

    `rejected` is the share of rejected partial interpretations with an accepted completion:
    each is a contradiction. `accepted` is the share of accepted ones without an accepted
    completion among those tried: each is one only if there is no other.
    """

    rejected: Share
    accepted: Share
    rejected_witnesses: tuple[Witness, ...]
    accepted_witnesses: tuple[Witness, ...]
    completions: int
    distribution: str

    @property
    def rate(self) -> Share:
        """The share of all partial interpretations, of either kind."""
        return Share.of(
            self.rejected.hits + self.accepted.hits,
            self.rejected.size + self.accepted.size,
            self.rejected.confidence,
        )

    def __str__(self) -> str:
        return (
            f"rejected although a completion is accepted: {self.rejected} of the rejected\n"
            f"accepted although none of {self.completions} completions is: {self.accepted} of the accepted\n"
            f"measured on: {self.distribution}"
        )


def measure_coherence(
    member: Membership,
    distribution: Distribution,
    size: int = 10_000,
    completions: int = 32,
    *,
    rng: np.random.Generator,
    groups: Groups = (),
) -> CoherenceReport:
    r"""Measure how often answers about partial interpretations contradict those about completions.

    Parameters
    ----------
    member
        The teacher, who answers about unknown values itself.
    distribution
        Where the interpretations come from; those without unknown values are not counted.
    size
        How many are drawn.
    completions
        How many completions of each are tried.
    rng
        The source of randomness.
    groups
        Sets of variables of which at most one is true.

    Examples
    --------
    >>> from hornbook.logic import HornTheory
    >>> from hornbook.queries.distributions import Random
    >>> theory = HornTheory.parse("horse & wings -> pegasus \n pegasus -> myth")
    >>> drawn, rng = Random(theory.vocabulary), np.random.default_rng(0)
    >>> print(measure_coherence(theory.satisfied_by, drawn, 1000, rng=rng))  # doctest: +ELLIPSIS
    rejected although a completion is accepted: 0.00 % (95 % interval 0.00 % to ... %) of the rejected
    accepted although none of 32 completions is: 0.00 % (95 % interval 0.00 % to ... %) of the accepted
    measured on: random interpretations of 4 variables, each value unknown with probability 33.3 %

    """
    if completions < 1:
        raise HornbookError(f"coherence is about completions: at least one is tried; got {completions}")
    table = CompletionTable(distribution.vocabulary, rng, groups=groups)
    counts = np.zeros((2, 2), np.intp)  # by the answer to the partial one, and whether it is contradicted
    witnesses: tuple[list[Witness], list[Witness]] = ([], [])
    for start in range(0, size, COMPLETIONS_BLOCK):
        batch = distribution.draw(min(COMPLETIONS_BLOCK, size - start), rng)
        batch = batch[table.prepare(batch).any]
        answers, contradicted, numbers = _contradictions(member, table, batch, completions)
        np.add.at(counts, (answers.astype(np.intp), contradicted.astype(np.intp)), 1)
        for answer in (False, True):
            room = MAX_WITNESSES - len(witnesses[answer])
            items = np.flatnonzero(contradicted & (answers == answer))[:room]
            filled = table.prepare(batch[items]).complete(np.arange(len(items)), numbers[items])
            witnesses[answer].extend(map(Witness, batch[items], filled))
    rejected, accepted = (Share.of(row[1], row.sum()) for row in counts)
    return CoherenceReport(
        rejected, accepted, tuple(witnesses[0]), tuple(witnesses[1]), completions, distribution.describe()
    )


def _contradictions(
    member: Membership, table: CompletionTable, batch: Batch, completions: int
) -> tuple[Bools, Bools, NDArray[np.intp]]:
    """The answers, whether completions contradict them, and the number of one that does; each (items,)."""
    answers = member(batch)
    cells = table.prepare(batch)
    accepted = np.zeros(len(batch), np.bool_)
    numbers = np.zeros(len(batch), np.intp)
    for first in range(0, completions, MAX_ROUND):
        tried = np.arange(first, min(first + MAX_ROUND, completions))
        found = member(cells.complete(*cross_indices(np.arange(len(batch)), tried))).reshape(
            len(batch), len(tried)
        )
        numbers = np.where(~accepted & found.any(axis=1), first + found.argmax(axis=1), numbers)
        accepted |= found.any(axis=1)
    return answers, accepted != answers, numbers
