"""Runs that were killed or interrupted, and go on from their trace."""

import json
from dataclasses import replace

import pytest
from extractions import (
    NETWORK,
    PARTIAL,
    QUICK,
    SCARCE,
    THEORY,
    hasty,
    is_faithful,
    local_search,
    rare_margin,
    rng,
    without_seconds,
)

from hornbook.distributions import Random
from hornbook.errors import HornbookError
from hornbook.learners import extract
from hornbook.logic import HornTheory, Rule
from hornbook.oracles import Completions, Counted
from hornbook.queries import Budget, Estimated, Unknown
from hornbook.testing import Failing, Mistaken
from hornbook.trace import read_trace

SCENARIOS = {  # the teacher, settings, options, and what must happen on the way
    "exact": (THEORY.satisfied_by, {}, {}, {"stored", "added"}),
    "completions": (
        Completions(THEORY.satisfied_by, THEORY.vocabulary, 16, rng=rng()),
        {"min_precision": 1.0, "budget": Budget(equivalence_queries=9)},
        {},
        {"failed", "given_up"},
    ),
    "mistaken": (
        Mistaken(THEORY.satisfied_by, 0, 0.03),
        {"min_precision": 0.9, "seed": 2},
        {},
        {"refined", "given_up"},
    ),
    "network": (NETWORK, {}, {}, {"sampling", "given_up"}),
    "refuting": (
        NETWORK,
        SCARCE | {"shares": {}},
        {"margin": NETWORK.margin},
        {"rules", "sampling", "removed", "witness"},
    ),
    "hasty": (hasty, SCARCE | {"pool": 20}, {}, {"sampling", "removed"}),
    "local_search": (
        lambda batch: rare_margin(batch) >= 0,
        {"pool": 50, "size": 50},
        {"margin": rare_margin, "local_search": local_search},
        {"local search", "added"},
    ),
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
    settings = replace(QUICK, **{"budget": Budget(equivalence_queries=30), **settings})
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
    cuts = ["".join(lines[:2]), middle + lines[half][:40], middle.rstrip("\n"), "".join(lines[:-1]), text]
    for cut in cuts:
        path.write_text(cut, "utf-8")
        resumed = extract(member, PARTIAL, settings, trace=path, **options)
        assert resumed.theory.rules == whole.theory.rules
        assert without_seconds(resumed.trace.entries) == without_seconds(whole.trace.entries)
        assert without_seconds(read_trace(path)[1]) == without_seconds(whole.trace.entries)
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
        with pytest.raises(HornbookError, match="line 1: not a trace; remove the file"):
            extract(THEORY.satisfied_by, PARTIAL, QUICK, trace=path)
        assert path.read_text() == text


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"settings": replace(QUICK, seed=1)}, "seed=0, not 1"),
        ({"settings": replace(QUICK, min_precision=0.5)}, "min_precision=0.9, not 0.5"),
        ({"distribution": Random(THEORY.vocabulary, missing=0.1)}, "distribution="),
        ({"heads": [3]}, r"heads=None, not \['v4'\]"),
        ({"background": HornTheory(THEORY.vocabulary, [Rule({0}, 1)])}, "background="),
        (
            {"local_search": lambda member, margin: local_search(member, margin)},
            "local_search=False, not True",
        ),
    ],
)
def test_extract_trace_is_tied_to_its_settings(changed, named, tmp_path):
    path = tmp_path / "trace.jsonl"
    short = replace(QUICK, budget=Budget(equivalence_queries=2))
    run = {"member": THEORY.satisfied_by, "distribution": PARTIAL, "settings": short, "trace": path}
    extract(**run)
    text = path.read_text("utf-8")
    with pytest.raises(HornbookError, match=f"is the trace of a run with {named}.*or another file"):
        extract(**run | changed)
    assert path.read_text("utf-8") == text
    longer = extract(**run | {"settings": QUICK})
    assert longer.theory.rules == extract(THEORY.satisfied_by, PARTIAL, QUICK).theory.rules


def test_extract_time_spent_before_a_resumption_counts(tmp_path):
    path = tmp_path / "trace.jsonl"
    settings = replace(QUICK, budget=Budget(seconds=1000))
    extract(THEORY.satisfied_by, PARTIAL, settings, trace=path)
    header, first, *_ = path.read_text("utf-8").splitlines()
    late = json.dumps(json.loads(first) | {"seconds": 999.9})
    path.write_text(f"{header}\n{late}\n")
    settings = replace(QUICK, budget=Budget(seconds=1000), size=10**9)
    path.write_text(path.read_text().replace('"size": 3000', '"size": 1000000000'))
    found = extract(THEORY.satisfied_by, PARTIAL, settings, trace=path)
    assert found.stop_reason == "budget of 1000 seconds" and found.trace.seconds > 1000


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
    assert without_seconds(found.trace.entries) == without_seconds(whole.trace.entries[:3])
    assert found.theory.rules == whole.theory.rules[:3] and found.frontier == whole.frontier[:3]
    assert isinstance(found.guarantee, Estimated) and is_faithful(found, THEORY.satisfied_by, PARTIAL)
    assert extract(THEORY.satisfied_by, PARTIAL, one_by_one, trace=path).theory == whole.theory


def test_extract_interrupt_before_anything_was_learned():
    found = extract(Interrupting(THEORY.satisfied_by, 1), PARTIAL, QUICK)
    assert found.stop_reason == "interrupted" and not found.rules
    assert found.guarantee == Unknown("nothing was measured (interrupted)")
