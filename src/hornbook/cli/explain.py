"""`hornbook explain`."""

from __future__ import annotations

from typing import Annotated

import typer

from hornbook.cli.app import JsonOption, RunArgument, app, emit, emit_json
from hornbook.errors import HornbookError


@app.command()
def explain(
    run: RunArgument,
    given: Annotated[
        list[str] | None,
        typer.Option("--set", help="A known value, column=value: a number, a word, or ? for unknown."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Explain what a run's explanation decides for known values, and which change would change it.

    Values are those of the table, or names of the code book. Columns that are not set count as missing.

    Examples:
      hornbook explain run/ --set ascites=0 --set age=61

      hornbook explain run/ --set "petal length (cm)=5.1" --json

    """
    from hornbook.explanations import Decision, explain_row
    from hornbook.extraction import read_facts, read_values
    from hornbook.queries import Conclusion, HornRules
    from hornbook.runs import Run
    from hornbook.schema import write_object

    extraction = Run.load(run).extraction
    explanation = extraction.explanation
    conclusion: Conclusion | Decision
    unused: list[str] = []
    try:
        values = read_pairs(given or [])
        if isinstance(explanation, HornRules):
            conclusion = explanation.conclude(read_facts(extraction, values))
        else:
            known = read_values(extraction, values)
            unused = [column for column in known if column not in explanation.columns]
            conclusion = explain_row(explanation, dict.fromkeys(explanation.columns) | known)
    except HornbookError as error:
        raise HornbookError(f"--set: {error}") from None
    if as_json:
        emit_json({**write_object(conclusion), "unused": unused})
        return
    emit(str(conclusion))
    for column in unused:
        label = extraction.code_book.label(column)
        emit(f"{label} makes no difference: the {explanation.noun} does not speak of it")


def read_pairs(given: list[str]) -> dict[str, str]:
    """The values that were set as `column=value`, by their columns."""
    values: dict[str, str] = {}
    for pair in given:
        name, sign, value = pair.rpartition("=")
        if not sign or not name:
            raise HornbookError(f"expected column=value, such as age=61, not {pair!r}")
        if name in values:
            raise HornbookError(f"{name!r} is set twice, to {values[name]!r} and to {value!r}; set it once")
        values[name] = value
    return values
