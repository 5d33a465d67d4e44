"""One extraction from a model: the learner, its oracles, its budget and its trace."""

from hornbook.extraction.extracting import extract
from hornbook.extraction.result import Extraction, Point
from hornbook.extraction.run import INTERRUPTED, PATIENCE
from hornbook.extraction.settings import Settings

__all__ = ["INTERRUPTED", "PATIENCE", "Extraction", "Point", "Settings", "extract"]
