"""Explains trained classifiers by rules, score cards and trees, each a Horn theory."""

from typing import TYPE_CHECKING

from hornbook.errors import HornbookError
from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.explainer import Explainer, learn
    from hornbook.extraction import Extraction
    from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary
    from hornbook.models import as_predictor
    from hornbook.queries import Binariser
    from hornbook.runs import load

__all__ = [
    "BOTTOM",
    "Batch",
    "Binariser",
    "Explainer",
    "Extraction",
    "HornTheory",
    "HornbookError",
    "Interpretation",
    "Rule",
    "Vocabulary",
    "as_predictor",
    "learn",
    "load",
]

__version__ = "0.1.0"

__getattr__ = load_lazily(
    "hornbook",
    {
        "explainer": ["Explainer", "learn"],
        "extraction": ["Extraction"],
        "logic": ["BOTTOM", "Batch", "HornTheory", "Interpretation", "Rule", "Vocabulary"],
        "models": ["as_predictor"],
        "queries": ["Binariser"],
        "runs": ["load"],
    },
)
"""These modules import NumPy, pandas and scikit-learn, which take a second."""


def __dir__() -> list[str]:
    return __all__
