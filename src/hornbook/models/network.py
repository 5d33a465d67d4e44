"""PyTorch, or a word on how to get it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from hornbook.distributions import Literals
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary, arrays
from hornbook.logic.dense import device_block
from hornbook.models.encoding import Encoding
from hornbook.models.from_torch import module_on
from hornbook.models.loading import load_model
from hornbook.models.predictor import alone, close_rows

try:
    import torch as torch
except ImportError as error:
    raise HornbookError('networks need PyTorch: pip install "hornbook[torch]"') from error


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep PyTorch to one thread: small products are many times slower on several."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def repeat(job: Callable[[], None], times: int, device: torch.device) -> None:
    """Do a job, which works on tensors alone, so many times.

    On a GPU the job is recorded once and replayed: small kernels are then not kept waiting by
    the calls that launch them. The first runs are ordinary, so that libraries are set up.
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


def make_folds(parts: Items) -> tuple[Fold, ...]:
    """A fold for each part, which is validated on; `parts` gives the number of each example's part.

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


class Halved:
    """A network whose first layer has one input a pair: on consistent pairs it gives the same, in less time.

    With one number a value, a dual's is what its partner's lacks of that for true and that for
    false together. With two, "is it true?" and "is it false?", they are its partner's, exchanged.
    The other layers are the network's own, and the first is made anew when its weights have changed.
    """

    def __init__(self, module: torch.nn.Sequential, vocabulary: Vocabulary, encoding: Encoding) -> None:
        self.whole, self.encoding = module, encoding
        self.literals = Literals.of(vocabulary)
        self.vocabulary = Vocabulary(vocabulary.named(self.literals.drawn.tolist()))
        self.seen: list[torch.Tensor] = []

    def takes(self, batch: Batch) -> bool:
        """Whether there are pairs, and none of them contradicts itself."""
        return self.literals.count < self.literals.width and not self.literals.contradictions(batch).any()

    def half(self, batch: Batch) -> Batch:
        """What the smaller network is given for a batch."""
        return self.literals.of_drawn(batch, self.vocabulary)

    @property
    def module(self) -> torch.nn.Sequential:
        """The smaller network."""
        first, *others = self.whole
        weights = [parameter.detach() for parameter in first.parameters()]
        if not (self.seen and all(map(torch.equal, weights, self.seen))):
            self.seen = [parameter.clone() for parameter in weights]
            self.smaller = torch.nn.Sequential(self._folded(*self.seen), *others)
        return self.smaller

    def _folded(self, weights: torch.Tensor, bias: torch.Tensor) -> torch.nn.Linear:
        """The first layer over the drawn variables."""
        literals, encoding = self.literals, self.encoding
        drawn, paired, duals = map(torch.as_tensor, (literals.drawn, literals.paired, literals.duals))
        channels = weights.double().chunk(encoding.channels, dim=1)
        kept, shift = [channel[:, drawn] for channel in channels], torch.zeros_like(bias, dtype=torch.float64)
        for own, other in zip(kept, reversed(channels), strict=True):
            own[:, paired] += other[:, duals] * (1 if encoding.channels == 2 else -1)
        if encoding.channels == 1:
            shift += (encoding.true + encoding.false) * channels[0][:, duals].sum(dim=1)
        linear = torch.nn.Linear(encoding.inputs(literals.count), len(bias), device="meta")
        for name, values in (("weight", torch.cat(kept, dim=1)), ("bias", bias + shift)):
            setattr(linear, name, torch.nn.Parameter(values.to(weights.dtype), requires_grad=False))
        return linear


EncodingName: TypeAlias = Literal["half", "signed", "two-channel"]
"""How 1, 0 and ? become numbers: 1, 0, ½; or 1, -1, 0; or (1, 0), (0, 1), (0, 0)."""

BLOCK = 1 << 13
"""Interpretations that enter a network at a time: their numbers stay in the cache."""

Layers: TypeAlias = Sequence[tuple[NDArray[np.floating], NDArray[np.floating]]]
"""The weights (out, in) and the biases of each layer, the first layer first."""


def encode(batch: Batch, encoding: EncodingName) -> Floats:
    """The batch as the numbers that enter a network, one row an interpretation."""
    if encoding not in get_args(EncodingName):
        choice = ", ".join(get_args(EncodingName))
        raise HornbookError(
            f"a network cannot be trained with the encoding {encoding!r}; choose one of {choice}"
        )
    return Encoding.named(encoding).encode(batch)


@dataclass(frozen=True, eq=False)
class MLP:
    """A multilayer perceptron with ReLU units that accepts or rejects partial interpretations.

    Called on a batch it says for each interpretation whether it is accepted, so it serves as
    a membership oracle as it is. The module alone maps encoded rows to log-odds.

    Parameters
    ----------
    vocabulary
        The variables that it judges.
    encoding
        How they enter the network.
    module
        The layers, which give the log-odds that an interpretation is accepted.
    provenance
        How the network came about, ready for JSON.

    Examples
    --------
    >>> vocabulary = Vocabulary(["sunny", "happy"])
    >>> network = MLP.of([(np.ones((1, 2)), -np.ones(1))], vocabulary)
    >>> batch = Batch.from_array([[1, 1], [1, np.nan], [0, np.nan]], vocabulary)
    >>> network(batch)
    array([ True,  True, False])
    >>> network.probabilities(batch).round(2)
    array([0.73, 0.62, 0.38], dtype=float32)

    """

    vocabulary: Vocabulary
    encoding: EncodingName
    module: torch.nn.Sequential
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        layers: Layers,
        vocabulary: Vocabulary,
        encoding: EncodingName = "half",
        provenance: Mapping[str, Any] | None = None,
    ) -> MLP:
        """The network with given weights and biases."""
        widths = [layers[0][0].shape[1], *(len(bias) for _, bias in layers)]
        module = _module(widths)
        state = {
            f"{2 * layer}.{name}": torch.as_tensor(np.array(values), dtype=torch.float32)
            for layer, parameters in enumerate(layers)
            for name, values in zip(("weight", "bias"), parameters, strict=True)
        }
        module.load_state_dict(state, assign=True)
        return cls(vocabulary, encoding, module.eval(), provenance or {})

    @property
    def widths(self) -> tuple[int, ...]:
        """The units of each hidden layer."""
        biases = [values for name, values in self.module.state_dict().items() if name.endswith("bias")]
        return tuple(len(bias) for bias in biases[:-1])

    def log_odds(self, batch: Batch) -> Floats:
        """The network's output for each interpretation; it is accepted where this is positive.

        Whether it is positive depends on the interpretation alone: outputs that rounding might
        move over 0 are those of the interpretation asked about alone, as with `Predictor`.
        """
        odds, weights = self._rounded_log_odds(batch), next(self.module.parameters())
        for at in close_rows(abs(odds) / 4):  # the slope of a probability at log-odds 0
            row = alone(encode(batch[at : at + 1], self.encoding), 0, np.float32)
            with torch.inference_mode():
                odds[at] = self.module(torch.from_numpy(row).to(weights.device)).item()
        return odds

    def _rounded_log_odds(self, batch: Batch) -> Floats:
        """The network's output, as it is rounded in this batch."""
        if batch.vocabulary is not self.vocabulary and batch.vocabulary != self.vocabulary:
            raise HornbookError("the batch and the network are over different vocabularies")
        module = self.module
        if self._halved.takes(batch):
            module, batch = self._halved.module, self._halved.half(batch)
        if not arrays.on_host(batch.true):
            return self._log_odds_there(module, batch)
        encoded, weights = Encoding.named(self.encoding).encode, next(module.parameters())
        with torch.inference_mode():
            parts = [
                # one row a variable is how bits lie, and a product takes either order
                module(torch.from_numpy(encoded(block, np.float32, "F")).to(weights.device)).squeeze(1)
                for block in batch.blocks(BLOCK)
            ]
        return np.concatenate([np.empty(0, np.float32), *(part.cpu().numpy() for part in parts)])

    def to(self, device: str) -> MLP:
        """The same network on a device of PyTorch's, where batches that were drawn there are judged."""
        return replace(self, module=deepcopy(self.module).to(device))

    @cached_property
    def _halved(self) -> Halved:
        return Halved(self.module, self.vocabulary, Encoding.named(self.encoding))

    def _log_odds_there(self, module: torch.nn.Sequential, batch: Batch) -> Floats:
        """The output as a tensor where the batch is, and nowhere else."""
        encoding, module = Encoding.named(self.encoding), module_on(module, batch.true.device)
        blocks = batch.blocks(device_block(encoding.inputs(len(batch.vocabulary))))
        with torch.inference_mode():
            parts = [module(encoding.encode(block, np.float32, "F")).squeeze(1) for block in blocks]
        there: Any = torch.cat(parts)
        odds: Floats = there
        return odds

    def probabilities(self, batch: Batch) -> Floats:
        """The probability that the network gives to each interpretation being accepted."""
        return torch.from_numpy(self.log_odds(batch)).sigmoid().numpy()

    def __call__(self, batch: Batch) -> Bools:
        return self.log_odds(batch) > 0

    def save(self, path: str | Path) -> None:
        """Write the weights to `path`, a `.safetensors` file, and all else to the JSON file beside it."""
        from safetensors.torch import save_file

        weights, description = _files(path)
        save_file(self.module.state_dict(), weights)
        names = self.vocabulary.names
        about = {
            "encoding": self.encoding,
            "widths": self.widths,
            "weights": hashlib.sha256(weights.read_bytes()).hexdigest(),
            "vocabulary": names,
            "duals": {names[v]: names[w] for v, w in self.vocabulary.pairs},
            "provenance": self.provenance,
        }
        description.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> MLP:
        """The network that was saved to `path`."""
        weights, description = _files(path)
        kept = load_model(weights)
        about = json.loads(description.read_text(encoding="utf-8"))
        return cls(kept.vocabulary, about["encoding"], kept.module, about.get("provenance", {}))


def _module(layers: Sequence[int]) -> torch.nn.Sequential:
    """Linear layers with ReLU between them, whose weights are still to be assigned."""
    linear = [torch.nn.Linear(below, above, device="meta") for below, above in pairwise(layers)]
    parts = [part for layer in linear for part in (layer, torch.nn.ReLU())]
    return torch.nn.Sequential(*parts[:-1])


def _files(path: str | Path) -> tuple[Path, Path]:
    """The file of the weights and the file of all else."""
    path = Path(path)
    if path.suffix != ".safetensors":
        raise HornbookError(f"a network is saved as a .safetensors file; got {path.name!r}")
    return path, path.with_suffix(".json")
