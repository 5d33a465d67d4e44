"""Rules for both labels of a classifier, by covering labelled samples with terms.

The worth of a rule set is counted over samples: what it derives rightly or wrongly, and what it
leaves to the default. Rules are added one by one, each the term whose addition is worth most
among those that a beam search finds. At some sizes on the way, and when there is nothing to add,
every rule is then given up in turn for a better one, if there is one beside the others.

References
----------
P. Clark, R. Boswell. Rule Induction with CN2: Some Recent Improvements. EWSL 1991 (beam search).
W. Cohen. Fast Effective Rule Induction. ICML 1995 (replacing rules beside the others).

"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornbook.learners.pool import count
from hornbook.logic import bits
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools, Words
from hornbook.logic.chaining import ALWAYS

Term = frozenset[int]

Found = tuple[Term, bool]
"""A body, and the label that follows from it."""

SIZES = (2, 4, 8, 15, 27, 48, 80, 130, 200)
"""Numbers of rules at which every rule is tried to be replaced."""

BEAM, DEPTH = 4, 12
"""Terms that are grown side by side, and their greatest length."""


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
        self.size = len(batch)
        self.labelled = {head: bits.pack_rows((labels == head)[None, :])[0] for head in (False, True)}
        self.worth = worth
        self.rules: list[Found] = []
        self.fires: list[Words] = []

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
        fires = self.cover(term)
        total = sum(worth * int(count(fires & where)) for where, worth in self.changed(head, but))
        return total - self.worth.literal * self.size * len(term)

    def best(self, but: int | None = None) -> tuple[float, Found | None]:
        """The rule that adds most to the others, one of them aside, and what it adds."""
        best: tuple[float, Found | None] = (0.0, None)
        for head in (False, True):
            gain, term = grown(self.rows, self.changed(head, but), self.worth.literal * self.size, best[0])
            if term is not None:
                best = gain, (term, head)
        return best

    def add(self, found: Found) -> None:
        self.rules.append(found)
        self.fires.append(self.cover(found[0]))

    def replace(self, position: int, found: Found) -> None:
        self.rules[position] = found
        self.fires[position] = self.cover(found[0])

    def sweep(self) -> bool:
        """Try to give up every rule in turn for a better one; whether any was."""
        improved = False
        for position, own in enumerate(self.rules):
            gain, found = self.best(position)
            if found is not None and found != own and gain > self.gain(own, position):
                self.replace(position, found)
                improved = True
        return improved


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
    >>> from hornbook.logic.vocabulary import Vocabulary
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


def grown(
    rows: Words, parts: list[tuple[Words, float]], cost: float, least: float = 0.0
) -> tuple[float, Term | None]:
    """The term that is worth most on the samples it meets, if that is more than `least`.

    Parameters
    ----------
    rows
        For each variable, the samples in which it is true.
    parts
        Sets of samples, and what it is worth to meet one of them.
    cost
        What a literal costs.
    least
        What a term has to be worth more than.

    """
    weights = np.array([worth for _, worth in parts])
    if not (weights > 0).any():
        return least, None
    totals = np.array([int(count(words)) for words, _ in parts])
    helped, harmed = weights.clip(min=0), weights.clip(max=0)
    # growing terms are ranked as if the empty one were worth nothing: what is worth most now leads nowhere
    lenient = min(1.0, float(totals @ helped) / max(-float(totals @ harmed), 1e-9))
    best: tuple[float, Term | None] = (least, None)
    beam: list[tuple[Term, Words]] = [(frozenset(), np.full(rows.shape[1], ALWAYS))]
    seen: set[Term] = set()
    for length in range(1, DEPTH + 1):
        candidates: list[tuple[float, Term, Words, int]] = []
        for term, meets in beam:
            counts = np.stack([count(rows & (meets & words)) for words, _ in parts])
            benefit, harm = helped @ counts, harmed @ counts
            gain = benefit + harm - cost * length
            top = int(gain.argmax())
            if gain[top] > best[0] and top not in term:
                best = float(gain[top]), term | {top}
            rank: NDArray[np.float64] = benefit + lenient * harm
            # more literals only lower the benefit
            hopeful = np.flatnonzero(benefit - cost * (length + 1) > best[0])
            ranked = hopeful[np.argsort(-rank[hopeful], kind="stable")][: 2 * BEAM].tolist()
            candidates += [(-float(rank[v]), term | {v}, meets, v) for v in ranked if v not in term]
        candidates.sort(key=lambda candidate: candidate[0])
        beam = []
        for _, term, meets, v in candidates:
            if term not in seen and len(beam) < BEAM:
                seen.add(term)
                beam.append((term, meets & rows[v]))
        if not beam:
            break
    return best
