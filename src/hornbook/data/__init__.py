"""Tables with holes, their columns as variables, datasets, and examples to train on."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hornbook.data.binarise import Binariser
    from hornbook.data.datasets import DATASETS, load_dataset
    from hornbook.data.examples import Examples, accuracy_by_kind, against, folds, split
    from hornbook.data.streams import TableStream, stream_table
    from hornbook.data.table import Table, read_table

__all__ = [
    "DATASETS",
    "Binariser",
    "Examples",
    "Table",
    "TableStream",
    "accuracy_by_kind",
    "against",
    "folds",
    "load_dataset",
    "read_table",
    "split",
    "stream_table",
]

_MODULES = {
    "DATASETS": "datasets",
    "Binariser": "binarise",
    "Examples": "examples",
    "Table": "table",
    "TableStream": "streams",
    "accuracy_by_kind": "examples",
    "against": "examples",
    "folds": "examples",
    "load_dataset": "datasets",
    "read_table": "table",
    "split": "examples",
    "stream_table": "streams",
}
"""Where each name is; loaded when used, since pandas and scikit-learn take a second to import."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'hornbook.data' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"hornbook.data.{_MODULES[name]}"), name)
