"""How a network is trained: its shape, its first weights, and the order of its examples.

Everything random comes from a seed and what the number is for, so that a net gets the same
first weights and sees its examples in the same order whether it is trained alone or with
thousands of others, here or on another machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.logic.errors import HornbookError

Floats: TypeAlias = NDArray[np.float32]
Bools: TypeAlias = NDArray[np.bool_]
Items: TypeAlias = NDArray[np.intp]
Optimiser: TypeAlias = Literal["sgd", "adam"]


@dataclass(frozen=True)
class Net:
    """The units of a network's hidden layers, and the learning rate it is trained with."""

    widths: tuple[int, ...]
    rate: float

    def __post_init__(self) -> None:
        if not self.widths or min(self.widths) < 1:
            raise HornbookError(f"a net has hidden layers of at least one unit each; got {self.widths}")
        if not self.rate > 0:
            raise HornbookError(f"a learning rate is positive; got {self.rate}")

    def __str__(self) -> str:
        return f"{'-'.join(map(str, self.widths))} at rate {self.rate:g}"


class Fold(NamedTuple):
    """The positions of the examples to train on and of those to validate on."""

    train: Items
    valid: Items


def folds_of(parts: Items) -> tuple[Fold, ...]:
    """A fold for each part, which is validated on; `parts` gives the number of each example's part.

    Examples
    --------
    >>> for fold in folds_of(np.array([0, 1, 1, 0])):
    ...     print(fold.train, fold.valid)
    [1 2] [0 3]
    [0 3] [1 2]

    """
    return tuple(
        Fold(np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in np.unique(parts)
    )


@dataclass(frozen=True)
class Training:
    """What all the nets of a search share.

    Parameters
    ----------
    optimiser
        `sgd` or `adam`.
    epochs
        How often each training example is seen.
    batch_size
        The most examples in one step. The steps of an epoch differ in size by one at most.

    """

    optimiser: Optimiser = "sgd"
    epochs: int = 100
    batch_size: int = 32

    def __post_init__(self) -> None:
        if self.optimiser not in ("sgd", "adam"):
            raise HornbookError(f"the optimiser is 'sgd' or 'adam'; got {self.optimiser!r}")
        if self.epochs < 1 or self.batch_size < 1:
            raise HornbookError(
                f"training takes at least one epoch and one example a step; "
                f"got epochs={self.epochs}, batch_size={self.batch_size}"
            )


@dataclass(frozen=True, eq=False)
class Setting:
    """What every net of a search is trained and validated on.

    Parameters
    ----------
    inputs, labels
        The examples: a (k, n) matrix and k Booleans.
    folds
        Which of them to train on and which to validate on, time after time.
    training
        Optimiser, epochs and batch size.
    seed
        Decides the first weights and the order of the examples.

    """

    inputs: Floats
    labels: Bools
    folds: tuple[Fold, ...]
    training: Training
    seed: int = 0

    def __post_init__(self) -> None:
        if self.inputs.ndim != 2 or self.labels.shape != self.inputs.shape[:1]:
            raise HornbookError(
                f"expected a (k, n) matrix of inputs and k labels; "
                f"got shapes {self.inputs.shape} and {self.labels.shape}"
            )
        if not self.folds or not all(len(items) for fold in self.folds for items in fold):
            raise HornbookError("every fold needs examples to train on and examples to validate on")


def glorot(layers: Sequence[int], rng: np.random.Generator) -> list[Floats]:
    """The weights of one net, from its layers' widths, inputs first: uniform in ±√(6 / (in + out)).

    Examples
    --------
    >>> [weight.shape for weight in glorot([204, 8, 4, 1], np.random.default_rng(0))]
    [(8, 204), (4, 8), (1, 4)]

    """
    return [
        rng.uniform(-1, 1, (above, below)).astype(np.float32) * np.float32((6 / (above + below)) ** 0.5)
        for below, above in pairwise(layers)
    ]


def steps(items: Items, per_epoch: int, epochs: int, rng: np.random.Generator) -> Iterator[Items]:
    """The examples of each step: every epoch a new order, cut into `per_epoch` steps."""
    for _ in range(epochs):
        yield from np.array_split(rng.permutation(items), per_epoch)


def steps_per_epoch(size: int, training: Training) -> int:
    """How many steps it takes to see each of `size` examples once."""
    return -(-size // training.batch_size)


def order_rng(seed: int, task: int) -> np.random.Generator:
    """The source of a task's order of examples, common to all nets."""
    return np.random.default_rng([seed, 0, task])


def weights_rng(seed: int, widths: Sequence[int]) -> np.random.Generator:
    """The source of an architecture's first weights, common to all tasks and learning rates."""
    return np.random.default_rng([seed, 1, *widths])
