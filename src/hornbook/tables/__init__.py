"""Tables with missing values: kinds of columns, reading, splits, and named datasets."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.tables.datasets import DATASETS, DEFAULT_DATASET, load_dataset
    from hornbook.tables.given_form import GivenForm, remember_form
    from hornbook.tables.splits import note_units, number_units, shuffle_units, split_rows
    from hornbook.tables.table import (
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
    )
    from hornbook.tables.text_format import TextFormat
    from hornbook.tables.unseen import count_shared_rows, fit_columns, read_new_parts, read_new_rows

__all__ = [
    "DATASETS",
    "DEFAULT_DATASET",
    "GivenForm",
    "Kind",
    "Table",
    "TextFormat",
    "as_frame",
    "binary_label",
    "count_shared_rows",
    "fit_columns",
    "infer_kind",
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
    "split_rows",
]

__getattr__ = load_lazily(
    "hornbook.tables",
    {
        "datasets": ["DATASETS", "DEFAULT_DATASET", "load_dataset"],
        "given_form": ["GivenForm", "remember_form"],
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
        ],
        "text_format": ["TextFormat"],
        "unseen": ["count_shared_rows", "fit_columns", "read_new_parts", "read_new_rows"],
    },
)
