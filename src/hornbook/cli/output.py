"""What commands print: text, JSON, progress, and the summary of a run."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

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
    """Show a progress bar on standard error, if that is a terminal; each text advances it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda text: bar.update(task, advance=1, description=text)


def summarise_run(run: NewRun, extraction: Extraction, details: Iterable[str] = ()) -> list[str]:
    """The accuracy, fidelity and cost of a run, and further details, as comments."""
    lines = []
    if (held_out := run.config["model"].get("held_out")) is not None:
        accuracy = f"{100 * held_out['accuracy']:.1f} % on {held_out['rows']} held-out rows"
        lines.append(f"accuracy of {run.config['model']['name']}: {accuracy}")
    lines += [f"fidelity to the model {each}" for each in extraction.fidelity.describe()]
    lines += details
    count = extraction.explanation.literals
    noun = "literal" if count == 1 else "literals"
    lines.append(f"{count} {noun} to read; {extraction.answers:,} answers")
    lines.append(f"samples: {extraction.distribution}; missing values: {extraction.missing_values}")
    if run.folder is not None:
        lines.append(f"saved in {run.folder}; open {run.folder / 'report.html'} in a browser")
    return [f"# {' '.join(line.split())}" for line in lines]
