"""Tables from files and datasets by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hornbook.logic.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.data.table import Table


def table_of(
    source: str, target: str | None = None, positive: str | None = None, above: float | None = None
) -> Table:
    """The table in a file, or a dataset by its name; its label is the target."""
    from hornbook.data.datasets import DATASETS, load_dataset
    from hornbook.data.table import read_table

    if not Path(source).exists() and source in DATASETS:
        table = load_dataset(source)
        return table if target in (None, table.label) else table.with_label(str(target), positive, above)
    if not Path(source).exists():
        raise HornbookError(
            f"there is no file {source!r}, and no dataset of that name; see hornbook datasets"
        )
    if target is None:
        table = read_table(source)
        raise HornbookError(
            f"which column of {source} is predicted? Name it with --target; "
            f"there are {', '.join(list(table.frame.columns)[:8])}{' …' if table.frame.shape[1] > 8 else ''}"
        )
    return read_table(source, label=target, positive=positive, above=above)
