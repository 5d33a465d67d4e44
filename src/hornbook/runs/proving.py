"""Prove, refute and repair the rules of a run, or the lines of its explanation, for every input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from hornbook.conditions import write_value
from hornbook.deadline import Deadline
from hornbook.errors import HornbookError
from hornbook.extraction import Extraction
from hornbook.logic import Rule
from hornbook.proof import (
    PROOF_SECONDS,
    Certificate,
    Certificates,
    ColumnProver,
    Domain,
    Verdict,
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
                certificates.add(mended := replace(certificate, repair=repair))
                yield mended


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


def line_guarantee(verdict: Verdict[pd.DataFrame]) -> Guarantee:
    """What a verdict on a line says: a refuted line names the values of the witness."""
    if verdict.guarantee is not None:
        return verdict.guarantee
    if verdict.witness is None:
        return Unknown(verdict.reason, "undecided")
    row = verdict.witness.iloc[0].dropna()
    values = ", ".join(f"{name} = {write_value(value)}" for name, value in row.items())
    return Unknown(f"the model decides otherwise about {values}", "refuted")
