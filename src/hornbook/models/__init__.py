"""Models of any supported library as predictors, models from files, and hornbook's own networks."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily
from hornbook.models.adapters import as_predictor
from hornbook.models.answer_cache import ask_anew
from hornbook.models.answer_check import AnswerCheck, note_changed_answers
from hornbook.models.encoding import COMPLETE, ENCODINGS, Encoding
from hornbook.models.endpoint_settings import EndpointSettings, is_url
from hornbook.models.loading import load_model, name_model_source, names_endpoint
from hornbook.models.outputs import Floats, Output
from hornbook.models.predictor import Predictor, columns_with_missing
from hornbook.models.time_limit import limit_model_seconds

if TYPE_CHECKING:
    from hornbook.models.answered_classes import choose_form, find_answered_classes, read_table, view_class
    from hornbook.models.column_network import ColumnNetwork
    from hornbook.models.column_training import TrainedNetwork, train_column_network
    from hornbook.models.endpoint import Endpoint, EndpointCounts
    from hornbook.models.from_endpoint import find_classes
    from hornbook.models.network import MLP, Net, Training
    from hornbook.models.training import TrainedClassifier, train, train_classifier

__all__ = [
    "COMPLETE",
    "ENCODINGS",
    "MLP",
    "AnswerCheck",
    "ColumnNetwork",
    "Encoding",
    "Endpoint",
    "EndpointCounts",
    "EndpointSettings",
    "Floats",
    "Net",
    "Output",
    "Predictor",
    "TrainedClassifier",
    "TrainedNetwork",
    "Training",
    "as_predictor",
    "ask_anew",
    "choose_form",
    "columns_with_missing",
    "find_answered_classes",
    "find_classes",
    "is_url",
    "limit_model_seconds",
    "load_model",
    "name_model_source",
    "names_endpoint",
    "note_changed_answers",
    "read_table",
    "train",
    "train_classifier",
    "train_column_network",
    "view_class",
]

__getattr__ = load_lazily(
    "hornbook.models",
    {
        "answered_classes": ["choose_form", "find_answered_classes", "read_table", "view_class"],
        "column_network": ["ColumnNetwork"],
        "column_training": ["TrainedNetwork", "train_column_network"],
        "endpoint": ["Endpoint", "EndpointCounts"],
        "from_endpoint": ["find_classes"],
        "network": ["MLP", "Net", "Training"],
        "training": ["TrainedClassifier", "train", "train_classifier"],
    },
)
"""These modules need pandas and scikit-learn, or PyTorch."""
