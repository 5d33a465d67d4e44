"""Labelled examples, and networks that are trained on them; the classifier of `hornbook learn --train`.

The paper's batched search (`hornbook.paper`) gives the same networks, apart from rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.logic import Batch
from hornbook.queries.network import (
    MLP,
    Bools,
    EncodingName,
    Net,
    Training,
    encode,
    glorot,
    iterate_batches,
    one_thread,
    order_rng,
    steps_per_epoch,
    torch,
    weights_rng,
)
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share


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


def accuracy_by_kind(examples: Examples, answers: Bools) -> dict[str, Share]:
    """The share of right answers for each kind of example, accepted and rejected separately.

    Examples
    --------
    >>> from hornbook.logic import Vocabulary
    >>> batch = Batch.from_array([[1], [0], [0]], Vocabulary(["v"]))
    >>> kinds = np.array(["row", "random", "random"])
    >>> examples = Examples(batch, np.array([True, True, False]), kinds)
    >>> for kind, share in accuracy_by_kind(examples, np.array([True, False, False])).items():
    ...     print(kind, share.estimate)
    random, accepted 0.0
    random, rejected 1.0
    row, accepted 1.0

    """
    answers = np.asarray(answers, np.bool_)
    if answers.shape != (len(examples),):
        raise HornbookError(f"{len(examples)} examples need as many answers; got shape {answers.shape}")
    shares = {}
    for kind in np.unique(examples.kinds).tolist():
        for label, word in ((True, "accepted"), (False, "rejected")):
            members = (examples.kinds == kind) & (examples.accepted == label)
            if members.any():
                shares[f"{kind}, {word}"] = Share.where(answers[members] == label)
    return shares


def assign_parts(examples: Examples, shares: Sequence[float], rng: np.random.Generator) -> NDArray[np.intp]:
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


Gradients: TypeAlias = Iterable[Sequence[torch.Tensor]]


def descend_by_sgd(parameters: Sequence[torch.Tensor], gradients: Gradients, rate: float) -> Iterator[None]:
    """Change the parameters by each step's gradients; yield after each step.

    The result is that of `torch.optim.SGD`, bit for bit. PyTorch's optimisers import its compiler when
    they are first used, which takes longer than the training of a small network.
    """
    for step in gradients:
        for parameter, gradient in zip(parameters, step, strict=True):
            parameter.add_(gradient, alpha=-rate)
        yield


def descend_by_adam(parameters: Sequence[torch.Tensor], gradients: Gradients, rate: float) -> Iterator[None]:
    """Change the parameters by each step's gradients; yield after each step.

    The result is that of `torch.optim.Adam`, bit for bit; see `descend_by_sgd`.

    References
    ----------
    Kingma, Ba. Adam: a method for stochastic optimization. ICLR 2015.

    """
    decay, decay_square, epsilon = 0.9, 0.999, 1e-8
    moments = [(torch.zeros_like(parameter), torch.zeros_like(parameter)) for parameter in parameters]
    for number, step in enumerate(gradients, 1):
        seen, seen_square = 1 - decay**number, 1 - decay_square**number
        for parameter, gradient, (first, second) in zip(parameters, step, moments, strict=True):
            first.lerp_(gradient, 1 - decay)
            second.mul_(decay_square).addcmul_(gradient, gradient, value=1 - decay_square)
            root = second.sqrt().div_(seen_square**0.5).add_(epsilon)
            parameter.addcdiv_(first, root, value=-rate / seen)
        yield


OPTIMISERS = {"sgd": descend_by_sgd, "adam": descend_by_adam}


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
        The training examples.
    net
        The hidden layers and the learning rate.
    training
        Optimiser, epochs and batch size.
    encoding
        The input encoding.
    seed
        The seed of the initial weights and of the order of examples.
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
    parameters = list(module.parameters())
    per_epoch = steps_per_epoch(len(labels), training)
    order = iterate_batches(np.arange(len(labels)), per_epoch, training.epochs, rng)
    gradients = (
        torch.autograd.grad(_loss(module, inputs[items], labels[items]), parameters)
        for items in map(torch.from_numpy, order)
    )
    descend = OPTIMISERS[training.optimiser]
    steps = descend([parameter.detach() for parameter in parameters], gradients, rate)
    for done in range(1, training.epochs + 1):
        for _ in islice(steps, per_epoch):
            pass
        yield done


def _best_epoch(
    epochs: Iterable[int],
    module: torch.nn.Module,
    inputs: torch.Tensor,
    labels: torch.Tensor,
    patience: int,
) -> int:
    """Train with early stopping; keep the weights of the epoch with the least loss, and return it."""
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


CLASSIFIER_NET = Net((32, 16), 0.01)
CLASSIFIER_TRAINING = Training("adam", epochs=200, batch_size=32)
CLASSIFIER_PATIENCE = 20
"""Number of epochs without improvement on validation rows before training stops."""

HIDDEN_SHARES = (0.0, 0.1, 0.3)
"""Shares of hidden values with which every training row is seen, so that the network learns ?."""

HELD_OUT_PARTS, MIN_ROWS = 5, 10
"""One row in five is held out; fewer rows than the minimum are refused."""


@dataclass(frozen=True, eq=False)
class TrainedClassifier:
    """A trained network, and its accuracy on held-out rows."""

    network: MLP
    accuracy: Share


def train_classifier(rows: Batch, classes: Bools, seed: int = 0) -> TrainedClassifier:
    """Train a network to predict a class, with early stopping; a fifth of the rows is held out.

    Parameters
    ----------
    rows
        The features of the rows.
    classes
        The class of each row.
    seed
        The seed of held-out rows, hidden values and initial weights.

    """
    if len(rows) < MIN_ROWS:
        raise HornbookError(f"a network is trained on at least {MIN_ROWS} rows; got {len(rows)}")
    rng = generator(seed, Purpose.NETWORK_TRAINING)
    order = rng.permutation(len(rows))
    test, valid, fit = np.split(order, [len(rows) // HELD_OUT_PARTS, 2 * len(rows) // HELD_OUT_PARTS])
    parts = [(_hide_values(rows[fit], share, rng), classes[fit]) for share in HIDDEN_SHARES]
    network = train(
        _examples(Batch.concatenate(batch for batch, _ in parts), np.concatenate([own for _, own in parts])),
        CLASSIFIER_NET,
        training=CLASSIFIER_TRAINING,
        seed=seed,
        validation=_examples(rows[valid], classes[valid]),
        patience=CLASSIFIER_PATIENCE,
    )
    return TrainedClassifier(network, Share.where(network(rows[test]) == classes[test]))


def _examples(batch: Batch, classes: NDArray[np.bool_]) -> Examples:
    return Examples(batch, classes, np.full(len(batch), "row"))


def _hide_values(batch: Batch, share: float, rng: np.random.Generator) -> Batch:
    """Hide each value with probability `share`, together with its dual."""
    if not share:
        return batch
    values = batch.to_array()
    hidden = rng.random(values.shape) < share
    for v, dual in batch.vocabulary.pairs:
        hidden[:, dual] = hidden[:, v]
    return Batch.from_array(np.where(hidden, np.nan, values), batch.vocabulary)
