"""Commands that are killed, terminated or run twice at once; many more kills are in `benchmarks/kills.py`."""

import sys
import time
from pathlib import Path
from subprocess import PIPE, Popen

from commands import start

from hornbook.storage import lock_folder


def read_files(folder):
    """The content of each file of a run, but for those of times and of the command, and their seal."""
    of_times = {"seconds.json", "seal.json", ".lock", "config.json"}
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in of_times}


def count_lines(path):
    return path.read_text().count("\n") if path.exists() else 1


def test_query_killed_and_terminated_goes_on_to_the_same_bytes(hornbook, folder, tmp_path):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    model = ["--target", "ill", "--model", folder / "tree.pkl", "--trust-pickle"]
    query = ["learn", folder / "patients.csv", *model, "--max-queries", 4, "-o"]
    for stop, code in (("kill", -9), ("terminate", 130)):
        before = count_lines(stopped / "trace.jsonl")
        process = start(*query, stopped)
        while process.is_alive() and count_lines(stopped / "trace.jsonl") <= before:
            time.sleep(0.01)
        getattr(process, stop)()
        process.join()
        assert process.exitcode in (code, 0)  # 0 if it ended before the signal came
    for path in (whole, stopped):
        done = hornbook(*query, path)
        assert done.returncode == 0 or "it is finished" in done.stderr
    assert read_files(stopped) == read_files(whole)


def test_query_in_a_folder_where_another_process_works_is_refused(hornbook, tmp_path):
    script = (
        "import sys; from pathlib import Path; from hornbook.storage import lock_folder\n"
        "with lock_folder(Path(sys.argv[1])): print('locked', flush=True); input()"
    )
    with Popen([sys.executable, "-c", script, str(tmp_path)], stdin=PIPE, stdout=PIPE, text=True) as other:
        assert other.stdout.readline() == "locked\n"
        done = hornbook("learn", "iris", "--train", "-o", tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"another process is at work in {tmp_path}; wait until it has ended" in done.stderr
        other.kill()
    with lock_folder(Path(tmp_path)):
        pass  # a crash leaves no lock behind
