"""The architecture search: thousands of cross-validated trainings, in parallel and resumable."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import hornbook
from hornbook.experiments import lockstep
from hornbook.experiments.lockstep import Outcome
from hornbook.experiments.progress import tracked
from hornbook.experiments.recipe import Bools, Floats, Fold, Items, Net, Training
from hornbook.logic.errors import HornbookError

CHUNK = {"cpu": 48, "cuda": 4096}
"""Nets trained in lockstep: on a CPU few, so that they differ little in width and stay in the
cache; on a GPU as many as there are, so that each launch has work for the whole chip."""


def grid(
    depths: Iterable[int] = (2, 3, 4, 5),
    widths: Sequence[int] = (4, 8, 16, 32),
    rates: Sequence[float] = (0.001, 0.01, 0.1),
) -> tuple[Net, ...]:
    """Every choice of hidden layers and learning rate; the paper's 4,080 unless told otherwise.

    Examples
    --------
    >>> len(grid())
    4080
    >>> grid(depths=[1], widths=[4, 8], rates=[0.1])
    (Net(widths=(4,), rate=0.1), Net(widths=(8,), rate=0.1))

    """
    return tuple(
        Net(layers, rate) for depth in depths for layers in product(widths, repeat=depth) for rate in rates
    )


@dataclass(frozen=True)
class Task:
    """What every net of a search is trained and validated on."""

    inputs: Floats
    labels: Bools
    folds: tuple[Fold, ...]
    training: Training
    seed: int
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.inputs.ndim != 2 or len(self.inputs) != len(self.labels):
            raise HornbookError(
                f"expected one row of inputs a label; got shape {self.inputs.shape} and {len(self.labels)} labels"
            )
        for number, fold in enumerate(self.folds):
            if not len(fold.train) or not len(fold.valid):
                raise HornbookError(f"fold {number} has nothing to train on or nothing to validate on")

    @cached_property
    def checksum(self) -> bytes:
        """A digest of all that decides the result of a net."""
        digest = hashlib.sha256(repr((hornbook.__version__, self.training, self.seed, self.device)).encode())
        for array in (self.inputs, self.labels, *(items for fold in self.folds for items in fold)):
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.digest()

    def outcome(self, nets: Sequence[Net]) -> Outcome:
        """Train nets of one depth."""
        return lockstep.cross_validate(
            nets, self.inputs, self.labels, self.folds, self.training, self.seed, self.device
        )
