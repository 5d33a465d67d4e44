"""Mixtures: each item comes from one of several distributions, and remembers which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions.literals import Literals
from hornbook.distributions.protocol import BLOCK_WORDS, Distribution, percent
from hornbook.logic.batch import Batch
from hornbook.logic.bits import WORD
from hornbook.logic.errors import HornbookError
from hornbook.logic.vocabulary import Vocabulary


@dataclass(frozen=True)
class Mixture:
    """Each item from one of the components, chosen with probability proportional to its weight.

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> vocabulary = Vocabulary.with_duals(["sunny", "happy"])
    >>> mixture = Mixture((Random(vocabulary, 0.1), Random(vocabulary, 0.9)), weights=(3, 1))
    >>> print(mixture)
    75 % random interpretations of 2 pairs, each value unknown with probability 10 %;
    25 % random interpretations of 2 pairs, each value unknown with probability 90 %
    >>> batch, component = mixture.draw_labelled(5, np.random.default_rng(0))
    >>> component
    array([0, 0, 0, 0, 1])

    """

    components: tuple[Distribution, ...]
    weights: tuple[float, ...]
    kind: ClassVar[str] = "mixture"

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", tuple(self.components))
        object.__setattr__(self, "weights", tuple(map(float, self.weights)))
        if not self.components or len(self.components) != len(self.weights):
            raise HornbookError(
                f"a mixture needs one weight a component; "
                f"got {len(self.components)} components and {len(self.weights)} weights"
            )
        if not all(weight >= 0 and np.isfinite(weight) for weight in self.weights) or not any(self.weights):
            raise HornbookError(f"weights are not negative and not all zero; got {list(self.weights)}")
        if any(component.vocabulary != self.vocabulary for component in self.components):
            raise HornbookError("the components of a mixture are over one vocabulary")

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the components."""
        return self.components[0].vocabulary

    @cached_property
    def literals(self) -> Literals:
        """The variables that are drawn, and their duals."""
        return Literals.of(self.vocabulary)

    @property
    def shares(self) -> tuple[float, ...]:
        """The weights made to sum to 1."""
        return tuple(weight / sum(self.weights) for weight in self.weights)

    def draw(self, size: int, rng: np.random.Generator) -> Batch:
        """`size` independent interpretations."""
        return self.draw_labelled(size, rng)[0]

    def draw_labelled(self, size: int, rng: np.random.Generator) -> tuple[Batch, NDArray[np.intp]]:
        """`size` independent interpretations, and for each the index of its component."""
        labels = rng.choice(len(self.components), size, p=self.shares)
        block = BLOCK_WORDS * WORD
        parts = [self._draw_as(labels[start : start + block], rng) for start in range(0, size, block)]
        return Batch.concatenate(parts or [self._draw_as(labels, rng)]), labels

    def _draw_as(self, labels: NDArray[np.intp], rng: np.random.Generator) -> Batch:
        """Items of the labelled components, in the order of the labels."""
        counts = np.bincount(labels, minlength=len(self.components)).tolist()
        grouped = Batch.concatenate(
            component.draw(count, rng) for component, count in zip(self.components, counts, strict=True)
        )
        position = np.empty(len(labels), np.intp)
        position[np.argsort(labels.astype(np.int16), kind="stable")] = np.arange(len(labels))
        drawn = self.literals.sliced(self.literals.table_of(grouped)[position])
        return Batch(self.vocabulary, *self.literals.mirrored(*drawn), len(labels))

    def describe(self) -> str:
        """The distribution in words."""
        parts = zip(self.shares, self.components, strict=True)
        return ";\n".join(f"{percent(share)} {component.describe()}" for share, component in parts)

    def settings(self) -> dict[str, Any]:
        """The components with their weights, ready for JSON."""
        parts = zip(self.weights, self.components, strict=True)
        return {
            "kind": self.kind,
            "components": [{"weight": weight, **component.settings()} for weight, component in parts],
        }

    def __str__(self) -> str:
        return self.describe()
