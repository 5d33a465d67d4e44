"""What several test modules share."""

import os
import sqlite3

import pytest
from browser import chromium
from hypothesis import settings

os.environ.pop("COLUMNS", None)  # commands print whole lines, unless a test says how wide a terminal is

# laws hold however busy the machine is; how long a test takes is for benchmarks to say. A run says the same
# of the same commit; pytest --hypothesis-profile thorough draws many more examples, others every time
settings.register_profile("hornbook", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("hornbook")


def pytest_collection_modifyitems(items):
    """Mark the tests that use a browser."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@pytest.fixture(scope="session", autouse=True)
def _disks_in_their_own_time():
    """Nothing waits until files are on the disk: no test cuts the power, and disks take seconds in all."""

    def connect(*arguments, connect=sqlite3.connect, **options):
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(sqlite3, "connect", connect)
        yield


@pytest.fixture(scope="session")
def browser():
    """One browser for all pages; tests that change its settings set them back."""
    with chromium() as started:
        yield started


@pytest.fixture
def hornbook(capsys, monkeypatch):
    """The command line, see `commands.runner`."""
    from commands import runner

    return runner(capsys, monkeypatch)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A table and models of it, see `patients.write_patients`; tests read it and write elsewhere."""
    from patients import write_patients

    return write_patients(tmp_path_factory.mktemp("patients"))
