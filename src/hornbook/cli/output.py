"""What commands print: text, JSON, progress, and the summary of a run."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

if TYPE_CHECKING:  # NumPy, pandas and scikit-learn take a second, and help needs none of them
    from hornbook.extraction import Extraction
    from hornbook.runs import NewRun
    from hornbook.schema import Forms

RESUME = "run the same command again to resume"
"""What to do after an interrupt that loses no work."""


class Interrupted(Exception):
    """An interrupt, with what the user can do next."""


def emit(text: str, end: str = "\n") -> None:
    """Print to standard output at once; the command ends when the reader, such as `head`, has closed it."""
    print(text, end=end, flush=True)


def emit_lines(lines: Iterable[str]) -> None:
    """Print lines for a reader."""
    emit("\n".join(lines))


def emit_json(content: Any, forms: Forms | None = None) -> None:
    """Print one JSON object."""
    from hornbook.schema import write_object

    emit(json.dumps(write_object(content, forms), ensure_ascii=False))


def print_remark(remark: str) -> None:
    """Print what was found out about a file on standard error."""
    print(f"# {remark}", file=sys.stderr)


def close_stream(stream: TextIO) -> None:
    """Let whatever is printed from here on, at exit too, go nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def progress(title: str, total: int | None = None) -> Iterator[Callable[[str], None]]:
    """Show on standard error, if it is a terminal, what is done and how many answers that took.

    Texts advance it; `total` is how many there will be.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    text = TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis"))
    counted = (BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn(compact=True)) if total else ()
    columns = (SpinnerColumn(), text, TimeElapsedColumn(), *counted, TextColumn("{task.fields[answers]}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=total, answers="")
        token = _show_answers.set(lambda count: bar.update(task, answers=f"{count:,} answers"))
        try:
            yield lambda text: bar.update(task, advance=1, description=text)
        finally:
            _show_answers.reset(token)


_show_answers: ContextVar[Callable[[int], None]] = ContextVar("show_answers", default=lambda count: None)


def count_answers(max_answers: int | None, seconds: float | None = None) -> AbstractContextManager[Any]:
    """Ask models for no more answers than these, or for so long, once about equal rows; show how many."""
    from hornbook.models.answers import limit_answers

    return limit_answers(max_answers, seconds, watch=lambda count, pace: _show_answers.get()(count))


def summarise_run(run: NewRun, extraction: Extraction, details: Iterable[str] = ()) -> list[str]:
    """The accuracy, fidelity and cost of a run, and further details, as comments."""
    lines = []
    if (held_out := run.config["model"].get("held_out")) is not None:
        accuracy = f"{100 * held_out['accuracy']:.1f} % on {held_out['rows']} held-out rows"
        lines.append(f"accuracy of {run.config['model']['name']}: {accuracy}")
    lines += [f"fidelity to the model {each}" for each in extraction.fidelity.describe()]
    if (table := extraction.fidelity.table) is not None:
        lines += table.describe_classes()
    lines += [extraction.describe_risks()] if extraction.risks else []
    lines += details
    count = extraction.explanation.literals
    noun = "literal" if count == 1 else "literals"
    lines.append(f"{count} {noun} to read; {extraction.answers:,} answers")
    lines.append(f"samples: {extraction.distribution}; missing values: {extraction.missing_values}")
    if run.folder is not None:
        lines.append(f"saved in {run.folder}; open {run.folder / 'report.html'} in a browser")
    return [f"# {' '.join(line.split())}" for line in lines]
