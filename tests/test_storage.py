"""Files that are kept: whole or not at all, and a model of a run is looked at before it is loaded."""

import errno
import os
import pickle
from pathlib import Path

import pytest

from hornbook.errors import HornbookError
from hornbook.runs import Run
from hornbook.storage import append_line, cache_folder, read_json, write_file


def refuse_sync(descriptor):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_write_file_on_a_full_disk_keeps_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "metrics.json"
    write_file(path, '{"rows": 1}')
    monkeypatch.setattr(os, "fsync", refuse_sync)
    for write in (write_file, append_line):
        with pytest.raises(HornbookError, match="No space left on device; make room and run"):
            write(path if write is write_file else tmp_path / "trace.jsonl", "more")
    assert read_json(path) == {"rows": 1} and not list(tmp_path.glob("*unfinished"))


class Marker:
    """Leaves a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_run_refuses_a_pickle_of_another_run_before_it_runs(tmp_path):
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(Marker(tmp_path / "ran")))
    run = Run(tmp_path, {"model": {"path": str(path), "sha256": "0" * 64}}, None, {})
    with pytest.raises(HornbookError, match="has changed since the run was made"):
        run.load_model(path, trust_pickle=True)
    assert not (tmp_path / "ran").exists()


def test_cache_folder_is_where_the_user_says(monkeypatch):
    monkeypatch.setenv("HORNBOOK_CACHE", "somewhere")
    assert cache_folder() == Path("somewhere")
    monkeypatch.delenv("HORNBOOK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "xdg")
    assert cache_folder() == Path("xdg/hornbook")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "hornbook"
