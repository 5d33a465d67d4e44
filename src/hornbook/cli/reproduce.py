"""`hornbook reproduce`."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hornbook.cli.app import app, exit_interrupted

DEFAULT_WIDTH = 160
"""Width of the printed tables, in characters, when the output is no terminal."""


class ScaleName(StrEnum):
    """Size of a reproduction: number of seeds, networks and queries."""

    QUICK = "quick"
    PAPER = "paper"


@app.command()
def reproduce(
    output: Annotated[Path, typer.Option("--output", "-o", help="The run folder to write.")],
    data: Annotated[
        Path | None, typer.Option(help="The HCC file; without it, a synthetic cohort is used.")
    ] = None,
    scale: Annotated[
        ScaleName, typer.Option(help="quick: under 3 minutes on two cores; paper: under 15.")
    ] = ScaleName.QUICK,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the first repetition.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the metrics as one JSON object.")] = False,
) -> None:
    """Reproduce the paper end to end: every table, with our figures next to the published ones.

    Run the same command again to resume an interrupted run.

    Examples:
      hornbook reproduce -o run/

      hornbook reproduce --data hcc-survival.csv --scale paper -o run/

    """
    from rich.console import Console

    from hornbook.data import load_dataset
    from hornbook.paper import SCALES
    from hornbook.paper.report import opening, tables, title
    from hornbook.paper.reproduce import reproduce as run_all

    table = load_dataset() if data is None else load_dataset("hcc", path=data)
    try:
        metrics = run_all(table, output, SCALES[scale.value], seed, synthetic=data is None)
    except KeyboardInterrupt:
        exit_interrupted()
    if as_json:
        print(json.dumps(metrics, ensure_ascii=False))
        return
    console = Console()
    if not console.is_terminal:
        console = Console(width=DEFAULT_WIDTH)
    for line in (title(metrics), opening(metrics)):
        console.print(line, markup=False, highlight=False)
    for each in tables(metrics):
        console.print(each.to_rich())
    print(f"report: {output / 'report.html'}")
