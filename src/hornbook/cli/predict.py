"""`hornbook predict`."""

from __future__ import annotations

import io
from csv import writer as make_writer
from pathlib import Path
from typing import Annotated

import typer

from hornbook.cli.app import CsvOption, JsonOption, RunArgument, app, emit, emit_json, read_table_file


@app.command()
def predict(
    run: RunArgument,
    data: Annotated[Path, typer.Argument(help="A CSV, ARFF or Parquet file with the run's columns.")],
    csv: CsvOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide the rows of a table by a run's explanation: a class a row, and the facts that decided.

    Prints CSV: the number of the row, its class, and the facts in words.

    Example:
      hornbook predict run/ new.csv > decisions.csv

    """
    from hornbook.runs import Run

    explanation = Run.load(run).extraction.explanation
    frame = read_table_file(data, csv).frame
    decided = explanation.decide(frame)
    reasons = [explanation.explain(frame.iloc[[number]]).facts for number in range(len(frame))]
    classes = [explanation.classes[number] for number in decided]
    if as_json:
        rows = zip(classes, reasons, strict=True)
        emit_json({"rows": [{"class": name, "facts": list(facts)} for name, facts in rows]})
        return
    table = io.StringIO()
    writer = make_writer(table, lineterminator="\n")
    writer.writerow(["row", "class", "because"])
    for number, (name, facts) in enumerate(zip(classes, reasons, strict=True), 1):
        writer.writerow([number, name, "; ".join(facts)])
    emit(table.getvalue().rstrip("\n"))
