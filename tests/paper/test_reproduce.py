"""The paper end to end, on a few rows and in a few seconds: repeatable, resumable, complete."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import joblib
import pytest
from commands import runner
from tiny_reproduction import ONCE, PUBLISHED, SHORT, TINY, patients

from hornbook.errors import HornbookError
from hornbook.paper import SCALES
from hornbook.paper.claims import answer_in_sentences, judge_claims
from hornbook.paper.repetition import Repetition
from hornbook.paper.report import tables, to_markdown
from hornbook.paper.reproduce import reproduce
from hornbook.paper.settings import PAPER, QUICK
from hornbook.paper.summary import summarise_shares
from hornbook.storage import read_json

pytestmark = pytest.mark.slow

FIGURES = {
    "lrn_star": {"t_h", "t_nn", "h_nn"},
    "ours": {"t_h", "t_nn", "h_nn"},
    "tree": {"t_tree", "tree_nn"},
}


def content(run):
    """Every file of the stages of the paper's protocol but the times, and the metrics but the times."""
    files = {
        str(path.relative_to(run)): path.read_bytes()
        for folder in ("data", "paper")
        for path in sorted((run / folder).rglob("*"))
        if path.is_file() and path.name != "seconds.json"
    }
    assert len(files) > 20
    return files | {"metrics": {**read_json(run / "metrics.json"), "seconds": None}}


def reproduce_alone(table, folder, scale=TINY, **options):
    """Without other processes, in searches too, which take every core by themselves."""
    with joblib.parallel_config("sequential"):
        return reproduce(table, folder, scale, processes=1, **options)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "nested"
    reproduce_alone(patients(), folder, protocols=SHORT, synthetic=True)
    return folder


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """A run of one repetition under the paper's protocol."""
    folder = tmp_path_factory.mktemp("once")
    reproduce_alone(patients(), folder, ONCE, protocols=PUBLISHED, synthetic=True)
    return folder


@pytest.fixture(scope="module")
def metrics(run):
    return read_json(run / "metrics.json")


def test_reproduce_finished_run_gives_the_same_report(run):
    names = ("metrics.json", "report.html", "tables.md")
    before = [(run / name).read_bytes() for name in names]
    reproduce_alone(patients(), run, protocols=SHORT, synthetic=True)
    assert [(run / name).read_bytes() for name in names] == before


def test_reproduce_another_seed_gives_others(run, tmp_path):
    reproduce_alone(patients(), tmp_path, ONCE, seed=1, protocols=PUBLISHED)
    kept = read_json(tmp_path / "paper" / "seed-1" / "evaluation" / "evaluation.json")
    assert kept == read_json(run / "paper" / "seed-1" / "evaluation" / "evaluation.json")
    assert kept != read_json(run / "paper" / "seed-0" / "evaluation" / "evaluation.json")


@pytest.mark.parametrize("stage", ["search", "read_by_prime_bodies", "evaluate"])
def test_reproduce_interrupted_run_goes_on_to_the_same_files(once, tmp_path, monkeypatch, stage):
    whole = getattr(Repetition, stage)

    def interrupted(self, folder):
        (folder / "half.json").write_text("{")
        raise KeyboardInterrupt

    monkeypatch.setattr(Repetition, stage, interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce_alone(patients(), tmp_path, ONCE, protocols=PUBLISHED, synthetic=True)
    monkeypatch.setattr(Repetition, stage, whole)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("stage.json")}
    assert before
    reproduce_alone(patients(), tmp_path, ONCE, protocols=PUBLISHED, synthetic=True)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert content(tmp_path) == content(once)


def test_changed_settings_redo_what_they_decide(once, tmp_path):
    shutil.copytree(once, tmp_path, dirs_exist_ok=True)
    done = {path.parent: path.stat().st_mtime_ns for path in tmp_path.rglob("stage.json")}
    larger = replace(ONCE, tree=replace(TINY.tree, labels=300))
    reproduce_alone(patients(), tmp_path, larger, protocols=PUBLISHED, synthetic=True)
    redone = {folder.name for folder in done if (folder / "stage.json").stat().st_mtime_ns != done[folder]}
    assert redone == {"tree", "evaluation"}


def test_reproduce_metrics_have_what_is_promised(metrics):
    assert set(metrics["disagreement"]) == {"paper", "hard"}
    for protocol, experiment in metrics["experiments"].items():
        for readers in (metrics["disagreement"][protocol], *experiment["by_kind"].values()):
            assert {reader: set(shares) for reader, shares in readers.items()} == FIGURES
            for share in (share for shares in readers.values() for share in shares.values()):
                assert 0 <= share["low"] <= share["estimate"] <= share["high"] <= 1
                assert share["least"] <= share["estimate"] <= share["most"]
                assert len(share["runs"]) == 3
        assert {"cross_validated", "held_out", "published", "best"} <= set(experiment["accuracy"])
        for reading in ("lrn_star", "ours", "tree"):
            rules = experiment["rules"][reading]
            counts = [rules[name]["most"] for name in ("in_t", "in_t_by_side", "entailed_by_t", "count")]
            assert counts == sorted(counts)
            assert rules["body_features"]["median"] <= rules["body_literals"]["median"]
        assert experiment["evaluated"] == 2 * metrics["sample"] == 2000
    assert set(metrics["experiments"]["paper"]["by_kind"]) == {"random", "violation", "row"}
    assert set(metrics["experiments"]["hard"]["by_kind"]) == {"random", "violation", "row", "near miss"}
    stages = {"search", "lrn_star", "longer", "ours", "tree", "evaluation"}
    assert set(metrics["seconds"]["paper"]) == stages | {"missing"}
    assert set(metrics["seconds"]["hard"]) == stages, "claims are judged under the paper's protocol"
    assert metrics["seeds"] == [0, 1, 2]


def test_reproduce_two_kinds_of_error_make_up_the_disagreement(metrics):
    """Estimated on other interpretations, so only within their intervals."""
    for protocol, experiment in metrics["experiments"].items():
        for reading, pair in (("lrn_star", "h_nn"), ("ours", "h_nn"), ("tree", "tree_nn")):
            shares = metrics["disagreement"][protocol][reading][pair]["runs"]
            errors = experiment["errors"][reading]
            kinds = zip(*(errors[kind]["runs"] for kind in ("missing", "wrong")), strict=True)
            for whole, (missing, wrong) in zip(shares, kinds, strict=True):
                both = missing["estimate"] + wrong["estimate"]
                assert whole["low"] - 0.02 <= both <= whole["high"] + 0.02


def test_reproduce_real_rows_are_counted_once_each(metrics):
    for protocol, experiment in metrics["experiments"].items():
        row = experiment["by_kind"]["row"]["ours"]["t_nn"]
        rejected = metrics["rows_rejected"][protocol]
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
    assert page.count("<svg") == 3
    assert "src=" not in page and "http" not in page.replace("http-equiv", "")


def test_the_report_begins_with_the_answer_and_table_2(run, metrics):
    """Table 2 has three columns of figures: published, LRN* here, ours."""
    answer = answer_in_sentences(metrics)
    for name, heading in (("tables.md", "## Table 2"), ("report.html", "<h2")):
        text = (run / name).read_text("utf-8")
        assert " ".join(answer) in text.partition(heading)[0]
    first = tables(metrics)[0]
    assert first.columns[1:] == ("published", "LRN* here", "ours")
    assert [row[0] for row in first.rows] == ["equivalence queries", "t_h", "t_nn", "h_nn", "t_tree"]
    assert [row[1] for row in first.rows] == ["100", "9.20 %", "6.00 %", "5.80 %", "8.40 %"]
    rejected = metrics["rows_rejected"]["paper"]["estimate"]
    assert f"{100 * rejected:.2f} %" in answer[2] and f"{100 * rejected:.2f} %" in first.note


def test_every_open_choice_is_named_with_its_value_and_reason(metrics):
    for protocol in SHORT:
        named = " ".join(choice[0] for choice in metrics["choices"][protocol.name])
        assert set(protocol.settings()) - {"name", "sizes"} <= set(
            named.replace(":", "").replace(",", "").split()
        )
        assert all(len(choice) == 3 and all(choice) for choice in metrics["choices"][protocol.name])


def test_judge_claims_by_the_figures(metrics):
    changed = json.loads(json.dumps(metrics))

    def judged(topic, protocol="paper"):
        (found,) = (
            each for each in judge_claims(changed) if (each.topic, each.protocol) == (topic, protocol)
        )
        return found

    for protocol, limit in (("paper", 0.005), ("hard", 0.008)):
        for estimate, verdict in ((limit + 1e-4, "does not hold"), (limit, "holds")):
            changed["disagreement"][protocol]["ours"]["h_nn"]["estimate"] = estimate
            assert judged("our rules", protocol).verdict == verdict
    for estimate, verdict in ((0.0581, "not reproduced"), (0.058, "holds"), (0.001, "holds")):
        changed["disagreement"]["paper"]["lrn_star"]["h_nn"]["estimate"] = estimate
        assert judged("h_nn").verdict == verdict
        assert bool(judged("h_nn").tried) == (verdict != "holds"), "what was tried is said"
    points = changed["experiments"]["paper"]["missing"]
    for last, verdict in (([1, 1, 1], "holds"), ([1, 0, 1], "unclear"), ([0, 0, 0], "not reproduced")):
        points[0]["common"]["runs"], points[-1]["common"]["runs"] = [0.5] * 3, last
        assert judged("missing values and accuracy").verdict == verdict


def test_paper_claims_are_judged_under_the_paper_protocol_alone(metrics):
    claims = judge_claims(metrics)
    assert {each.protocol for each in claims if each.is_published} == {"paper"}
    assert {each.protocol for each in claims if not each.is_published} == {"paper", "hard"}


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
    assert PAPER.repetitions >= 5 and QUICK.repetitions >= 5
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


def test_reproduce_command_ends_with_the_answer(metrics, tmp_path, capsys, monkeypatch):
    asked = []

    def reproduce_at_once(table, folder, scale, seed, *, protocols, synthetic):
        asked.append([protocol.name for protocol in protocols])
        return metrics

    monkeypatch.setattr("hornbook.paper.reproduce.reproduce", reproduce_at_once)
    command = runner(capsys, monkeypatch)
    printed = command("reproduce", "-o", tmp_path / "run").stdout
    assert " ".join(printed.split()).endswith(" ".join(answer_in_sentences(metrics)))
    assert (
        json.loads(command("reproduce", "-o", tmp_path / "run", "--json", "--protocol", "hard").stdout)
        == metrics
    )
    assert asked == [["paper", "hard"], ["hard"]]


COMMAND = """
import hornbook.tables
from hornbook.cli import main
from hornbook.paper import PROTOCOLS, SCALES
from tiny_reproduction import ONCE, PUBLISHED, patients

hornbook.tables.load_dataset, SCALES["quick"] = patients, ONCE
PROTOCOLS.update({protocol.name: protocol for protocol in PUBLISHED})
main()
"""
"""The command at the smallest scale."""


def test_reproduce_interrupted_command_goes_on_to_the_same_files_whatever_the_processes(once, tmp_path):
    """The command searches on every core; `once`, and what goes on here, is one process.

    A search has two chunks of nets, so that it needs two processes. Stages that run side by side are a
    law of `test_stages`.
    """
    arguments = ["reproduce", "--protocol", "paper", "-o", str(tmp_path / "run")]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "shared")},
    )
    deadline = time.monotonic() + 60
    # joblib prints tracebacks if it is interrupted while it starts workers or hands out work
    while not any(tmp_path.glob("run/paper/seed-0/tree*")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == "" and err.startswith("hornbook: interrupted; run the same command again")
    done = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("stage.json")}
    reproduce_alone(patients(), tmp_path / "run", ONCE, protocols=PUBLISHED, synthetic=True)
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert content(tmp_path / "run") == content(once)
