"""`hornbook why`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli import options
from hornbook.cli.app import ASK, HelpfulCommand, app
from hornbook.cli.inputs import ModelOptions, read_pairs, split_columns
from hornbook.cli.output import emit_json, emit_lines, progress
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.models import Subject
    from hornbook.reasons import ChangesTable, TableReasons


@app.command(cls=HelpfulCommand, rich_help_panel=ASK)
def why(
    context: typer.Context,
    run: options.RunFolder,
    row: Annotated[int | None, options.what(help="The number of a row; the first is 1.")] = None,
    given: options.Given = None,
    whole_table: Annotated[
        bool, options.what("--all", help="All rows: the few reasons that cover most of them.")
    ] = False,
    changes_table: Annotated[
        bool, options.what("--changes-table", help="Three actions that turn most rows refused a class.")
    ] = False,
    wished: Annotated[str | None, options.what(help="The class that changes should lead to.")] = None,
    prefer: Annotated[list[str] | None, options.what(help="Columns that reasons should speak of.")] = None,
    fixed: Annotated[list[str] | None, options.what(help="Columns that may not change: age,sex.")] = None,
    up: Annotated[list[str] | None, options.what(help="Columns that may only go up, or only down.")] = None,
    down: Annotated[list[str] | None, options.what()] = None,
    reasons: Annotated[
        int | None, options.how_long(min=1, help="Number of reasons: 1 of a row, 10 with --all.")
    ] = None,
    changes: Annotated[
        int, options.how_long(min=0, help="Number of changes that would change the answer.")
    ] = 1,
    radius: Annotated[bool, options.what(help="How far its numbers may move.")] = False,
    seconds: Annotated[
        float | None, options.how_long(min=0.1, help="Seconds in all: 10, or 60 with --all.")
    ] = None,
    max_answers: options.MaxAnswers = None,
    share: Annotated[
        float, options.how_sure(help="Share of rows on which a reason keeps the answer.")
    ] = 0.95,
    proof: Annotated[bool | None, options.how_sure(help="Prove a reason, where that is possible.")] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    model: options.MovedModel = None,
    data: options.MovedData = None,
    trust_pickle: options.TrustPickle = False,
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
    from hornbook.reasons import ChangeLimits, Reasoner, cover_table, find_actions
    from hornbook.runs import Run

    about_row = row is not None or bool(given)
    if changes_table and (whole_table or about_row or reasons or prefer or radius):
        raise HornbookError("--changes-table is about all rows; leave out --all, and what is about a row")
    if not changes_table and whole_table == about_row:
        raise HornbookError("say which row: --row NUMBER, or values by --set column=value, or --all")
    if whole_table and (wished is not None or fixed or up or down or radius):
        raise HornbookError("--all says why, and not what would change it; leave out the limits of changes")
    asking = ModelOptions(seconds=seconds, max_answers=max_answers)
    asking.limit(context)
    subject = replace(Run.load(run).restore(model, trust_pickle, data), seed=seed)
    columns = list(map(str, subject.frame.columns))
    known = {*columns, *map(subject.words.label, columns)}
    preferred, *limits = (tuple(split_columns(names, known)) for names in (prefer, fixed, up, down))
    if about_row:
        values = _read_row(subject, row) | _read_values(subject, given or [])
        wish = {"changes": changes, "limits": ChangeLimits(*limits), "wished": wished}
        wanted = {"share": share, "reasons": reasons or 1, "prefer": preferred, "proof": proof is not False}
        _explain_row(subject, values, {**wanted, **wish}, seconds or ROW_SECONDS, radius, as_json)
    else:
        with progress("asking the model", seconds=seconds or TABLE_SECONDS):
            answer: TableReasons | ChangesTable
            if changes_table:
                judged = subject if len(subject.held_out) else subject.hold_out()  # a run had test rows
                answer = find_actions(judged, wished, ChangeLimits(*limits))
            else:
                limit = seconds or TABLE_SECONDS
                wanted = {"share": share, "prefer": preferred}
                answer = cover_table(
                    Reasoner(subject), reasons or 10, proof=bool(proof), seconds=limit, **wanted
                )
        if as_json:
            emit_json(answer)
        else:
            emit_lines([str(answer), *(["# rows are counted from 1"] if whole_table else [])])


ROW_SECONDS, TABLE_SECONDS = 10.0, 60.0
"""Seconds for an answer about one row, and about all of them, unless a command is told otherwise."""


def _explain_row(
    subject: Subject,
    values: Mapping[str, Any],
    wanted: Mapping[str, Any],
    seconds: float,
    radius: bool,
    as_json: bool,
) -> None:
    """Print why the model decides a row so; how far its numbers may move takes half of the time."""
    from hornbook.reasons import Reasoner
    from hornbook.schema import write_object

    reasoner, part, reach = Reasoner(subject), seconds / (1 + radius), None
    with progress("asking the model", seconds=seconds):
        answer = reasoner.explain(values, seconds=part, **wanted)
        if radius:
            reach = reasoner.measure_radius(values, wanted["proof"], part)
    if as_json:
        emit_json(answer if reach is None else {**write_object(answer), "radius": write_object(reach)})
    else:
        emit_lines([str(answer), *([] if reach is None else [str(reach)])])


def _read_row(subject: Subject, row: int | None) -> dict[str, Any]:
    """The values of a row of the table, by its number; none without one."""
    frame = subject.frame
    if row is None:
        return {}
    if row not in frame.index:
        raise HornbookError(f"--row {row}: the table has {len(frame)} rows, from 1 to {len(frame)}")
    return {name: frame[name].loc[row] for name in map(str, frame.columns)}


def _read_values(subject: Subject, given: list[str]) -> dict[str, Any]:
    """Values that are set, by the table's names of their columns."""
    from hornbook.extraction import find_column

    columns = dict.fromkeys(map(str, subject.frame.columns))
    try:
        values = read_pairs(given).items()
        return {find_column(name, columns, subject.words): value for name, value in values}
    except HornbookError as error:
        raise HornbookError(f"--set: {error}") from None
