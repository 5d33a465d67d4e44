"""What commands print, and how far they have come."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:  # the extractor imports pandas and scikit-learn, which take a second
    from hornbook.extractor.steps import Watch


def emit(text: str) -> None:
    """Print to standard output; a reader that has gone, such as `head`, is no mistake."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # whatever is printed from here on, at exit too, goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None


def emit_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object."""
    emit(json.dumps(content, ensure_ascii=False))


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Watch]:
    """A bar on standard error that moves with every entry of a run; nothing where that is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda entry: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda entry: bar.update(task, advance=1, description=_described(entry))


def _described(entry: Mapping[str, Any]) -> str:
    if "candidate" in entry:
        fidelity = f"{100 * entry['fidelity']:.1f} %"
        return f"{entry['form']}: {entry['rules']} lines, {entry['literals']} literals, {fidelity}"
    return f"query {entry['query']}: {entry['rules']} rules, {entry['membership_queries']:,} questions"
