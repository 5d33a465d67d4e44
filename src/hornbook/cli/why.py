"""`hornbook why`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli.app import app
from hornbook.cli.inputs import read_pairs
from hornbook.cli.options import (
    MODEL_SECONDS,
    JsonOption,
    ModelSecondsOption,
    MovedModelOption,
    RunArgument,
    SeedOption,
    SetOption,
    TrustOption,
)
from hornbook.cli.output import emit, emit_json, progress
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.models import Subject
    from hornbook.reasons import ChangesTable, TableReasons, Why


@app.command()
def why(
    context: typer.Context,
    run: RunArgument,
    row: Annotated[
        int | None, typer.Option(help="The number of a row of the run's table; the first is 1.")
    ] = None,
    given: SetOption = None,
    whole_table: Annotated[
        bool, typer.Option("--all", help="All rows of the table: the few reasons that cover most of them.")
    ] = False,
    reasons: Annotated[
        int | None, typer.Option(min=1, help="Number of reasons: 1 of a row, 10 with --all.")
    ] = None,
    prefer: Annotated[
        list[str] | None, typer.Option(help="Columns that reasons should speak of where they can.")
    ] = None,
    share: Annotated[
        float,
        typer.Option(help="Share of the rows that meet a reason on which the model keeps its answer."),
    ] = 0.95,
    proof: Annotated[
        bool | None,
        typer.Option(
            help="Go on until a reason is proved, if the prover supports the model; not with --all."
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0.1, help="Time limit: 10 for each reason, 60 for all of --all.")
    ] = None,
    changes: Annotated[
        int, typer.Option(min=0, help="Number of changes to look for that would change the answer.")
    ] = 1,
    changes_table: Annotated[
        bool, typer.Option("--changes-table", help="Three actions that turn most rows refused a class.")
    ] = False,
    wished: Annotated[
        str | None, typer.Option(help="The class that changes should lead to; any other by default.")
    ] = None,
    fixed: Annotated[list[str] | None, typer.Option(help="Columns that may not change: age,sex.")] = None,
    up: Annotated[list[str] | None, typer.Option(help="Columns that may only go up.")] = None,
    down: Annotated[list[str] | None, typer.Option(help="Columns that may only go down.")] = None,
    picture: Annotated[
        Path | None, typer.Option("--svg", help="A file for a picture of the reason and the change.")
    ] = None,
    model: MovedModelOption = None,
    trust_pickle: TrustOption = False,
    model_seconds: ModelSecondsOption = MODEL_SECONDS,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Say why a run's model decides a row as it does, with a guarantee, and what would change that.

    The reason is a set of the row's conditions under which the model keeps its answer, whatever the other
    values are. The row is one of the table, with --row; values that are --set replace its own. Without
    --row, columns that are not set are unknown. With --all a reason is found for every row, and those are
    printed that cover most of them, and the rows that remain. With --changes-table the same few changes are
    made in all rows that are refused a class, and their share that turns is measured on held-out rows.

    Examples:
      hornbook why run/ --row 17

      hornbook why run/ --set ascites=1 --set age=61 --prefer age --reasons 2

      hornbook why run/ --row 17 --no-proof --share 0.9 --json

      hornbook why run/ --row 17 --fixed age,sex --down bilirubin --changes 3 --svg why.svg

      hornbook why run/ --all --reasons 5

      hornbook why run/ --changes-table --wished good --fixed age,sex --up income

    """
    from hornbook.models import limit_model_seconds
    from hornbook.reasons import ChangeLimits, Reasoner, cover_table, find_actions
    from hornbook.report import write_why_svg
    from hornbook.runs import Run
    from hornbook.storage import write_file

    context.with_resource(limit_model_seconds(model_seconds))
    about_row = row is not None or bool(given) or picture is not None
    if changes_table and (whole_table or about_row or reasons or prefer):
        raise HornbookError(
            "--changes-table is about all rows; leave out --all, --svg, and what is about a row"
        )
    if not changes_table and whole_table == (row is not None or bool(given)):
        raise HornbookError("say which row: --row NUMBER, or values by --set column=value, or --all")
    if whole_table and (picture is not None or wished is not None or fixed or up or down):
        raise HornbookError("--all says why, and not what would change it; leave out --svg and limits")
    loaded = Run.load(run)
    subject = replace(loaded.restore(model, trust_pickle), seed=seed)
    preferred, *limits = (_read_columns(subject, names or []) for names in (prefer, fixed, up, down))
    answer: Why | TableReasons | ChangesTable
    with progress("asking the model"):
        if changes_table:
            answer = find_actions(subject, wished, ChangeLimits(*limits))
        elif whole_table:
            answer = cover_table(
                Reasoner(subject),
                reasons or 10,
                share=share,
                prefer=preferred,
                proof=bool(proof),
                seconds=seconds or 60.0,
            )
        else:
            answer = Reasoner(subject).explain(
                _read_row(subject, row) | _read_values(subject, given or []),
                share=share,
                reasons=reasons or 1,
                prefer=preferred,
                proof=proof is not False,
                seconds=seconds or 10.0,
                changes=changes,
                limits=ChangeLimits(*limits),
                wished=wished,
            )
            if picture is not None:
                write_file(picture, write_why_svg(answer, loaded.extraction))
    if as_json:
        emit_json(answer)
    else:
        emit("\n".join([str(answer), *(["# rows are counted from 1"] if whole_table else [])]))


def _read_row(subject: Subject, row: int | None) -> dict[str, Any]:
    """The values of a row of the table, by its number; none without one."""
    frame = subject.frame
    if row is None:
        return {}
    if row not in frame.index:
        raise HornbookError(f"--row {row}: the table has {len(frame)} rows, from 1 to {len(frame)}")
    return {name: frame[name].loc[row] for name in map(str, frame.columns)}


def _read_columns(subject: Subject, given: list[str]) -> tuple[str, ...]:
    """Columns that are named, several with commas between them."""
    columns = dict.fromkeys(map(str, subject.frame.columns))
    names: list[str] = []
    for text in given:
        single = text in columns or subject.words.find_column(text) in columns
        names += [text] if single else [name.strip() for name in text.split(",")]
    return tuple(names)


def _read_values(subject: Subject, given: list[str]) -> dict[str, Any]:
    """Values that are set, by the table's names of their columns."""
    from hornbook.extraction import find_column

    columns = dict.fromkeys(map(str, subject.frame.columns))
    try:
        values = read_pairs(given).items()
        return {find_column(name, columns, subject.words): value for name, value in values}
    except HornbookError as error:
        raise HornbookError(f"--set: {error}") from None
