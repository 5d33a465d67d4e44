"""`hornbook check` with models from files: what holds, what is broken, and what is refused."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from commands import is_one_line

from hornbook.logic import Batch, Vocabulary
from hornbook.queries import Binariser

COLUMNS = ["fever", "cough", "rash"]


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

    path = tmp_path_factory.mktemp("check")
    values = np.random.default_rng(0).integers(0, 2, (80, 3))
    frame = pd.DataFrame(values, columns=COLUMNS)
    frame["ill"] = frame.fever & frame.cough
    frame.to_csv(path / "patients.csv", index=False)
    tree = DecisionTreeClassifier(random_state=0).fit(values.astype(float), frame.ill)
    logistic = LogisticRegression(C=1e3).fit(values.astype(float), frame.ill)
    (path / "logistic.pkl").write_bytes(pickle.dumps(logistic))
    onnx = to_onnx(tree, values[:1].astype(np.float32), options={"zipmap": False})
    (path / "tree.onnx").write_bytes(onnx.SerializeToString())
    (path / "right.horn").write_text("fever = 1 & cough = 1 -> ill\nfever <= 0 -> not ill\n")
    (path / "wrong.horn").write_text("fever > 0 & cough > 0 -> ill\nfever > 0 -> ill\n")
    (path / "strange.horn").write_text("fevre = 1 -> ill\n")
    (path / "unclear.horn").write_text("fever -> ill\n")
    (path / "variables.horn").write_text("fever & cough -> ill\n")
    save_judge(path / "judge.safetensors", frame)
    return path


def save_judge(path, frame):
    """A network of this project that accepts if there is no fever or the patient is ill."""
    from hornbook.queries import MLP

    vocabulary = Binariser.fit(frame, dual=True).vocabulary
    weights = np.zeros((1, len(vocabulary)))
    weights[0, [vocabulary.index("not_fever"), vocabulary.index("ill")]] = 1
    MLP.of([(weights, np.array([-0.75]))], vocabulary).save(path)


CLASSIFIERS = [("logistic.pkl", ["--trust-pickle"]), ("tree.onnx", [])]


@pytest.mark.parametrize(("model", "options"), CLASSIFIERS)
def test_claims_that_a_classifier_keeps_hold(checked, model, options):
    done = checked("right.horn", model, "--target", "ill", *options)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, reads, agrees = done.stdout.splitlines()
    assert reads == "# the model names no columns; it is given the table's in their order: fever, cough, rash"
    assert agrees == "# the model agrees with the column `ill` on 100.0 % of the rows"
    assert first.startswith(
        "holds   fever = 1 & cough = 1 -> ill   # broken by 0 of 200 samples, 0.00 % (95 %"
    )
    assert second.startswith("holds   fever <= 0 -> not ill")


@pytest.mark.parametrize(("model", "options"), CLASSIFIERS)
def test_a_claim_that_a_classifier_breaks_has_a_witness_in_its_columns(checked, model, options):
    done = checked("wrong.horn", model, "--target", "ill", "--json", *options)
    assert (done.returncode, done.stderr) == (1, "")
    held, broken = json.loads(done.stdout)["claims"]
    assert not held["broken"] and held["violation"] is None and held["guarantee"]["kind"] == "estimated"
    assert broken["broken"] and broken["text"] == "fever > 0 -> ill"
    (row,) = broken["violation"]["rows"]
    assert (row["fever"], row["cough"]) == (1, 0) and broken["violation"]["outcomes"] == ["not ill"]
    assert broken["violation"]["changed"] == []  # a row of the table breaks it as it is
    share = broken["guarantee"]["disagreement"]
    assert share["hits"] > 0 and share["size"] == 200


def save_onnx(path, weights, biases):
    """Save a ReLU network of two layers as an ONNX file."""
    from onnx import TensorProto, helper, numpy_helper, save

    named = {"w0": weights[0], "b0": biases[0], "w1": weights[1], "b1": biases[1]}
    nodes = [
        helper.make_node("Gemm", ["x", "w0", "b0"], ["z"], transB=1),
        helper.make_node("Relu", ["z"], ["h"]),
        helper.make_node("Gemm", ["h", "w1", "b1"], ["y"], transB=1),
    ]
    tensors = [numpy_helper.from_array(np.array(values, np.float32), name) for name, values in named.items()]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["k", len(weights[0][0])])
    wanted = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["k", 1])
    graph = helper.make_graph(nodes, "graph", [given], [wanted], tensors)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    """Loans that are good from an income of 50 on, and models of several libraries that know it."""
    path = tmp_path_factory.mktemp("loans")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.uniform(0, 100, 300).round(1), "age": rng.integers(18, 80, 300)})
    frame["good"] = (frame.income > 50).astype(int)
    frame.to_csv(path / "loans.csv", index=False)
    X, y = frame[["income", "age"]].astype(float), frame.good
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    xgboost.XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1).fit(X, y).save_model(path / "xgboost.json")
    lightgbm.LGBMClassifier(n_estimators=20, min_child_samples=5, verbose=-1, n_jobs=1).fit(
        X, y
    ).booster_.save_model(path / "lightgbm.txt")
    save_onnx(path / "network.onnx", [[[1.0, 0.0], [-1.0, 0.0]], [[1.0, -1.0]]], [[-50.25, 50.25], [0.0]])
    (path / "rules.horn").write_text(
        "income > 60 -> good\nincome <= 40 & age > 30 -> not good\n"
        "more income never lowers good\nage > 50 -> good\n"
    )
    return path


def test_check_tolerates_a_share_of_samples_and_prints_a_verdict_in_five_lines(checked):
    """The tree breaks one claim of two on many samples, and no sample breaks the other."""
    for tolerance, code, verdict in (
        (0.02, 1, "FAIL: 1 of 2 are broken in more than 2 %"),
        (1, 0, "PASS: 0 of 2"),
    ):
        done = checked("wrong.horn", "tree.onnx", "--target", "ill", "--tolerance", tolerance)
        assert done.returncode == code and done.stdout.startswith(verdict) and done.stdout.count("\n") <= 5
    done = checked("right.horn", "tree.onnx", "--target", "ill", "--tolerance", 0.001)
    assert is_one_line(done) and "200 rows are too few" in done.stderr
    assert is_one_line(checked("right.horn", "tree.onnx", "--target", "ill", "--tolerance", 0.1, "--proof"))


@pytest.mark.parametrize("model", ["xgboost.json", "lightgbm.txt", "network.onnx"])
def test_models_of_columns_are_checked_in_any_library(hornbook, loans, model):
    done = hornbook("check", loans / "rules.horn", "--model", loans / model, "--data", loans / "loans.csv",
                    "--target", "good", "--samples", 300)  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["holds", "holds", "holds", "broken"]
    assert lines[4].strip().startswith("not good: income=") and lines[5].strip().startswith("this is row")


@pytest.mark.parametrize("model", ["xgboost.json", "lightgbm.txt", "network.onnx"])
def test_models_of_columns_are_proved_in_any_library(hornbook, loans, model):
    done = hornbook("check", loans / "rules.horn", "--model", loans / model, "--data", loans / "loans.csv",
                    "--target", "good", "--proof", "--json", "--samples", 300)  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    good, poor, rising, old = json.loads(done.stdout)["claims"]
    assert good["guarantee"]["kind"] == poor["guarantee"]["kind"] == "proved"
    assert good["guarantee"]["margin"] > 0
    if model == "network.onnx":
        assert rising["guarantee"]["kind"] == "estimated" and "it is sampled" in rising["undecided"]
    else:
        assert rising["guarantee"]["kind"] == "proved"
    assert old["broken"] and old["violation"]["rows"][0]["age"] > 50


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
    first, second = (checked("wrong.horn", "tree.onnx", "--target", "ill").stdout for _ in "ab")
    assert first == second


@pytest.mark.parametrize(
    ("rules", "model", "options", "message"),
    [
        ("right.horn", "missing.onnx", ["--target", "ill"], "there is no file"),
        ("right.horn", "logistic.pkl", ["--target", "ill"], "is a pickle"),
        ("missing.horn", "tree.onnx", ["--target", "ill"], "cannot read"),
        ("strange.horn", "tree.onnx", ["--target", "ill"], "the table has no column 'fevre'; it has fever"),
        ("unclear.horn", "tree.onnx", ["--target", "ill"], "line 1: 'fever' is no condition; write age > 40"),
        ("right.horn", "tree.onnx", ["--target", "il"], "no column 'il'; did you mean 'ill'?"),
        ("variables.horn", "tree.onnx", [], "name the column that a classifier predicts with --target"),
        ("right.horn", "tree.onnx", [], "claims about columns need --target"),
        ("right.horn", "patients.csv", ["--target", "ill"], "cannot tell the kind of model"),
        ("right.horn", "tree.onnx", ["--target", "ill", "--encoding", "half"], "--encoding is about a judge"),
        ("right.horn", "judge.safetensors", ["--encoding", "x"], "unknown encoding 'x'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(checked, rules, model, options, message):
    done = checked(rules, model, *options)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert message in done.stderr and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


def test_missing_and_broken_data(hornbook, folder, tmp_path):
    for data, message in (
        (tmp_path / "none.csv", "there is no file"),
        (tmp_path, "a folder is no table; name its files in a query: SELECT * FROM"),
    ):
        done = hornbook(
            "check", folder / "right.horn", "--model", folder / "tree.onnx", "--data", data, "--target", "ill"
        )
        assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_the_judge_is_what_the_tests_say(folder):
    from hornbook.models import as_predictor

    predictor = as_predictor(folder / "judge.safetensors")
    vocabulary = Vocabulary.with_duals([*COLUMNS, "ill"])
    batch = Batch.from_array([[1, 0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1]], vocabulary)
    assert predictor.decide(batch).tolist() == [False, True]
