"""Processes of this machine, each apart from the others: one that dies takes nobody's work with it.

joblib's own pool breaks as a whole when one of its processes is lost. How processes are started is
left to it: they are new ones, which run neither the user's script nor a copy of this process.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import traceback
from collections.abc import Callable
from typing import Any

THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"
"""Where libraries look how many threads they may start."""

IDLE = 300.0
"""Seconds without work after which a process ends."""


class Lost(Exception):
    """A process ended before its work did."""


class Process:
    """A process that is given work, one piece after another, and keeps what it has imported."""

    def __init__(self, environment: dict[str, str]) -> None:
        from joblib.externals.loky.backend import get_context

        context = get_context("loky")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), env=environment)
        self._process.start()
        theirs.close()

    @property
    def lives(self) -> bool:
        """Whether it can be given work."""
        return bool(self._process.is_alive())

    def begin(self, work: Callable[..., Any], *arguments: Any) -> None:
        """Give it work. Its connection is ready when that is done, or the process is lost."""
        import cloudpickle

        with contextlib.suppress(OSError):  # lost already, as `result` will tell
            self.connection.send_bytes(cloudpickle.dumps((work, arguments)))

    def result(self) -> Any:
        """What came of the work; raises what it raised, or `Lost`."""
        try:
            answer = self.connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise Lost(f"process {self._process.pid} is gone") from error
        value, failure = pickle.loads(answer)
        if failure is not None:
            raise failure
        return value

    def kill(self) -> None:
        """End it, whatever it is doing."""
        self._process.terminate()
        self._process.join()
        self.connection.close()


class Processes:
    """So many processes side by side, started when they are first needed and kept for later calls.

    Parameters
    ----------
    count
        How many.
    threads
        How many threads each may start. By default what the environment says, or its share of the
        cores.

    """

    def __init__(self, count: int, threads: int | None = None) -> None:
        share = str(threads or max(1, (os.cpu_count() or 1) // count))
        self.environment = {name: share if threads else os.environ.get(name, share) for name in THREADS}
        self._started: dict[int, Process] = {}
        atexit.register(self.end)

    def __getitem__(self, number: int) -> Process:
        """One of them, alive."""
        if number not in self._started or not self._started[number].lives:
            self._started[number] = Process(self.environment)
        return self._started[number]

    def end(self) -> None:
        """Kill all."""
        while self._started:
            self._started.popitem()[1].kill()


_KEPT: dict[tuple[int, int | None], Processes] = {}


def kept(count: int, threads: int | None = None) -> Processes:
    """The processes of earlier calls, with what they have imported and been given, or new ones."""
    if (count, threads) not in _KEPT:
        _KEPT[count, threads] = Processes(count, threads)
    return _KEPT[count, threads]


def _serve(connection: Any) -> None:
    """Do what comes, until nothing does or nobody is there to ask for it."""
    import cloudpickle

    with contextlib.suppress(EOFError, OSError):
        while connection.poll(IDLE):
            asked = connection.recv_bytes()
            value, failure = None, None
            try:
                work, arguments = pickle.loads(asked)
                value = work(*arguments)
            except Exception as error:
                error.add_note(traceback.format_exc())
                failure = error
            connection.send_bytes(_packed(cloudpickle.dumps, value, failure))


def _packed(dumps: Callable[[Any], bytes], value: Any, failure: Exception | None) -> bytes:
    try:
        return dumps((value, failure))
    except Exception as error:  # what cannot travel is at least named
        return dumps((None, RuntimeError(f"{failure or type(value)!r} cannot be sent back: {error}")))
