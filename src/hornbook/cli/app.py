"""The Typer application, and what several commands share: output, progress, reading of files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

import hornbook
from hornbook.errors import HornbookError
from hornbook.storage import read_text

if TYPE_CHECKING:  # NumPy, pandas and scikit-learn take a second, and help needs none of them
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from hornbook.code_book import CodeBook
    from hornbook.logic import HornTheory
    from hornbook.runs import Run
    from hornbook.schema import Forms
    from hornbook.tables import Kind, Table, TextFormat

app = typer.Typer(
    help="Explain a trained model by rules, a score card or a tree.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


DataArgument = Annotated[str, typer.Argument(help="A CSV, ARFF or Parquet file, or the name of a dataset.")]
RunArgument = Annotated[
    Path, typer.Argument(help="A run folder, made by hornbook extract or hornbook query.")
]
TargetOption = Annotated[
    str | None, typer.Option(help="The column that the model predicts; not needed for a dataset.")
]
CsvOption = Annotated[
    str | None,
    typer.Option(
        "--csv",
        help='How a text is written, such as "delimiter=; decimal=, encoding=cp1252"; or it is found out.',
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(help="Input encoding of unknown values: zero, half, signed, two-channel, nan, complete."),
]
CodeBookOption = Annotated[
    Path | None,
    typer.Option("--code-book", help="A TOML file with labels, units, names of levels and classes."),
]
TrustOption = Annotated[
    bool,
    typer.Option("--trust-pickle", help="Load a pickle, or types unknown to skops, which can run any code."),
]
ModelSecondsOption = Annotated[
    float,
    typer.Option("--model-seconds", min=0.001, help="Seconds in which the model has to answer each call."),
]
ProofSecondsOption = Annotated[
    float, typer.Option("--proof-seconds", min=0.1, help="Time limit of each proof in seconds.")
]
TestOption = Annotated[
    Path | None,
    typer.Option(help="A file of rows, with the table's columns, to measure fidelity on; none are held out."),
]
GroupsOption = Annotated[
    str | None,
    typer.Option(
        "--groups",
        help="A column of groups, such as patients: their rows are held out together; not read by the model.",
    ),
]
SeedOption = Annotated[int, typer.Option(min=0, help="Random seed.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite an earlier run in the folder.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
"""Options that several commands have."""


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


def emit(text: str, end: str = "\n") -> None:
    """Print to standard output at once; the command ends when the reader, such as `head`, has closed it."""
    print(text, end=end, flush=True)


def close_stream(stream: TextIO) -> None:
    """Let whatever is printed from here on, at exit too, go nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def emit_json(content: Any, forms: Forms | None = None) -> None:
    """Print one JSON object."""
    from hornbook.schema import write_object

    emit(json.dumps(write_object(content, forms), ensure_ascii=False))


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


MODEL_SECONDS = 600.0
"""Seconds in which a model has to answer each call, unless a command is told otherwise."""

MAX_TABLE_ROWS = 200_000
"""Rows of a file that a command reads; of more rows it draws so many, uniformly."""

MAX_SHOWN_NAME = 100
"""Number of characters of a file's name that an error shows."""


@dataclass(frozen=True)
class TargetTable:
    """A table as a command reads it.

    Parameters
    ----------
    table
        The whole table.
    target
        What the model predicts.
    features
        The columns without the target and the groups, as the model reads them.
    labels
        The target's own values; None where the table has no such column.
    source
        What the command was given: path or dataset, and options.
    groups
        The group of each row, of rows that are held out together or not at all.

    """

    table: Table
    target: str
    features: pd.DataFrame
    labels: pd.Series[Any] | None
    source: dict[str, Any]
    groups: pd.Series[Any] | None = None

    def kinds_of(self, frame: pd.DataFrame, code_book: CodeBook) -> dict[str, Kind]:
        """The kinds of the columns of a frame, which are some of the table's; levels are categories."""
        return {
            column: "categorical" if code_book.words(column).are_categories else kind
            for column, kind in self.table.kinds.items()
            if column in frame
        }

    def with_test_rows(self, file: Mapping[str, Any]) -> TargetTable:
        """The table, with the file of its test rows: name, path and checksum."""
        return replace(self, source={**self.source, "test": dict(file)})

    def to_object(self) -> dict[str, Any]:
        """Where the table came from, and what it held, for a run's configuration."""
        return {
            "name": self.table.name,
            "sha256": self.table.checksum(),
            "describe": self.table.describe(),
            **self.source,
        }


def read_table_file(path: str | Path, csv: str | None, max_rows: int | None = None) -> Table:
    """Read a table file; `csv` describes the format of a text, as `TextFormat.parse` reads it."""
    from hornbook.tables import TextFormat, read_table

    given = TextFormat.parse(csv or "")
    table = read_table(path, max_rows=max_rows, **asdict(given))
    _print_guesses(table.name, table.text_format, given)
    _print_sample(table.name, len(table), table.source_rows)
    return table


def read_row_file(path: Path, csv: str | None, max_rows: int | None = None) -> pd.DataFrame:
    """Read the rows of a file, whose columns may have no value at all; `csv` as for a table."""
    from hornbook.tables import TextFormat, read_new_rows

    given = TextFormat.parse(csv or "")
    rows, text_format, total = read_new_rows(path, given, max_rows)
    _print_guesses(path.name, text_format, given)
    _print_sample(path.name, len(rows), total)
    return rows


def read_row_parts(path: Path, csv: str | None) -> Iterator[pd.DataFrame]:
    """Read the rows of a file some thousand at a time, so that memory does not grow with it."""
    from hornbook.tables import TextFormat, read_new_parts

    given = TextFormat.parse(csv or "")
    parts, text_format = read_new_parts(path, given)
    _print_guesses(path.name, text_format, given)
    return parts


def _print_guesses(name: str, text_format: TextFormat | None, given: TextFormat) -> None:
    """Say on standard error what was found out about a text that is not plain."""
    guesses = "" if text_format is None else text_format.describe_guesses(given)
    if guesses:
        print(f'# {" ".join(name.split())} is read as --csv "{guesses}"', file=sys.stderr)


def _print_sample(name: str, rows: int, source_rows: int | None) -> None:
    """Say on standard error that only some rows of a file are used."""
    if source_rows is not None and rows < source_rows:
        print(f"# {' '.join(name.split())} {describe_sample(rows, source_rows)}", file=sys.stderr)


def describe_sample(rows: int, source_rows: int) -> str:
    """How many rows of a source are used, in words."""
    return f"has {source_rows:,} rows, of which {rows:,} are used, drawn at random"


def load_target_table(
    source: str,
    target: str | None,
    positive: str | None = None,
    above: float | None = None,
    csv: str | None = None,
    groups: str | None = None,
) -> TargetTable:
    """Load a table from a file, or a dataset by name, and set its target and its groups apart.

    `positive` and `above` make two classes of the target's values. A file need not have the target
    as a column: then it only names what the model predicts. `csv` describes the format of a text,
    `groups` names the column of groups.
    """
    from hornbook.tables import DATASETS, load_dataset

    exists = os.path.exists(source)  # unlike a path's method, it takes any name
    if not exists and source in DATASETS:
        table = load_dataset(source)
        target = target or str(table.label)
    elif not exists:
        name = source if len(source) <= MAX_SHOWN_NAME else f"{source[:MAX_SHOWN_NAME]}…"
        raise HornbookError(f"there is no file or dataset {name!r}; hornbook datasets lists the datasets")
    else:
        table = read_table_file(source, csv, MAX_TABLE_ROWS)
        if target is None:
            columns = list(table.frame.columns)
            raise HornbookError(
                f"name the column of {source} that the model predicts with --target; its columns are "
                f"{', '.join(columns[:8])}{' …' if len(columns) > 8 else ''}"
            )
    given = {
        "source": str(Path(source).resolve()) if exists else source,
        "target": target,
        "positive": positive,
        "above": above,
        "csv": table.text_format and table.text_format.describe(),
        **({} if groups is None else {"groups": groups}),
    }
    if positive is not None or above is not None:
        table = table.with_label(target, positive, above)
        target = str(table.label)
    frame = table.frame
    labels = frame.get(target)
    if groups is not None and (groups == target or groups not in frame):
        others = ", ".join(name for name in frame.columns if name != target)
        raise HornbookError(f"--groups {groups}: name one of the columns {others}")
    features = frame.drop(columns=[name for name in (target, groups) if name in frame])
    if features.shape[1] == 0:
        raise HornbookError(f"{table.name} has no columns besides {target!r}")
    return TargetTable(table, target, features, labels, given, None if groups is None else frame[groups])


def reload_table(run: Run) -> TargetTable:
    """The table of a run as it is now."""
    if "data" not in run.config:
        raise HornbookError(
            f"{run.folder} was saved from Python and does not say where its table and its model are; "
            "this needs a run of hornbook extract or hornbook query"
        )
    data = run.config["data"]
    return load_target_table(
        data["source"], data["target"], data["positive"], data["above"], data["csv"], data.get("groups")
    )


def load_run_table(run: Run) -> TargetTable:
    """The table of a run; refuse one that has changed."""
    table, data = reload_table(run), run.config["data"]
    if table.table.checksum() != data["sha256"]:
        raise HornbookError(f"{data['source']} has changed since the run was made: the checksums differ")
    return table


def restore_split(run: Run, table: TargetTable) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The numbers of the rows that a run was made from, and of those that it held out."""
    from hornbook.tables import split_rows

    settings = run.config["settings"]
    hold_out = "test" not in run.config["data"] and not settings.get("judge")
    frame = table.table.frame if settings.get("judge") else table.features
    return split_rows(frame, settings["seed"], hold_out, table.groups)


def find_test_file(run: Run) -> Path | None:
    """The file of a run's test rows, if it has one; refuse one that has changed."""
    from hornbook.runs import file_checksum

    given = run.config["data"].get("test")
    if given is None:
        return None
    path = Path(given["path"])
    if not path.exists() or file_checksum(path) != given["sha256"]:
        raise HornbookError(f"{path} is not what it was when the run was made; give rows by --test FILE")
    return path


def load_test_rows(path: Path, table: TargetTable, csv: str | None = None) -> pd.DataFrame:
    """The rows of a file, in the columns of a table."""
    from hornbook.tables import fit_columns

    return fit_columns(read_row_file(path, csv, MAX_TABLE_ROWS), table.features, path.name)


RESUME = "run the same command again to resume"
"""What to do after an interrupt that loses no work."""


class Interrupted(Exception):
    """An interrupt, with what the user can do next."""


def read_theory(path: Path, like: HornTheory | None = None) -> HornTheory:
    """Read a theory from a `.horn` or `.json` file, over the vocabulary of `like` if it is given."""
    from hornbook.logic import HornTheory

    text = read_text(path)
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
