"""A network that judges partial interpretations: how it reads them, is asked, and is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from hornbook.experiments.backend import torch
from hornbook.experiments.halved import Halved
from hornbook.experiments.plan import Bools, Floats
from hornbook.logic import arrays
from hornbook.logic.batch import Batch
from hornbook.logic.dense import device_block
from hornbook.logic.errors import HornbookError
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.adapters import load_model
from hornbook.oracles.adapters.encoding import Encoding
from hornbook.oracles.adapters.from_torch import module_on
from hornbook.oracles.adapters.predictor import alone, close_rows

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
