"""Tables with missing values, their columns as 0/1 variables, datasets, and training examples."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hornbook.data.binarise import Binariser
    from hornbook.data.datasets import DATASETS, load_dataset
    from hornbook.data.examples import Examples, accuracy_by_kind, split_examples
    from hornbook.data.table import Table, read_table

__all__ = [
    "DATASETS",
    "Binariser",
    "Examples",
    "Table",
    "accuracy_by_kind",
    "load_dataset",
    "read_table",
    "split_examples",
]

_MODULES = {
    "DATASETS": "datasets",
    "Binariser": "binarise",
    "Examples": "examples",
    "Table": "table",
    "accuracy_by_kind": "examples",
    "load_dataset": "datasets",
    "read_table": "table",
    "split_examples": "examples",
}
"""Where each name is; loaded when used, since pandas and scikit-learn take a second to import."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'hornbook.data' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"hornbook.data.{_MODULES[name]}"), name)
