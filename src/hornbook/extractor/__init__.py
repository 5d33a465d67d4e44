"""HornExtractor, and what it is made of."""

from hornbook.extractor.estimator import HornExtractor
from hornbook.extractor.reading import Found, Reading
from hornbook.extractor.steps import Watch

__all__ = ["Found", "HornExtractor", "Reading", "Watch"]
