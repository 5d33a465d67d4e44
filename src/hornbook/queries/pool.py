"""A pool of labelled interpretations, on which candidate rules are evaluated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import Batch, Bools, HornTheory, Interpretation, Vocabulary, Words, bits, chaining
from hornbook.queries.distributions import Groups
from hornbook.queries.items import LabelledItems

POOL_ITEMS = 1 << 17
"""Items of each label that a pool remembers."""


ITEMS_AT_ONCE = 1 << 15
"""Number of items that are transposed and written at a time, so that they stay in the cache."""


class Pool:
    """Rejected and accepted items, and which of them a hypothesis leaves open.

    Open among the rejected are those that the hypothesis accepts and that were not given up;
    open among the accepted are those that it accepts too, so that a new rule could wrong them.
    Of the variables of a group at most one is true, in items that are made to meet a term too.
    """

    def __init__(self, vocabulary: Vocabulary, groups: Groups = (), limit: int = POOL_ITEMS) -> None:
        self.vocabulary = vocabulary
        self.groups = groups
        self.rejected = LabelledItems(vocabulary, limit)
        self.accepted = LabelledItems(vocabulary, limit)
        self._given_up: list[NDArray[np.intp]] = []
        self._judged: HornTheory | None = None

    def add(self, batch: Batch, accepted: Bools) -> None:
        """Remember labelled items; over the limit of a label, in place of its oldest."""
        self._judged = None
        sides = (self.rejected, ~accepted), (self.accepted, accepted)
        for side, chosen in sides:
            side.make_room(int(chosen.sum()))
        for start in range(0, len(batch), ITEMS_AT_ONCE):
            at = slice(start, start + ITEMS_AT_ONCE)
            part = batch[at]
            true, false = (bits.to_items(words)[: len(part)] for words in (part.true, part.false))
            for side, chosen in sides:
                side.write(true[chosen[at]], false[chosen[at]])

    def judge(self, hypothesis: HornTheory) -> None:
        """Recompute which items are open under a hypothesis."""
        if hypothesis is self._judged:
            return
        self._judged = hypothesis
        self.rejected.set_closed(~hypothesis.satisfied_by(self.rejected.batch))
        self.accepted.set_closed(~hypothesis.satisfied_by(self.accepted.batch))
        for term in self._given_up:
            self.rejected.open = self.rejected.open & ~self.rejected.meeting(term)

    def close_term(self, term: NDArray[np.intp]) -> None:
        """Close the items that meet a term, because a rule will reject them."""
        self._judged = None
        for side in (self.rejected, self.accepted):
            side.open = side.open & ~side.meeting(term)

    def reopen(self, rejected: Words, accepted: Words) -> None:
        """Open these items and close all others."""
        self._judged = None
        for side, words in ((self.rejected, rejected), (self.accepted, accepted)):
            bits.clear_spare(words, len(side.batch))
            side.open = words

    def give_up(self, item: Interpretation) -> None:
        """Never return this item, or a more specific one, as a counterexample again."""
        self._judged = None
        self._given_up.append(term_of(item, len(self.vocabulary)))

    def missed_positions(self) -> NDArray[np.intp]:
        """The positions of open rejected items."""
        return np.flatnonzero(bits.flat(self.rejected.open, len(self.rejected.batch)))

    def accepted_nearest(self, term: NDArray[np.intp], size: int) -> Batch:
        """The accepted items that lack the fewest literals of a term, changed to meet it."""
        batch, rows = self.accepted.batch, self.accepted.rows[term]
        lacking = (~bits.unpack_rows(rows, len(batch))).sum(axis=0)
        nearest = np.argsort(lacking, kind="stable")[:size]
        return impose_term(batch[nearest], term, self.groups)

    def first_missed(self, hypothesis: HornTheory) -> Interpretation | None:
        """An item that the teacher rejects and the hypothesis accepts."""
        self.judge(hypothesis)
        missed = self.missed_positions()
        return self.rejected.batch[int(missed[0])] if len(missed) else None


def term_of(item: Interpretation, width: int) -> NDArray[np.intp]:
    """The term of all known values of an item."""
    return np.array([*sorted(item.true), *(width + v for v in sorted(item.false))], np.intp)


def interpretation_of(term: NDArray[np.intp], width: int) -> Interpretation:
    """The interpretation in which exactly the literals of a term are known."""
    true, false = term[term < width], term[term >= width] - width
    return Interpretation(frozenset(true.tolist()), frozenset(false.tolist()))


def impose_term(batch: Batch, term: NDArray[np.intp], groups: Groups = ()) -> Batch:
    """Change items to meet a term; the other variables of its groups become false."""
    vocabulary, width = batch.vocabulary, len(batch.vocabulary)
    true, false = batch.true.copy(), batch.false.copy()
    every = np.full(true.shape[1], chaining.ALWAYS)
    bits.clear_spare(every, len(batch))
    for literal in term.tolist():
        v, holds = literal % width, literal < width
        for variable, value in ((v, holds), (vocabulary.dual(v), not holds)):
            if variable is not None:
                true[variable] = every if value else 0
                false[variable] = 0 if value else every
    demanded = set(term.tolist())
    for v in (v for group in groups if demanded & set(group) for v in set(group) - demanded):
        moved = true[v].copy()
        true[v], false[v] = 0, false[v] | moved
        if (dual := vocabulary.dual(v)) is not None:
            true[dual], false[dual] = false[v], 0
    return Batch(vocabulary, true, false, len(batch))
