"""From a table with holes to partial interpretations, a target theory and training sets."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hornbook.data.binarise import Binariser
    from hornbook.data.datasets import DATASETS, load_dataset
    from hornbook.data.examples import Examples, accuracy_by_kind
    from hornbook.data.splits import against, folds, split
    from hornbook.data.streams import TableStream, stream_table
    from hornbook.data.table import Table, read_table
    from hornbook.data.target import Recipe, default_recipe, target_theory, training_set

__all__ = [
    "DATASETS",
    "Binariser",
    "Examples",
    "Recipe",
    "Table",
    "TableStream",
    "accuracy_by_kind",
    "against",
    "default_recipe",
    "folds",
    "load_dataset",
    "read_table",
    "split",
    "stream_table",
    "target_theory",
    "training_set",
]

_MODULES = {
    "DATASETS": "datasets",
    "Binariser": "binarise",
    "Examples": "examples",
    "Recipe": "target",
    "Table": "table",
    "TableStream": "streams",
    "accuracy_by_kind": "examples",
    "against": "splits",
    "default_recipe": "target",
    "folds": "splits",
    "load_dataset": "datasets",
    "read_table": "table",
    "split": "splits",
    "stream_table": "streams",
    "target_theory": "target",
    "training_set": "target",
}
"""Where each name is; loaded when used, since pandas and scikit-learn take a second to import."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'hornbook.data' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"hornbook.data.{_MODULES[name]}"), name)
