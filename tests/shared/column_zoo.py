"""Kinds of models of columns, and forms in which tables may reach them, each held against its whole domain.

The table is small: all its numbers are whole and few, so the whole domain can be asked about in the
table's own types.
"""

from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from hornbook.conditions import Category, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.models import find_predictor
from hornbook.proof import Domain, make

NUMBERS = {"x": range(-2, 4), "n": range(3)}
WORDS = ("blue", "green", "red")
SIZE = 150


def bind_prover(model, domain, **options):
    """The prover of a model, bound to the rows of a domain."""
    return make(find_predictor(model, domain.rows)[0], domain, **options)


def numeric(kind, missing=True):
    """How numbers of a table are written in a type."""

    def write(frame):
        parts = {name: frame[name] if missing else frame[name].fillna(0) for name in NUMBERS}
        return frame.assign(**{name: own.astype(kind) for name, own in parts.items()})

    return write


def words(kind, *missing):
    """How the words of a table are written in a type, with such missing values in turn."""

    def write(frame):
        holes = np.flatnonzero(frame.colour.isna())
        written = frame.colour.to_numpy(object).copy()
        for number, at in enumerate(holes):
            written[at] = missing[number % len(missing)]
        return frame.assign(colour=pd.Series(written, dtype=kind))

    return write


NUMERIC_FORMS = {
    "float64": numeric("float64"),
    "int64": numeric("int64", missing=False),
    "int8": numeric("int8", missing=False),
    "Int64": numeric("Int64"),
    "sparse": numeric(pd.SparseDtype("float64", 0.0), missing=False),
}
WORD_FORMS = {
    "object, NaN": words(object, np.nan),
    "object, None": words(object, None),
    "object, None and NaN": words(object, None, np.nan),
    "object, pd.NA": words(object, pd.NA),
    "str": words("str", np.nan),
    "string": words("string", pd.NA),
    "category": words("category", np.nan),
}


def encoded(model, before=(), words_before=(), scaler=(), **options):
    """A pipeline of levels and numbers."""
    encoder = OneHotEncoder(**{"handle_unknown": "ignore", **options})
    parts = [
        ("numbers", make_pipeline(*before, *scaler) if (*before, *scaler) else "passthrough", [*NUMBERS]),
        ("words", make_pipeline(*words_before, encoder), ["colour"]),
    ]
    return make_pipeline(ColumnTransformer(parts, sparse_threshold=1.0), model)


def perceptron():
    return MLPClassifier((5, 3), max_iter=60, random_state=0, learning_rate_init=0.05)


def xgboost():
    import xgboost

    return xgboost.XGBClassifier(n_estimators=4, max_depth=2, n_jobs=1)


def lightgbm():
    import lightgbm

    return lightgbm.LGBMClassifier(n_estimators=4, num_leaves=4, min_child_samples=3, n_jobs=1, verbose=-1)


def fill():
    return SimpleImputer(strategy="most_frequent")


NUMERIC_KINDS = {
    "regression": lambda: make_pipeline(SimpleImputer(), LogisticRegression()),
    "scaled regression": lambda: make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
    "perceptron": lambda: make_pipeline(fill(), RobustScaler(), perceptron()),
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": lambda: RandomForestClassifier(4, max_depth=3, random_state=0),
    "boosting": lambda: make_pipeline(
        SimpleImputer(add_indicator=True), GradientBoostingClassifier(n_estimators=4, random_state=0)
    ),
    "histogram boosting": lambda: HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3),
    "filled histogram boosting": lambda: make_pipeline(
        SimpleImputer(), HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3)
    ),
    "XGBoost": xgboost,
    "LightGBM": lightgbm,
}
WORD_KINDS = {
    "encoded regression": lambda: encoded(LogisticRegression(), [SimpleImputer()], (), [StandardScaler()]),
    "filled regression": lambda: encoded(LogisticRegression(), [SimpleImputer()], [fill()]),
    "encoded perceptron": lambda: encoded(perceptron(), [fill()], [], [StandardScaler()], drop="first"),
    "encoded tree": lambda: encoded(DecisionTreeClassifier(max_depth=5, random_state=0), [SimpleImputer()]),
    "filled forest": lambda: encoded(
        RandomForestClassifier(4, max_depth=4, random_state=0),
        [SimpleImputer()],
        [SimpleImputer(strategy="constant", fill_value="none")],
        handle_unknown="error",
    ),
    "encoded boosting": lambda: encoded(
        GradientBoostingClassifier(n_estimators=4, random_state=0), [SimpleImputer()], handle_unknown="error"
    ),
    "encoded XGBoost": lambda: encoded(xgboost(), [SimpleImputer()]),
    "encoded LightGBM": lambda: encoded(lightgbm(), [SimpleImputer()]),
}
CASES = [
    *product(NUMERIC_KINDS, NUMERIC_FORMS),
    *product(WORD_KINDS, WORD_FORMS),
]


def draw_table(has_words, seed=0):
    """Random rows with missing values, and labels that follow them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.choice(own, SIZE).astype(float) for name, own in NUMBERS.items()})
    score = frame.x + 2 * (frame.n == 1)
    if has_words:
        frame["colour"] = rng.choice(WORDS, SIZE).astype(object)
        score = score + 2 * (frame.colour == "red") - (frame.colour == "blue")
    holes = rng.random(frame.shape) < 0.15
    labels = (score + 2 * holes[:, -1] + rng.normal(size=SIZE) / 2 > 1.4).astype(int)
    frame = frame.mask(holes)
    frame.iloc[0] = np.nan  # so that every column has a missing value
    return frame, labels


def list_domain(frame, domain):
    """Every row of a domain, not yet written in a form."""
    values = {}
    for name in frame:
        missing = [np.nan] * domain.ranges[name].missing
        values[name] = [*(WORDS if name == "colour" else map(float, NUMBERS[name])), *missing]
    rows = pd.DataFrame([*product(*values.values())], columns=[*frame])
    return rows.astype({"colour": object} if "colour" in rows else {})


def draw_body(rng, columns):
    """Up to four random conditions."""
    body = []
    for name in columns:
        if rng.random() < 0.3:
            continue
        if rng.random() < 0.15:
            body.append(Missing(name, bool(rng.random() < 0.7)))
        elif name == "colour":
            chosen = tuple(rng.choice(WORDS, rng.integers(1, 3), replace=False).tolist())
            body.append(Category(name, chosen, bool(rng.random() < 0.7)))
        elif rng.random() < 0.3:
            body.append(Category(name, float(rng.choice(NUMBERS[name]))))
        else:
            body.append(
                Threshold(name, float(rng.choice(NUMBERS[name][:-1])) + 0.5, bool(rng.random() < 0.5))
            )
    return body


def examine(kind, form, questions):
    """How often which verdict was given about a model in a form, and wrong, and why there was none."""
    has_words = kind in WORD_KINDS
    write = (WORD_FORMS if has_words else NUMERIC_FORMS)[form]
    frame, labels = draw_table(has_words)
    counts = Counter({"wrong": 0})
    try:
        model = (WORD_KINDS if has_words else NUMERIC_KINDS)[kind]().fit(write(frame), labels)
        model.predict(write(frame))
    except Exception as error:  # whatever a library raises about a form
        return counts + Counter({"not fitted": 1}), str(error)
    try:
        prover = bind_prover(model, Domain.of(write(frame)), seconds=5)
    except HornbookError as error:
        return counts + Counter({"refused": 1}), str(error)
    rows = list_domain(frame, prover.domain)
    decided = model.predict(write(rows))
    rng = np.random.default_rng(0)
    reason = ""
    for number in range(questions):
        body = draw_body(rng, frame) if number else []
        met = np.logical_and.reduce([np.ones(len(rows), bool), *(each.evaluate(rows)[0] for each in body)])
        outcome = int(decided[met].mean() > 0.5) if met.any() else 1
        verdict = prover.prove(body, outcome)
        counts[verdict.status] += 1
        reason = verdict.reason or reason
        truth = "refuted" if (met & (decided != outcome)).any() else "proved"
        counts["wrong"] += verdict.status not in (truth, "undecided")
        if verdict.witness is not None:
            counts["wrong"] += model.predict(write(verdict.witness))[0] == outcome
    return counts, reason
