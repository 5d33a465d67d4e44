"""Cards: points for what is true, points for what is unknown, and a threshold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Interpretation, Vocabulary, Words, bits
from hornbook.logic.syntax import quote


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
    def lines(self) -> int:
        """How many lines there are."""
        return len(self.items)

    @property
    def literals(self) -> int:
        """How many literals a reader has to read."""
        return sum(len(item.body) for item in self.items)

    @property
    def used(self) -> frozenset[int]:
        """The variables that it speaks of."""
        return frozenset(v for item in self.items for v in item.body)

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

    def reasons(self, facts: Interpretation) -> Iterator[str]:
        """The lines that give points for what is known of a case, and the total."""
        for item in self.items:
            words = " ∧ ".join(map(quote, self.vocabulary.named(item.body)))
            if item.body <= facts.true:
                yield f"{item.points:+d}  {words}"
            elif item.if_unknown and not item.body & facts.false:
                yield f"{item.if_unknown:+d}  {words} (unknown)"
        (score,) = self.scores(Batch.from_interpretations([facts], self.vocabulary))
        side = "reaches" if score >= self.threshold else "stays below"
        yield f"in all {score:g}, which {side} {self.threshold:g}"

    def to_object(self) -> dict[str, Any]:
        """Everything but the vocabulary, ready for JSON."""
        items = [
            {
                "body": list(self.vocabulary.named(item.body)),
                "points": item.points,
                "if_unknown": item.if_unknown,
            }
            for item in self.items
        ]
        return {
            "label": self.label,
            "items": items,
            "threshold": self.threshold,
            "features": len(self.vocabulary),
        }

    @classmethod
    def from_object(cls, kept: Mapping[str, Any], features: Vocabulary) -> Card:
        """What `to_object` made, over these features."""
        items = tuple(
            Item(features.variables(item["body"]), item["points"], item["if_unknown"])
            for item in kept["items"]
        )
        return cls(features, kept["label"], items, kept["threshold"])

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
