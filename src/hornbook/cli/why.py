"""`hornbook why`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli.app import ASK, HelpfulCommand, app
from hornbook.cli.inputs import read_pairs
from hornbook.cli.options import (
    MODEL_SECONDS,
    JsonOption,
    MaxAnswersOption,
    ModelSecondsOption,
    MovedDataOption,
    MovedModelOption,
    RunArgument,
    SeedOption,
    SetOption,
    TrustOption,
    how_long,
    how_sure,
    what,
)
from hornbook.cli.output import count_answers, emit_json, emit_lines, progress
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.models import Subject
    from hornbook.reasons import ChangesTable, TableReasons, Why


@app.command(cls=HelpfulCommand, rich_help_panel=ASK)
def why(
    context: typer.Context,
    run: RunArgument,
    row: Annotated[int | None, what(help="The number of a row; the first is 1.")] = None,
    given: SetOption = None,
    whole_table: Annotated[
        bool, what("--all", help="All rows: the few reasons that cover most of them.")
    ] = False,
    changes_table: Annotated[
        bool, what("--changes-table", help="Three actions that turn most rows refused a class.")
    ] = False,
    wished: Annotated[str | None, what(help="The class that changes should lead to.")] = None,
    prefer: Annotated[list[str] | None, what(help="Columns that reasons should speak of.")] = None,
    fixed: Annotated[list[str] | None, what(help="Columns that may not change: age,sex.")] = None,
    up: Annotated[list[str] | None, what(help="Columns that may only go up, or only down.")] = None,
    down: Annotated[list[str] | None, what()] = None,
    reasons: Annotated[
        int | None, how_long(min=1, help="Number of reasons: 1 of a row, 10 with --all.")
    ] = None,
    changes: Annotated[int, how_long(min=0, help="Number of changes that would change the answer.")] = 1,
    radius: Annotated[bool, what(help="How far its numbers may move.")] = False,
    seconds: Annotated[
        float | None, how_long(min=0.1, help="Seconds for a reason: 10, or 60 with --all.")
    ] = None,
    max_answers: MaxAnswersOption = None,
    model_seconds: ModelSecondsOption = MODEL_SECONDS,
    share: Annotated[float, how_sure(help="Share of rows on which a reason keeps the answer.")] = 0.95,
    proof: Annotated[bool | None, how_sure(help="Prove a reason, where that is possible.")] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    model: MovedModelOption = None,
    data: MovedDataOption = None,
    trust_pickle: TrustOption = False,
) -> None:
    """Say why a run's model decides a row, and what would change it.

    The reason is a set of the row's conditions under which the model keeps its answer, whatever the other
    values are. The row is one of the table, with --row; values that are --set replace its own. Without
    --row, columns that are not set are unknown. With --changes-table the same few changes are made in all
    rows that are refused a class.

    Examples:
      hornbook why run/ --row 17

      hornbook why run/ --set ascites=1 --set age=61 --prefer age --reasons 2

      hornbook why run/ --row 17 --fixed age,sex --down bilirubin --changes 3

      hornbook why run/ --all --reasons 5

      hornbook why run/ --changes-table --wished good --fixed age,sex --up income

    """
    from hornbook.models import limit_model_seconds
    from hornbook.reasons import ChangeLimits, Reasoner, cover_table, find_actions
    from hornbook.runs import Run
    from hornbook.schema import write_object

    context.with_resource(limit_model_seconds(model_seconds))
    context.with_resource(count_answers(max_answers))
    about_row = row is not None or bool(given)
    if changes_table and (whole_table or about_row or reasons or prefer):
        raise HornbookError("--changes-table is about all rows; leave out --all, and what is about a row")
    if not changes_table and whole_table == about_row:
        raise HornbookError("say which row: --row NUMBER, or values by --set column=value, or --all")
    if whole_table and (wished is not None or fixed or up or down):
        raise HornbookError("--all says why, and not what would change it; leave out the limits of changes")
    subject = replace(Run.load(run).restore(model, trust_pickle, data), seed=seed)
    preferred, *limits = (_read_columns(subject, names or []) for names in (prefer, fixed, up, down))
    answer: Why | TableReasons | ChangesTable
    reach = None
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
            reasoner, values = Reasoner(subject), _read_row(subject, row) | _read_values(subject, given or [])
            answer = reasoner.explain(
                values,
                share=share,
                reasons=reasons or 1,
                prefer=preferred,
                proof=proof is not False,
                seconds=seconds or 10.0,
                changes=changes,
                limits=ChangeLimits(*limits),
                wished=wished,
            )
            if radius:
                reach = reasoner.measure_radius(values, proof is not False, seconds or 10.0)
    if as_json:
        emit_json(answer if reach is None else {**write_object(answer), "radius": write_object(reach)})
    else:
        further = ["# rows are counted from 1"] if whole_table else [] if reach is None else [str(reach)]
        emit_lines([str(answer), *further])


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
