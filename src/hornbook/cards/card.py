"""Cards: points for what is true, points for what is unknown, and a threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornbook.logic import bits
from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools, Words
from hornbook.logic.errors import HornbookError
from hornbook.logic.vocabulary import Vocabulary


@dataclass(frozen=True)
class Item:
    """A line of a card: the points of a set of literals that are all true.

    Where one of them is false there are no points. Where none is, but some are unknown, there
    are the points `if_unknown`.
    """

    body: frozenset[int]
    points: int
    if_unknown: int = 0


@dataclass(frozen=True)
class Card:
    """A score of small whole points: the label, if they reach the threshold, and its negation otherwise.

    That a value is missing is something that was seen, and has points of its own. So a card
    always decides, whereas a rule waits for what is unknown.

    Parameters
    ----------
    vocabulary
        The features.
    label
        What follows if the score reaches the threshold.
    items
        The lines, in the order in which they are read.
    threshold
        The least score for the label.

    Examples
    --------
    >>> features = Vocabulary(["ascites", "albumin=high"])
    >>> card = Card(features, "dies", (Item(frozenset({0}), 2, 1), Item(frozenset({1}), -3)), 1)
    >>> print(card)
    true  unknown
      +2       +1  ascites
      −3        0  albumin=high
    1 or more → dies, less → not_dies
    >>> batch = Batch.from_array([[1, 0], [np.nan, np.nan], [1, 1]], features)
    >>> card.scores(batch), card.decide(batch)
    (array([ 2,  1, -1]), array([ True,  True, False]))

    """

    vocabulary: Vocabulary
    label: str
    items: tuple[Item, ...]
    threshold: int

    def __post_init__(self) -> None:
        for item in self.items:
            if not item.body or not (item.points or item.if_unknown):
                raise HornbookError("a line of a card has a literal and points; leave out those without")
            if not all(0 <= v < len(self.vocabulary) for v in item.body):
                raise HornbookError(f"{sorted(item.body)} names variables outside the card's vocabulary")

    @property
    def literals(self) -> int:
        """How many literals a reader has to read."""
        return sum(len(item.body) for item in self.items)

    def scores(self, batch: Batch) -> NDArray[np.int64]:
        """The score of each interpretation."""
        if batch.vocabulary != self.vocabulary:
            raise HornbookError("the batch and the card are over different vocabularies")
        scores = np.zeros(len(batch), np.int64)
        for item in self.items:
            true, false = (bits.flat(words, len(batch)) for words in values(batch, item.body))
            scores += item.points * true + item.if_unknown * ~(true | false)
        return scores

    def decide(self, batch: Batch) -> Bools:
        """For each interpretation, whether the label follows; its negation follows otherwise."""
        decided: Bools = self.scores(batch) >= self.threshold
        return decided

    def __str__(self) -> str:
        lines = [
            f"{_signed(item.points):>4}  {_signed(item.if_unknown):>7}  "
            + " ∧ ".join(self.vocabulary.named(item.body))
            for item in self.items
        ]
        threshold = _signed(self.threshold).removeprefix("+")
        outcome = f"{threshold} or more → {self.label}, less → not_{self.label}"
        return "\n".join(["true  unknown", *lines, outcome])


def _signed(points: int) -> str:
    return f"{points:+d}".replace("-", "−") if points else "0"


def values(batch: Batch, body: frozenset[int]) -> tuple[Words, Words]:
    """Where every variable of a body is true, and where some are false."""
    rows = np.array(sorted(body), np.intp)
    return np.bitwise_and.reduce(batch.true[rows], axis=0), np.bitwise_or.reduce(batch.false[rows], axis=0)
