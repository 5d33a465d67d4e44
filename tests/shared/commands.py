"""The command line, run in this process, which has imported all the libraries already."""

import sys
from dataclasses import dataclass
from functools import cache

import pytest
import typer.main

from hornbook.cli import main
from hornbook.models import column_training

get_command = cache(typer.main.get_command)
"""The commands with all their options, which are made from signatures once instead of in every run."""


@dataclass
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def runner(capsys, monkeypatch):
    """A function that runs a command and says how it ended.

    With `--train` it chooses among one network; `tests/models/test_column_training.py` has all candidates.
    """
    monkeypatch.setattr(column_training, "HIDDEN_SIZES", column_training.HIDDEN_SIZES[:1])
    monkeypatch.setattr(column_training, "WEIGHT_DECAYS", column_training.WEIGHT_DECAYS[:1])

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["hornbook", *map(str, arguments)])
        monkeypatch.setattr(typer.main, "get_command", get_command)
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(ended.value.code or 0, *capsys.readouterr())

    return run


def is_one_line(done):
    """Whether a command refused its input in one line, and said nothing else."""
    return (
        (done.returncode, done.stdout) == (2, "")
        and done.stderr.startswith("hornbook: ")
        and done.stderr.count("\n") == 1
    )
