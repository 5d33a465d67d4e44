"""Hold verdicts about boosting against whole domains, for kinds that read numbers in ways of their own.

    python benchmarks/proof_boosters.py [--questions 40]

Each kind of model is trained on a table in each form: its numbers in several types, its words as
objects with None, strings or categories, its columns sparse; with zeros, and with none of them in the
table. Every row of the domain is asked about in that form, at zero and near it, where XGBoost and
LightGBM read sparse matrices and the tiniest numbers differently.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from rich.console import Console
from rich.table import Table
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder

from hornbook.conditions import Category, Missing, Threshold
from hornbook.errors import HornbookError
from hornbook.models import find_predictor
from hornbook.proof import Domain, make

ROWS = 200
NUMBERS = {"x": (-2.0, -1.0, 0.0, 1.0, 2.0), "n": (0.0, 1.0, 2.0)}
TINY = (-1e-35, -1e-40, 0.0, 1e-40, 1e-35)
WORDS = tuple(f"l{number}" for number in range(9))
STATUSES = ("proved", "refuted", "undecided", "refused", "not fitted", "wrong")

Form = Callable[[pd.DataFrame], pd.DataFrame]


def numbers_as(kind: object, missing: bool = True) -> Form:
    """Numbers in a type; without missing values where it has none."""
    names = list(NUMBERS)
    return lambda rows: rows.assign(**(rows[names] if missing else rows[names].fillna(1.0)).astype(kind))


def words_as(kind: object, missing: object) -> Form:
    """Words in a type, with a missing value of its own."""
    return lambda rows: rows.assign(
        w=pd.Series([missing if pd.isna(word) else word for word in rows["w"]], dtype=kind)
    )


FORMS: dict[str, Form] = {
    "float64": numbers_as("float64"),
    "int64": numbers_as("int64", missing=False),
    "Int64": numbers_as("Int64"),
    "sparse": numbers_as(pd.SparseDtype("float64", 0.0), missing=False),
}
WORD_FORMS: dict[str, Form] = {
    "object, NaN": words_as(object, np.nan),
    "object, None": words_as(object, None),
    "str": words_as("str", np.nan),
    "category": words_as("category", np.nan),
}


def xgb(**settings: object) -> object:
    """A small XGBoost classifier."""
    return xgboost.XGBClassifier(**{"n_estimators": 5, "max_depth": 3, "n_jobs": 1, **settings})


def lgbm(**settings: object) -> object:
    """A small LightGBM classifier."""
    given = {"n_estimators": 5, "min_child_samples": 3, "n_jobs": 1, "verbose": -1, **settings}
    return lightgbm.LGBMClassifier(**given)


def encoded(model: object, **settings: object) -> object:
    """One-hot columns of many levels beside numbers, as a ColumnTransformer puts them together."""
    words = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(
        ColumnTransformer([("words", words, ["w"])], remainder="passthrough", **settings), model
    )


def filled(model: object) -> object:
    """The same with numbers filled by zero, and indicators."""
    numbers = SimpleImputer(strategy="constant", fill_value=0, add_indicator=True)
    words = make_pipeline(OneHotEncoder(handle_unknown="ignore"), MaxAbsScaler())
    return make_pipeline(ColumnTransformer([("words", words, ["w"]), ("x", numbers, ["x", "n"])]), model)


STRONG = {"learning_rate": 1.0, "reg_lambda": 0.0, "min_child_weight": 0.0, "n_estimators": 12}
EARLY = {"pred_early_stop": True, "pred_early_stop_freq": 1, "pred_early_stop_margin": 0.2}

KINDS: dict[str, tuple[int, Callable[[], object]]] = {
    "XGBoost": (2, xgb),
    "XGBoost from 1e-7": (2, lambda: xgb(base_score=1e-7, **STRONG)),
    "XGBoost from 1 - 1e-7": (2, lambda: xgb(base_score=1 - 1e-7, **STRONG)),
    "XGBoost, 3 classes": (3, xgb),
    "XGBoost, 4 classes, 2 alike": (4, lambda: xgb(base_score=0.5)),
    "LightGBM": (2, lgbm),
    "LightGBM, early stop": (2, lambda: lgbm(**EARLY)),
    "LightGBM, 4 classes, 2 alike": (4, lgbm),
    "histogram boosting, 4 classes": (4, lambda: HistGradientBoostingClassifier(max_iter=4)),
}
WORD_KINDS: dict[str, tuple[int, Callable[[], object]]] = {
    "XGBoost, sparse": (2, lambda: encoded(xgb())),
    "XGBoost, sparse, from 1 - 1e-7": (2, lambda: encoded(xgb(base_score=1 - 1e-7, **STRONG))),
    "XGBoost, sparse, 3 classes": (3, lambda: encoded(xgb())),
    "XGBoost, sparse, filled": (2, lambda: filled(xgb())),
    "XGBoost, dense": (2, lambda: encoded(xgb(), sparse_threshold=0)),
    "LightGBM, sparse": (2, lambda: encoded(lgbm())),
    "LightGBM, sparse, early stop": (2, lambda: encoded(lgbm(**EARLY))),
    "LightGBM, sparse, 3 classes": (3, lambda: encoded(lgbm())),
    "LightGBM, dense": (2, lambda: encoded(lgbm(), sparse_threshold=0)),
    "forest, sparse, filled": (2, lambda: filled(RandomForestClassifier(5, max_depth=4, random_state=0))),
    "boosting, sparse, filled": (3, lambda: filled(GradientBoostingClassifier(n_estimators=4))),
}


def draw_table(classes: int, zeros: bool) -> tuple[pd.DataFrame, np.ndarray]:
    """Random rows with missing values, and classes; of four the last two are drawn alike."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({name: rng.choice(own, ROWS) for name, own in NUMBERS.items()})
    rows["w"] = rng.choice(WORDS, ROWS).astype(object)
    score = 2 * (rows.x == 0) + (rows.n == 1) + 2 * rows.w.isin(WORDS[:3]) + rng.normal(size=ROWS) / 2
    labels = np.digitize(score, [1.5] if classes == 2 else [1.0, 2.5])
    if classes == 4:
        labels = np.where(labels == 2, rng.integers(2, 4, ROWS), labels)
    if not zeros:
        rows = rows.replace({"x": 0.0}, 0.25).assign(n=rows.n + 1)
    return rows.mask(rng.random(rows.shape) < 0.1), labels


def list_domain(frame: pd.DataFrame, domain: Domain) -> pd.DataFrame:
    """Every row of a domain: its numbers, further ones near zero where there are fractions, and words."""
    values: dict[str, list[object]] = {}
    for name in frame:
        own = domain.ranges[name]
        known = [*WORDS] if name == "w" else sorted({*TINY, *frame[name].dropna()})
        values[name] = [value for value in known if own.holds(value)] + [np.nan] * own.missing
    return pd.DataFrame([*product(*values.values())], columns=[*frame])


def draw_body(rng: np.random.Generator, columns: list[str]) -> Iterator[object]:
    """Random conditions, thresholds at zero and within the tiniest numbers among them."""
    for name in columns:
        if rng.random() < 0.35:
            continue
        if rng.random() < 0.1:
            yield Missing(name, bool(rng.random() < 0.5))
        elif name == "w":
            yield Category(name, str(rng.choice(WORDS)), bool(rng.random() < 0.7))
        elif rng.random() < 0.25:
            yield Category(name, float(rng.choice(NUMBERS[name])))
        else:
            cuts = [-1.5, -0.5, -1e-38, 0.0, 1e-38, 0.5, 1.5]
            yield Threshold(name, float(rng.choice(cuts)), bool(rng.random() < 0.5))


def examine(
    build: Callable[[], object], form: str, zeros: bool, classes: int, columns: list[str], questions: int
) -> tuple[Counter[str], str]:
    """How often which verdict was given about a model in a form, and how many were wrong."""
    frame, labels = draw_table(classes, zeros)
    write = {**FORMS, **WORD_FORMS}[form]
    if form.lower().startswith("int"):
        frame["x"] = frame.x.round() + 3 * (not zeros)
    else:  # so that the domain is not of whole numbers
        frame.loc[0, "x"] = 0.5
    frame = frame[columns]
    written, counts = write(frame), Counter({"wrong": 0})
    try:
        model = build().fit(written, labels)
        model.predict(written)
    except Exception as error:  # whatever a library says about a form
        return counts + Counter({"not fitted": 1}), str(error)
    try:
        prover = make(find_predictor(model, written)[0], Domain.of(written), seconds=5)
    except HornbookError as error:
        return counts + Counter({"refused": 1}), str(error)
    rows = write(list_domain(frame, prover.domain))
    decided, rng, reason = model.predict(rows), np.random.default_rng(0), ""
    for _ in range(questions):
        body = [*draw_body(rng, columns)]
        met = np.logical_and.reduce([np.ones(len(rows), bool), *(each.evaluate(rows)[0] for each in body)])
        outcome = int(np.bincount(decided[met]).argmax()) if met.any() else 0
        verdict = prover.prove(body, outcome)
        counts[verdict.status] += 1
        reason = verdict.reason or reason
        if verdict.status == "proved":
            counts["wrong"] += bool((decided[met] != outcome).any())
        if verdict.witness is not None:
            holds = all(each.evaluate(verdict.witness)[0].all() for each in body)
            counts["wrong"] += not holds or model.predict(verdict.witness)[0] == outcome
    return counts, reason


def main() -> None:
    """Print a line for each kind and form, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--questions", type=int, default=40)
    questions = parser.parse_args().questions
    warnings.simplefilter("ignore")
    table, total = Table("kind", "form", "zeros", *STATUSES, "why not"), Counter[str]()
    both = [True, False]
    cases = [*product(KINDS.items(), FORMS, both, [["x", "n"]]),
             *product(WORD_KINDS.items(), {**FORMS, **WORD_FORMS}, both, [["x", "n", "w"]])]  # fmt: skip
    for (kind, (classes, build)), form, zeros, columns in cases:
        counts, reason = examine(build, form, zeros, classes, columns, questions)
        total += counts
        table.add_row(
            kind, form, "yes" if zeros else "no", *(str(counts[status]) for status in STATUSES), reason[:90]
        )
    table.add_row("all", "", "", *(str(total[status]) for status in STATUSES), "")
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
