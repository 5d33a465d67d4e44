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


class Net(NamedTuple):
    """The hidden layers of a network and the learning rate it is trained with."""

    widths: tuple[int, ...]
    rate: float


class Fold(NamedTuple):
    """The examples to train on and those to validate on."""

    train: Items
    valid: Items


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
