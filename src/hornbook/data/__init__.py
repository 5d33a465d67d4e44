"""Tables with missing values, their columns as 0/1 variables, datasets, and training examples."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hornbook.data.binarise import Binariser, binarise_table
    from hornbook.data.conditions import exclusivity_rules
    from hornbook.data.datasets import DATASETS, DEFAULT_DATASET, load_dataset
    from hornbook.data.examples import Examples, Tally, accuracy_by_kind, assign_parts, split_examples
    from hornbook.data.reader import Reader, is_binary, to_frame
    from hornbook.data.table import (
        Kind,
        Table,
        as_frame,
        binary_label,
        infer_kind,
        read_table,
        refuse_infinity,
        spell_level,
        split_rows,
    )

__all__ = [
    "DATASETS",
    "DEFAULT_DATASET",
    "Binariser",
    "Examples",
    "Kind",
    "Reader",
    "Table",
    "Tally",
    "accuracy_by_kind",
    "as_frame",
    "assign_parts",
    "binarise_table",
    "binary_label",
    "exclusivity_rules",
    "infer_kind",
    "is_binary",
    "load_dataset",
    "read_table",
    "refuse_infinity",
    "spell_level",
    "split_examples",
    "split_rows",
    "to_frame",
]

_MODULES = {
    "DATASETS": "datasets",
    "DEFAULT_DATASET": "datasets",
    "Binariser": "binarise",
    "Examples": "examples",
    "Kind": "table",
    "Reader": "reader",
    "Table": "table",
    "Tally": "examples",
    "accuracy_by_kind": "examples",
    "as_frame": "table",
    "assign_parts": "examples",
    "binarise_table": "binarise",
    "binary_label": "table",
    "exclusivity_rules": "conditions",
    "infer_kind": "table",
    "is_binary": "reader",
    "load_dataset": "datasets",
    "read_table": "table",
    "refuse_infinity": "table",
    "spell_level": "table",
    "split_examples": "examples",
    "split_rows": "table",
    "to_frame": "reader",
}
"""Where each name is; loaded when used, since pandas and scikit-learn take a second to import."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'hornbook.data' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"hornbook.data.{_MODULES[name]}"), name)
