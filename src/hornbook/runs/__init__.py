"""Saved runs: the run folder, its proofs, and comparisons with trees."""

from hornbook.runs.comparison import ComparisonRow, compare_rules_with_trees, compare_with_trees
from hornbook.runs.folder import (
    Run,
    library_versions,
    load,
    metrics_object,
    result_files,
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
)
from hornbook.runs.seal import file_checksum, find_broken_seals, list_unsealed, read_seal, write_seal
from hornbook.runs.verification import MadeAgain, verify_run

__all__ = [
    "ComparisonRow",
    "MadeAgain",
    "Run",
    "compare_rules_with_trees",
    "compare_with_trees",
    "file_checksum",
    "find_broken_seals",
    "library_versions",
    "list_unsealed",
    "load",
    "metrics_object",
    "prove_and_repair",
    "prove_lines",
    "read_seal",
    "refuse_unprovable",
    "refuse_unprovable_form",
    "result_files",
    "save_diff",
    "save_extraction",
    "save_run",
    "start_run",
    "verify_run",
    "write_seal",
]
