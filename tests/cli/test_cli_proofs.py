"""`extract --proof` and `verify` on explanations in columns: what was derived cannot be forged."""

import json
import shutil
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from commands import is_one_line, run_all

from hornbook.models import ColumnNetwork
from hornbook.models.column_network import Layer, NumericInputs


def save_network(path, bias=-0.5):
    """A network that says yes from x = 5 on, and for the few rows with z = 9."""
    columns = NumericInputs("x", 4, 4, missing=False), NumericInputs("z", 0, 9, missing=False)
    first = Layer(np.array([[4.0, 0], [4, 0], [0, 9]]), np.array([0.0, -1, -8]))
    network = ColumnNetwork(
        columns, (first, Layer(np.array([[1.0, -1, 1]]), np.array([bias]))), ("no", "yes")
    )
    network.save(path)


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    """A run about such a network: a line that is proved, and one that is refuted by z = 9."""
    folder = tmp_path_factory.mktemp("proved")
    x, z = np.divmod(np.arange(200), 20)
    table = pd.DataFrame({"x": x, "z": np.where(z == 19, 9, 0), "bought": np.where(x > 4, "yes", "no")})
    table.to_csv(folder / "table.csv", index=False)
    save_network(folder / "model.npz")
    extract = ["extract", "table.csv", "--target", "bought", "--model", "model.npz", "--form", "rules"]
    limits = ["--max-literals", 1, "--samples", 500]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run_all([*extract, *limits, "--proof", "-o", "run"], [*extract, *limits, "-o", "bare"])
    return folder


@pytest.fixture
def folder(proved, tmp_path, monkeypatch):
    """A copy of the run, its table and its model, in which the commands run."""
    shutil.copytree(proved, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    config["model"]["path"], config["data"]["source"] = "../model.npz", "table.csv"
    (tmp_path / "run" / "config.json").write_text(json.dumps(config))
    return tmp_path


def forge(folder, change):
    path = folder / "run" / "extraction.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def failures(done):
    lines = done.stdout.splitlines()
    assert all(line.startswith(("holds  ", "FAILS  ")) for line in lines) and done.stderr == ""
    return [line for line in lines if line.startswith("FAILS")]


def test_an_untouched_run_is_verified_and_one_without_proofs_is_refused(hornbook, folder):
    lines = json.loads((folder / "run" / "extraction.json").read_text())["lines"]
    kinds = [line["guarantee"]["kind"] for line in lines]
    assert sorted(kinds) == ["proved", "refuted"]
    done = hornbook("verify", "run")
    assert done.returncode == 0 and failures(done) == [] and len(done.stdout.splitlines()) == 2
    assert is_one_line(done := hornbook("verify", "bare")) and "holds no proofs" in done.stderr
    (folder / "model.npz").unlink()
    assert is_one_line(hornbook("verify", "run"))


def swap(content):
    first, second = (line["guarantee"] for line in content["lines"])
    content["lines"][0]["guarantee"], content["lines"][1]["guarantee"] = second, first


def line_of(content, kind):
    return next(line for line in content["lines"] if line["guarantee"]["kind"] == kind)


def call_proved(content):
    line_of(content, "refuted")["guarantee"] = line_of(content, "proved")["guarantee"]


def drop(kind):
    return lambda content: line_of(content, kind).update(guarantee=None)


def drop_all(content):
    for line in content["lines"]:
        line["guarantee"] = None


def widen_margin(content):
    line_of(content, "proved")["guarantee"]["margin"] += 0.125


def change_witness(content):
    guarantee = line_of(content, "refuted")["guarantee"]
    guarantee["reason"] = guarantee["reason"].replace("z = 9", "z = 0")


def change_domain(content):
    content["notes"] = [note.replace("x: 0 to 9", "x: 0 to 900") for note in content["notes"]]


FORGERIES = {
    "verdicts are exchanged": (swap, 2),
    "a refuted line is called proved": (call_proved, 1),
    "a proved line lost its verdict": (drop("proved"), 1),
    "a refuted line lost its verdict": (drop("refuted"), 1),
    "all lines lost their verdicts": (drop_all, 2),
    "a margin is larger": (widen_margin, 1),
    "a witness is another row": (change_witness, 1),
    "the domain is larger": (change_domain, 1),
}


@pytest.mark.parametrize("kind", FORGERIES)
def test_forged_verdicts_fail_in_one_line_each(hornbook, folder, kind):
    change, count = FORGERIES[kind]
    forge(folder, change)
    done = hornbook("verify", "run")
    assert done.returncode == 1 and len(failures(done)) == count


def test_another_model_and_another_table_fail_in_one_line_each(hornbook, folder):
    save_network(folder / "model.npz", bias=-0.25)
    done = hornbook("verify", "run")
    (line,) = failures(done)
    assert done.returncode == 1 and "model.npz" in line and "has changed" in line
    text = (folder / "table.csv").read_text()
    (folder / "table.csv").write_text(text + "9,9,yes\n")
    done = hornbook("verify", "run", "--json")
    findings = json.loads(done.stdout)["findings"]
    assert done.returncode == 1 and [each["about"] for each in findings] == ["model.npz", "table.csv"]
    save_network(folder / "model.npz")
    (line,) = failures(hornbook("verify", "run"))
    assert "table.csv" in line


def test_a_trained_network_is_proved_about_and_noticed_when_it_is_exchanged(hornbook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    limits = ["--samples", "500", "--max-literals", "2", "--proof-seconds", "5"]
    done = hornbook("extract", "iris", "--train", "--form", "rules", "--proof", "-o", "run", *limits)
    assert done.returncode == 0, done.stderr
    done = hornbook("verify", "run", "--proof-seconds", "5")
    assert done.returncode == 0 and failures(done) == []
    content = ColumnNetwork.load(tmp_path / "run" / "model.npz")
    ColumnNetwork(content.columns, content.layers, content.classes).save(tmp_path / "run" / "model.npz")
    (line,) = failures(hornbook("verify", "run"))
    assert "model.npz" in line


@pytest.mark.parametrize(
    ("command", "work", "message"),
    [
        (
            "extract table.csv --train --form card",
            "hornbook.models.train_column_network",
            "hold only together",
        ),
        ("query table.csv --model model.npz", "hornbook.learners.extract.prime", "reads the columns"),
    ],
)
def test_proofs_that_cannot_be_are_refused_before_any_work(
    hornbook, folder, monkeypatch, command, work, message
):
    module, _, name = work.rpartition(".")
    monkeypatch.setattr(import_module(module), name, None)
    done = hornbook(*command.split(), "--target", "bought", "--proof", "-o", "new")
    assert is_one_line(done) and message in done.stderr
    assert not (folder / "new" / "config.json").exists()
