"""`hornbook explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hornbook.cli.app import app, emit, emit_json
from hornbook.errors import HornbookError


@app.command()
def explain(
    run: Annotated[Path, typer.Argument(help="A run folder, made by hornbook extract.")],
    given: Annotated[
        list[str] | None,
        typer.Option("--set", help="A known value, column=value: a number, a word or the name of a bin."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Explain what the rules of a run conclude from known values, and which change would undo it.

    Columns that are not set count as unknown.

    Examples:
      hornbook explain run/ --set ascites=0 --set age=high

      hornbook explain run/ --set "petal length (cm)=5.1" --json

    """
    from hornbook.runs.folder import Run

    kept = Run.load(run)
    facts: dict[str, str] = {}
    for pair in given or []:
        name, sign, value = pair.rpartition("=")
        if not sign or not name or not value:
            raise HornbookError(f"--set {pair!r}: expected column=value, such as --set age=high")
        facts[name] = value
    explained = kept.answers.explain(kept.facts(facts), kept.groups)
    if as_json:
        emit_json(explained.to_object())
    elif Console().is_terminal:
        Console().print(explained)
    else:
        emit(str(explained))
