"""Runs that were killed or interrupted, and go on from their trace."""

import shutil
import sys
from dataclasses import replace
from subprocess import PIPE, Popen

import numpy as np
import pytest
from difficult_teachers import Failing, Mistaken
from extractions import (
    NETWORK,
    PARTIAL,
    QUICK,
    SCARCE,
    THEORY,
    hasty,
    quick_run,
)

from hornbook.errors import HornbookError
from hornbook.logic import HornTheory, Rule, random_theory
from hornbook.queries import Budget, Counted, Random, Unknown, run_learner
from hornbook.queries.run import COMPARED_ANSWERS

SCENARIOS = {  # the teacher, settings and options
    "exact": (THEORY.satisfied_by, {}, {}),
    "mistaken": (Mistaken(THEORY.satisfied_by, 0, 0.03), {"seed": 2}, {}),
    "network": (NETWORK, {}, {}),
    "hasty": (hasty, SCARCE | {"pool": 20, "seed": 1}, {}),
    "background": (
        THEORY.satisfied_by,
        {},
        {"background": HornTheory(THEORY.vocabulary, [Rule({0}, 1)])},
    ),
    "lrn_star": (THEORY.satisfied_by, {"learner": "lrn_star"}, {}),
    "horn1": (THEORY.satisfied_by, {"learner": "horn1"}, {}),
    "timed": (NETWORK, {"budget": Budget(8, seconds=1000)}, {}),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_extract_killed_run_resumes_to_the_same_result(name, tmp_path):
    member, settings, options = SCENARIOS[name]
    settings = replace(QUICK, **{"budget": Budget(equivalence_queries=8), **settings})
    path, answers = tmp_path / "trace.jsonl", tmp_path / "trace.answers"
    whole = run_learner(member, PARTIAL, settings, trace=path, **options)
    assert whole == run_learner(member, PARTIAL, settings, **options)
    lines, given = path.read_text("utf-8"), answers.read_bytes()
    assert len(given) == whole.membership_queries
    for cut in (0, 1, len(given) // 2, len(given) - 1, len(given)):
        path.write_text(lines[: len(lines) * cut // len(given)], "utf-8")
        answers.write_bytes(given[:cut])
        counted = Counted(member)
        assert run_learner(counted, PARTIAL, settings, trace=path, **options) == whole
        assert 0 <= counted.questions - (len(given) - cut) <= COMPARED_ANSWERS
        assert (path.read_text("utf-8"), answers.read_bytes()) == (lines, given)


def test_extract_of_another_teacher_does_not_go_on_from_the_answers_of_the_first(tmp_path):
    path, short = tmp_path / "trace.jsonl", replace(QUICK, budget=Budget(equivalence_queries=2))
    run_learner(THEORY.satisfied_by, PARTIAL, short, trace=path)
    other = random_theory(12, 6, (2, 3), np.random.default_rng(9)).satisfied_by
    found = run_learner(other, PARTIAL, QUICK, trace=path)
    assert found == run_learner(other, PARTIAL, QUICK)
    assert path.with_suffix(".answers").stat().st_size == found.membership_queries


def test_extract_resumed_run_can_be_killed_itself(tmp_path):
    path = tmp_path / "trace.jsonl"
    whole = run_learner(THEORY.satisfied_by, PARTIAL, QUICK)
    for at in (2010, 10):
        stopped = run_learner(Failing(THEORY.satisfied_by, at), PARTIAL, QUICK, trace=path)
        assert stopped.stop_reason.startswith("the model failed")
        assert path.with_suffix(".answers").stat().st_size >= 2000  # nothing of the earlier run is lost
    assert run_learner(THEORY.satisfied_by, PARTIAL, QUICK, trace=path) == whole


def test_extract_what_is_no_trace_is_refused_and_kept(tmp_path):
    path = tmp_path / "trace.jsonl"
    for text in ("some notes\n{}\n", '{"query": 1}\n'):
        path.write_text(text)
        with pytest.raises(HornbookError, match="is not the trace of a run with these settings"):
            run_learner(THEORY.satisfied_by, PARTIAL, QUICK, trace=path)
        assert path.read_text() == text


@pytest.fixture(scope="module")
def short_run(tmp_path_factory):
    """A run of two equivalence queries as arguments of `extract`, with the trace that it wrote."""
    path = tmp_path_factory.mktemp("short") / "trace.jsonl"
    short = replace(QUICK, budget=Budget(equivalence_queries=2))
    run = {"member": THEORY.satisfied_by, "distribution": PARTIAL, "settings": short, "trace": path}
    run_learner(**run)
    return run


@pytest.mark.parametrize(
    "changed",
    [
        {"settings": replace(QUICK, seed=1)},
        {"settings": replace(QUICK, min_precision=0.5)},
        {"distribution": Random(THEORY.vocabulary, missing=0.1)},
        {"heads": [3]},
        {"background": HornTheory(THEORY.vocabulary, [Rule({0}, 1)])},
    ],
)
def test_extract_trace_is_tied_to_its_settings(changed, short_run):
    text = short_run["trace"].read_text("utf-8")
    with pytest.raises(HornbookError, match="is not the trace of a run with these settings"):
        run_learner(**short_run | changed)
    assert short_run["trace"].read_text("utf-8") == text


def test_extract_begins_anew_where_the_trace_was_removed(short_run, tmp_path):
    for file in short_run["trace"].parent.glob("trace.*"):
        shutil.copy(file, tmp_path)
    (tmp_path / "trace.jsonl").unlink()
    other = {"settings": replace(short_run["settings"], seed=1)}
    found = run_learner(**short_run | other | {"trace": tmp_path / "trace.jsonl"})
    assert found == run_learner(**short_run | other | {"trace": None})


def test_extract_trace_is_continued_with_a_larger_budget(short_run, tmp_path):
    path = tmp_path / "trace.jsonl"
    for file in short_run["trace"].parent.glob("trace.*"):
        shutil.copy(file, tmp_path)
    longer = run_learner(**short_run | {"settings": QUICK, "trace": path})
    assert longer == quick_run()


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
            run_learner(THEORY.satisfied_by, PARTIAL, QUICK, trace=path)
        other.kill()  # a crash leaves no lock behind
    assert run_learner(THEORY.satisfied_by, PARTIAL, QUICK, trace=path).stop_reason == "equivalent"


class Interrupting(Failing):
    """Is interrupted at a certain question."""

    def __call__(self, batch):
        try:
            return super().__call__(batch)
        except RuntimeError:
            raise KeyboardInterrupt from None


def test_extract_interrupt_keeps_what_was_learned(tmp_path):
    whole = run_learner(THEORY.satisfied_by, PARTIAL, QUICK)
    counts = [entry["membership_queries"] for entry in whole.entries]
    path = tmp_path / "trace.jsonl"
    found = run_learner(Interrupting(THEORY.satisfied_by, counts[1] + 1), PARTIAL, QUICK, trace=path)
    assert found.stop_reason == "interrupted" and found.guarantee == Unknown("interrupted")
    assert found.entries == whole.entries[:2] and found.rules and THEORY.entails(found.theory)
    assert run_learner(THEORY.satisfied_by, PARTIAL, QUICK, trace=path) == whole


def test_extract_interrupt_before_anything_was_learned():
    found = run_learner(Interrupting(THEORY.satisfied_by, 1), PARTIAL, QUICK)
    assert found.stop_reason == "interrupted" and not found.rules
    assert found.guarantee == Unknown("interrupted")
