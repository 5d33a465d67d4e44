"""`hornbook show`."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from hornbook.cli.app import RunArgument, app, emit
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.runs import Run


class Format(StrEnum):
    """Output formats of an explanation."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    RULES = "rules"
    PROLOG = "prolog"
    DIMACS = "dimacs"
    SYMPY = "sympy"
    PYTHON = "python"
    SQL = "sql"
    HTML = "html"
    LATEX = "latex"


@app.command()
def show(
    run: RunArgument,
    form: Annotated[
        Format, typer.Option("--format", "-f", help="Output format; html is the whole report.")
    ] = Format.TEXT,
    background: Annotated[
        bool,
        typer.Option("--background", help="Include rules that hold by construction (rules, latex)."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False,
) -> None:
    """Show the explanation of a run.

    SQL, Python and Prolog decide by the columns of your table: SQL as one expression for the SELECT of
    any query. DIMACS, SymPy and LaTeX hold the theory: the rules that derive what the explanation
    decides. Of a run by queries all of them hold the theory.

    Examples:
      hornbook show run/

      hornbook show run/ --format sql > decision.sql

      hornbook show run/ --format csv > lines.csv

      hornbook show run/ --format html > report.html

    """
    from hornbook.runs import Run

    emit(_FORMATS[Format.JSON if as_json else form](Run.load(run), background).rstrip("\n"))


def _text(run: Run, background: bool) -> str:
    return str(run.extraction.explanation)


def _json(run: Run, background: bool) -> str:
    return _file(run, "extraction.json")


def _html(run: Run, background: bool) -> str:
    return _file(run, "report.html")


def _rules(run: Run, background: bool) -> str:
    extraction = run.extraction
    return (extraction.compiled.theory if background else extraction.theory).to_text()


def _csv(run: Run, background: bool) -> str:
    """A table for spreadsheets, one row a line of the explanation, with its statistics."""
    explanation, table = run.extraction.explanation, io.StringIO()
    # a carriage return in a cell without quotes would end its row
    writer = csv.writer(table, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(["line", "depth", *explanation.headings, "then", "rows", "applies_to", "right_on"])
    for line, statistics in zip(explanation.lines(), run.extraction.lines, strict=True):
        cells = line.cells or ("",) * len(explanation.headings)
        support, precision = statistics.support, statistics.precision
        measured = [
            "" if share is None or not share.size else round(share.estimate, 6)
            for share in (support, precision)
        ]
        rows = "" if statistics.rows is None else statistics.rows
        writer.writerow([line.text, line.depth, *cells, line.outcome, rows, *measured])
    return table.getvalue()


def _latex(run: Run, background: bool) -> str:
    extraction = run.extraction
    return (extraction.compiled.theory if background else extraction.theory).export("latex")


def _dimacs(run: Run, background: bool) -> str:
    return run.extraction.compiled.theory.to_dimacs()


def _sympy(run: Run, background: bool) -> str:
    return run.extraction.compiled.theory.export("sympy")


def _source(language: str) -> Callable[[Run, bool], str]:
    """The decision in a language; a theory from queries as it is."""

    def write(run: Run, background: bool) -> str:
        from hornbook.explanations import HornRules, write_source

        explanation = run.extraction.explanation
        if isinstance(explanation, HornRules):
            return explanation.theory.export(language)
        return write_source(explanation, language)

    return write


def _file(run: Run, name: str) -> str:
    try:
        return (run.folder / name).read_text("utf-8")
    except OSError as error:
        raise HornbookError(f"cannot read {run.folder / name}: {error.strerror}") from None


_FORMATS: dict[Format, Callable[[Run, bool], str]] = {
    Format.TEXT: _text,
    Format.JSON: _json,
    Format.CSV: _csv,
    Format.RULES: _rules,
    Format.HTML: _html,
    Format.LATEX: _latex,
    Format.DIMACS: _dimacs,
    Format.SYMPY: _sympy,
    **{form: _source(form.value) for form in (Format.PROLOG, Format.PYTHON, Format.SQL)},
}
