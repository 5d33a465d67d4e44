"""Commands that are killed, terminated or run twice at once; many more kills are in `benchmarks/kills.py`."""

import signal
import sys
import time
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from commands import runner
from patients import write_patients

from hornbook.storage import lock_folder

QUERY = ["query", "../patients.csv", "--target", "ill", "--model", "../tree.onnx", "--max-queries", "4"]


@pytest.fixture
def hornbook(capsys, monkeypatch):
    return runner(capsys, monkeypatch)


def read_files(folder):
    """The content of each file of a run, but for those of times, and of the command that was given."""
    of_times = {"seconds.json", "trace.seconds", ".lock", "config.json"}
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in of_times}


def count_lines(path):
    return path.read_text().count("\n") if path.exists() else 1


def test_query_killed_and_terminated_goes_on_to_the_same_bytes(hornbook, tmp_path, monkeypatch):
    write_patients(tmp_path)
    folders = whole, stopped = tmp_path / "whole" / "run", tmp_path / "stopped" / "run"
    for folder in folders:
        folder.parent.mkdir()
    command = [sys.executable, "-m", "hornbook", *QUERY, "-o", "run"]
    for sent, code in ((signal.SIGKILL, -9), (signal.SIGTERM, 130)):
        before = count_lines(stopped / "trace.jsonl")
        process = Popen(command, stdout=PIPE, stderr=PIPE, cwd=stopped.parent)
        while process.poll() is None and count_lines(stopped / "trace.jsonl") <= before:
            time.sleep(0.01)
        process.send_signal(sent)
        process.communicate()
        assert process.returncode in (code, 0)  # 0 if it ended before the signal came
    for folder in folders:
        monkeypatch.chdir(folder.parent)
        done = hornbook(*QUERY, "-o", "run")
        assert done.returncode == 0 or "it is finished" in done.stderr
    assert read_files(stopped) == read_files(whole)


def test_query_in_a_folder_where_another_process_works_is_refused(hornbook, tmp_path):
    script = (
        "import sys; from pathlib import Path; from hornbook.storage import lock_folder\n"
        "with lock_folder(Path(sys.argv[1])): print('locked', flush=True); input()"
    )
    with Popen([sys.executable, "-c", script, str(tmp_path)], stdin=PIPE, stdout=PIPE, text=True) as other:
        assert other.stdout.readline() == "locked\n"
        done = hornbook("query", "iris", "--train", "-o", tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"another process is at work in {tmp_path}; wait until it has ended" in done.stderr
        other.kill()
    with lock_folder(Path(tmp_path)):
        pass  # a crash leaves no lock behind
