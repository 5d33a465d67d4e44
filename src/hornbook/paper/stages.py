"""Resumable stages of a run, each with its folder and manifest, progress on the terminal, and workers."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import joblib

import hornbook
from hornbook.deadline import Stopwatch
from hornbook.errors import HornbookError
from hornbook.storage import read_json, write_errors, write_file

Item = TypeVar("Item")
Result = TypeVar("Result")

WATCH_INTERVAL = 0.5
"""Seconds between a worker's looks at its parent."""


def parallel_map(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None
) -> Generator[Result]:
    """Yield `function(item)` for each item, in order, as soon as results are known.

    Parameters
    ----------
    function
        The function. It is pickled with its bound arguments, such as the model in `partial(judge, model)`.
    items
        The arguments.
    n_jobs
        The number of processes; -1 is one per core. None is one process, or the workers of
        `joblib.parallel_config`, whose Ray backend gives all results at the end.

    Examples
    --------
    >>> from functools import partial
    >>> list(parallel_map(partial(pow, 2), [1, 2, 3, 4]))
    [2, 4, 8, 16]

    """
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    streams = get_active_backend()[0].supports_return_generator
    parallel = Parallel(n_jobs, return_as="generator" if streams else "list")
    try:
        yield from parallel(delayed(_work)(function, item, os.getpid()) for item in items)
    except BrokenProcessPool as loss:
        raise HornbookError(
            "a worker process was killed; run the same again, which goes on with what is saved, and if "
            "memory is short with fewer workers"
        ) from loss


def _work(function: Callable[[Item], Result], item: Item, parent: int) -> Result:
    """Apply the function, in a worker that ends with its parent."""
    if os.getppid() == parent:
        _end_with(parent)
    return function(item)


@cache
def _end_with(parent: int) -> None:
    """End this process within a second of its parent, however that ends: a killed one tells nobody."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_INTERVAL)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def show_progress(items: Iterable[Item], total: int, title: str) -> Iterator[Item]:
    """Pass items on, with a progress bar on standard error if that is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        yield from progress.track(items, total, description=title)


MANIFEST, TIMES, UNFINISHED = "stage.json", "seconds.json", ".part"


@dataclass(frozen=True)
class Stage:
    """One step of a run.

    Parameters
    ----------
    name
        Its name, which is also its folder within the run folder.
    work
        A picklable function that writes its files into a folder.
    inputs
        The settings that determine what it writes, as JSON.
    after
        The names of the stages whose files it reads.

    """

    name: str
    work: Callable[[Path], None]
    inputs: Mapping[str, Any]
    after: tuple[str, ...] = ()


class StageRunner:
    """Runs the stages of a run folder, except those that are already finished.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> def count(folder):
    ...     print("counting")
    ...     write_json(folder / "count.json", {"horses": 3})
    >>> with TemporaryDirectory() as folder:
    ...     runner = StageRunner(Path(folder))
    ...     runner.run_stages([Stage("count", count, {"of": "horses"})])
    ...     runner.run_stages([Stage("count", count, {"of": "horses"})])
    ...     read_json(runner.folder / "count" / "count.json")
    counting
    {'horses': 3}

    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run_stages(self, stages: Sequence[Stage], processes: int = 1) -> None:
        """Run the unfinished stages in parallel; none of them may depend on another."""
        pending = [(stage, self.checksum(stage)) for stage in stages if not self.is_finished(stage)]
        work = partial(_perform, self.folder, alone=processes == 1)
        done = map(work, pending) if processes == 1 else parallel_map(work, pending, processes)
        what = ", ".join(dict.fromkeys(stage.name.rpartition("/")[2] for stage, _ in pending))
        for _ in show_progress(done, len(pending), what) if pending else ():
            pass

    def is_finished(self, stage: Stage) -> bool:
        """Whether the stage ran with these inputs, and its files are unchanged."""
        manifest = self._manifest(stage.name)
        return (
            manifest is not None
            and manifest.get("inputs") == self.checksum(stage)
            and manifest.get("files") == _digests(self.folder / stage.name)
        )

    def checksum(self, stage: Stage) -> str:
        """A digest of everything that determines what the stage writes."""
        before = {}
        for name in stage.after:
            manifest = self._manifest(name)
            if manifest is None:
                raise HornbookError(f"stage {stage.name!r} comes after {name!r}, which is not finished")
            before[name] = manifest["files"]
        return _digest(_text([hornbook.__version__, stage.name, stage.inputs, before]).encode())

    def read_times(self, stage: Stage) -> dict[str, float]:
        """The times of a finished stage: `seconds` by the clock and `cpu` of its process."""
        times: dict[str, float] = read_json(self.folder / stage.name / TIMES)
        return times

    def _manifest(self, name: str) -> dict[str, Any] | None:
        try:
            manifest = read_json(self.folder / name / MANIFEST)
        except HornbookError:
            return None
        return manifest if isinstance(manifest, dict) else None


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON; the same value gives the same bytes."""
    write_file(path, _text(value))


def _perform(run: Path, pending: tuple[Stage, str], *, alone: bool) -> None:
    """Run one stage, in this or another process; beside others it has no workers of its own."""
    stage, checksum = pending
    folder = run / stage.name
    unfinished = folder.with_name(folder.name + UNFINISHED)
    with write_errors(folder):
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
    clock, busy = Stopwatch(), time.process_time()
    with nullcontext() if alone else joblib.parallel_config("sequential"):
        stage.work(unfinished)
    times = {"seconds": clock.elapsed, "cpu": time.process_time() - busy}
    write_json(unfinished / MANIFEST, {"inputs": checksum, "files": _digests(unfinished)})
    write_json(unfinished / TIMES, times)
    with write_errors(folder):
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
