"""Read the rules out of a black box."""

from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.errors import HornbookError
from hornbook.logic.rule import BOTTOM, Rule
from hornbook.logic.theory import HornTheory
from hornbook.logic.vocabulary import Vocabulary

__all__ = ["BOTTOM", "Batch", "HornTheory", "HornbookError", "Interpretation", "Rule", "Vocabulary"]

__version__ = "0.1.0"
