"""Commands on a model behind an endpoint: runs, resumed runs, credentials, and what they refuse."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from commands import is_one_line, runner
from model_servers import Reply, read_rows, serve, serve_mlflow

import hornbook as hb
from hornbook.remote import http as endpoint_http

SMALL = ["--samples", 300, "--max-literals", 4, "--form", "rules"]


@pytest.fixture
def hornbook(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HORNBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(endpoint_http, "FIRST_DELAY", 0.0005)
    for name in ("HORNBOOK_ENDPOINT_TOKEN", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return runner(capsys, monkeypatch)


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """Patients who are ill from 60 on, with missing values and words."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.uniform(20, 90, 120).round(), "sex": rng.choice(["f", "m"], 120)})
    frame.loc[:9, "age"] = np.nan
    path = tmp_path_factory.mktemp("endpoint") / "patients.csv"
    frame.assign(ill=(frame.age > 60).map({True: "yes", False: "no"})).to_csv(path, index=False)
    return path


def ill(rows):
    """The probabilities of not ill and ill, as a server answers."""
    return [[0.2, 0.8] if age > 60 else [0.7, 0.3] for age in pd.to_numeric(rows["age"])]


def test_extract_of_a_url_is_compared_shown_and_goes_on_from_its_answers(hornbook, patients, tmp_path):
    run = tmp_path / "run"
    with serve_mlflow(ill) as server:
        url = f"{server.url}/invocations"
        done = hornbook("extract", patients, "--target", "ill", "--model", url, "-o", run, *SMALL)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("if age ≥ 6") and "# endpoint: " in done.stdout
        model = json.loads((run / "config.json").read_text())["model"]
        assert model == {
            "name": url.removeprefix("http://"),
            "url": url,
            "endpoint": {
                "url": url,
                "protocol": "mlflow",
                "missing": "null",
                "request": {"dataframe_split": {"columns": "$columns", "data": "$values"}},
                "answers": "predictions",
                "classes": None,
                "threshold": None,
                "columns": None,
            },
        }
        assert (run / "answers.sqlite").is_file() and url.removeprefix("http://") in (
            run / "report.html"
        ).read_text()
        before = server.rows
        done = hornbook("compare", run, "--samples", 300)
        assert (done.returncode, done.stderr) == (0, "") and "hornbook  " in done.stdout
        assert server.rows - before < 2000
        done = hornbook("extract", patients, "--target", "ill", "--model", url, "-o", run, "--force", *SMALL)
        assert "100 % of " in done.stdout
        done = hornbook("extract", patients, "--target", "ill", "--model", url, "-o", run, *SMALL, "--proof")
        assert is_one_line(done) and "can only be asked" in done.stderr
        done = hornbook("verify", run)
        assert done.returncode == 0 and "not derived  answers.sqlite" in done.stdout
        (tmp_path / "claims.horn").write_text("age > 70 -> ill\n")
        checked = ["check", tmp_path / "claims.horn", "--model", url, "--data", patients, "--target", "ill"]
        assert hornbook(*checked, "--samples", 200).returncode == 0
    assert hornbook("show", run).returncode == 0  # needs no server
    assert hornbook("predict", run, patients).stdout.startswith("row,class,because")
    done = hornbook("compare", run, "--samples", 300)
    assert done.returncode == 3 and f"cannot reach {url}: connection refused" in done.stderr
    assert done.stderr.count("\n") == 1


def test_diff_of_two_urls_says_where_they_disagree(hornbook, patients, tmp_path):
    def milder(rows):
        return [[0.2, 0.8] if age > 75 else [0.7, 0.3] for age in pd.to_numeric(rows["age"])]

    with serve_mlflow(ill) as old, serve_mlflow(milder) as new:
        command = ["diff", "--old", f"{old.url}/invocations", "--new", f"{new.url}/invocations"]
        done = hornbook(
            *command, "--data", patients, "--target", "ill", "--samples", 300, "-o", tmp_path / "diff"
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert re.search(r"age ≤ 7\d.*: old ill, new not ill", done.stdout)
        config = json.loads((tmp_path / "diff" / "config.json").read_text())
        assert config["model"]["new"]["url"] == f"{new.url}/invocations"


def test_query_of_a_url_learns_rules_of_its_columns(hornbook, patients, tmp_path, monkeypatch):
    monkeypatch.setattr("hornbook.extraction.learning.POOL_SAMPLES", 512)
    monkeypatch.setattr("hornbook.extraction.learning.FRESH_SAMPLES", 512)
    with serve_mlflow(lambda rows: ["yes" if p > 0.5 else "no" for _, p in ill(rows)]) as server:
        url = f"{server.url}/invocations"
        done = hornbook("learn", patients, "--target", "ill", "--model", url, "--max-queries", 1,
                        "--max-rules", 2, "-o", tmp_path / "run")  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        assert hb.load(tmp_path / "run").classes == ("no", "yes")
        assert "# endpoint: " in done.stdout and "if age ≤ 60: no" in done.stdout


def test_credentials_are_in_no_file_and_no_output(hornbook, patients, tmp_path, monkeypatch):
    monkeypatch.setenv("HORNBOOK_ENDPOINT_TOKEN", "hush-token")
    monkeypatch.setenv("SCORING_KEY", "hush-key")

    def respond(path, body, number):
        if fails[0]:
            return Reply({"error": f"hush-key and {server.headers[-1]['Authorization']} are wrong"}, 400)
        return Reply({"scores": [p for _, p in ill(read_rows(body))]})

    run, fails = tmp_path / "run", [False]
    with serve(respond) as server:
        (tmp_path / "scorer.toml").write_text(
            f'url = "{server.url}/score"\nprotocol = "json"\nrequest = {{rows = "$rows"}}\n'
            'answers = "scores"\nmax_batch = 64\nheaders = {X-Key = "${SCORING_KEY}"}\n'
        )
        command = ["extract", patients, "--target", "ill", "--model", tmp_path / "scorer.toml", *SMALL]
        done = hornbook(*command, "-o", run)
        assert (done.returncode, done.stderr) == (0, "")
        assert {each["Authorization"] for each in server.headers} == {"Bearer hush-token"}
        assert {each["X-Key"] for each in server.headers} == {"hush-key"}
        fails[0] = True
        failed = hornbook(*command, "-o", tmp_path / "other")
        assert failed.returncode == 3 and "… and Bearer … are wrong" in failed.stderr
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    printed = done.stdout + done.stderr + failed.stdout + failed.stderr
    assert b"X-Key" in written and b"hush" not in written and "hush" not in printed


def test_a_run_is_not_gone_on_with_by_a_model_that_is_understood_otherwise(hornbook, patients, tmp_path):
    file, run = tmp_path / "scorer.toml", tmp_path / "run"
    command = ["extract", patients, "--target", "ill", "--model", file, "-o", run, *SMALL]
    with serve_mlflow(ill) as server:
        file.write_text(f'url = "{server.url}/invocations"\n')
        done = hornbook(*command)
        assert (done.returncode, done.stderr) == (0, "")
        assert hornbook("compare", run, "--samples", 100).returncode == 0
        file.write_text(f'url = "{server.url}/invocations"\nthreshold = 0.9\n')
        done = hornbook("compare", run, "--samples", 100)
        assert is_one_line(done) and "describe the model otherwise" in done.stderr


def test_wrong_shapes_and_credentials_in_a_url_end_in_one_line(hornbook, patients):
    with serve(lambda path, body, number: Reply({"predictions": [1]} if body else "1")) as server:
        command = ["extract", patients, "--target", "ill", "--model"]
        done = hornbook(*command, f"{server.url}/invocations", *SMALL)
        assert done.returncode == 3 and done.stderr.count("\n") == 1 and " rows with 1 answers" in done.stderr
        done = hornbook(*command, f"{server.url.replace('://', '://me:hush@')}/invocations", *SMALL)
        assert is_one_line(done) and "hush" not in done.stderr
