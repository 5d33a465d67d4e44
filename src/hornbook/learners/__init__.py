"""Query learners of Horn theories, and `extract`, which runs one on a model."""

from hornbook.learners.extract import DisagreementPoint, QueryResult, Settings, extract
from hornbook.learners.horn1 import horn1
from hornbook.learners.lrn_star import lrn_star, lrn_star_by_heads

__all__ = [
    "DisagreementPoint",
    "QueryResult",
    "Settings",
    "extract",
    "horn1",
    "lrn_star",
    "lrn_star_by_heads",
]
