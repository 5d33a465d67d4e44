"""`hornbook check` with models from files: what holds, what is broken, and what is refused."""

import json
import pickle
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from hornbook.cli import main
from hornbook.data.binarise import Binariser
from hornbook.logic import Batch, HornTheory, Vocabulary

COLUMNS = ["fever", "cough", "rash"]


@dataclass
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def hornbook(capsys, monkeypatch):
    """The command line in this process, which has imported all the libraries already."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["hornbook", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(ended.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def checked(hornbook, folder):
    def run(rules, model, *options):
        return hornbook("check", folder / rules, "--model", folder / model, "--data",
                        folder / "patients.csv", "--samples", 200, *options)  # fmt: skip

    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Patients who are ill if they have a fever and a cough, rules about them, and models that know."""
    from skl2onnx import to_onnx
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier
    from skops.io import dump

    path = tmp_path_factory.mktemp("check")
    values = np.random.default_rng(0).integers(0, 2, (80, 3))
    frame = pd.DataFrame(values, columns=COLUMNS)
    frame["ill"] = frame.fever & frame.cough
    frame.to_csv(path / "patients.csv", index=False)
    tree = DecisionTreeClassifier(random_state=0).fit(values.astype(float), frame.ill)
    dump(LogisticRegression(C=1e3).fit(values.astype(float), frame.ill), path / "logistic.skops")
    (path / "tree.pkl").write_bytes(pickle.dumps(tree))
    onnx = to_onnx(tree, values[:1].astype(np.float32), options={"zipmap": False})
    (path / "tree.onnx").write_bytes(onnx.SerializeToString())
    (path / "right.horn").write_text("fever & cough -> ill\nnot_fever -> not_ill\n")
    (path / "wrong.horn").write_text("fever & cough -> ill\nfever -> ill\n")
    vocabulary = Vocabulary(["fever", "cough", "ill"])
    wrong = HornTheory.parse("fever & cough -> ill\nfever -> ill", vocabulary)
    (path / "wrong.json").write_text(wrong.to_json())
    (path / "strange.horn").write_text("fevre -> ill\n")
    save_judge(path / "judge.safetensors", frame)
    return path


def save_judge(path, frame):
    """A network of this project that accepts if there is no fever or the patient is ill."""
    from hornbook.models.network import MLP

    vocabulary = Binariser(dual=True).fit(frame).vocabulary_
    weights = np.zeros((1, len(vocabulary)))
    weights[0, [vocabulary.index("not_fever"), vocabulary.index("ill")]] = 1
    MLP.of([(weights, np.array([-0.75]))], vocabulary).save(path)


CLASSIFIERS = [("logistic.skops", []), ("tree.onnx", []), ("tree.pkl", ["--trust-pickle"])]


@pytest.mark.parametrize(("model", "options"), CLASSIFIERS)
def test_rules_that_a_classifier_obeys_hold(checked, model, options):
    done = checked("right.horn", model, "--label", "ill", *options)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split("#")[0].split(maxsplit=1)[0] for line in lines[:2]] == ["holds", "holds"]
    assert "the model accepts 0 of 200 violations, 0.00 % (95 % interval" in lines[0]
    assert lines[2].startswith("# sampled cases: 'ill' true or false")


@pytest.mark.parametrize(("model", "options"), CLASSIFIERS[:2])
@pytest.mark.parametrize("rules", ["wrong.horn", "wrong.json"])
def test_a_rule_that_a_classifier_breaks_has_a_witness(checked, rules, model, options):
    done = checked(rules, model, "--label", "ill", "--mode", "classifier", "--json", *options)
    assert (done.returncode, done.stderr) == (1, "")
    held, broken = json.loads(done.stdout)["rules"]
    assert held["holds"] and held["witness"] is None and held["guarantee"] == "estimated"
    assert not broken["holds"] and broken["body"] == ["fever"] and broken["head"] == "ill"
    assert {"fever", "not_ill"} <= set(broken["witness"]["true"])
    assert "cough" not in broken["witness"]["true"] and "ill" in broken["witness"]["false"]
    assert broken["accepted"] > 0 and broken["samples"] == 200


def test_a_judge_saved_here_is_checked_over_all_columns(checked, tmp_path):
    rules = tmp_path / "rules.horn"
    rules.write_text("fever -> ill\nnot_ill -> not_fever\ncough -> ill\nfever & not_fever -> false\n")
    done = checked(rules, "judge.safetensors")
    assert (done.returncode, done.stderr) == (1, "")
    words = [line.split()[0] for line in done.stdout.splitlines()[:4]]
    assert words == ["holds", "holds", "broken", "holds"]
    assert "nothing can violate it" in done.stdout
    assert "# unknown values: the model's own" in done.stdout


def test_a_seed_repeats_a_check(checked):
    first, second = (checked("wrong.horn", "tree.onnx", "--label", "ill").stdout for _ in "ab")
    assert first == second


@pytest.mark.parametrize(
    ("rules", "model", "options", "message"),
    [
        ("right.horn", "missing.onnx", ["--label", "ill"], "there is no file"),
        ("right.horn", "tree.pkl", ["--label", "ill"], "is a pickle"),
        ("missing.horn", "tree.onnx", ["--label", "ill"], "cannot read"),
        ("strange.horn", "tree.onnx", ["--label", "ill"], "unknown name 'fevre'; did you mean 'fever'"),
        ("right.horn", "tree.onnx", ["--label", "il"], "there is no column 'il' to be the label"),
        ("right.horn", "logistic.skops", [], "takes 3 inputs, but 8 variables"),
        ("right.horn", "tree.onnx", ["--mode", "classifier"], "name its column with --label"),
        ("right.horn", "patients.csv", ["--label", "ill"], "cannot tell the kind of model"),
        ("right.horn", "tree.onnx", ["--label", "ill", "--encoding", "x"], "unknown encoding 'x'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(checked, rules, model, options, message):
    done = checked(rules, model, *options)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert message in done.stderr and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


def test_missing_and_broken_data(hornbook, folder, tmp_path):
    for data in (tmp_path / "none.csv", tmp_path):
        done = hornbook(
            "check", folder / "right.horn", "--model", folder / "tree.onnx", "--data", data, "--label", "ill"
        )
        assert done.returncode == 2 and "there is no file" in done.stderr and done.stderr.count("\n") == 1


def test_the_help_shows_an_example(hornbook):
    assert "hornbook check rules.horn" in hornbook("check", "--help").stdout


def test_the_judge_is_what_the_tests_say(folder):
    from hornbook.models import as_predictor

    predictor = as_predictor(folder / "judge.safetensors")
    vocabulary = Vocabulary.with_duals([*COLUMNS, "ill"])
    batch = Batch.from_array([[1, 0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1]], vocabulary)
    assert predictor.decide(batch).tolist() == [False, True]
