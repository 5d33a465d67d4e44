"""Tables with missing values: kinds of columns, reading, splits, and named datasets."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.tables.frames import (
        GivenForm,
        as_frame,
        find_identifiers,
        find_scales,
        fit_columns,
        name_columns,
        number_times,
        read_frame,
        refuse_unusable,
        remember_form,
        replace_columns,
        restore_times,
    )
    from hornbook.tables.reading import MISSING_MARKERS, number_rows, read_new_parts, read_new_rows
    from hornbook.tables.sources import TextFormat, is_query, is_source, name_source, names_table
    from hornbook.tables.splits import (
        count_shared_rows,
        note_units,
        number_units,
        read_weights,
        shuffle_units,
        split_rows,
    )
    from hornbook.tables.table import (
        DATASETS,
        Kind,
        Table,
        binary_label,
        infer_kind,
        load_dataset,
        read_table,
    )

__all__ = [
    "DATASETS",
    "MISSING_MARKERS",
    "GivenForm",
    "Kind",
    "Table",
    "TextFormat",
    "as_frame",
    "binary_label",
    "count_shared_rows",
    "find_identifiers",
    "find_scales",
    "fit_columns",
    "infer_kind",
    "is_query",
    "is_source",
    "load_dataset",
    "name_columns",
    "name_source",
    "names_table",
    "note_units",
    "number_rows",
    "number_times",
    "number_units",
    "read_frame",
    "read_new_parts",
    "read_new_rows",
    "read_table",
    "read_weights",
    "refuse_unusable",
    "remember_form",
    "replace_columns",
    "restore_times",
    "shuffle_units",
    "split_rows",
]

__getattr__ = load_lazily(
    "hornbook.tables",
    {
        "frames": [
            "GivenForm",
            "as_frame",
            "find_identifiers",
            "find_scales",
            "fit_columns",
            "name_columns",
            "number_times",
            "read_frame",
            "refuse_unusable",
            "remember_form",
            "replace_columns",
            "restore_times",
        ],
        "reading": ["MISSING_MARKERS", "number_rows", "read_new_parts", "read_new_rows"],
        "sources": ["TextFormat", "is_query", "is_source", "name_source", "names_table"],
        "splits": [
            "count_shared_rows",
            "note_units",
            "number_units",
            "read_weights",
            "shuffle_units",
            "split_rows",
        ],
        "table": ["DATASETS", "Kind", "Table", "binary_label", "infer_kind", "load_dataset", "read_table"],
    },
)
