"""`hornbook diff`: two models from files, a run and a model, a model and the truth."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from commands import is_one_line
from sklearn.tree import DecisionTreeClassifier


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Patients, and two models of which the second reads one column more."""
    path = tmp_path_factory.mktemp("diff")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(18, 90, 300), "bili": rng.uniform(0, 4, 300).round(1)})
    old = DecisionTreeClassifier(max_depth=1).fit(table[["bili"]], table.bili > 2)
    new = DecisionTreeClassifier(max_depth=3).fit(table, (table.bili > 2) | (table.age > 80))
    for name, model in (("old", old), ("new", new)):
        (path / f"{name}.pkl").write_bytes(pickle.dumps(model))
    table.assign(dead=(table.bili > 2).astype(int)).to_csv(path / "patients.csv", index=False)
    return path


OPTIONS = ("--trust-pickle", "--samples", 500, "--max-literals", 4)


def test_diff_saves_what_it_prints_and_exits_by_the_tolerance(hornbook, folder, tmp_path):
    models = ("--old", folder / "old.pkl", "--new", folder / "new.pkl", "--data", folder / "patients.csv")
    done = hornbook(
        "diff", *models, "--target", "dead", *OPTIONS, "--tolerance", 0.02, "-o", tmp_path / "run"
    )
    assert done.returncode == 1 and done.stdout.startswith("FAIL: they disagree on 8.00 % ")
    assert done.stdout.count("\n") <= 5 and "the tolerance is 2 %\n" in done.stdout
    assert "if age ≥ 8" in done.stdout and "old not dead, new dead" in done.stdout
    saved = json.loads((tmp_path / "run" / "diff.json").read_text())
    page = (tmp_path / "run" / "report.html").read_text()
    assert "Both models, side by side" in page and "old not dead, new dead" in page
    done = hornbook("diff", *models, "--target", "dead", *OPTIONS, "--tolerance", 0.9, "--json")
    printed = json.loads(done.stdout)
    assert done.returncode == 0 and printed["above_tolerance"] is False
    assert all(printed[part] == saved[part] for part in saved if part != "provenance")
    done = hornbook("diff", *models, "--target", "dead", *OPTIONS, "-o", tmp_path / "run")
    assert done.returncode == 2 and "--force" in done.stderr
    for tolerance, strict, code in (
        (0.1, False, 0),
        (0.1, True, 1),
        (0.2, True, 0),
        (0.001, False, 1),
        (0, False, 1),
    ):
        gate = ("--tolerance", tolerance, *(["--strict"] if strict else []))
        assert hornbook("diff", *models, "--target", "dead", *OPTIONS, *gate).returncode == code
    same = ("--old", folder / "old.pkl", "--new", folder / "old.pkl", *models[4:])
    done = hornbook("diff", *same, "--target", "dead", *OPTIONS, "--tolerance", 0.001)
    assert (
        is_one_line(done)
        and "too few to say that a share is at most 0.1 %: give at least 3,688" in done.stderr
    )


def test_diff_compares_the_model_of_a_run_with_another(hornbook, folder, tmp_path):
    run, data = tmp_path / "run", folder / "patients.csv"
    model = ("--model", folder / "old.pkl", "--form", "tree")
    assert hornbook("extract", data, "--target", "dead", *model, "-o", run, *OPTIONS).returncode == 0
    done = hornbook("diff", run, "--with", folder / "new.pkl", *OPTIONS)
    assert done.returncode == 0 and "old not dead, new dead" in done.stdout


def test_diff_compares_a_model_with_the_truth(hornbook, folder):
    data = ("--data", folder / "patients.csv", "--target", "dead")
    done = hornbook("diff", "--model", folder / "new.pkl", *data, *OPTIONS, "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["sides"] == ["model", "truth"]
    assert "age ≥" in found["text"][0] and found["says"][0] == "model dead, truth not dead"


@pytest.mark.parametrize(
    "given",
    [
        ("--old", "old.pkl"),
        ("--model", "old.pkl"),
        ("--old", "a", "--new", "b", "--model", "c", "--data", "d"),
    ],
)
def test_diff_says_what_can_be_compared(hornbook, given):
    done = hornbook("diff", *given)
    assert done.returncode == 2 and "--with FILE" in done.stderr and "--target COLUMN" in done.stderr
