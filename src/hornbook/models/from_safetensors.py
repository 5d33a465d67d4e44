"""Adapter for hornbook's own networks: weights in a safetensors file, the rest in JSON next to it.

The JSON file has `encoding` (a name that `Encoding.named` knows), `vocabulary`, `duals`, and
`weights`, the SHA-256 of the other file. The weights are those of a `Sequential` of linear layers
with ReLU between them, whose output is log-odds.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hornbook.errors import HornbookError, library
from hornbook.logic import Vocabulary
from hornbook.models import from_torch
from hornbook.models.encoding import Encoding
from hornbook.models.outputs import Output
from hornbook.models.predictor import Predictor


@dataclass(frozen=True, eq=False)
class SavedNetwork:
    """A module with its vocabulary and input encoding."""

    vocabulary: Vocabulary
    encoding: Encoding
    module: Any


def adapt(model: Any, name: str, positive: Any, output: Output | None) -> Predictor:
    """Make a predictor of a network, with its own encoding and variables."""
    encoding = model.encoding
    if isinstance(encoding, str):
        encoding = Encoding.named(encoding)
    predictor = from_torch.adapt(model.module, name, positive, output)
    return replace(predictor, encoding=encoding, names=model.vocabulary.names)


def read_network(path: Path) -> SavedNetwork:
    """Read the network whose weights are in `path`."""
    torch, safetensors = library("torch", "torch"), library("safetensors.torch", "torch")
    beside = path.with_suffix(".json")
    if not beside.is_file():
        raise HornbookError(
            f"{path} holds weights alone, and {beside.name}, which should describe the network, is not "
            "beside it; save other networks as ONNX"
        )
    weights = path.read_bytes()
    try:
        about = json.loads(beside.read_text(encoding="utf-8"))
        vocabulary = Vocabulary(about["vocabulary"], about["duals"])
        encoding, checksum = Encoding.named(about["encoding"]), about["weights"]
    except (ValueError, TypeError, KeyError) as error:
        raise HornbookError(f"{beside} does not describe a network: {error!r}") from None
    if hashlib.sha256(weights).hexdigest() != checksum:
        raise HornbookError(f"{path} is not the file that {beside.name} describes: the checksums differ")
    module = _module(safetensors.load(weights), torch)
    expected, found = encoding.inputs(len(vocabulary)), module[0].in_features
    if expected != found:
        raise HornbookError(
            f"{beside} speaks of {expected} inputs, but the weights in {path.name} take {found}"
        )
    return SavedNetwork(vocabulary, encoding, module)


def _module(state: dict[str, Any], torch: Any) -> Any:
    """Build linear layers with ReLU between them from their weights."""
    shapes = [state[f"{2 * layer}.weight"].shape for layer in range(len(state) // 2)]
    parts = [part for shape in shapes for part in (torch.nn.Linear(shape[1], shape[0]), torch.nn.ReLU())]
    module = torch.nn.Sequential(*parts[:-1])
    module.load_state_dict(state)
    return module.eval()
