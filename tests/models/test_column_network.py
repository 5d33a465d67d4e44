"""Column networks: how they read rows, that decisions depend on the row alone, and their files."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.errors import HornbookError
from hornbook.models import ColumnNetwork, as_predictor, bind_classifier, load_model
from hornbook.models.column_network import MAX_DEVIATIONS, ROWS_PER_BLOCK, Layer, LevelInputs, NumericInputs

COLUMNS = (
    NumericInputs("age", 50.0, 10.0, missing=True),
    LevelInputs("sex", ("f", "m"), missing=True),
    NumericInputs("smokes", 0.5, 0.5, missing=False),
    LevelInputs("grade", (1, 2, 3), missing=False),
)
INPUTS = 9


def random_network(seed, classes=("no", "yes"), widths=(6, 5)):
    rng = np.random.default_rng(seed)
    widths = (INPUTS, *widths, 1 if len(classes) == 2 else len(classes))
    layers = tuple(
        Layer(rng.normal(size=(above, below)), rng.normal(size=above)) for below, above in pairwise(widths)
    )
    return ColumnNetwork(COLUMNS, layers, classes, {"seed": seed})


def random_rows(seed, size=40):
    rng = np.random.default_rng(seed)
    ages = rng.choice([*rng.normal(50, 30, 20), np.nan, np.inf, -np.inf], size)
    return pd.DataFrame(
        {
            "unread": "x",
            "age": ages,
            "sex": rng.choice(np.array(["f", "m", "?", None], object), size),
            "smokes": rng.choice(np.array([True, False, None], object), size),
            "grade": rng.choice(np.array([1, 2, 3, 4, np.nan], object), size),
        },
        index=rng.permutation(size),
    )


def encode_by_hand(row):
    """The inputs of one row, read cell by cell."""

    def standard(value, mean, deviation):
        if value is None or math.isnan(value):
            return 0.0
        return max(-MAX_DEVIATIONS, min(MAX_DEVIATIONS, (value - mean) / deviation))

    def one_hot(value, levels):
        return [float(value == level) for level in levels]

    age, sex, smokes, grade = (row[name] for name in ("age", "sex", "smokes", "grade"))
    numbers = [standard(age, 50.0, 10.0), float(math.isnan(age)), *one_hot(sex, "fm"), float(pd.isna(sex))]
    return [*numbers, standard(smokes, 0.5, 0.5), *one_hot(grade, (1, 2, 3))]


NETWORKS = st.builds(
    random_network,
    st.integers(0, 2**32 - 1),
    st.sampled_from([("no", "yes"), (False, True), (1, 2, 5), ("a", "b", "c", "ü")]),
    st.sampled_from([(), (3,), (6, 5)]),
)
SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
@draw_examples(0.5)
def test_encode_is_the_reading_of_every_cell(seed):
    rows, network = random_rows(seed, 12), random_network(0)
    encoded = network.encode(rows)
    assert encoded.shape == (len(rows), len(network.input_names))
    assert encoded.tolist() == [encode_by_hand(row) for _, row in rows.iterrows()]


@given(NETWORKS, SEEDS)
@draw_examples(0.75)
def test_log_odds_are_matrix_products_with_relu(network, seed):
    rows = random_rows(seed)
    values = network.encode(rows)
    for number, (weights, biases) in enumerate(network.layers):
        values = np.maximum(values, 0) if number else values
        values = values @ weights.T + biases
    if len(network.classes) == 2:
        values = np.column_stack([np.zeros(len(rows)), values])
        probabilities = 1 / (1 + np.exp(-values[:, 1]))
        np.testing.assert_allclose(network.predict_proba(rows)[:, 1], probabilities, atol=1e-12)
    np.testing.assert_allclose(network.log_odds(rows), values, atol=1e-9)
    np.testing.assert_allclose(network.predict_proba(rows).sum(axis=1), 1)
    assert network.predict(rows).tolist() == [network.classes[best] for best in values.argmax(axis=1)]


@given(NETWORKS, SEEDS)
@draw_examples(0.5)
def test_log_odds_depend_on_the_row_alone_to_the_last_digit(network, seed):
    rows = random_rows(seed, 12)
    together = network.log_odds(rows)
    alone = np.concatenate([network.log_odds(rows.iloc[[at]]) for at in range(len(rows))])
    order = np.random.default_rng(seed).permutation(len(rows))
    assert together.tobytes() == alone.tobytes()
    assert together[order].tobytes() == network.log_odds(rows.iloc[order]).tobytes()


def test_log_odds_do_not_depend_on_blocks():
    rows, network = random_rows(1, 2 * ROWS_PER_BLOCK + 7), random_network(2)
    shifted = network.log_odds(rows.iloc[5:])
    assert network.log_odds(rows)[5:].tobytes() == shifted.tobytes()


def test_predict_takes_no_rows():
    network = random_network(3)
    assert network.predict(random_rows(0, 3).head(0)).shape == (0,)


def test_predict_of_equal_log_odds_is_the_first_class():
    layer = Layer(np.zeros((1, INPUTS)), np.zeros(1))
    assert set(ColumnNetwork(COLUMNS, (layer,), ("no", "yes")).predict(random_rows(0))) == {"no"}


@given(NETWORKS, SEEDS)
@draw_examples(0.38)
def test_load_gives_what_save_was_given(tmp_path_factory, network, seed):
    rows, folder = random_rows(seed), tmp_path_factory.mktemp("networks")
    network.save(folder / "one.npz")
    loaded = load_model(folder / "one.npz")
    loaded.save(folder / "two.npz")
    assert (folder / "one.npz").read_bytes() == (folder / "two.npz").read_bytes()
    assert loaded.log_odds(rows).tobytes() == network.log_odds(rows).tobytes()
    assert (loaded.columns, loaded.classes, loaded.provenance) == (
        network.columns,
        network.classes,
        network.provenance,
    )
    assert list(map(type, loaded.classes)) == list(map(type, network.classes))


def test_load_refuses_damaged_files_or_gives_the_same_network(tmp_path):
    path, network, rng = tmp_path / "network.npz", random_network(4), np.random.default_rng(4)
    network.save(path)
    content, damaged = path.read_bytes(), tmp_path / "damaged.npz"
    refused = 0
    for at in rng.choice(len(content), 300, replace=False):
        changed = bytearray(content)
        changed[at] ^= int(rng.integers(1, 256))
        damaged.write_bytes(changed)
        try:
            loaded = ColumnNetwork.load(damaged)
        except HornbookError:
            refused += 1
        else:
            assert loaded.columns == network.columns and loaded.classes == network.classes
            for own, other in zip(network.layers, loaded.layers, strict=True):
                assert all(map(np.array_equal, own, other))
    assert refused > 200


def test_load_refuses_files_cut_short(tmp_path):
    path = tmp_path / "network.npz"
    random_network(4).save(path)
    content = path.read_bytes()
    for size in range(0, len(content), 97):
        path.write_bytes(content[:size])
        with pytest.raises(HornbookError, match="no column network, or it is damaged"):
            ColumnNetwork.load(path)


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"weights": np.ones(3)},
        {"description": np.array("{}")},
        {"description": np.array('{"format": "hornbook column network 2"}')},
        {"description": np.array([{"any": "pickle"}], object)},
    ],
)
def test_load_refuses_foreign_files(tmp_path, arrays):
    np.savez(tmp_path / "foreign.npz", **arrays)
    with pytest.raises(HornbookError, match=r"foreign\.npz is no column network"):
        load_model(tmp_path / "foreign.npz")


def test_save_wants_the_ending_that_load_model_knows(tmp_path):
    with pytest.raises(HornbookError, match=r"saved as \.npz"):
        random_network(0).save(tmp_path / "network.onnx")


@pytest.mark.parametrize("classes", [("no", "yes"), (False, True), (1, 2, 5)])
def test_bind_classifier_asks_a_column_network_about_missing_values(classes):
    network, rows = random_network(5, classes), random_rows(6, 300)
    teacher = bind_classifier(network, rows, seed=0)
    assert teacher.classes == classes and teacher.donors is None
    assert rows["age"].isna().any()
    assert [classes[number] for number in teacher.labels(rows)] == network.predict(rows).tolist()


def test_as_predictor_scores_as_predict_proba_does():
    network, rows = random_network(7), random_rows(8)
    predictor = as_predictor(network)
    read = predictor.read(rows)
    np.testing.assert_allclose(predictor.score_rows(read), network.predict_proba(rows)[:, 1], atol=1e-6)
    assert predictor.decide_rows(read).tolist() == (network.predict(rows) == "yes").tolist()


@pytest.mark.parametrize(
    ("columns", "layers", "classes", "message"),
    [
        (COLUMNS[:1] * 2, [Layer(np.ones((1, 4)), np.ones(1))], ("a", "b"), "every column once"),
        (COLUMNS, [Layer(np.ones((1, INPUTS)), np.ones(1))], ("a",), "two or more classes"),
        (COLUMNS, [Layer(np.ones((1, 3)), np.ones(1))], ("a", "b"), "but 9 inputs"),
        (COLUMNS, [Layer(np.ones((1, INPUTS)), np.ones(1))], ("a", "b", "c"), "1 outputs for 3 classes"),
        (COLUMNS, [Layer(np.full((1, INPUTS), np.nan), np.ones(1))], ("a", "b"), "no finite numbers"),
        (COLUMNS, [], ("a", "b"), "9 outputs for 2 classes"),
    ],
)
def test_column_network_refuses_parts_that_do_not_fit(columns, layers, classes, message):
    with pytest.raises(HornbookError, match=message):
        ColumnNetwork(columns, tuple(layers), classes)


def test_predict_refuses_what_it_cannot_read():
    network, rows = random_network(0), random_rows(0)
    with pytest.raises(HornbookError, match="column 'sex', which the table does not have"):
        network.predict(rows.drop(columns="sex"))
    with pytest.raises(HornbookError, match="column 'age' holds numbers"):
        network.predict(rows.assign(age="old"))
    with pytest.raises(HornbookError, match="DataFrame with named columns, not a ndarray"):
        network.predict(rows.to_numpy())


def test_layers_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        random_network(0).layers[0].weights[0, 0] = 1
