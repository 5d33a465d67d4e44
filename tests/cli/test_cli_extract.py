"""`hornbook extract`: from a table and a model to a run folder, and what it refuses."""

import json
import re
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from commands import is_one_line

import hornbook as hb
from hornbook.runs import Run
from hornbook.tables import read_table, split_rows

SMALL = ["--samples", 500, "--max-literals", 4, "--form", "tree"]


@pytest.fixture
def model(folder):
    """The options of a model from a file."""
    return ["--target", "ill", "--model", folder / "tree.pkl", "--trust-pickle"]


def test_model_of_columns_is_explained_and_the_run_saved(hornbook, folder, tmp_path):
    run = tmp_path / "run"
    done = hornbook("extract", folder / "patients.csv", "--target", "ill", "--model", folder / "tree.onnx",
                    "-o", run, *SMALL, "--form", "rules")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    first, second = (line for line in done.stdout.splitlines() if line.startswith("# fidelity"))
    measured = "# fidelity to the model on 18 held-out rows (which count as 16) "
    assert first.startswith(measured) and " samples " in second
    assert " of 120 rows repeat another one; equal rows were held out together" in done.stdout
    assert "interval" in first and "interval" in second
    assert all(re.search(r'; always "(not )?ill": \d+\.\d\d %$', line) for line in (first, second))
    assert re.search("age [≥≤] 6", done.stdout)
    names = {path.name for path in run.glob("[!.]*")}
    assert names == {
        "config.json", "extraction.json", "rules.horn", "metrics.json", "report.html", "seal.json",
        "seconds.json",
    }  # fmt: skip
    extraction = hb.load(run)
    assert done.stdout.startswith(str(extraction.explanation))
    assert extraction.explanation.classes == ("not ill", "ill")
    theory = extraction.theory
    assert hb.HornTheory.parse((run / "rules.horn").read_text(), theory.vocabulary) == theory
    config = json.loads((run / "config.json").read_text())
    assert config["target"] == "ill" and config["settings"]["seed"] == 0
    assert len(config["data"]["sha256"]) == len(config["model"]["sha256"]) == 64
    assert config["versions"]["hornbook"] and config["command"].startswith("hornbook extract ")
    fidelity = json.loads((run / "metrics.json").read_text())["fidelity"]
    assert fidelity["population"] == "held-out rows" and fidelity["rows"]["size"] == 18
    assert fidelity["samples"]["size"] > 100
    commonest = fidelity["tables"]["held-out rows"]["commonest"]
    assert f'; always "{commonest["name"]}": {100 * commonest["share"]:.2f} %' in first
    page = (run / "report.html").read_text()
    assert "18 held-out rows" in page


def test_extract_reads_tables_as_people_have_them_and_says_how(hornbook, folder, tmp_path):
    """A table with decimal commas, compressed, is the same table, also when the run is read again."""
    plain, path, run = pd.read_csv(folder / "patients.csv"), tmp_path / "patients.csv.gz", tmp_path / "run"
    wide = plain.assign(größe=plain["age"] + 0.5)
    wide.to_csv(path, index=False, sep=";", decimal=",", encoding="cp1252")
    wide.to_csv(tmp_path / "plain.csv", index=False)
    given = "encoding=cp1252 decimal=,"
    done = hornbook("extract", path, "--csv", given, "--target", "ill", "--train", "-o", run, *SMALL)
    assert (done.returncode, done.stderr) == (0, "")
    described = f"delimiter=; {given}"
    data = json.loads((run / "config.json").read_text())["data"]
    assert data["csv"] == f"{described} thousands=none"
    assert data["sha256"] == read_table(tmp_path / "plain.csv").checksum()
    again = hornbook("compare", run, "--samples", 200)
    assert (again.returncode, again.stderr) == (0, "")
    (always,) = (line for line in again.stdout.splitlines() if line.startswith('always "'))
    assert always.split('"')[2].split()[0] == "0"  # literals
    predicted = [
        hornbook("predict", run, *file) for file in ((path, "--csv", given), (tmp_path / "plain.csv",))
    ]
    assert predicted[0].stdout == predicted[1].stdout and predicted[1].stderr == ""
    repeated = hornbook("predict", run, path, "--csv", described)
    assert (repeated.stdout, repeated.stderr) == (predicted[1].stdout, "")
    for description, message in {
        "encoding=cp1252 decimal=.": "row 1: column 'age' is never '65,0'; it has numbers",
        "decimal=,": "patients.csv.gz: the file is not utf-8 text. If it is in another encoding, name it",
        "sep=;": "'sep=;' is not one of",
    }.items():
        refused = hornbook("predict", run, path, "--csv", description)
        assert refused.returncode == 2 and message in refused.stderr.splitlines()[-1]


def test_commands_read_a_query_in_place_of_a_file(hornbook, folder, tmp_path, monkeypatch):
    """A table in several files, or chosen by a query, is the same table, also when the run is read again."""
    monkeypatch.chdir(tmp_path)
    plain = pd.read_csv(folder / "patients.csv")
    plain[:70].to_parquet("visits-1.parquet", index=False)
    plain[70:].to_parquet("visits-2.parquet", index=False)
    source, run = "SELECT * FROM 'visits-*.parquet'", tmp_path / "run"
    done = hornbook("extract", source, "--target", "ill", "--train", "-o", run, *SMALL)
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads((run / "config.json").read_text())["data"]
    assert data["sha256"] == read_table(folder / "patients.csv").checksum()
    assert hornbook("compare", run, "--samples", 200).returncode == 0
    predicted = [hornbook("predict", run, each).stdout for each in (source, folder / "patients.csv")]
    assert predicted[0] == predicted[1] and predicted[0]
    refused = hornbook("extract", "SELECT height FROM 'visits-1.parquet'", "--target", "ill", "--train")
    assert is_one_line(refused) and "height" in refused.stderr


def test_extract_refuses_a_name_of_thousands_of_letters(hornbook):
    done = hornbook("extract", "a" * 5000, "--target", "a", "--train")
    assert is_one_line(done) and "there is no file or dataset 'aaa" in done.stderr and len(done.stderr) < 300


@pytest.mark.parametrize("source", [["--train"], ["--model", "tree.pkl", "--trust-pickle"]])
def test_nothing_is_fitted_to_the_rows_held_out(hornbook, folder, tmp_path, monkeypatch, source):
    """The explanation of a run is the same whatever stands in those rows."""
    monkeypatch.chdir(folder)
    table = pd.read_csv("patients.csv").assign(number=range(120))
    table.to_csv(tmp_path / "patients.csv", index=False)
    _, held_out = split_rows(table[["age", "fever"]], seed=0, groups=table.number)
    table.loc[held_out, "age"] = 20 + np.arange(len(held_out))
    table.to_csv(tmp_path / "changed.csv", index=False)
    runs = tmp_path / "run", tmp_path / "changed"
    common = ["--target", "ill", "--groups", "number", *SMALL]
    hornbook("extract", tmp_path / "patients.csv", *common, *source, "-o", runs[0])
    if "--train" in source:  # the classifier may be trained on all rows, the explanation only on the others
        source = ["--model", runs[0] / "model.skops"]
    hornbook("extract", tmp_path / "changed.csv", *common, *source, "-o", runs[1])
    first, second = (hb.load(run).explanation for run in runs)
    assert first == second


def test_rows_of_a_group_are_held_out_together_by_every_command(hornbook, folder, tmp_path):
    table = pd.read_csv(folder / "patients.csv")
    table.insert(0, "patient", np.arange(120) // 4)
    table.to_csv(tmp_path / "visits.csv", index=False)
    run, model = tmp_path / "run", ["--model", folder / "tree.pkl", "--trust-pickle"]
    data = [tmp_path / "visits.csv", "--target", "ill", *model]
    done = hornbook("extract", *data, "--groups", "patient", "-o", run, *SMALL)
    assert "on 24 held-out rows (which count as 6) " in done.stdout, done.stderr
    assert "# 6 of 30 groups were held out, each with all its rows" in done.stdout
    extraction = hb.load(run)
    assert {column.name for column in extraction.columns} == {"age", "fever"}
    kept = Run.load(run)
    held_out = kept.restore(trust_pickle=True).kept_back
    used = np.delete(np.arange(len(table)), held_out)
    assert len(held_out) and not set(table.patient[used]) & set(table.patient[held_out])
    compared = json.loads(hornbook("compare", run, "--trust-pickle", "--samples", 500, "--json").stdout)
    assert (
        compared["rows"][0]["rows"] == json.loads((run / "extraction.json").read_text())["fidelity"]["rows"]
    )
    assert hornbook("why", run, "--row", 1, "--trust-pickle").returncode == 0
    differing = hornbook("diff", run, "--with", folder / "tree.onnx", "--trust-pickle", "--samples", 500)
    assert "of 120 rows (which count as 30)\n" in differing.stdout, differing.stderr
    done = hornbook("learn", *data, "--groups", "patient", "--max-queries", 1)
    assert "on 24 held-out rows (which count as 6) " in done.stdout, done.stderr
    done = hornbook("extract", *data, "--groups", "patients")
    assert (
        is_one_line(done) and "--groups patients: name one of the columns patient, age, fever" in done.stderr
    )
    done = hornbook("learn", *data, "--groups", "patient", "--judge")
    assert is_one_line(done) and "leave out --groups" in done.stderr


def test_a_column_of_weights_is_none_of_the_explanation_and_every_command_knows_it(
    hornbook, folder, tmp_path
):
    table = pd.read_csv(folder / "patients.csv")
    table.insert(0, "cases", 1 + np.arange(120) % 5)
    table.to_csv(tmp_path / "survey.csv", index=False)
    run, model = tmp_path / "run", ["--model", folder / "tree.pkl", "--trust-pickle"]
    data = [tmp_path / "survey.csv", "--target", "ill", *model]
    done = hornbook("extract", *data, "--weight", "cases", "-o", run, *SMALL)
    assert "# rows count by their weights, from 1 to 5: " in done.stdout, done.stderr
    extraction = hb.load(run)
    assert {column.name for column in extraction.columns} == {"age", "fever"}
    share = extraction.fidelity.share
    assert share.weighted is not None and share.independent < share.size
    compared = json.loads(hornbook("compare", run, "--trust-pickle", "--samples", 500, "--json").stdout)
    assert (
        compared["rows"][0]["rows"] == json.loads((run / "extraction.json").read_text())["fidelity"]["rows"]
    )
    assert hornbook("why", run, "--row", 1, "--trust-pickle").returncode == 0
    done = hornbook("diff", run, "--with", folder / "tree.onnx", "--trust-pickle")
    assert is_one_line(done) and "without sample_weight= (--weight)" in done.stderr
    done = hornbook("extract", *data, "--weight", "weight")
    assert is_one_line(done) and "--weight weight: name one of the columns cases, age, fever" in done.stderr


def test_classifier_is_trained_where_there_is_no_model(hornbook, folder, tmp_path):
    arguments = ["extract", folder / "patients.csv", "--target", "ill", "--train", "--json", *SMALL]
    done = hornbook(*arguments, "-o", tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    held_out = result["provenance"]["model"]["held_out"]
    assert held_out["rows"] >= 20 and held_out["accuracy"] > 0.8
    assert result["fidelity"]["rows"]["estimate"] > 0.9 and result["folder"] == str(tmp_path / "run")
    assert result["explanation"]["classes"] == ["no", "yes"]
    assert (tmp_path / "run" / "model.skops").is_file()
    again = json.loads(hornbook(*arguments).stdout)
    for measured in (result, again):
        del measured["folder"], measured["provenance"]["data"]["source"]  # as it is seen from the folder
    assert again == result


def test_extract_says_when_it_uses_some_of_the_rows(hornbook, tmp_path, monkeypatch):
    monkeypatch.setattr(import_module("hornbook.runs.inputs"), "MAX_TABLE_ROWS", 60)
    pd.DataFrame({"age": range(90), "ill": [0, 1] * 45}).to_csv(tmp_path / "big.csv", index=False)
    options = ("--target", "ill", "--train", "--samples", "200", "--max-literals", "1")
    done = hornbook("extract", tmp_path / "big.csv", *options, "-o", tmp_path / "run")
    sample = "big.csv has 90 rows; 60 of them are used, drawn at random"
    assert done.returncode == 0 and done.stderr == f"# {sample}\n"
    assert f"# {sample}\n" in done.stdout
    saved = json.loads((tmp_path / "run" / "extraction.json").read_text())
    assert saved["notes"] == [sample] and "60 of 90 rows" in saved["provenance"]["data"]["describe"]
    assert sample in (tmp_path / "run" / "report.html").read_text()


def test_finished_run_is_not_overwritten_unless_forced(hornbook, folder, model, tmp_path):
    arguments = ["extract", folder / "patients.csv", *model, "-o", tmp_path, *SMALL]
    assert hornbook(*arguments).returncode == 0
    result = (tmp_path / "extraction.json").read_text()
    assert is_one_line(done := hornbook(*arguments)) and "it is finished" in done.stderr
    (tmp_path / "metrics.json").unlink()  # killed before anything was written at the end
    assert is_one_line(done := hornbook("show", tmp_path)) and "did not end" in done.stderr
    assert hornbook(*arguments).returncode == 0
    assert (tmp_path / "extraction.json").read_text() == result
    assert is_one_line(done := hornbook(*arguments, "--seed", 1)) and "another settings" in done.stderr
    assert hornbook(*arguments, "--seed", 1, "--force").returncode == 0


def test_interrupted_run_ends_with_130_and_can_be_repeated(hornbook, folder, model, tmp_path, monkeypatch):
    from hornbook.extraction import explaining

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    arguments = ["extract", folder / "patients.csv", *model, "-o", tmp_path, *SMALL]
    with monkeypatch.context() as patch:
        patch.setattr(explaining, "search_explanations", interrupt)
        done = hornbook(*arguments)
    assert done.returncode == 130 and "run the same command again" in done.stderr
    assert hornbook(*arguments).returncode == 0
    assert Run.load(tmp_path).metrics["literals"] <= 4


def test_test_rows_are_the_population_of_the_headline(hornbook, folder, model, tmp_path):
    table = pd.read_csv(folder / "patients.csv")
    fresh = pd.DataFrame({"fever": [1, 0] * 30, "name": "x", "age": np.linspace(20.5, 89.5, 60), "ill": "?"})
    test = pd.concat([fresh, table[:3]])
    test.to_csv(tmp_path / "later.csv", index=False)
    start = ["extract", folder / "patients.csv", *model, *SMALL]
    done = hornbook(*start, "--test", tmp_path / "later.csv", "-o", tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert "# fidelity to the model on 63 test rows" in done.stdout
    assert "# 3 of the 63 test rows also occur in the table" in done.stdout
    extraction = hb.load(tmp_path / "run")
    assert extraction.fidelity.population == "test rows"
    assert extraction.distribution.startswith("120 rows"), "no row is held out"
    assert extraction.guarantee.distribution == "test rows, given apart from the table"
    assert sum(line.rows for line in extraction.lines if line.precision is not None) == len(table)
    page = (tmp_path / "run" / "report.html").read_text()
    assert "63 test rows" in page and "given apart from the table" in page and "held-out rows" not in page
    compare = ["compare", tmp_path / "run", "--samples", 200, "--trust-pickle"]
    rows = json.loads(hornbook(*compare, "--json").stdout)["rows"]
    assert rows[0]["rows"]["size"] == 63
    assert rows[0]["rows"]["estimate"] == extraction.fidelity.estimate
    fresh[:40].to_csv(tmp_path / "month.csv", index=False)
    text = hornbook(*compare, "--test", tmp_path / "month.csv").stdout
    assert "test rows" in text.splitlines()[0] and "40 test rows" in text
    fresh.to_csv(tmp_path / "later.csv", index=False)
    assert is_one_line(done := hornbook(*compare)) and "not what it was" in done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("age,ill\n40,no\n", "later.csv has no column 'fever'; it needs those of the table: age, fever"),
        (
            "age,fever\nold,1\n",
            "later.csv, row 1: column 'age' is never 'old'; it has numbers, from 20 to 90, or ?",
        ),
        ("age,fever\n", "0 rows"),
    ],
)
def test_test_rows_that_do_not_fit_are_refused(hornbook, folder, model, tmp_path, content, message):
    (tmp_path / "later.csv").write_text(content)
    done = hornbook("extract", folder / "patients.csv", *model, "--test", tmp_path / "later.csv")
    assert is_one_line(done) and message in done.stderr


def test_target_of_a_model_need_not_be_a_column(hornbook, folder, tmp_path):
    pd.read_csv(folder / "patients.csv").drop(columns="ill").to_csv(tmp_path / "rows.csv", index=False)
    done = hornbook(
        "extract", tmp_path / "rows.csv", "--target", "sick", "--model", folder / "tree.onnx", *SMALL
    )
    assert done.returncode == 0 and "sick" in done.stdout.splitlines()[0] + done.stdout.splitlines()[1]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ("none.csv", ["--target", "ill", "--train"], "there is no file"),
        ("patients.csv", ["--target", "il", "--train"], "has no column 'il'; did you mean 'ill'?"),
        ("patients.csv", ["--target", "sick", "--train"], "has no column 'sick' to train a model on"),
        (
            "patients.csv",
            ["--target", "ill", "--model", "tree.onnx", "--positive", "yes"],
            "in the code book",
        ),
        ("patients.csv", ["--target", "il", "--train", "--positive", "yes"], "did you mean"),
        ("patients.csv", ["--train"], "name the column of"),
        ("patients.csv", ["--target", "age", "--train"], "e.g. --above 60.5"),
        ("patients.csv", ["--target", "age", "--train", "--bands", "50,60"], "give --above"),
        ("patients.csv", ["--target", "ill", "--model", "junk.onnx"], "is not a readable .onnx model"),
        ("patients.csv", ["--target", "ill", "--model", "patients.csv"], "cannot tell the kind of model"),
        ("patients.csv", ["--target", "ill", "--model", "none.onnx"], "there is no file"),
        (
            "patients.csv",
            ["--target", "ill", "--model", "wide.pkl", "--trust-pickle"],
            "LogisticRegression takes 5 columns, and the table has 2",
        ),
        (
            "patients.csv",
            ["--target", "ill", "--model", "line.pkl", "--trust-pickle"],
            "predicts numbers",
        ),
        ("patients.csv", ["--target", "ill", "--model", "tree.pkl"], "is a pickle, a program that runs"),
        ("patients.csv", ["--target", "ill", "--train", "-o", "/proc/run"], "cannot write to /proc/run"),
        ("patients.csv", ["--target", "ill", "--train", "-o", "patients.csv"], "cannot write to"),
        ("patients.csv", ["--target", "ill"], "give either --model FILE or --train"),
        ("empty.csv", ["--target", "ill", "--train"], "empty.csv: the file is empty"),
        ("header.csv", ["--target", "ill", "--train"], "has 3 columns and 0 rows"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(hornbook, folder, monkeypatch, data, options, message):
    monkeypatch.chdir(folder)
    done = hornbook("extract", data, *options, *SMALL)
    assert is_one_line(done), done
    assert message in done.stderr


def test_a_probability_is_cut_where_the_user_says_and_words_for_missing_values_are_counted(
    hornbook, tmp_path
):
    from lightgbm import LGBMClassifier

    rows = pd.DataFrame({"age": np.arange(120.0) % 60})
    LGBMClassifier(n_estimators=3, verbose=-1).fit(rows, rows.age > 30).booster_.save_model(
        tmp_path / "m.txt"
    )
    rows.assign(age=rows.age.astype(object).where(rows.age != 7, "unknown")).to_csv(
        tmp_path / "t.csv", index=False
    )
    command = ["extract", tmp_path / "t.csv", "--target", "old", "--model", tmp_path / "m.txt", *SMALL]
    done = hornbook(*command)
    assert done.returncode == 3 and "; columns of words are age" in done.stderr
    done = hornbook(*command, "--missing", "unknown")
    assert "taken for missing values: 2 × 'unknown'" in done.stderr
    assert "a number, which counts as old from ½ on; --threshold says" in done.stdout
    learned = hornbook(
        "learn", *command[1:6], "--missing", "unknown", "--max-queries", 1, "--sample-size", 50
    )
    assert "counts as old from ½ on\n" in learned.stdout
    run = tmp_path / "run"
    done = hornbook(*command, "--missing", "unknown", "--threshold", 0.99, "-o", run)
    assert "from ½ on" not in done.stdout and "always: not old" in done.stdout
    assert set(Run.load(run).restore().teacher.labels(rows)) == {0}
