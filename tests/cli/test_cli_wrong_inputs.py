"""Every command with every wrong input of a list: one line, exit code 2, and no folder behind."""

import numpy as np
import pandas as pd
import pytest
from commands import is_one_line

COMMANDS = {
    "extract": ["extract", "{data}", "--target", "{target}", "--model", "{model}", "-o", "new"],
    "learn": ["learn", "{data}", "--target", "{target}", "--model", "{model}", "-o", "new"],
    "check": ["check", "claims.txt", "--data", "{data}", "--target", "{target}", "--model", "{model}"],
    "diff": ["diff", "--model", "{model}", "--data", "{data}", "--target", "{target}", "-o", "new"],
}
WRONG = {
    "no table": {"data": "none.csv"},
    "an empty table": {"data": "empty.csv"},
    "a mistyped target": {"target": "Ill"},
    "no model": {"model": "none.onnx"},
    "a damaged model": {"model": "junk.onnx"},
    "a pickle": {"model": "tree.pkl"},
    "an unknown column": {"more": ["--drop", "feverr"]},
    "an unknown option": {"more": ["--no-such-option"]},
    "a number that is none": {"more": ["--seed", "x"]},
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("command", COMMANDS)
def test_wrong_input_is_one_line_and_leaves_no_folder(
    command, wrong, hornbook, folder, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "claims.txt").write_text("fever = 0 -> not ill\n")
    inputs = {"data": "patients.csv", "target": "ill", "model": "tree.onnx", **WRONG[wrong]}
    given = [part.format(**inputs) for part in COMMANDS[command]]
    done = hornbook(*given, *inputs.get("more", ()))
    assert is_one_line(done), done
    assert not (tmp_path / "new").exists()


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
    says = f"column 'owner' is never '{table.owner[0].upper()}'; did you mean {table.owner[0]}?"
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
