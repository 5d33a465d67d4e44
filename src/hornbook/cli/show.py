"""`hornbook show`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hornbook.cli import options
from hornbook.cli.app import USE, HelpfulCommand, app
from hornbook.cli.output import emit, emit_lines, print_remark
from hornbook.storage import write_file

if TYPE_CHECKING:
    from hornbook.extraction import Extraction


class Format(StrEnum):
    """Output formats of an explanation."""

    TEXT = "text"
    JSON = "json"
    RULES = "rules"
    PROLOG = "prolog"
    PYTHON = "python"
    SQL = "sql"
    PMML = "pmml"
    SVG = "svg"
    HTML = "html"


@app.command(cls=HelpfulCommand, rich_help_panel=USE)
def show(
    run: options.RunFolder,
    form: Annotated[Format, options.into("--format", "-f", help=f"{', '.join(Format)}.")] = Format.TEXT,
    output: Annotated[Path | None, options.into("--output", "-o", help="The file to write.")] = None,
    literals: options.Literals = None,
    as_json: options.Json = False,
) -> None:
    """Print the explanation of a run, or export it.

    SQL, Python, Prolog and PMML decide by the columns of your table: SQL as one expression for the SELECT
    of any query. Rules are the theory that derives what the explanation decides. For a run of
    learn SQL, Python and Prolog hold the theory too, and PMML is refused. SVG is the drawing of a tree.

    Examples:
      hornbook show run/

      hornbook show run/ --format sql > decision.sql

      hornbook show run/ --format pmml -o decision.pmml

      hornbook show run/ --format html > report.html

    """
    from hornbook.runs import Run

    kept = Run.load(run, literals)
    written = _write(kept.extraction, Format.JSON if as_json else form)
    if output is not None:
        write_file(output, written)
    elif form is Format.TEXT and not as_json:
        emit_lines([written])
    else:
        emit(written.rstrip("\n"))
    for note in () if form is Format.TEXT else kept.extraction.describe_refuted():
        print_remark(note)


def _write(extraction: Extraction, form: Format) -> str:
    """The explanation in a format."""
    from hornbook.exports import write_explanation
    from hornbook.report import to_html, write_svg
    from hornbook.runs.folder import write_rules

    match form:
        case Format.TEXT:
            return _write_text(extraction)
        case Format.JSON:
            return extraction.to_json()
        case Format.RULES:
            return write_rules(extraction)
        case Format.HTML:
            return to_html(extraction)
        case Format.SVG:
            return write_svg(extraction.explanation)
        case Format.PMML | Format.PROLOG | Format.PYTHON | Format.SQL:
            own = extraction.target, extraction.classes, extraction.levels
            return write_explanation(extraction.explanation, form.value, *own)


def _write_text(extraction: Extraction) -> str:
    """The lines, those marked that were refuted."""
    lines, statistics = str(extraction.explanation).split("\n"), extraction.lines
    if len(lines) != len(statistics):
        return "\n".join(lines)
    return "\n".join(f"{line}{own.mark}" for line, own in zip(lines, statistics, strict=True))
