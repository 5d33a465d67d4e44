"""Features with a label beside them: the interpretations that a classifier judges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hornbook.distributions import coins
from hornbook.distributions.protocol import Distribution
from hornbook.logic import bits
from hornbook.logic.batch import Batch
from hornbook.logic.errors import HornbookError
from hornbook.logic.vocabulary import Vocabulary


@dataclass(frozen=True)
class Labelled:
    """Items of a distribution over features, each with a label that is true or false by a fair coin.

    The label is always known: an item without one says nothing about a classifier. It and its
    dual come after the features.

    Parameters
    ----------
    features
        Where the features come from.
    label
        The name of the label; its dual is called `not_…`.

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> distribution = Labelled(Random(Vocabulary(["fever", "cough"])), "ill")
    >>> distribution.vocabulary.names
    ('fever', 'cough', 'ill', 'not_ill')
    >>> distribution.draw(2, np.random.default_rng(3)).to_array()
    array([[1., 0., 0., 1.],
           [1., 0., 1., 0.]])
    >>> from hornbook.distributions import Rows
    >>> rows = Batch.from_array([[1, 0]], Vocabulary(["fever", "cough"]))
    >>> print(Labelled(Rows(rows), "ill"))
    'ill' true or false with probability 50 % each, beside: 1 real rows as they are

    """

    features: Distribution
    label: str
    kind: ClassVar[str] = "labelled"

    def __post_init__(self) -> None:
        for name in (self.label, f"not_{self.label}"):
            if name in self.features.vocabulary:
                raise HornbookError(f"{name!r} is among the features already; leave the label out of them")

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The features, the label, and its dual."""
        features, negation = self.features.vocabulary, f"not_{self.label}"
        pairs = {features.name(v): features.name(w) for v, w in features.pairs}
        return Vocabulary((*features.names, self.label, negation), {**pairs, self.label: negation})

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        """`size` independent interpretations."""
        drawn = self.features.draw(size, rng)
        yes = coins.fair((1, bits.words_for(size)), rng)
        no = ~yes
        for row in (yes, no):
            bits.clear_spare(row, size)
        true, false = np.concatenate([drawn.true, yes, no]), np.concatenate([drawn.false, no, yes])
        return Batch(self.vocabulary, true, false, size)

    def describe(self) -> str:
        """The distribution in words."""
        return f"{self.label!r} true or false with probability 50 % each, beside: {self.features.describe()}"

    def settings(self) -> dict[str, Any]:
        """The parameters, ready for JSON."""
        return {"kind": self.kind, "label": self.label, "features": self.features.settings()}

    def __str__(self) -> str:
        return self.describe()
