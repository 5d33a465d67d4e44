"""`hornbook extract`: from a table and a model to a run folder, and what it refuses."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from commands import is_one_line, runner

from hornbook.data.table import split_rows
from hornbook.logic import HornTheory
from hornbook.runs.folder import Run

SMALL = ["--samples", 1000, "--epsilon", 0.1, "--max-rules", 6]


@pytest.fixture
def hornbook(capsys, monkeypatch):
    return runner(capsys, monkeypatch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Patients who are ill if they are old and have a fever, and models that know."""
    from skl2onnx import to_onnx
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.tree import DecisionTreeClassifier
    from skops.io import dump

    path = tmp_path_factory.mktemp("extract")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.uniform(20, 90, 120).round(), "fever": rng.integers(0, 2, 120)})
    frame["ill"] = ((frame.age > 60) & (frame.fever == 1)).map({True: "yes", False: "no"})
    frame.to_csv(path / "patients.csv", index=False)
    (path / "empty.csv").write_text("")
    (path / "header.csv").write_text("age,fever,ill\n")
    values = frame[["age", "fever"]].to_numpy(np.float32)
    tree = DecisionTreeClassifier(random_state=0).fit(values, frame.ill == "yes")
    onnx = to_onnx(tree, values[:1], options={"zipmap": False})
    (path / "tree.onnx").write_bytes(onnx.SerializeToString())
    (path / "tree.pkl").write_bytes(pickle.dumps(tree))
    (path / "junk.onnx").write_bytes(b"not a model")
    wide = np.hstack([values, values, values[:, :1]])
    dump(LogisticRegression(max_iter=1000).fit(wide, frame.ill), path / "wide.skops")
    dump(LinearRegression().fit(values, frame.ill == "yes"), path / "line.skops")
    return path


def test_a_model_of_columns_is_read_and_the_run_kept(hornbook, folder, tmp_path):
    run = tmp_path / "run"
    done = hornbook("extract", folder / "patients.csv", "--target", "ill", "--model", folder / "tree.onnx",
                    "-o", run, "--form", "rules", *SMALL)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    first, second, used = (line for line in done.stdout.splitlines() if line.startswith("# fidelity"))
    assert first.startswith("# fidelity to the model on 24 unseen rows") and " samples " in second
    assert (
        "interval" in first and "interval" in second and "96 training rows" in used and "interval" not in used
    )
    assert "→ not_ill" in done.stdout
    assert "age ≤ " in done.stdout and "is false" in done.stdout
    names = {path.name for path in run.iterdir()}
    assert names == {"config.json", "rules.json", "rules.horn", "metrics.json", "trace.jsonl", "report.html"}
    kept = Run.load(run)
    theory = HornTheory(kept.answers.theory.vocabulary, kept.answers.rules)
    assert HornTheory.parse(done.stdout, theory.vocabulary) == theory
    assert HornTheory.parse((run / "rules.horn").read_text(), theory.vocabulary) == theory
    document = json.loads((run / "rules.json").read_text())
    assert set(document) >= {"vocabulary", "duals", "rules", "background"}
    assert set(document["rules"][0]) == {"body", "head", "support", "precision", "guarantee"}
    config = json.loads((run / "config.json").read_text())
    assert config["target"] == "ill" and config["settings"]["random_state"] == 0
    assert len(config["data"]["sha256"]) == len(config["model"]["sha256"]) == 64
    assert config["versions"]["hornbook"] and config["command"].startswith("hornbook extract ")
    fidelity = json.loads((run / "metrics.json").read_text())["fidelity"]
    assert (
        fidelity["population"] == "unseen rows" and fidelity["of"] == 24 and 0 <= fidelity["used_rows"] <= 1
    )
    assert fidelity["samples"]["of"] > 100 and fidelity["interval"][0] < fidelity["share"]
    assert "Agreement with the model on 24 unseen rows" in (run / "report.html").read_text()
    lines = [json.loads(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    assert [line["candidate"] for line in lines] == list(range(1, len(lines) + 1))


@pytest.mark.parametrize("source", [("--train",), ("--model", "tree.onnx")])
def test_nothing_is_fitted_to_the_rows_held_out(hornbook, folder, tmp_path, source):
    """The ranges of a run are the same whatever stands in those rows."""
    table = pd.read_csv(folder / "patients.csv")
    _, held_out = split_rows(table[["age", "fever"]], seed=0)
    table.loc[held_out, "age"] = 20 + np.arange(len(held_out))
    table.to_csv(tmp_path / "changed.csv", index=False)
    model = [folder / name if name.endswith("onnx") else name for name in source]
    found = []
    for data in (folder / "patients.csv", tmp_path / "changed.csv"):
        done = hornbook("extract", data, "--target", "ill", *model, "-o", tmp_path / data.stem, *SMALL)
        assert done.returncode == 0
        found.append(json.loads((tmp_path / data.stem / "config.json").read_text())["binariser"])
    assert found[0] == found[1]


def test_a_network_is_trained_where_there_is_none(hornbook, folder, tmp_path):
    arguments = ["extract", folder / "patients.csv", "--target", "ill", "--train", "--json", *SMALL]
    done = hornbook(*arguments, "-o", tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["model"]["held_out"]["rows"] == 24 and result["model"]["held_out"]["accuracy"] > 0.8
    assert result["fidelity"]["share"] > 0.9 and result["folder"] == str(tmp_path / "run")
    assert (tmp_path / "run" / "model.safetensors").is_file()
    again = json.loads(hornbook(*arguments).stdout)
    for measured in (result, again):
        del measured["seconds"], measured["folder"]
    assert again == result


def test_the_same_command_goes_on_and_a_finished_run_is_kept(hornbook, folder, tmp_path):
    arguments = ["extract", folder / "patients.csv", "--target", "ill", "--model", folder / "tree.onnx",
                 "-o", tmp_path, "--method", "queries", "--max-queries", 4, *SMALL]  # fmt: skip
    assert hornbook(*arguments).returncode == 0
    rules, trace = (tmp_path / "rules.json").read_text(), (tmp_path / "trace.jsonl").read_text()
    assert "when only their conditions are known" in (tmp_path / "report.html").read_text()
    assert is_one_line(done := hornbook(*arguments)) and "it is finished" in done.stderr
    # killed after two queries, before anything was written at the end
    (tmp_path / "metrics.json").unlink()
    (tmp_path / "trace.jsonl").write_text("".join(f"{line}\n" for line in trace.splitlines()[:3]))
    assert is_one_line(done := hornbook("show", tmp_path)) and "did not end" in done.stderr
    assert hornbook(*arguments).returncode == 0
    assert (tmp_path / "rules.json").read_text() == rules
    assert (tmp_path / "trace.jsonl").read_text().count("\n") == trace.count("\n")
    assert is_one_line(done := hornbook(*arguments, "--seed", 1)) and "another settings" in done.stderr
    assert hornbook(*arguments, "--seed", 1, "--force").returncode == 0


def test_an_interrupted_run_is_saved_and_ends_with_130(hornbook, folder, tmp_path, monkeypatch):
    from hornbook.classify import run

    def interrupted(nothing, *rest):
        yield nothing
        raise KeyboardInterrupt

    arguments = ["extract", folder / "patients.csv", "--target", "ill", "--model", folder / "tree.onnx",
                 "-o", tmp_path, *SMALL]  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(run, "candidates", interrupted)
        done = hornbook(*arguments)
    assert done.returncode == 130 and "run the same command again to resume" in done.stderr
    assert Run.load(tmp_path).metrics["stop_reason"] == "interrupted"
    assert hornbook(*arguments).returncode == 0
    assert Run.load(tmp_path).metrics["stop_reason"] != "interrupted"


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ("none.csv", ["--target", "ill", "--train"], "there is no file"),
        ("patients.csv", ["--target", "il", "--train"], "no column 'il' to be the label; did you mean"),
        ("patients.csv", ["--train"], "name the column of"),
        ("patients.csv", ["--target", "age", "--train"], "make it binary with above=55 (--above 55)"),
        ("patients.csv", ["--target", "ill", "--model", "junk.onnx"], "is no readable .onnx model"),
        ("patients.csv", ["--target", "ill", "--model", "patients.csv"], "cannot tell the kind of model"),
        ("patients.csv", ["--target", "ill", "--model", "none.onnx"], "there is no file"),
        ("patients.csv", ["--target", "ill", "--model", "wide.skops"], "takes 5 inputs"),
        ("patients.csv", ["--target", "ill", "--model", "line.skops"], "predicts numbers, and rules need"),
        ("patients.csv", ["--target", "ill", "--model", "tree.pkl"], "is a pickle, a program that runs"),
        ("patients.csv", ["--target", "ill", "--train", "-o", "/proc/run"], "cannot write to /proc/run"),
        ("patients.csv", ["--target", "ill", "--train", "-o", "patients.csv"], "cannot write to"),
        ("patients.csv", ["--target", "ill", "--train", "--epsilon", "1.5"], "epsilon is between 0 and 1"),
        ("patients.csv", ["--target", "ill"], "give either --model FILE or --train"),
        ("patients.csv", ["--target", "ill", "--train", "--device", "cuda"], "add --method queries"),
        ("patients.csv", ["--target", "ill", "--train", "--method", "queries", "--device", "cuda:99"],
         "PyTorch cannot use device='cuda:99' here"),
        ("empty.csv", ["--target", "ill", "--train"], "empty.csv: the file is empty"),
        ("header.csv", ["--target", "ill", "--train"], "has 3 columns and 0 rows"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line_and_exit_code_2(hornbook, folder, monkeypatch, data, options, message):
    monkeypatch.chdir(folder)
    done = hornbook("extract", data, *options, *([] if "--epsilon" in options else SMALL))
    assert is_one_line(done), done
    assert message in done.stderr
