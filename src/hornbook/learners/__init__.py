"""Query learners of Horn theories, and `extract`, which runs one on a model."""

from hornbook.learners.extract import INTERRUPTED, MODEL_FAILED, extract
from hornbook.learners.heads import Closed, by_groups, meet_query
from hornbook.learners.horn1 import horn1
from hornbook.learners.lrn_star import lrn_star
from hornbook.learners.result import DisagreementPoint, QueryResult, Settings
from hornbook.learners.shrink import Shrink, shrink_by_halves, shrink_one_zero

__all__ = [
    "INTERRUPTED",
    "MODEL_FAILED",
    "Closed",
    "DisagreementPoint",
    "QueryResult",
    "Settings",
    "Shrink",
    "by_groups",
    "extract",
    "horn1",
    "lrn_star",
    "meet_query",
    "shrink_by_halves",
    "shrink_one_zero",
]
