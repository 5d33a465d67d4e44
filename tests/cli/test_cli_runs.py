"""What is done with runs: show, explain, compare; and what every command owes its user."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import is_one_line, runner

from hornbook import __version__
from hornbook.cli import main
from hornbook.cli.app import app
from hornbook.logic import HornTheory
from hornbook.runs.folder import Run

ROOT = Path(__file__).parents[2]
COMMANDS = sorted(entry.name or entry.callback.__name__ for entry in app.registered_commands)


@pytest.fixture
def hornbook(capsys, monkeypatch):
    return runner(capsys, monkeypatch)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three runs on iris: rules, a card, and a tree."""
    folder = tmp_path_factory.mktemp("runs")
    small = ["--samples", "2000", "--epsilon", "0.1", "--max-literals", "8"]
    with pytest.MonkeyPatch.context() as patch:
        for form in ("rules", "card", "tree"):
            arguments = ["extract", "iris", "--train", "--form", form, "-o", str(folder / form)]
            patch.setattr(sys, "argv", ["hornbook", *arguments, *small])
            with pytest.raises(SystemExit) as ended:
                main()
            assert not ended.value.code
    return folder


def test_text_is_the_theory_again(hornbook, runs):
    done = hornbook("show", runs / "rules")
    run = Run.load(runs / "rules")
    assert (done.returncode, done.stderr) == (0, "")
    assert HornTheory.parse(done.stdout, run.answers.theory.vocabulary) == run.found
    whole = hornbook("show", runs / "rules", "--background").stdout
    assert HornTheory.parse(whole, run.answers.theory.vocabulary).equivalent(run.answers.theory)
    assert "or more → virginica" in hornbook("show", runs / "card").stdout
    assert hornbook("show", runs / "tree").stdout.startswith("if ")


def test_a_card_that_is_read_back_has_the_points_that_were_reported(runs):
    card = Run.load(runs / "card").answers.decider
    page = (runs / "card" / "report.html").read_text("utf-8")
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    lines = json.loads(data)["card"]["lines"]
    kept = [(item.points, item.if_unknown) for item in card.items]
    assert kept == [(line["points"], line["unknown"]) for line in lines]
    assert any(unknown for _, unknown in kept)


@pytest.mark.parametrize("form", ["card", "tree"])
def test_what_is_read_back_decides_as_it_was_reported(hornbook, runs, form):
    run = Run.load(runs / form)
    kept = json.loads((runs / form / "rules.json").read_text("utf-8"))[form]
    assert run.answers.decider.to_object() == kept
    shown = hornbook("show", runs / form).stdout
    assert shown.startswith(str(run.answers.decider))
    reread = (runs / form / "rules.horn").read_text("utf-8").replace("# ", "")
    assert reread.strip() == str(run.answers.decider)


@pytest.mark.parametrize("form", ["rules", "card", "tree"])
def test_every_format_says_the_same(hornbook, runs, form):
    formats = ("json", "csv", "prolog", "dimacs", "sympy", "python", "sql", "html", "latex")
    shown = {name: hornbook("show", runs / form, "--format", name).stdout for name in formats}
    theory = Run.load(runs / form).answers.theory
    assert HornTheory.from_dimacs(shown["dimacs"]) == theory
    assert shown["json"] == hornbook("show", runs / form, "--json").stdout
    assert json.loads(shown["json"])["labels"] == ["virginica"]
    assert shown["prolog"].count("\n") == len(theory) + 3
    module = {}
    exec(shown["python"], module)
    assert len(module["RULES"]) == len(theory)
    assert "<html" in shown["html"] and r"\begin{align*}" in shown["latex"] and "SELECT" in shown["sql"]
    rows = list(csv.DictReader(io.StringIO(shown["csv"])))
    lines = Run.load(runs / form).answers
    assert len([row for row in rows if row["if"]]) == (lines.to_read if form == "tree" else lines.lines)
    assert all(row["in words"] for row in rows if row["if"])


def test_facts_by_bin_number_and_word(hornbook, runs):
    told = [
        hornbook("explain", runs / "rules", "--set", f"petal_width={value}").stdout
        for value in ("high", "2.4")
    ]
    assert told[0] == told[1] and told[0].startswith("virginica\n") and "would not follow without" in told[0]
    entry = json.loads(hornbook("explain", runs / "rules", "--set", "petal_width=2.4", "--json").stdout)
    assert entry["conclusion"] == "virginica" and entry["undo"]["smallest"]
    assert "undetermined" in hornbook("explain", runs / "rules").stdout
    assert "undetermined" in hornbook("explain", runs / "rules", "--set", "petal_width=?").stdout
    assert "in all" in hornbook("explain", runs / "card", "--set", "petal_width=low").stdout
    assert "? unknown, so not true" in hornbook("explain", runs / "tree").stdout
    refused = {
        "petal=1": "unknown name 'petal'",
        "petal_width": "expected column=value",
        "petal_width=wide": "a number or one of low, middle, high",
    }
    for wrong, message in refused.items():
        done = hornbook("explain", runs / "rules", "--set", wrong)
        assert is_one_line(done) and message in done.stderr


def test_rules_are_compared_with_trees(hornbook, runs):
    done = hornbook("compare", runs / "rules", "--samples", 1000, "--seconds", 2, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = {row["method"]: row for row in json.loads(done.stdout)["rows"]}
    assert set(rows) >= {"hornbook", "tree of 2 leaves", "full tree", "Hoeffding tree"}
    assert rows["tree of 2 leaves"]["rules"] == rows["tree of 2 leaves"]["literals"] == 2
    assert all(0.5 < row["fidelity"]["share"] <= 1 for row in rows.values())
    text = hornbook("compare", runs / "tree", "--samples", 500, "--seconds", 1).stdout
    assert text.startswith("method") and "tree of 32 leaves" in text


@pytest.mark.parametrize("command", ["show", "explain", "compare"])
def test_folders_that_are_no_finished_run_are_refused(hornbook, runs, tmp_path, command):
    assert (
        is_one_line(done := hornbook(command, tmp_path / "none")) and "there is no run folder" in done.stderr
    )
    assert is_one_line(done := hornbook(command, tmp_path)) and "it has no config.json" in done.stderr
    half = tmp_path / "half"
    shutil.copytree(runs / "rules", half)
    (half / "rules.json").write_text((half / "rules.json").read_text()[:200])
    assert is_one_line(done := hornbook(command, half)) and "rules.json is damaged" in done.stderr
    (half / "rules.json").write_text("{}")
    assert is_one_line(done := hornbook(command, half)) and "is not what a run leaves there" in done.stderr
    (half / "metrics.json").unlink()
    assert is_one_line(done := hornbook(command, half)) and "did not end" in done.stderr


def test_a_model_or_table_that_changed_is_noticed(hornbook, runs, tmp_path):
    half = tmp_path / "half"
    shutil.copytree(runs / "rules", half)
    config = json.loads((half / "config.json").read_text())
    config["data"]["sha256"] = "0" * 64
    (half / "config.json").write_text(json.dumps(config))
    assert is_one_line(done := hornbook("compare", half)) and "checksums differ" in done.stderr


def test_datasets_are_listed_and_can_be_read(hornbook):
    from hornbook.data.datasets import DATASETS

    assert [line.split()[0] for line in hornbook("datasets").stdout.splitlines()] == list(DATASETS)
    assert json.loads(hornbook("datasets", "--json").stdout) == DATASETS


def test_every_command_is_documented_with_examples(hornbook):
    listed = hornbook("--help").stdout
    readme = (ROOT / "README.md").read_text()
    for command in COMMANDS:
        text = hornbook(command, "--help").stdout
        assert command in listed and f"hornbook {command}" in readme
        assert "Example" in text and re.search(rf"hornbook {command}\b", text.split("Example")[1]), command
        assert command == "random" or "--json" in text


def test_all_commands_are_here(hornbook):
    assert set(COMMANDS) >= {"check", "compare", "datasets", "explain", "extract", "learn", "random", "show"}
    assert hornbook("--version").stdout == f"hornbook {__version__}\n"


def piped(script, **environment):
    command = script.replace("hornbook", f"{sys.executable} -m hornbook")
    shell = ["bash", "-o", "pipefail", "-c", command]
    return subprocess.run(
        shell, capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )


def test_pipes_that_close_early_are_no_error(runs):
    done = piped(f"hornbook show {runs}/card --format prolog | head -n 1")
    assert (done.returncode, done.stdout, done.stderr) == (0, ":- dynamic fact/1, contradiction/0.\n", "")


def test_no_color_and_completion():
    done = piped("hornbook --help", NO_COLOR="1", FORCE_COLOR="1")
    assert done.returncode == 0 and "\x1b[3" not in done.stdout
    done = piped(
        "hornbook", _PYTHON__M_HORNBOOK_COMPLETE="complete_bash", COMP_WORDS="hornbook ext", COMP_CWORD="1"
    )
    words = piped("hornbook", _HORNBOOK_COMPLETE="complete_bash", COMP_WORDS="hornbook ext", COMP_CWORD="1")
    assert "extract" in done.stdout + words.stdout
