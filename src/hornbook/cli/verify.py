"""`hornbook verify`."""

from __future__ import annotations

import typer

from hornbook.cli import options
from hornbook.cli.app import USE, HelpfulCommand, app
from hornbook.cli.output import emit_json, emit_lines, progress


@app.command(cls=HelpfulCommand, rich_help_panel=USE)
def verify(
    run: options.RunFolder,
    as_json: options.Json = False,
    model: options.MovedModel = None,
    data: options.MovedData = None,
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Verify a run: make it and its proofs again, and compare.

    It takes as long as the run did, and lists what it cannot compare. Exit code 0 if everything
    holds, 1 if something does not (one line each), 2 if a file cannot be read.

    Example:
      hornbook verify run/

    """
    from hornbook.runs import verify_folder

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
