"""A network trained to predict the class of rows, some of whose values are missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hornbook.data.examples import Examples
from hornbook.experiments.network import MLP
from hornbook.experiments.plan import Bools, Net, Training
from hornbook.experiments.training import train
from hornbook.intervals import Share
from hornbook.logic.batch import Batch
from hornbook.logic.errors import HornbookError
from hornbook.randomness import Purpose, generator

NET = Net((32, 16), 0.01)
TRAINING = Training("adam", epochs=200, batch_size=32)
PATIENCE = 20
"""Epochs without improvement on the rows kept for validation before training stops."""

HIDDEN = (0.0, 0.1, 0.3)
"""Every training row is seen with these shares of its values hidden: so a network learns what ? means."""

HELD_OUT, LEAST = 5, 10
"""One row in five is held out, of at least so many."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A network, and its accuracy on rows that it was not trained with."""

    network: MLP
    accuracy: Share


def train_classifier(rows: Batch, classes: Bools, seed: int = 0) -> Trained:
    """Train a network to predict a class, with early stopping; a fifth of the rows is held out.

    Parameters
    ----------
    rows
        The features of rows.
    classes
        The class of each.
    seed
        Decides which rows are held out, which values are hidden, and how training begins.

    """
    if len(rows) < LEAST:
        raise HornbookError(f"a network is trained on at least {LEAST} rows; got {len(rows)}")
    rng = generator(seed, Purpose.NETWORK_TRAINING)
    order = rng.permutation(len(rows))
    test, valid, fit = np.split(order, [len(rows) // HELD_OUT, 2 * len(rows) // HELD_OUT])
    parts = [(_hidden(rows[fit], share, rng), classes[fit]) for share in HIDDEN]
    network = train(
        _examples(Batch.concatenate(batch for batch, _ in parts), np.concatenate([own for _, own in parts])),
        NET,
        training=TRAINING,
        seed=seed,
        validation=_examples(rows[valid], classes[valid]),
        patience=PATIENCE,
    )
    right = int((network(rows[test]) == classes[test]).sum())
    return Trained(network, Share.of(right, len(test)))


def _examples(batch: Batch, classes: NDArray[np.bool_]) -> Examples:
    return Examples(batch, classes, np.full(len(batch), "row"))


def _hidden(batch: Batch, share: float, rng: np.random.Generator) -> Batch:
    """The rows with each value hidden with some probability, duals together."""
    if not share:
        return batch
    values = batch.to_array()
    hidden = rng.random(values.shape) < share
    for v, dual in batch.vocabulary.pairs:
        hidden[:, dual] = hidden[:, v]
    return Batch.from_array(np.where(hidden, np.nan, values), batch.vocabulary)
