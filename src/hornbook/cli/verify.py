"""`hornbook verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hornbook.cli.app import app
from hornbook.cli.output import emit, emit_json, progress
from hornbook.logic.errors import HornbookError
from hornbook.logic.formats import rule_object
from hornbook.logic.syntax import UNICODE, rule_text


@app.command()
def verify(
    proofs: Annotated[Path, typer.Argument(help="A run folder, or a file of proofs.")],
    model: Annotated[
        Path | None, typer.Option(help="The model, if it is no longer where the proofs say.")
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load a pickle, which can run anything.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check the proofs of a run again: witnesses are given to the model, proofs are made anew.

    Exit code 0 if every certificate holds, 1 if one does not.

    Example:
      hornbook verify run/

    """
    from hornbook.oracles.adapters import load_model
    from hornbook.oracles.proof.certificate import PROOFS, read
    from hornbook.oracles.proof.verification import restored, verified

    path = proofs / PROOFS if proofs.is_dir() else proofs
    content = read(path)
    source = _model(model, content.get("model"), path)
    prover = restored(content, load_model(source, trust_pickle), source.name)
    checked = []
    with progress("checking proofs", len(content["proofs"])) as watch:
        for each in verified(prover, content):
            checked.append(each)
            watch({"query": len(checked), "rules": len(content["proofs"]), "membership_queries": 0})
    if as_json:
        emit_json(
            {"holds": all(each.holds for each in checked), "proofs": [_entry(e, prover) for e in checked]}
        )
    else:
        for each in checked:
            word = "holds" if each.holds else "FAILS"
            emit(f"{word}  {each.status}  {rule_text(prover.vocabulary, each.rule, UNICODE)}   # {each.says}")
    raise typer.Exit(0 if all(each.holds for each in checked) else 1)


def _model(given: Path | None, recorded: str | None, path: Path) -> Path:
    """The file of the model: the one given, the one beside the proofs, or the one that they name."""
    if given is not None:
        return given
    if recorded is None:
        raise HornbookError(f"{path} does not say where the model is; name it with --model")
    beside = path.parent / Path(recorded).name
    return beside if beside.is_file() else Path(recorded)


def _entry(each: Any, prover: Any) -> dict[str, Any]:
    rule = rule_object(prover.vocabulary, each.rule)
    return {**rule, "verdict": each.status, "holds": each.holds, "says": each.says}
