"""Models behind MLflow's own server, and runs that are killed."""

import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from model_servers import serve_mlflow
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import hornbook as hb
from hornbook.models import bind_classifier
from hornbook.remote import Endpoint, EndpointSettings

SIGNATURE = ", ".join(
    f'{{"type": "{kind}", "name": "{name}"}}'
    for name, kind in {"age": "double", "visits": "long", "sex": "string"}.items()
)
MODEL_FILE = f"""flavors:
  python_function:
    loader_module: mlflow.sklearn
    model_path: model.pkl
    predict_fn: predict
    python_version: {sys.version.partition(" ")[0]}
  sklearn:
    pickled_model: model.pkl
    serialization_format: cloudpickle
signature:
  inputs: '[{SIGNATURE}]'
"""


@pytest.fixture(autouse=True)
def _answers_apart(monkeypatch, tmp_path):
    monkeypatch.setenv("HORNBOOK_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def patients():
    """Rows with numbers, whole numbers and words, some of them missing."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "age": rng.uniform(20, 90, 200),
            "visits": rng.integers(0, 9, 200),
            "sex": rng.choice(["f", "m"], 200),
        }
    )
    rows.loc[:20, "age"] = np.nan
    return rows


@pytest.fixture(scope="module")
def model(patients):
    """A pipeline that takes missing ages."""
    words = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    ill = np.where((patients.age > 60) | ((patients.visits > 4) & (patients.sex == "f")), "ill", "well")
    return make_pipeline(words, DecisionTreeClassifier(random_state=0)).fit(patients, ill)


@pytest.fixture(scope="module")
def mlflow_url(model, tmp_path_factory):
    """The URL of the server that `mlflow models serve` starts."""
    if find_spec("mlflow") is None:
        pytest.skip("mlflow is not installed")
    folder = tmp_path_factory.mktemp("mlflow")
    (folder / "MLmodel").write_text(MODEL_FILE)
    (folder / "model.pkl").write_bytes(pickle.dumps(model))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["-m", "uvicorn", "--port", str(port), "mlflow.pyfunc.scoring_server.app:app"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, *command],
            env={**os.environ, "__pyfunc_model_path__": str(folder), "OMP_NUM_THREADS": "1"},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + 120
        while not is_listening(port):
            assert process.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/invocations"
    finally:
        process.kill()
        process.wait()


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
def test_mlflow_server_is_explained_as_the_model_that_it_serves(mlflow_url, model, patients, monkeypatch):
    monkeypatch.setattr("hornbook.extraction.explaining.EVALUATION_SAMPLES", 1000)
    served, local = (
        hb.Explainer(each, patients, target="health").extract(form="tree", n_samples=500)
        for each in (mlflow_url, model)
    )
    assert served.classes == ("ill", "well")
    assert str(served.explanation) == str(local.explanation) and served.fidelity == local.fidelity
    assert served.notes == local.notes


@pytest.mark.slow
def test_mlflow_server_takes_both_frames_and_says_in_which_columns_values_may_miss(
    mlflow_url, model, patients
):
    rows = patients.iloc[::7]
    records = EndpointSettings(
        mlflow_url, "json", request={"dataframe_records": "$rows"}, answers="predictions.*"
    )
    for settings in (mlflow_url, records):
        endpoint = Endpoint(settings)
        assert endpoint.answer_rows(rows) == model.predict(rows).tolist()
    teacher = bind_classifier(mlflow_url, patients, seed=0)
    assert teacher.donors is not None and "age" not in teacher.donors.columns
    assert "visits" in teacher.donors.columns  # whole numbers of a signature cannot miss


SCRIPT = """
import sys, numpy as np, pandas as pd
from pathlib import Path
from hornbook.remote.endpoint import Endpoint
Endpoint(sys.argv[1], Path(sys.argv[2])).answer_rows(pd.DataFrame({"x": np.arange(400.0)}))
"""


def test_answers_of_a_killed_process_are_not_asked_for_again(tmp_path):
    seconds_per_row = [0.01]

    def answer(rows):
        time.sleep(seconds_per_row[0] * len(rows))
        return (rows["x"] / 400).tolist()

    with serve_mlflow(answer) as server:
        url = f"{server.url}/invocations"
        with subprocess.Popen([sys.executable, "-c", SCRIPT, url, str(tmp_path)]) as process:
            while server.rows < 150 and process.poll() is None:
                time.sleep(0.01)
            process.kill()
        sent, seconds_per_row[0] = server.rows, 0
        endpoint = Endpoint(url, tmp_path)
        rows = pd.DataFrame({"x": np.arange(400.0)})
        assert endpoint.answer_rows(rows) == (rows["x"] / 400).tolist()
        assert process.returncode == -signal.SIGKILL and 150 <= sent < 400
        in_flight = 4 * 64  # the only ones that a kill can cost
        assert endpoint.counts.cached >= sent - in_flight and endpoint.counts.cached > 0
        assert endpoint.counts.rows == 400 - endpoint.counts.cached
