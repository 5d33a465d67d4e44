"""What the paper trains its networks on, and how: examples, architectures, first weights, orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.display import Displayed
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools

Floats: TypeAlias = NDArray[np.float32]
Items: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Examples:
    """Interpretations, each with its label (accepted or not) and its kind."""

    batch: Batch
    accepted: Bools
    kinds: NDArray[np.str_]

    def __post_init__(self) -> None:
        if not len(self.batch) == len(self.accepted) == len(self.kinds):
            raise HornbookError(
                f"{len(self.batch)} interpretations need as many labels and kinds; "
                f"got {len(self.accepted)} and {len(self.kinds)}"
            )

    @classmethod
    def concatenate(cls, parts: Iterable[Examples]) -> Examples:
        """Concatenate several sets of examples."""
        parts = list(parts)
        return cls(
            Batch.concatenate(part.batch for part in parts),
            np.concatenate([part.accepted for part in parts]),
            np.concatenate([part.kinds for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.batch)

    def __getitem__(self, key: slice | NDArray[Any] | Sequence[int]) -> Examples:
        return Examples(self.batch[key], self.accepted[key], self.kinds[key])

    def __repr__(self) -> str:
        return f"<{len(self)} examples, {int(self.accepted.sum())} accepted>"


def assign_parts(examples: Examples, shares: Sequence[float], rng: np.random.Generator) -> Items:
    """Assign each example to a part, stratified by kind and label; returns the part numbers, (examples,)."""
    _, strata = np.unique(np.char.add(examples.kinds, examples.accepted.astype("U5")), return_inverse=True)
    wanted = np.outer(np.bincount(strata), np.asarray(shares) / np.sum(shares))  # (strata, parts)
    part = np.empty(len(examples), np.intp)
    for example in rng.permutation(len(examples)):
        stratum = strata[example]
        part[example] = emptiest = int(wanted[stratum].argmax())
        wanted[stratum, emptiest] -= 1
    return part


def split_examples(
    examples: Examples, rng: np.random.Generator, test: float = 0.2
) -> tuple[Examples, Examples]:
    """Split examples into training and test examples, stratified by kind and label."""
    if not 0 < test < 1:
        raise HornbookError(f"the test share is strictly between 0 and 1; got {test}")
    part = assign_parts(examples, (1 - test, test), rng)
    return examples[part == 0], examples[part == 1]


@dataclass(frozen=True)
class Net(Displayed):
    """An architecture: the widths of the hidden layers, and the learning rate of its training."""

    widths: tuple[int, ...]
    rate: float

    def __post_init__(self) -> None:
        if not self.widths or min(self.widths) < 1:
            raise HornbookError(f"a net has hidden layers of at least one unit each; got {self.widths}")
        if not self.rate > 0:
            raise HornbookError(f"a learning rate is positive; got {self.rate}")

    def __str__(self) -> str:
        return f"{'-'.join(map(str, self.widths))} at rate {self.rate:g}"


@dataclass(frozen=True)
class Training:
    """How long nets are trained by gradient descent; the steps of an epoch differ in size by at most one.

    Parameters
    ----------
    epochs
        The number of epochs.
    batch_size
        The maximum number of examples in a step.

    """

    epochs: int = 100
    batch_size: int = 32

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch_size < 1:
            raise HornbookError(
                f"training takes at least one epoch and one example a step; "
                f"got epochs={self.epochs}, batch_size={self.batch_size}"
            )

    def count_steps(self, size: int) -> int:
        """The number of steps in an epoch of `size` examples."""
        return -(-size // self.batch_size)


def glorot(layers: Sequence[int], rng: np.random.Generator) -> list[Floats]:
    """Draw Glorot's initial weights, uniform in ±√(6 / (in + out)), for layer widths, inputs first.

    Examples
    --------
    >>> [weight.shape for weight in glorot([204, 8, 4, 1], np.random.default_rng(0))]
    [(8, 204), (4, 8), (1, 4)]

    """
    return [
        rng.uniform(-1, 1, (above, below)).astype(np.float32) * np.float32((6 / (above + below)) ** 0.5)
        for below, above in pairwise(layers)
    ]


def iterate_batches(items: Items, per_epoch: int, epochs: int, rng: np.random.Generator) -> Iterator[Items]:
    """Yield the examples of each step: every epoch in a new order, cut into `per_epoch` steps."""
    for _ in range(epochs):
        yield from np.array_split(rng.permutation(items), per_epoch)


def order_rng(seed: int, task: int) -> np.random.Generator:
    """The random generator of a task's order of examples, common to all nets."""
    return np.random.default_rng([seed, 0, task])


def weights_rng(seed: int, widths: Sequence[int]) -> np.random.Generator:
    """The random generator of an architecture's initial weights, common to all tasks and rates."""
    return np.random.default_rng([seed, 1, *widths])
