"""HornExtractor, and what it is made of."""

from hornbook.extractor.estimator import HornExtractor, Score
from hornbook.extractor.reading import Faithfulness, Found, Reading
from hornbook.extractor.steps import Watch

__all__ = ["Faithfulness", "Found", "HornExtractor", "Reading", "Score", "Watch"]
