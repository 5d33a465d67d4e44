"""Training on columns: repeatable, honest about held-out rows, on tables of every kind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.neural_network import MLPClassifier

from hornbook.errors import HornbookError
from hornbook.models import column_training, load_model, train_column_network
from hornbook.models.column_network import LevelInputs, NumericInputs
from hornbook.models.perceptron import Perceptron


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
    return train_column_network(*patients(250), seed=3)


@pytest.fixture
def brief_training(monkeypatch):
    """Trainings of few epochs, for tests of tables rather than of accuracy."""
    monkeypatch.setattr(column_training, "MAX_EPOCHS", 2)


def test_train_column_network_learns_numbers_categories_and_missingness(trained):
    frame, labels = patients(2000, seed=1)
    right = (trained.network.predict(frame) == labels).mean()
    assert right > 0.9
    assert trained.accuracy.low <= right <= trained.accuracy.high
    assert trained.accuracy.size == 50 and trained.network.provenance["rows"] == 200


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("sizes", [(16,), (8, 4)])
def test_perceptron_is_trained_as_by_scikit_learn_to_the_last_digit(classes, sizes):
    rng = np.random.default_rng(0)
    rows, codes = rng.standard_normal((5, 100)).T, rng.integers(0, classes, 100)
    ours = Perceptron(rows, codes, classes, sizes, weight_decay=0.1, rate=0.01, batch_size=64, seed=7)
    theirs = MLPClassifier(sizes, alpha=0.1, learning_rate_init=0.01, batch_size=64, random_state=7)
    for _ in range(5):
        ours.train_epoch()
        theirs.partial_fit(rows, codes, classes=np.arange(classes))
    assert ours.probabilities(rows).tobytes() == theirs.predict_proba(rows).tobytes()
    for mine, other in zip(ours.weights + ours.biases, theirs.coefs_ + theirs.intercepts_, strict=True):
        assert mine.tobytes() == other.tobytes()


def test_train_column_network_needs_the_missing_input(trained):
    frame, _ = patients(500, seed=2)
    hidden = frame.assign(age=60.0, stage="I", bilirubin=np.nan)
    known = hidden.assign(bilirubin=1.0)
    assert set(trained.network.predict(hidden)) == {"dies"}
    assert set(trained.network.predict(known)) == {"lives"}


def test_train_column_network_makes_networks_that_come_back_from_files(trained, tmp_path):
    trained.network.save(tmp_path / "network.npz")
    loaded, (frame, _) = load_model(tmp_path / "network.npz"), patients(100)
    assert loaded.provenance == trained.network.provenance
    assert loaded.log_odds(frame).tobytes() == trained.network.log_odds(frame).tobytes()


def test_train_column_network_repeats_itself(brief_training, tmp_path):
    for name in ("one", "two"):
        train_column_network(*patients(60), seed=5).network.save(tmp_path / f"{name}.npz")
    train_column_network(*patients(60), seed=6).network.save(tmp_path / "other.npz")
    one, two, other = ((tmp_path / f"{name}.npz").read_bytes() for name in ("one", "two", "other"))
    assert one == two != other


def test_train_column_network_does_not_look_at_held_out_rows(brief_training, monkeypatch):
    frame, labels = patients(100)
    parts = {}
    deal = column_training._deal_parts
    monkeypatch.setattr(
        column_training, "_deal_parts", lambda *given: parts.setdefault(len(given[0]), deal(*given))
    )
    honest = train_column_network(frame, labels)
    held_out = parts[100] == column_training.HELD_OUT_PARTS - 1
    changed = frame.where(~pd.Series(held_out), other=np.nan)
    again = train_column_network(changed, labels)
    assert held_out.sum() == honest.accuracy.size == 20
    assert honest.network.columns == again.network.columns
    assert honest.network.log_odds(frame).tobytes() == again.network.log_odds(frame).tobytes()


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
def test_train_column_network_takes_labels_of_any_kind(brief_training, labels):
    frame, _ = patients(42)
    column = pd.Series(labels).iloc[np.arange(42) % len(labels)]
    network = train_column_network(frame, column).network
    assert network.classes == tuple(sorted(column.dropna().unique().tolist()))
    assert set(network.predict(frame)) <= set(column.dropna())


@pytest.mark.parametrize("rare", [1, 2, 19])
def test_train_column_network_takes_tiny_tables_and_rare_classes(brief_training, rare):
    frame, _ = patients(20)
    trained = train_column_network(frame, np.arange(20) < rare)
    assert trained.network.classes == (False, True) and trained.accuracy.size == 4


def test_train_column_network_reads_columns_of_every_type(brief_training):
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
            "identifier": [f"row {number}" for number in range(size)],
            "huge": rng.choice([1e308, -1e308, np.inf], size),
            "objects": rng.choice(np.array([1, 2.5, None], object), size),
            "mixed": rng.choice(np.array([1, "1", "one", None], object), size),
        }
    )
    network = train_column_network(frame, rng.random(size) < 0.5).network
    kinds = {column.column: type(column) for column in network.columns}
    assert kinds == {
        "present": LevelInputs,
        "flag": NumericInputs,
        "flag or none": NumericInputs,
        "nullable": NumericInputs,
        "count": NumericInputs,
        "category": LevelInputs,
        "text": LevelInputs,
        "huge": NumericInputs,
        "objects": NumericInputs,
        "mixed": LevelInputs,
    }
    assert network.columns[0].names == ("present is missing",)
    assert np.isfinite(network.log_odds(frame)).all()


@pytest.mark.parametrize("arrow", [False, True])
def test_train_column_network_reads_frames_of_polars(brief_training, arrow):
    frame, labels = patients(60)
    own = train_column_network(frame, labels).network
    table = pl.from_pandas(frame).with_columns(pl.col("stage").cast(pl.Categorical))
    converted = table.to_pandas(use_pyarrow_extension_array=arrow)
    theirs = train_column_network(converted, labels).network
    assert theirs.log_odds(converted).tobytes() == own.log_odds(frame).tobytes()


def test_train_column_network_gives_inputs_to_the_most_frequent_levels(brief_training):
    rare, frequent = (
        [f"rare {number % 20}" for number in range(40)],
        [f"{number % 32}" for number in range(160)],
    )
    frame = pd.DataFrame({"town": rare + frequent, "x": np.arange(200.0)})
    town = train_column_network(frame, np.arange(200) % 2 == 0).network.columns[0]
    assert set(town.levels) == {str(number) for number in range(32)}


def test_train_column_network_trains_on_a_part_of_many_rows(brief_training, monkeypatch):
    monkeypatch.setattr(column_training, "MAX_TRAINING_ROWS", 50)
    trained = train_column_network(*patients(200))
    assert trained.network.provenance["rows"] == 50 and trained.accuracy.size == 40


@pytest.mark.parametrize(
    ("frame", "labels", "message"),
    [
        ({"x": range(30)}, ["a"] * 30, "two or more classes apart, but the label is always"),
        ({"x": range(30)}, [None] * 30, "two or more classes"),
        ({"x": range(30)}, np.arange(30.0), "30 different numbers"),
        ({"x": range(30)}, ["a", 1] * 15, "not numbers and text"),
        ({"x": range(30)}, pd.date_range("2020", periods=30), "not Timestamp"),
        ({"x": range(30)}, ["a", "b"], "30 rows, but 2 labels"),
        ({"x": range(4)}, ["a", "b"] * 2, "at least 10 labelled rows; got 4"),
        ({"x": [1] * 30}, ["a", "b"] * 15, "nothing to learn from"),
        ({0: range(30)}, ["a", "b"] * 15, "0 is not text"),
        ({"x": pd.date_range("2020", periods=15).repeat(2)}, ["a", "b"] * 15, "column 'x' holds .*Timestamp"),
        ({"x": [[1], [2]] * 15}, ["a", "b"] * 15, "column 'x' holds lists"),
    ],
)
def test_train_column_network_refuses_what_it_cannot_learn(frame, labels, message):
    with pytest.raises(HornbookError, match=message):
        train_column_network(pd.DataFrame(frame), labels)


def test_train_column_network_refuses_two_columns_of_one_name():
    frame = pd.DataFrame(np.arange(40.0).reshape(20, 2), columns=["x", "x"])
    with pytest.raises(HornbookError, match="two columns 'x'"):
        train_column_network(frame, ["a", "b"] * 10)
