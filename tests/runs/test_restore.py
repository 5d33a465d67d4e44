"""A saved run is bound to its model, table, split, encoding and words again, and gives the same result."""

import shutil
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import is_one_line

import hornbook as hb
from hornbook.errors import HornbookError
from hornbook.runs import Run, explain_by_settings, learn_by_settings
from hornbook.runs.inputs import note_inputs

BOOK = '[columns.fever]\nlevels = { 0 = "none", 1 = "high" }\n[classes]\n0 = "well"\n1 = "ill"\n'
EXTRACT = ["--samples", 500, "--max-literals", 3, "--form", "tree"]
LEARN = ["--max-queries", 3, "--epsilon", 0.2, "--max-rules", 4]
KINDS = {
    "plain": ["extract", *EXTRACT],
    "in words": ["extract", *EXTRACT, "--code-book", "words.toml", "--seed", 3],
    "groups": ["extract", *EXTRACT, "--groups", "patient"],
    "test rows": ["extract", *EXTRACT, "--test", "later.csv"],
    "by queries": ["learn", *LEARN, "--code-book", "words.toml", "--groups", "patient"],
    "by LRN*": ["learn", *LEARN, "--learner", "lrn_star"],
}


@pytest.fixture(scope="module")
def place(folder, tmp_path_factory):
    """A folder with a table that has groups, test rows, a code book, and models."""
    place = tmp_path_factory.mktemp("restored")
    table = pd.read_csv(folder / "patients.csv").assign(patient=np.arange(120) // 3)
    table.to_csv(place / "table.csv", index=False)
    table.drop(columns="patient")[:30].to_csv(place / "later.csv", index=False)
    (place / "words.toml").write_text(BOOK)
    for name in ("tree.pkl", "tree.onnx"):
        shutil.copy(folder / name, place / name)
    return place


@pytest.mark.parametrize("kind", KINDS)
def test_restored_run_gives_the_same_result_again(kind, hornbook, place, tmp_path, monkeypatch):
    monkeypatch.chdir(place)
    command, *options = KINDS[kind]
    if "--groups" not in options:
        table = pd.read_csv("table.csv").drop(columns="patient")
        table.to_csv(tmp_path / "table.csv", index=False)
    data = "table.csv" if "--groups" in options else tmp_path / "table.csv"
    made = [command, data, "--target", "ill", "--model", "tree.pkl", "--trust-pickle", "-o", tmp_path / "run"]
    assert hornbook(*made, *options).returncode == 0
    run = Run.load(tmp_path / "run")
    if run.is_by_queries:
        subject = run.restore_queries(trust_pickle=True)
        extraction = learn_by_settings(subject, run.config["settings"])
    else:
        subject = run.restore(trust_pickle=True)
        assert subject.classes == run.extraction.explanation.classes
        if (test := run.find_test_file()) is not None:
            subject = subject.with_test_rows(pd.read_csv(test).drop(columns="ill"))
        extraction = explain_by_settings(subject, run.config["settings"])
    notes = note_inputs(run.load_table(), subject, run.config["model"])
    again = replace(extraction, provenance=run.extraction.provenance, notes=(*extraction.notes, *notes))
    assert again.to_json() == run.extraction.to_json()


@pytest.mark.parametrize("moved", ["together", "the run alone", "everything apart"])
def test_folders_can_be_moved(moved, hornbook, folder, tmp_path, monkeypatch):
    """What belongs to a run is found by its place or its checksum, or where `--data` and `--model` say."""
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    for place in (first, second, third):
        place.mkdir()
    for name in ("patients.csv", "tree.onnx"):
        shutil.copy(folder / name, first / name)
    monkeypatch.chdir(first)
    done = hornbook(
        "extract", "patients.csv", "--target", "ill", "--model", "tree.onnx", *EXTRACT, "-o", "run"
    )
    assert done.returncode == 0, done
    given = ["--data", second / "table.csv", "--model", second / "m.onnx"]
    if moved == "together":
        shutil.copytree(first, third, dirs_exist_ok=True)
        shutil.rmtree(first)
    elif moved == "the run alone":
        shutil.move(first / "run", third / "run")
    else:
        for name, path in (("run", third / "run"), ("patients.csv", given[1]), ("tree.onnx", given[3])):
            shutil.move(first / name, path)
    monkeypatch.chdir(first if moved == "the run alone" else tmp_path)
    commands = (["why", "--row", 3, "--no-proof", "--changes", 0], ["compare", "--samples", 100], ["verify"])
    for command, *options in (*commands, ["diff", "--with", folder / "tree.onnx", "--samples", 100]):
        done = hornbook(command, third / "run", *options, *(given if moved == "everything apart" else ()))
        assert done.returncode == 0 and "FAILS" not in done.stdout, done
    if moved == "everything apart":
        done = hornbook("why", third / "run", "--row", 3)
        assert is_one_line(done) and "--data FILE" in done.stderr
        done = hornbook("why", third / "run", "--row", 3, *given[:3], folder / "other.onnx")
        assert done.returncode == 2 and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command", ["extract", "learn", "why run --row 3 --no-proof", "compare run --samples 100", "verify run"]
)
def test_every_command_splits_the_rows_and_binds_the_model_once(
    command, hornbook, place, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    name, *arguments = command.split()
    model = ["--target", "ill", "--model", place / "tree.onnx", "--groups", "patient", "-o", "run"]
    made = [place / "table.csv", *model, *(LEARN if name == "learn" else EXTRACT)]
    if arguments:
        assert hornbook("extract", *made).returncode == 0
    calls = []

    def count(place):
        module, function = place.rsplit(".", 1)
        original = getattr(import_module(module), function)
        monkeypatch.setattr(
            place, lambda *given, **named: [calls.append(function), original(*given, **named)][1]
        )

    count("hornbook.models.subject.split_rows")
    count("hornbook.queries.teacher.split_rows")
    count("hornbook.models.subject.bind_classifier")
    count("hornbook.queries.teacher.predict_two_classes")
    assert hornbook(name, *(arguments or made)).returncode == 0
    bound = "predict_two_classes" if name == "learn" else "bind_classifier"
    assert sorted(calls) == sorted(["split_rows", bound])


def test_a_run_learned_in_python_is_verified_as_far_as_it_can_be(hornbook, tmp_path):
    rows = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (60, 3)), columns=list("abc"))
    hb.learn(lambda array: array[:, 0] <= array[:, 1], rows, max_queries=2, folder=tmp_path / "run")
    done = hornbook("verify", tmp_path / "run")
    assert done.returncode == 0 and "7 files are as the run left them" in done.stdout
    assert "not derived  what the files say   # it was saved from Python" in done.stdout
    assert "a → b" in hornbook("show", tmp_path / "run", "--format", "rules").stdout.replace("->", "→")


def test_restoring_refuses_what_has_changed(hornbook, place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("table.csv", "tree.onnx"):
        shutil.copy(place / name, name)
    model = ["--target", "ill", "--model", "tree.onnx", "--groups", "patient"]
    assert hornbook("extract", "table.csv", *model, *EXTRACT, "-o", "run").returncode == 0
    assert hornbook("learn", "table.csv", *model, *LEARN, "-o", "rules").returncode == 0
    with pytest.raises(HornbookError, match="rules is a run by queries; this needs one of hornbook extract"):
        Run.load(tmp_path / "rules").restore()
    run = Run.load(tmp_path / "run")
    rows = pd.read_csv("table.csv")[["age", "fever"]]
    hb.Explainer("tree.onnx", rows).extract(n_samples=500, max_literals=3).save(tmp_path / "saved")
    with pytest.raises(HornbookError, match="was saved from Python, which keeps neither table nor model"):
        Run.load(tmp_path / "saved").restore()
    found = Run.load(tmp_path / "saved").restore(Path("tree.onnx"), data="table.csv")
    assert found.frame.equals(run.restore().frame) and found.classes == ("class 0", "class 1")
    (tmp_path / "tree.onnx").write_bytes((tmp_path / "tree.onnx").read_bytes() + b" ")
    with pytest.raises(HornbookError, match=r"tree\.onnx has changed since the run was made"):
        run.restore()
    table = pd.read_csv("table.csv")
    table.assign(age=table.age + 1).to_csv("table.csv", index=False)
    with pytest.raises(HornbookError, match=r"table\.csv has changed since the run was made"):
        run.restore()
    assert run.load_table(changed=True).features.age.iloc[0] == table.age.iloc[0] + 1
