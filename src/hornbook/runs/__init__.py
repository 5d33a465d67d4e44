"""Saved runs: the run folder, its proofs, and comparisons with trees."""

from hornbook.runs.comparison import ComparisonRow, compare_rules_with_trees, compare_with_trees
from hornbook.runs.folder import (
    Run,
    file_checksum,
    library_versions,
    load,
    metrics_object,
    save_diff,
    save_extraction,
    save_run,
    start_run,
)
from hornbook.runs.proving import (
    prove_and_repair,
    prove_lines,
    refuse_unprovable,
    refuse_unprovable_form,
    verify_lines,
    verify_run,
)

__all__ = [
    "ComparisonRow",
    "Run",
    "compare_rules_with_trees",
    "compare_with_trees",
    "file_checksum",
    "library_versions",
    "load",
    "metrics_object",
    "prove_and_repair",
    "prove_lines",
    "refuse_unprovable",
    "refuse_unprovable_form",
    "save_diff",
    "save_extraction",
    "save_run",
    "start_run",
    "verify_lines",
    "verify_run",
]
