"""The command line, run in this process, which has imported all the libraries already."""

import os
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context

import pytest
import typer.main

from hornbook import __main__
from hornbook.cli import main

LESS_WORK = {
    "hornbook.checks.claim_check.SEARCH_STEPS": 3,
    "hornbook.reasons.reasoner.MEASURED_SAMPLES": 500,
    "hornbook.reasons.search.CHECK_SAMPLES": 1000,
    "hornbook.extraction.explaining.EVALUATION_SAMPLES": 1000,
    "hornbook.extraction.learning.FRESH_SAMPLES": 1000,
    "hornbook.extraction.learning.POOL_SAMPLES": 1000,
    "hornbook.models.training.ROUNDS": 20,
}
"""Limits of searches and measures in commands, below those that users have."""

get_command = cache(typer.main.get_command)
"""The commands with all their options, which are made from signatures once instead of in every run."""


@dataclass
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def runner(capsys, monkeypatch):
    """A function that runs a command, on few samples, and says how it ended.

    With `--train` it trains few trees; `tests/models/test_training.py` has all of them.
    """
    work_less(monkeypatch)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["hornbook", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(ended.value.code or 0, *capsys.readouterr())

    return run


def work_less(monkeypatch):
    """Let commands do less work than users have them do, and make no options anew."""
    monkeypatch.setattr(typer.main, "get_command", get_command)
    for name, limit in LESS_WORK.items():
        monkeypatch.setattr(name, limit)


def run_all(*commands):
    """Run commands that have to succeed, as where runs are made once for several tests."""
    with pytest.MonkeyPatch.context() as patch:
        work_less(patch)
        for arguments in commands:
            patch.setattr(sys, "argv", ["hornbook", *map(str, arguments)])
            with pytest.raises(SystemExit) as ended:
                main()
            assert not ended.value.code


def start(*arguments):
    """Start a command in a process of its own, forked from one that has imported what takes long."""
    context = get_context("forkserver")
    context.set_forkserver_preload(
        [
            "pytest",
            "hornbook.checks",
            "hornbook.diff",
            "hornbook.reasons",
            "hornbook.explainer",
            "hornbook.runs",
        ]
    )
    process = context.Process(target=_run_in_silence, args=arguments)
    process.start()
    return process


def _run_in_silence(*arguments):
    work_less(pytest.MonkeyPatch())
    sys.argv = ["hornbook", *map(str, arguments)]
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        __main__.main()


def is_one_line(done):
    """Whether a command refused its input in one line, and said nothing else."""
    return (
        (done.returncode, done.stdout) == (2, "")
        and done.stderr.startswith("hornbook: ")
        and done.stderr.count("\n") == 1
    )
