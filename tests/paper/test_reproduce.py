"""The paper end to end, on a few rows and in a few seconds: repeatable, resumable, complete."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import runner

from hornbook.data import read_table
from hornbook.errors import HornbookError
from hornbook.learners import Settings
from hornbook.models import Net, Training
from hornbook.paper import SCALES, ModelSelection, Scale, Sweep, grid
from hornbook.paper.claims import judge_claims
from hornbook.paper.repetition import Repetition
from hornbook.paper.report import tables, to_html, to_markdown
from hornbook.paper.reproduce import reproduce, summarise_shares
from hornbook.paper.settings import PAPER, QUICK, TreeBudget
from hornbook.paper.stages import read_json
from hornbook.queries import Budget

READ = Settings(Budget(equivalence_queries=3), size=1000, pool=512, tries=1, evaluation=256, coherence=0)
SHORT = Training(epochs=8)
pytestmark = pytest.mark.slow

TINY = Scale(
    "tiny",
    repetitions=3,
    selection=ModelSelection(grid((1,), (4, 8), (0.1,)), SHORT, finalists=2, seeds=1),
    ours=READ,
    tree=TreeBudget(labels=300, tuning=60, seconds=60),
    sweep=Sweep((0.0, 0.8), Net((8,), 0.1), SHORT, sizes=(30, 30), tested=20, reading=READ),
    fresh=20,
    coherent=100,
)
PAIRS = {"t_h", "t_nn", "h_nn", "t_tree", "tree_nn"}


def patients(seed=0):
    """A dozen made-up rows with many holes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 2, (12, 12)).astype(float), columns=list("abcdefghijkl"))
    frame["age"] = rng.permutation(np.arange(12) * 7.5)
    frame = frame.mask(rng.random(frame.shape) < 0.3)
    frame["well"] = rng.permutation([0, 1] * 6)
    return read_table(frame, label="well", name="made-up")


def content(run, leave=("seconds.json", "metrics.json", "tables.md", "report.html")):
    """Every file of a run, but those that hold times; of the metrics all but the times."""
    files = {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(Path(run).rglob("*"))
        if path.is_file() and path.name not in leave
    }
    metrics = read_json(Path(run) / "metrics.json")
    del metrics["seconds"]
    return files | {"metrics": json.dumps(metrics)}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "nested"
    reproduce(patients(), folder, TINY, synthetic=True, processes=1)
    return folder


@pytest.fixture(scope="module")
def metrics(run):
    return read_json(run / "metrics.json")


def test_reproduce_seed_gives_the_same_files_whatever_the_processes(run, tmp_path):
    again = reproduce(patients(), tmp_path, TINY, synthetic=True, processes=2)
    assert content(tmp_path) == content(run)
    # with the same times the report is the same, too
    again["seconds"] = read_json(run / "metrics.json")["seconds"]
    assert to_html(again) == (run / "report.html").read_text("utf-8")
    assert to_markdown(again) == (run / "tables.md").read_text("utf-8")


def test_reproduce_another_seed_gives_others(run, tmp_path):
    reproduce(patients(), tmp_path, replace(TINY, repetitions=1), seed=1, processes=1)
    kept = read_json(tmp_path / "seed-1" / "evaluation" / "evaluation.json")
    assert kept == read_json(run / "seed-1" / "evaluation" / "evaluation.json")
    assert kept != read_json(run / "seed-0" / "evaluation" / "evaluation.json")


@pytest.mark.parametrize("stage", ["search", "read_by_prime_bodies", "evaluate"])
def test_reproduce_interrupted_run_goes_on_to_the_same_files(run, tmp_path, monkeypatch, stage):
    whole = getattr(Repetition, stage)

    def interrupted(self, folder):
        if self.seed == 1:
            (folder / "half.json").write_text("{")
            raise KeyboardInterrupt
        whole(self, folder)

    monkeypatch.setattr(Repetition, stage, interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce(patients(), tmp_path, TINY, synthetic=True, processes=1)
    monkeypatch.setattr(Repetition, stage, whole)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("stage.json")}
    assert before
    reproduce(patients(), tmp_path, TINY, synthetic=True, processes=1)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert content(tmp_path) == content(run)


def test_changed_settings_redo_what_they_decide(run, tmp_path):
    reproduce(patients(), tmp_path, TINY, synthetic=True, processes=1)
    done = {path.parent: path.stat().st_mtime_ns for path in tmp_path.rglob("stage.json")}
    larger = replace(TINY, tree=replace(TINY.tree, labels=400))
    reproduce(patients(), tmp_path, larger, synthetic=True, processes=1)
    redone = {folder.name for folder in done if (folder / "stage.json").stat().st_mtime_ns != done[folder]}
    assert redone == {"tree", "evaluation"}


def test_reproduce_metrics_have_what_is_promised(metrics):
    assert set(metrics["disagreement"]) == {"paper", "ours"}
    for readings in (metrics["disagreement"], *metrics["by_kind"].values()):
        for shares in readings.values():
            assert set(shares) == PAIRS
            for share in shares.values():
                assert 0 <= share["low"] <= share["estimate"] <= share["high"] <= 1
                assert share["least"] <= share["estimate"] <= share["most"]
                assert len(share["runs"]) == 3
    assert set(metrics["by_kind"]) == {"random", "violation", "row", "near miss"}
    assert set(metrics["seconds"]) == {
        "search",
        "paper",
        "longer",
        "ours",
        "tree",
        "missing",
        "evaluation",
        "total",
    }
    assert {"cross_validated", "held_out", "published", "best"} <= set(metrics["accuracy"])
    for reading in ("paper", "ours", "tree"):
        rules = metrics["rules"][reading]
        assert {"count", "in_t", "entailed_by_t", "mean_body", "examples"} <= set(rules)
        assert rules["in_t"]["most"] <= rules["entailed_by_t"]["most"] <= rules["count"]["most"]
    assert metrics["evaluated"] == 2 * metrics["sample"] == 2000
    assert metrics["seeds"] == [0, 1, 2]


def test_reproduce_two_kinds_of_error_make_up_the_disagreement(metrics):
    """Estimated on other interpretations, so only within their intervals."""
    for reading, pair in (("paper", "h_nn"), ("ours", "h_nn"), ("tree", "tree_nn")):
        shares = metrics["disagreement"]["paper" if reading == "tree" else reading][pair]["runs"]
        kinds = zip(*(metrics["errors"][reading][kind]["runs"] for kind in ("missing", "wrong")), strict=True)
        for whole, (missing, wrong) in zip(shares, kinds, strict=True):
            assert whole["low"] - 0.02 <= missing["estimate"] + wrong["estimate"] <= whole["high"] + 0.02


def test_reproduce_real_rows_are_counted_once_each(metrics):
    row = metrics["by_kind"]["row"]["ours"]["t_nn"]
    rejected = metrics["caveats"]["rows_rejected"]
    assert row == rejected, "T accepts every row with its class, so what differs is what is rejected"
    assert (12 * rejected["estimate"]) == pytest.approx(round(12 * rejected["estimate"]))


def test_summarise_shares_middle_share_is_one_of_them():
    shares = [{"estimate": value, "low": value - 0.1, "high": value + 0.1} for value in (0.3, 0.1, 0.2)]
    found = summarise_shares(shares)
    assert (found["estimate"], found["low"]) == (0.2, pytest.approx(0.1))
    assert (found["least"], found["most"], found["runs"]) == (0.1, 0.3, shares)


def test_reproduce_report_says_first_that_rows_are_made_up(run, metrics):
    page = (run / "report.html").read_text("utf-8")
    assert "synthetic cohort" in page.partition("</title>")[0]
    assert "synthetic cohort" in (run / "tables.md").read_text("utf-8").splitlines()[0]
    real = metrics | {"data": metrics["data"] | {"synthetic": False}}
    assert "synthetic" not in to_markdown(real).splitlines()[0]


def test_the_report_holds_every_table_and_reads_nothing_from_elsewhere(run, metrics):
    page = (run / "report.html").read_text("utf-8")
    for table in tables(metrics):
        assert table.title in page
        assert all(len(row) == len(table.columns) for row in table.rows)
    assert page.count("<svg") == 2
    assert "src=" not in page and "http" not in page.replace("http-equiv", "")


def test_judge_claims_by_the_figures(metrics):
    verdicts = {each.claim: each.verdict for each in judge_claims(metrics)}
    ours = next(claim for claim in verdicts if claim.startswith("ours: the hypothesis differs"))
    better = json.loads(json.dumps(metrics))
    for estimate, verdict in ((0.0101, "does not hold"), (0.01, "holds")):
        better["disagreement"]["ours"]["h_nn"]["estimate"] = estimate
        assert {each.claim: each.verdict for each in judge_claims(better)}[ours] == verdict
    trend = next(claim for claim in verdicts if claim.startswith("more missing values make more accurate"))
    for last, verdict in (([1, 1, 1], "holds"), ([1, 0, 1], "unclear"), ([0, 0, 0], "does not hold")):
        better["missing"][0]["common"]["runs"] = [0.5] * 3
        better["missing"][-1]["common"]["runs"] = last
        assert {each.claim: each.verdict for each in judge_claims(better)}[trend] == verdict


def test_reproduce_folder_of_another_run_is_refused(run, tmp_path):
    with pytest.raises(HornbookError, match="holds a run with seed 0"):
        reproduce(patients(), run, TINY, seed=5)
    with pytest.raises(HornbookError, match="holds a run with scale tiny"):
        reproduce(patients(), run, replace(TINY, name="large"))
    with pytest.raises(HornbookError, match="holds a run with other data"):
        reproduce(patients(1), run, TINY, synthetic=True)
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(HornbookError, match="holds other files"):
        reproduce(patients(), tmp_path, TINY)


def test_an_even_number_of_repetitions_has_no_median_among_them():
    with pytest.raises(HornbookError, match="odd number of repetitions"):
        replace(TINY, repetitions=2)


def test_the_scales_are_what_they_promise():
    assert len(PAPER.selection.nets) == 4080 and len(QUICK.selection.nets) == 48
    assert PAPER.repetitions >= 3 and QUICK.repetitions >= 5
    for scale in SCALES.values():
        assert scale.sample(204) == 708_344
        assert scale.ours.budget.equivalence_queries == 100


@pytest.mark.parametrize("mistake", ["no file", "not HCC", "folder in the way", "folder not ours"])
def test_reproduce_mistake_is_one_line_and_exit_code_2(tmp_path, mistake, capsys, monkeypatch):
    run, data = tmp_path / "run", []
    match mistake:
        case "no file":
            data = ["--data", tmp_path / "none.csv"]
        case "not HCC":
            (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
            data = ["--data", tmp_path / "rows.csv"]
        case "folder in the way":
            run.write_text("a file")
        case "folder not ours":
            run.mkdir()
            (run / "letter.txt").write_text("dear")
    done = runner(capsys, monkeypatch)("reproduce", *data, "-o", run)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("hornbook: ")


def test_reproduce_interrupted_command_keeps_what_is_finished(tmp_path):
    command = [sys.executable, "-m", "hornbook", "reproduce", "-o", str(tmp_path / "run")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "run" / "data" / "stage.json").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == "" and err.startswith("hornbook: interrupted; run the same command again")
    assert os.path.exists(tmp_path / "run" / "config.json")
