"""Every command that calls a model, with every kind of model that misbehaves: it ends, and says so."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from commands import runner
from sklearn.tree import DecisionTreeClassifier

from hornbook.extractor import query
from hornbook.testing import FAULTS, FaultyClassifier

FAILURES = {
    "raise": "RuntimeError: the model broke",
    "exit": "SystemExit: the model left",
    "shape": "instead of",
    "nan": "predicts nan, which is none of its classes",
    "label": "predicts 'no such class', which is none of its classes",
    "hang": "within 0.4 second",
}
"""What is said of a model that fails; others answer, if only other things than before."""

CHANGES = {"flip", "drift", "lie"}

ROWS = pd.DataFrame({"age": np.arange(20, 80), "fever": np.arange(60) % 2})
ILL = (ROWS.age > 50) & (ROWS.fever == 1)
TREE = DecisionTreeClassifier(random_state=0).fit(ROWS, ILL)

MODEL = ["--model", "model.pkl", "--target", "ill", "--trust-pickle"]
EXTRACT = ["extract", "table.csv", *MODEL, "--samples", "300", "--max-literals", "2", "-o", "run"]
COMMANDS = {
    "extract": (8_400, EXTRACT),
    "query": (20_000, ["query", "table.csv", *MODEL, "--max-queries", "1", "-o", "run"]),
    "check": (200, ["check", "claims.horn", "--data", "table.csv", *MODEL, "--samples", "300"]),
    "compare": (2_000, ["compare", "run", "--samples", "2000", *MODEL[4:]]),
    "why": (200, ["why", "run", "--row", "3", "--no-proof", *MODEL[4:]]),
    "diff": (
        80,
        ["diff", "--model", "model.pkl", "--data", "table.csv", *MODEL[2:], "--max-literals", "2"],
    ),
}
"""After how many rows the model misbehaves, and the command."""


@pytest.fixture
def hornbook(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(query, "POOL_SAMPLES", 1000)
    monkeypatch.setattr(query, "FRESH_SAMPLES", 1000)
    ROWS.assign(ill=ILL).to_csv("table.csv", index=False)
    (tmp_path / "claims.horn").write_text("age > 52 & fever = 1 -> ill\n")
    return runner(capsys, monkeypatch)


def save_model(path, model):
    (path / "model.pkl").write_bytes(pickle.dumps(model))


def make_run(hornbook, path):
    """Make a run of a model that behaves; its file may be exchanged."""
    save_model(path, TREE)
    assert hornbook(*EXTRACT).returncode == 0
    config = json.loads((path / "run" / "config.json").read_text())
    del config["model"]["sha256"]
    (path / "run" / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("command", COMMANDS)
def test_command_ends_truthfully_whatever_the_model_does(command, fault, hornbook, tmp_path):
    after, arguments = COMMANDS[command]
    after = after // 20 if fault == "drift" else after  # it is slow at first
    if command in ("compare", "why"):
        make_run(hornbook, tmp_path)
    save_model(tmp_path, FaultyClassifier(TREE, fault, after=after, seconds=0.001))
    done = hornbook(*arguments, *(["--model-seconds", 0.4] if fault == "hang" else []))
    if fault in FAILURES:
        assert done.returncode == 3 and FAILURES[fault] in done.stderr
        assert done.stderr.startswith("hornbook: the model failed: ") and done.stderr.count("\n") == 1
        assert (tmp_path / "run" / "report.html").exists() == (command in ("query", "compare", "why"))
    elif command == "check" and fault in CHANGES:
        assert (done.returncode, done.stdout[:6]) == (1, "broken") or "changes its answers" in done.stderr
    else:
        assert (done.returncode, done.stderr) == (0, "")
    if command != "check":
        assert ("model gave another answer to" in done.stdout) == (fault in CHANGES)
