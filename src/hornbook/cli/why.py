"""`hornbook why`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli.app import (
    JsonOption,
    RunArgument,
    SeedOption,
    TrustOption,
    app,
    emit,
    emit_json,
    load_run_table,
    progress,
)
from hornbook.cli.explain import read_pair
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.explain import Reasoner
    from hornbook.runs import Run


@app.command()
def why(
    run: RunArgument,
    row: Annotated[
        int | None, typer.Option(min=0, help="The number of a row of the run's table; the first is 0.")
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--set", help="A known value, column=value: a number, a word, or ? for unknown."),
    ] = None,
    reasons: Annotated[int, typer.Option(min=1, help="Number of different reasons to look for.")] = 1,
    prefer: Annotated[
        list[str] | None, typer.Option(help="A column that reasons should speak of where they can.")
    ] = None,
    share: Annotated[
        float,
        typer.Option(help="Share of the rows that meet a reason on which the model keeps its answer."),
    ] = 0.95,
    proof: Annotated[
        bool, typer.Option(help="Go on until a reason is proved, where the model can be read.")
    ] = True,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit of each reason in seconds.")] = 10.0,
    changes: Annotated[
        int, typer.Option(min=0, help="Number of changes to look for that would change the answer.")
    ] = 1,
    fixed: Annotated[list[str] | None, typer.Option(help="A column that may not change.")] = None,
    up: Annotated[list[str] | None, typer.Option(help="A column that may only go up.")] = None,
    down: Annotated[list[str] | None, typer.Option(help="A column that may only go down.")] = None,
    model: Annotated[Path | None, typer.Option(help="The model file, if it has moved.")] = None,
    trust_pickle: TrustOption = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Say why a run's model decides one row as it does, with a guarantee, and what would change that.

    The reason is a set of the row's conditions under which the model keeps its answer, whatever the other
    values are. The row is one of the table, with --row; values that are --set replace its own. Without
    --row, columns that are not set are unknown.

    Examples:
      hornbook why run/ --row 17

      hornbook why run/ --set ascites=1 --set age=61 --prefer age --reasons 2

      hornbook why run/ --row 17 --no-proof --share 0.9 --json

    """
    from hornbook.explain import ChangeLimits
    from hornbook.runs import Run

    if row is None and not given:
        raise HornbookError("say which row: --row NUMBER, or values by --set column=value")
    reasoner, values = _restore_reasoner(Run.load(run), row, model, trust_pickle, seed)
    with progress("asking the model"):
        answer = reasoner.explain(
            values | _read_values(reasoner, given or []),
            share=share,
            reasons=reasons,
            prefer=prefer or (),
            proof=proof,
            seconds=seconds,
            changes=changes,
            limits=ChangeLimits(tuple(fixed or ()), tuple(up or ()), tuple(down or ())),
        )
    if as_json:
        emit_json(answer.to_object())
    else:
        emit(str(answer))


def _restore_reasoner(
    run: Run, row: int | None, path: Path | None, trust_pickle: bool, seed: int
) -> tuple[Reasoner, dict[str, Any]]:
    """The model and the table of a run, ready to be asked, and the values of a row of the table."""
    from hornbook.data import split_rows
    from hornbook.explain import Reasoner
    from hornbook.explanations import HornRules
    from hornbook.models import as_predictor
    from hornbook.teacher import bind_classifier

    extraction = run.extraction
    if isinstance(extraction.explanation, HornRules):
        raise HornbookError(f"{run.folder} is a run by queries; why needs one of hornbook extract")
    table, settings = load_run_table(run), run.config["settings"]
    frame = table.features
    if row is not None and row >= len(frame):
        raise HornbookError(f"--row {row}: the table has {len(frame)} rows, from 0 to {len(frame) - 1}")
    model = run.load_model(path, trust_pickle)
    if settings["encoding"] is not None:
        model = as_predictor(model, encoding=settings["encoding"])
    used, _ = split_rows(frame, settings["seed"], hold_out="test" not in run.config["data"])
    teacher = bind_classifier(model, frame.iloc[used], settings["seed"])
    words, classes = extraction.code_book, extraction.explanation.classes
    values = {} if row is None else {name: frame[name].iloc[row] for name in map(str, frame.columns)}
    return Reasoner(model, teacher, classes, words, seed), values


def _read_values(reasoner: Reasoner, given: list[str]) -> dict[str, Any]:
    """Values that are set, by the table's names of their columns."""
    from hornbook.extraction import find_column

    columns = dict.fromkeys(map(str, reasoner.teacher.frame.columns))
    try:
        return {
            find_column(name, columns, reasoner.code_book): value for name, value in map(read_pair, given)
        }
    except HornbookError as error:
        raise HornbookError(f"--set: {error}") from None
