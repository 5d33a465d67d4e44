"""Models of any supported library as predictors, models from files, and hornbook's own networks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hornbook.models.adapters import as_predictor
from hornbook.models.encoding import COMPLETE, ENCODINGS, Encoding
from hornbook.models.loading import load_model
from hornbook.models.missing import columns_with_missing
from hornbook.models.predictor import Floats, Output, Predictor

if TYPE_CHECKING:
    from hornbook.models.column_network import ColumnNetwork
    from hornbook.models.column_training import TrainedNetwork, train_column_network

__all__ = [
    "COMPLETE",
    "ENCODINGS",
    "ColumnNetwork",
    "Encoding",
    "Floats",
    "Output",
    "Predictor",
    "TrainedNetwork",
    "as_predictor",
    "columns_with_missing",
    "load_model",
    "train_column_network",
]

_MODULES = {
    "ColumnNetwork": "column_network",
    "TrainedNetwork": "column_training",
    "train_column_network": "column_training",
}
"""Where each of these names is; loaded when used, since pandas and scikit-learn take a second to import."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'hornbook.models' has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
