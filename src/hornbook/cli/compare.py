"""`hornbook compare`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli.app import app, emit, emit_json, load_table, progress
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.extractor.subject import Judged, Subject
    from hornbook.runs.comparison import ComparisonRow
    from hornbook.runs.folder import Run


@app.command()
def compare(
    run: Annotated[Path, typer.Argument(help="A run folder, made by hornbook extract.")],
    samples: Annotated[int, typer.Option(min=1, help="Number of training samples of each tree.")] = 20_000,
    seconds: Annotated[float, typer.Option(help="Time limit of the Hoeffding tree in seconds.")] = 20.0,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load a pickle file, which can run any code.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compare the rules of a run with decision trees fitted to the same model.

    The model and the data must still be in place and unchanged. River's Hoeffding tree is included
    if the extra `river` is installed.

    Examples:
      hornbook compare run/

      hornbook compare run/ --samples 50000 --json

    """
    from hornbook.extraction import share_object
    from hornbook.runs.comparison import compare_with_trees
    from hornbook.runs.folder import Run

    kept = Run.load(run)
    subject = _subject(kept, trust_pickle)
    with progress("fitting trees") as watch:
        rows = []
        for row in compare_with_trees(kept.answers, subject, samples, seed, seconds):
            rows.append(row)
            watch({"candidate": len(rows), "form": row.method, "rules": row.rules, "literals": row.literals,
                   "fidelity": row.fidelity.estimate})  # fmt: skip
    if as_json:
        emit_json({"rows": [{**asdict(row), "fidelity": share_object(row.fidelity)} for row in rows]})
        return
    emit("\n".join(_format_rows(rows)))
    emit(f"# on {samples:,} fresh samples; for a tree: rules = leaves, literals = tests on the paths to them")


def _subject(run: Run, trust_pickle: bool) -> Subject | Judged:
    """Restore the model and table of a run; refuse them if they have changed."""
    from hornbook.runs.models import find_run_model, load_run_model, restore_extractor

    config: dict[str, Any] = run.config
    data = config["data"]
    table = load_table(data["source"], data["target"], data["positive"], data["above"])
    if table.checksum() != data["sha256"]:
        raise HornbookError(f"{data['source']} has changed since the run was made: the checksums differ")
    extractor = restore_extractor(run, load_run_model(run, find_run_model(run), trust_pickle))
    return extractor.subjects(table.frame if extractor.judge else table.features)[0]


def _format_rows(rows: list[ComparisonRow]) -> list[str]:
    """Format a comparison as an aligned text table."""
    cells = [
        [
            row.method,
            f"{100 * row.fidelity.estimate:.2f} %",
            f"{100 * row.fidelity.low:.2f}–{100 * row.fidelity.high:.2f}",
            str(row.rules),
            str(row.literals),
            "" if row.seconds is None else f"{row.seconds:.1f}",
        ]
        for row in rows
    ]
    table = [["method", "fidelity", "95 % interval", "rules", "literals", "seconds"], *cells]
    widths = [max(len(line[column]) for line in table) for column in range(6)]
    return [
        "  ".join(cell.ljust(width) if not column else cell.rjust(width)
                  for column, (cell, width) in enumerate(zip(line, widths, strict=True))).rstrip()
        for line in table
    ]  # fmt: skip
