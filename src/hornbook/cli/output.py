"""What commands print: text, JSON, progress, and the summary of a run."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

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
    """Print lines for a reader: none is longer than a terminal is wide, or than COLUMNS says."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        width = get_terminal_size().columns
        lines = [part for text in lines for line in text.split("\n") for part in fit_line(line, width)]
    emit("\n".join(lines))


def fit_line(line: str, width: int) -> list[str]:
    r"""A line in parts that fit a width: its comment below it, further parts indented.

    Examples
    --------
    >>> print(*fit_line("if age > 40 and sex = f: good   # 61 rows; right on 7 of 7 unseen", 40), sep="\n")
    if age > 40 and sex = f: good
      # 61 rows; right on 7 of 7 unseen
    >>> print(*fit_line("# fidelity to the model on 30 held-out rows", 24), sep="\n")
    # fidelity to the model
    #   on 30 held-out rows

    """
    if len(line) <= width:
        return [line]
    text, mark, comment = line.partition("   # ")
    indent = " " * (len(text) - len(text.lstrip()))
    if mark:
        return [*fit_line(text.rstrip(), width), *fit_line(f"{indent}  # {comment}", width)]
    further = f"{indent}#   " if text.lstrip().startswith("#") else f"{indent}    "
    parts = wrap(
        line.replace(" %", "\N{NO-BREAK SPACE}%"),
        width,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [part.replace("\N{NO-BREAK SPACE}%", " %") for part in parts]


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


class TimeLeft(ProgressColumn):
    """How much is left of the seconds that something may take, or took before."""

    def render(self, task: Task) -> Text:
        """The seconds, where they are known."""
        seconds = task.fields["seconds"]
        return Text("" if seconds is None else f"{max(0.0, seconds - (task.elapsed or 0)):,.0f} s left")


@contextmanager
def progress(
    title: str, total: int | None = None, *, seconds: float | None = None, answers: int | None = None
) -> Iterator[Callable[[str], None]]:
    """Show on standard error, if it is a terminal, what is done, how much and how long; texts advance it.

    How much time is left is known by a `total` of texts, by `seconds`, or by about how many `answers` of the
    model it takes.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    text = TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis"))
    counted = (BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn(compact=True))
    tally = TextColumn("{task.fields[answers]}")
    columns = (SpinnerColumn(), text, TimeElapsedColumn(), *(counted if total else ()), TimeLeft(), tally)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=total, answers="", seconds=seconds)

        def show_answers(count: int, pace: float, most: int | None) -> None:
            left = (min(each for each in (most, answers, math.inf) if each is not None) - count) * pace
            each = f" of {1000 * pace:.2g} ms" if pace > 1e-3 else ""
            later = f", about {left:,.0f} s left" if 1 <= left < math.inf else ""
            bar.update(task, answers=f"{count:,} answers{each}{later}")

        token = _show_answers.set(show_answers)
        try:
            yield lambda text: bar.update(task, advance=1, description=text)
        finally:
            _show_answers.reset(token)


_show_answers: ContextVar[Callable[[int, float, int | None], None] | None] = ContextVar(
    "show_answers", default=None
)


def count_answers(max_answers: int | None, seconds: float | None = None) -> AbstractContextManager[Any]:
    """Ask models for no more answers than these, or for so long, once about equal rows; show how many."""
    from hornbook.models.answers import limit_answers

    def watch(count: int, pace: float) -> None:
        show = _show_answers.get()
        if show is not None:
            show(count, pace, max_answers)

    return limit_answers(max_answers, seconds, watch=watch)


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
