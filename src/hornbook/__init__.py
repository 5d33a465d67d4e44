"""Explains trained classifiers by rules, score cards and trees, each a Horn theory."""

from typing import TYPE_CHECKING

from hornbook.errors import HornbookError
from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.data import Binariser
    from hornbook.explain import check, diff, why, why_table
    from hornbook.extraction import Extraction
    from hornbook.extractor import HornExtractor, QueryExtractor
    from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary
    from hornbook.models import as_predictor
    from hornbook.runs import load

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
    "diff",
    "load",
    "why",
    "why_table",
]

__version__ = "0.1.0"

__getattr__ = load_lazily(
    "hornbook",
    {
        "data": ["Binariser"],
        "explain": ["check", "diff", "why", "why_table"],
        "extraction": ["Extraction"],
        "extractor": ["HornExtractor", "QueryExtractor"],
        "logic": ["BOTTOM", "Batch", "HornTheory", "Interpretation", "Rule", "Vocabulary"],
        "models": ["as_predictor"],
        "runs": ["load"],
    },
)
"""These modules import NumPy, pandas and scikit-learn, which take a second."""
