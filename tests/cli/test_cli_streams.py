"""Where commands write to: a full disk, a full or closed standard output, terminals without some letters."""

import errno
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager

import pandas as pd
import pytest
from commands import is_one_line
from sklearn.tree import DecisionTreeClassifier

from hornbook import Explainer
from hornbook.__main__ import main
from hornbook.storage import lock_folder, write_file


@pytest.fixture(scope="module")
def kept_run(tmp_path_factory):
    rows = pd.DataFrame({"age": range(20, 80)})
    model = DecisionTreeClassifier().fit(rows, rows.age > 50)
    run = tmp_path_factory.mktemp("kept") / "run"
    Explainer(model, rows).extract(form="tree", n_samples=200, max_literals=2).save(run)
    return run


@pytest.fixture
def run_folder(kept_run, tmp_path):
    return shutil.copytree(kept_run, tmp_path / "run")


@contextmanager
def limit_files(size):
    """Let no file grow beyond a size: writing fails as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 100, 5000])
def test_show_on_a_full_disk_is_one_line_and_leaves_nothing(size, hornbook, run_folder, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    with limit_files(size):
        done = hornbook("show", run_folder, "--format", "html", "-o", tmp_path / "page.html")
    assert is_one_line(done) and f"cannot write to {tmp_path / 'page.html'}" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


@pytest.fixture
def read_only_folder(tmp_path):
    """A folder that this process cannot write to; skips where there is no such thing.

    Root may write where permissions say no, so the folder is made immutable, too.
    """
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    change = shutil.which("chattr")
    if change:
        subprocess.run([change, "+i", folder], stderr=subprocess.DEVNULL)
    try:
        (folder / "probe").touch()
        pytest.skip("the system lets this process write to any folder")
    except OSError:
        yield folder
    finally:
        if change:
            subprocess.run([change, "-i", folder], stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("command", [("extract", "iris", "--train"), ("learn", "iris", "--train")])
def test_command_into_a_read_only_folder_is_one_line(command, hornbook, read_only_folder):
    done = hornbook(*command, "-o", read_only_folder / "new")
    assert is_one_line(done) and f"cannot write to {read_only_folder / 'new'}" in done.stderr


def test_show_into_a_lost_folder_is_one_line(hornbook, run_folder, tmp_path):
    assert is_one_line(hornbook("show", run_folder, "-o", tmp_path / "lost" / "page.txt"))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_standard_output_that_is_full_or_closed_or_lacks_letters():
    command = [sys.executable, "-m", "hornbook"]
    with open("/dev/full", "w") as full:
        done = subprocess.run([*command, "--version"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, f"hornbook: standard output: {os.strerror(errno.ENOSPC)}\n")
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{shlex.join(command)} --help | true"], capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")  # a reader that has gone is no error
    latin = os.environ | {"PYTHONIOENCODING": "latin-1"}
    done = subprocess.run([*command, "learn", "∅"], capture_output=True, env=latin)
    assert done.returncode == 2 and b"cannot read \\u2205" in done.stderr


def test_lock_folder_removes_what_a_killed_process_left_unfinished(tmp_path):
    (tmp_path / "rules.horn.hornbook-unfinished").write_text("half of")
    (tmp_path / "mine.new").write_text("a file of the user")
    with lock_folder(tmp_path):
        write_file(tmp_path / "rules.horn", "")
    assert {path.name for path in tmp_path.iterdir()} == {".lock", "mine.new", "rules.horn"}


def test_interrupt_while_commands_are_imported_is_one_line(capsys, monkeypatch):
    class Interrupted:
        def __getattr__(self, name):
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setitem(sys.modules, "hornbook.cli", Interrupted())
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (ended.value.code, capsys.readouterr().err) == (130, "hornbook: interrupted\n")


@pytest.mark.parametrize("command", ["--version", "--help", "extract --help", "learn", "learn --json"])
def test_output_that_nobody_reads_is_no_error(command, hornbook, monkeypatch):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", encoding="utf-8") as output, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", output)
        done = hornbook(*command.split())
    assert (done.returncode, done.stderr) == (0, "")


def interrupt(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("function", "command"),
    [
        ("hornbook.queries.lrn_star", "learn"),
        ("hornbook.models.train_pipeline", "extract iris --train"),
        ("hornbook.queries.train_classifier", "learn breast-cancer --train"),
    ],
)
def test_interrupted_command_says_so_in_one_line(function, command, hornbook, monkeypatch):
    monkeypatch.setattr(function, interrupt)
    done = hornbook(*command.split())
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "hornbook: interrupted\n")
