"""One network trained on its own, by the plain loop that the batched search must agree with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hornbook.data.examples import Examples
from hornbook.errors import HornbookError
from hornbook.logic import Batch
from hornbook.models.network import (
    MLP,
    Bools,
    EncodingName,
    Net,
    Training,
    encode,
    glorot,
    one_thread,
    order_rng,
    steps,
    steps_per_epoch,
    torch,
    weights_rng,
)
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share

OPTIMISERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}


@one_thread()
def train(
    examples: Examples,
    net: Net,
    *,
    training: Training | None = None,
    encoding: EncodingName = "half",
    seed: int = 0,
    validation: Examples | None = None,
    patience: int = 10,
) -> MLP:
    """Train one network by gradient descent on the binary cross-entropy.

    The first weights are Glorot's and the biases zero. The same seed gives the same network.

    Parameters
    ----------
    examples
        The interpretations to learn from, and whether each is accepted.
    net
        The hidden layers and the learning rate.
    training
        Optimiser, epochs and batch size.
    encoding
        How interpretations enter the network.
    seed
        Decides the first weights and the order of the examples.
    validation, patience
        With validation examples, training stops early once the loss on them has not improved
        for `patience` epochs, and the weights of the best epoch are kept.

    """
    training = training or Training()
    inputs, labels = _tensors(examples, encoding)
    weights = glorot((inputs.shape[1], *net.widths, 1), weights_rng(seed, net.widths))
    network = MLP.of(
        [(weight, np.zeros(len(weight))) for weight in weights], examples.batch.vocabulary, encoding
    )
    epochs = _epochs(network.module, inputs, labels, net.rate, training, order_rng(seed, 0))
    if validation is None:
        best = sum(1 for _ in epochs)
    else:
        best = _best_epoch(epochs, network.module, *_tensors(validation, encoding), patience)
    if not np.isfinite(network.log_odds(examples.batch)).all():
        raise HornbookError(f"training diverged: {net} ends in infinite weights; lower the rate")
    provenance = {
        "examples": len(examples),
        "rate": net.rate,
        **asdict(training),
        "epochs": best,
        "seed": seed,
    }
    return replace(network, provenance=provenance)


def _epochs(
    module: torch.nn.Module,
    inputs: torch.Tensor,
    labels: torch.Tensor,
    rate: float,
    training: Training,
    rng: np.random.Generator,
) -> Iterator[int]:
    """Train the module in place; yield the number of epochs done after each."""
    optimiser = OPTIMISERS[training.optimiser](module.parameters(), lr=rate)
    per_epoch = steps_per_epoch(len(labels), training)
    order = steps(np.arange(len(labels)), per_epoch, training.epochs, rng)
    for done in range(1, training.epochs + 1):
        for items in map(torch.from_numpy, islice(order, per_epoch)):
            optimiser.zero_grad()
            torch.autograd.backward(_loss(module, inputs[items], labels[items]))
            optimiser.step()
        yield done


def _best_epoch(
    epochs: Iterable[int],
    module: torch.nn.Module,
    inputs: torch.Tensor,
    labels: torch.Tensor,
    patience: int,
) -> int:
    """Leave the module with the weights of the epoch of least loss, and say which it was."""
    least, best, kept = np.inf, 0, deepcopy(module.state_dict())
    for done in epochs:
        with torch.no_grad():
            loss = float(_loss(module, inputs, labels))
        if loss < least:
            least, best, kept = loss, done, deepcopy(module.state_dict())
        elif done - best >= patience:
            break
    module.load_state_dict(kept)
    return best


def _loss(module: torch.nn.Module, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.binary_cross_entropy_with_logits(module(inputs).squeeze(1), labels)


def _tensors(examples: Examples, encoding: EncodingName) -> tuple[torch.Tensor, torch.Tensor]:
    if not len(examples):
        raise HornbookError("there are no examples to train or validate on")
    inputs = torch.from_numpy(encode(examples.batch, encoding))
    return inputs, torch.from_numpy(examples.accepted.astype(np.float32))


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
