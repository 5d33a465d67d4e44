"""Every command with every wrong input that it can be given: one line, exit code 2, nothing left behind."""

import shutil

import numpy as np
import pandas as pd
import pytest
from commands import get_command, is_one_line, run_all

from hornbook.cli import app

COMMANDS = {
    "extract": "{data} --target {target} --model {model} -o {output}",
    "learn": "{data} --target {target} --model {model} -o {output}",
    "check": "{claims} --data {data} --target {target} --model {model}",
    "diff": "--model {model} --data {data} --target {target} -o {output}",
    "why": "{run} --row 1",
    "explain": "{run} --set {value}",
    "predict": "{run} {data}",
    "show": "{run} -f html -o {file}",
    "compare": "{run} --test {data}",
    "verify": "{run}",
    "reproduce": "--data {cohort} -o {output}",
}
RIGHT = {
    "data": "patients.csv", "target": "ill", "model": "tree.onnx", "claims": "claims.txt", "run": "run",
    "output": "new", "value": "age=50", "file": "new.html", "cohort": "patients.csv",
}  # fmt: skip
WRONG = {
    "data": ["none.csv", "empty.csv", "header.csv", "binary.csv", "other.csv", "."],
    "target": ["Ill"],
    "model": ["none.onnx", "junk.onnx", "tree.pkl", "patients.csv", "."],
    "claims": ["none.txt", "empty.txt", "binary.csv", "nonsense.txt", "strange.txt", "."],
    "run": ["none", ".", "damaged", "unfinished", "patients.csv", "lost"],
    "output": ["/proc/new", "patients.csv", "patients.csv/new"],
    "file": ["/proc/new.html", "none/new.html", "."],
    "value": ["heat=1", "age", "age=old", "=1"],
    "cohort": ["none.csv", "empty.csv", "patients.csv"],
}
"""For each part of a command what is wrong there."""

WRONG_OPTIONS = [
    ["--no-such-option"], ["--seed", "x"], ["--seed", "-1"], ["--drop", "feverr"], ["--columns", "feverr"],
    ["--samples", "0"], ["--max-literals", "none"], ["--seconds", "soon"],
    ["--form", "forest"], ["--csv", "delimiter"], ["--csv", "encoding=none"], ["--code-book", "none.toml"],
    ["--code-book", "broken.toml"], ["--code-book", "other.toml"], ["--tolerance", "2"],
    ["--groups", "nobody"],
    ["--unknown-levels", "guess"], ["--set", "heat=1"], ["--row", "0"], ["--row", "x"], ["--fixed", "heat"],
    ["--wished", "nothing"], ["--format", "dimacs"], ["--data", "none.csv"], ["--model", "none.onnx"],
    ["--learner", "none"], ["--encoding", "none"], ["--scale", "huge"], ["--train"], ["--above", "high"],
]  # fmt: skip


@pytest.fixture(scope="module")
def place(folder, tmp_path_factory):
    """A folder with a table, a model, a run, and everything that is wrong."""
    place = tmp_path_factory.mktemp("wrong")
    for file in folder.iterdir():
        shutil.copy(file, place / file.name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        run_all(["extract", "patients.csv", "--target", "ill", "--model", "tree.onnx", "--form", "tree",
                 "--samples", 300, "--max-literals", 2, "-o", "run"])  # fmt: skip
    texts = {
        "header.csv": "age,fever,ill\n", "other.csv": "height,weight,shoe\n1,2,3\n3,4,5\n", "empty.csv": "",
        "claims.txt": "fever = 0 -> not ill\n", "empty.txt": "# nothing\n", "nonsense.txt": "ill or not\n",
        "strange.txt": "heat = 0 -> not ill\n", "broken.toml": "[columns\n", "other.toml": "[columns.heat]\n",
    }  # fmt: skip
    for name, text in texts.items():
        (place / name).write_text(text)
    (place / "binary.csv").write_bytes(bytes(range(256)))
    for name, lost in (("damaged", None), ("unfinished", "metrics.json"), ("lost", "config.json")):
        shutil.copytree(place / "run", place / name)
        if lost:
            (place / name / lost).unlink()
    (place / "damaged" / "extraction.json").write_text("{")
    return place


def list_wrong(command):
    """A command with one part wrong, or with one wrong option that it has."""
    parts = COMMANDS[command].split()
    right = [part.format(**RIGHT) for part in parts]
    for kind, values in WRONG.items():
        for value in values if f"{{{kind}}}" in parts else ():
            yield [part.format(**{**RIGHT, kind: value}) for part in parts]
    known = {name for each in get_command(app).commands[command].params for name in each.opts}
    for option in WRONG_OPTIONS:
        if option[0] in known or option == ["--no-such-option"]:
            if option[0] in right and option[0] not in ("--set", "--row"):
                continue  # a wrong value of it was there already
            yield [*right, *option]
    yield [*right, "one", "more"]


@pytest.mark.parametrize("command", COMMANDS)
def test_wrong_input_is_one_line_and_leaves_nothing_behind(command, hornbook, place, monkeypatch):
    monkeypatch.chdir(place)
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.name != ".lock"}
    wrong = list(list_wrong(command))
    for given in wrong:
        done = hornbook(command, *given)
        if not (command == "verify" and done.returncode == 1 and "FAILS" in done.stdout):  # a verdict
            assert is_one_line(done), (given, done)
        after = {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.name != ".lock"}
        assert {path for path in after if path.is_file()} <= before.keys(), given
        assert all(after[path] == before[path] for path in after if path.is_file()), given
    assert len(wrong) >= 6 and not (place / "new").exists()


def test_every_command_has_its_wrong_inputs():
    assert COMMANDS.keys() == get_command(app).commands.keys()


def test_levels_that_the_table_never_had_are_refused_or_counted_everywhere(hornbook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"owner": rng.choice(["yes", "no"], 90), "years": rng.integers(0, 40, 90)})
    table["risk"] = np.where((table.owner == "yes") & (table.years > 9), "low", "high")
    table.to_csv("loans.csv", index=False)
    table.assign(owner=table.owner.str.upper()).to_csv("upper.csv", index=False)
    small = ["--samples", 300, "--max-literals", 3]
    assert (
        hornbook("extract", "loans.csv", "--target", "risk", "--train", *small, "-o", "run").returncode == 0
    )
    says = f"column 'owner' is never '{table.owner[0].upper()}'; its values are no, yes, or ?"
    for command in (
        ["predict", "run", "upper.csv"],
        ["compare", "run", "--test", "upper.csv", "--samples", 200],
        ["explain", "run", "--set", f"owner={table.owner[0].upper()}"],
        ["why", "run", "--set", f"owner={table.owner[0].upper()}"],
    ):
        done = hornbook(*command)
        assert is_one_line(done) and says in done.stderr, done
    done = hornbook("predict", "run", "upper.csv", "--unknown-levels", "missing")
    counted = [line.rpartition(" in ")[2] for line in done.stderr.splitlines()]
    assert done.returncode == 0 and sum(int(each.split()[0]) for each in counted) == 90
