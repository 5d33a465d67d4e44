"""Prove, refute and repair the rules of a run for every input, and verify the certificates of a run."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hornbook.errors import HornbookError
from hornbook.extractor.subject import Judged, Subject
from hornbook.logic import Rule
from hornbook.proof.certificate import (
    PROOFS_FILE,
    Certificate,
    Certificates,
    Finding,
    RunClaims,
    find_difference,
    find_missing,
    prove_rules,
    read_certificates,
    subject_object,
    verify_certificates,
)
from hornbook.proof.primes import repair_rule
from hornbook.proof.prover import PROOF_SECONDS, Prover
from hornbook.runs.folder import CONFIG_FILE, METRICS_FILE, RULES_FILE, Run, file_checksum
from hornbook.runs.models import find_run_model, load_run_model, restore_extractor


def make_prover(subjects: Sequence[Subject | Judged], seconds: float) -> Prover:
    """Make the prover of a run's model."""
    if len(subjects) > 1:
        raise HornbookError("proofs are about models of two classes; say which class with --positive")
    (subject,) = subjects
    if isinstance(subject, Subject) and subject.by_columns:
        raise HornbookError(
            f"{subject.predictor.name} reads the columns of the table; proofs are about networks that read "
            "the variables that hornbook makes of them, such as those of --train"
        )
    return subject.prover(seconds)


def prove_and_repair(
    certificates: Certificates,
    rules: Sequence[Rule],
    *,
    total: float | None = None,
    watch: Callable[[dict[str, Any]], None] = lambda entry: None,
) -> Iterator[Certificate]:
    """Prove or refute each rule and yield its certificate; then repair the refuted rules.

    Rules that the certificates decide already are not proved again.
    """
    deadline = time.time() + (math.inf if total is None else total)
    refuted = []
    for place, certificate in enumerate(prove_rules(certificates, rules, total=deadline - time.time())):
        watch({"query": place + 1, "rules": len(rules), "membership_queries": 0})
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
    path = run.folder / PROOFS_FILE
    if not path.is_file() and any(run.guarantees.values()):
        yield from find_missing(run.answers.theory.vocabulary, RunClaims(run.checksums, run.guarantees))
        return
    content = read_certificates(path)
    if _names_other(content, "run", "config", run.checksums["config"]):
        yield _changed_finding(CONFIG_FILE)
        return
    source = find_run_model(run, model)
    if _names_other(content, "model", "sha256", file_checksum(source)):
        yield _changed_finding(source.name)
        return
    prover = restore_prover(run, source, trust_pickle, seconds)
    yield from verify_content(run, content, prover, source, seconds)


def _names_other(content: dict[str, Any], part: str, name: str, own: str) -> bool:
    """Whether certificates record another checksum than a file has."""
    told = content.get(part)
    return isinstance(told, dict) and told.get(name) != own


def _changed_finding(name: str) -> Finding:
    return Finding(name, False, f"it has changed since {PROOFS_FILE} was written: the checksums differ")


def restore_prover(
    run: Run, model: Path, trust_pickle: bool = False, seconds: float = PROOF_SECONDS
) -> Prover:
    """Restore the prover of a run from its configuration and its model file."""
    try:
        extractor = restore_extractor(run, load_run_model(run, model, trust_pickle))
        return make_prover(extractor.subjects(run.empty_frame()), seconds)
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
    vocabulary, labels = run.answers.theory.vocabulary, list(run.answers.labels)
    told = {
        "vocabulary": list(vocabulary.names),
        "duals": {vocabulary.name(v): vocabulary.name(w) for v, w in vocabulary.pairs},
        "groups": [list(vocabulary.named(group)) for group in run.groups],
        "label": labels[0] if labels else None,
    }
    if difference := find_difference(told, {part: asked[part] for part in told}, RULES_FILE):
        yield Finding(
            RULES_FILE, False, f"it is about other variables than the model is asked about: {difference}"
        )
        return
    guarantee = run.metrics.get("guarantee")
    if isinstance(guarantee, dict) and guarantee.get("kind") == "proved":
        yield Finding(
            METRICS_FILE, False, "it calls the rules as a whole proved, for which there is no certificate"
        )
    claims = RunClaims(run.checksums, run.guarantees)
    yield from verify_certificates(prover, content, model=model, claims=claims, seconds=seconds)
