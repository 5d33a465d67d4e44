"""`hornbook reproduce`."""

from __future__ import annotations

import json
import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hornbook.cli.app import RESUME, Interrupted, app
from hornbook.storage import lock_folder

DEFAULT_WIDTH = 160
"""Width of the printed tables, in characters, when the output is no terminal."""


class ScaleName(StrEnum):
    """Size of a reproduction: number of seeds, networks and queries."""

    QUICK = "quick"
    PAPER = "paper"


class ProtocolName(StrEnum):
    """The experiment: as the paper has it, our harder one, or both."""

    PAPER = "paper"
    HARD = "hard"
    BOTH = "both"


@app.command()
def reproduce(
    context: typer.Context,
    output: Annotated[Path, typer.Option("--output", "-o", help="The run folder to write.")],
    data: Annotated[
        Path | None, typer.Option(help="The HCC file; without it, a synthetic cohort is used.")
    ] = None,
    scale: Annotated[
        ScaleName, typer.Option(help="quick: under 2 minutes on two cores; paper: under 25.")
    ] = ScaleName.QUICK,
    protocol: Annotated[
        ProtocolName,
        typer.Option(help="paper: as its text has it; hard: a harder task of ours, beside it."),
    ] = ProtocolName.BOTH,
    scan: Annotated[
        bool, typer.Option("--scan", help="Vary each choice that the paper leaves open instead; minutes.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the first repetition.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the metrics as one JSON object.")] = False,
) -> None:
    """Reproduce the paper end to end: every table, with our figures next to the published ones.

    Run the same command again to resume an interrupted run. With --scan, each choice that the paper
    leaves open is varied; a later run in the same folder reports what came of it.

    Examples:
      hornbook reproduce -o run/

      hornbook reproduce --data hcc-survival.csv --scale paper -o run/

      hornbook reproduce --data hcc-survival.csv --scale paper --scan -o run/

    """
    from rich.console import Console

    from hornbook.paper import PROTOCOLS, SCALES
    from hornbook.paper.claims import answer_in_sentences
    from hornbook.paper.report import opening, scan_title, summary_tables, title
    from hornbook.paper.reproduce import reproduce as run_all
    from hornbook.paper.reproduce import scan_choices
    from hornbook.paper.tables import scan_sentence, scan_table
    from hornbook.tables import load_dataset

    table = load_dataset() if data is None else load_dataset("hcc", path=data)
    context.with_resource(lock_folder(output))
    synthetic, size = data is None, SCALES[scale.value]
    chosen = tuple(PROTOCOLS.values()) if protocol is ProtocolName.BOTH else (PROTOCOLS[protocol.value],)
    # joblib replaces a worker that has grown, and loses no work
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    try:
        result = (
            scan_choices(table, output, size, seed, synthetic=synthetic)
            if scan
            else run_all(table, output, size, seed, protocols=chosen, synthetic=synthetic)
        )
    except KeyboardInterrupt:
        raise Interrupted(RESUME) from None
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
        return
    console = Console()
    if not console.is_terminal:
        console = Console(width=DEFAULT_WIDTH)
    lines = [scan_title(result)] if scan else [title(result), opening(result)]
    answer = [scan_sentence(result)] if scan else answer_in_sentences(result)
    for line in lines:
        console.print(line, markup=False, highlight=False)
    for each in [scan_table(result)] if scan else summary_tables(result):
        console.print(each.to_rich())
    print(f"report: {output / ('scan.html' if scan else 'report.html')}")
    for line in answer:
        console.print(line, markup=False, highlight=False)
