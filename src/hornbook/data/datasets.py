"""The datasets that can be asked for by name."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from os import PathLike

import numpy as np

from hornbook.data import toys
from hornbook.data.hcc import hcc
from hornbook.data.hcc_synthetic import hcc_synthetic
from hornbook.data.table import Table
from hornbook.logic.errors import HornbookError

DEFAULT = "hcc-synthetic"
"""Generated here, so that everything runs on a bare machine."""

DATASETS = {
    "hcc-synthetic": "synthetic patients shaped like those of hcc: 165 rows, 49 features, 10 % missing",
    "hcc": "patients with liver cancer who survive a year or not: 165 rows, 49 features, 10 % missing",
    "breast-cancer": "breast tumours, benign or not: 569 rows, 30 features, complete",
    "wine": "wines, from the second cultivator or not: 178 rows, 13 features, complete",
    "iris": "iris flowers, virginica or not: 150 rows, 4 features, complete",
    "digits": "images of digits, odd or even: 1,797 rows, 61 features, complete",
}
"""Every name with one line about it."""

_GENERATED: dict[str, Callable[[], Table]] = {
    "hcc-synthetic": hcc_synthetic,
    "breast-cancer": toys.breast_cancer,
    "wine": toys.wine,
    "iris": toys.iris,
    "digits": toys.digits,
}


def load_dataset(
    name: str = DEFAULT,
    *,
    path: str | PathLike[str] | None = None,
    missing: float = 0.0,
    rng: np.random.Generator | None = None,
) -> Table:
    """A dataset by its name, its class as the label.

    Parameters
    ----------
    name
        One of `DATASETS`.
    path
        For `hcc`, a copy of the data; it is downloaded otherwise.
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
    table = hcc(path) if name == "hcc" else _GENERATED[name]()
    if not missing:
        return table
    if rng is None:
        raise HornbookError("hiding values needs a random generator: rng=np.random.default_rng(seed)")
    return toys.with_holes(table, missing, rng)
