"""`hornbook predict`."""

from __future__ import annotations

import io
from csv import writer as make_writer
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from hornbook.cli.app import CsvOption, JsonOption, RunArgument, app, emit, emit_json, read_row_file


@app.command()
def predict(
    run: RunArgument,
    data: Annotated[Path, typer.Argument(help="A CSV, ARFF or Parquet file with the run's columns.")],
    csv: CsvOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide the rows of a table by a run's explanation: a class a row, and the facts that decided.

    Prints CSV: the number of the row, its class, and the facts in words. A card also gives its reason
    codes: the columns whose values favour the class most, with the points that they give it over their
    worst value.

    Example:
      hornbook predict run/ new.csv > decisions.csv

    """
    from hornbook.explain import MAX_SHOWN_CODES
    from hornbook.extraction import read_given_rows
    from hornbook.runs import Run

    extraction = Run.load(run).extraction
    explanation, frame = extraction.explanation, read_given_rows(extraction, read_row_file(data, csv))
    decided = explanation.decide(frame)
    reasons = explanation.explain_rows(frame)
    classes = [explanation.classes[number] for number in decided]
    if as_json:
        rows = [
            {"class": name, "facts": list(reason.facts), "reason_codes": list(map(asdict, reason.codes))}
            for name, reason in zip(classes, reasons, strict=True)
        ]
        emit_json({"rows": rows})
        return
    coded = bool(explanation.headings)  # it gives points
    table = io.StringIO()
    writer = make_writer(table, lineterminator="\n")
    writer.writerow(["row", "class", "because", *(["reasons"] if coded else [])])
    for number, (name, reason) in enumerate(zip(classes, reasons, strict=True), 1):
        codes = "; ".join(f"{code.fact} ({code.points:+d})" for code in reason.codes[:MAX_SHOWN_CODES])
        writer.writerow([number, name, "; ".join(reason.facts), *([codes] if coded else [])])
    emit(table.getvalue().rstrip("\n"))
