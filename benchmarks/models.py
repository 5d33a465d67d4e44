"""Every kind of model on every kind of column, and whether a planted rule is found and kept.

Each model is trained to say yes where a rule holds of one column and `b > -0.3`. In each cell of the table
the model is bound to rows, explained, asked for a reason, and the run is saved, loaded, and predicts. A cell
is ok, or says what failed: `labels` (not its own answers), `rule` (below 90 % of what the model says),
`file`, `why`, or the error. A minus stands where the library itself takes no such column.

    python benchmarks/models.py [model ...]
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import hornbook as hb

os.environ.setdefault("KERAS_BACKEND", "torch")
warnings.simplefilter("ignore")

SIZE = 400
RNG = np.random.default_rng(7)
START = pd.Timestamp("2021-01-01")
COLOURS = np.array(["blue", "green", "red", "yellow"])

COLUMNS: dict[str, tuple[pd.Series[Any], Any]] = {}
"""For each kind of column its values, and where the rule holds of them."""


def add(kind: str, values: Any, holds: Callable[[Any], Any]) -> None:
    series = pd.Series(values, name="x y")  # with a space, which LightGBM does not take
    COLUMNS[kind] = series, lambda rows: np.asarray(holds(rows), dtype=bool)


whole = RNG.integers(0, 10, SIZE)
add("number", RNG.normal(size=SIZE), lambda x: x > 0.2)
add("whole", whole, lambda x: x >= 4)
add(
    "nullable",
    pd.array(np.where(RNG.random(SIZE) < 0.1, None, whole), dtype="Int64"),
    lambda x: (x >= 4).fillna(False),
)
add("truth", RNG.random(SIZE) < 0.5, lambda x: x)
add("words", COLOURS[RNG.integers(4, size=SIZE)], lambda x: pd.Series(x).isin(["red", "blue"]))
add(
    "category",
    pd.Categorical(COLOURS[RNG.integers(4, size=SIZE)]),
    lambda x: pd.Series(x).isin(["red", "blue"]),
)
add(
    "date",
    START + pd.to_timedelta(RNG.integers(0, 365, SIZE), unit="D"),
    lambda x: x >= pd.Timestamp("2021-06-07"),
)
add("duration", pd.to_timedelta(RNG.integers(0, 240, SIZE), unit="h"), lambda x: x > pd.Timedelta(days=4))


def as_numbers(rows: Any) -> np.ndarray:
    """What people write to make numbers of such a column."""
    frame = pd.DataFrame(rows)
    done = {}
    for name, x in frame.items():
        if str(x.dtype).startswith("datetime"):
            done[name] = (x - START).dt.days.astype(float)
        elif str(x.dtype).startswith("timedelta"):
            done[name] = x.dt.total_seconds() / 3600
        elif x.dtype == object or isinstance(x.dtype, pd.CategoricalDtype | pd.StringDtype):
            done[name] = x.map({c: float(i % 2) for i, c in enumerate(COLOURS)}).astype(float)
        else:
            done[name] = x.astype(float)
    return pd.DataFrame(done).fillna(-1.0).to_numpy(float)


def pipe(model: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    return make_pipeline(FunctionTransformer(as_numbers), model)


def sk(path: str, **options: Any) -> Callable[..., Any]:
    def fit(X: Any, y: Any) -> Any:
        from importlib import import_module

        module, _, name = path.rpartition(".")
        return pipe(getattr(import_module("sklearn." + module), name)(**options)).fit(X, y)

    return fit


def columns_pipeline(X: Any, y: Any) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

    words = [
        n for n in X if X[n].dtype == object or isinstance(X[n].dtype, pd.CategoricalDtype | pd.StringDtype)
    ]
    others = [n for n in X if n not in words and n != "c"]
    made = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words), (FunctionTransformer(as_numbers), others)
    )
    return make_pipeline(made, LogisticRegression(C=1e3, max_iter=500)).fit(X, y)


def array_tree(X: Any, y: Any) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    return model.fit(X.to_numpy(), y)


def forest(X: Any, y: Any) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(30, min_samples_leaf=3, random_state=0).fit(X, y)


def boosted(X: Any, y: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=30, categorical_features="from_dtype").fit(X, y)


def lightgbm_estimator(X: Any, y: Any) -> Any:
    import lightgbm

    return lightgbm.LGBMClassifier(n_estimators=30, min_child_samples=5, verbose=-1, n_jobs=1).fit(X, y)


def lightgbm_booster(X: Any, y: Any) -> Any:
    return lightgbm_estimator(X, y).booster_


def lightgbm_words(X: Any, y: Any) -> Any:
    return lightgbm_estimator(X, np.where(y, "yes", "no"))


def xgboost_estimator(X: Any, y: Any) -> Any:
    import xgboost

    return xgboost.XGBClassifier(n_estimators=30, enable_categorical=True, n_jobs=1).fit(X, y)


def xgboost_booster(X: Any, y: Any) -> Any:
    return xgboost_estimator(X, y).get_booster()


def catboost_estimator(X: Any, y: Any) -> Any:
    import catboost

    words = [
        n for n in X if X[n].dtype == object or isinstance(X[n].dtype, pd.CategoricalDtype | pd.StringDtype)
    ]
    model = catboost.CatBoostClassifier(
        60, verbose=0, thread_count=1, allow_writing_files=False, cat_features=words
    )
    return model.fit(X, y)


def catboost_words(X: Any, y: Any) -> Any:
    return catboost_estimator(X, np.where(y, "yes", "no"))


def catboost_regressor(X: Any, y: Any) -> Any:
    import catboost

    words = [
        n for n in X if X[n].dtype == object or isinstance(X[n].dtype, pd.CategoricalDtype | pd.StringDtype)
    ]
    model = catboost.CatBoostRegressor(
        80, verbose=0, thread_count=1, allow_writing_files=False, cat_features=words
    )
    return hb.as_predictor(model.fit(X, 5.0 + 10 * y), bands=[10])


def regressor(X: Any, y: Any) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return hb.as_predictor(pipe(RandomForestRegressor(30, random_state=0)).fit(X, 5.0 + 10 * y), bands=[10])


def torch_module(X: Any, y: Any) -> Any:
    import torch

    torch.manual_seed(0)
    A = torch.tensor(as_numbers(X), dtype=torch.float32)
    mean, scale = A.mean(0), A.std(0)
    first = torch.nn.Linear(A.shape[1], 16)
    net = torch.nn.Sequential(first, torch.nn.ReLU(), torch.nn.Linear(16, 1), torch.nn.Sigmoid())
    opt = torch.optim.Adam(net.parameters(), 0.03)
    t = torch.tensor(np.asarray(y, np.float32))[:, None]
    for _ in range(150):
        opt.zero_grad()
        torch.nn.functional.binary_cross_entropy(net((A - mean) / scale), t).backward()
        opt.step()
    with torch.no_grad():
        first.bias -= first.weight @ (mean / scale)
        first.weight /= scale
    return net


def truth_function(X: Any, y: Any) -> Any:
    inner = forest_any(X, y)
    return lambda rows: inner.predict(rows).astype(bool)


def forest_any(X: Any, y: Any) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return pipe(RandomForestClassifier(30, min_samples_leaf=3, random_state=0)).fit(X, y)


def numbers_function(X: Any, y: Any) -> Any:
    inner = forest_any(X, y)

    def answer(rows: Any) -> Any:
        return inner.predict(rows) * 2  # 0 and 2

    return answer


def three_function(X: Any, y: Any) -> Any:
    inner = forest_any(X, y)
    return lambda rows: inner.predict(rows) + inner.predict(rows) * (rows["b"].to_numpy() > 0.8)


def words_function(X: Any, y: Any) -> Any:
    inner = forest_any(X, y)
    return lambda rows: np.where(inner.predict(rows), "late", "in time")


class Wrapper:
    """An object with `predict` alone, that takes a frame, as those of MLflow do."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def predict(self, frame: pd.DataFrame) -> Any:
        return self.inner.predict(frame[["x y", "b", "c"]])


class Probabilities:
    """An object with `predict_proba` of three columns and no `classes_`."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def predict_proba(self, frame: pd.DataFrame) -> Any:
        shares = self.inner.predict_proba(frame)
        return np.column_stack([shares[:, 0], 0.6 * shares[:, 1], 0.4 * shares[:, 1]])


def onnx_session(X: Any, y: Any, words: bool = False) -> Any:
    import onnxruntime
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    texts = [n for n in X if X[n].dtype == object or isinstance(X[n].dtype, pd.StringDtype)]
    others = [n for n in X if n not in texts]
    frame = X.set_axis([n.replace(" ", "_") for n in X], axis=1)
    texts, others = ([n.replace(" ", "_") for n in each] for each in (texts, others))
    made = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), ("passthrough", others))
    model = make_pipeline(made, DecisionTreeClassifier(min_samples_leaf=5, random_state=0))
    model.fit(frame.astype(dict.fromkeys(others, np.float32)), np.where(y, "yes", "no"))
    initial = [(n, StringTensorType([None, 1]) if n in texts else FloatTensorType([None, 1])) for n in frame]
    content = to_onnx(model, initial_types=initial, options={"zipmap": words}).SerializeToString()
    return onnxruntime.InferenceSession(content)


MODELS: dict[str, Callable[[Any, Any], Any]] = {
    "columns, one-hot": columns_pipeline,
    "logistic": sk("linear_model.LogisticRegression"),
    "tree": sk("tree.DecisionTreeClassifier", min_samples_leaf=5, random_state=0),
    "tree of an array": array_tree,
    "forest, bare": forest,
    "boosting, bare": boosted,
    "extra trees": sk("ensemble.ExtraTreesClassifier", n_estimators=30, random_state=0),
    "AdaBoost": sk("ensemble.AdaBoostClassifier", random_state=0),
    "SVC": sk("svm.SVC"),
    "MLP": sk("neural_network.MLPClassifier", max_iter=200, random_state=0),
    "naive Bayes": sk("naive_bayes.GaussianNB"),
    "neighbours": sk("neighbors.KNeighborsClassifier"),
    "ridge": sk("linear_model.RidgeClassifier"),
    "LDA": sk("discriminant_analysis.LinearDiscriminantAnalysis"),
    "KMeans": lambda X, y: pipe(
        __import__("sklearn.cluster").cluster.KMeans(3, random_state=0, n_init=1)
    ).fit(X),
    "LightGBM": lightgbm_estimator,
    "LightGBM, words": lightgbm_words,
    "LightGBM booster": lightgbm_booster,
    "XGBoost": xgboost_estimator,
    "XGBoost booster": xgboost_booster,
    "CatBoost": catboost_estimator,
    "CatBoost, words": catboost_words,
    "CatBoost, bands": catboost_regressor,
    "regressor, bands": regressor,
    "torch": torch_module,
    "function, truth": truth_function,
    "function, 0 and 2": numbers_function,
    "function, 0 1 2": three_function,
    "function, words": words_function,
    "object, predict": lambda X, y: Wrapper(forest_any(X, y)),
    "object, 3 scores": lambda X, y: Probabilities(forest_any(X, y)),
    "ONNX, input a column": onnx_session,
}


def own_answers(model: Any, rows: pd.DataFrame) -> list[Any] | None:
    """What the model itself says of rows; None where only hornbook can tell."""
    if isinstance(model, hb.models.Predictor) or not (hasattr(model, "predict") or callable(model)):
        return None
    answer = model.predict(rows) if hasattr(model, "predict") else model(rows)
    flat = np.asarray(answer)
    return None if flat.ndim > 1 and flat.shape[1] > 1 else flat.reshape(-1).tolist()


def try_cell(model: Any, X: pd.DataFrame, seed: int = 0) -> str:
    explainer = hb.Explainer(model, X, seed=seed)
    subject = explainer.subject
    try:
        own = own_answers(model, X)
    except Exception:
        own = None
    labels = np.array(subject.teacher.classes, object)[subject.teacher.labels(X)]
    if own is not None and len({*own}) <= 3 and [str(each) for each in own] != [str(each) for each in labels]:
        return "labels"
    extraction = explainer.extract(form="tree", n_samples=1500, max_literals=12)
    agreement = np.mean(extraction.explanation.decide(X) == subject.teacher.labels(X))
    with tempfile.TemporaryDirectory() as folder:
        extraction.save(folder)
        again = hb.load(folder)
        if list(again.predict(X)) != list(extraction.predict(X)):
            return "file"
    if not str(explainer.why(X.iloc[3], proof=False, seconds=2)):
        return "why"
    return "ok" if agreement > 0.9 else f"rule {100 * agreement:.0f}"


def main() -> None:
    wanted = sys.argv[1:] or list(MODELS)
    print(" " * 22 + "".join(f"{kind:>10}" for kind in COLUMNS))
    errors = []
    counts = {"ok": 0, "-": 0}
    for name in wanted:
        cells = []
        for kind, (values, holds) in COLUMNS.items():
            X = pd.DataFrame({"x y": values, "b": RNG.normal(size=SIZE), "c": RNG.normal(size=SIZE)})
            y = (holds(X["x y"]) & (X["b"] > -0.3).to_numpy()).astype(int)
            try:
                model = MODELS[name](X, y)
            except Exception as error:
                cells.append("-")
                if os.environ.get("VERBOSE"):
                    errors.append(f"{name} × {kind}: TRAIN {type(error).__name__}: {str(error)[:150]}")
                continue
            try:
                cells.append(try_cell(model, X))
            except Exception as error:
                cells.append(type(error).__name__[:8])
                errors.append(f"{name} × {kind}: {type(error).__name__}: {str(error)[:300]}")
        print(f"{name:22}" + "".join(f"{cell:>10}" for cell in cells), flush=True)
        for cell in cells:
            counts[cell] = counts.get(cell, 0) + 1
    print(counts)
    print("\n".join(errors))


if __name__ == "__main__":
    main()
