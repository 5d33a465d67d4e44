"""Tables with missing values, their columns as 0/1 variables, datasets, and training examples."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.data.binarise import Binariser, binarise_table
    from hornbook.data.conditions import exclusivity_rules
    from hornbook.data.datasets import DATASETS, DEFAULT_DATASET, load_dataset
    from hornbook.data.examples import Examples, accuracy_by_kind, assign_parts, split_examples
    from hornbook.data.given_form import GivenForm, remember_form
    from hornbook.data.reader import BinaryColumns, Reader, is_binary, to_frame
    from hornbook.data.splits import note_units, number_units, shuffle_units, split_rows
    from hornbook.data.table import (
        Kind,
        Table,
        as_frame,
        binary_label,
        infer_kind,
        name_columns,
        read_frame,
        read_table,
        refuse_unusable,
        replace_columns,
        spell_level,
    )
    from hornbook.data.text_format import TextFormat
    from hornbook.data.unseen import count_shared_rows, fit_columns, read_new_parts, read_new_rows

__all__ = [
    "DATASETS",
    "DEFAULT_DATASET",
    "Binariser",
    "BinaryColumns",
    "Examples",
    "GivenForm",
    "Kind",
    "Reader",
    "Table",
    "TextFormat",
    "accuracy_by_kind",
    "as_frame",
    "assign_parts",
    "binarise_table",
    "binary_label",
    "count_shared_rows",
    "exclusivity_rules",
    "fit_columns",
    "infer_kind",
    "is_binary",
    "load_dataset",
    "name_columns",
    "note_units",
    "number_units",
    "read_frame",
    "read_new_parts",
    "read_new_rows",
    "read_table",
    "refuse_unusable",
    "remember_form",
    "replace_columns",
    "shuffle_units",
    "spell_level",
    "split_examples",
    "split_rows",
    "to_frame",
]

__getattr__ = load_lazily(
    "hornbook.data",
    {
        "binarise": ["Binariser", "binarise_table"],
        "conditions": ["exclusivity_rules"],
        "datasets": ["DATASETS", "DEFAULT_DATASET", "load_dataset"],
        "examples": ["Examples", "accuracy_by_kind", "assign_parts", "split_examples"],
        "given_form": ["GivenForm", "remember_form"],
        "reader": ["BinaryColumns", "Reader", "is_binary", "to_frame"],
        "splits": ["note_units", "number_units", "shuffle_units", "split_rows"],
        "table": [
            "Kind",
            "Table",
            "as_frame",
            "binary_label",
            "infer_kind",
            "name_columns",
            "read_frame",
            "read_table",
            "refuse_unusable",
            "replace_columns",
            "spell_level",
        ],
        "text_format": ["TextFormat"],
        "unseen": ["count_shared_rows", "fit_columns", "read_new_parts", "read_new_rows"],
    },
)
"""pandas and scikit-learn, which these modules need, take a second to import."""
