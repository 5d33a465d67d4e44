"""`hornbook learn` about a model: a theory by queries, by each learner, and what the command refuses."""

import json
import re
import sys
from importlib import import_module

import joblib
import numpy as np
import pandas as pd
import pytest
from commands import is_one_line
from sklearn.tree import DecisionTreeClassifier

from hornbook.checks import parse_claims
from hornbook.conditions import meet_conditions
from hornbook.queries import MLP, Binariser
from hornbook.runs import Run
from hornbook.tables import split_rows

SMALL = ["--epsilon", 0.1, "--max-rules", 6, "--max-queries", 4]


def test_learn_names_what_a_table_and_a_model_of_three_classes_need(hornbook, folder, tmp_path):
    done = hornbook("learn", folder / "patients.csv")
    assert is_one_line(done) and "patients.csv is a table" in done.stderr and "--target" in done.stderr
    rows = pd.DataFrame({"age": range(90)})
    model = DecisionTreeClassifier().fit(rows, rows.age // 30)
    joblib.dump(model, tmp_path / "three.joblib")
    rows.assign(band=rows.age // 30).to_csv(tmp_path / "ages.csv", index=False)
    done = hornbook("learn", tmp_path / "ages.csv", "--target", "band", "--model", tmp_path / "three.joblib",
                    "--trust-pickle")  # fmt: skip
    assert is_one_line(done) and "--train --positive 0" in done.stderr


@pytest.fixture
def arguments(folder, tmp_path):
    """A command about a model from a file."""
    model = ["--model", folder / "tree.pkl", "--trust-pickle"]
    return ["learn", folder / "patients.csv", "--target", "ill", *model, "-o", tmp_path, *SMALL]


def test_check_reads_the_rules_that_learn_prints_and_keeps(hornbook, folder, tmp_path):
    done = hornbook("learn", folder / "patients.csv", "--target", "ill", "--model", folder / "tree.onnx",
                    "-o", tmp_path, *SMALL)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    rules = Run.load(tmp_path).extraction.explanation
    kept = parse_claims((tmp_path / "rules.horn").read_text())
    frame = pd.read_csv(folder / "patients.csv")
    printed = parse_claims(done.stdout, rules.code_book, frame.columns)
    for claim, other, (body, outcome) in zip(printed, kept, rules.list_claims(), strict=True):
        met = meet_conditions(body, frame)
        assert (meet_conditions(claim.body, frame) == met).all() and claim.outcome == outcome
        assert (meet_conditions(other.body, frame) == met).all() and other.outcome == outcome
    (tmp_path / "claims.txt").write_text(done.stdout)
    checked = hornbook("check", tmp_path / "claims.txt", "--model", folder / "tree.onnx", "--data",
                       folder / "patients.csv", "--target", "ill")  # fmt: skip
    assert checked.returncode in (0, 1) and checked.stdout.count(" -> ") == len(kept)
    assert "# guarantee: " in done.stdout and "applies to" in done.stdout
    assert "age ≥ " in hornbook("show", tmp_path).stdout
    assert "it would be" in hornbook("explain", tmp_path, "--set", "age=25").stdout


def test_same_command_resumes_and_a_finished_run_is_not_overwritten(hornbook, arguments, tmp_path):
    assert hornbook(*arguments).returncode == 0
    result, trace = (tmp_path / "extraction.json").read_text(), (tmp_path / "trace.jsonl").read_text()
    assert is_one_line(done := hornbook(*arguments)) and "it is finished" in done.stderr
    # killed after two queries, before anything was written at the end
    (tmp_path / "metrics.json").unlink()
    (tmp_path / "trace.jsonl").write_text("".join(f"{line}\n" for line in trace.splitlines()[:3]))
    assert is_one_line(done := hornbook("show", tmp_path)) and "did not end" in done.stderr
    assert hornbook(*arguments).returncode == 0
    assert (tmp_path / "extraction.json").read_text() == result
    assert (tmp_path / "trace.jsonl").read_text().count("\n") == trace.count("\n")
    assert is_one_line(done := hornbook(*arguments, "--seed", 1)) and "another settings" in done.stderr
    assert hornbook(*arguments, "--seed", 1, "--max-queries", 1, "--force").returncode == 0


def test_no_query_is_asked_where_none_is_allowed(hornbook, arguments):
    done = hornbook(*arguments, "--max-queries", 0)
    assert (done.returncode, done.stderr) == (0, "")
    assert "# stopped: budget of 0 equivalence queries" in done.stdout
    assert "# stopped: budget of 0 equivalence queries" in done.stdout


@pytest.mark.parametrize("learner", ["lrn_star", "prime"])
def test_a_judge_of_the_user_is_learned_by_the_paper_s_algorithm_too(hornbook, tmp_path, learner):
    """The judge is a network that accepts if there is no fever or the patient is ill."""
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (80, 3)), columns=["fever", "cough", "ill"])
    frame.to_csv(tmp_path / "patients.csv", index=False)
    vocabulary = Binariser.fit(frame, dual=True).vocabulary
    weights = np.zeros((1, len(vocabulary)))
    weights[0, [vocabulary.index("not_fever"), vocabulary.index("ill")]] = 1
    MLP.of([(weights, np.array([-0.75]))], vocabulary).save(tmp_path / "judge.safetensors")
    options = ["--judge", "--learner", learner, "--sample-size", "paper", "--proof", "-o", tmp_path / "run"]
    model = ["--target", "ill", "--model", tmp_path / "judge.safetensors"]
    done = hornbook("learn", tmp_path / "patients.csv", *model, *options)
    assert (done.returncode, done.stderr) == (0, "")
    run = Run.load(tmp_path / "run")
    rules = run.extraction.explanation
    assert rules.theory.entails("fever & not_ill -> false") and rules.label is None
    assert run.config["settings"]["learner"] == learner
    assert (tmp_path / "run" / "trace.jsonl").read_text().count('"query"') >= 1
    done = hornbook("verify", tmp_path / "run")
    assert done.returncode == 0 and "FAILS" not in done.stdout


def test_a_judge_without_a_target_is_read_as_in_the_paper_and_held_against_the_rules_of_the_rows(
    hornbook, tmp_path
):
    """The judge is a Horn theory, which is found, so that h_nn is 0 and t_h is t_nn."""
    rows = [[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]]
    frame = pd.DataFrame(rows * 5, columns=["fever", "cough", "ill"])
    frame.insert(0, "age", [40.5, 50.5, 60.5, 70.5] * 5)  # its bins exclude each other in rows only
    frame.to_csv(tmp_path / "patients.csv", index=False)
    vocabulary = Binariser.fit(frame, dual=True).vocabulary
    weights = np.zeros((2, len(vocabulary)))
    for neuron, names in zip(weights, (("fever", "not_ill"), ("not_fever", "ill")), strict=True):
        neuron[[vocabulary.index(name) for name in names]] = 1
    layers = [(weights, np.array([-1.5, -1.5])), (np.array([[-1.0, -1.0]]), np.array([0.1]))]
    MLP.of(layers, vocabulary, encoding="zero").save(tmp_path / "judge.safetensors")
    command = ["learn", tmp_path / "patients.csv", "--model", tmp_path / "judge.safetensors"]
    command += ["--learner", "lrn_star", "--json"]
    plain = hornbook(*command)
    assert (plain.returncode, plain.stderr) == (0, "")
    settings = json.loads(plain.stdout)["provenance"]["settings"]
    assert settings["sample_size"] == "paper" and settings["judge"]
    done = hornbook(*command, "--target", "ill", "--row-rules", "-o", tmp_path / "run")
    (note,) = [each for each in json.loads(done.stdout)["notes"] if "t_nn" in each]
    assert note.startswith("T is 4 rules of rows")
    shares = dict(zip(("t_h", "t_nn", "h_nn"), re.findall(r" on (\S+) %", note), strict=True))
    assert shares["h_nn"] == "0.00" and shares["t_h"] == shares["t_nn"]
    assert hornbook("verify", tmp_path / "run").returncode == 0
    done = hornbook(*command, "--row-rules")
    assert is_one_line(done) and "--target" in done.stderr


def test_horn1_is_refused_for_variables_with_duals(hornbook, arguments):
    assert is_one_line(done := hornbook(*arguments, "--learner", "horn1"))
    assert "variables without duals" in done.stderr


def test_training_without_safetensors_says_what_to_install(hornbook, folder, tmp_path, monkeypatch):
    for name in ("safetensors", "safetensors.torch"):
        monkeypatch.setitem(sys.modules, name, None)
    done = hornbook("learn", folder / "patients.csv", "--target", "ill", "--train", "-o", tmp_path / "run")
    assert is_one_line(done) and 'this needs safetensors: pip install "hornbook[torch]"' in done.stderr


def test_interrupted_run_is_saved_and_ends_with_130(hornbook, arguments, tmp_path, monkeypatch):
    learner = import_module("hornbook.queries.run")

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt
        yield

    with monkeypatch.context() as patch:
        patch.setattr(learner, "prime", interrupt)
        done = hornbook(*arguments)
    assert done.returncode == 130 and "run the same command again to resume" in done.stderr
    assert Run.load(tmp_path).metrics["stop_reason"] == "interrupted"
    assert hornbook(*arguments).returncode == 0
    assert Run.load(tmp_path).metrics["stop_reason"] != "interrupted"


@pytest.fixture
def short_training(monkeypatch):
    monkeypatch.setattr("hornbook.queries.network.MAX_EPOCHS", 20)


@pytest.mark.parametrize("source", [["--train"], ["--model", "tree.pkl", "--trust-pickle"]])
@pytest.mark.usefixtures("short_training")
def test_nothing_is_fitted_to_the_rows_held_out(hornbook, folder, tmp_path, monkeypatch, source):
    """The ranges of a run are the same whatever stands in those rows."""
    monkeypatch.chdir(folder)
    table = pd.read_csv(folder / "patients.csv").assign(number=range(120))
    table.to_csv(tmp_path / "patients.csv", index=False)
    _, held_out = split_rows(table[["age", "fever"]], seed=0, groups=table.number)
    table.loc[held_out, "age"] = range(20, 20 + len(held_out))
    table.to_csv(tmp_path / "changed.csv", index=False)
    short = ["--groups", "number", "--max-queries", 1, "--epsilon", 0.1]
    binarisers = []
    for data in (tmp_path / "patients.csv", tmp_path / "changed.csv"):
        done = hornbook("learn", data, "--target", "ill", *source, "-o", tmp_path / data.stem, *short)
        assert done.returncode == 0
        binarisers.append(
            json.loads((tmp_path / data.stem / "extraction.json").read_text())["explanation"]["binariser"]
        )
    assert binarisers[0] == binarisers[1]


@pytest.mark.usefixtures("short_training")
def test_rules_are_compared_with_trees_over_the_same_variables(hornbook, folder, tmp_path):
    hornbook("learn", folder / "patients.csv", "--target", "ill", "--train", "-o", tmp_path, *SMALL)
    done = hornbook("compare", tmp_path, "--samples", 500, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = {row["method"]: row for row in json.loads(done.stdout)["rows"]}
    assert set(rows) >= {"hornbook", "tree of scikit-learn, at most 2"}
    assert all(row["rows"] is None and 0.5 < row["samples"]["estimate"] <= 1 for row in rows.values())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "age", "--train"], "make it binary with above=55 (--above 55)"),
        (["--target", "ill", "--train", "--epsilon", "1.5"], "epsilon is between 0 and 1"),
        (["--target", "ill", "--train", "--judge"], "--train trains a classifier"),
        (["--target", "ill"], "give either --model FILE or --train"),
        (["--target", "ill", "--model", "tree.onnx", "--proof"], "reads the columns of the table"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(hornbook, folder, monkeypatch, options, message):
    monkeypatch.chdir(folder)
    done = hornbook("learn", "patients.csv", *options, "--max-queries", 1)
    assert is_one_line(done), done
    assert message in done.stderr
