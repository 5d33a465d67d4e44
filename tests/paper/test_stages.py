"""Stages: done once, done again when what decides them changes, and never half."""

import os
from pathlib import Path

import pytest

from hornbook.errors import HornbookError
from hornbook.paper.stages import Stage, StageRunner, show_progress, write_json
from hornbook.storage import read_json


class Copy:
    """Writes a word, after what an earlier stage wrote; counts how often it was asked."""

    def __init__(self, run, word, source=None):
        self.run, self.word, self.source, self.calls = run, word, source, 0

    def __call__(self, folder):
        self.calls += 1
        before = read_json(self.run / self.source / "words.json") if self.source else []
        write_json(folder / "words.json", [*before, self.word])


@pytest.fixture
def line(tmp_path):
    """Three stages, each after the one before."""
    works = [Copy(tmp_path, "a"), Copy(tmp_path, "b", "first"), Copy(tmp_path, "c", "part/second")]

    def stages(*inputs):
        names = ("first", "part/second", "third")
        after = ((), ("first",), ("part/second",))
        return [
            Stage(name, work, {"setting": setting}, before)
            for name, work, setting, before in zip(names, works, inputs, after, strict=True)
        ]

    return tmp_path, works, stages


def do_all(run, stages):
    runner = StageRunner(run)
    for stage in stages:
        runner.run_stages([stage])


def content(run, *, times=False):
    """Every file of a run but the times."""
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and (times or path.name != "seconds.json")
    }


def test_a_finished_stage_is_not_done_again(line):
    run, works, stages = line
    do_all(run, stages(1, 1, 1))
    kept = content(run, times=True)
    do_all(run, stages(1, 1, 1))
    assert [work.calls for work in works] == [1, 1, 1]
    assert content(run, times=True) == kept
    assert read_json(run / "third" / "words.json") == ["a", "b", "c"]


def test_a_changed_setting_redoes_its_stage_and_what_reads_other_files_now(line):
    run, works, stages = line
    do_all(run, stages(1, 1, 1))
    do_all(run, stages(1, 1, 2))
    assert [work.calls for work in works] == [1, 1, 2]
    works[0].word = "z"
    do_all(run, stages(2, 1, 2))
    assert [work.calls for work in works] == [2, 2, 3]
    assert read_json(run / "third" / "words.json") == ["z", "b", "c"]


def test_a_stage_that_writes_the_same_again_disturbs_none_after_it(line):
    run, works, stages = line
    do_all(run, stages(1, 1, 1))
    do_all(run, stages(1, 2, 1))
    assert [work.calls for work in works] == [1, 2, 1]


@pytest.mark.parametrize("damage", ["changed", "removed", "added", "no manifest", "broken manifest"])
def test_a_damaged_stage_is_redone(line, damage):
    run, works, stages = line
    do_all(run, stages(1, 1, 1))
    before = content(run)
    folder = run / "part" / "second"
    match damage:
        case "changed":
            (folder / "words.json").write_text("[]")
        case "removed":
            (folder / "words.json").unlink()
        case "added":
            (folder / "more.json").write_text("[]")
        case "no manifest":
            (folder / "stage.json").unlink()
        case "broken manifest":
            (folder / "stage.json").write_text('{"inputs": ')
    do_all(run, stages(1, 1, 1))
    assert [work.calls for work in works] == [1, 2, 1]
    assert content(run) == before


def test_stage_runner_what_was_interrupted_does_not_count(line):
    run, works, stages = line

    def interrupted(folder):
        write_json(folder / "words.json", ["half"])
        raise KeyboardInterrupt

    first, second, third = stages(1, 1, 1)
    broken = Stage(second.name, interrupted, second.inputs, second.after)
    with pytest.raises(KeyboardInterrupt):
        do_all(run, [first, broken, third])
    assert not StageRunner(run).is_finished(second)
    assert not (run / second.name).exists()
    do_all(run, [first, second, third])
    assert [work.calls for work in works] == [1, 1, 1]
    assert read_json(run / "third" / "words.json") == ["a", "b", "c"]
    assert not list(run.rglob("*.part"))


def test_a_stage_waits_for_those_it_reads(line):
    run, _, stages = line
    with pytest.raises(HornbookError, match="comes after 'first', which is not finished"):
        StageRunner(run).run_stages(stages(1, 1, 1)[1:2])


def write_process(folder: Path) -> None:
    write_json(folder / "process.json", os.getpid())


def test_stage_runner_side_by_side_the_same_is_written(tmp_path):
    stages = [Stage(f"stage-{number}", write_process, {}) for number in range(3)]
    StageRunner(tmp_path).run_stages(stages, processes=2)
    processes = {read_json(tmp_path / stage.name / "process.json") for stage in stages}
    assert os.getpid() not in processes
    assert all(StageRunner(tmp_path).is_finished(stage) for stage in stages)
    assert all(StageRunner(tmp_path).read_times(stage)["seconds"] > 0 for stage in stages)


def test_show_progress_bar_is_shown_on_a_terminal_only(capsys, monkeypatch):
    assert list(show_progress(iter("abc"), 3, "letters")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert list(show_progress(iter("abc"), 3, "letters")) == ["a", "b", "c"]
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "letters" in shown.err
