"""HornExtractor and QueryExtractor, by the conventions of scikit-learn."""

from hornbook.extractor.horn import HornExtractor
from hornbook.extractor.query import QueryExtractor

__all__ = ["HornExtractor", "QueryExtractor"]
