"""Progress on the terminal, and silence everywhere else."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import hornbook
from hornbook.errors import HornbookError
from hornbook.parallel import parallel_map

Item = TypeVar("Item")

_silent = ContextVar("silent", default=False)


def tracked(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """The items, with a bar on standard error while they come if that is a terminal."""
    if _silent.get() or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        yield from progress.track(items, total, description=what)


@contextmanager
def silence() -> Iterator[None]:
    """No bars in here: a terminal has room for one at a time."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def announce(what: str) -> None:
    """A line on standard error if that is a terminal."""
    if sys.stderr.isatty() and not _silent.get():
        print(what, file=sys.stderr)


MANIFEST, TIMES, UNFINISHED = "stage.json", "seconds.json", ".part"


@dataclass(frozen=True)
class Stage:
    """One step of a run.

    Parameters
    ----------
    name
        What it is called, and its folder within the run's.
    work
        Writes its files into a folder; it must be picklable.
    inputs
        The settings that decide what it writes, ready for JSON.
    after
        The names of the stages whose files it reads.

    """

    name: str
    work: Callable[[Path], None]
    inputs: Mapping[str, Any]
    after: tuple[str, ...] = ()


class Workshop:
    """A run's folder, where stages are done unless they are finished.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> def count(folder):
    ...     print("counting")
    ...     write_json(folder / "count.json", {"horses": 3})
    >>> with TemporaryDirectory() as folder:
    ...     workshop = Workshop(Path(folder))
    ...     workshop.do([Stage("count", count, {"of": "horses"})])
    ...     workshop.do([Stage("count", count, {"of": "horses"})])
    ...     read_json(workshop.folder / "count" / "count.json")
    counting
    {'horses': 3}

    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def do(self, stages: Sequence[Stage], processes: int = 1) -> None:
        """Do what is not finished, side by side; none of the stages may be after another of them."""
        pending = [(stage, self.checksum(stage)) for stage in stages if not self.finished(stage)]
        if processes == 1:
            for stage, checksum in pending:
                announce(stage.name)
                _perform(self.folder, stage, checksum)
        elif pending:
            done = parallel_map(partial(_perform_silently, self.folder), pending, processes)
            what = ", ".join(dict.fromkeys(stage.name.rpartition("/")[2] for stage, _ in pending))
            for _ in tracked(done, len(pending), what):
                pass

    def finished(self, stage: Stage) -> bool:
        """Whether the stage was done with these inputs, and its files are still what they were."""
        manifest = self._manifest(stage.name)
        return (
            manifest is not None
            and manifest.get("inputs") == self.checksum(stage)
            and manifest.get("files") == _digests(self.folder / stage.name)
        )

    def checksum(self, stage: Stage) -> str:
        """A digest of everything that decides what the stage writes."""
        before = {}
        for name in stage.after:
            manifest = self._manifest(name)
            if manifest is None:
                raise HornbookError(f"stage {stage.name!r} comes after {name!r}, which is not finished")
            before[name] = manifest["files"]
        return _digest(_text([hornbook.__version__, stage.name, stage.inputs, before]).encode())

    def times(self, stage: Stage) -> dict[str, float]:
        """How long the finished stage took, `seconds` by the clock and `cpu` of its own process."""
        times: dict[str, float] = read_json(self.folder / stage.name / TIMES)
        return times

    def _manifest(self, name: str) -> dict[str, Any] | None:
        try:
            manifest = read_json(self.folder / name / MANIFEST)
        except (OSError, ValueError):
            return None
        return manifest if isinstance(manifest, dict) else None


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON; the same value gives the same bytes."""
    path.write_text(_text(value), "utf-8")


def read_json(path: Path) -> Any:
    """The value that a JSON file holds."""
    return json.loads(path.read_text("utf-8"))


def _perform_silently(run: Path, pending: tuple[Stage, str]) -> None:
    with silence():
        _perform(run, *pending)


def _perform(run: Path, stage: Stage, checksum: str) -> None:
    """Do one stage, here or in another process."""
    folder = run / stage.name
    unfinished = folder.with_name(folder.name + UNFINISHED)
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    start, busy = time.perf_counter(), time.process_time()
    stage.work(unfinished)
    times = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - busy}
    write_json(unfinished / MANIFEST, {"inputs": checksum, "files": _digests(unfinished)})
    write_json(unfinished / TIMES, times)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(unfinished, folder)


def _digests(folder: Path) -> dict[str, str]:
    """The digest of each file of a stage."""
    files = sorted(path for path in folder.iterdir() if path.name not in (MANIFEST, TIMES))
    return {path.name: _digest(path.read_bytes()) for path in files}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
