"""Models on raw tables, as users build them: each takes the table's own columns, missing values included."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

MODELS = ("boosting", "network", "forest")


def fit_model(kind: str, frame: pd.DataFrame, classes: np.ndarray, seed: int):
    """A fitted pipeline that takes rows of the table as they are."""
    texts, numbers = (
        make_column_selector(dtype_include=[object, "str"]),
        make_column_selector(dtype_include="number"),
    )
    if kind == "boosting":
        codes = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan
        )
        model = make_pipeline(
            ColumnTransformer([("texts", codes, texts), ("numbers", "passthrough", numbers)]),
            HistGradientBoostingClassifier(random_state=seed),
        )
    else:
        hot = make_pipeline(
            SimpleImputer(strategy="most_frequent"),
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        )
        filled = make_pipeline(SimpleImputer(), StandardScaler()) if kind == "network" else SimpleImputer()
        last = (
            MLPClassifier((32, 16), max_iter=400, random_state=seed)
            if kind == "network"
            else RandomForestClassifier(100, random_state=seed)
        )
        model = make_pipeline(ColumnTransformer([("texts", hot, texts), ("numbers", filled, numbers)]), last)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(frame, classes)
