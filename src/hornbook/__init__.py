"""Explains trained classifiers by rules, score cards and trees, each a Horn theory."""

from typing import TYPE_CHECKING

from hornbook.errors import HornbookError
from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.checks import check
    from hornbook.extraction import Extraction
    from hornbook.extractor import HornExtractor, QueryExtractor
    from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary
    from hornbook.models import as_predictor
    from hornbook.queries import Binariser
    from hornbook.reasons import why, why_table
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
    "load",
    "why",
    "why_table",
]

__version__ = "0.1.0"

__getattr__ = load_lazily(
    "hornbook",
    {
        "checks": ["check"],
        "extraction": ["Extraction"],
        "extractor": ["HornExtractor", "QueryExtractor"],
        "logic": ["BOTTOM", "Batch", "HornTheory", "Interpretation", "Rule", "Vocabulary"],
        "models": ["as_predictor"],
        "queries": ["Binariser"],
        "reasons": ["why", "why_table"],
        "runs": ["load"],
    },
)
"""These modules import NumPy, pandas and scikit-learn, which take a second."""
