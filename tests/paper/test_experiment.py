"""The paper end to end, on a few rows and in a few seconds: repeatable, resumable, complete."""

import json
import re
from dataclasses import replace

import joblib
import pytest
from commands import runner
from tiny_reproduction import ONCE, PUBLISHED, SHORT, TINY, patients

from hornbook.errors import HornbookError
from hornbook.paper import SCALES, Document, reproduce, verdict_lines
from hornbook.paper.claims import describe_answer, judge_claims
from hornbook.paper.experiment import Repetition, summarise
from hornbook.paper.report import RUN_END, RUN_START, summary_tables, tables
from hornbook.paper.settings import PAPER, QUICK
from hornbook.queries import MLP
from hornbook.storage import read_json

pytestmark = pytest.mark.slow

PAIRS = {"t_nn", "t_lrn_star", "lrn_star_nn", "t_ours", "ours_nn", "t_tree", "tree_nn"}
NAMES = ("paper", "paper-half", "hard")


def content(run):
    """Every file of the stages of the paper's protocol but the times, and the metrics but the times."""
    files = {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted((run / "paper").rglob("*"))
        if path.is_file() and path.suffix != ".seconds"
    }
    assert len(files) > 10
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
    names = ("metrics.json", "report.html")
    before = [(run / name).read_bytes() for name in names]
    reproduce_alone(patients(), run, protocols=SHORT, synthetic=True)
    assert [(run / name).read_bytes() for name in names] == before


def test_reproduce_another_seed_gives_others(run, tmp_path):
    reproduce_alone(patients(), tmp_path, ONCE, seed=1, protocols=PUBLISHED)
    kept = read_json(tmp_path / "paper" / "seed-1" / "evaluation.json")
    assert kept == read_json(run / "paper" / "seed-1" / "evaluation.json")
    assert kept != read_json(run / "paper" / "seed-0" / "evaluation.json")


@pytest.mark.parametrize("stage", ["search", "read_by_prime_bodies", "evaluate"])
def test_reproduce_interrupted_run_goes_on_to_the_same_files(once, tmp_path, monkeypatch, stage):
    whole = getattr(Repetition, stage)

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Repetition, stage, interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce_alone(patients(), tmp_path, ONCE, protocols=PUBLISHED, synthetic=True)
    monkeypatch.setattr(Repetition, stage, whole)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "paper").rglob("*.json")}
    assert bool(before) == (stage != "search")
    reproduce_alone(patients(), tmp_path, ONCE, protocols=PUBLISHED, synthetic=True)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert content(tmp_path) == content(once)


def test_a_folder_with_other_settings_is_refused(once):
    larger = replace(ONCE, tree=replace(TINY.tree, samples=3))
    with pytest.raises(HornbookError, match="holds a run with other settings"):
        reproduce_alone(patients(), once, larger, protocols=PUBLISHED, synthetic=True)


def test_reproduce_metrics_have_what_is_promised(metrics):
    assert tuple(metrics["experiments"]) == NAMES
    assert metrics["labels"] == {"paper": "(0, 0)", "paper-half": "½", "hard": "hard, ½"}
    for results in metrics["experiments"].values():
        for shares in results["evaluation"]["shares"].values():
            assert set(shares) >= PAIRS
            for share in shares.values():
                assert 0 <= share["least"] <= share["median"] <= share["most"] <= 1
                assert len(share["runs"]) == 3
                assert all(run["low"] <= run["estimate"] <= run["high"] for run in share["runs"])
        for reader in ("lrn_star", "ours"):
            rules = results["evaluation"]["rules"][reader]
            counts = [rules[name]["most"] for name in ("in_t", "in_t_by_side", "entailed_by_t", "count")]
            assert counts == sorted(counts)
            assert rules["body_features"]["median"] <= rules["body_literals"]["median"]
        assert results["evaluation"]["size"]["median"] == 2 * metrics["sample"] == 2000
    kinds = {"mixed", "random", "violation", "row"}
    assert set(metrics["experiments"]["paper"]["evaluation"]["shares"]) == kinds
    assert set(metrics["experiments"]["hard"]["evaluation"]["shares"]) == kinds | {"near miss"}
    stages = {"search", "lrn_star", "ours", "tree", "evaluation"}
    assert set(metrics["seconds"]["paper"]) == set(metrics["seconds"]["paper-half"]) == stages | {"missing"}
    assert set(metrics["seconds"]["hard"]) == stages, "claims are judged under the paper's protocol"
    assert metrics["seeds"] == [0, 1, 2]


def test_reproduce_the_two_readings_differ_in_the_encoding_alone(run, metrics):
    """The same training sets and T; other networks, trees and rules."""
    letter, half = (metrics["experiments"][name] for name in NAMES[:2])
    assert replace(SHORT[1], name="paper", encoding="zero") == SHORT[0]
    for stage in ("search", "evaluation"):
        assert letter[stage] != half[stage]
    network = MLP.load(run / "paper" / "seed-0" / "network.safetensors")
    assert network.encoding == "zero"
    assert network.module[0].in_features == len(network.vocabulary), "no pair is folded into one input"
    tested = set()
    for name in NAMES[:2]:
        trees = (read_json(run / name / f"seed-{seed}" / "tests.json") for seed in range(3))
        unknown = {side for tree in trees for side in re.findall(r'"unknown": "(\w+)"', json.dumps(tree))}
        tested |= unknown
        assert name == "paper-half" or unknown <= {"low"}, "an unknown value is read as a false one"
    assert tested


def test_reproduce_real_rows_are_counted_once_each(metrics):
    for results in metrics["experiments"].values():
        row, rejected = (
            results["evaluation"]["shares"]["row"]["t_nn"],
            results["evaluation"]["rows_rejected"],
        )
        assert row == rejected, "T accepts every row with its class, so what differs is what is rejected"
        assert (12 * rejected["median"]) == pytest.approx(round(12 * rejected["median"]))


def test_summarise_a_share_has_a_median_and_a_range_and_keeps_its_intervals():
    shares = [{"estimate": value, "low": value - 0.1, "high": value + 0.1} for value in (0.3, 0.1, 0.2)]
    found = summarise(shares)
    assert (found["median"], found["least"], found["most"], found["runs"]) == (0.2, 0.1, 0.3, shares)


def test_reproduce_report_says_first_that_rows_are_made_up(run, metrics):
    page = (run / "report.html").read_text("utf-8")
    assert "synthetic cohort" in page.partition("</title>")[0]


def test_the_report_holds_every_table_and_reads_nothing_from_elsewhere(run, metrics):
    page = (run / "report.html").read_text("utf-8")
    for table in tables(metrics):
        assert table.title.replace("'", "&#39;") in page
        assert table.rows and all(len(row) == len(table.columns) for row in table.rows)
    assert "src=" not in page and "http" not in page.replace("http-equiv", "")


def test_the_report_begins_with_the_answer_and_the_verdicts(run, metrics):
    answer = describe_answer(metrics)
    page = (run / "report.html").read_text("utf-8").replace("&#39;", "'")
    assert answer in page.partition("<h2")[0]
    assert [table.title for table in tables(metrics)[:2]] == ["Verdicts", "Table 2"]
    rejected = metrics["experiments"]["paper"]["evaluation"]["rows_rejected"]["median"]
    assert f"{100 * rejected:.2f} % (0, 0)" in answer, "the sentence on the real rows"


def test_every_table_of_figures_has_both_readings_side_by_side_the_letter_first(metrics):
    table = tables(metrics)[1]
    assert table.columns == ("", "published", "(0, 0)", "½", "hard, ½")
    known = {row[0].partition("(")[2].rstrip(")"): row[1] for row in table.rows if row[1] != "–"}
    assert known == {"t_h": "9.20 %", "t_nn": "6.00 %", "h_nn": "5.80 %", "t_tree": "8.40 %"}
    for table in tables(metrics):
        if "(0, 0)" in table.columns:
            assert " ".join(table.columns).endswith(("(0, 0) ½ hard, ½", "(0, 0) ½"))


def judge_as(metrics, *, settings=None):
    """Claims of a run whose conditions are those of the paper, but for some settings."""
    met = {
        "selection": {"nets": ["32-16-8-16-32 at rate 0.1"]},
        "ours": {"budget": {"equivalence_queries": 100}, "size": "paper"},
        "tree": {"size": None, "samples": 2},
        "sweep": {"shares": [0.0, 0.2, 0.4, 0.6, 0.8], "queries": 100},
        "evaluation": 2,
    }
    claims = judge_claims({**metrics, "settings": {**met, **(settings or {})}})
    return {(each.topic, each.protocol): each for each in claims}


def test_judge_claims_both_sides(metrics):
    changed = json.loads(json.dumps(metrics))
    results = changed["experiments"]["paper"]
    share = results["evaluation"]["shares"]["mixed"]["lrn_star_nn"]
    for runs, verdict in (
        ((0.001, 0.004, 0.02), "better"),
        ((0.001, 0.004, 0.06), "better"),
        ((0.001, 0.03, 0.3), "as published"),
        ((0.05, 0.053, 0.054), "as published"),
        ((0.2, 0.3, 0.4), "worse"),
    ):
        low, _, high = runs
        share["runs"] = [{"estimate": each} for each in runs]
        found = judge_as(changed)["h_nn", "paper"]
        assert found.verdict == verdict and found.published == "5.80 %"
        assert found.here.endswith(f" % [{100 * low:.2f}–{100 * high:.2f}]")
    points = results["missing"]
    for last, verdict in (
        ([1, 1, 1], "as published"),
        ([1, 0, 1], "not comparable"),
        ([0, 0, 0], "worse"),
    ):
        points[0]["common"]["runs"], points[-1]["common"]["runs"] = [0.5] * 3, last
        found = judge_as(changed)["missing: nets", "paper"]
        assert found.verdict == verdict and not found.lacks


@pytest.mark.parametrize(
    ("settings", "topics", "reason"),
    [
        ({"selection": {"nets": ["4 at rate 0.1"]}}, {"network error", "t_nn", "t_tree"}, "own net"),
        ({"evaluation": 1}, {"h_nn", "t_h", "rules of T", "features"}, "fewer queries or samples"),
        ({"tree": {"size": 500, "samples": 2}}, {"t_tree", "pace"}, "2 samples of 500"),
        ({"sweep": {"queries": 10}}, {"missing: rules"}, "10 queries a level"),
    ],
)
def test_judge_claims_without_its_conditions_a_claim_has_no_verdict(metrics, settings, topics, reason):
    claims = judge_as(metrics, settings=settings)
    for topic in topics:
        claim = claims[topic, "paper"]
        assert claim.verdict == "not comparable" and reason in claim.lacks
    assert not judge_as(metrics)["h_nn", "paper"].lacks


def test_paper_claims_are_judged_under_the_paper_protocol_in_both_readings(metrics):
    claims = judge_claims(metrics)
    assert {each.protocol for each in claims} == {"paper", "paper-half"}


def test_verdict_lines_fit_a_terminal(metrics):
    lines = verdict_lines(metrics)
    assert len(lines) == 14 and max(map(len, lines)) <= 80
    assert lines[0].split()[0] == "made-up" and lines[-1].startswith("rows rejected")


def test_write_document_puts_the_answer_between_its_marks_and_keeps_the_rest(metrics, tmp_path):
    document = tmp_path / "page.md"
    document.write_text(f"# Page\n{RUN_START}old\n{RUN_END}\nProse.\n")
    for _ in range(2):
        Document.read(document).write(metrics, document)
        text = document.read_text("utf-8")
        assert text.startswith("# Page\n") and text.endswith("\nProse.\n") and "\nold\n" not in text
        assert describe_answer(metrics) in text
        titles = [table.title for table in summary_tables(metrics)]
        assert all(text.count(f"\n## {title}\n") == 1 for title in titles)
        assert titles[:2] == ["Verdicts", "Table 2"]
    document.write_text("# Page\n")
    with pytest.raises(HornbookError, match="lacks the line <!-- the answer"):
        Document.read(document)


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
    assert len(PAPER.selection.nets) == 4080
    assert [str(net) for net in QUICK.selection.nets] == ["32-16-8-16-32 at rate 0.1"]
    assert PAPER.tree.size is None and PAPER.tree.samples > 1
    assert PAPER.repetitions >= 5 and QUICK.repetitions >= 5
    for scale in SCALES.values():
        assert scale.sample(204) == 708_344
        assert scale.ours.budget.equivalence_queries == 100
        assert scale.evaluation == 2
        assert len(scale.sweep.shares) == 5


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

    def reproduce_at_once(table, folder, scale, seed, *, protocols, synthetic, tell):
        asked.append([protocol.name for protocol in protocols])
        return metrics

    monkeypatch.setattr("hornbook.paper.experiment.reproduce", reproduce_at_once)
    command = runner(capsys, monkeypatch)
    printed = command("reproduce", "-o", tmp_path / "run").stdout
    assert printed.splitlines()[:-1] == verdict_lines(metrics)
    assert (
        json.loads(command("reproduce", "-o", tmp_path / "run", "--json", "--protocol", "hard").stdout)
        == metrics
    )
    command("reproduce", "-o", tmp_path / "run", "--protocol", "both")
    assert asked == [["paper", "paper-half"], ["hard"], ["paper", "paper-half", "hard"]]


def test_reproduce_interrupted_command_goes_on_to_the_same_files_whatever_the_processes(
    once, tmp_path, capsys, monkeypatch
):
    """What goes on here takes two processes, and `once` one."""
    whole, parts = Repetition.do, []

    def interrupt(self, stage):
        parts.append(stage)
        if len(parts) == 3:  # after the search, and the first of the stages after it
            raise KeyboardInterrupt
        return whole(self, stage)

    run = tmp_path / "run"
    with monkeypatch.context() as patch, joblib.parallel_config("sequential"):
        patch.setattr("hornbook.tables.load_dataset", patients)
        patch.setitem(SCALES, "quick", ONCE)
        patch.setattr(Repetition, "do", interrupt)
        patch.setattr("hornbook.paper.PROTOCOLS", {each.name: each for each in PUBLISHED})
        patch.setattr("os.cpu_count", lambda: 2)
        ended = runner(capsys, patch)("reproduce", "-o", run)
    assert ended.returncode == 130 and ended.stdout == ""
    assert ended.stderr.startswith("hornbook: interrupted; run the same command again")
    done = {path: path.stat().st_mtime_ns for path in (run / "paper").rglob("*.json")}
    assert parts[:2] == ["search", "tree"] and done
    reproduce(patients(), run, ONCE, protocols=PUBLISHED, synthetic=True, processes=2)
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert content(run) == content(once)
