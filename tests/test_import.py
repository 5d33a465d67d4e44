"""Imports are light: a library is loaded when it is used."""

import json
import subprocess
import sys

import pytest

import hornbook

HEAVY = {"jinja2", "joblib", "matplotlib", "pandas", "pyarrow", "scipy", "sklearn", "torch"}


def loaded_by(modules: str) -> set[str]:
    """The top-level modules that a fresh process has after importing these."""
    code = f"import {modules}, json, sys; print(json.dumps([n.partition('.')[0] for n in sys.modules]))"
    return set(json.loads(subprocess.check_output([sys.executable, "-c", code], text=True)))


def test_hornbook_and_its_command_line_load_no_numerical_library():
    assert not loaded_by("hornbook") & (HEAVY | {"numpy", "rich", "typer"})
    assert not loaded_by("hornbook.cli") & (HEAVY | {"numpy"})


def test_packages_of_hornbook_load_numpy_alone():
    loaded = loaded_by("hornbook.logic, hornbook.data, hornbook.paper, hornbook.testing")
    assert "numpy" in loaded
    assert not loaded & (HEAVY | {"hypothesis", "rich", "typer"})


def test_hornbook_learn_loads_no_table_and_no_model_library():
    assert not loaded_by("hornbook.cli, hornbook.learners, hornbook.oracles, hornbook.models") & HEAVY


def test_commands_about_a_kept_run_load_no_model_library():
    """They read a folder, and a table at most; importing scikit-learn alone would double their time."""
    needed = "hornbook.cli, hornbook.runs.folder, hornbook.runs.comparison, hornbook.explain.changes.finder"
    assert not loaded_by(f"{needed}, hornbook.report.page, hornbook.extraction.classifier") & {
        "sklearn",
        "torch",
    }


@pytest.mark.parametrize("name", hornbook.__all__)
def test_public_names_of_hornbook_exist(name):
    assert getattr(hornbook, name) is not None


def test_hornbook_refuses_names_that_it_does_not_have():
    with pytest.raises(AttributeError, match="no attribute 'Binarizer'"):
        _ = hornbook.Binarizer
