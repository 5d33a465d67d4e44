"""The architecture search: train all nets of a grid, score the best ones again, and train the winner.

Nets of one depth are trained together, as one stack of tensors padded to the widest of them, once on
every fold. The best of thousands of noisy scores is partly best by luck. The finalists are therefore
trained again, from other initial weights and on other folds, and only these scores decide.

Legend
------
T   tasks: every net is trained once on each; a task is a fold with its order of examples
N   nets of one depth, each with its own widths and learning rate
w   units of a layer, padded to the widest net of the stack
b   examples of one step
n   inputs
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby, pairwise, product
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from hornbook.errors import HornbookError
from hornbook.logic import Bools
from hornbook.models.inputs import Encoding
from hornbook.paper.networks import (
    Examples,
    Floats,
    Items,
    Net,
    Training,
    assign_parts,
    glorot,
    iterate_batches,
    order_rng,
    weights_rng,
)
from hornbook.queries import MLP
from hornbook.queries.network import EncodingName, one_thread, torch

NETS_PER_CHUNK = 24
"""Number of nets trained together: few, so that they have similar widths and fit the cache."""


class Fold(NamedTuple):
    """The positions of the training examples and of the validation examples."""

    train: Items
    valid: Items


@dataclass(frozen=True, eq=False)
class Setting:
    """The examples, folds and training parameters of an architecture search.

    Parameters
    ----------
    inputs, labels
        The examples: a (k, n) matrix and k Booleans.
    folds
        The training and validation examples of each fold.
    training
        Epochs and batch size of stochastic gradient descent.
    seed
        The seed of the initial weights and of the order of examples.
    device
        Where the nets are trained: `cpu`, or a device of PyTorch's such as `cuda`.

    """

    inputs: Floats
    labels: Bools
    folds: tuple[Fold, ...]
    training: Training
    seed: int = 0
    device: str = "cpu"


class Scores(NamedTuple):
    """The outcome of training each net on each task, as (N, T) arrays.

    `accuracy` is on the validation examples, `loss` on the training examples.
    """

    accuracy: Floats
    loss: Floats


class Stack:
    """Nets of one depth with their weights, once for each task.

    The weights of the first layer are (T, N·w, n), so that it is one product a task; those of the others
    are (T·N, w, w below). Biases have the same shape but for a last axis of one; the output is a layer of
    one unit. A padded unit has weights and bias zero on both sides, and so are all of its gradients.
    """

    def __init__(self, nets: Sequence[Net], inputs: int, tasks: int, seed: int, device: str = "cpu") -> None:
        self.nets, self.tasks = tuple(nets), tasks
        self.widest = (inputs, *map(max, zip(*(net.widths for net in nets), strict=True)), 1)
        self.weights: list[torch.Tensor] = []
        for layer, (below, above) in enumerate(pairwise(self.widest)):
            padded = np.zeros((len(nets), above, below), np.float32)
            for whole, net in zip(padded, nets, strict=True):
                weight = glorot((inputs, *net.widths, 1), weights_rng(seed, net.widths))[layer]
                whole[: weight.shape[0], : weight.shape[1]] = weight
            several = torch.from_numpy(np.broadcast_to(padded, (tasks, *padded.shape)).copy()).to(device)
            self.weights.append(several.view(tasks if layer == 0 else tasks * len(nets), -1, below))
        self.biases = [torch.zeros_like(weight[:, :, :1]) for weight in self.weights]

    @property
    def parameters(self) -> list[torch.Tensor]:
        """All weights and biases."""
        return [*self.weights, *self.biases]

    def outputs(self, columns: torch.Tensor) -> torch.Tensor:
        """The output of every net for the examples of its task, (T, N, b), given as (T, n, b)."""
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            columns = torch.baddbmm(bias, weight, columns.relu() if layer else columns)
            columns = columns.view(self.tasks * len(self.nets), -1, columns.shape[2])
        return columns.view(self.tasks, len(self.nets), -1)

    @torch.no_grad()
    def outputs_of_all(self, examples: torch.Tensor) -> torch.Tensor:
        """The output of every net for every example, (T, N, k), given as (k, n)."""
        return self.outputs(examples.t().expand(self.tasks, -1, -1))

    def descend(self, examples: torch.Tensor, targets: torch.Tensor, schedule: Schedule) -> None:
        """Train every net on every task by gradient descent, in place."""
        rates = torch.tensor([net.rate for net in self.nets], device=examples.device)[:, None]
        for items, shares in zip(*(part.unbind(1) for part in schedule), strict=True):
            for parameter in self.parameters:
                parameter.requires_grad_(True)
            outputs = self.outputs(examples[items].transpose(1, 2))
            # nets share no weights, so that the gradient of a sum is that of each net's own loss
            loss = (_loss(outputs, targets[items][:, None]) * shares[:, None] * rates).sum()
            gradients = torch.autograd.grad(loss, self.parameters)
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                parameter.requires_grad_(False).sub_(gradient)


class Schedule(NamedTuple):
    """The examples of each step and their weights in its mean loss, both of shape (T, steps, b).

    A step with fewer than b examples is padded with examples of weight zero.
    """

    items: torch.Tensor
    shares: torch.Tensor


def make_schedule(folds: Sequence[Fold], training: Training, seed: int) -> Schedule:
    """Draw the order in which each task sees its training examples."""
    per_epoch = max(training.count_steps(len(fold.train)) for fold in folds)
    shape = (len(folds), per_epoch * training.epochs, training.batch_size)
    items, shares = np.zeros(shape, np.int64), np.zeros(shape, np.float32)
    for task, fold in enumerate(folds):
        order = iterate_batches(fold.train, per_epoch, training.epochs, order_rng(seed, task))
        for step, chosen in enumerate(order):
            items[task, step, : len(chosen)] = chosen
            shares[task, step, : len(chosen)] = 1 / max(len(chosen), 1)
    return Schedule(torch.from_numpy(items), torch.from_numpy(shares))


@one_thread()
def cross_validate(nets: Sequence[Net], setting: Setting) -> Scores:
    """Train nets of one depth on every fold and validate them on the rest of it.

    Apart from rounding, a net's result does not depend on the nets it is trained with.
    """
    folds, labels = setting.folds, setting.labels
    stack = Stack(nets, setting.inputs.shape[1], len(folds), setting.seed, setting.device)
    examples = torch.tensor(setting.inputs, dtype=torch.float32, device=setting.device)
    targets = torch.tensor(labels, dtype=torch.float32, device=setting.device)
    schedule = make_schedule(folds, setting.training, setting.seed)
    stack.descend(examples, targets, Schedule(*(part.to(setting.device) for part in schedule)))
    outputs = stack.outputs_of_all(examples)
    right, losses = (outputs > 0) == (targets > 0), _loss(outputs, targets)
    columns = [
        (right[task][:, fold.valid].float().mean(dim=1), losses[task][:, fold.train].mean(dim=1))
        for task, fold in enumerate(folds)
    ]
    accuracy, loss = (torch.stack(each, dim=1).cpu().numpy() for each in zip(*columns, strict=True))
    return Scores(accuracy, loss)


def _loss(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The binary cross-entropy of log-odds."""
    return torch.nn.functional.softplus(outputs) - outputs * targets


@one_thread()
def train(
    examples: Examples, net: Net, training: Training, encoding: EncodingName = "half", seed: int = 0
) -> MLP:
    """Train one net on all the examples; the same seed gives the same network."""
    if not len(examples):
        raise HornbookError("there are no examples to train on")
    inputs = torch.from_numpy(Encoding.named(encoding).encode(examples.batch))
    targets, everything = torch.tensor(examples.accepted, dtype=torch.float32), np.arange(len(examples))
    stack = Stack([net], inputs.shape[1], 1, seed)
    stack.descend(inputs, targets, make_schedule([Fold(everything, everything)], training, seed))
    layers = [(w[0].numpy(), b[0, :, 0].numpy()) for w, b in zip(stack.weights, stack.biases, strict=True)]
    about = {"examples": len(examples), "rate": net.rate, **asdict(training), "seed": seed}
    network = MLP.of(layers, examples.batch.vocabulary, encoding, about)
    if not np.isfinite(network.log_odds(examples.batch)).all():
        raise HornbookError(f"training diverged: {net} ends in infinite weights; lower the rate")
    return network


def grid(
    depths: Iterable[int] = (2, 3, 4, 5),
    widths: Sequence[int] = (4, 8, 16, 32),
    rates: Sequence[float] = (0.001, 0.01, 0.1),
) -> tuple[Net, ...]:
    """Every combination of hidden layers and learning rate; by default the paper's 4,080.

    Examples
    --------
    >>> len(grid())
    4080
    >>> grid(depths=[1], widths=[4, 8], rates=[0.1])
    (4 at rate 0.1, 8 at rate 0.1)

    """
    return tuple(
        Net(layers, rate) for depth in depths for layers in product(widths, repeat=depth) for rate in rates
    )


def score_nets(nets: Sequence[Net], setting: Setting, n_jobs: int | None = -1) -> Scores:
    """Train every net on every fold; the result does not depend on the number of processes."""
    groups = group_nets(nets, NETS_PER_CHUNK)
    chunks = ([nets[at] for at in group] for group in groups)
    parts = Parallel(n_jobs)(delayed(cross_validate)(chunk, setting) for chunk in chunks)
    order = np.argsort(np.concatenate(groups))
    return Scores(*(np.concatenate(each)[order] for each in zip(*parts, strict=True)))


def find_best(nets: Sequence[Net], accuracy: Floats, count: int) -> list[int]:
    """The nets of highest mean accuracy; of equals, those of smaller spread, then of fewer units."""
    accuracy = accuracy.astype(np.float64)
    units = [sum(net.widths) for net in nets]
    best: list[int] = np.lexsort((units, accuracy.std(1).round(6), -accuracy.mean(1).round(6)))[
        :count
    ].tolist()
    return best


def group_nets(nets: Sequence[Net], size: int) -> list[tuple[int, ...]]:
    """Group nets to train together: the positions of at most `size` nets of one depth and similar widths.

    Sorted by widths, neighbours agree in the first layers, which are the costly ones, so that
    little is padded. The costliest come first, so that parallel processes end together.
    """
    order = sorted(range(len(nets)), key=lambda at: (len(nets[at].widths), nets[at].widths), reverse=True)
    by_depth = [tuple(group) for _, group in groupby(order, key=lambda at: len(nets[at].widths))]
    return [group[start : start + size] for group in by_depth for start in range(0, len(group), size)]


@dataclass(frozen=True)
class ModelSelection:
    """The settings of a model selection.

    Parameters
    ----------
    nets
        The nets to search; by default the paper's 4,080 configurations.
    training, encoding
        How nets are trained, and how interpretations are encoded.
    folds
        The number of folds of the cross-validation.
    finalists, seeds
        The number of nets that are scored again, and of seeds for it.
    seed
        The seed of the folds, the initial weights and the order of examples; scoring again uses
        the seeds that follow it.
    device
        Where nets are trained, see `Setting`.

    """

    nets: tuple[Net, ...] = field(default_factory=grid, repr=False)
    training: Training = field(default_factory=Training)
    encoding: EncodingName = "half"
    folds: int = 3
    finalists: int = 50
    seeds: int = 5
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        if min(self.finalists, self.seeds) < 1:
            raise HornbookError(
                f"a choice needs a finalist and a seed; got finalists={self.finalists}, seeds={self.seeds}"
            )

    def validation(self, examples: Examples, seed: int) -> Setting:
        """Cross-validation on the examples."""
        inputs = Encoding.named(self.encoding).encode(examples.batch)
        parts = assign_parts(examples, [1] * self.folds, np.random.default_rng(seed))
        folds = tuple(
            Fold(np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in np.unique(parts)
        )
        return Setting(inputs, examples.accepted, folds, self.training, seed, self.device)

    def whole(self, examples: Examples, seed: int) -> Setting:
        """Training on all the examples."""
        everything = np.arange(len(examples))
        inputs = Encoding.named(self.encoding).encode(examples.batch)
        folds = (Fold(everything, everything),)
        return Setting(inputs, examples.accepted, folds, self.training, seed, self.device)


class SelectionResult(NamedTuple):
    """The result of a model selection: the net, its mean accuracies, and the trained network.

    `cross_validated` is the accuracy of the search, `again` that of further seeds.
    """

    net: Net
    cross_validated: float
    again: float
    network: MLP


def select_network(examples: Examples, selection: ModelSelection) -> SelectionResult:
    """Search the nets, score the best ones again, and train the winner.

    The winner is trained on all examples with each of the further seeds; the network with the
    least final loss is kept.
    """
    # a large search uses every core
    n_jobs = -1 if len(selection.nets) > NETS_PER_CHUNK and selection.device == "cpu" else 1
    accuracy = score_nets(selection.nets, selection.validation(examples, selection.seed), n_jobs).accuracy
    finalists = find_best(selection.nets, accuracy, selection.finalists)
    nets = [selection.nets[at] for at in finalists]
    seeds = range(selection.seed + 1, selection.seed + 1 + selection.seeds)
    again = [score_nets(nets, selection.validation(examples, seed), n_jobs).accuracy for seed in seeds]
    means = np.mean([each.mean(axis=1, dtype=np.float64) for each in again], axis=0)
    first = int(np.argmax(means.round(6)))
    chosen = nets[first]
    losses = [score_nets([chosen], selection.whole(examples, seed), 1).loss[0, 0] for seed in seeds]
    network = train(
        examples,
        chosen,
        training=selection.training,
        encoding=selection.encoding,
        seed=seeds[int(np.argmin(np.nan_to_num(losses, nan=np.inf)))],
    )
    cross_validated = float(accuracy[finalists[first]].mean(dtype=np.float64))
    return SelectionResult(chosen, cross_validated, float(means[first]), network)
