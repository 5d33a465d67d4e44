"""`hornbook verify`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from hornbook.cli.app import app, emit, emit_json, progress


@app.command()
def verify(
    run: Annotated[Path, typer.Argument(help="A run folder, made by hornbook extract --proof.")],
    model: Annotated[
        Path | None, typer.Option(help="The model, if it is no longer where the run says.")
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load a pickle, which can run anything.")
    ] = False,
    proof_seconds: Annotated[float, typer.Option(min=0.1, help="What a proof may take.")] = 120.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check what a run says to be proved: all of it is derived again from the model.

    Exit code 0 if all holds, 1 and a line for each thing that does not, 2 if a file cannot be read.

    Example:
      hornbook verify run/

    """
    from hornbook.runs.folder import Run
    from hornbook.runs.proving import verify_run

    kept = Run.load(run)
    findings = []
    with progress("checking proofs", len(kept.guarantees)) as watch:
        for finding in verify_run(kept, model=model, trust_pickle=trust_pickle, seconds=proof_seconds):
            findings.append(finding)
            watch({"query": len(findings), "rules": len(kept.guarantees), "membership_queries": 0})
    holds = all(finding.holds for finding in findings)
    if as_json:
        emit_json({"holds": holds, "findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            emit(f"{'holds' if finding.holds else 'FAILS'}  {finding.about}   # {finding.says}")
    raise typer.Exit(0 if holds else 1)
