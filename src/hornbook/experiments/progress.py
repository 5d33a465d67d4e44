"""Progress on the terminal, and silence everywhere else."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

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
