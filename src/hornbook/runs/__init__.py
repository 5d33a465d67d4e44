"""Saved runs: the run folder, how a run is made and made again, its proofs, and comparisons with trees."""

from hornbook.runs.certificates import ProofLimits, TheoryProofs, prove_and_repair
from hornbook.runs.comparison import ComparisonRow, compare_rules_with_trees, compare_with_trees
from hornbook.runs.folder import (
    Run,
    add_guarantees,
    library_versions,
    load,
    metrics_object,
    result_files,
    save_diff,
    save_extraction,
    save_run,
    start_run,
)
from hornbook.runs.inputs import (
    TargetTable,
    describe_code_book,
    describe_file,
    describe_model,
    describe_network,
    encode_judge,
    find_endpoint,
    load_target_table,
    note_inputs,
    read_row_file,
    read_table_file,
    read_test_rows,
    remark_on,
)
from hornbook.runs.making import NewRun, explain_as_set, learn_as_set
from hornbook.runs.proving import prove_lines, refuse_unprovable, refuse_unprovable_form
from hornbook.runs.seal import file_checksum, find_broken_seals, list_unsealed, read_seal, write_seal
from hornbook.runs.verification import verify_folder

__all__ = [
    "ComparisonRow",
    "NewRun",
    "ProofLimits",
    "Run",
    "TargetTable",
    "TheoryProofs",
    "add_guarantees",
    "compare_rules_with_trees",
    "compare_with_trees",
    "describe_code_book",
    "describe_file",
    "describe_model",
    "describe_network",
    "encode_judge",
    "explain_as_set",
    "file_checksum",
    "find_broken_seals",
    "find_endpoint",
    "learn_as_set",
    "library_versions",
    "list_unsealed",
    "load",
    "load_target_table",
    "metrics_object",
    "note_inputs",
    "prove_and_repair",
    "prove_lines",
    "read_row_file",
    "read_seal",
    "read_table_file",
    "read_test_rows",
    "refuse_unprovable",
    "refuse_unprovable_form",
    "remark_on",
    "result_files",
    "save_diff",
    "save_extraction",
    "save_run",
    "start_run",
    "verify_folder",
    "write_seal",
]
