"""The user's words in commands: code books, and rows in the table's own values."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from commands import is_one_line

from hornbook import Explainer, as_predictor
from hornbook.runs import Run

BOOK = """
[columns.age]
label = "Age at admission"
unit = "years"

[columns.fever]
levels = { 0 = "no fever", 1 = "fever" }

[classes]
0 = "healthy"
1 = "ill"
"""

VOTES = pd.DataFrame(
    {
        "vote": np.tile(["y", "n", None], 60),
        "age": np.arange(180) % 60 + 20,
        "party": np.repeat(["a", "b", "c"], 60),
    }
)
VOTES_BOOK = {"columns": {"vote": {"label": "Vote", "levels": {"y": "in favour", "n": "against"}}}}


class Voter:
    """A model that reads columns: who votes in favour and is old."""

    classes_ = (0, 1)

    def predict(self, rows):
        return np.asarray((rows["vote"] == "y") & (rows["age"] > 50), int)

    def __sklearn_is_fitted__(self):
        return True

    feature_names_in_ = np.array(VOTES.columns)
    n_features_in_ = 3


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "book.toml"
    path.write_text(BOOK)
    return path


@pytest.fixture
def model(folder):
    """The options of a model from a file."""
    return ["--target", "ill", "--model", folder / "tree.pkl", "--trust-pickle"]


@pytest.fixture(scope="module")
def voters():
    explainer = Explainer(Voter(), VOTES, target="yes", code_book=VOTES_BOOK)
    return explainer.extract(form="tree", n_samples=500)


@pytest.fixture(scope="module")
def run(voters, tmp_path_factory):
    voters.save(tmp_path_factory.mktemp("votes") / "run")
    return tmp_path_factory.getbasetemp() / "votes0" / "run"


def test_extract_speaks_in_the_words_of_a_code_book_and_the_run_keeps_them(
    hornbook, folder, model, book, tmp_path
):
    extract = ["extract", folder / "patients.csv", *model, "--samples", 500, "--form", "tree"]
    done = hornbook(*extract, "--code-book", book, "-o", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    text = hornbook("show", tmp_path).stdout
    assert done.stdout.startswith(text) and "Age at admission ≥ 6" in text and " years" in text
    assert "fever = no fever" in text and ": ill" in text and ": healthy" in text
    assert '"fever" = 0' in hornbook("show", tmp_path, "--format", "sql").stdout
    assert "Age at admission" in (tmp_path / "report.html").read_text()
    told = hornbook("explain", tmp_path, "--set", "Age at admission=80", "--set", "fever=fever").stdout
    assert told.startswith("ill, because\n") and "  Age at admission ≥ 6" in told
    assert Run.load(tmp_path).config["settings"]["code_book"]["name"] == "book.toml"
    plain = tmp_path / "plain"
    hornbook(*extract, "-o", plain)
    assert Run.load(plain).extraction.explanation.root == Run.load(tmp_path).extraction.explanation.root


def test_query_speaks_in_the_words_of_a_code_book(hornbook, folder, model, book, tmp_path):
    limits = ["--max-queries", 10, "--code-book", book]
    done = hornbook("learn", folder / "patients.csv", *model, *limits, "-o", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    text = hornbook("show", tmp_path).stdout
    assert (
        "Age at admission ≥ " in text and "fever = no fever" in text and text.endswith(("ill\n", "healthy\n"))
    )
    told = hornbook("explain", tmp_path, "--set", "age=30", "--set", "fever=no fever").stdout
    assert told.startswith("healthy, because\n  fever = no fever\nwith ") and "it would be ill" in told


def test_check_reads_claims_in_the_words_of_a_code_book(hornbook, folder, model, book, tmp_path):
    (tmp_path / "claims.horn").write_text(
        '"Age at admission" >= 70 years & fever = fever -> ill\nfever = "no fever" -> ill\n'
    )
    data = ["--data", folder / "patients.csv", "--code-book", book]
    done = hornbook("check", tmp_path / "claims.horn", *model, *data, "--samples", 200)
    assert done.returncode == 1
    holds, broken, row = done.stdout.splitlines()[:3]
    assert holds.startswith('holds   "Age at admission" >= 70 & fever = fever -> ill')
    assert broken.startswith('broken  fever = "no fever" -> ill')
    assert "healthy: Age at admission=" in row and "fever=no fever" in row


def test_code_books_that_are_wrong_are_refused_in_one_line(hornbook, folder, model, tmp_path):
    for text, message in {
        "columns.agee.unit = 'y'": "did you mean 'age'?",
        "columns.fever.levels = { 2 = 'x' }": "'2' never occurs; its values are 0, 1",
        "classes = { 2 = 'x' }": "the model has no class '2'; its classes are 0, 1",
        "columns.age": "book.toml is not TOML",
    }.items():
        (tmp_path / "book.toml").write_text(text)
        for command in ("extract", "learn"):
            done = hornbook(command, folder / "patients.csv", *model, "--code-book", tmp_path / "book.toml")
            assert is_one_line(done) and message in done.stderr, done


def test_explain_takes_the_values_of_the_table_and_of_the_code_book(hornbook, run, voters):
    expected = str(voters.explain({"vote": "y", "age": 70}))
    assert expected.startswith("yes, because\n") and "Vote = in favour" in expected
    for vote in ("y", "in favour", " y "):
        assert str(voters.explain({"Vote": vote, "age": "70"})) == expected
        assert hornbook("explain", run, "--set", f"vote={vote}", "--set", "age=70").stdout == f"{expected}\n"
    for unknown in ("?", "", None, float("nan")):
        missing, silent = voters.explain({"vote": unknown, "age": 70}), voters.explain({"age": 70})
        assert (missing.facts, silent.facts) == (("Vote is missing",), ("Vote is not given",))
        assert replace(missing, facts=silent.facts) == silent
    assert voters.explain(["y", 70, None]) == voters.explain({"vote": "y", "age": 70})
    assert voters.explain(VOTES.iloc[0]) == voters.explain({"vote": "y", "age": 20, "party": "a"})


def test_explain_says_what_makes_no_difference(hornbook, run):
    done = hornbook("explain", run, "--set", "party=b", "--set", "vote=n")
    assert "party makes no difference: the decision tree does not speak of it" in done.stdout
    entry = json.loads(hornbook("explain", run, "--set", "party=b", "--json").stdout)
    assert entry["unused"] == ["party"]


def test_explain_refuses_what_never_occurs_in_one_line(hornbook, run, voters):
    for pair, message in {
        "vote=maybe": "column 'vote' is never 'maybe'; its values are against (n), in favour (y), or ?",
        "age=old": "column 'age' is never 'old'; it has numbers, from 20 to 79, or ?",
        "age=inf": "column 'age' has finite numbers, or ?; got 'inf'",
        "votes=y": "the table has no column 'votes'; did you mean 'vote'?",
        "x=y": "the table has no column 'x'; it has vote, age, party",
    }.items():
        done = hornbook("explain", run, "--set", pair)
        assert is_one_line(done) and message in done.stderr, done
        with pytest.raises(ValueError, match=r"never|finite|no column"):
            voters.explain(dict([pair.split("=")]))


def test_predict_takes_names_of_the_code_book(hornbook, run, voters, tmp_path):
    rows = VOTES.iloc[::7].rename(columns={"vote": "Vote"})
    rows.replace({"Vote": {"y": "in favour"}}).to_csv(tmp_path / "new.csv", index=False)
    done = hornbook("predict", run, tmp_path / "new.csv")
    classes = [row["class"] for row in csv.DictReader(io.StringIO(done.stdout))]
    assert classes == ["yes" if each else "not yes" for each in voters.predict(VOTES.iloc[::7])]
    (tmp_path / "other.csv").write_text("vote,age\nabstains,70\n")
    refused = hornbook("predict", run, tmp_path / "other.csv")
    assert (
        is_one_line(refused) and "row 1: column 'vote' is never 'abstains'; its values are" in refused.stderr
    )
    done = hornbook("predict", run, tmp_path / "other.csv", "--unknown-levels", "missing")
    assert "1,not yes,Vote is missing" in done.stdout
    assert done.stderr == "# column 'vote' is never 'abstains' in the table: missing in 1 row\n"
    (tmp_path / "bad.csv").write_text("vote,age,party\ny,50,a\ny,old,a\n\n")
    done = hornbook("predict", run, tmp_path / "bad.csv")
    assert is_one_line(done) and "row 2: column 'age' is never 'old'" in done.stderr


def test_explanation_by_queries_takes_words_for_truth_values():
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (99, 3)), columns=list("abc"))
    model = as_predictor(lambda array: array[:, 0] + array[:, 1] > 1, encoding="half")
    extraction = Explainer(model, frame, target="ill").learn(max_queries=10)
    told = str(extraction.explain({"a": 1, "b": 1}))
    assert told == str(extraction.explain({"a": "y", "b": "true", "c": "?"})) and told.startswith(
        "ill, because\n"
    )
    with pytest.raises(ValueError, match="column 'a' is never 'perhaps'; its values are 0, 1, or"):
        extraction.explain({"a": "perhaps"})
