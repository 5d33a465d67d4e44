"""Runs that were killed or interrupted, and go on from their trace."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory

import pytest
from difficult_teachers import Failing, Mistaken
from extractions import (
    NETWORK,
    PARTIAL,
    QUICK,
    SCARCE,
    THEORY,
    hasty,
    is_faithful,
    quick_run,
    rng,
)
from hypothesis import given, strategies
from laws import draw_examples

from hornbook.errors import HornbookError
from hornbook.logic import HornTheory, Rule
from hornbook.queries import Budget, Counted, Estimated, Random, Unknown, extract
from hornbook.queries.completions import Completions
from hornbook.queries.trace import read_trace

SCENARIOS = {  # the teacher, settings, options, and what must happen on the way
    "exact": (THEORY.satisfied_by, {}, {}, {"stored", "added"}),
    "completions": (
        partial(Completions(THEORY.vocabulary, 4, rng=rng()).accept_some, THEORY.satisfied_by),
        {"min_precision": 1.0, "budget": Budget(equivalence_queries=5), "seed": 1},
        {},
        {"failed", "given_up"},
    ),
    "mistaken": (
        Mistaken(THEORY.satisfied_by, 0, 0.03),
        {"min_precision": 0.9, "seed": 2},
        {},
        {"added", "given_up"},
    ),
    "network": (NETWORK, {}, {}, {"sampling", "given_up"}),
    "refuting": (
        NETWORK,
        SCARCE | {"shares": {}, "budget": Budget(equivalence_queries=25), "seed": 2},
        {"margin": NETWORK.margin},
        {"rules", "sampling", "removed", "witness"},
    ),
    "hasty": (hasty, SCARCE | {"pool": 20, "seed": 1}, {}, {"sampling", "removed"}),
    "background": (
        THEORY.satisfied_by,
        {},
        {"background": HornTheory(THEORY.vocabulary, [Rule({0}, 1)])},
        {"sampling", "given_up"},
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_extract_killed_run_resumes_to_the_same_result(name, tmp_path):
    member, settings, options, expected = SCENARIOS[name]
    settings = replace(QUICK, tries=4, **{"budget": Budget(equivalence_queries=8), **settings})
    path = tmp_path / "trace.jsonl"
    whole = extract(member, PARTIAL, settings, trace=path, **options)
    text = path.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    assert read_trace(path)[1] == whole.trace.entries
    happened = [entry for entry in whole.trace.entries if "change" in entry]
    assert expected <= {
        word for entry in happened for word in (entry["counterexample"]["found_by"], *entry["change"])
    }
    half = len(lines) // 2
    middle = "".join(lines[:half])
    cuts = ["".join(lines[:2]), middle + lines[half][:40], "".join(lines[:-1]), text]
    if name == "exact":  # how a line ends is the same in every scenario
        cuts.append(middle.rstrip("\n"))
    for cut in cuts:
        path.write_text(cut, "utf-8")
        resumed = extract(member, PARTIAL, settings, trace=path, **options)
        assert resumed.theory.rules == whole.theory.rules
        assert resumed.trace.entries == whole.trace.entries
        assert read_trace(path)[1] == whole.trace.entries
        assert resumed.refuted == whole.refuted and resumed.frontier == whole.frontier
        assert (resumed.stop_reason, resumed.guarantee) == (whole.stop_reason, whole.guarantee)
        assert resumed.membership_queries == whole.membership_queries
        assert (resumed.statistics, resumed.coherence) == (whole.statistics, whole.coherence)


def test_extract_resumed_run_asks_less_and_can_be_killed_itself(tmp_path):
    path = tmp_path / "trace.jsonl"
    settings = replace(QUICK, size=100_000)
    counted = Counted(THEORY.satisfied_by)
    whole = extract(counted, PARTIAL, settings, trace=path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    stopped = extract(Failing(THEORY.satisfied_by, 10), PARTIAL, settings, trace=path)
    assert stopped.stop_reason.startswith("the model failed")
    assert path.read_text() == "".join(lines[:-1])  # nothing of the earlier run is lost
    again = Counted(THEORY.satisfied_by)
    assert extract(again, PARTIAL, settings, trace=path).theory == whole.theory
    assert again.questions < counted.questions


def test_extract_what_is_no_trace_is_refused_and_kept(tmp_path):
    path = tmp_path / "trace.jsonl"
    for text in ("some notes\n{}\n", '{"query": 1}\n'):
        path.write_text(text)
        with pytest.raises(HornbookError, match="line 1 is not as a run wrote it; remove the file"):
            extract(THEORY.satisfied_by, PARTIAL, QUICK, trace=path)
        assert path.read_text() == text


@pytest.fixture(scope="module")
def short_run(tmp_path_factory):
    """A run of two equivalence queries as arguments of `extract`, with the trace that it wrote."""
    path = tmp_path_factory.mktemp("short") / "trace.jsonl"
    short = replace(QUICK, budget=Budget(equivalence_queries=2))
    run = {"member": THEORY.satisfied_by, "distribution": PARTIAL, "settings": short, "trace": path}
    extract(**run)
    return run


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"settings": replace(QUICK, seed=1)}, "seed=0, not 1"),
        ({"settings": replace(QUICK, min_precision=0.5)}, "min_precision=0.9, not 0.5"),
        ({"distribution": Random(THEORY.vocabulary, missing=0.1)}, "distribution="),
        ({"heads": [3]}, r"heads=None, not \['v4'\]"),
        ({"background": HornTheory(THEORY.vocabulary, [Rule({0}, 1)])}, "background="),
    ],
)
def test_extract_trace_is_tied_to_its_settings(changed, named, short_run):
    text = short_run["trace"].read_text("utf-8")
    with pytest.raises(HornbookError, match=f"is the trace of a run with {named}.*or another file"):
        extract(**short_run | changed)
    assert short_run["trace"].read_text("utf-8") == text


def test_extract_trace_is_continued_with_a_larger_budget(short_run, tmp_path):
    path = tmp_path / "trace.jsonl"
    path.write_text(short_run["trace"].read_text("utf-8"), "utf-8")
    longer = extract(**short_run | {"settings": QUICK, "trace": path})
    assert longer.theory.rules == quick_run().theory.rules


def test_extract_time_spent_before_a_resumption_counts(tmp_path):
    path = tmp_path / "trace.jsonl"
    settings = replace(QUICK, budget=Budget(seconds=1000))
    extract(THEORY.satisfied_by, PARTIAL, settings, trace=path)
    header, first, *_ = path.read_text("utf-8").splitlines()
    path.write_text(f"{header}\n{first}\n")
    path.with_suffix(".seconds").write_text("1 1000.1\n2 2000\n")
    found = extract(THEORY.satisfied_by, PARTIAL, settings, trace=path)
    assert found.stop_reason == "budget of 1000 seconds" and found.trace.seconds > 1000


@pytest.fixture(scope="module")
def trace_lines(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "trace.jsonl"
    extract(NETWORK, PARTIAL, replace(QUICK, budget=Budget(equivalence_queries=8)), trace=path)
    return path.read_text("utf-8").splitlines(keepends=True)


@given(strategies.data())
@draw_examples(1.5)
def test_read_trace_refuses_lines_that_are_doubled_exchanged_lost_or_changed(trace_lines, data):
    number, other = (data.draw(strategies.integers(0, len(trace_lines) - 1)) for _ in range(2))
    changed = list(trace_lines)
    match data.draw(strategies.sampled_from(["double", "exchange", "lose", "change"])):
        case "double":
            changed.insert(other, changed[number])
        case "exchange":
            changed[number], changed[other] = changed[other], changed[number]
        case "lose":
            del changed[number]
        case "change":
            digits = [at for at, sign in enumerate(changed[number]) if sign.isalnum()]
            at = data.draw(strategies.sampled_from(digits))
            sign = data.draw(strategies.sampled_from("0123456789abcxyz"))
            changed[number] = changed[number][:at] + sign + changed[number][at + 1 :]
    lost_end = changed == trace_lines[: len(changed)]  # as if the run had been killed there
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.jsonl"
        path.write_text("".join(changed), "utf-8")
        if lost_end:
            assert len(read_trace(path)[1]) == max(len(changed) - 1, 0)
        else:
            with pytest.raises(HornbookError, match=r"line \d+ is not as a run wrote it"):
                read_trace(path)


def test_extract_a_second_process_on_the_same_trace_is_refused(tmp_path):
    path = tmp_path / "trace.jsonl"
    script = f"""
from pathlib import Path
from hornbook.storage import lock_folder
with lock_folder(Path({str(tmp_path)!r})):
    print("locked", flush=True)
    input()
"""
    with Popen([sys.executable, "-c", script], stdin=PIPE, stdout=PIPE, text=True) as other:
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(HornbookError, match="another process is at work in"):
            extract(THEORY.satisfied_by, PARTIAL, QUICK, trace=path)
        other.kill()  # a crash leaves no lock behind
    assert extract(THEORY.satisfied_by, PARTIAL, QUICK, trace=path).stop_reason == "equivalent"


class Interrupting(Failing):
    """Is interrupted at a certain question."""

    def __call__(self, batch):
        try:
            return super().__call__(batch)
        except RuntimeError:
            raise KeyboardInterrupt from None


def test_extract_interrupt_keeps_what_was_learned(tmp_path):
    one_by_one = replace(QUICK, tries=1, seed=1)
    whole = extract(THEORY.satisfied_by, PARTIAL, one_by_one)
    counts = [entry["membership_queries"] for entry in whole.trace.entries]
    assert len(counts) > 4
    path = tmp_path / "trace.jsonl"
    found = extract(Interrupting(THEORY.satisfied_by, counts[2] + 1), PARTIAL, one_by_one, trace=path)
    assert found.stop_reason == "interrupted"
    assert found.trace.entries == whole.trace.entries[:3]
    assert found.theory.rules == whole.theory.rules[:3] and found.frontier == whole.frontier[:3]
    assert isinstance(found.guarantee, Estimated) and is_faithful(found, THEORY.satisfied_by, PARTIAL)
    assert extract(THEORY.satisfied_by, PARTIAL, one_by_one, trace=path).theory == whole.theory


def test_extract_interrupt_before_anything_was_learned():
    found = extract(Interrupting(THEORY.satisfied_by, 1), PARTIAL, QUICK)
    assert found.stop_reason == "interrupted" and not found.rules
    assert found.guarantee == Unknown("nothing was measured (interrupted)")
