"""`hornbook verify`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli import extract, query
from hornbook.cli.app import (
    MODEL_SECONDS,
    JsonOption,
    ModelSecondsOption,
    ProofSecondsOption,
    TargetTable,
    TrustOption,
    app,
    emit,
    emit_json,
    load_test_rows,
    progress,
    reload_table,
    restore_split,
)
from hornbook.cli.extract import encode
from hornbook.cli.run import CommandRun, describe_file, describe_model, note_unused_rows
from hornbook.errors import HornbookError, ModelError

if TYPE_CHECKING:
    from hornbook.proof import Finding
    from hornbook.runs import Run
    from hornbook.runs.verification import MadeAgain

PATIENCE = 1000
"""How much more time than the run a run under a time limit gets when it is made again."""


@app.command()
def verify(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    model: Annotated[Path | None, typer.Option(help="The model file, if it has moved since the run.")] = None,
    trust_pickle: TrustOption = False,
    model_seconds: ModelSecondsOption = MODEL_SECONDS,
    proof_seconds: ProofSecondsOption = 120.0,
    as_json: JsonOption = False,
) -> None:
    """Verify a run: no file was changed, and model and table give the same result and proofs again.

    The run is made again, which takes as long as it took. What has nothing to be compared with is listed.

    Exit code 0 if everything holds, 1 if something does not (one line each), 2 if a file cannot be read.

    Example:
      hornbook verify run/

    """
    from hornbook.models import limit_model_seconds

    context.with_resource(limit_model_seconds(model_seconds))
    findings = []
    with progress("verifying") as show:
        for finding in _verify(run, model, trust_pickle, proof_seconds):
            findings.append(finding)
            show(finding.about)
    holds = all(finding.holds is not False for finding in findings)
    if as_json:
        emit_json({"holds": holds, "findings": findings})
    else:
        words = {True: "holds", False: "FAILS", None: "not derived"}
        for finding in findings:
            emit(f"{words[finding.holds]}  {finding.about}   # {finding.says}")
    raise typer.Exit(0 if holds else 1)


def _verify(folder: Path, model: Path | None, trust_pickle: bool, seconds: float) -> Iterator[Finding]:
    from hornbook.proof import Finding
    from hornbook.runs import Run, find_broken_seals, list_unsealed, read_seal, result_files
    from hornbook.runs.folder import DIFF_FILE, EXTRACTION_FILE
    from hornbook.runs.verification import compare_config, compare_files, refuse_unfinished, verify_run

    sealed = read_seal(folder)
    if broken := list(find_broken_seals(folder, sealed)):
        yield from broken
        return
    yield Finding(str(folder), True, f"{len(sealed)} files are as the run left them")
    yield from list_unsealed(folder, sealed)
    if DIFF_FILE in sealed:
        yield Finding(DIFF_FILE, None, "a comparison of models is not made again; nothing was verified")
        return
    try:
        kept = Run.load(folder)
    except HornbookError as error:  # although it was sealed so
        yield Finding(str(folder), False, str(error))
        return
    if "data" not in kept.config:
        files = result_files(kept.extraction)
        del files[EXTRACTION_FILE]
        yield from compare_files(kept, files, sealed)
        claims = any(line.guarantee is not None for line in kept.extraction.lines)
        says = "it was saved from Python, with no path of a model or a table"
        yield Finding(EXTRACTION_FILE, False if claims else None, says)
        return
    refuse_unfinished(kept)
    loaded = None
    try:
        table, about = reload_table(kept), kept.config["model"]
        source = about.get("url") or str(kept.find_model(model))
        if changed := list(_find_changed_inputs(kept, table, source)):
            yield from changed
            return
        yield Finding(about["name"], True, "the model of the run")
        yield Finding(table.table.name, True, "the table of the run")
        loaded = kept.load_model(None if "url" in about else Path(source), trust_pickle)
        yield from compare_config(kept, _describe_inputs(kept, table, loaded, source))
        with TemporaryDirectory() as scratch:
            again = _make_again(kept, table, loaded, source, Path(scratch) / "trace.jsonl")
        yield from verify_run(kept, again, sealed, seconds)
    except Exception as error:  # settings that no run has can fail anywhere
        if isinstance(error, ModelError) or (isinstance(error, HornbookError) and loaded is None):
            raise  # model or table cannot be read
        reason = str(error) if isinstance(error, HornbookError) else repr(error)
        yield Finding(str(folder), False, f"it cannot be made again as it says: {reason}".partition("\n")[0])


def _find_changed_inputs(kept: Run, table: TargetTable, source: str) -> Iterator[Finding]:
    """A finding for each of model, table, test rows and code book that is not what it was."""
    from hornbook.proof import Finding
    from hornbook.runs import file_checksum

    data, about = kept.config["data"], kept.config["model"]
    files = [(Path(source), about)] if "sha256" in about else []
    given = (data.get("test"), kept.config["settings"].get("code_book"))
    files += [(Path(each["path"]), each) for each in given if each is not None]
    changed = [path.name for path, each in files if file_checksum(path) != each["sha256"]]
    if table.table.checksum() != data["sha256"]:
        changed.append(str(data["source"]))
    for name in changed:
        yield Finding(name, False, "it has changed since the run was made: the checksums differ")


def _describe_inputs(kept: Run, table: TargetTable, loaded: Any, source: str) -> dict[str, Any]:
    """The parts of a configuration that say what the model and the table are, described again.

    A network that the run trained, and a file that has moved, are known by their checksums alone.
    """
    about, test = kept.config["model"], kept.config["data"].get("test")
    if test is not None:
        table = table.with_test_rows(describe_file(Path(test["path"])))
    parts = {"data": table.to_object(), "target": table.target}
    if _is_trained(about) or source not in (about.get("url"), about.get("path")):
        return parts
    return {**parts, "model": describe_model(source, loaded)}


def _is_trained(about: Mapping[str, Any]) -> bool:
    """Whether a run trained its model, which then is in its folder."""
    return "held_out" in about


def _make_again(kept: Run, table: TargetTable, loaded: Any, source: str, trace: Path) -> MadeAgain:
    """Make the run again that is in a folder; nothing is written there.

    The loaded model is that of `source`, and `trace` is a file for the trace.
    """
    from hornbook.code_book_source import read_code_book
    from hornbook.queries import HornRules
    from hornbook.runs.verification import MadeAgain

    config, about = kept.config, kept.config["model"]
    settings, name = config["settings"], about.get("url") or about["path"]
    book = settings["code_book"]
    run = CommandRun(config, None, tuple(note_unused_rows(table.table)))
    if not isinstance(kept.extraction.explanation, HornRules):
        test, frame = config["data"].get("test"), table.features
        words = read_code_book(book and Path(book["path"]), frame)
        black_box = loaded if _is_trained(about) else encode(loaded, settings["encoding"], name)
        extractor = extract.make_extractor(black_box, table, settings, words)
        unseen = None if test is None else load_test_rows(Path(test["path"]), table, config["data"]["csv"])
        extractor.fit(frame, groups=table.groups, unseen=unseen)
        extraction = run.add_provenance(extractor.extraction_)
        return MadeAgain(extraction, black_box, frame, lambda: extractor.explain_cases(config.get("why", 0)))
    frame = table.table.frame if settings["judge"] else table.features
    words = read_code_book(book and Path(book["path"]), frame)
    used, _ = restore_split(kept, table)
    rows, kinds = frame.iloc[used], table.kinds_of(frame, words)
    bound, binariser = query.bind_model(loaded, settings["encoding"], name, rows, kinds)
    if (limit := settings["max_seconds"]) is not None:
        settings = {**settings, "max_seconds": PATIENCE * limit}
    learner = query.make_extractor(bound, table, settings, binariser, words)
    learner.fit(frame, groups=table.groups, trace=trace)
    prover = None if config.get("proof") is None else learner.bound_.prover()
    extraction = run.add_provenance(learner.extraction_)
    return MadeAgain(
        extraction, bound, frame, trace=trace.read_text("utf-8"), prover=prover, source=Path(source)
    )
