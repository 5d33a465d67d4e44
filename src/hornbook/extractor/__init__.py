"""HornExtractor and QueryExtractor, by the conventions of scikit-learn."""

from hornbook.extractor.horn import HornExtractor, describe_candidate
from hornbook.extractor.query import QueryExtractor

__all__ = ["HornExtractor", "QueryExtractor", "describe_candidate"]
