"""Read the rules out of a black box."""

from typing import TYPE_CHECKING, Any

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary

if TYPE_CHECKING:
    from hornbook.data.binarise import Binariser
    from hornbook.extractor.estimator import HornExtractor

__all__ = [
    "BOTTOM",
    "Batch",
    "Binariser",
    "Extraction",
    "HornExtractor",
    "HornTheory",
    "HornbookError",
    "Interpretation",
    "Rule",
    "Vocabulary",
    "explain_model",
]

__version__ = "0.1.0"

_LATE = {
    "Binariser": "hornbook.data.binarise",
    "Extraction": "hornbook.extraction",
    "HornExtractor": "hornbook.extractor",
    "explain_model": "hornbook.extraction",
}
"""Names whose modules import pandas and scikit-learn, which take a second: loaded when used."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'hornbook' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATE[name]), name)
