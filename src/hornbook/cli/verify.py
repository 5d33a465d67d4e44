"""`hornbook verify`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from hornbook.cli.app import (
    MODEL_SECONDS,
    JsonOption,
    ModelSecondsOption,
    ProofSecondsOption,
    TrustOption,
    app,
    emit,
    emit_json,
    progress,
    reload_table,
)
from hornbook.errors import HornbookError


@app.command()
def verify(
    context: typer.Context,
    run: Annotated[
        Path, typer.Argument(help="A run folder, made with --proof by hornbook extract or hornbook query.")
    ],
    model: Annotated[Path | None, typer.Option(help="The model file, if it has moved since the run.")] = None,
    trust_pickle: TrustOption = False,
    model_seconds: ModelSecondsOption = MODEL_SECONDS,
    proof_seconds: ProofSecondsOption = 120.0,
    as_json: JsonOption = False,
) -> None:
    """Verify the proofs of a run: derive each of them again from the model.

    Exit code 0 if all claims hold, 1 if some fail (one line each), 2 if a file cannot be read.

    Example:
      hornbook verify run/

    """
    from hornbook.explanations import HornRules
    from hornbook.models import limit_model_seconds
    from hornbook.runs import Run, verify_lines, verify_run
    from hornbook.runs.proving import find_changed_files

    context.with_resource(limit_model_seconds(model_seconds))
    kept = Run.load(run)
    findings = []
    with progress("checking proofs", len(kept.extraction.lines)) as show:
        if isinstance(kept.extraction.explanation, HornRules):
            found = verify_run(kept, model=model, trust_pickle=trust_pickle, seconds=proof_seconds)
        else:
            source, table = kept.find_model(model), reload_table(kept)
            changed = list(find_changed_files(kept, source, table.table.checksum()))
            black_box = None if changed else kept.load_model(source, trust_pickle)
            found = iter(changed) if changed else verify_lines(kept, black_box, table.features, proof_seconds)
        for finding in found:
            findings.append(finding)
            show(finding.about)
    if not findings:
        raise HornbookError(f"{run} holds no proofs; make some with --proof")
    holds = all(finding.holds for finding in findings)
    if as_json:
        emit_json({"holds": holds, "findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            emit(f"{'holds' if finding.holds else 'FAILS'}  {finding.about}   # {finding.says}")
    raise typer.Exit(0 if holds else 1)
