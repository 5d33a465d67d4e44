"""Small datasets that scikit-learn ships, with holes made on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from hornbook.data.table import Table, read_table
from hornbook.distributions.protocol import check_share


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


def with_holes(table: Table, missing: float, rng: np.random.Generator) -> Table:
    """The table with each value of its features hidden with probability `missing`.

    Examples
    --------
    >>> holed = with_holes(iris(), 0.25, np.random.default_rng(0))
    >>> holed.name, 0.2 < holed.missing < 0.3
    ('iris with 25 % of values hidden', True)

    """
    check_share("missing", missing)
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
        varying.assign(**{label: bunch.target.isin(positive).astype(float)}), label=label, name=name
    )


def _short(column: str) -> str:
    """A column's name without its unit, words joined by underscores."""
    return "_".join(column.partition("(")[0].split())
