"""Models of any supported library as predictors, models from files, and hornbook's own network."""

from hornbook.models.adapters import as_predictor
from hornbook.models.encoding import COMPLETE, ENCODINGS, Encoding
from hornbook.models.loading import load_model
from hornbook.models.missing import columns_with_missing
from hornbook.models.predictor import Floats, Output, Predictor

__all__ = [
    "COMPLETE",
    "ENCODINGS",
    "Encoding",
    "Floats",
    "Output",
    "Predictor",
    "as_predictor",
    "columns_with_missing",
    "load_model",
]
