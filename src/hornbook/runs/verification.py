"""Verify a run: its result is made again from the model and the table, and each verdict is derived again.

A folder that was sealed again after an edit is told from an honest one by this alone: what the folder
says is compared with what the model and the table say now.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from hornbook.code_book import read_code_book
from hornbook.conditions import write_value
from hornbook.errors import HornbookError, ModelError
from hornbook.extraction import Extraction
from hornbook.logic import Rule
from hornbook.proof import Domain, RuleProver, make
from hornbook.queries import INTERRUPTED, MODEL_FAILED
from hornbook.runs.folder import (
    CONFIG_FILE,
    DECISIVE_PARTS,
    DIFF_FILE,
    EXTRACTION_FILE,
    SEAL_FILE,
    TIMES_FILE,
    TRACE_FILE,
    TRACE_TIMES_FILE,
    Run,
    add_guarantees,
    library_versions,
    read_seal,
    result_files,
)
from hornbook.runs.inputs import (
    TargetTable,
    describe_file,
    describe_model,
    is_trained,
    note_inputs,
    read_test_rows,
)
from hornbook.runs.making import NewRun, explain_as_set, learn_as_set
from hornbook.runs.proving import (
    PROOFS_FILE,
    Certificate,
    Finding,
    ProofLimits,
    add_verdicts,
    line_guarantee,
    list_guarantees,
    mend_rules,
    prove_explanation,
    read_proofs,
    verify_certificates,
    write_proofs,
)
from hornbook.storage import LOCK_FILE, file_checksum

PATIENCE = 1000
"""How much more time than the run a run under a time limit gets when it is made again."""


@dataclass(frozen=True, eq=False)
class MadeAgain:
    """A run that was made again from its settings, its model and its table.

    Parameters
    ----------
    extraction
        The result, without proofs.
    model
        The model.
    frame
        The columns of the table.
    trace
        The content of the trace, of a run by queries.
    prover, certificates, learned
        The prover of a run by queries, what its folder claims of its rules, and all rules that it learned,
        where it has proofs.

    """

    extraction: Extraction
    model: Any
    frame: pd.DataFrame
    trace: str | None = None
    prover: RuleProver | None = None
    certificates: tuple[Certificate, ...] = ()
    learned: tuple[Rule, ...] = ()


def verify_folder(
    folder: Path, data: str | None = None, model: Path | None = None, trust_pickle: bool = False
) -> Iterator[Finding]:
    """Verify a run: whether its files are as it left them, and whether it can be made again.

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
    yield from _list_unsealed(folder, sealed)
    if DIFF_FILE in sealed:
        yield Finding(DIFF_FILE, None, "a comparison of models is not made again; nothing was verified")
        return
    try:
        run = Run.load(folder)
    except HornbookError as error:  # although it was sealed so
        yield Finding(str(folder), False, str(error))
        return
    if "data" not in run.config:
        yield from _verify_files_alone(
            run, sealed, "it was saved from Python, with no path of a model or a table"
        )
        return
    refuse_unfinished(run)
    if is_stopped_by_time(run):
        yield from _verify_files_alone(
            run, sealed, "the clock stopped the run, and nobody can make the same again"
        )
        return
    loaded = None
    try:
        table, about = run.load_table(data, changed=True), run.config["model"]
        source = about.get("url") or str(run.find_model(model))
        if changed := list(_find_changed_inputs(run, table, source)):
            yield from changed
            return
        yield Finding(about["name"], True, "the model of the run")
        yield Finding(table.table.name, True, "the table of the run")
        loaded = run.load_model(None if "url" in about else Path(source), trust_pickle)
        yield from compare_config(run, _describe_inputs(run, table, loaded, source))
        with TemporaryDirectory() as scratch:
            again = make_again(run, table, loaded, Path(scratch) / TRACE_FILE)
        yield from verify_run(run, again, sealed)
    except Exception as error:  # settings that no run has can fail anywhere
        if isinstance(error, ModelError) or (isinstance(error, HornbookError) and loaded is None):
            raise  # model or table cannot be read
        reason = str(error) if isinstance(error, HornbookError) else repr(error)
        yield Finding(str(folder), False, f"it cannot be made again as it says: {reason}".partition("\n")[0])


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


def _list_unsealed(folder: Path, sealed: Collection[str]) -> Iterator[Finding]:
    """The files in a folder that the run did not seal: the user's, and the answers of an endpoint."""
    ignored = {*sealed, SEAL_FILE, LOCK_FILE}
    for name in sorted(path.name for path in folder.iterdir() if path.name not in ignored):
        yield Finding(name, None, "it is not a file of the run, so it is not sealed")


def _verify_files_alone(run: Run, sealed: Collection[str], says: str) -> Iterator[Finding]:
    """Verify a run that cannot be made again: its files follow from its extraction; it proves nothing."""
    files = result_files(run.extraction)
    del files[EXTRACTION_FILE]
    underived = [name for name in sealed if name in (TRACE_FILE, PROOFS_FILE)]
    yield from compare_files(run, files, [name for name in sealed if name not in underived])
    claims = any(line.guarantee is not None for line in run.extraction.lines)
    for name in underived:
        yield Finding(name, None, says)
    says += "; what it claims to be proved cannot be derived" if claims else ""
    yield Finding(EXTRACTION_FILE, False if claims else None, says)


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


def make_again(run: Run, table: TargetTable, loaded: Any, trace: Path) -> MadeAgain:
    """Make the run again that is in a folder; nothing is written there but to `trace`, a file elsewhere."""
    config, settings = run.config, run.config["settings"]
    book = settings["code_book"]
    words = read_code_book(book and run.find_file(book), table.frame_of(settings))
    if (limit := settings.get("max_seconds")) is not None:
        settings = {**settings, "max_seconds": PATIENCE * limit}
    if not run.is_by_queries:
        subject = run.bind(table, loaded, words)
        new = NewRun(config, None, notes=tuple(note_inputs(table, subject, config["model"])))
        if (test := config["data"].get("test")) is not None:
            rows = read_test_rows(
                run.find_file(test), table.features, words, config["data"]["csv"], test["unknown_levels"]
            )
            subject = subject.with_test_rows(rows)
        extraction = explain_as_set(subject, settings)
        return MadeAgain(new.add_provenance(extraction), subject.predictor, table.features)
    by_queries = run.bind_queries(table, loaded, words)
    new = NewRun(config, None, notes=tuple(note_inputs(table, by_queries, config["model"])))
    learned: list[Rule] = []
    prover, claimed = None, list[Certificate]()
    if config.get("proof") is not None:
        prover = by_queries.teacher.prover()
        claimed = read_proofs(prover.vocabulary, run.folder / PROOFS_FILE)
    mended = mend_rules(claimed)  # which are derived again later

    def mend(rules: Sequence[Rule]) -> dict[Rule, Rule | None]:
        learned.extend(rules)
        return {rule: mended[rule] for rule in rules if rule in mended}

    extraction = learn_as_set(by_queries, settings, trace, mend=mend)
    return MadeAgain(
        new.add_provenance(extraction),
        by_queries.predictor,
        by_queries.frame,
        trace=trace.read_text("utf-8") if trace.exists() else None,
        prover=prover,
        certificates=tuple(claimed),
        learned=tuple(learned),
    )


def verify_run(run: Run, again: MadeAgain, sealed: Collection[str]) -> Iterator[Finding]:
    """Compare a run with the one that was made again, and derive its verdicts again.

    Parameters
    ----------
    run
        The run.
    again
        The same run, made again.
    sealed
        The names of the files that are sealed.

    """
    if difference := _find_other_explanation(run, again.extraction):
        yield Finding(EXTRACTION_FILE, False, f"{difference}{_describe_versions(run)}")
        return
    words = again.extraction.explanation.classes
    named = zip(map(write_value, again.extraction.classes), words, strict=True)
    classes = [own if own == word else f"{own}, called {word}" for own, word in named]
    yield Finding("the model's classes", True, "; ".join(classes))
    yield Finding("the table's columns", True, ", ".join(again.extraction.explanation.columns))
    extraction = again.extraction
    files = {} if again.trace is None else {TRACE_FILE: again.trace}
    proof_settings = run.config.get("proof")
    if proof_settings is None:
        yield Finding("proofs", None, "nothing was proved")
    elif again.prover is None:
        yield from _verify_lines(run, again, ProofLimits(**proof_settings))
        stated = [line.guarantee for line in run.extraction.lines]
        extraction = add_verdicts(extraction, Domain.of(again.frame), stated)
    else:
        limits, claimed = ProofLimits(**proof_settings), again.certificates
        yield from verify_certificates(again.prover, claimed, again.learned, limits)
        files[PROOFS_FILE] = write_proofs(again.prover.vocabulary, claimed)
        extraction = add_guarantees(extraction, list_guarantees(claimed))
    files |= result_files(extraction)
    yield from compare_files(run, files, sealed)
    yield from _list_underived(run, files, sealed)


def compare_config(run: Run, derived: Mapping[str, Any]) -> Iterator[Finding]:
    """A finding if the configuration says something else of the table or the model than they are."""
    stated = {part: value for part, value in run.config.items() if part in derived}
    made = {part: value for part, value in derived.items() if part in stated}
    if difference := find_difference(stated, json.loads(json.dumps(made)), ""):
        yield Finding(CONFIG_FILE, False, difference.removeprefix("."))


def compare_files(run: Run, made: Mapping[str, str], sealed: Collection[str]) -> Iterator[Finding]:
    """A finding for each file that was made again, and for each sealed one that the run does not have."""
    for name, text in made.items():
        if name not in sealed:
            yield Finding(name, False, "it is not among the sealed files of the run")
        elif (given := (run.folder / name).read_bytes()) == text.encode():
            yield Finding(name, True, "made again, it is the same")
        else:
            yield Finding(name, False, f"{_find_difference(given, text)}{_describe_versions(run)}")
    for name in sealed:
        if name in (TRACE_FILE, PROOFS_FILE) and name not in made:
            yield Finding(name, False, "a run like this one leaves no such file")


def refuse_unfinished(run: Run) -> None:
    """Refuse a run that was interrupted, or whose model failed: it goes on when it is made again."""
    if (reason := run.extraction.stop_reason).startswith((INTERRUPTED, MODEL_FAILED)):
        raise HornbookError(
            f"{run.folder} holds a run that did not end ({reason}); resume it with the same command: "
            f"{run.config.get('command')}"
        )


def is_stopped_by_time(run: Run) -> bool:
    """Whether the clock ended a run, so that nobody can make the same one again."""
    limit, extraction = run.config["settings"].get("max_seconds"), run.extraction
    return limit is not None and (
        extraction.stop_reason == f"budget of {limit} seconds"
        or any(note.startswith("The time was up") for note in extraction.notes)
    )


def _find_other_explanation(run: Run, again: Extraction) -> str | None:
    """The first difference of explanation, classes or code book from those made again."""
    parts = ("target", "classes", "explanation", "code_book")
    stated, made = ({part: each.to_object()[part] for part in parts} for each in (run.extraction, again))
    difference = find_difference(stated, json.loads(json.dumps(made)), "")
    return difference and difference.removeprefix(".")


def _verify_lines(run: Run, again: MadeAgain, limits: ProofLimits) -> Iterator[Finding]:
    """Derive the verdict on each line again, named by the table's columns and the model's own classes."""
    made = again.extraction
    explanation = made.explanation
    verdicts = prove_explanation(explanation, make(again.model, Domain.of(again.frame), limits.patience))
    texts = explanation.with_code_book(made.code_book.without_words()).lines()
    for text, stated, verdict in zip(texts, run.extraction.lines, verdicts, strict=True):
        claimed = stated.guarantee
        if verdict is None:
            if claimed is not None:
                yield Finding(text.text, False, "it names no class, so nothing can be proved of it")
            continue
        about = f"{text.text}: {write_value(made.classes[explanation.classes.index(text.outcome)])}"
        derived = line_guarantee(verdict)
        if claimed is None:
            yield Finding(about, False, f"its verdict was left out, which is: {derived}")
        else:
            holds = limits.agree(claimed, derived, verdict.seconds)
            yield Finding(
                f"{claimed.kind}  {about}",
                holds,
                str(claimed) if holds else f"derived again, it is {derived}",
            )


def _list_underived(run: Run, made: Mapping[str, str], sealed: Collection[str]) -> Iterator[Finding]:
    """What of a folder nothing was compared with."""
    begun = ", ".join(part for part in run.config if part not in DECISIVE_PARTS)
    parts = [f"{CONFIG_FILE}: {begun}"]
    if "held_out" in run.config["model"]:
        parts.append(f"{CONFIG_FILE}: how the model was trained, and its accuracy")
    parts += [name for name in sealed if name in (TIMES_FILE, TRACE_TIMES_FILE)]
    yield from (Finding(each, None, "nothing to compare it with") for each in parts)


def _find_difference(given: bytes, made: str) -> str:
    """Where a file differs from what was made again: a part of a JSON value, or a line."""
    try:
        if difference := find_difference(json.loads(given), json.loads(made), ""):
            return difference.removeprefix(".")
    except (ValueError, RecursionError):
        pass
    pairs = enumerate(zip_longest(given.splitlines(), made.encode().splitlines()), 1)
    line = next((number for number, (one, other) in pairs if one != other), 0)
    return f"line {line} is another one" if line else "its lines end in another way"


def _describe_versions(run: Run) -> str:
    """The libraries that are of other versions than those of the run, to end a sentence with."""
    stated, own = run.config.get("versions", {}), library_versions()
    others = [f"{name} {stated[name]}" for name in stated if stated[name] != own.get(name)]
    return f"; the run was made with {', '.join(others)}, which is not installed" if others else ""


def find_difference(given: Any, derived: Any, place: str) -> str | None:
    """Describe the first difference between a JSON value and the derived one; None if they are equal.

    Examples
    --------
    >>> find_difference({"true": 1.0, "unknown": 0.5}, {"true": 1.0, "unknown": 0.25}, "encoding")
    'encoding.unknown is 0.5, not 0.25'
    >>> find_difference(["fever"], ["fever", "cough"], "body")
    'body is ["fever"], not ["fever", "cough"]'
    >>> find_difference({"": 1}, {}, "body")
    'body. does not belong there'

    """
    if _text(given) == _text(derived):
        return None
    if isinstance(given, dict) and isinstance(derived, dict):
        keys = dict.fromkeys((*derived, *given))
        for key in keys:
            if (key in given) != (key in derived):
                return f"{place}.{key} {'is missing' if key in derived else 'does not belong there'}"
        parts = [(given[key], derived[key], f"{place}.{key}") for key in keys]
    elif isinstance(given, list) and isinstance(derived, list) and len(given) == len(derived):
        parts = [(*pair, f"{place}[{i}]") for i, pair in enumerate(zip(given, derived, strict=True))]
    else:
        return f"{place} is {_short(given)}, not {_short(derived)}"
    return next(difference for part in parts if (difference := find_difference(*part)))


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def _short(content: Any) -> str:
    text = json.dumps(content, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
