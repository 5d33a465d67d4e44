"""HornExtractor, and what it is made of."""

from hornbook.extractor.estimator import HornExtractor
from hornbook.extractor.reading import Faithfulness, Found, Reading
from hornbook.extractor.score import Score
from hornbook.extractor.steps import Watch

__all__ = ["Faithfulness", "Found", "HornExtractor", "Reading", "Score", "Watch"]
