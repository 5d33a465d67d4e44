"""Prove, refute and repair the rules of a run, or the lines of its explanation, for every input."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from hornbook.conditions import write_value
from hornbook.deadline import Deadline
from hornbook.errors import HornbookError
from hornbook.extraction import Extraction
from hornbook.logic import Rule
from hornbook.models import Subject
from hornbook.proof import (
    PROOF_SECONDS,
    PROOFS_FILE,
    Certificate,
    Certificates,
    Domain,
    Prover,
    Repair,
    Verdict,
    make,
    prove_explanation,
    prove_rules,
    repair_rule,
)
from hornbook.queries import Guarantee, Unknown


def prove_and_repair(
    certificates: Certificates,
    rules: Sequence[Rule],
    *,
    total: float | None = None,
) -> Iterator[Certificate]:
    """Prove or refute each rule and yield its certificate; then repair the refuted rules.

    Rules that the certificates decide already are not proved again.
    """
    deadline = Deadline.after(total)
    refuted = []
    for certificate in prove_rules(certificates, rules, deadline):
        yield certificate
        if certificate.verdict.status == "refuted" and certificate.repair is None:
            refuted.append(certificate)
    for certificate in refuted:
        if not deadline.passed:
            repair = repair_rule(certificates.prover, certificate.rule, deadline)
            if repair.verdict.status == "proved":
                mended = replace(certificate, repair=Repair.of(repair, certificates.prover.vocabulary))
                certificates.add(mended)
                yield mended


def prove_theory(
    prover: Prover,
    rules: Sequence[Rule],
    folder: Path | None = None,
    model: Path | None = None,
    total: float | None = None,
    watch: Callable[[int], None] | None = None,
) -> Certificates:
    """Prove, refute and repair rules; what was proved before an interrupt is kept.

    Parameters
    ----------
    prover
        The prover of the model.
    rules
        The rules.
    folder
        Where certificates are written as they are found; an interrupt goes on to the caller then.
    model
        The model's file, for the certificates.
    total
        Time limit of all proofs together in seconds.
    watch
        Is called with the number of rules decided so far.

    """
    certificates = Certificates(prover, folder and folder / PROOFS_FILE, model)
    try:
        for number, _ in enumerate(prove_and_repair(certificates, rules, total=total), 1):
            if watch is not None:
                watch(min(number, len(rules)))
    except KeyboardInterrupt:
        if folder is not None:
            raise
    return certificates


def prove_lines(extraction: Extraction, subject: Subject, seconds: float = PROOF_SECONDS) -> Extraction:
    """The extraction, with what was proved or refuted of each line for every row of a domain.

    Parameters
    ----------
    extraction
        An explanation by a tree or rules.
    subject
        The model, bound to a table: the domain reaches from the least to the greatest value of each column.
    seconds
        Time limit of each line.

    """
    refuse_unprovable_form(extraction.explanation.form)
    domain = Domain.of(subject.frame)
    verdicts = prove_explanation(extraction.explanation, subject.predictor, domain, seconds)
    return add_verdicts(
        extraction, domain, [None if each is None else line_guarantee(each) for each in verdicts]
    )


def add_verdicts(
    extraction: Extraction, domain: Domain, guarantees: Sequence[Guarantee | None]
) -> Extraction:
    """The extraction, with a verdict on each line for every row of a domain."""
    pairs = zip(extraction.lines, guarantees, strict=True)
    lines = tuple(replace(line, guarantee=guarantee) for line, guarantee in pairs)
    return replace(extraction, lines=lines, notes=(*extraction.notes, f"{domain.describe()}."))


def refuse_unprovable(subject: Subject) -> None:
    """Refuse, before a run begins, a model of which nothing could be proved."""
    make(subject.predictor, Domain.of(subject.frame))


def refuse_unprovable_form(form: str) -> None:
    """Refuse a form whose lines say nothing by themselves."""
    if form not in PROVABLE_FORMS:
        raise HornbookError(
            f"a proof is about single lines, and the lines of a {form} hold only together; "
            f"ask for --form {' or --form '.join(PROVABLE_FORMS)}"
        )


PROVABLE_FORMS = ("rules", "tree")
"""Forms whose lines say by themselves what the model decides."""


def line_guarantee(verdict: Verdict[pd.DataFrame]) -> Guarantee:
    """What a verdict on a line says: a refuted line names the values of the witness."""
    if verdict.guarantee is not None:
        return verdict.guarantee
    if verdict.witness is None:
        return Unknown(verdict.reason, "undecided")
    row = verdict.witness.iloc[0].dropna()
    values = ", ".join(f"{name} = {write_value(value)}" for name, value in row.items())
    return Unknown(f"the model decides otherwise about {values}", "refuted")
