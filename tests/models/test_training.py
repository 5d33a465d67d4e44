"""Training on columns: repeatable, honest about held-out rows, on tables of every kind."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.preprocessing import FunctionTransformer

from hornbook.errors import HornbookError
from hornbook.models import bind_classifier, load_model, train_pipeline, training


def patients(size, seed=0):
    """Rows whose label follows from numbers, categories and whether a value is missing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(60, 12, size),
            "stage": rng.choice(["I", "II", "III"], size),
            "bilirubin": np.where(rng.random(size) < 0.3, np.nan, rng.lognormal(0, 1, size)),
            "noise": rng.normal(size=size),
        }
    )
    risk = (frame["age"] - 60) / 6 + 2 * (frame["stage"] == "III") + 3 * frame["bilirubin"].isna() - 1.5
    return frame, np.where(risk > 0, "dies", "lives")


@pytest.fixture(scope="module")
def trained():
    return train_pipeline(*patients(250), seed=3)


@pytest.fixture
def few_trees(monkeypatch):
    """Trainings of few trees, for tests of tables rather than of accuracy."""
    monkeypatch.setattr(training, "ROUNDS", 3)


def test_train_pipeline_learns_numbers_categories_and_missingness(trained):
    frame, labels = patients(2000, seed=1)
    right = (trained.pipeline.predict(frame) == labels).mean()
    assert right > 0.9
    assert trained.accuracy.low <= right <= trained.accuracy.high
    assert trained.accuracy.size == 50 and trained.provenance["rows"] == 200


def test_train_pipeline_reads_missing_numbers_as_missing(trained):
    frame, _ = patients(500, seed=2)
    hidden = frame.assign(age=60.0, stage="I", bilirubin=np.nan)
    known = hidden.assign(bilirubin=1.0)
    assert set(trained.pipeline.predict(hidden)) == {"dies"}
    assert set(trained.pipeline.predict(known)) == {"lives"}


def test_trained_pipelines_come_back_from_files_without_trust(trained, tmp_path):
    path = tmp_path / "model.skops"
    path.write_bytes(trained.to_bytes())
    loaded, (frame, _) = load_model(path), patients(100)
    assert loaded.predict_proba(frame).tobytes() == trained.pipeline.predict_proba(frame).tobytes()
    assert loaded.classes_.tolist() == ["dies", "lives"]


def test_files_with_other_types_than_those_of_a_trained_pipeline_need_trust(tmp_path):
    frame, labels = patients(60)
    model = train_pipeline(frame, labels).pipeline
    model.steps.append(("more", FunctionTransformer(np.linalg.norm)))
    skops.io.dump(model, tmp_path / "model.skops")
    with pytest.raises(HornbookError, match=r"not know to be safe: numpy\.linalg\S*norm;"):
        load_model(tmp_path / "model.skops")


PRINT_CHECKSUM = """
import hashlib, sys
import numpy as np, pandas as pd
from hornbook.models import train_pipeline, training
training.ROUNDS = 3
frame = pd.DataFrame({"x": np.arange(60.0), "stage": ["I", "II", None] * 20, "flag": [True, False] * 30})
for labels in (frame.x > 30, np.where(frame.x > 40, "a", np.where(frame.flag, "b", "c"))):
    print(hashlib.sha256(train_pipeline(frame, labels, seed=5).to_bytes()).hexdigest())
"""


def test_equal_trainings_make_equal_files_in_every_process(few_trees):
    """Otherwise a killed run could not go on."""
    there = subprocess.run(
        [sys.executable, "-c", PRINT_CHECKSUM],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    with redirect_stdout(io.StringIO()) as here:
        exec(PRINT_CHECKSUM, {})
    assert there == here.getvalue()
    one, again, other = (train_pipeline(*patients(60), seed=seed).to_bytes() for seed in (5, 5, 6))
    assert one == again != other


def test_train_pipeline_does_not_look_at_held_out_rows(few_trees, monkeypatch):
    frame, labels = patients(100)
    parts = {}
    deal = training._deal_parts
    monkeypatch.setattr(training, "_deal_parts", lambda *given: parts.setdefault(len(given[0]), deal(*given)))
    honest = train_pipeline(frame, labels)
    held_out = parts[100] == training.PARTS - 1
    changed = frame.where(~pd.Series(held_out), other=np.nan)
    again = train_pipeline(changed, labels)
    assert held_out.sum() == honest.accuracy.size == 20
    assert honest.pipeline.predict_proba(frame).tobytes() == again.pipeline.predict_proba(frame).tobytes()


@pytest.mark.parametrize(
    "labels",
    [
        ["lives", "dies"],
        [True, False],
        [0, 1],
        [0.0, 1.0, None],
        ["a", "b", "c", None],
        np.array([1, 2, 7], np.int8),
        pd.Categorical(["x", "y"], categories=["y", "x", "unused"]),
        pd.array([True, False, None], dtype="boolean"),
    ],
)
def test_train_pipeline_takes_labels_of_any_kind(few_trees, labels):
    frame, _ = patients(42)
    column = pd.Series(labels).iloc[np.arange(42) % len(labels)]
    model = train_pipeline(frame, column).pipeline
    assert model.classes_.tolist() == sorted(column.dropna().unique().tolist())
    assert set(model.predict(frame)) <= set(column.dropna())


@pytest.mark.parametrize("rare", [1, 2, 19])
def test_train_pipeline_takes_tiny_tables_and_rare_classes(few_trees, rare):
    frame, _ = patients(20)
    trained = train_pipeline(frame, np.arange(20) < rare)
    assert trained.pipeline.classes_.tolist() == [False, True] and trained.accuracy.size == 4


def test_train_pipeline_reads_columns_of_every_type(few_trees):
    size, rng = 60, np.random.default_rng(0)
    flags = rng.choice(np.array([True, False, None], object), size)
    frame = pd.DataFrame(
        {
            "constant": 1.5,
            "same text": "x",
            "all missing": np.nan,
            "no value": None,
            "present": rng.choice([np.nan, 7.0], size),
            "flag": rng.random(size) < 0.5,
            "flag or none": flags,
            "nullable": pd.array(flags, dtype="boolean"),
            "count": pd.array(rng.choice(np.array([1, 2, None], object), size), dtype="Int64"),
            "category": pd.Categorical(rng.choice([10, 20], size)),
            "text": rng.choice(np.array(["a", "b", None], object), size),
            "text or none": pd.Series(rng.choice(np.array(["a", "b", None], object), size), dtype=object),
            "identifier": [f"row {number}" for number in range(size)],
            "huge": rng.choice([1e308, -1e308, np.inf], size),
            "objects": rng.choice(np.array([1, 2.5, None], object), size),
        }
    )
    trained = train_pipeline(frame, rng.random(size) < 0.5).pipeline
    (_, _, levels), (_, _, numbers), *_ = trained[0].transformers_
    assert levels == ["category", "text", "text or none"]
    assert numbers == ["present", "flag", "flag or none", "nullable", "count", "huge", "objects"]
    assert list(map(len, trained[0].named_transformers_["levels"].categories_)) == [2, 3, 3]
    teacher = bind_classifier(trained, frame.replace(np.inf, 1.0), seed=0)
    assert teacher.donors is None  # it takes missing values in every column
    alone = [trained.predict_proba(frame.iloc[[row]])[0].tolist() for row in range(5)]
    assert alone == trained.predict_proba(frame)[:5].tolist()


def test_train_pipeline_reads_frames_of_polars(few_trees):
    frame, labels = patients(60)
    own = train_pipeline(frame, labels).pipeline
    converted = pl.from_pandas(frame).with_columns(pl.col("stage").cast(pl.Categorical)).to_pandas()
    theirs = train_pipeline(converted, labels).pipeline
    assert theirs.predict_proba(converted).tobytes() == own.predict_proba(frame).tobytes()


def test_train_pipeline_gives_inputs_to_the_most_frequent_levels(few_trees):
    rare, frequent = (
        [f"rare {number % 20}" for number in range(40)],
        [f"{number % 32}" for number in range(160)],
    )
    frame = pd.DataFrame({"town": rare + frequent, "x": np.arange(200.0)})
    encoder = train_pipeline(frame, np.arange(200) % 2 == 0).pipeline[0].named_transformers_["levels"]
    assert set(encoder.categories_[0]) == {str(number) for number in range(32)}


@pytest.mark.parametrize(
    ("frame", "labels", "message"),
    [
        ({"x": range(30)}, ["a"] * 30, "two or more classes apart, but the label is always"),
        ({"x": range(30)}, [None] * 30, "two or more classes"),
        ({"x": range(30)}, np.arange(30.0), "30 different numbers"),
        ({"x": range(30)}, [0.5, 1.0] * 15, "predicts at most 20 whole ones"),
        ({"x": range(30)}, ["a", 1] * 15, "not numbers and text"),
        ({"x": range(30)}, pd.date_range("2020", periods=30), "not Timestamp"),
        ({"x": range(30)}, ["a", "b"], "30 rows, but 2 labels"),
        ({"x": range(4)}, ["a", "b"] * 2, "10 labelled rows or more; got 4"),
        ({"x": [1] * 30}, ["a", "b"] * 15, "nothing to learn from"),
    ],
)
def test_train_pipeline_refuses_what_it_cannot_learn(frame, labels, message):
    with pytest.raises(HornbookError, match=message):
        train_pipeline(pd.DataFrame(frame), labels)
