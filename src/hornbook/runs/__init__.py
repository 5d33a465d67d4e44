"""Saved runs: the run folder, its proofs, and comparisons with trees."""

from hornbook.runs.folder import (
    Run,
    check_writable,
    library_versions,
    load_extraction,
    metrics_object,
    save_extraction,
    save_run,
    start_run,
)

__all__ = [
    "Run",
    "check_writable",
    "library_versions",
    "load_extraction",
    "metrics_object",
    "save_extraction",
    "save_run",
    "start_run",
]
