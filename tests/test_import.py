"""Imports are light: a library is loaded when it is used."""

import json
import subprocess
import sys

import pytest

import hornbook

HEAVY = {"jinja2", "joblib", "matplotlib", "pandas", "pyarrow", "scipy", "sklearn", "torch"}


def list_loaded(*imports: str) -> list[set[str]]:
    """The top-level modules that a fresh process has after each of several imports, one after another."""
    shown = "print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    code = "\n".join(["import json, sys", *(f"import {modules}\n{shown}" for modules in imports)])
    printed = subprocess.check_output([sys.executable, "-c", code], text=True)
    return [set(json.loads(line)) for line in printed.splitlines()]


@pytest.fixture(scope="module")
def loaded():
    return list_loaded(
        "hornbook",
        "hornbook.cli",
        "hornbook.queries, hornbook.models",
        "hornbook.runs.folder, hornbook.runs.comparison, hornbook.reasons.changes, "
        "hornbook.report.page, hornbook.extraction.explaining",
    )


def test_hornbook_and_its_command_line_load_no_numerical_library(loaded):
    assert not loaded[0] & (HEAVY | {"numpy", "rich", "typer"})
    assert not loaded[1] & (HEAVY | {"numpy"})


def test_packages_of_hornbook_load_numpy_alone():
    (loaded,) = list_loaded("hornbook.logic, hornbook.tables, hornbook.paper, hornbook.testing")
    assert "numpy" in loaded
    assert not loaded & (HEAVY | {"hypothesis", "rich", "typer"})


def test_hornbook_learn_loads_no_table_and_no_model_library(loaded):
    assert not loaded[2] & HEAVY


def test_commands_about_a_kept_run_load_no_model_library(loaded):
    """They read a folder, and a table at most; importing scikit-learn alone would double their time."""
    assert not loaded[3] & {"sklearn", "torch"}


@pytest.mark.parametrize("name", hornbook.__all__)
def test_public_names_of_hornbook_exist(name):
    assert getattr(hornbook, name) is not None


def test_hornbook_refuses_names_that_it_does_not_have():
    with pytest.raises(AttributeError, match="no attribute 'Binarizer'"):
        _ = hornbook.Binarizer
