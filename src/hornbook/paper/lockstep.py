"""Many small networks trained in lockstep, as one tensor program.

Legend
------
T   tasks: every net is trained once on each; a task is a fold with its order of examples
N   nets of one depth, each with its own widths and learning rate
w   units of a layer, padded to the widest net of the stack
b   examples of one step
n   inputs

Units are rows and examples are columns, so that the first layer of all nets of a task is a
single product (N·w, n) × (n, b) whose result is, without a copy, the (N, w, b) stack that
the batched products of the inner layers take. The backward pass is written out: it needs
one product for each gradient and updates the weights where they are.

A padded unit has weights and bias zero on both sides. Its activation is zero, and so is the
slope of ReLU there, so every gradient that touches it is exactly zero and it stays as it is.

This module needs NumPy and PyTorch alone, and runs unchanged on a CPU and on CUDA.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from hornbook.errors import HornbookError
from hornbook.models import Floats
from hornbook.queries import Net, Training
from hornbook.queries.network import (
    Bools,
    Items,
    Optimiser,
    glorot,
    iterate_batches,
    one_thread,
    order_rng,
    steps_per_epoch,
    torch,
    weights_rng,
)

Tensor: TypeAlias = torch.Tensor

EXAMPLES_PER_BLOCK = 256
"""Number of examples evaluated at a time, to bound memory."""


def repeat_job(job: Callable[[], None], times: int, device: torch.device) -> None:
    """Run a job, which works on tensors only, `times` times.

    On a GPU the job is recorded once and replayed, which avoids the launch time of small kernels.
    The first runs are ordinary, so that libraries are initialised.
    """
    ordinary = times if device.type != "cuda" else min(times, 3)
    for _ in range(ordinary):
        job()
    if times > ordinary:
        recorded = torch.cuda.CUDAGraph()
        torch.cuda.synchronize(device)
        with torch.cuda.graph(recorded):
            job()
        for _ in range(times - ordinary):
            recorded.replay()
        torch.cuda.synchronize(device)


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
        Optimiser, epochs and batch size.
    seed
        The seed of the initial weights and of the order of examples.

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


@dataclass(frozen=True)
class Outcome:
    """The result of training each net on each task, as (N, T) arrays.

    `accuracy` is on the validation examples; the losses are on the training examples.
    `constant` is true where the net gives the same output to every example.
    """

    accuracy: Floats
    loss_before: Floats
    loss_after: Floats
    constant: Bools


class Schedule(NamedTuple):
    """The examples of each step and their weights in its mean loss, both of shape (T, steps, b).

    A step with fewer than b examples is padded with examples of weight zero.
    """

    items: Tensor
    shares: Tensor


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


class Stack:
    """Nets of one depth with their weights, once for each task.

    The weights of the first layer are (T, N·w, n), those of the others (T·N, w, w below);
    biases and learning rates have the same shape but for a last axis of one. The output is a
    layer of one unit. All weights and biases are views of one vector, `parameters`.
    """

    def __init__(self, nets: Sequence[Net], inputs: int, tasks: int, seed: int, device: str) -> None:
        self.nets, self.tasks, self.inputs = tuple(nets), tasks, inputs
        self.widest = (inputs, *map(max, zip(*(net.widths for net in nets), strict=True)), 1)
        size = sum((below + 1) * above for below, above in pairwise(self.widest)) * tasks * len(nets)
        self.parameters = torch.zeros(size, device=device)
        self.weights, self.biases = self.views(self.parameters)
        for whole, padded in zip(self.weights, self._first_weights(seed), strict=True):
            whole.view(tasks, len(nets), *padded.shape[1:]).copy_(torch.from_numpy(padded))
        rates = torch.tensor([net.rate for net in nets], device=device).repeat(tasks).view(-1, 1, 1)
        self.rates = [rates] * len(self.weights)
        self.rates[0] = rates.repeat_interleave(self.widest[1]).view(tasks, -1, 1)

    def views(self, vector: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """View a vector as the weights and biases of each layer."""
        weights, biases, start = [], [], 0
        copies = self.tasks * len(self.nets)
        for layer, (below, above) in enumerate(pairwise(self.widest)):
            first = self.tasks if layer == 0 else copies
            middle, end = start + copies * above * below, start + copies * above * (below + 1)
            weights.append(vector[start:middle].view(first, -1, below))
            biases.append(vector[middle:end].view(first, -1, 1))
            start = end
        return weights, biases

    def _first_weights(self, seed: int) -> list[Floats]:
        """Draw the initial weights of each layer, (N, w, w below), zero where padded."""
        nets = self.nets
        padded = [np.zeros((len(nets), above, below), np.float32) for below, above in pairwise(self.widest)]
        first = {
            widths: glorot((self.inputs, *widths, 1), weights_rng(seed, widths))
            for widths in {net.widths for net in nets}
        }
        for position, net in enumerate(nets):
            for whole, weight in zip(padded, first[net.widths], strict=True):
                whole[position, : weight.shape[0], : weight.shape[1]] = weight
        return padded

    def activations(self, inputs: Tensor) -> list[Tensor]:
        """Return the input of each layer and the output, for inputs of shape (T, n, b)."""
        flow = [inputs]
        for weight, bias in zip(self.weights, self.biases, strict=True):
            entering = flow[-1] if len(flow) == 1 else flow[-1].relu_()
            leaving = torch.baddbmm(bias, weight, entering)
            flow.append(leaving.view(self.tasks * len(self.nets), -1, inputs.shape[2]))
        return flow

    def outputs(self, examples: Tensor) -> Tensor:
        """The output of every net for every example, (T, N, examples)."""
        blocks = [
            self.activations(block.t().expand(self.tasks, -1, -1))[-1].view(self.tasks, len(self.nets), -1)
            for block in torch.split(examples, EXAMPLES_PER_BLOCK)
        ]
        return torch.cat(blocks, dim=2)


class Sgd:
    """Stochastic gradient descent; each product is added to the weights in place."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack

    def descend(self, layer: int, error: Tensor, entering: Tensor) -> None:
        """Update one layer, from the error of its units, (·, w, b), and its input."""
        error = error * self.stack.rates[layer]
        self.stack.weights[layer].baddbmm_(error, entering.transpose(1, 2), alpha=-1)
        self.stack.biases[layer].sub_(error.sum(2, keepdim=True))


class Adam:
    """Adam with the usual constants, as in `torch.optim.Adam`.

    References
    ----------
    Kingma, Ba. Adam: a method for stochastic optimization. ICLR 2015.

    """

    BETAS = (0.9, 0.999)
    EPSILON = 1e-8
    TINY = 1e-30
    """Initial second moments: negligible compared with ε, but CPUs are slow at the root of zero."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        device = stack.parameters.device
        self.betas = torch.tensor(self.BETAS, dtype=torch.float64, device=device)
        self.decayed = torch.ones_like(self.betas)
        self.gradient = torch.zeros_like(stack.parameters)
        self.weights, self.biases = stack.views(self.gradient)
        self.first = torch.zeros_like(self.gradient)
        self.second = torch.full_like(self.gradient, self.TINY)
        self.rates = torch.empty_like(self.gradient)
        for views in stack.views(self.rates):
            for view, rates in zip(views, stack.rates, strict=True):
                view.copy_(rates)

    def descend(self, layer: int, error: Tensor, entering: Tensor) -> None:
        """Compute the gradients of a layer; after the first layer, which comes last, update all layers."""
        torch.bmm(error, entering.transpose(1, 2), out=self.weights[layer])
        torch.sum(error, 2, keepdim=True, out=self.biases[layer])
        if layer == 0:
            self._move()

    def _move(self) -> None:
        decay, decay_square = self.BETAS
        seen, seen_square = 1 - self.decayed.mul_(self.betas)
        scale = seen_square.sqrt()
        self.first.lerp_(self.gradient, 1 - decay)
        self.second.mul_(decay_square).addcmul_(self.gradient, self.gradient, value=1 - decay_square)
        root = self.second.sqrt().add_(scale * self.EPSILON).mul_(seen / scale)
        self.stack.parameters.addcmul_(torch.div(self.first, root, out=root), self.rates, value=-1)


def train(stack: Stack, examples: Tensor, targets: Tensor, order: Schedule, optimiser: Optimiser) -> None:
    """Train every net of the stack on every task, in place.

    `examples` is (k, n), `targets` the k labels as 0 and 1.
    """
    descent: Sgd | Adam = Sgd(stack) if optimiser == "sgd" else Adam(stack)
    by_task = (stack.tasks, len(stack.nets), -1)
    wanted = targets[order.items]
    # a number where the nets are, so that a device can go through the steps by itself
    at = torch.zeros(1, dtype=torch.int64, device=examples.device)

    def step() -> None:
        items = order.items.index_select(1, at)[:, 0]
        *flow, output = stack.activations(examples[items].transpose(1, 2))
        slope = output.view(by_task).sigmoid()
        slope.sub_(wanted.index_select(1, at)).mul_(order.shares.index_select(1, at))
        error = slope.view_as(output)
        for layer in range(len(flow) - 1, 0, -1):
            below = torch.bmm(stack.weights[layer].transpose(1, 2), error).mul_(flow[layer].sign())
            descent.descend(layer, error, flow[layer])
            error = below
        descent.descend(0, error.view(stack.tasks, -1, error.shape[2]), flow[0])
        at.add_(1)

    repeat_job(step, order.items.shape[1], examples.device)


@one_thread()
def cross_validate(nets: Sequence[Net], setting: Setting, device: str = "cpu") -> Outcome:
    """Train nets of one depth on every fold and validate them on the rest of it.

    Apart from rounding, a net's result does not depend on the nets it is trained with.
    """
    folds, labels = setting.folds, setting.labels
    stack = Stack(nets, setting.inputs.shape[1], len(folds), setting.seed, device)
    examples = torch.tensor(setting.inputs, dtype=torch.float32, device=device)
    targets = torch.tensor(labels, dtype=torch.float32, device=device)
    before = stack.outputs(examples)
    order = make_schedule(folds, setting.training, setting.seed, device)
    train(stack, examples, targets, order, setting.training.optimiser)
    after = stack.outputs(examples)
    trained, validated = (
        torch.from_numpy(_indicators(items, len(labels))).to(device).unsqueeze(1)
        for items in zip(*folds, strict=True)
    )
    results = (
        _mean((after > 0) == (targets > 0), validated),
        _mean(_loss(before, targets), trained),
        _mean(_loss(after, targets), trained),
        after.amax(2) == after.amin(2),
    )
    return Outcome(*(result.t().cpu().numpy() for result in results))


def _loss(output: Tensor, targets: Tensor) -> Tensor:
    return torch.nn.functional.softplus(output) - output * targets


def _mean(values: Tensor, chosen: Tensor) -> Tensor:
    return (values * chosen).sum(2) / chosen.sum(2)


def _indicators(items: Sequence[Items], size: int) -> Floats:
    """For each task, 1 at the chosen examples and 0 elsewhere."""
    chosen = np.zeros((len(items), size), np.float32)
    for row, ones in zip(chosen, items, strict=True):
        row[ones] = 1
    return chosen
