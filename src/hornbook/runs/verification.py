"""Verify a run: it is made again from its settings, its model and its table, proofs included, and compared.

A folder that was sealed again after an edit is told from an honest one by this alone: what the folder
says is compared with what the model and the table say now.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from typing import Any

from hornbook.code_book import read_code_book
from hornbook.errors import HornbookError, ModelError
from hornbook.extraction import Extraction, LineStatistics
from hornbook.runs.folder import (
    DIFF_FILE,
    SEAL_FILE,
    TIMES_FILE,
    TRACE_FILE,
    Run,
    is_unfinished,
    library_versions,
    list_model_files,
    list_run_files,
    read_seal,
)
from hornbook.runs.inputs import (
    TargetTable,
    describe_file,
    describe_model,
    is_trained,
    note_inputs,
    read_test_rows,
)
from hornbook.runs.making import NewRun, explain_by_settings, learn_by_settings
from hornbook.runs.proving import ProofLimits, is_confirmed, make_prover
from hornbook.storage import LOCK_FILE, file_checksum

MAX_SHOWN = 80
"""Characters of a line that a message shows."""


@dataclass(frozen=True)
class Finding:
    """The result of one check: its subject, whether it holds, and why; None for what cannot be derived."""

    about: str
    holds: bool | None
    says: str


def verify_folder(
    folder: Path, data: str | None = None, model: Path | None = None, trust_pickle: bool = False
) -> Iterator[Finding]:
    """Verify a run: whether its files are as it left them, and the same when it is made again.

    Parameters
    ----------
    folder
        The run folder; nothing is written there.
    data, model
        The table and the model file, if they have moved.
    trust_pickle
        Whether to load a pickle, which can run any code.

    """
    sealed = read_seal(folder)
    if broken := list(_find_broken_seals(folder, sealed)):
        yield from broken
        return
    yield Finding(str(folder), True, f"{len(sealed)} files are as the run left them")
    ignored = {*sealed, SEAL_FILE, LOCK_FILE}
    for name in sorted(path.name for path in folder.iterdir() if path.name not in ignored):
        yield Finding(name, None, "it is not a file of the run, so it is not sealed")
    if DIFF_FILE in sealed:
        yield Finding(DIFF_FILE, None, "a comparison of models is not made again; nothing was verified")
        return
    try:
        run = Run.load(folder)
    except HornbookError as error:  # although it was sealed so
        yield Finding(str(folder), False, str(error))
        return
    if reason := _find_obstacle(run):
        yield Finding("what the files say", None, reason)
        return
    table, about = run.load_table(data, changed=True), run.config["model"]
    source = about.get("url") or str(run.find_model(model))
    if changed := list(_find_changed_inputs(run, table, source)):
        yield from changed
        return
    loaded = run.load_model(None if "url" in about else Path(source), trust_pickle)
    yield from _compare_again(run, table, loaded, source, sealed)


def _find_broken_seals(folder: Path, sealed: Mapping[str, str]) -> Iterator[Finding]:
    """A finding for each file that was changed or removed after the folder was sealed."""
    if not sealed:
        yield Finding(SEAL_FILE, False, "it was changed after the run")
    for name, expected in sealed.items():
        path = folder / name
        if not path.is_file():
            yield Finding(name, False, "the file was removed after the run")
        elif file_checksum(path) != expected:
            yield Finding(name, False, "it was changed after the run: the checksums differ")


def _find_obstacle(run: Run) -> str | None:
    """Why nobody can make a run again; None if that can be tried. Refuse one that did not end."""
    if "data" not in run.config:
        return "it was saved from Python, with no path of a model or a table"
    extraction, limit = run.extraction, run.config["settings"].get("max_seconds")
    if is_unfinished(extraction):
        raise HornbookError(
            f"{run.folder} holds a run that did not end ({extraction.stop_reason}); resume it with the same "
            f"command: {run.config.get('command')}"
        )
    is_late = any(note.startswith("The time was up") for note in extraction.notes)
    if limit is not None and (is_late or extraction.stop_reason == f"budget of {limit} seconds"):
        return "the clock stopped the run, and nobody can make the same again"
    return None


def _find_changed_inputs(run: Run, table: TargetTable, source: str) -> Iterator[Finding]:
    """A finding for each of model, table, test rows and code book that is not what it was."""
    data, about = run.config["data"], run.config["model"]
    files = [(Path(source), about)] if "sha256" in about else []
    given = (data.get("test"), run.config["settings"].get("code_book"), *about.get("weights", {}).values())
    files += [(run.find_file(each), each) for each in given if each is not None]
    changed = [path.name for path, each in files if file_checksum(path) != each["sha256"]]
    if table.table.checksum() != data["sha256"]:
        changed.append(str(data["source"]))
    for name in changed:
        yield Finding(name, False, "it has changed since the run was made: the checksums differ")


def _compare_again(
    run: Run, table: TargetTable, loaded: Any, source: str, sealed: Collection[str]
) -> Iterator[Finding]:
    """Make a run again in a temporary folder, and compare the files."""
    with TemporaryDirectory() as scratch:
        try:
            extraction, verdicts = _make_again(run, table, loaded, source, Path(scratch))
        except ModelError:
            raise
        except Exception as error:  # settings that no run has can fail anywhere
            says = str(error) if isinstance(error, HornbookError) else repr(error)
            yield Finding(
                str(run.folder), False, f"it cannot be made again as it says: {says.splitlines()[0]}"
            )
            return
        for line, text, now in zip(extraction.lines, extraction.explanation.lines(), verdicts, strict=True):
            if line.guarantee is not None and line.guarantee.kind == "undecided":
                says = f"its proof is not derived: it was left {line.guarantee}; made again: {now}"
                yield Finding(text.text, None, says)
        made = {name: (Path(scratch) / name).read_bytes() for name in list_run_files(Path(scratch))}
    unrepeated = (TIMES_FILE, *list_model_files(run.config))
    for name in sealed:
        given = (run.folder / name).read_bytes()
        if name in unrepeated:
            yield Finding(name, None, "nothing to compare it with")
        elif name not in made:
            yield Finding(name, False, "a run like this one leaves no such file")
        elif given == made[name]:
            yield Finding(name, True, "made again, it is the same")
        else:
            yield Finding(name, False, f"{_describe_difference(given, made[name])}{_describe_versions(run)}")
    for name in made:
        if name not in (*sealed, *unrepeated):
            yield Finding(name, False, "it is not among the sealed files of the run")


def _make_again(
    run: Run, table: TargetTable, loaded: Any, source: str, folder: Path
) -> tuple[Extraction, list[Any]]:
    """Make a run again in a folder, as the commands make runs: the result, and each line's verdict now."""
    settings, proof = run.config["settings"], run.config.get("proof")
    book = settings["code_book"]
    words = read_code_book(book and run.find_file(book), table.frame_of(settings))
    derived = _describe_inputs(run, table, loaded, source)
    config = {part: derived.get(part, value) for part, value in run.config.items()}
    if settings.get("max_seconds") is not None:  # it was not the clock that ended the run
        settings = {**settings, "max_seconds": math.inf}
    prover = None
    if run.is_by_queries:
        learner = run.bind_queries(table, loaded, words)
        new = NewRun(config, folder, notes=tuple(note_inputs(table, learner, config["model"])))
        new.begin()
        extraction = learn_by_settings(learner, settings, folder / TRACE_FILE)
        prover = None if proof is None else make_prover(learner)
    else:
        subject = run.bind(table, loaded, words)
        new = NewRun(config, folder, notes=tuple(note_inputs(table, subject, config["model"])))
        new.begin()
        if (test := config["data"].get("test")) is not None:
            rows = read_test_rows(
                run.find_file(test), table.features, words, config["data"]["csv"], test["unknown_levels"]
            )
            subject = subject.with_test_rows(rows)
        extraction = explain_by_settings(subject, settings)
        prover = None if proof is None else make_prover(subject)
    extraction = new.complete(extraction, prover, proof and ProofLimits(**proof).relax())
    verdicts = [line.guarantee for line in extraction.lines]
    if len(extraction.lines) == len(run.extraction.lines):
        pairs = zip(extraction.lines, run.extraction.lines, strict=True)
        extraction = replace(extraction, lines=tuple(_settle(*pair) for pair in pairs))
    new.save(extraction)
    return extraction, verdicts


def _settle(made: LineStatistics, stated: LineStatistics) -> LineStatistics:
    """A line that was made again, with the stated verdict where that claims nothing, or nothing else."""
    claims_nothing = stated.guarantee is not None and stated.guarantee.kind == "undecided"
    if made.guarantee is not None and (claims_nothing or is_confirmed(stated.guarantee, made.guarantee)):
        return replace(made, guarantee=stated.guarantee)
    return made


def _describe_inputs(run: Run, table: TargetTable, loaded: Any, source: str) -> dict[str, Any]:
    """The parts of a configuration that say what the model and the table are, described again.

    Files are known by their checksums, wherever they are; so is a model that the run trained.
    """
    about, test = run.config["model"], run.config["data"].get("test")
    if test is not None:
        file = describe_file(run.find_file(test))
        table = table.with_test_rows({**file, "path": test["path"], "unknown_levels": test["unknown_levels"]})
    data = {**table.to_object(), "source": run.config["data"]["source"]}
    parts = {"data": data, "target": table.target}
    if is_trained(about):
        return parts
    places = {name: about[name] for name in ("path", "name") if name in about}
    described = {**describe_model(source, loaded), **places}
    for name, file in described.get("weights", {}).items():
        file["path"] = about.get("weights", {}).get(name, file)["path"]
    return {**parts, "model": described}


def _describe_difference(given: bytes, made: bytes) -> str:
    """The first line in which a file differs from what was made again."""
    pairs = enumerate(zip_longest(given.splitlines(), made.splitlines()), 1)
    for number, (one, other) in pairs:
        if one != other:
            return f"line {number} is {_show_line(one)}, and made again {_show_line(other)}"
    return "its lines end in another way"


def _show_line(line: bytes | None) -> str:
    text = "missing" if line is None else line.decode(errors="replace").strip().removesuffix(",")
    return shorten(text, MAX_SHOWN, placeholder=" …")


def _describe_versions(run: Run) -> str:
    """The libraries that are of other versions than those of the run, to end a sentence with."""
    stated, own = run.config.get("versions", {}), library_versions()
    others = [f"{name} {stated[name]}" for name in stated if stated[name] != own.get(name)]
    return f"; the run was made with {', '.join(others)}, which is not installed" if others else ""
