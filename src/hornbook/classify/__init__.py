"""Classifiers explained: rules about a label, a card with points or a tree, within a reader's budget."""

from hornbook.classify.candidate import Candidate, Form, Point
from hornbook.classify.explanation import Explanation
from hornbook.classify.reading import Reading
from hornbook.classify.run import explain_classifier

__all__ = ["Candidate", "Explanation", "Form", "Point", "Reading", "explain_classifier"]
