"""`hornbook reproduce`."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated, Literal

import typer

from hornbook.cli import options
from hornbook.cli.app import THEORIES, HelpfulCommand, app
from hornbook.cli.output import RESUME, Interrupted, emit, emit_lines, progress
from hornbook.errors import HornbookError, library
from hornbook.storage import lock_folder


@app.command(cls=HelpfulCommand, rich_help_panel=THEORIES)
def reproduce(
    context: typer.Context,
    output: Annotated[Path, options.into("--output", "-o", help="The run folder to write.")],
    study: Annotated[
        Literal["paper", "envelopes"],
        options.what(help="paper, or envelopes: what a language model takes for granted."),
    ] = "paper",
    scale: Annotated[
        Literal["quick", "paper"],
        options.how_long(help="quick: the paper's own network, a minute; paper: all 4,080, 15 minutes."),
    ] = "quick",
    protocol: Annotated[
        Literal["paper", "hard", "both"],
        options.what(help="paper: both readings of it; hard: a harder task of ours; both."),
    ] = "paper",
    seed: Annotated[int, options.how_sure(min=0, help="Random seed of the first repetition.")] = 0,
    write: Annotated[Path | None, options.into(help="A Markdown document to put the tables into.")] = None,
    as_json: Annotated[bool, options.into("--json", help="Print one JSON object.")] = False,
    model: Annotated[
        str | None, options.files(help="Of envelopes: a GGUF file, a folder, a URL or TOML file.")
    ] = None,
    data: Annotated[Path | None, options.files(help="The HCC file; without it, a synthetic cohort.")] = None,
) -> None:
    """Reproduce the paper: its tables, our figures next to the published ones.

    The paper says two things of an unknown value: that it is 0, as its dual is, and that it is a value of
    its own; its protocol is run with both. Run the same command again to resume an interrupted run.

    Examples:
      hornbook reproduce -o run/

      hornbook reproduce --data hcc-survival.csv --scale paper -o run/

      hornbook reproduce --study envelopes --model SmolLM2.gguf -o run/

    """
    from hornbook import paper
    from hornbook.tables import load_dataset

    if study == "envelopes":
        if model is None:
            raise HornbookError(
                "name a language model: --model with a GGUF file, a folder, a URL or a TOML file"
            )
        context.with_resource(lock_folder(output))
        with progress("asking the model") as show:
            result = paper.study_model(model, output, show)
        if as_json:
            print(json.dumps(result, ensure_ascii=False))
        else:
            emit_lines(paper.study_lines(result))
        return
    library("torch", "torch")
    table = load_dataset() if data is None else load_dataset("hcc", path=data)
    document = paper.Document.read(write) if write else None
    context.with_resource(lock_folder(output))
    synthetic, size = data is None, paper.SCALES[scale]
    # joblib replaces a worker that has grown, and loses no work
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    chosen = tuple(
        each
        for each in paper.PROTOCOLS.values()
        if protocol == "both" or each.is_published == (protocol == "paper")
    )
    try:
        with progress("reproducing the paper") as show:
            result = paper.reproduce(
                table, output, size, seed, protocols=chosen, synthetic=synthetic, tell=show
            )
    except KeyboardInterrupt:
        raise Interrupted(RESUME) from None
    if write and document:
        document.write(result, write)
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
        return
    emit_lines(paper.verdict_lines(result))
    emit(f"report: {output / 'report.html'}")
