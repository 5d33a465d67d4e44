"""Models come back from files as they were; what is unsafe, broken or unknown is refused."""

import hashlib
import json
import pickle

import joblib
import numpy as np
import pytest
import torch
from adapter_models import (
    BUILDERS,
    VOCABULARY,
    WIDTH,
    layers,
    lightgbm_classifier,
    onnx_network,
    xgboost_classifier,
)

from hornbook.errors import HornbookError
from hornbook.logic import Batch, Vocabulary
from hornbook.models import ENCODINGS, Encoding, as_predictor, load_model, loading

BATCH = Batch.from_array(np.random.default_rng(8).choice([0, 1, np.nan], (90, WIDTH)), VOCABULARY)


def estimator():
    return BUILDERS["logistic"]().outputs.args[0].__self__


def save_onnx(path):
    path.write_bytes(onnx_network())
    return BUILDERS["onnx_sigmoid"]()


def save_keras(path):
    model = BUILDERS["keras_sequential"]()
    model.outputs.__self__.save(path)
    return model


def save_skops(path):
    import skops.io

    skops.io.dump(estimator(), path)
    return as_predictor(estimator(), encoding="half")


def save_xgboost(path):
    xgboost_classifier().get_booster().save_model(path)
    return BUILDERS["xgboost_booster"]()


def save_lightgbm(path):
    lightgbm_classifier().booster_.save_model(path)
    return BUILDERS["lightgbm_booster"]()


def save_network(path, encoding="half", vocabulary=VOCABULARY):
    """As networks are saved here: the weights, and beside them what they mean."""
    from safetensors.torch import save_file

    inputs = ENCODINGS[encoding].inputs(len(vocabulary))
    module = torch.nn.Sequential(*layers(inputs=inputs))
    save_file(module.state_dict(), path)
    about = {
        "encoding": encoding,
        "widths": [4],
        "weights": hashlib.sha256(path.read_bytes()).hexdigest(),
        "vocabulary": vocabulary.names,
        "duals": {},
        "provenance": {},
    }
    path.with_suffix(".json").write_text(json.dumps(about))
    return as_predictor(module, encoding=encoding)


SAVERS = {
    ".onnx": save_onnx,
    ".keras": save_keras,
    ".skops": save_skops,
    ".json": save_xgboost,
    ".ubj": save_xgboost,
    ".txt": save_lightgbm,
    ".safetensors": save_network,
}


@pytest.mark.parametrize("suffix", SAVERS)
def test_load_model_restores_models(suffix, tmp_path):
    path = tmp_path / f"model{suffix}"
    before = SAVERS[suffix](path)
    for source in (path, str(path), load_model(path)):
        after = as_predictor(source, encoding=before.encoding)
        np.testing.assert_allclose(after(BATCH), before(BATCH), atol=1e-6)
    assert as_predictor(path).name == path.name


@pytest.mark.parametrize("suffix", SAVERS)
def test_load_model_another_width_is_refused(suffix, tmp_path):
    path = tmp_path / f"model{suffix}"
    encoding = SAVERS[suffix](path).encoding
    with pytest.raises(HornbookError, match=f"model{suffix} takes 6 inputs, but 7 variables in 1 channel"):
        as_predictor(path, encoding=encoding).check(Vocabulary("abcdefg"[i] for i in range(7)))


@pytest.mark.parametrize("suffix", [*SAVERS, ".pkl", ".pickle", ".joblib"])
@pytest.mark.parametrize("content", [b"", b"{}", b"no model at all\n" * 40])
def test_load_model_files_that_are_no_models(suffix, content, tmp_path):
    path = tmp_path / f"model{suffix}"
    if suffix == ".safetensors":
        save_network(path)
        about = json.loads(path.with_suffix(".json").read_text())
        about["weights"] = hashlib.sha256(content).hexdigest()
        path.with_suffix(".json").write_text(json.dumps(about))
    path.write_bytes(content)
    with pytest.raises(HornbookError, match=f"model{suffix} is not a readable {suffix} model"):
        load_model(path, trust_pickle=True)


@pytest.mark.parametrize("suffix", SAVERS)
def test_load_model_half_a_file(suffix, tmp_path):
    path = tmp_path / f"model{suffix}"
    SAVERS[suffix](path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(HornbookError, match=f"model{suffix} is"):
        load_model(path)


@pytest.mark.parametrize(
    "behaviour",
    [
        "os.abort()",
        "time.sleep(60)",
        "bytearray(10**12)",
        "own = lightgbm.Booster(model_file=path); own.predict = lambda *_, **__: os.abort(); return own",
    ],
    ids=["ends the process", "never returns", "takes all memory", "ends it when asked"],
)
def test_load_model_files_that_their_library_does_not_survive(behaviour, tmp_path, monkeypatch):
    path = tmp_path / "model.txt"
    save_lightgbm(path)
    (tmp_path / "sitecustomize.py").write_text(
        "import os, time\nimport hornbook.models.loading as loading\n"
        f"def read(path):\n    import lightgbm\n    {behaviour}\nloading.READERS['.txt'] = read\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    if "sleep" in behaviour:
        monkeypatch.setattr(loading, "TRIAL_SECONDS", 2.0)
    with pytest.raises(HornbookError, match="loading it ends the process, never ends, or takes more memory"):
        load_model(path)


def test_load_model_missing_files_and_unknown_suffixes(tmp_path):
    with pytest.raises(HornbookError, match=r"there is no file .*model\.onnx"):
        load_model(tmp_path / "model.onnx")
    (tmp_path / "model.onnx").mkdir()
    with pytest.raises(HornbookError, match="there is no file"):
        load_model(tmp_path / "model.onnx")
    (tmp_path / "model.h5").touch()
    with pytest.raises(HornbookError, match=r"cannot tell the kind of model from '\.h5'; known are \.onnx"):
        load_model(tmp_path / "model.h5")


@pytest.mark.parametrize(
    ("suffix", "save"),
    [(".pkl", pickle.dump), (".pickle", pickle.dump), (".joblib", joblib.dump)],
)
def test_load_model_pickles_are_refused_unless_trusted(suffix, save, tmp_path):
    path = tmp_path / f"model{suffix}"
    model = estimator()
    with path.open("wb") as file:
        save(model, file)
    for refusing in (load_model, as_predictor):
        with pytest.raises(HornbookError, match=r"is a pickle, a program .* trust_pickle=True"):
            refusing(path)
    after = as_predictor(load_model(path, trust_pickle=True), encoding="half")
    np.testing.assert_array_equal(after(BATCH), as_predictor(model, encoding="half")(BATCH))


class Stranger:
    """A type that skops has no reason to trust."""

    def predict(self, inputs):
        return inputs[:, 0]


def test_load_model_skops_names_the_types_it_does_not_trust(tmp_path):
    import skops.io

    skops.io.dump(Stranger(), tmp_path / "model.skops")
    with pytest.raises(HornbookError, match=r"does not know to be safe: .*\.Stranger.*--trust-pickle"):
        load_model(tmp_path / "model.skops")
    assert type(load_model(tmp_path / "model.skops", trust_pickle=True)).__name__ == "Stranger"


def test_load_model_keras_programs_in_files_are_refused(tmp_path):
    import keras

    model = keras.Sequential([keras.Input((WIDTH,)), keras.layers.Lambda(lambda inputs: inputs[:, :1])])
    model.save(tmp_path / "model.keras")
    with pytest.raises(HornbookError, match=r"model\.keras is not a readable"):
        load_model(tmp_path / "model.keras")


@pytest.mark.parametrize("encoding", ["half", "signed", "two-channel"])
def test_networks_know_their_encoding_and_variables(encoding, tmp_path):
    before = save_network(tmp_path / "net.safetensors", encoding)
    network = load_model(tmp_path / "net.safetensors")
    assert network.vocabulary == VOCABULARY
    after = as_predictor(network)
    assert after.encoding == Encoding.named(encoding)
    np.testing.assert_array_equal(after(BATCH), before(BATCH))
    with pytest.raises(HornbookError, match="input 0 of SavedNetwork was called 'age=high'"):
        after.check(Vocabulary(reversed(VOCABULARY.names)))


def spoil(path, **changes):
    about = json.loads(path.with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps({**about, **changes}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.with_suffix(".json").unlink(), "net.json, which should describe the network"),
        (
            lambda path: path.with_suffix(".json").write_text("{}"),
            "a network: required field missing @ .*encoding",
        ),
        (lambda path: path.with_suffix(".json").write_text("]"), "does not describe a network"),
        (lambda path: spoil(path, encoding="loud"), "unknown encoding 'loud'"),
        (lambda path: spoil(path, weights="0"), "checksums differ"),
        (lambda path: path.write_bytes(b"other"), "checksums differ"),
        (lambda path: spoil(path, vocabulary=["a", "a"]), "appears twice"),
        (
            lambda path: spoil(path, vocabulary=["a"]),
            "speaks of 1 inputs, but the weights in net.safetensors take 6",
        ),
    ],
)
def test_load_model_networks_whose_description_is_wrong(change, message, tmp_path):
    path = tmp_path / "net.safetensors"
    save_network(path)
    change(path)
    with pytest.raises(HornbookError, match=message):
        load_model(path)
