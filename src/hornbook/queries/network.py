"""Our multilayer perceptron on partial interpretations (`MLP`), and the settings of its training.

Importing this module needs PyTorch; without it, the error says how to install it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from hornbook.display import Displayed
from hornbook.errors import HornbookError, library
from hornbook.logic import Batch, Vocabulary
from hornbook.models.adapters.networks import NetworkDescription
from hornbook.models.inputs import Encoding
from hornbook.models.loading import load_model
from hornbook.queries.literals import Literals
from hornbook.schema import write_json
from hornbook.storage import write_file

try:
    import torch as torch
except ImportError as error:
    raise HornbookError('networks need PyTorch: pip install "hornbook[torch]"') from error


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit PyTorch to one thread: small products are many times slower on several."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


Floats: TypeAlias = NDArray[np.float32]
Bools: TypeAlias = NDArray[np.bool_]
Items: TypeAlias = NDArray[np.intp]
Optimiser: TypeAlias = Literal["sgd", "adam"]


@dataclass(frozen=True)
class Net(Displayed):
    """An architecture: the widths of the hidden layers, and the learning rate of its training."""

    widths: tuple[int, ...]
    rate: float

    def __post_init__(self) -> None:
        if not self.widths or min(self.widths) < 1:
            raise HornbookError(f"a net has hidden layers of at least one unit each; got {self.widths}")
        if not self.rate > 0:
            raise HornbookError(f"a learning rate is positive; got {self.rate}")

    def __str__(self) -> str:
        return f"{'-'.join(map(str, self.widths))} at rate {self.rate:g}"


@dataclass(frozen=True)
class Training:
    """The training parameters that all nets of a search share.

    Parameters
    ----------
    optimiser
        `sgd` or `adam`.
    epochs
        The number of epochs.
    batch_size
        The maximum number of examples in a step. The steps of an epoch differ in size by at most one.

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
    """Draw Glorot's initial weights, uniform in ±√(6 / (in + out)), for layer widths, inputs first.

    Examples
    --------
    >>> [weight.shape for weight in glorot([204, 8, 4, 1], np.random.default_rng(0))]
    [(8, 204), (4, 8), (1, 4)]

    """
    return [
        rng.uniform(-1, 1, (above, below)).astype(np.float32) * np.float32((6 / (above + below)) ** 0.5)
        for below, above in pairwise(layers)
    ]


def iterate_batches(items: Items, per_epoch: int, epochs: int, rng: np.random.Generator) -> Iterator[Items]:
    """Yield the examples of each step: every epoch in a new order, cut into `per_epoch` steps."""
    for _ in range(epochs):
        yield from np.array_split(rng.permutation(items), per_epoch)


def steps_per_epoch(size: int, training: Training) -> int:
    """The number of steps in an epoch of `size` examples."""
    return -(-size // training.batch_size)


def order_rng(seed: int, task: int) -> np.random.Generator:
    """The random generator of a task's order of examples, common to all nets."""
    return np.random.default_rng([seed, 0, task])


def weights_rng(seed: int, widths: Sequence[int]) -> np.random.Generator:
    """The random generator of an architecture's initial weights, common to all tasks and rates."""
    return np.random.default_rng([seed, 1, *widths])


class FoldedDuals:
    """A faster network whose first layer has one input per pair of duals; equal on consistent pairs.

    With one channel, `x(not_v) = true + false - x(v)`, so the dual's weight folds into its
    partner's. With two channels ("is it true?", "is it false?"), the dual's are its partner's,
    swapped. The other layers are shared, and the first is folded again when its weights change.
    With `zero` no pair is folded: x(v) and x(not_v) are both 0 where v is unknown.
    """

    def __init__(self, module: torch.nn.Sequential, vocabulary: Vocabulary, encoding: Encoding) -> None:
        self.whole, self.encoding = module, encoding
        self.literals = Literals.of(vocabulary)
        self.vocabulary = Vocabulary(vocabulary.named(self.literals.drawn.tolist()))
        self.seen: list[torch.Tensor] = []

    def applies_to(self, batch: Batch) -> bool:
        """Whether an input follows from its dual's, and there are pairs, none contradicting itself."""
        encoding = self.encoding
        if encoding.channels == 1 and 2 * (encoding.unknown or 0) != encoding.true + encoding.false:
            return False
        return self.literals.count < self.literals.width and not self.literals.contradictions(batch).any()

    def drop_duals(self, batch: Batch) -> Batch:
        """Drop the duals from a batch: the input of the smaller network."""
        return self.literals.of_drawn(batch, self.vocabulary)

    @property
    def module(self) -> torch.nn.Sequential:
        """The smaller network."""
        first, *others = self.whole
        weights = [parameter.detach() for parameter in first.parameters()]
        if not (self.seen and all(map(torch.equal, weights, self.seen))):
            self.seen = [parameter.clone() for parameter in weights]
            self.smaller = torch.nn.Sequential(self._fold_first_layer(*self.seen), *others)
        return self.smaller

    def _fold_first_layer(self, weights: torch.Tensor, bias: torch.Tensor) -> torch.nn.Linear:
        """Fold the weights of duals into those of their partners, (units, inputs)."""
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


EncodingName: TypeAlias = Literal["zero", "half", "signed", "two-channel"]
"""Encodings of 1, 0 and ?: `zero` 1, 0, 0, where false variables have true duals; `half` 1, 0, ½;
`signed` 1, -1, 0; `two-channel` (1, 0), (0, 1), (0, 0)."""

ROWS_PER_BLOCK = 1 << 13
"""Number of interpretations evaluated at a time, so that their encoding stays in the cache."""

Layers: TypeAlias = Sequence[tuple[NDArray[np.floating], NDArray[np.floating]]]
"""The weights (out, in) and the biases of each layer, the first layer first."""


def encode(batch: Batch, encoding: EncodingName) -> Floats:
    """Encode a batch as network inputs, shape (interpretations, inputs)."""
    if encoding not in get_args(EncodingName):
        choice = ", ".join(get_args(EncodingName))
        raise HornbookError(
            f"a network cannot be trained with the encoding {encoding!r}; choose one of {choice}"
        )
    return Encoding.named(encoding).encode(batch)


@dataclass(frozen=True, eq=False)
class MLP:
    """A multilayer perceptron with ReLU units that accepts or rejects partial interpretations.

    Called on a batch, it returns whether each interpretation is accepted, so it is a membership
    oracle. The module itself maps encoded rows to log-odds.

    Parameters
    ----------
    vocabulary
        The variables of the interpretations.
    encoding
        The input encoding.
    module
        The layers; their output is the log-odds of acceptance.
    provenance
        How the network was trained, as JSON.

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
        """Build a network from weights and biases."""
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
        """The network's output for each interpretation; it is accepted where this is positive."""
        if batch.vocabulary is not self.vocabulary and batch.vocabulary != self.vocabulary:
            raise HornbookError("the batch and the network are over different vocabularies")
        module = self.module
        if self._folded_duals.applies_to(batch):
            module, batch = self._folded_duals.module, self._folded_duals.drop_duals(batch)
        encoded, weights = Encoding.named(self.encoding).encode, next(module.parameters())
        with torch.inference_mode(), one_thread():
            parts = [
                apply_to_columns(
                    module, torch.from_numpy(encoded(block, np.float32, "F").T).to(weights.device)
                )[0]
                for block in batch.blocks(ROWS_PER_BLOCK)
            ]
        return np.concatenate([np.empty(0, np.float32), *(part.cpu().numpy() for part in parts)])

    @cached_property
    def _folded_duals(self) -> FoldedDuals:
        return FoldedDuals(self.module, self.vocabulary, Encoding.named(self.encoding))

    def probabilities(self, batch: Batch) -> Floats:
        """The network's probability that each interpretation is accepted."""
        return torch.from_numpy(self.log_odds(batch)).sigmoid().numpy()

    def __call__(self, batch: Batch) -> Bools:
        return self.log_odds(batch) > 0

    def save(self, path: str | Path) -> None:
        """Save the weights to `path`, a `.safetensors` file, and the rest to a JSON file next to it."""
        weights, description = _files(path)
        content, names, duals = self.to_bytes(), self.vocabulary.names, self.vocabulary.dual_names
        write_file(weights, content)
        checksum = hashlib.sha256(content).hexdigest()
        about = NetworkDescription(self.encoding, self.widths, checksum, names, duals, self.provenance)
        write_file(description, write_json(about))

    def to_bytes(self) -> bytes:
        """The weights, as the content of the file that `save` writes."""
        weights: bytes = library("safetensors.torch", "torch").save(self.module.state_dict())
        return weights

    @classmethod
    def load(cls, path: str | Path) -> MLP:
        """Load a network saved to `path`."""
        kept = load_model(_files(path)[0])
        about = kept.description
        return cls(kept.vocabulary, about.encoding, kept.module, about.provenance)


def apply_to_columns(module: torch.nn.Sequential, columns: torch.Tensor) -> torch.Tensor:
    """The output of a network, (outputs, items), for inputs that lie by variable, (inputs, items).

    So lie the bits of a batch; and products with narrow layers are two to three times faster so.
    """
    for layer in module:
        if isinstance(layer, torch.nn.Linear):
            columns = torch.addmm(layer.bias[:, None], layer.weight, columns)
        else:
            columns = torch.relu_(columns)
    return columns


def _module(layers: Sequence[int]) -> torch.nn.Sequential:
    """Make linear layers with ReLU between them, without weights yet."""
    linear = [torch.nn.Linear(below, above, device="meta") for below, above in pairwise(layers)]
    parts = [part for layer in linear for part in (layer, torch.nn.ReLU())]
    return torch.nn.Sequential(*parts[:-1])


def _files(path: str | Path) -> tuple[Path, Path]:
    """The file of the weights, and the JSON file of the rest."""
    path = Path(path)
    if path.suffix != ".safetensors":
        raise HornbookError(f"a network is saved as a .safetensors file; got {path.name!r}")
    return path, path.with_suffix(".json")
