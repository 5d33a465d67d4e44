"""The Typer application, and what several commands share: output, progress, reading of files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

import hornbook

if TYPE_CHECKING:  # the extractor imports pandas and scikit-learn, which take a second
    from hornbook.extractor.steps import Watch
from pathlib import Path
from typing import TYPE_CHECKING

from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.data.table import Table
from hornbook.logic import HornTheory

app = typer.Typer(
    help="Explain a trained model by rules, a score card or a tree.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(value: bool) -> None:
    if value:
        print(f"hornbook {hornbook.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


def emit(text: str) -> None:
    """Print to standard output; exit quietly when the reader, such as `head`, has closed it."""
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
def progress(title: str, total: int | None = None) -> Iterator[Watch]:
    """Show a progress bar on standard error, if that is a terminal; each entry of a run advances it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda entry: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda entry: bar.update(task, advance=1, description=_describe_entry(entry))


def _describe_entry(entry: Mapping[str, Any]) -> str:
    if "candidate" in entry:
        fidelity = f"{100 * entry['fidelity']:.1f} %"
        return f"{entry['form']}: {entry['rules']} lines, {entry['literals']} literals, {fidelity}"
    return f"query {entry['query']}: {entry['rules']} rules, {entry['membership_queries']:,} questions"


def load_table(
    source: str, target: str | None = None, positive: str | None = None, above: float | None = None
) -> Table:
    """Load a table from a file, or a dataset by name; its label is the target column."""
    from hornbook.data.datasets import DATASETS, load_dataset
    from hornbook.data.table import read_table

    if not Path(source).exists() and source in DATASETS:
        table = load_dataset(source)
        return table if target in (None, table.label) else table.with_label(str(target), positive, above)
    if not Path(source).exists():
        raise HornbookError(f"there is no file or dataset {source!r}; hornbook datasets lists the datasets")
    if target is None:
        table = read_table(source)
        raise HornbookError(
            f"name the column of {source} that the model predicts with --target; its columns are "
            f"{', '.join(list(table.frame.columns)[:8])}{' …' if table.frame.shape[1] > 8 else ''}"
        )
    return read_table(source, label=target, positive=positive, above=above)


def read_theory(path: Path, like: HornTheory | None = None) -> HornTheory:
    """Read a theory from a `.horn` or `.json` file, over the vocabulary of `like` if it is given."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise HornbookError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise HornbookError(
            f"{path} is not UTF-8 text: byte {error.start} is {error.object[error.start]:#x}"
        ) from None
    try:
        if path.suffix == ".json":
            theory = HornTheory.from_json(text)
            theory = theory.over(like.vocabulary) if like else theory
        else:
            theory = HornTheory.parse(text, like.vocabulary if like else None)
    except HornbookError as error:
        raise HornbookError(f"{path}, {error}") from None
    if not theory.rules:
        raise HornbookError(
            f"{path} holds no rules; write one rule per line, such as: horse & wings -> pegasus"
        )
    return theory
