"""Saved runs: the run folder, its report, its proofs, and comparisons with trees."""

from hornbook.runs.folder import Run, check_writable, library_versions, metrics_object, save_run, start_run
from hornbook.runs.reporting import make_report, report_rules

__all__ = [
    "Run",
    "check_writable",
    "library_versions",
    "make_report",
    "metrics_object",
    "report_rules",
    "save_run",
    "start_run",
]
