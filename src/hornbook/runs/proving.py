"""Prove, refute and repair the rules of a run for every input, and verify the certificates of a run."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from hornbook.errors import HornbookError
from hornbook.explanations import write_value
from hornbook.extraction import Extraction
from hornbook.logic import Rule
from hornbook.models import as_predictor
from hornbook.proof import (
    Certificate,
    Certificates,
    ColumnProver,
    Domain,
    Finding,
    Prover,
    Verdict,
    prove_explanation,
    prove_rules,
    repair_rule,
    verify_certificates,
)
from hornbook.proof.certificate import (
    PROOFS_FILE,
    RunClaims,
    find_difference,
    find_missing,
    read_certificates,
    subject_object,
)
from hornbook.proof.domain import DOMAIN_NOTE
from hornbook.proof.prover import PROOF_SECONDS
from hornbook.queries import Guarantee, Proved, Unknown
from hornbook.query_teacher import BoundModel
from hornbook.runs.folder import CONFIG_FILE, EXTRACTION_FILE, Run, file_checksum


def prove_and_repair(
    certificates: Certificates,
    rules: Sequence[Rule],
    *,
    total: float | None = None,
) -> Iterator[Certificate]:
    """Prove or refute each rule and yield its certificate; then repair the refuted rules.

    Rules that the certificates decide already are not proved again.
    """
    deadline = time.time() + (math.inf if total is None else total)
    refuted = []
    for certificate in prove_rules(certificates, rules, total=deadline - time.time()):
        yield certificate
        if certificate.verdict.status == "refuted" and certificate.repair is None:
            refuted.append(certificate)
    for certificate in refuted:
        if time.time() < deadline:
            repair = repair_rule(certificates.prover, certificate.rule, deadline)
            if repair.verdict.status == "proved":
                certificates.add(mended := replace(certificate, repair=repair))
                yield mended


def verify_run(
    run: Run, *, model: Path | None = None, trust_pickle: bool = False, seconds: float = 2 * PROOF_SECONDS
) -> Iterator[Finding]:
    """Verify the certificates of a run, and the claims of the run that rest on them.

    Parameters
    ----------
    run
        The run.
    model
        The model file, if it has moved.
    trust_pickle
        Whether to load a pickle, which can run any code.
    seconds
        Time limit of each proof.

    """
    path, guarantees = run.folder / PROOFS_FILE, run.guarantees
    if not path.is_file() and any(guarantees.values()):
        yield from find_missing(run.rules.theory.vocabulary, RunClaims(run.checksums, guarantees))
        return
    content = read_certificates(path)
    if _names_other(content, "run", "config", run.checksums["config"]):
        yield _changed_finding(CONFIG_FILE, f"{PROOFS_FILE} was written")
        return
    source = run.find_model(model)
    if _names_other(content, "model", "sha256", file_checksum(source)):
        yield _changed_finding(source.name, f"{PROOFS_FILE} was written")
        return
    prover = restore_prover(run, source, trust_pickle, seconds)
    yield from verify_content(run, content, prover, source, seconds)


def _names_other(content: dict[str, Any], part: str, name: str, own: str) -> bool:
    """Whether certificates record another checksum than a file has."""
    told = content.get(part)
    return isinstance(told, dict) and told.get(name) != own


def _changed_finding(name: str, since: str) -> Finding:
    return Finding(name, False, f"it has changed since {since}: the checksums differ")


def find_changed_files(run: Run, model: Path, table_checksum: str) -> Iterator[Finding]:
    """Yield a finding for the model's file, and one for the table, if it is not the one of the run."""
    about, data = run.config["model"], run.config["data"]
    if "sha256" in about and file_checksum(model) != about["sha256"]:
        yield _changed_finding(model.name, "the run was made")
    if table_checksum != data["sha256"]:
        yield _changed_finding(str(data["source"]), "the run was made")


def restore_prover(
    run: Run, model: Path, trust_pickle: bool = False, seconds: float = PROOF_SECONDS
) -> Prover:
    """Restore the prover of a run by queries from its rules, its configuration and its model file."""
    rules = run.rules
    try:
        settings = run.config["settings"]
        predictor = as_predictor(run.load_model(model, trust_pickle), encoding=settings["encoding"])
        frame = pd.DataFrame(columns=list(rules.columns))
        return BoundModel(predictor, rules.reader, frame, rules.label).prover(seconds)
    except HornbookError:
        raise
    except Exception as error:
        # a configuration with other types than a run writes can fail anywhere
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise HornbookError(f"{run.folder / CONFIG_FILE} is not what a run leaves there: {reason}") from error


def verify_content(
    run: Run, content: dict[str, Any], prover: Prover, model: Path, seconds: float = 2 * PROOF_SECONDS
) -> Iterator[Finding]:
    """Verify the content of a run's certificate file with a prover restored from the run."""
    asked = subject_object(prover)["asked"]
    rules = run.rules
    vocabulary = rules.theory.vocabulary
    told = {
        "vocabulary": list(vocabulary.names),
        "duals": {vocabulary.name(v): vocabulary.name(w) for v, w in vocabulary.pairs},
        "groups": [list(vocabulary.named(group)) for group in rules.reader.groups],
        "label": rules.label,
    }
    if difference := find_difference(told, {part: asked[part] for part in told}, EXTRACTION_FILE):
        yield Finding(
            EXTRACTION_FILE, False, f"it is about other variables than the model is asked about: {difference}"
        )
        return
    if isinstance(run.extraction.guarantee, Proved):
        yield Finding(
            EXTRACTION_FILE, False, "it calls the rules as a whole proved, for which there is no certificate"
        )
    claims = RunClaims(run.checksums, run.guarantees)
    yield from verify_certificates(prover, content, model=model, claims=claims, seconds=seconds)


def prove_lines(
    extraction: Extraction, model: Any, frame: pd.DataFrame, seconds: float = PROOF_SECONDS
) -> Extraction:
    """The extraction, with what was proved or refuted of each line for every row of a domain.

    Parameters
    ----------
    extraction
        An explanation by a tree or rules.
    model
        The model.
    frame
        The table: the domain reaches from the least to the greatest value of each column.
    seconds
        Time limit of each line.

    """
    refuse_unprovable_form(extraction.explanation.form)
    domain = Domain.of(frame)
    verdicts = prove_explanation(extraction.explanation, model, domain, seconds)
    lines = [
        line if verdict is None else replace(line, guarantee=_line_guarantee(verdict))
        for line, verdict in zip(extraction.lines, verdicts, strict=True)
    ]
    note = f"{DOMAIN_NOTE} {domain}."
    return replace(extraction, lines=tuple(lines), notes=(*extraction.notes, note))


def refuse_unprovable(model: Any, frame: pd.DataFrame) -> None:
    """Refuse, before a run begins, a model of which nothing could be proved."""
    ColumnProver(model, Domain.of(frame))


def refuse_unprovable_form(form: str) -> None:
    """Refuse a form whose lines say nothing by themselves."""
    if form not in PROVABLE_FORMS:
        raise HornbookError(
            f"a proof is about single lines, and the lines of a {form} hold only together; "
            f"ask for --form {' or --form '.join(PROVABLE_FORMS)}"
        )


PROVABLE_FORMS = ("rules", "tree")
"""Forms whose lines say by themselves what the model decides."""


def _line_guarantee(verdict: Verdict[pd.DataFrame]) -> Guarantee:
    if verdict.guarantee is not None:
        return verdict.guarantee
    if verdict.witness is None:
        return Unknown(verdict.reason, verdict.status)
    row = verdict.witness.iloc[0].dropna()
    values = ", ".join(f"{name} = {write_value(value)}" for name, value in row.items())
    return Unknown(f"the model decides otherwise about {values}", verdict.status)


def verify_lines(run: Run, model: Any, frame: pd.DataFrame, seconds: float) -> Iterator[Finding]:
    """Prove the lines of a run's explanation again; yield a finding for each line that names a class.

    Nothing is yielded for a run without proofs.
    """
    claimed = run.extraction
    notes = [note for note in claimed.notes if note.startswith(DOMAIN_NOTE)]
    if not notes and all(line.guarantee is None for line in claimed.lines):
        return
    again = prove_lines(replace(claimed, notes=()), model, frame, seconds)
    if notes != list(again.notes):
        yield Finding(EXTRACTION_FILE, False, f"its proofs are about another domain: {again.notes[0]}")
    for text, old, new in zip(claimed.explanation.lines(), claimed.lines, again.lines, strict=True):
        about = f"{text.text}: {text.outcome}" if text.outcome else text.text
        if new.guarantee is None:
            if old.guarantee is not None:
                yield Finding(about, False, "it names no class, so nothing can be proved of it")
        elif old.guarantee is None:
            yield Finding(about, False, f"its verdict was left out, which is: {new.guarantee}")
        else:
            agrees = _agree(old.guarantee, new.guarantee)
            yield Finding(f"{old.guarantee.kind}  {about}", agrees, str(new.guarantee))


def _agree(claimed: Guarantee, derived: Guarantee) -> bool:
    """Whether a verdict is what was derived again: a margin up to its last digits, a witness as it is."""
    if isinstance(claimed, Proved) and isinstance(derived, Proved):
        return claimed.by == derived.by and math.isclose(claimed.margin, derived.margin, rel_tol=1e-6)
    if isinstance(claimed, Unknown) and claimed.kind == "undecided":
        return derived.kind != "refuted"  # given more time, more may be proved
    return claimed == derived
