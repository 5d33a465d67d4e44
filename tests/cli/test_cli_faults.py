"""Every command that calls a model, with models that misbehave in every way: it ends, and says so."""

import json
import pickle
import shutil

import numpy as np
import pandas as pd
import pytest
from commands import run_all
from difficult_teachers import FAULTS, FaultyClassifier
from sklearn.tree import DecisionTreeClassifier

FAILURES = {
    "raise": "RuntimeError: the model broke",
    "exit": "SystemExit: the model left",
    "shape": "instead of",
    "nan": "predicts nan, which is none of its classes",
    "label": "predicts 'no such class', which is none of its classes",
}
"""What is said of a model that fails; others answer, if only other things than before."""

CHANGES = {"flip", "drift", "lie"}

ROWS = pd.DataFrame({"age": np.arange(20, 80), "fever": np.arange(60) % 2})
ILL = (ROWS.age > 50) & (ROWS.fever == 1)
TREE = DecisionTreeClassifier(random_state=0).fit(ROWS, ILL)

MODEL = ["--model", "model.pkl", "--target", "ill", "--trust-pickle"]
SMALL = ["--samples", "300", "--max-literals", "2", "--form", "tree"]
EXTRACT = ["extract", "table.csv", *MODEL, *SMALL, "-o", "run"]
COMMANDS = {
    "extract": (170, EXTRACT),
    "learn": (6_500, ["learn", "table.csv", *MODEL, "--max-queries", "1", "-o", "run"]),
    "check": (75, ["check", "claims.horn", "--data", "table.csv", *MODEL, "--samples", "300"]),
    "compare": (500, ["compare", "run", "--samples", "500", *MODEL[4:]]),
    "why": (200, ["why", "run", "--row", "3", "--no-proof", *MODEL[4:]]),
    "diff": (
        80,
        ["diff", "--model", "model.pkl", "--data", "table.csv", *MODEL[2:], "--max-literals", "2"],
    ),
}
"""After how many rows the model misbehaves, and the command."""


def save_files(path, model):
    """Save a table, claims about it, and a model."""
    ROWS.assign(ill=ILL).to_csv(path / "table.csv", index=False)
    (path / "claims.horn").write_text("age > 52 & fever = 1 -> ill\n")
    (path / "model.pkl").write_bytes(pickle.dumps(model))


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory):
    """A run of a model that behaves; its file may be exchanged."""
    path = tmp_path_factory.mktemp("behaves")
    save_files(path, TREE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        run_all(EXTRACT)
    config = json.loads((path / "run" / "config.json").read_text())
    del config["model"]["sha256"]
    config["model"]["path"], config["data"]["source"] = "../model.pkl", "table.csv"
    (path / "run" / "config.json").write_text(json.dumps(config))
    return path / "run"


EVERY_FAULT = ("extract", "learn")
"""Commands that ask a model in two ways: about rows, as the others do too, and about interpretations."""

SOME_FAULTS = ("flip", "raise", "nan")
"""A model that changes its answers, one that breaks, and one that is refused."""


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (command, fault)
        for command in COMMANDS
        for fault in (FAULTS if command in EVERY_FAULT else SOME_FAULTS)
    ],
)
def test_command_ends_truthfully_whatever_the_model_does(
    command, fault, hornbook, finished_run, tmp_path, monkeypatch
):
    after, arguments = COMMANDS[command]
    after = after // 20 if fault == "drift" else after  # it is slow at first
    monkeypatch.chdir(tmp_path)
    save_files(tmp_path, FaultyClassifier(TREE, fault, after=after, seconds=0.001))
    if command in ("compare", "why"):
        shutil.copytree(finished_run, tmp_path / "run")
    done = hornbook(*arguments)
    if fault in FAILURES:
        assert done.returncode == 3 and FAILURES[fault] in done.stderr
        assert done.stderr.startswith("hornbook: the model failed: ") and done.stderr.count("\n") == 1
        assert (tmp_path / "run" / "report.html").exists() == (command in ("learn", "compare", "why"))
    elif command == "check" and fault in CHANGES:
        assert (done.returncode, done.stdout[:6]) == (1, "broken") or "changes its answers" in done.stderr
    else:
        assert (done.returncode, done.stderr) == (0, "")
    if command != "check":
        assert ("model gave another answer to" in done.stdout) == (fault in CHANGES)
