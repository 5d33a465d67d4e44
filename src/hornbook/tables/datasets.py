"""Datasets by name: HCC survival, its synthetic twin, and some that scikit-learn ships."""

from __future__ import annotations

from difflib import get_close_matches
from os import PathLike

import pandas as pd

from hornbook.errors import HornbookError
from hornbook.lazy import load_lazily
from hornbook.tables.frames import replace_columns
from hornbook.tables.table import Table, read_table

from_paper = load_lazily("hornbook", {"paper": ["load_hcc", "make_synthetic_hcc"]})
"""The door to the paper's patients, who are datasets by name for everyone."""


def _load_bundled(name: str) -> Table:
    """A dataset that scikit-learn ships, with one of its classes, or some, as the label."""
    from sklearn import datasets

    loader, label, positive = BUNDLED[name]
    bunch = getattr(datasets, loader)(as_frame=True)
    frame: pd.DataFrame = bunch.data.rename(columns=_short)
    varying = frame.loc[:, frame.nunique() > 1]
    classes = bunch.target.isin(positive).astype(float)
    return read_table(replace_columns(varying, {label: classes}), label=label, name=name)


def _short(column: str) -> str:
    """A column's name without its unit, words joined by underscores."""
    return "_".join(column.partition("(")[0].split())


DATASETS = {
    "hcc-synthetic": "synthetic patients shaped like those of hcc: 165 rows, 49 features, 10 % missing",
    "hcc": "patients with liver cancer who survive a year or not: 165 rows, 49 features, 10 % missing",
    "breast-cancer": "breast tumours, benign or not: 569 rows, 30 features, complete",
    "wine": "wines, from the second cultivator or not: 178 rows, 13 features, complete",
    "iris": "iris flowers, virginica or not: 150 rows, 4 features, complete",
    "digits": "images of digits, odd or even: 1,797 rows, 61 features, complete",
}
"""The names of the datasets, each with a one-line description."""

BUNDLED = {
    "breast-cancer": ("load_breast_cancer", "benign", {1}),
    "wine": ("load_wine", "second_cultivator", {1}),
    "iris": ("load_iris", "virginica", {2}),
    "digits": ("load_digits", "odd", {1, 3, 5, 7, 9}),
}
"""How scikit-learn loads a dataset, the name of its label, and the classes that are true."""


def load_dataset(name: str = "hcc-synthetic", *, path: str | PathLike[str] | None = None) -> Table:
    """Load a dataset by name, with its class as the label.

    Parameters
    ----------
    name
        One of `DATASETS`.
    path
        For `hcc`, a copy of the data.

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
    if name in BUNDLED:
        return _load_bundled(name)
    table: Table = from_paper("load_hcc")(path) if name == "hcc" else from_paper("make_synthetic_hcc")()
    return table
