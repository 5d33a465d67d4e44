"""Explains trained classifiers by rules, score cards and trees, each a Horn theory."""

from typing import TYPE_CHECKING, Any

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary

if TYPE_CHECKING:
    from hornbook.data.binarise import Binariser
    from hornbook.explain import check
    from hornbook.extraction import Extraction
    from hornbook.extractor import HornExtractor, QueryExtractor
    from hornbook.models import as_predictor
    from hornbook.runs import load_extraction as load

__all__ = [
    "BOTTOM",
    "Batch",
    "Binariser",
    "Extraction",
    "HornExtractor",
    "HornTheory",
    "HornbookError",
    "Interpretation",
    "QueryExtractor",
    "Rule",
    "Vocabulary",
    "as_predictor",
    "check",
    "load",
]

__version__ = "0.1.0"

_LATE = {
    "Binariser": ("hornbook.data", "Binariser"),
    "Extraction": ("hornbook.extraction", "Extraction"),
    "HornExtractor": ("hornbook.extractor", "HornExtractor"),
    "QueryExtractor": ("hornbook.extractor", "QueryExtractor"),
    "as_predictor": ("hornbook.models", "as_predictor"),
    "check": ("hornbook.explain", "check"),
    "load": ("hornbook.runs", "load_extraction"),
}
"""Names whose modules import pandas and scikit-learn, which take a second: loaded when used."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'hornbook' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _LATE[name]
    return getattr(import_module(module), attribute)
