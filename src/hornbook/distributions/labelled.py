"""Interpretations of features and a label, which a classifier judges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hornbook.distributions.literals import Literals
from hornbook.distributions.protocol import Distribution, draw_in_blocks, draw_nested_rows
from hornbook.distributions.words import Stream
from hornbook.logic import Batch, Vocabulary, Words, arrays


@dataclass(frozen=True)
class Labelled:
    """Items of a distribution over features, each with a label that is true or false by a fair coin.

    The label is always known, because an item without one says nothing about a classifier.
    The label and its dual come after the features.

    Parameters
    ----------
    features
        Where the features come from.
    label
        The name of the label; its dual is called `not_…`.

    Examples
    --------
    >>> from hornbook.distributions.random import Random
    >>> distribution = Labelled(Random(Vocabulary(["fever", "cough"])), "ill")
    >>> distribution.vocabulary.names
    ('fever', 'cough', 'ill', 'not_ill')
    >>> distribution.draw(2, np.random.default_rng(3)).to_array()
    array([[1., 0., 1., 0.],
           [0., 0., 0., 1.]])
    >>> from hornbook.distributions.rows import Rows
    >>> rows = Batch.from_array([[1, 0]], Vocabulary(["fever", "cough"]))
    >>> print(Labelled(Rows(rows), "ill"))
    'ill' true or false with probability 50 % each, beside: 1 real rows as they are

    """

    features: Distribution
    label: str
    kind: ClassVar[str] = "labelled"

    def __post_init__(self) -> None:
        self.features.vocabulary.with_label(self.label)  # refuses a label that is a feature

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The features, the label, and its dual."""
        return self.features.vocabulary.with_label(self.label)

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        """`size` independent interpretations."""
        return draw_in_blocks(self, size, rng)

    @cached_property
    def literals(self) -> Literals:
        """The drawn variables, which are those of the features and the label, and their duals."""
        return Literals.of(self.vocabulary)

    def draw_base_rows(self, stream: Stream) -> tuple[Words, Words]:
        """The true and the false rows of the drawn variables."""
        true, false = draw_nested_rows(self.features, Literals.of(self.features.vocabulary), stream)
        label = stream.words(1)
        concat = arrays.module_of(label).concat
        return concat([true, label]), concat([false, ~label])

    def describe(self) -> str:
        """The distribution in words."""
        return f"{self.label!r} true or false with probability 50 % each, beside: {self.features.describe()}"

    def settings(self) -> dict[str, Any]:
        """The parameters, ready for JSON."""
        return {"kind": self.kind, "label": self.label, "features": self.features.settings()}

    def __str__(self) -> str:
        return self.describe()
