"""`hornbook explain` and `hornbook predict`: what a run's explanation decides, of one case and of a table."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from csv import writer as make_writer
from dataclasses import asdict
from itertools import count
from typing import TYPE_CHECKING

from hornbook.cli import options
from hornbook.cli.app import USE, HelpfulCommand, app
from hornbook.cli.inputs import describe_text, read_pairs, read_row_parts
from hornbook.cli.output import emit, emit_json, emit_lines, print_remark
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    import pandas as pd

    from hornbook.explanations import Explanation
    from hornbook.explanations.explanation import Reason


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


@app.command(cls=HelpfulCommand, rich_help_panel=USE)
def predict(
    run: options.RunFolder,
    data: options.Source,
    literals: options.Literals = None,
    as_json: options.Json = False,
    csv: options.Csv = None,
    missing: options.Missing = None,
    unknown_levels: options.UnknownLevels = options.LevelsPolicy.REFUSE,
) -> None:
    """Decide the rows of a table by a run's explanation.

    Prints CSV: the number of the row, counted from 1, its class, and the facts in words. A card also
    gives its reason codes: the columns whose values favour the class most, with the points that they
    give it over their worst value. Rows are read, decided and printed some thousand at a time.

    Example:
      hornbook predict run/ new.csv > decisions.csv

    """
    from hornbook.code_book import describe_unknown
    from hornbook.extraction import UnknownLevels, read_given_rows
    from hornbook.runs import Run

    extraction = Run.load(run, literals).extraction
    levels = UnknownLevels(unknown_levels is options.LevelsPolicy.MISSING)

    def read(part: pd.DataFrame) -> pd.DataFrame:
        rows = read_given_rows(extraction.columns, extraction.code_book, part, levels)
        for column in extraction.explanation.columns:
            if column not in rows:
                raise HornbookError(f"{data}: {describe_unknown(column, list(map(str, part)))}")
        return rows

    parts = map(read, read_row_parts(data, describe_text(csv, missing)))
    (_emit_json if as_json else _emit_csv)(extraction.explanation, parts)
    for note in (*levels.describe(), *extraction.describe_refuted()):
        print_remark(note)


def _emit_csv(explanation: Explanation, parts: Iterator[pd.DataFrame]) -> None:
    """Print a line for each row, part by part."""
    from hornbook.explanations import MAX_SHOWN_CODES

    coded = bool(explanation.headings)  # it gives points
    lines = [["row", "class", "because", *(["reasons"] if coded else [])]]
    numbers = count(1)
    for part in parts:
        for name, reason in _decide(explanation, part):
            codes = "; ".join(f"{code.fact} ({code.points:+d})" for code in reason.codes[:MAX_SHOWN_CODES])
            lines.append([str(next(numbers)), name, "; ".join(reason.facts), *([codes] if coded else [])])
        text = io.StringIO()
        make_writer(text, lineterminator="\n").writerows(lines)
        emit(text.getvalue(), end="")
        lines.clear()


def _emit_json(explanation: Explanation, parts: Iterator[pd.DataFrame]) -> None:
    """Print one JSON object with an entry for each row, part by part."""
    before = '{"rows": ['
    for part in parts:
        entries = (
            {"class": name, "facts": list(reason.facts), "reason_codes": list(map(asdict, reason.codes))}
            for name, reason in _decide(explanation, part)
        )
        emit(before + ", ".join(json.dumps(entry, ensure_ascii=False) for entry in entries), end="")
        before = ", "
    emit("]}")


def _decide(explanation: Explanation, rows: pd.DataFrame) -> Iterator[tuple[str, Reason]]:
    """The class of each row by an explanation, and why."""
    reasons = explanation.explain_rows(rows)
    for number, reason in zip(explanation.decide(rows), reasons, strict=True):
        yield explanation.classes[number], reason
