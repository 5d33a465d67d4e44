"""The command line, as a user meets it."""

import json
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest
from commands import is_one_line

from hornbook import __version__
from hornbook.logic import HornTheory, random_theory
from hornbook.queries import PerfectTeacher


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "target.horn"
    path.write_text(random_theory(30, 12, (2, 4), np.random.default_rng(1)).to_text())
    return path


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--learner", "horn1"],
    ],
)
def test_learning_a_known_theory(target, options, hornbook):
    done = hornbook("learn", target, "--json", *options)
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["equivalent"] is True and result["guarantee"] == "exact"
    assert set(result) == {
        "learned", "equivalent", "guarantee", "equivalence_queries", "membership_queries", "seconds",
    }  # fmt: skip
    theory = HornTheory.parse(target.read_text())
    assert HornTheory.parse("\n".join(result["learned"]), theory.vocabulary).equivalent(theory)


def test_a_teacher_that_is_not_horn_gives_one_line_and_exit_code_2(hornbook, monkeypatch):
    monkeypatch.setattr(PerfectTeacher, "member", lambda teacher, batch: np.zeros(len(batch), bool))
    done = hornbook("learn", "--learner", "horn1")
    assert is_one_line(done) and "the teacher is not Horn: it accepts {" in done.stderr


def test_the_output_without_json_is_a_theory_again(target, hornbook):
    done = hornbook("learn", target)
    assert "# equivalent to the target: yes" in done.stdout
    theory = HornTheory.parse(target.read_text())
    assert HornTheory.parse(done.stdout, theory.vocabulary).equivalent(theory)


def test_a_pipe_feeds_the_learner(target):
    command = [sys.executable, "-m", "hornbook", "learn", "/dev/stdin", "--json"]
    done = subprocess.run(command, input=target.read_text(), capture_output=True, text=True, timeout=120)
    assert json.loads(done.stdout)["equivalent"]


def test_without_a_file_the_example_is_learned(hornbook):
    done = hornbook("learn")
    assert done.returncode == 0 and "horse ∧ wings → pegasus" in done.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no rules; write one rule per line"),
        (b"# only a comment\n", "holds no rules"),
        (b"a -> b\na & -> c\n", "bad.horn, line 2, column 5: expected a name before '->'"),
        (b"\xff\xfea -> b", "is not UTF-8 text: byte 0 is 0xff"),
        (b"a b c", "line 1, column 6: expected '->' and a head"),
    ],
)
def test_bad_files_give_one_line_and_exit_code_2(tmp_path, content, message, hornbook):
    path = tmp_path / "bad.horn"
    path.write_bytes(content)
    done = hornbook("learn", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn", "missing.horn"], "cannot read missing.horn: No such file or directory"),
        (["learn", "."], "cannot read .: Is a directory"),
        (["learn", "--learner", "magic"], "magic"),
        (["learn", "--learner", "prime"], "prime learns about models"),
        (["lern"], "lern"),
    ],
)
def test_wrong_usage_gives_exit_code_2(tmp_path, arguments, message, hornbook, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = hornbook(*arguments)
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


def test_a_fault_of_ours_is_one_line_with_exit_code_4_and_a_traceback_in_a_file(hornbook, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("the moon\nis full")

    monkeypatch.setattr("hornbook.cli.predict.read_pairs", fail)
    monkeypatch.setattr("hornbook.runs.Run.load", lambda *_: MagicMock())
    done = hornbook("explain", "run", "--set", "age=1")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)
    said = re.fullmatch(
        r"hornbook: this is a fault of hornbook, please report it: ZeroDivisionError: the moon is full "
        r"\(the traceback is in (.+)\)\n",
        done.stderr,
    )
    path = Path(said[1])
    assert "in fail" in path.read_text()
    path.unlink()


def test_reproduce_without_torch_says_what_to_install(hornbook, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    done = hornbook("reproduce", "-o", tmp_path / "run")
    assert is_one_line(done) and 'this needs torch: pip install "hornbook[torch]"' in done.stderr
    assert not (tmp_path / "run").exists()


def test_version_and_help(hornbook):
    assert hornbook("--version").stdout == f"hornbook {__version__}\n"
    assert "Example" in hornbook("learn", "--help").stdout


def test_the_command_line_starts_without_heavy_libraries():
    heavy = {"pandas", "sklearn", "scipy", "torch", "matplotlib"}
    code = f"import sys, hornbook.cli; print(*{heavy} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
