"""What is done with runs: show, explain, compare; and what every command owes its user."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import is_one_line, run_all

from hornbook import __version__
from hornbook.cli import app
from hornbook.cli.options import GROUPS
from hornbook.exports import write_explanation
from hornbook.logic import HornTheory
from hornbook.runs import Run, load, save_extraction
from hornbook.tables import load_dataset, reading

ROOT = Path(__file__).parents[2]
COMMANDS = sorted(entry.name or entry.callback.__name__ for entry in app.registered_commands)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three runs on iris: rules, a card, and a tree."""
    folder = tmp_path_factory.mktemp("runs")
    small = ["--samples", 1000, "--max-literals", 6]
    model = ["--model", folder / "rules" / "model.skops"]  # the classifier that the first run trains
    run_all(
        ["extract", "iris", "--train", "--form", "rules", "-o", folder / "rules", *small],
        ["extract", "iris", *model, "--form", "card", "-o", folder / "card", *small],
        ["extract", "iris", *model, "--form", "tree", "-o", folder / "tree", *small],
    )
    return folder


@pytest.mark.parametrize("form", ["rules", "card", "tree"])
def test_show_prints_the_explanation_in_every_format(hornbook, runs, form):
    run = Run.load(runs / form)
    explanation, theory = run.extraction.explanation, run.extraction.compiled.theory
    assert explanation.form == form
    done = hornbook("show", runs / form)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{explanation}\n", "")
    formats = ("json", "rules", "prolog", "python", "sql", "pmml", "html")
    shown = {name: hornbook("show", runs / form, "--format", name).stdout for name in formats}
    assert HornTheory.parse(shown["rules"], theory.vocabulary) == run.extraction.theory
    assert shown["json"] == hornbook("show", runs / form, "--json").stdout
    assert json.loads(shown["json"])["explanation"] == explanation.to_object()
    for language in ("prolog", "python", "sql"):
        source = write_explanation(explanation, language, values=run.extraction.classes)
        assert shown[language] == source.rstrip("\n") + "\n"
    drawn = hornbook("show", runs / form, "--format", "svg")
    assert is_one_line(drawn) if form != "tree" else drawn.stdout.startswith("<svg")
    own = run.extraction.target, run.extraction.classes
    assert shown["pmml"] == write_explanation(explanation, "pmml", *own)
    assert "<html" in shown["html"]


def test_show_says_where_it_cannot_write(hornbook, runs, tmp_path):
    done = hornbook("show", runs / "card", "--format", "sql", "-o", tmp_path / "no" / "card.sql")
    assert is_one_line(done) and "cannot write" in done.stderr


def test_why_says_why_the_model_decides_a_row(hornbook, runs):
    run = Run.load(runs / "tree")
    asked = ("why", runs / "tree", "--row", 60, "--no-proof", "--changes", 0)
    told = hornbook(*asked)
    entry = json.loads(hornbook(*asked, "--json").stdout)
    assert told.returncode == 0 and told.stdout.startswith(f"{entry['outcome']}, because ")
    assert entry["outcome"] in run.extraction.explanation.classes and entry["changes"] is None
    (reason,) = entry["reasons"]
    assert reason["level"] == "sampled" and reason["keeps_share"] and reason["facts"]
    changed = json.loads(
        hornbook(*asked, "--set", "petal_width=0.2", "--set", "petal_length=1.2", "--json").stdout
    )
    assert changed["row"]["petal_width"] == 0.2 and changed["row"] != entry["row"]
    for wrong, message in {
        (): "say which row",
        ("--row", 0): "the table has 150 rows, from 1 to 150",
        ("--row", 1000): "the table has 150 rows, from 1 to 150",
        ("--set", "petal=1"): "did you mean 'petal_width'",
        ("--row", 1, "--all"): "say which row",
        ("--all", "--fixed", "petal_width"): "--all says why",
        ("--row", 1, "--down", "petal_width,petal"): "did you mean 'petal_width'",
        ("--row", 1, "--changes-table"): "--changes-table is about all rows",
        ("--changes-table", "--wished", "rose"): "the model has no class 'rose'",
    }.items():
        done = hornbook("why", runs / "tree", *wrong)
        assert is_one_line(done) and message in done.stderr


def test_why_says_what_would_change_the_decision_within_limits(hornbook, runs):
    asked = ("why", runs / "tree", "--row", 60, "--no-proof", "--json", "--changes", 2)
    limits = ("--fixed", "petal_width,sepal_width", "--up", "petal_length")
    entry = json.loads(hornbook(*asked, *limits).stdout)
    for change in entry["changes"]["changes"]:
        assert change["outcome"] != entry["outcome"]
        for value in change["values"]:
            assert value["column"] in ("petal_length", "sepal_length")
            assert value["column"] != "petal_length" or value["after"] > value["before"]
    assert hornbook(*asked, "--wished", entry["outcome"]).returncode == 2
    table = ("why", runs / "tree", "--changes-table", "--wished", entry["outcome"], "--fixed", "petal_length")
    actions = json.loads(hornbook(*table, "--json").stdout)["actions"]
    assert all(step["column"] != "petal_length" for action in actions for step in action["steps"])
    told = hornbook(*table).stdout
    assert actions and all(action["text"] in told for action in actions)


def test_actions_are_measured_on_rows_of_the_table_where_a_run_had_test_rows(hornbook, runs, tmp_path):
    load_dataset("iris").frame.iloc[::5].to_csv(tmp_path / "new.csv", index=False)
    given = ("--model", runs / "rules" / "model.skops", "--test", tmp_path / "new.csv")
    hornbook("extract", "iris", *given, "--samples", 500, "--max-literals", 2, "-o", tmp_path / "run")
    for run in (tmp_path / "run", runs / "tree"):
        actions = json.loads(hornbook("why", run, "--changes-table", "--json").stdout)["actions"]
        assert actions and all(action["share"]["size"] > 5 for action in actions)


def test_why_of_all_rows_covers_those_that_the_run_did_not_hold_out(hornbook, runs):
    entry = json.loads(hornbook("why", runs / "tree", "--all", "--no-proof", "--reasons", 2, "--json").stdout)
    covered = sum(reason["rows"] for reason in entry["reasons"])
    assert len(entry["reasons"]) == 2 and covered + len(entry["uncovered"]) == entry["rows"] == 120
    for reason in entry["reasons"]:
        asked = ("why", runs / "tree", "--row", reason["row"], "--no-proof", "--changes", 0, "--json")
        assert json.loads(hornbook(*asked).stdout)["outcome"] == reason["reason"]["outcome"]


@pytest.mark.parametrize("form", ["rules", "card", "tree"])
def test_explain_takes_values_of_columns(hornbook, runs, form):
    explanation = Run.load(runs / form).extraction.explanation
    values = [item for name in explanation.columns for item in ("--set", f"{name}=99")]
    told = hornbook("explain", runs / form, *values)
    decided = explanation.classes[
        explanation.decide(pd.DataFrame({n: [99.0] for n in explanation.columns}))[0]
    ]
    assert told.returncode == 0 and told.stdout.startswith(f"{decided}, because\n")
    entry = json.loads(hornbook("explain", runs / form, *values, "--json").stdout)
    assert entry["outcome"] == decided and entry["facts"]


@pytest.mark.parametrize("command", ["explain", "why"])
def test_values_of_columns_that_make_no_sense_are_refused(hornbook, runs, command):
    for wrong, message in (
        (["petal=1"], "the table has no column 'petal'; did you mean 'petal_width'"),
        (["petal_width"], "expected column=value"),
        (["petal_width=1", "petal_width=2"], "'petal_width' is set twice, to '1' and to '2'"),
    ):
        options = [item for pair in wrong for item in ("--set", pair)]
        done = hornbook(command, runs / "rules", *options)
        assert is_one_line(done) and done.stderr.count("--set") == 1 and message in done.stderr


@pytest.mark.parametrize("form", ["rules", "card", "tree"])
def test_predict_decides_rows_as_the_explanation_does(hornbook, runs, tmp_path, form):
    explanation = Run.load(runs / form).extraction.explanation
    rng = np.random.default_rng(0)
    names = ("sepal_length", "sepal_width", "petal_length", "petal_width")
    frame = pd.DataFrame({name: rng.uniform(0, 8, 30).round(1) for name in names}).mask(
        rng.random((30, 4)) < 0.2
    )
    frame.to_csv(tmp_path / "new.csv", index=False)
    rows = list(csv.DictReader(io.StringIO(hornbook("predict", runs / form, tmp_path / "new.csv").stdout)))
    decided = [explanation.classes[number] for number in explanation.decide(frame)]
    assert [row["class"] for row in rows] == decided and all(row["row"] for row in rows)
    entries = json.loads(hornbook("predict", runs / form, tmp_path / "new.csv", "--json").stdout)["rows"]
    assert [entry["class"] for entry in entries] == decided
    for row, entry in zip(rows, entries, strict=True):
        codes = [f"{code['fact']} ({code['points']:+d})" for code in entry["reason_codes"]]
        assert row.get("reasons") == (None if form != "card" else "; ".join(codes[:4]))
    assert (form == "card") == any(entry["reason_codes"] for entry in entries)


def test_predict_in_parts_prints_what_it_prints_of_the_whole(hornbook, runs, tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    names = ("sepal_length", "sepal_width", "petal_length", "petal_width")
    frame = pd.DataFrame({name: rng.uniform(0, 8, 2500).round(1) for name in names}).mask(
        rng.random((2500, 4)) < 0.3
    )
    frame.to_csv(tmp_path / "new.csv", index=False)
    frame.to_parquet(tmp_path / "new.parquet")
    asked = [
        ("predict", runs / "card", tmp_path / file, *options)
        for file, *options in (["new.csv"], ["new.csv", "--json"], ["new.parquet"])
    ]
    whole = [hornbook(*each) for each in asked]
    monkeypatch.setattr(reading, "VECTORS_PER_PART", 1)
    assert [hornbook(*each) for each in asked] == whole and whole[0].stdout == whole[2].stdout
    frame.astype(object).fillna("").assign(petal_width=["1"] * 2499 + ["wide"]).to_csv(
        tmp_path / "new.csv", index=False
    )
    assert "row 2500: column 'petal_width' is never 'wide'" in hornbook(*asked[0]).stderr


def test_predict_takes_a_column_without_any_value(hornbook, runs, tmp_path):
    explanation = Run.load(runs / "tree").extraction.explanation
    pd.DataFrame({name: [None, None] for name in explanation.columns}).assign(x=1).to_csv(
        tmp_path / "new.csv", index=False
    )
    done = hornbook("predict", runs / "tree", tmp_path / "new.csv")
    assert done.returncode == 0 and done.stdout.count("is missing") >= 2


def test_predict_refuses_a_table_without_the_columns(hornbook, runs, tmp_path):
    pd.DataFrame({"height": [1.0, 2.0]}).to_csv(tmp_path / "new.csv", index=False)
    done = hornbook("predict", runs / "tree", tmp_path / "new.csv")
    assert is_one_line(done) and "the table has no column" in done.stderr


def test_explanations_are_compared_with_trees_on_held_out_rows(hornbook, runs):
    done = hornbook("compare", runs / "rules", "--samples", 500, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = {row["method"]: row for row in json.loads(done.stdout)["rows"]}
    assert set(rows) >= {"hornbook", "tree of scikit-learn, at most 2"}
    explanation = Run.load(runs / "rules").extraction
    assert rows["hornbook"]["literals"] == explanation.explanation.literals
    assert rows["hornbook"]["rows"]["estimate"] == explanation.fidelity.rows.estimate
    assert all(0.5 < row["samples"]["estimate"] <= 1 for row in rows.values())
    text = hornbook("compare", runs / "tree", "--samples", 200).stdout
    assert "held-out rows" in text and "tree of scikit-learn, at most 32" in text


def test_compare_refuses_a_folder_that_does_not_name_its_table(hornbook, runs, tmp_path):
    extraction = replace(Run.load(runs / "tree").extraction, provenance={})
    save_extraction(tmp_path / "saved", extraction)
    assert load(tmp_path / "saved") == extraction
    done = hornbook("compare", tmp_path / "saved")
    assert is_one_line(done) and "was saved from Python" in done.stderr


@pytest.mark.parametrize("command", ["show", "explain", "compare"])
def test_folders_that_are_no_finished_run_are_refused(hornbook, runs, tmp_path, command):
    assert (
        is_one_line(done := hornbook(command, tmp_path / "none")) and "there is no run folder" in done.stderr
    )
    assert is_one_line(done := hornbook(command, tmp_path)) and "it has no config.json" in done.stderr
    half = tmp_path / "half"
    shutil.copytree(runs / "rules", half)
    (half / "extraction.json").write_text((half / "extraction.json").read_text()[:200])
    assert is_one_line(done := hornbook(command, half)) and "extraction.json is damaged" in done.stderr
    (half / "extraction.json").write_text("{}")
    assert is_one_line(done := hornbook(command, half)) and "is not what an extraction leaves" in done.stderr
    (half / "metrics.json").unlink()
    assert is_one_line(done := hornbook(command, half)) and "did not end" in done.stderr


def test_model_or_table_that_changed_is_noticed(hornbook, runs, tmp_path):
    half = tmp_path / "half"
    shutil.copytree(runs / "rules", half)
    config = json.loads((half / "config.json").read_text())
    config["data"]["sha256"] = "0" * 64
    (half / "config.json").write_text(json.dumps(config))
    assert is_one_line(done := hornbook("compare", half)) and "checksums differ" in done.stderr


def test_datasets_are_listed_where_there_is_no_such_file(hornbook):
    from hornbook.tables import DATASETS

    done = hornbook("extract", "none", "--train")
    assert is_one_line(done) and f"the datasets are {', '.join(DATASETS)}" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_screen_in_groups_with_examples(hornbook, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = hornbook(command, "--help").stdout
    lines = text.splitlines()
    assert len(lines) <= 50 and max(map(len, lines)) <= 80
    headings = [line for line in lines[1:] if line in ("Arguments", *GROUPS, "Examples")]
    assert headings == [each for each in ("Arguments", *GROUPS, "Examples") if each in headings]
    assert f"  hornbook {command}" in text.split("Examples\n")[1] and "--json" in text
    assert "<bool>" not in text and "--help" not in text
    assert re.search(rf"^\W+{command} +[A-Z]", hornbook("--help").stdout, re.MULTILINE)
    assert f"hornbook {command}" in (ROOT / "docs/reference/commands.md").read_text()


def test_all_commands_are_here(hornbook):
    assert set(COMMANDS) >= {
        "check",
        "compare",
        "explain",
        "extract",
        "learn",
        "predict",
        "show",
    }
    assert hornbook("--version").stdout == f"hornbook {__version__}\n"


def piped(script, **environment):
    command = script.replace("hornbook", f"{sys.executable} -m hornbook")
    shell = ["bash", "-o", "pipefail", "-c", command]
    return subprocess.run(
        shell, capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )


def test_no_color_and_completion():
    done = piped("hornbook --help", NO_COLOR="1", FORCE_COLOR="1")
    assert done.returncode == 0 and "\x1b[3" not in done.stdout
    names = dict.fromkeys(["_HORNBOOK_COMPLETE", "_PYTHON__M_HORNBOOK_COMPLETE"], "complete_bash")
    done = piped("hornbook", **names, COMP_WORDS="hornbook ext", COMP_CWORD="1")
    assert "extract" in done.stdout
