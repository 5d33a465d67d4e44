"""Runs that are kept: the folder, the report in it, and rules as people read them."""

from hornbook.runs.folder import Run, begin, metrics_object, ready, save, versions
from hornbook.runs.reporting import report_of, reported

__all__ = ["Run", "begin", "metrics_object", "ready", "report_of", "reported", "save", "versions"]
