"""`hornbook explain`."""

from __future__ import annotations

from hornbook.cli import options
from hornbook.cli.app import USE, HelpfulCommand, app
from hornbook.cli.inputs import read_pairs
from hornbook.cli.output import emit_json, emit_lines
from hornbook.errors import HornbookError


@app.command(cls=HelpfulCommand, rich_help_panel=USE)
def explain(
    run: options.RunFolder,
    given: options.Given = None,
    literals: options.Literals = None,
    as_json: options.Json = False,
) -> None:
    """Explain what a run's explanation decides for known values.

    It also says which change would change that. Values are those of the table, or names of the code book.
    Columns that are not set count as missing.

    Examples:
      hornbook explain run/ --set ascites=0 --set age=61

      hornbook explain run/ --set "petal length (cm)=5.1" --json

    """
    from hornbook.extraction import find_column
    from hornbook.runs import Run
    from hornbook.schema import write_object

    extraction = Run.load(run, literals).extraction
    explanation, columns = extraction.explanation, {each.name: each for each in extraction.columns}
    try:
        values = read_pairs(given or [])
        known = [find_column(name, columns, extraction.code_book) for name in values]
        conclusion = extraction.explain(values)
    except HornbookError as error:
        raise HornbookError(f"--set: {error}") from None
    unused = [column for column in known if column not in explanation.columns]
    if as_json:
        emit_json({**write_object(conclusion), "unused": unused})
        return
    emit_lines([str(conclusion)])
    for column in unused:
        label = extraction.code_book.label(column)
        emit_lines([f"{label} makes no difference: the {explanation.noun} does not speak of it"])
