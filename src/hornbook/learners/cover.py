"""Rules for both labels of a classifier, by covering labelled samples with terms.

The worth of a rule set is counted over samples: what it derives rightly or wrongly, and what it
leaves to the default. Rules are added one by one, each the term whose addition is worth most
among those that a search finds. At some sizes on the way, and when there is nothing to add,
every rule is then given up in turn for a better one, if there is one beside the others, or for none
if the others do without it. Where there are many samples terms are searched for on a part of them,
another one each time, and judged by all: so rules are not fitted to the part, and more samples
cost little.

References
----------
W. Cohen. Fast Effective Rule Induction. ICML 1995 (replacing rules beside the others).

"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hornbook.learners.beam import Stakes, Term, offered
from hornbook.learners.pool import count_bits, true_bits_by_item
from hornbook.logic import Batch, Bools, Words, bits
from hornbook.logic.bits import WORD

Found = tuple[Term, bool]
"""A body, and the label that follows from it."""

SIZES = (2, 4, 8, 15, 27, 48, 80, 130, 200)
"""Numbers of rules at which every rule is tried to be replaced."""

PART = 1 << 17
"""Samples that terms are searched for on, at least, if there are so many."""


@dataclass(frozen=True)
class Worth:
    """What an answer is worth, by whether it is derived, and right.

    An answer that the default gives is worth 1 if it is right and nothing otherwise, like no
    answer at all.

    Parameters
    ----------
    default
        The label of what rules leave open, or None.
    right, wrong
        The worth of a derived answer.
    literal
        The cost of reading a literal, as a share of all samples.

    """

    default: bool | None
    right: float
    wrong: float
    literal: float = 0.0

    def open(self, label: bool) -> float:
        """The worth of a sample with this label that rules leave open."""
        return float(self.default == label)

    def changes(self, label: bool, head: bool, contested: bool) -> float:
        """What a rule for `head` adds that is the first for it to fire on a sample with this label.

        `contested` says that a rule for the other label fires there too: two rules that
        contradict each other leave a sample open.
        """
        before = self._answered(label, not head) if contested else self.open(label)
        after = self.open(label) if contested else self._answered(label, head)
        return after - before

    def _answered(self, label: bool, head: bool) -> float:
        return self.right if label == head else self.wrong


class Cover:
    """Rules that were found so far, and the samples that they are weighed by."""

    def __init__(self, batch: Batch, labels: Bools, worth: Worth) -> None:
        self.rows = batch.true
        self.items = true_bits_by_item(batch)
        self.size = len(batch)
        self.labelled = {head: bits.pack_rows((labels == head)[None, :])[0] for head in (False, True)}
        self.worth = worth
        self.rules: list[Found] = []
        self.fires: list[Words] = []
        self.turn = 0

    def fired(self, head: bool, but: int | None = None) -> Words:
        """The samples on which a rule for this label fires, one of them aside."""
        words = np.zeros(self.rows.shape[1], np.uint64)
        for position, ((_, own), fires) in enumerate(zip(self.rules, self.fires, strict=True)):
            if own == head and position != but:
                words |= fires
        return words

    def changed(self, head: bool, but: int | None = None) -> list[tuple[Words, float]]:
        """Where a new rule for a label would change something, by what it is worth a sample."""
        own, other = self.fired(head, but), self.fired(not head, but)
        parts = []
        for label, words in self.labelled.items():
            for contested in (False, True):
                where = words & ~own & (other if contested else ~other)
                worth = self.worth.changes(label, head, contested)
                if worth and where.any():
                    parts.append((where, worth))
        return parts

    def cover(self, term: Term) -> Words:
        """The samples that meet a term."""
        words: Words = np.bitwise_and.reduce(self.rows[sorted(term)], axis=0)
        return words

    def gain(self, found: Found, but: int | None = None) -> float:
        """What a rule adds to the others."""
        term, head = found
        return self._gain(term, self.changed(head, but))

    def best(self, but: int | None = None) -> tuple[float, Found | None]:
        """The rule that adds most to the others, one of them aside, and what it adds."""
        part = self._part()
        best: tuple[float, Found | None] = (0.0, None)
        for head in (False, True):
            changed = self.changed(head, but)
            replaced, own = self.rules[but] if but is not None else (frozenset(), head)
            near = replaced if own == head else frozenset()
            literal = self.worth.literal * WORD * (part.stop - part.start)
            for term in offered(self._stakes(changed, part), literal, near):
                gain = self._gain(term, changed)
                if gain > best[0]:
                    best = gain, (term, head)
        return best

    def add(self, found: Found) -> None:
        """One more rule; the next search is on other samples."""
        self.turn += 1
        self.rules.append(found)
        self.fires.append(self.cover(found[0]))

    def replace(self, position: int, found: Found) -> None:
        """Another rule in the place of one."""
        self.rules[position] = found
        self.fires[position] = self.cover(found[0])

    def sweep(self) -> bool:
        """Try to give up every rule in turn for a better one, or for none; whether any was."""
        self.turn += 1
        before, kept = list(self.rules), 0
        for own in before:
            gain, found = self.best(kept)
            if found is None and self.gain(own, kept) <= 0:
                del self.rules[kept], self.fires[kept]
                continue
            if found is not None and gain > self.gain(own, kept):
                self.replace(kept, found)
            kept += 1
        return self.rules != before

    def _gain(self, term: Term, changed: list[tuple[Words, float]]) -> float:
        fires = self.cover(term)
        total = sum(worth * int(count_bits(fires & where)) for where, worth in changed)
        return total - self.worth.literal * self.size * len(term)

    def _part(self) -> slice:
        """The words of the samples whose turn it is to be searched on."""
        words, parts = self.rows.shape[1], max(1, self.size // PART)
        at = self.turn % parts
        return slice(words * at // parts, words * (at + 1) // parts)

    def _stakes(self, changed: list[tuple[Words, float]], part: slice) -> Stakes:
        items = self.items[WORD * part.start : WORD * part.stop]
        samples = tuple(items[bits.flat(where[part], len(items))] for where, _ in changed)
        return Stakes(samples, np.array([worth for _, worth in changed]), len(self.rows))


def covers(
    batch: Batch, labels: Bools, worth: Worth, max_rules: int, max_literals: int, sweeps: int = 1
) -> Iterator[list[Found]]:
    """Rule sets for labelled rows, the smallest first; the last is within the reader's budget.

    Parameters
    ----------
    batch, labels
        Rows, and whether the model gives each the label.
    worth
        What answers are worth.
    max_rules, max_literals
        How much a reader is willing to read.
    sweeps
        How often every rule may be replaced when there is nothing to add.

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> from hornbook.logic import Vocabulary
    >>> symptoms = Random(Vocabulary.with_duals(["fever", "cough", "tired"]), missing=0.0)
    >>> batch = symptoms.draw(2000, np.random.default_rng(0))
    >>> ill = batch.to_array()[:, :2].max(axis=1) == 1
    >>> *_, last = covers(batch, ill, Worth(None, 1, -4), max_rules=5, max_literals=20)
    >>> [(batch.vocabulary.named(body), head) for body, head in last]
    [(('cough',), True), (('not_fever', 'not_cough'), False), (('fever',), True)]

    """
    cover = Cover(batch, labels, worth)
    while True:
        _, found = cover.best() if len(cover.rules) < max_rules else (0.0, None)
        if found is not None:
            cover.add(found)
            if len(cover.rules) in SIZES:
                cover.sweep()
        elif sweeps and cover.sweep():
            sweeps -= 1
        else:
            break
        if sum(len(body) for body, _ in cover.rules) > max_literals:
            break
        yield list(cover.rules)
