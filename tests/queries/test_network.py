"""Networks: how they read interpretations, learn a class, and survive being saved."""

import importlib
import json
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary
from hornbook.models import Encoding, as_predictor
from hornbook.queries import MLP, train_classifier
from hornbook.queries import network as backend

VOCABULARY = Vocabulary.with_duals(["rain", "umbrella", "wet"])
ENCODINGS = ["half", "signed", "two-channel", "zero"]


def draw_batch(size, seed=0):
    """Random interpretations, and whether getting wet is possible: only where rain is not ruled out."""
    values = np.random.default_rng(seed).choice([0, 1, np.nan], (size, 3))
    accepted = ~((values[:, 2] == 1) & (values[:, 0] == 0))
    return Batch.from_array(np.hstack([values, 1 - values]), VOCABULARY), accepted


def make_network(encoding="half", widths=(8, 4), seed=0, provenance=None):
    """A network with random weights."""
    rng, above = np.random.default_rng(seed), (*widths, 1)
    below = (12 if encoding == "two-channel" else 6, *widths)
    layers = [(rng.normal(size=(a, b)), rng.normal(size=a)) for a, b in zip(above, below, strict=True)]
    return MLP.of(layers, VOCABULARY, encoding, provenance)


@pytest.fixture(scope="module")
def network():
    return make_network(provenance={"seed": 0})


def same_weights(one, other):
    mine, theirs = one.module.state_dict(), other.module.state_dict()
    return mine.keys() == theirs.keys() and all(mine[name].equal(theirs[name]) for name in mine)


def test_a_classifier_learns_about_known_and_unknown_values():
    batch, accepted = draw_batch(300)
    trained, again = (train_classifier(batch, accepted, seed=1) for _ in range(2))
    fresh, wanted = draw_batch(300, seed=9)
    assert np.mean(trained.network(fresh) == wanted) > 0.95 and trained.accuracy.size == 60
    assert same_weights(trained.network, again.network)
    assert not same_weights(trained.network, train_classifier(batch, accepted, seed=2).network)
    assert trained.network.provenance["epochs"] <= backend.MAX_EPOCHS


def test_rows_that_teach_nothing_are_refused():
    batch, accepted = draw_batch(30)
    with pytest.raises(HornbookError, match="at least 10 rows; got 9"):
        train_classifier(batch[:9], accepted[:9])
    with pytest.raises(HornbookError, match="all of one class"):
        train_classifier(batch, np.ones(30, np.bool_))


@given(st.lists(st.lists(st.sampled_from([0, 1, None]), min_size=6, max_size=6), max_size=70))
@draw_examples(1.25)
def test_mlp_encodings_tell_the_three_values_apart(rows):
    array = np.array([[np.nan if value is None else value for value in row] for row in rows]).reshape(-1, 6)
    batch = Batch.from_array(array, VOCABULARY)
    half, signed, channels, zero = (Encoding.named(encoding).encode(batch) for encoding in ENCODINGS)
    assert half.dtype == signed.dtype == channels.dtype == np.float32
    np.testing.assert_array_equal(half, np.where(np.isnan(array), 0.5, array))
    np.testing.assert_array_equal(signed, 2 * half - 1)
    np.testing.assert_array_equal(channels[:, :6], array == 1)
    np.testing.assert_array_equal(channels[:, 6:], array == 0)
    duals = list(VOCABULARY.duals)
    np.testing.assert_array_equal(zero, (array == 1) | (array[:, duals] == 0))


def test_half_and_signed_are_the_same_network_but_for_a_change_of_weights():
    """2·W on {0, ½, 1} with the bias lowered by the sum of W is W on {-1, 0, 1}."""
    rng = np.random.default_rng(1)
    first, second, bias = rng.normal(size=(5, 6)), rng.normal(size=(1, 5)), rng.normal(size=5)
    signed = MLP.of([(first, bias), (second, np.zeros(1))], VOCABULARY, "signed")
    half = MLP.of([(2 * first, bias - first.sum(axis=1)), (second, np.zeros(1))], VOCABULARY, "half")
    batch, _ = draw_batch(40)
    np.testing.assert_allclose(signed.log_odds(batch), half.log_odds(batch), rtol=1e-4, atol=1e-5)


def test_answers_agree_with_log_odds_and_do_not_depend_on_the_batch(network):
    batch, _ = draw_batch(200)
    np.testing.assert_array_equal(network(batch), network.log_odds(batch) > 0)
    np.testing.assert_array_equal(network(batch)[:7], network(batch[:7]))
    assert network(batch[:0]).shape == (0,)
    assert network(batch).dtype == np.bool_


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_saved_network_is_loaded_back_identical(encoding, tmp_path):
    network = make_network(encoding, (5, 3), provenance={"rate": 0.1})
    network.save(tmp_path / "net.safetensors")
    loaded = MLP.load(tmp_path / "net.safetensors")
    assert same_weights(network, loaded)
    assert (loaded.vocabulary, loaded.encoding, loaded.widths) == (VOCABULARY, encoding, (5, 3))
    assert loaded.provenance == network.provenance
    batch, _ = draw_batch(100)
    np.testing.assert_array_equal(network.log_odds(batch), loaded.log_odds(batch))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.json", "net.safetensors"]


def test_what_is_saved_is_readable_without_us(network, tmp_path):
    from safetensors.numpy import load_file

    network.save(tmp_path / "net.safetensors")
    about = json.loads((tmp_path / "net.json").read_text())
    assert about["vocabulary"] == list(VOCABULARY.names)
    assert about["provenance"] == {"seed": 0}
    assert load_file(tmp_path / "net.safetensors")["0.weight"].shape == (8, 6)


class TestBadInput:
    def test_a_batch_over_other_variables(self, network):
        other = Batch.from_array([[1, 0]], Vocabulary(["a", "b"]))
        with pytest.raises(HornbookError, match="different vocabularies"):
            network(other)

    def test_a_file_of_another_kind(self, network, tmp_path):
        with pytest.raises(HornbookError, match=r"\.safetensors file; got 'net.pt'"):
            network.save(tmp_path / "net.pt")

    @pytest.mark.parametrize("gone", ["net.safetensors", "net.json"])
    def test_half_a_network(self, network, tmp_path, gone):
        network.save(tmp_path / "net.safetensors")
        (tmp_path / gone).unlink()
        with pytest.raises(HornbookError, match=gone):
            MLP.load(tmp_path / "net.safetensors")

    def test_weights_of_another_network(self, network, tmp_path):
        network.save(tmp_path / "one.safetensors")
        make_network(seed=1).save(tmp_path / "two.safetensors")
        (tmp_path / "two.safetensors").replace(tmp_path / "one.safetensors")
        with pytest.raises(HornbookError, match="checksums differ"):
            MLP.load(tmp_path / "one.safetensors")

    @pytest.mark.parametrize("text", ["not json", "[]", "{}", '{"weights": 1, "vocabulary": "abc"}'])
    def test_a_description_that_is_none(self, network, tmp_path, text):
        network.save(tmp_path / "net.safetensors")
        (tmp_path / "net.json").write_text(text)
        with pytest.raises(HornbookError, match="does not describe a network"):
            MLP.load(tmp_path / "net.safetensors")


def test_mlp_without_torch_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(HornbookError, match=r'pip install "hornbook\[torch\]"'):
        importlib.reload(backend)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_adapters_take_a_network_and_its_file(encoding, tmp_path):
    network = make_network(encoding)
    network.save(tmp_path / "net.safetensors")
    batch, _ = draw_batch(100)
    probabilities = torch.from_numpy(network.log_odds(batch)).sigmoid().numpy()
    for model in (network, tmp_path / "net.safetensors"):
        predictor = as_predictor(model)
        np.testing.assert_array_equal(predictor.decide(batch), network(batch))
        np.testing.assert_allclose(predictor(batch), probabilities, rtol=1e-5)
