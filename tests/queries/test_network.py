"""Networks: how they read interpretations, learn, and survive being saved."""

import importlib
import json
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples
from torch.optim.adam import adam
from torch.optim.sgd import sgd

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary
from hornbook.models import as_predictor
from hornbook.queries import MLP, Examples, Net, Training, train
from hornbook.queries import network as backend
from hornbook.queries.network import encode, glorot
from hornbook.queries.network_training import OPTIMISERS

VOCABULARY = Vocabulary.with_duals(["rain", "umbrella", "wet"])
NET = Net((8, 4), 0.1)
ENCODINGS = ["half", "signed", "two-channel", "zero"]


def examples(size, seed=0):
    """Getting wet is accepted only where rain is not ruled out."""
    values = np.random.default_rng(seed).choice([0, 1, np.nan], (size, 3))
    accepted = ~((values[:, 2] == 1) & (values[:, 0] == 0))
    return Examples(
        Batch.from_array(np.hstack([values, 1 - values]), VOCABULARY), accepted, np.full(size, "random")
    )


def accuracy(network, examples):
    return np.mean(network(examples.batch) == examples.accepted)


@pytest.fixture(scope="module")
def network():
    return train(examples(60), NET, training=Training(epochs=5), seed=1)


def same_weights(one, other):
    mine, theirs = one.module.state_dict(), other.module.state_dict()
    return mine.keys() == theirs.keys() and all(mine[name].equal(theirs[name]) for name in mine)


@pytest.mark.parametrize(
    ("optimiser", "rate", "encoding"),
    [("sgd", 0.2, "half"), ("sgd", 0.2, "signed"), ("sgd", 0.2, "two-channel"), ("adam", 0.02, "half")],
)
def test_a_network_learns(optimiser, rate, encoding):
    training = Training(optimiser, epochs=25)
    network = train(examples(300), Net((16, 8), rate), training=training, encoding=encoding)
    assert accuracy(network, examples(300, seed=9)) > 0.95


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_train_descends_as_pytorch_does_bit_for_bit(optimiser):
    """The functions behind PyTorch's optimisers; the optimisers themselves import its compiler."""
    rng = np.random.default_rng(0)
    starts = [torch.from_numpy(rng.normal(size=shape).astype(np.float32)) for shape in ((5, 3), (5,))]
    gradients = [
        [torch.from_numpy(rng.normal(size=start.shape)).float() for start in starts] for _ in "12345"
    ]
    ours, theirs = [start.clone() for start in starts], [start.clone() for start in starts]
    moments = [[torch.zeros_like(start) for start in starts] for _ in range(2)]
    numbers, plain = [torch.tensor(0.0) for _ in starts], {"lr": 0.05, "weight_decay": 0, "maximize": False}
    for step, _ in zip(gradients, OPTIMISERS[optimiser](ours, gradients, 0.05), strict=True):
        if optimiser == "sgd":
            sgd(theirs, step, [None, None], momentum=0, dampening=0, nesterov=False, **plain)
        else:
            decay = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "amsgrad": False}
            adam(theirs, step, *moments, [], numbers, **decay, **plain)
        assert all(mine.equal(other) for mine, other in zip(ours, theirs, strict=True))


@given(st.lists(st.lists(st.sampled_from([0, 1, None]), min_size=6, max_size=6), max_size=70))
@draw_examples(1.25)
def test_mlp_encodings_tell_the_three_values_apart(rows):
    array = np.array([[np.nan if value is None else value for value in row] for row in rows]).reshape(-1, 6)
    batch = Batch.from_array(array, VOCABULARY)
    half, signed, channels, zero = (encode(batch, encoding) for encoding in ENCODINGS)
    assert half.dtype == signed.dtype == channels.dtype == np.float32
    np.testing.assert_array_equal(half, np.where(np.isnan(array), 0.5, array))
    np.testing.assert_array_equal(signed, 2 * half - 1)
    np.testing.assert_array_equal(channels[:, :6], array == 1)
    np.testing.assert_array_equal(channels[:, 6:], array == 0)
    duals = list(VOCABULARY.duals)
    np.testing.assert_array_equal(zero, (array == 1) | (array[:, duals] == 0))


def test_half_and_signed_are_the_same_network_but_for_a_change_of_weights():
    """2·W on {0, ½, 1} with the bias lowered by the sum of W is W on {-1, 0, 1}."""
    (first, second), rng = glorot((6, 5, 1), np.random.default_rng(0)), np.random.default_rng(1)
    bias = rng.normal(size=5)
    signed = MLP.of([(first, bias), (second, np.zeros(1))], VOCABULARY, "signed")
    half = MLP.of([(2 * first, bias - first.sum(axis=1)), (second, np.zeros(1))], VOCABULARY, "half")
    batch = examples(40).batch
    np.testing.assert_allclose(signed.log_odds(batch), half.log_odds(batch), rtol=1e-4, atol=1e-5)


@given(
    values=st.lists(st.lists(st.sampled_from([0, 1, None]), min_size=4, max_size=4), max_size=70),
    encoding=st.sampled_from(ENCODINGS),
    seed=st.integers(0, 99),
)
@draw_examples(1.25)
def test_mlp_without_duals_equals_the_whole_network(values, encoding, seed):
    """Where pairs are consistent, half the first layer gives what the whole network gives."""
    vocabulary = Vocabulary(["a", "b", "not_a", "c", "not_c", "d"], {"a": "not_a", "not_c": "c"})
    rng = np.random.default_rng(seed)
    widths = (12 if encoding == "two-channel" else 6, 5, 1)
    network = MLP.of([(w, rng.normal(size=len(w))) for w in glorot(widths, rng)], vocabulary, encoding)
    a, b, c, d = np.array(values, float).reshape(-1, 4).T
    batch = Batch.from_array(np.column_stack([a, b, 1 - a, c, 1 - c, d]), vocabulary)
    whole = network.module(torch.from_numpy(encode(batch, encoding)))[:, 0].detach()
    np.testing.assert_allclose(network.log_odds(batch), whole, rtol=1e-4, atol=1e-5)


def test_mlp_pair_that_contradicts_itself_is_asked_about_as_it_is():
    network = MLP.of([(np.array([[1.0, 0, 0, 1, 0, 0]]), -np.ones(1))], VOCABULARY)
    batch = Batch.from_array([[1, 0, 0, 1, 1, 1], [1, 0, 0, 0, 1, 1]], VOCABULARY)
    np.testing.assert_array_equal(network.log_odds(batch), [1, 0])
    np.testing.assert_array_equal(network.log_odds(batch[1:]), [0])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_train_weights_that_change_are_asked_as_they_are(encoding):
    """Half a first layer is remembered, but not beyond the weights that it was made of."""
    network = train(examples(60), NET, training=Training(epochs=1), encoding=encoding)
    batch = examples(40).batch
    before = network.log_odds(batch)
    for layer in (0, 2):
        with torch.no_grad():
            network.module[layer].weight *= 2
            network.module[layer].bias -= 1
        after = network.log_odds(batch)
        whole = network.module(torch.from_numpy(encode(batch, encoding)))[:, 0].detach()
        np.testing.assert_allclose(after, whole, rtol=1e-4, atol=1e-5)
        assert not np.allclose(before, after)


def test_the_same_seed_gives_the_same_network_and_another_seed_another(network):
    again = train(examples(60), NET, training=Training(epochs=5), seed=1)
    other = train(examples(60), NET, training=Training(epochs=5), seed=2)
    assert same_weights(network, again)
    assert not same_weights(network, other)


def test_answers_agree_with_probabilities_and_do_not_depend_on_the_batch(network):
    batch = examples(200).batch
    np.testing.assert_array_equal(network(batch), network.probabilities(batch) > 0.5)
    np.testing.assert_array_equal(network(batch)[:7], network(batch[:7]))
    assert network(batch[:0]).shape == (0,)
    assert network(batch).dtype == np.bool_


def test_training_stops_early_and_keeps_the_best_epoch():
    """On noise the validation loss soon gets worse; what is kept is its least value."""
    rng = np.random.default_rng(0)
    learnt, checked = examples(80), examples(80, seed=1)
    noisy = Examples(learnt.batch, rng.random(80) < 0.5, learnt.kinds)
    net = Net((32, 16), 0.1)
    stopped = train(noisy, net, training=Training(epochs=80), validation=checked, patience=5)
    best = stopped.provenance["epochs"]
    assert 0 < best < 75
    assert same_weights(stopped, train(noisy, net, training=Training(epochs=best)))


def test_train_early_stopping_that_never_stops_changes_nothing(network):
    patient = train(
        examples(60), NET, training=Training(epochs=5), seed=1, validation=examples(60), patience=99
    )
    assert patient.provenance["epochs"] == 5
    assert same_weights(network, patient)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_saved_network_is_loaded_back_identical(encoding, tmp_path):
    network = train(examples(60), Net((5, 3), 0.1), training=Training(epochs=2), encoding=encoding)
    network.save(tmp_path / "net.safetensors")
    loaded = MLP.load(tmp_path / "net.safetensors")
    assert same_weights(network, loaded)
    assert (loaded.vocabulary, loaded.encoding, loaded.widths) == (VOCABULARY, encoding, (5, 3))
    assert loaded.provenance == network.provenance
    batch = examples(100).batch
    np.testing.assert_array_equal(network.log_odds(batch), loaded.log_odds(batch))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.json", "net.safetensors"]


def test_train_what_is_saved_is_readable_without_us(network, tmp_path):
    from safetensors.numpy import load_file

    network.save(tmp_path / "net.safetensors")
    about = json.loads((tmp_path / "net.json").read_text())
    assert about["vocabulary"] == list(VOCABULARY.names)
    assert about["provenance"]["optimiser"] == "sgd"
    assert load_file(tmp_path / "net.safetensors")["0.weight"].shape == (8, 6)


class TestBadInput:
    def test_a_batch_over_other_variables(self, network):
        other = Batch.from_array([[1, 0]], Vocabulary(["a", "b"]))
        with pytest.raises(HornbookError, match="different vocabularies"):
            network(other)

    def test_an_unknown_encoding(self):
        with pytest.raises(HornbookError, match="'third'; choose one of zero, half, signed, two-channel"):
            encode(examples(3).batch, "third")

    def test_nothing_to_learn_from(self):
        with pytest.raises(HornbookError, match="no examples"):
            train(examples(0), NET)

    @pytest.mark.parametrize("widths", [(), (4, 0)])
    def test_layers_without_units(self, widths):
        with pytest.raises(HornbookError, match="at least one unit"):
            Net(widths, 0.1)

    @pytest.mark.parametrize("rate", [0, -1, float("nan")])
    def test_a_learning_rate_that_does_not_descend(self, rate):
        with pytest.raises(HornbookError, match="positive"):
            Net((4,), rate)

    @pytest.mark.parametrize("wrong", [{"optimiser": "rmsprop"}, {"epochs": 0}, {"batch_size": 0}], ids=str)
    def test_impossible_training(self, wrong):
        with pytest.raises(HornbookError):
            Training(**wrong)

    def test_training_that_diverges_says_so(self):
        with pytest.raises(HornbookError, match=r"diverged: 8-8 at rate 1e\+30"):
            train(examples(60), Net((8, 8), 1e30), training=Training(epochs=3))

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
        train(examples(9), NET, training=Training(epochs=1)).save(tmp_path / "two.safetensors")
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
    network = train(examples(60), NET, training=Training(epochs=2), encoding=encoding)
    network.save(tmp_path / "net.safetensors")
    batch = examples(100).batch
    for model in (network, tmp_path / "net.safetensors"):
        predictor = as_predictor(model)
        np.testing.assert_array_equal(predictor.decide(batch), network(batch))
        np.testing.assert_allclose(predictor(batch), network.probabilities(batch), rtol=1e-5)
