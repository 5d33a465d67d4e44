"""The architecture search: train all nets of a grid, score the best ones again, and train the winner.

Nets of one depth are trained together, as one stack of tensors padded to the widest of them, once on
every fold. The best of thousands of noisy scores is partly best by luck. The finalists are therefore
trained again, from other initial weights and on other folds, and only these scores decide. The accuracy
on fresh examples is reported, but plays no part.

Legend
------
T   tasks: every net is trained once on each; a task is a fold with its order of examples
N   nets of one depth, each with its own widths and learning rate
w   units of a layer, padded to the widest net of the stack
b   examples of one step
n   inputs
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, pairwise, product
from typing import NamedTuple

import numpy as np

from hornbook.errors import HornbookError
from hornbook.models import Floats
from hornbook.paper.stages import parallel_map
from hornbook.queries import MLP, Examples, Net, Training, accuracy_by_kind, assign_parts, train
from hornbook.queries.network import (
    Bools,
    EncodingName,
    Items,
    encode,
    glorot,
    iterate_batches,
    one_thread,
    order_rng,
    steps_per_epoch,
    torch,
    weights_rng,
)
from hornbook.statistics import Share

EXAMPLES_PER_BLOCK = 256
"""Number of examples evaluated at a time, to bound memory."""

NETS_PER_CHUNK = {"cpu": 24, "cuda": 4096}
"""Number of nets trained together: few on a CPU, so that they have similar widths and fit the cache;
many on a GPU, so that every launch occupies the whole chip."""


class Fold(NamedTuple):
    """The positions of the training examples and of the validation examples."""

    train: Items
    valid: Items


def make_folds(parts: Items) -> tuple[Fold, ...]:
    """Make a fold for each part, which is validated on; `parts` is the part number of each example.

    Examples
    --------
    >>> for fold in make_folds(np.array([0, 1, 1, 0])):
    ...     print(fold.train, fold.valid)
    [1 2] [0 3]
    [0 3] [1 2]

    """
    return tuple(
        Fold(np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in np.unique(parts)
    )


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

    """

    inputs: Floats
    labels: Bools
    folds: tuple[Fold, ...]
    training: Training
    seed: int = 0

    def __post_init__(self) -> None:
        if self.training.optimiser != "sgd":
            raise HornbookError(f"a search descends by sgd; got {self.training.optimiser!r}")


class Score(NamedTuple):
    """One net, and its validation accuracy in each fold."""

    net: Net
    accuracies: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean accuracy."""
        return float(np.mean(self.accuracies))


@dataclass(frozen=True, eq=False)
class Scores:
    """The outcome of training each net on each task, as (N, T) arrays.

    `accuracy` is on the validation examples, `loss` on the training examples.
    """

    nets: tuple[Net, ...]
    accuracy: Floats
    loss: Floats

    @classmethod
    def concatenate(cls, parts: Sequence[Scores], order: Items) -> Scores:
        """Join several scores; `order` has the positions of all their nets in the whole."""
        at = np.argsort(order)
        nets = [net for part in parts for net in part.nets]
        columns = (
            np.concatenate(each)[at] for each in zip(*((p.accuracy, p.loss) for p in parts), strict=True)
        )
        return cls(tuple(nets[position] for position in at.tolist()), *columns)

    def best(self, count: int) -> list[Score]:
        """The nets of highest mean accuracy; of equals, those of smaller spread, then of fewer units."""
        accuracy = self.accuracy.astype(np.float64)
        units = [sum(net.widths) for net in self.nets]
        order = np.lexsort((units, accuracy.std(1).round(6), -accuracy.mean(1).round(6)))
        return [self[at] for at in order[:count].tolist()]

    def __getitem__(self, position: int) -> Score:
        return Score(self.nets[position], tuple(self.accuracy[position].tolist()))

    def __len__(self) -> int:
        return len(self.nets)


class Stack:
    """Nets of one depth with their weights, once for each task.

    The weights of the first layer are (T, N·w, n), so that it is one product a task; those of the others
    are (T·N, w, w below). Biases have the same shape but for a last axis of one; the output is a layer of
    one unit. A padded unit has weights and bias zero on both sides, and so are all of its gradients.
    """

    def __init__(self, nets: Sequence[Net], inputs: int, tasks: int, seed: int, device: str) -> None:
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
        blocks = torch.split(examples, EXAMPLES_PER_BLOCK)
        return torch.cat([self.outputs(block.t().expand(self.tasks, -1, -1)) for block in blocks], dim=2)

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


def make_schedule(folds: Sequence[Fold], training: Training, seed: int, device: str) -> Schedule:
    """Draw the order in which each task sees its training examples."""
    per_epoch = max(steps_per_epoch(len(fold.train), training) for fold in folds)
    shape = (len(folds), per_epoch * training.epochs, training.batch_size)
    items, shares = np.zeros(shape, np.int64), np.zeros(shape, np.float32)
    for task, fold in enumerate(folds):
        order = iterate_batches(fold.train, per_epoch, training.epochs, order_rng(seed, task))
        for step, chosen in enumerate(order):
            items[task, step, : len(chosen)] = chosen
            shares[task, step, : len(chosen)] = 1 / max(len(chosen), 1)
    return Schedule(torch.from_numpy(items).to(device), torch.from_numpy(shares).to(device))


@one_thread()
def cross_validate(nets: Sequence[Net], setting: Setting, device: str = "cpu") -> Scores:
    """Train nets of one depth on every fold and validate them on the rest of it.

    Apart from rounding, a net's result does not depend on the nets it is trained with.
    """
    folds, labels = setting.folds, setting.labels
    stack = Stack(nets, setting.inputs.shape[1], len(folds), setting.seed, device)
    examples = torch.tensor(setting.inputs, dtype=torch.float32, device=device)
    targets = torch.tensor(labels, dtype=torch.float32, device=device)
    stack.descend(examples, targets, make_schedule(folds, setting.training, setting.seed, device))
    outputs = stack.outputs_of_all(examples)
    trained, validated = (
        torch.from_numpy(_indicators(items, len(labels))).to(device).unsqueeze(1)
        for items in zip(*folds, strict=True)
    )
    results = (
        _mean((outputs > 0) == (targets > 0), validated),
        _mean(_loss(outputs, targets), trained),
    )
    return Scores(tuple(nets), *(result.t().cpu().numpy() for result in results))


def _loss(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The binary cross-entropy of log-odds."""
    return torch.nn.functional.softplus(outputs) - outputs * targets


def _mean(values: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    return (values * chosen).sum(2) / chosen.sum(2)


def _indicators(items: Sequence[Items], size: int) -> Floats:
    """For each task, 1 at the chosen examples and 0 elsewhere."""
    chosen = np.zeros((len(items), size), np.float32)
    for row, ones in zip(chosen, items, strict=True):
        row[ones] = 1
    return chosen


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


def score_nets(
    nets: Sequence[Net], setting: Setting, *, device: str = "cpu", n_jobs: int | None = -1
) -> Scores:
    """Train every net on every fold.

    Parameters
    ----------
    nets
        The nets; see `grid`.
    setting
        The examples, folds and training parameters.
    device
        `cpu`, or `cuda` for a GPU.
    n_jobs
        Number of processes on a CPU, by default one per core; see `hornbook.paper.stages.parallel_map`.
        The result does not depend on it.

    """
    kind = device.partition(":")[0]
    if kind not in NETS_PER_CHUNK or (kind == "cuda" and not torch.cuda.is_available()):
        raise HornbookError(f"there is no device {device!r} here; use 'cpu', or 'cuda' where there is a GPU")
    if not nets:
        raise HornbookError("there are no nets to train")
    groups = group_nets(nets, NETS_PER_CHUNK[kind])
    chunks = [[nets[at] for at in group] for group in groups]
    train_chunk = partial(cross_validate, setting=setting, device=device)
    scores: Iterator[Scores] = (
        parallel_map(train_chunk, chunks, n_jobs) if kind == "cpu" else map(train_chunk, chunks)
    )
    return Scores.concatenate(list(scores), np.concatenate(groups))


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

    """

    nets: tuple[Net, ...] = field(default_factory=grid, repr=False)
    training: Training = field(default_factory=Training)
    encoding: EncodingName = "half"
    folds: int = 3
    finalists: int = 50
    seeds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.finalists, self.seeds) < 1:
            raise HornbookError(
                f"a choice needs a finalist and a seed; got finalists={self.finalists}, seeds={self.seeds}"
            )

    def validation(self, examples: Examples, seed: int) -> Setting:
        """Cross-validation on the examples."""
        inputs = encode(examples.batch, self.encoding)
        numbers = assign_parts(examples, [1] * self.folds, np.random.default_rng(seed))
        return Setting(inputs, examples.accepted, make_folds(numbers), self.training, seed)

    def test(self, examples: Examples, fresh: Examples, seed: int) -> Setting:
        """Training on all the examples, to be tested on fresh ones."""
        together = Examples.concatenate([examples, fresh])
        fold = Fold(*np.split(np.arange(len(together)), [len(examples)]))
        inputs = encode(together.batch, self.encoding)
        return Setting(inputs, together.accepted, (fold,), self.training, seed)


@dataclass(frozen=True, eq=False)
class SelectionResult:
    """The result of a model selection, and the trained network.

    `scores` are those of the search, `finalists` its best nets in the order of `again`, their mean
    accuracies with further seeds. `fresh` is the accuracy of the network on fresh examples, by kind.
    """

    scores: Scores
    finalists: tuple[Score, ...]
    again: tuple[float, ...]
    network: MLP
    fresh: dict[str, Share]


def select_network(
    examples: Examples,
    fresh: Examples,
    selection: ModelSelection | None = None,
    *,
    n_jobs: int | None = -1,
) -> SelectionResult:
    """Search the nets, score the best ones again, and train the winner.

    The winner is trained on all examples with each of the further seeds; the network with the
    least final loss is kept.

    Parameters
    ----------
    examples
        The examples for training and validation.
    fresh
        Examples that play no part in the selection.
    selection
        The settings.
    n_jobs
        Number of processes; see `score_nets`.

    """
    selection = selection or ModelSelection()
    scores = score_nets(selection.nets, selection.validation(examples, selection.seed), n_jobs=n_jobs)
    best = scores.best(selection.finalists)
    nets = [score.net for score in best]
    seeds = range(selection.seed + 1, selection.seed + 1 + selection.seeds)
    again = [score_nets(nets, selection.validation(examples, seed), n_jobs=n_jobs) for seed in seeds]
    means = np.mean([each.accuracy.mean(axis=1, dtype=np.float64) for each in again], axis=0)
    order = np.argsort(-means.round(6), kind="stable").tolist()
    chosen = nets[order[0]]
    losses = [
        score_nets([chosen], selection.test(examples, fresh, seed), n_jobs=n_jobs).loss for seed in seeds
    ]
    network = train(
        examples,
        chosen,
        training=selection.training,
        encoding=selection.encoding,
        seed=seeds[int(np.argmin(np.nan_to_num(losses, nan=np.inf)))],
    )
    return SelectionResult(
        scores,
        tuple(best[at] for at in order),
        tuple(means[order].tolist()),
        network,
        accuracy_by_kind(fresh, network(fresh.batch)),
    )
