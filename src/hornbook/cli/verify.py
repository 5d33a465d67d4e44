"""`hornbook verify`."""

from __future__ import annotations

import typer

from hornbook.cli.app import USE, HelpfulCommand, app
from hornbook.cli.options import (
    MODEL_SECONDS,
    JsonOption,
    ModelSecondsOption,
    MovedDataOption,
    MovedModelOption,
    RunArgument,
    TrustOption,
)
from hornbook.cli.output import emit_json, emit_lines, progress


@app.command(cls=HelpfulCommand, rich_help_panel=USE)
def verify(
    context: typer.Context,
    run: RunArgument,
    model_seconds: ModelSecondsOption = MODEL_SECONDS,
    as_json: JsonOption = False,
    model: MovedModelOption = None,
    data: MovedDataOption = None,
    trust_pickle: TrustOption = False,
) -> None:
    """Verify a run: make it and its proofs again, and compare.

    That takes as long as it took. What has nothing to be compared with is listed. Exit code 0 if everything
    holds, 1 if something does not (one line each), 2 if a file cannot be read.

    Example:
      hornbook verify run/

    """
    from hornbook.models import limit_model_seconds
    from hornbook.runs import verify_folder

    context.with_resource(limit_model_seconds(model_seconds))
    findings = []
    with progress("making the run again") as show:
        for finding in verify_folder(run, data, model, trust_pickle):
            findings.append(finding)
            show(finding.about)
    holds = all(finding.holds is not False for finding in findings)
    if as_json:
        emit_json({"holds": holds, "findings": findings})
    else:
        words = {True: "holds", False: "FAILS", None: "not derived"}
        for finding in findings:
            emit_lines([f"{words[finding.holds]}  {finding.about}   # {finding.says}"])
    raise typer.Exit(0 if holds else 1)
