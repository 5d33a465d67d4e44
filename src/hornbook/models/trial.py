"""Model files are tried in another process first: what a damaged file does there does no harm here.

The libraries that read model files trust them: a damaged file can end the process, never return, or
take all memory. So each file is loaded, and asked about some rows, by a process of its own with
limits on time and memory. That process is kept for the next file, since imports take seconds.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from select import select
from typing import Any

from hornbook.errors import HornbookError

TRIAL_SECONDS = 60.0
"""Seconds within which a file must be loaded, and one more for each megabyte that it has."""

TRIAL_WORK = 8
"""Seconds of a processor within which a file must be loaded, and one more for each megabyte."""

TRIAL_BYTES = 8 << 30
"""Memory that loading a file may take, and twenty times its size besides."""

TRIAL_ROWS = 256
"""Rows that a model is asked about."""

UNNEEDED_LIBRARIES = ("dask", "matplotlib", "pandas", "sklearn")
"""What libraries of boosters import where it is installed, for a second, and their own files do not need."""


def try_model_file(path: Path) -> None:
    """Load a model file in another process; refuse a file that it does not survive.

    Errors that the library reports by itself are not reported here: they come again when the file
    is loaded.
    """
    global _trial
    _trial = _trial if _trial is not None and _trial.is_alive else _Trial()
    size = path.stat().st_size
    outcome = _trial.ask(path, size, TRIAL_SECONDS + size / (1 << 20))
    if outcome is not None:
        raise HornbookError(
            f"{path} is no readable {path.suffix} model: loading it {outcome}; it is damaged, save it again"
        )


SIGXCPU = getattr(signal, "SIGXCPU", signal.SIGTERM)
"""The signal that ends a process that has worked too long; Windows has none."""


class _Trial:
    """The process that loads files."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "hornbook.models.trial"]
        paths = os.pathsep.join(path for path in sys.path if path)
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        )
        atexit.register(self.stop)

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def ask(self, path: Path, size: int, seconds: float) -> str | None:
        """What happened when the file was loaded, in words; None if nothing bad did."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with suppress(BrokenPipeError):  # a process that has ended gives no answer either
            self.process.stdin.write(json.dumps([str(path.resolve()), size]).encode() + b"\n")
        # pipes cannot be waited for on Windows, where there is no limit of time
        waits = os.name != "nt"
        if waits and not select([self.process.stdout], [], [], seconds)[0]:
            self.stop()
            return f"did not end within {seconds:.0f} seconds"
        answer = self.process.stdout.readline()
        if not answer:
            self.stop()
            return "does not end" if self.process.returncode == -SIGXCPU else "ends the process"
        return "takes more memory than such a file can need" if answer == b"memory\n" else None

    def stop(self) -> None:
        """End the process."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        atexit.unregister(self.stop)


_trial: _Trial | None = None


def serve_trials() -> None:
    """Load the files that are named on standard input, and answer a line for each."""
    for name in UNNEEDED_LIBRARIES:
        sys.modules[name] = None  # type: ignore[assignment]  # as if it were not installed
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is no answer
    for line in sys.stdin:
        path, size = json.loads(line)
        print(_load_and_ask(Path(path), size), file=answers, flush=True)


def _load_and_ask(path: Path, size: int) -> str:
    """Load a file and ask the model about random rows: `fine`, or `memory` if that does not suffice."""
    from hornbook.models.loading import READERS

    _limit_process(TRIAL_BYTES + 20 * size, TRIAL_WORK + size // (1 << 20))
    try:
        _ask(READERS[path.suffix.lower()](path))
    except MemoryError:
        return "memory"
    except Exception as error:
        return "memory" if "bad_alloc" in str(error) else "fine"
    return "fine"


def _ask(model: Any) -> None:
    import numpy as np

    from hornbook.models.adapters import as_predictor
    from hornbook.randomness import Purpose, generator

    predictor = as_predictor(model)
    if predictor.inputs is None:
        return
    rng = generator(0, Purpose.TEST_CASES)
    rows = rng.normal(size=(TRIAL_ROWS, predictor.inputs)) * 10.0 ** rng.integers(-3, 7, (TRIAL_ROWS, 1))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    predictor.outputs(rows.astype(predictor.dtype))


def _limit_process(size: int, seconds: int) -> None:
    """Let this process take so many bytes and work so long from now on, where the system can be asked to."""
    try:
        import resource
    except ImportError:
        return
    pages = Path("/proc/self/statm")
    taken = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 0
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = taken + size if most == resource.RLIM_INFINITY else min(taken + size, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + seconds, most))


if __name__ == "__main__":
    serve_trials()
