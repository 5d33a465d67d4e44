"""`hornbook show`."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hornbook.cli.app import app, emit
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.deciders import Decider
    from hornbook.runs.folder import Run


class Format(StrEnum):
    """Output formats of the rules."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    PROLOG = "prolog"
    DIMACS = "dimacs"
    SYMPY = "sympy"
    PYTHON = "python"
    SQL = "sql"
    HTML = "html"
    LATEX = "latex"


@app.command()
def show(
    run: Annotated[Path, typer.Argument(help="A run folder, made by hornbook extract.")],
    form: Annotated[
        Format, typer.Option("--format", "-f", help="Output format; html is the whole report.")
    ] = Format.TEXT,
    background: Annotated[
        bool,
        typer.Option("--background", help="Include rules that hold by construction (text, csv, latex)."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False,
) -> None:
    """Show the rules of a run.

    Prolog, DIMACS, SymPy, Python and SQL contain the whole theory: the rules that hold by
    construction too and, for a card or a tree, the rules that compute its answer.

    Examples:
      hornbook show run/

      hornbook show run/ --format prolog | swipl -q -f /dev/stdin

      hornbook show run/ --format csv > rules.csv

      hornbook show run/ --format html > report.html

    """
    from hornbook.runs.folder import Run

    emit(_FORMATS[Format.JSON if as_json else form](Run.load(run), background).rstrip("\n"))


def _text(run: Run, background: bool) -> str:
    from hornbook.extractor.display import lines

    known = str(run.answers.plain().background).splitlines() if background else []
    return "\n".join([*lines(run.answers, run.rules, run.describe), *known])


def _json(run: Run, background: bool) -> str:
    return _file(run, "rules.json")


def _html(run: Run, background: bool) -> str:
    return _file(run, "report.html")


def _csv(run: Run, background: bool) -> str:
    """Write a table for spreadsheets, with one row per rule, line of the card or line of the tree."""
    from hornbook.logic.syntax import UNICODE, head_text, quote

    answers, table = run.answers, io.StringIO()
    # a carriage return in a cell without quotes would end its row
    writer = csv.writer(table, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    if answers.decider is not None:
        writer.writerows(_decider_rows(answers.decider, run.describe))
        return table.getvalue()
    writer.writerow(["if", "then", "in words", "applies_to", "right_on"])
    reported_rules = {reported.rule: reported for reported in run.rules}
    for rule in answers.theory if background else answers.rules:
        names = answers.theory.vocabulary.named(rule.body)
        reported = reported_rules.get(rule)
        shares = (reported.support, reported.precision) if reported else ()
        measured = [f"{share.estimate:.6f}" if share.size else "" for share in shares] or ["", ""]
        head = head_text(answers.theory.vocabulary, rule.head, UNICODE)
        writer.writerow(
            [" & ".join(map(quote, names)), head, " and ".join(map(run.describe, names)), *measured]
        )
    return table.getvalue()


def _decider_rows(decider: Decider, describe: Callable[[str], str]) -> Iterator[tuple[str | int, ...]]:
    """Yield the header and the rows of a card or a tree."""
    from hornbook.cards.card import Card
    from hornbook.logic.syntax import quote

    if isinstance(decider, Card):
        yield "points", "if_unknown", "if", "in words"
        for item in decider.items:
            names = decider.vocabulary.named(item.body)
            yield (
                item.points,
                item.if_unknown,
                " & ".join(map(quote, names)),
                " and ".join(map(describe, names)),
            )
        return
    yield "depth", "otherwise", "if", "then", "in words"
    for step in decider.steps():
        name = "" if step.literal is None else decider.vocabulary.name(step.literal)
        answer = "" if step.answer is None else decider.outcome(step.answer)
        yield step.depth, int(step.otherwise), name, answer, describe(name) if name else ""


def _latex(run: Run, background: bool) -> str:
    return (run.answers.theory if background or run.answers.decider is not None else run.found).export(
        "latex"
    )


def _dimacs(run: Run, background: bool) -> str:
    return run.answers.theory.to_dimacs()


def _exporter(language: str) -> Callable[[Run, bool], str]:
    return lambda run, background: run.answers.theory.export(language)


def _sql(run: Run, background: bool) -> str:
    from hornbook.deciders import to_sql

    decider = run.answers.decider
    return run.answers.theory.export("sql") if decider is None else to_sql(decider)


def _file(run: Run, name: str) -> str:
    try:
        return (run.folder / name).read_text("utf-8")
    except OSError as error:
        raise HornbookError(f"cannot read {run.folder / name}: {error.strerror}") from None


_FORMATS: dict[Format, Callable[[Run, bool], str]] = {
    Format.TEXT: _text,
    Format.JSON: _json,
    Format.CSV: _csv,
    Format.HTML: _html,
    Format.LATEX: _latex,
    Format.DIMACS: _dimacs,
    Format.SQL: _sql,
    **{form: _exporter(form.value) for form in (Format.PROLOG, Format.SYMPY, Format.PYTHON)},
}
