"""Formats of files other than tables: models, theories, and everything in a run folder."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from extractions import PARTIAL, QUICK, THEORY
from fuzzing import FileFormat

from hornbook import Explainer
from hornbook.checks.claim_check import read_claims
from hornbook.code_book import read_code_book
from hornbook.logic import HornTheory
from hornbook.models import Subject, as_predictor, load_model, train_pipeline
from hornbook.queries import Budget, run_learner
from hornbook.remote.settings import EndpointSettings
from hornbook.runs import NewRun, Run, load_target_table
from hornbook.storage import file_checksum, parse_json, read_text

SHORT = replace(QUICK, pool=300, size=300, budget=Budget(equivalence_queries=4))

CODE_BOOK = """
[columns.age]
label = "Age"
unit = "years"
[columns.sex]
levels = { 1 = "male", 2 = "female" }
[classes]
0 = "well"
1 = "ill"
"""

ENDPOINT = """
url = "http://127.0.0.1:1/score"
protocol = "json"
classes = ["well", "ill"]
threshold = 0.5
columns = ["age", "sex"]
request = { rows = "$values", options = { proba = true } }
answers = "result.*.p"
missing = "nan"
timeout = 2.5
in_flight = 8
max_batch = 100
retries = 2
[headers]
Authorization = "Key ${SCORING_KEY}"
"""

CLAIMS = """
income <= 90 & age > 40 -> good
status in {A11, "A 12"} & age is missing -> bad
more income never lowers good
"""

ROWS = pd.DataFrame({"age": [20.0, 40.0, None, 70.0] * 30, "sex": [1, 2, 2, 1] * 30})


@cache
def _applicants():
    """A model of applicants, about which there are claims."""
    rows = pd.DataFrame({"income": [40.0, 95.0] * 4, "age": range(36, 44), "status": ["A11", "A 12"] * 4})
    return Subject.bind(lambda frame: frame.income > 90, rows, target="good")


def _save(save: Callable[[Path], object], suffix: str) -> bytes:
    """The bytes of the file that is saved."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"file{suffix}"
        save(path)
        return path.read_bytes()


@cache
def _booster(library: str, suffix: str) -> bytes:
    from adapter_models import lightgbm_classifier, xgboost_classifier

    if library == "xgboost":
        return _save(xgboost_classifier().get_booster().save_model, suffix)
    return _save(lightgbm_classifier().booster_.save_model, suffix)


@cache
def _onnx() -> bytes:
    from adapter_models import onnx_network

    return onnx_network()


@cache
def _skops() -> bytes:
    import skops.io
    from adapter_models import BUILDERS

    return _save(partial(skops.io.dump, BUILDERS["logistic"]().source), ".skops")


@cache
def _keras() -> bytes:
    from adapter_models import BUILDERS

    return _save(BUILDERS["keras_sequential"]().source.save, ".keras")


@cache
def _trained() -> bytes:
    rows = pd.DataFrame({"age": np.arange(40.0), "sex": ["f", "m"] * 20})
    return train_pipeline(rows, rows.age > 20).to_bytes()


@cache
def _safetensors() -> bytes:
    from adapter_models import layers
    from safetensors.torch import save
    from torch.nn import Sequential

    return save(Sequential(*layers()).state_dict())


def _read_safetensors(path: Path) -> object:
    """Load weights with a description that speaks of them, so that not their checksum refuses them."""
    from adapter_models import VOCABULARY

    about = {
        "encoding": "half",
        "widths": [4],
        "weights": hashlib.sha256(path.read_bytes()).hexdigest(),
        "vocabulary": VOCABULARY.names,
        "duals": {},
        "provenance": {},
    }
    path.with_suffix(".json").unlink(missing_ok=True)
    path.with_suffix(".json").write_text(json.dumps(about))
    return load_model(path)


def _ask_model(path: Path) -> object:
    """Load a model, and ask it about some rows."""
    predictor = as_predictor(load_model(path))
    rows = np.random.default_rng(0).normal(size=(100, predictor.inputs or 1))
    return predictor.score_rows(rows.astype(predictor.dtype))


@cache
def _run_folder() -> Path:
    """A run folder that stays as long as the process."""
    from sklearn.tree import DecisionTreeClassifier

    folder = TemporaryDirectory()
    kept_folders.append(folder)
    place = Path(folder.name)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(ROWS, [0, 1] * (len(ROWS) // 2))
    ROWS.to_csv(place / "table.csv", index=False)
    table = load_target_table(str(place / "table.csv"), "ill")
    path = place / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    about = {"name": path.name, "path": str(path), "sha256": file_checksum(path)}
    settings = {"form": "auto", "seed": 0, "encoding": None}
    (place / "run").mkdir()
    explainer = Explainer(model, ROWS, target="ill")
    run = NewRun.start(table, explainer.subject, about, settings, place / "run", force=False)
    run.begin()
    extraction = explainer.extract(n_samples=300, max_literals=4)
    run.save(run.complete(extraction))
    return place / "run"


kept_folders: list[TemporaryDirectory[str]] = []


def _make_run_file(name: str, rng: np.random.Generator) -> bytes:
    return (_run_folder() / name).read_bytes()


def _read_run(path: Path) -> object:
    """Load a run in which one file is exchanged, and show it."""
    from hornbook.report import to_html

    folder = path.parent / "run"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(_run_folder(), folder, ignore=shutil.ignore_patterns(path.name))
    shutil.copy(path, folder / path.name)
    for name in ("table.csv", "model.pkl"):
        shutil.copy(_run_folder().parent / name, path.parent)
    run = Run.load(folder)
    run.load_table()
    run.find_test_file()
    run.find_model()
    return to_html(run.extraction), describe_settings(run.config["settings"])


def describe_settings(settings: dict[str, Any]) -> tuple[int, str | None]:
    """What later commands read of a run's settings."""
    return int(settings["seed"]), settings["encoding"]


@cache
def _trace() -> bytes:
    return _save(lambda path: run_learner(THEORY.satisfied_by, PARTIAL, SHORT, trace=path), ".jsonl")


def _resume(path: Path) -> object:
    return run_learner(THEORY.satisfied_by, PARTIAL, SHORT, trace=path)


def _text_format(name: str, text: str, parse: Callable[[str], object]) -> FileFormat:
    return FileFormat(name, lambda rng: text.encode(), lambda path: parse(read_text(path)))


def _values_format(name: str, text: str, read: Callable[[dict[str, Any]], object]) -> FileFormat:
    """The values of a TOML file as JSON, so that damage leaves files of other values."""

    def read_values(path: Path) -> object:
        content = parse_json(read_text(path))
        return read(content) if isinstance(content, dict) else None

    return FileFormat(name, lambda rng: json.dumps(tomllib.loads(text)).encode(), read_values)


OTHER_FORMATS = {
    "xgboost": FileFormat("model.json", lambda rng: _booster("xgboost", ".json"), _ask_model),
    "xgboost-binary": FileFormat("model.ubj", lambda rng: _booster("xgboost", ".ubj"), _ask_model),
    "lightgbm": FileFormat("model.txt", lambda rng: _booster("lightgbm", ".txt"), _ask_model),
    "onnx": FileFormat("model.onnx", lambda rng: _onnx(), load_model),
    "safetensors": FileFormat("model.safetensors", lambda rng: _safetensors(), _read_safetensors),
    "trained": FileFormat("model.skops", lambda rng: _trained(), load_model),
    "skops": FileFormat("model.skops", lambda rng: _skops(), load_model),
    "keras": FileFormat("model.keras", lambda rng: _keras(), load_model),
    "horn": _text_format("rules.horn", THEORY.to_text(), HornTheory.parse),
    "theory": _text_format("rules.json", THEORY.to_json(), HornTheory.from_json),
    "claims": FileFormat(
        "claims.horn", lambda rng: CLAIMS.encode(), lambda path: read_claims(path, _applicants())
    ),
    "code-book": FileFormat(
        "words.toml", lambda rng: CODE_BOOK.encode(), lambda path: read_code_book(path, ROWS)
    ),
    "endpoint": FileFormat("endpoint.toml", lambda rng: ENDPOINT.encode(), EndpointSettings.of),
    "endpoint-values": _values_format(
        "endpoint.json", ENDPOINT, lambda content: EndpointSettings.read(content, "endpoint")
    ),
    "code-book-values": _values_format(
        "words.json", CODE_BOOK, lambda content: read_code_book(content, ROWS)
    ),
    "trace": FileFormat("trace.jsonl", lambda rng: _trace(), _resume),
    **{
        f"run-{name.partition('.')[0]}": FileFormat(name, partial(_make_run_file, name), _read_run)
        for name in (
            "config.json",
            "extraction.json",
            "metrics.json",
            "report.html",
            "rules.horn",
            "seconds.json",
        )
    },
}
"""The formats by their names in `benchmarks/fuzz.py`."""
