"""Cards: points for what is true, half of them for what is unknown, and a threshold."""

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
    """A line of a card: the points that go with a set of literals that are all true.

    Where one of them is false there are no points. Where none is, but some are unknown, there
    are half the points.
    """

    body: frozenset[int]
    points: int


@dataclass(frozen=True)
class Card:
    """A score of small whole points: the label, if they reach the threshold, and its negation otherwise.

    A value that is missing is something that was seen, and counts half. So a card always
    decides, whereas a rule waits for what is unknown.

    Parameters
    ----------
    vocabulary
        The features.
    label
        What follows if the score reaches the threshold.
    items
        The lines, in the order in which they are read.
    threshold
        A multiple of ½.

    Examples
    --------
    >>> features = Vocabulary(["ascites", "albumin=high"])
    >>> card = Card(features, "dies", (Item(frozenset({0}), 2), Item(frozenset({1}), -3)), 0.5)
    >>> print(card)
      +2  ascites
      −3  albumin=high
    half the points for what is unknown; 0.5 or more → dies, less → not_dies
    >>> batch = Batch.from_array([[1, 0], [1, np.nan], [np.nan, 1]], features)
    >>> card.scores(batch), card.decide(batch)
    (array([ 2. ,  0.5, -2. ]), array([ True,  True, False]))

    """

    vocabulary: Vocabulary
    label: str
    items: tuple[Item, ...]
    threshold: float

    def __post_init__(self) -> None:
        if not float(2 * self.threshold).is_integer():
            raise HornbookError(f"the threshold of a card is a multiple of ½; got {self.threshold}")
        for item in self.items:
            if not item.body or not item.points:
                raise HornbookError("a line of a card has a literal and points; leave out those without")
            if not all(0 <= v < len(self.vocabulary) for v in item.body):
                raise HornbookError(f"{sorted(item.body)} names variables outside the card's vocabulary")

    @property
    def literals(self) -> int:
        """How many literals a reader has to read."""
        return sum(len(item.body) for item in self.items)

    def scores(self, batch: Batch) -> NDArray[np.float64]:
        """The score of each interpretation."""
        if batch.vocabulary != self.vocabulary:
            raise HornbookError("the batch and the card are over different vocabularies")
        halves = np.zeros(len(batch), np.int64)
        for item in self.items:
            true, false = values(batch, item.body)
            for part in (true, ~false):  # a true item is in both, an unknown one in the latter only
                halves += item.points * bits.flat(part, len(batch))
        scores: NDArray[np.float64] = halves / 2
        return scores

    def decide(self, batch: Batch) -> Bools:
        """For each interpretation, whether the label follows; its negation follows otherwise."""
        decided: Bools = self.scores(batch) >= self.threshold
        return decided

    def __str__(self) -> str:
        signed = [f"{item.points:+d}".replace("-", "−") for item in self.items]
        width = max(map(len, signed), default=0)
        lines = [
            f"  {points:>{width}}  {' ∧ '.join(self.vocabulary.named(item.body))}"
            for points, item in zip(signed, self.items, strict=True)
        ]
        threshold = f"{self.threshold:g}".replace("-", "−")
        outcome = f"{threshold} or more → {self.label}, less → not_{self.label}"
        return "\n".join([*lines, f"half the points for what is unknown; {outcome}"])


def values(batch: Batch, body: frozenset[int]) -> tuple[Words, Words]:
    """Where every variable of a body is true, and where some are false."""
    rows = np.array(sorted(body), np.intp)
    return np.bitwise_and.reduce(batch.true[rows], axis=0), np.bitwise_or.reduce(batch.false[rows], axis=0)
