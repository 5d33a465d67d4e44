"""A multilayer perceptron on partial interpretations (`MLP`), and the classifier of `hornbook learn --train`.

Importing this module needs PyTorch; without it, the error says how to install it.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError, library
from hornbook.logic import Batch, Bools, Vocabulary
from hornbook.models.adapters.networks import NetworkDescription
from hornbook.models.inputs import Encoding
from hornbook.models.loading import load_model
from hornbook.randomness import Purpose, generator
from hornbook.schema import write_json
from hornbook.statistics import Share
from hornbook.storage import write_file

try:
    import torch as torch
except ImportError as error:
    raise HornbookError('networks need PyTorch: pip install "hornbook[torch]"') from error

EncodingName: TypeAlias = Literal["zero", "half", "signed", "two-channel"]
"""Encodings of 1, 0 and ?: `zero` 1, 0, 0, where false variables have true duals; `half` 1, 0, ½;
`signed` 1, -1, 0; `two-channel` (1, 0), (0, 1), (0, 0)."""

ROWS_PER_BLOCK = 1 << 13
"""Number of interpretations evaluated at a time, so that their encoding stays in the cache."""

Floats: TypeAlias = NDArray[np.float32]

Layers: TypeAlias = Sequence[tuple[NDArray[np.floating], NDArray[np.floating]]]
"""The weights (out, in) and the biases of each layer, the first layer first."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit PyTorch to one thread: small products are many times slower on several."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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
    >>> network.log_odds(batch)
    array([ 1. ,  0.5, -0.5], dtype=float32)

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
        parts: list[torch.nn.Module] = []
        for weight, bias in layers:
            linear = torch.nn.Linear(weight.shape[1], len(bias))
            state = {"weight": np.array(weight), "bias": np.array(bias)}
            linear.load_state_dict({name: torch.from_numpy(part) for name, part in state.items()})
            parts += [linear, torch.nn.ReLU()]
        return cls(vocabulary, encoding, torch.nn.Sequential(*parts[:-1]).eval(), provenance or {})

    @property
    def widths(self) -> tuple[int, ...]:
        """The units of each hidden layer."""
        return tuple(len(layer.bias) for layer in self.module if isinstance(layer, torch.nn.Linear))[:-1]

    def log_odds(self, batch: Batch) -> Floats:
        """The network's output for each interpretation; it is accepted where this is positive."""
        if batch.vocabulary is not self.vocabulary and batch.vocabulary != self.vocabulary:
            raise HornbookError("the batch and the network are over different vocabularies")
        encode, parts = Encoding.named(self.encoding).encode, [np.empty(0, np.float32)]
        with torch.inference_mode(), one_thread():
            for block in batch.blocks(ROWS_PER_BLOCK):
                inputs = torch.from_numpy(encode(block, np.float32, "F"))  # so the bits of a batch lie
                parts.append(self.module(inputs)[:, 0].numpy())
        return np.concatenate(parts)

    def __call__(self, batch: Batch) -> Bools:
        return self.log_odds(batch) > 0

    def save(self, path: str | Path) -> None:
        """Save the weights to `path`, a `.safetensors` file, and the rest to a JSON file next to it."""
        path = Path(path)
        if path.suffix != ".safetensors":
            raise HornbookError(f"a network is saved as a .safetensors file; got {path.name!r}")
        content, names, duals = self.to_bytes(), self.vocabulary.names, self.vocabulary.dual_names
        write_file(path, content)
        checksum = hashlib.sha256(content).hexdigest()
        about = NetworkDescription(self.encoding, self.widths, checksum, names, duals, self.provenance)
        write_file(path.with_suffix(".json"), write_json(about))

    def to_bytes(self) -> bytes:
        """The weights, as the content of the file that `save` writes."""
        weights: bytes = library("safetensors.torch", "torch").save(self.module.state_dict())
        return weights

    @classmethod
    def load(cls, path: str | Path) -> MLP:
        """Load a network saved to `path`."""
        kept = load_model(Path(path))
        about = kept.description
        return cls(kept.vocabulary, about.encoding, kept.module, about.provenance)


HIDDEN_LAYERS, RATE = (32, 16), 0.01
MAX_EPOCHS, PATIENCE = 200, 20
"""The most epochs, and how many without improvement end the training before."""

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
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    if len(rows) < MIN_ROWS:
        raise HornbookError(f"a network is trained on at least {MIN_ROWS} rows; got {len(rows)}")
    rng = generator(seed, Purpose.NETWORK_TRAINING)
    test, fit = np.split(rng.permutation(len(rows)), [len(rows) // HELD_OUT_PARTS])
    if len(np.unique(classes[fit])) < 2:
        raise HornbookError("the rows that a network would be trained on are all of one class")
    seen = Batch.concatenate(_hide_values(rows[fit], share, rng) for share in HIDDEN_SHARES)
    model = MLPClassifier(
        HIDDEN_LAYERS,
        learning_rate_init=RATE,
        batch_size=min(32, len(seen)),
        max_iter=MAX_EPOCHS,
        early_stopping=True,
        n_iter_no_change=PATIENCE,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(Encoding.named("half").encode(seen), np.tile(classes[fit], len(HIDDEN_SHARES)))
    network = MLP.of(
        [(weight.T, bias) for weight, bias in zip(model.coefs_, model.intercepts_, strict=True)],
        rows.vocabulary,
        provenance={"examples": len(seen), "epochs": model.n_iter_, "seed": seed},
    )
    return TrainedClassifier(network, Share.where(network(rows[test]) == classes[test]))


def _hide_values(batch: Batch, share: float, rng: np.random.Generator) -> Batch:
    """Hide each value with probability `share`, together with its dual."""
    values = batch.to_array()
    hidden = rng.random(values.shape) < share
    for v, dual in batch.vocabulary.pairs:
        hidden[:, dual] = hidden[:, v]
    return Batch.from_array(np.where(hidden, np.nan, values), batch.vocabulary)
