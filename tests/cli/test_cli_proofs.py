"""`verify` on run folders: no edit goes unnoticed, and what is derived cannot be forged by new seals."""

import json
import random
import shutil
from dataclasses import replace
from importlib import import_module

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from commands import is_one_line, run_all
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier

from hornbook.extraction import Extraction
from hornbook.models import load_model
from hornbook.queries import Binariser
from hornbook.runs import load, result_files, save_extraction
from hornbook.runs.folder import list_run_files, write_seal
from hornbook.storage import file_checksum


def save_network(path, bias=-0.5):
    """A network that says yes from x = 5 on, and for the few rows with z = 9."""
    rows = pd.DataFrame({"x": [0, 9], "z": [0, 0]})
    network = MLPClassifier((3,), solver="lbfgs", max_iter=200, tol=0.1).fit(rows, ["no", "yes"])
    network.coefs_ = [np.array([[1.0, 1, 0], [0, 0, 1]]), np.array([[1.0], [-1], [1]])]
    network.intercepts_ = [np.array([-4.0, -5, -8]), np.array([bias])]
    skops.io.dump(network, path)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Runs: lines of columns that are proved and refuted, a bare one, and rules by queries with proofs."""
    folder = tmp_path_factory.mktemp("made")
    x, z = np.divmod(np.arange(200), 20)
    table = pd.DataFrame({"x": x, "z": np.where(z == 19, 9, 0), "bought": np.where(x > 4, "yes", "no")})
    table.to_csv(folder / "table.csv", index=False)
    save_network(folder / "model.skops")
    rng = np.random.default_rng(0)
    patients = pd.DataFrame(rng.integers(0, 2, (60, 3)), columns=["fever", "cough", "old"])
    ill = (patients.cough > 0) | (patients.fever > 0) & (patients.old > 0)
    variables = Binariser.fit(patients, dual=True).transform(patients)
    joblib.dump(RandomForestClassifier(3, random_state=0).fit(variables, ill), folder / "trees.joblib")
    patients.assign(ill=ill.astype(int)).to_csv(folder / "patients.csv", index=False)
    extract = ["extract", "table.csv", "--target", "bought", "--model", "model.skops", "--form", "rules"]
    limits = ["--max-literals", 1, "--samples", 500]
    query = ["learn", "patients.csv", "--target", "ill", "--model", "trees.joblib", "--trust-pickle"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run_all(
            [*extract, *limits, "--proof", "-o", "columns"],
            [*extract, *limits, "-o", "bare"],
            [*query, "--encoding", "half", "--max-queries", 5, "--proof", "-o", "queries"],
        )
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """A copy of the runs, their tables and their models, in which the commands run."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for run in ("columns", "bare", "queries"):
        for name in list_run_files(tmp_path / run):
            path = tmp_path / run / name
            path.write_text(path.read_text().replace(str(made), str(tmp_path)))
        reseal(tmp_path / run)
    return tmp_path


RUNS = pytest.mark.parametrize("run", ["columns", "queries"])


def reseal(run):
    write_seal(run, {name: file_checksum(run / name) for name in list_run_files(run)})


def read(path):
    return json.loads(path.read_text())


def write(path, content):
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def verified(hornbook, run):
    """The exit code of `verify` and the lines that fail."""
    done = hornbook("verify", run, "--trust-pickle")
    lines = done.stdout.splitlines()
    assert all(line.startswith(("holds  ", "FAILS  ", "not derived  ")) for line in lines)
    assert done.stderr == "" and (done.returncode == 1) == any(line.startswith("FAILS") for line in lines)
    return done.returncode, [line for line in lines if line.startswith("FAILS")]


def forge(run, change):
    """Edit the result of a run as an attacker does who writes all files that follow from it, and the seal."""
    content = read(run / "extraction.json")
    change(content)
    write(run / "extraction.json", content)
    for name, text in result_files(Extraction.from_json(json.dumps(content))).items():
        (run / name).write_text(text)
    reseal(run)


@pytest.mark.parametrize("run", ["columns", "bare", "queries"])
def test_an_honest_folder_holds_and_names_what_was_not_derived(hornbook, folder, run):
    done = hornbook("verify", run, "--trust-pickle")
    assert (done.returncode, done.stderr, "FAILS" in done.stdout) == (0, "", False)
    names = ["config.json", "extraction.json", "rules.horn", "metrics.json", "report.html"]
    for name in (*names, *(["trace.jsonl"] if run == "queries" else [])):
        assert f"holds  {name}" in done.stdout, name
    assert "not derived  seconds.json" in done.stdout
    (folder / run / "notes.txt").write_text("mine")  # a file of the user's is named, and does no harm
    assert "not derived  notes.txt" in hornbook("verify", run, "--trust-pickle").stdout
    assert json.loads(hornbook("verify", run, "--trust-pickle", "--json").stdout)["holds"] is True


@pytest.mark.parametrize(("run", "refuted"), [("columns", True), ("bare", False)])
def test_who_decides_by_refuted_lines_is_told(hornbook, folder, run, refuted):
    for command in (["predict", run, "table.csv"], ["show", run, "--format", "sql"]):
        done = hornbook(*command)
        assert done.returncode == 0 and "refuted" not in done.stdout
        assert ("1 of the 2 lines that decide here are refuted" in done.stderr) == refuted
    assert ("# refuted" in hornbook("show", run).stdout) == refuted


@RUNS
def test_any_edit_of_any_file_fails_in_one_line_that_names_it(hornbook, folder, run):
    rng = random.Random(0)
    names = [*list_run_files(folder / run), "seal.json"]
    assert len(names) == {"columns": 7, "queries": 9}[run]
    for name in names:
        path = folder / run / name
        honest = path.read_bytes()
        place = rng.randrange(len(honest))
        other = bytes([honest[place] ^ 1])
        edits = [honest[:place] + other + honest[place + 1 :], honest[:place], honest + b"\n", b""]
        for edited in [*edits, None]:
            if edited is None and name == "seal.json":
                path.unlink()
                assert is_one_line(done := hornbook("verify", run)) and "no seal.json" in done.stderr
            else:
                path.unlink() if edited is None else path.write_bytes(edited)
                code, lines = verified(hornbook, run)
                assert code == 1 and len(lines) == 1 and lines[0].startswith(f"FAILS  {name} "), (name, lines)
        path.write_bytes(honest)


def line_of(content, kind):
    return next(line for line in content["lines"] if line["guarantee"]["kind"] == kind)


def swap(content):
    first, second = (line["guarantee"] for line in content["lines"])
    content["lines"][0]["guarantee"], content["lines"][1]["guarantee"] = second, first


def set_verdict(kind, parts):
    """Change parts of the verdict on a line, or drop it."""
    given = {"by": "branch and bound", "margin": 0.5, "reason": "not decided in 60 s"}

    def change(content):
        line = line_of(content, kind)
        changed = {**given, **line["guarantee"], **(parts or {})}
        named = ("by", "margin") if changed["kind"] == "proved" else ("reason",)
        line["guarantee"] = parts and {name: changed[name] for name in ("kind", "says", *named)}

    return change


def set_hits(content):
    content["fidelity"]["samples"]["hits"] = 1


def set_seed(content):
    content["provenance"]["settings"]["seed"] = 9


def replace_notes(old, new):
    return lambda content: content.update(notes=[note.replace(old, new) for note in content["notes"]])


def rename(old, new):
    def change(content):
        text = json.dumps(content).replace(f'"{old}"', f'"{new}"').replace(f"{old} =", f"{new} =")
        content.update(json.loads(text.replace(f"{old} >", f"{new} >")))

    return change


def remove_rule(content):
    content["explanation"]["rules"].clear()
    del content["lines"][0]


def move_threshold(content):
    content["explanation"]["rules"][0]["body"][0]["cut"] += 0.25


def name_classes(*parts):
    return lambda content: [
        (content["explanation"] if part else content)["classes"].reverse() for part in parts
    ]


FORGERIES = {
    "the names of the classes are exchanged": (name_classes(1), 'is "yes", and made again "no"'),
    "the model's classes are exchanged": (name_classes(0), 'is "yes", and made again "no"'),
    "both are exchanged": (name_classes(0, 1), 'is "yes", and made again "no"'),
    "a column is renamed everywhere": (rename("x", "y"), 'is "column": "y", and made again "column": "x"'),
    "a threshold is moved": (move_threshold, '"cut": 4.25, and made again "cut": 4.0'),
    "a rule is removed": (remove_rule, '"rules": [], and made'),
    "verdicts are exchanged": (swap, '"kind": "proved"'),
    "a refuted line is called proved": (
        set_verdict("refuted", {"kind": "proved"}),
        'is "kind": "proved"',
    ),
    "a proved line lost its verdict": (set_verdict("proved", None), '"guarantee": null'),
    "a refuted line lost its verdict": (set_verdict("refuted", None), '"guarantee": null'),
    "a margin is larger": (
        set_verdict("proved", {"margin": 0.75}),
        'is "margin": 0.75, and made again "margin": 0.49',
    ),
    "a witness is another row": (
        set_verdict("refuted", {"reason": "of x = 0, z = 0"}),
        'is "reason": "of x = 0, z = 0"',
    ),
    "the domain is larger": (replace_notes("x: 0 to 9", "x: 0 to 900"), "x: 0 to 900"),
    "the fidelity is another one": (set_hits, 'is "hits": 1, and made again'),
    "the provenance is another one": (set_seed, 'is "seed": 9, and made again "seed": 0'),
}


@pytest.mark.parametrize("kind", FORGERIES)
def test_forged_results_fail_although_they_were_sealed_again(hornbook, folder, kind):
    change, says = FORGERIES[kind]
    forge(folder / "columns", change)
    code, lines = verified(hornbook, "columns")
    assert code == 1 and says in lines[0]


def test_what_time_left_open_is_not_derived_and_no_forgery(hornbook, folder):
    forge(folder / "columns", set_verdict("proved", {"kind": "undecided"}))
    done = hornbook("verify", "columns")
    assert done.returncode == 0
    assert (
        "not derived  if x ≥ 5   # its proof is not derived: it was left undecided: not decided in 60 s; "
        "made again: proved"
    ) in done.stdout


@RUNS
def test_forged_files_fail_although_they_were_sealed_again(hornbook, folder, run):
    changes = {
        "rules.horn": lambda text: text.replace("->", "-> not_", 1),
        "report.html": lambda text: text.replace("</h1>", ", really</h1>", 1),
        "metrics.json": lambda text: text.replace('"literals": ', '"literals": 1', 1),
        "config.json": lambda text: text.replace('"seed": 0', '"seed": 1', 1),
        "trace.jsonl": lambda text: text.replace('"membership_queries": ', '"membership_queries": 1', 1),
    }
    for name, change in changes.items():
        path = folder / run / name
        if path.exists():
            honest = path.read_text()
            assert change(honest) != honest
            path.write_text(change(honest))
            reseal(folder / run)
            code, lines = verified(hornbook, run)
            assert code == 1 and lines, name
            path.write_text(honest)
    reseal(folder / run)
    sealed = read(folder / run / "seal.json")["files"]
    write_seal(folder / run, {name: value for name, value in sealed.items() if name != "report.html"})
    code, lines = verified(hornbook, run)
    assert code == 1 and lines == ["FAILS  report.html   # it is not among the sealed files of the run"]


def test_another_model_and_another_table_fail_sealed_or_not(hornbook, folder):
    config, model = folder / "columns" / "config.json", (folder / "model.skops").read_bytes()
    save_network(folder / "model.skops", bias=-0.25)
    assert verified(hornbook, "columns")[1] == [
        "FAILS  model.skops   # it has changed since the run was made: the checksums differ"
    ]
    honest = config.read_text()
    content = read(config)
    content["model"]["sha256"] = file_checksum(folder / "model.skops")
    write(config, content)
    reseal(folder / "columns")
    assert verified(hornbook, "columns")[0] == 1
    (folder / "model.skops").write_bytes(model)
    config.write_text(honest)
    reseal(folder / "columns")
    assert verified(hornbook, "columns")[0] == 0
    text = (folder / "table.csv").read_text()
    (folder / "table.csv").write_text(text + "9,9,yes\n")
    (line,) = verified(hornbook, "columns")[1]
    assert "table.csv" in line and "has changed" in line
    (folder / "model.skops").unlink()
    assert is_one_line(hornbook("verify", "columns"))


def test_a_model_that_moved_a_page_that_is_written_again_and_a_folder_saved_from_python(hornbook, folder):
    (folder / "model.skops").rename(folder / "moved.skops")
    done = hornbook("verify", "columns", "--model", "moved.skops")
    assert done.returncode == 0 and "holds  report.html" in done.stdout
    (folder / "moved.skops").rename(folder / "model.skops")
    page = folder / "columns" / "report.html"
    page.write_text("cut")
    assert verified(hornbook, "columns")[0] == 1
    hornbook("show", "columns", "--format", "html", "-o", page)
    assert verified(hornbook, "columns")[0] == 0
    save_extraction(folder / "saved", load(folder / "bare"))  # which says where model and table are
    assert "holds  extraction.json" in hornbook("verify", "saved").stdout
    save_extraction(folder / "saved", replace(load(folder / "bare"), provenance={}))
    done = hornbook("verify", "saved")
    assert (
        done.returncode == 0 and "not derived  what the files say   # it was saved from Python" in done.stdout
    )
    save_extraction(folder / "saved", load(folder / "columns"))  # with verdicts, and not how they were made
    assert verified(hornbook, "saved")[0] == 1


def test_a_run_that_goes_on_leaves_the_same_rules_and_proofs(hornbook, folder):
    names = ("extraction.json", "rules.horn")
    asked = ["learn", "patients.csv", "--target", "ill", "--model", "trees.joblib", "--trust-pickle"]
    limits = ["--encoding", "half", "--max-queries", 5, "-o", "queries"]
    before = [(folder / "queries" / name).read_bytes() for name in names]
    (folder / "queries" / "metrics.json").unlink()
    assert "FAILS  metrics.json" in hornbook("verify", "queries").stdout
    done = hornbook(*asked, *limits, "--proof")
    assert (done.returncode, done.stderr) == (0, "")
    assert [(folder / "queries" / name).read_bytes() for name in names] == before
    (folder / "queries" / "metrics.json").unlink()
    assert hornbook(*asked, *limits).returncode == 0
    assert all(line.guarantee is None for line in load(folder / "queries").lines)
    assert verified(hornbook, "queries") == (0, [])


def test_a_trained_classifier_is_proved_about_and_noticed_when_it_is_exchanged(
    hornbook, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    limits = ["--samples", "500", "--max-literals", "2", "--seconds", "5"]
    done = hornbook("extract", "iris", "--train", "--form", "rules", "--proof", "-o", "run", *limits)
    assert done.returncode == 0, done.stderr
    done = hornbook("verify", "run")
    assert done.returncode == 0 and "FAILS" not in done.stdout
    path = tmp_path / "run" / "model.skops"
    skops.io.dump(load_model(path), path)
    assert verified(hornbook, "run") == (
        1,
        ["FAILS  model.skops   # it was changed after the run: the checksums differ"],
    )


@pytest.mark.parametrize(
    ("command", "work", "message"),
    [
        (
            "extract table.csv --train --form card",
            "hornbook.models.train_pipeline",
            "hold only together",
        ),
        ("learn table.csv --model model.skops", "hornbook.queries.run.prime", "reads the columns"),
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
