"""Datasets by name: HCC survival, its synthetic twin, and some that scikit-learn ships."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from hornbook.errors import HornbookError
from hornbook.lazy import load_lazily
from hornbook.tables.frames import replace_columns
from hornbook.tables.table import Table, read_table

from_paper = load_lazily("hornbook", {"paper": ["load_hcc", "make_synthetic_hcc"]})
"""The door to the paper's patients, who are datasets by name for everyone."""


def breast_cancer() -> Table:
    """Cell nuclei of breast tumours: benign or not."""
    from sklearn.datasets import load_breast_cancer

    return _table(load_breast_cancer, "breast-cancer", "benign", {1})


def wine() -> Table:
    """Chemical analyses of wines: from the second of three cultivators or not."""
    from sklearn.datasets import load_wine

    return _table(load_wine, "wine", "second_cultivator", {1})


def iris() -> Table:
    """Measures of iris flowers: virginica or not."""
    from sklearn.datasets import load_iris

    return _table(load_iris, "iris", "virginica", {2})


def digits() -> Table:
    """Images of handwritten digits, 8 × 8 pixels: odd or even."""
    from sklearn.datasets import load_digits

    return _table(load_digits, "digits", "odd", {1, 3, 5, 7, 9})


def hide_values(table: Table, missing: float, rng: np.random.Generator) -> Table:
    """Hide each feature value of a table with probability `missing`.

    Examples
    --------
    >>> holed = hide_values(iris(), 0.25, np.random.default_rng(0))
    >>> holed.name, 0.2 < holed.missing < 0.3
    ('iris with 25 % of values hidden', True)

    """
    if not 0 <= missing <= 1:
        raise HornbookError(f"missing is a share between 0 and 1; got {missing}")
    if missing == 0:
        return table
    features = table.features
    frame = table.frame.copy()
    frame[features.columns] = features.mask(rng.random(features.shape) < missing)
    return Table(frame, table.kinds, f"{table.name} with {100 * missing:g} % of values hidden", table.label)


def _table(load: Callable[..., Any], name: str, label: str, positive: set[int]) -> Table:
    bunch = load(as_frame=True)
    frame: pd.DataFrame = bunch.data.rename(columns=_short)
    varying = frame.loc[:, frame.nunique() > 1]
    return read_table(
        replace_columns(varying, {label: bunch.target.isin(positive).astype(float)}), label=label, name=name
    )


def _short(column: str) -> str:
    """A column's name without its unit, words joined by underscores."""
    return "_".join(column.partition("(")[0].split())


DEFAULT_DATASET = "hcc-synthetic"
"""The default dataset, which is generated and needs no download."""

DATASETS = {
    "hcc-synthetic": "synthetic patients shaped like those of hcc: 165 rows, 49 features, 10 % missing",
    "hcc": "patients with liver cancer who survive a year or not: 165 rows, 49 features, 10 % missing",
    "breast-cancer": "breast tumours, benign or not: 569 rows, 30 features, complete",
    "wine": "wines, from the second cultivator or not: 178 rows, 13 features, complete",
    "iris": "iris flowers, virginica or not: 150 rows, 4 features, complete",
    "digits": "images of digits, odd or even: 1,797 rows, 61 features, complete",
}
"""The names of the datasets, each with a one-line description."""

_GENERATED: dict[str, Callable[[], Table]] = {
    "hcc-synthetic": lambda: from_paper("make_synthetic_hcc")(),
    "breast-cancer": breast_cancer,
    "wine": wine,
    "iris": iris,
    "digits": digits,
}


def load_dataset(
    name: str = DEFAULT_DATASET,
    *,
    path: str | PathLike[str] | None = None,
    missing: float = 0.0,
    rng: np.random.Generator | None = None,
) -> Table:
    """Load a dataset by name, with its class as the label.

    Parameters
    ----------
    name
        One of `DATASETS`.
    path
        For `hcc`, a copy of the data.
    missing
        The share of further values to hide; needs `rng`.
    rng
        The source of randomness for hiding values.

    Examples
    --------
    >>> print(load_dataset("iris").describe())
    iris: 150 rows, 4 features (4 quantitative), 0.00 % missing, 150 complete rows, virginica 50 to 100

    """
    if name not in DATASETS:
        close = get_close_matches(name, DATASETS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(DATASETS)}"
        raise HornbookError(f"there is no dataset {name!r}{hint}")
    if path is not None and name != "hcc":
        raise HornbookError(f"the dataset {name!r} takes no path; to read a file use read_table")
    table: Table = from_paper("load_hcc")(path) if name == "hcc" else _GENERATED[name]()
    if not missing:
        return table
    if rng is None:
        raise HornbookError("hiding values needs a random generator: rng=np.random.default_rng(seed)")
    return hide_values(table, missing, rng)
