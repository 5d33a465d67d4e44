"""Models of any supported library as predictors, models from files, and hornbook's own networks."""

from typing import TYPE_CHECKING, Any

from hornbook.models.adapters import as_predictor
from hornbook.models.encoding import COMPLETE, ENCODINGS, Encoding
from hornbook.models.loading import load_model
from hornbook.models.missing import columns_with_missing
from hornbook.models.predictor import Floats, Output, Predictor

if TYPE_CHECKING:
    from hornbook.models.column_network import ColumnNetwork
    from hornbook.models.column_training import TrainedNetwork, train_column_network
    from hornbook.models.network import MLP, Net, Training
    from hornbook.models.training import TrainedClassifier, train, train_classifier

__all__ = [
    "COMPLETE",
    "ENCODINGS",
    "MLP",
    "ColumnNetwork",
    "Encoding",
    "Floats",
    "Net",
    "Output",
    "Predictor",
    "TrainedClassifier",
    "TrainedNetwork",
    "Training",
    "as_predictor",
    "columns_with_missing",
    "load_model",
    "train",
    "train_classifier",
    "train_column_network",
]

_MODULES = {
    "ColumnNetwork": "column_network",
    "TrainedNetwork": "column_training",
    "train_column_network": "column_training",
    "MLP": "network",
    "Net": "network",
    "Training": "network",
    "TrainedClassifier": "training",
    "train": "training",
    "train_classifier": "training",
}
"""Where each name is; loaded when used, since these need pandas and scikit-learn, or PyTorch."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'hornbook.models' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"hornbook.models.{_MODULES[name]}"), name)
